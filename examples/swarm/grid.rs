//! Who is near: entities sorted into the cells of a torus, anew in each step.

use std::ops::Range;

use esker::Entity;

use crate::life::{Position, Velocity};

/// Grazers by cell.
pub struct GrazerGrid(pub Grid);

/// Hunters by cell.
pub struct HunterGrid(pub Grid);

/// Entities by cell: the members of a cell lie one after the other.
pub struct Grid {
    side: usize,
    /// Where each cell begins in `members`, and one more for the end of the last.
    starts: Vec<u32>,
    members: Vec<Member>,
    unsorted: Vec<(u32, Member)>,
}

/// An entity and where it was when the grid was made.
#[derive(Clone, Copy)]
pub struct Member {
    pub entity: Entity,
    pub position: Position,
    pub velocity: Velocity,
}

impl Grid {
    pub fn new(side: usize) -> Self {
        let starts = vec![0; side * side + 1];
        Self { side, starts, members: Vec::new(), unsorted: Vec::new() }
    }

    /// Cells along each edge.
    pub fn side(&self) -> usize {
        self.side
    }

    /// Sorts `members` into cells; those of one cell keep their order.
    pub fn rebuild(&mut self, members: impl Iterator<Item = Member>) {
        self.unsorted.clear();
        self.starts.fill(0);
        for member in members {
            let cell = self.cell(member.position);
            self.unsorted.push((cell as u32, member));
            self.starts[cell] += 1;
        }
        // From counts to ends; filling from behind turns the ends into starts.
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        let Some(&(_, any)) = self.unsorted.first() else { return self.members.clear() };
        self.members.resize(self.unsorted.len(), any);
        for &(cell, member) in self.unsorted.iter().rev() {
            let at = &mut self.starts[cell as usize];
            *at -= 1;
            self.members[*at as usize] = member;
        }
    }

    /// The number of the cell around a position.
    pub fn cell(&self, position: Position) -> usize {
        let (column, row) = self.column_and_row(position);
        row * self.side + column
    }

    /// Everyone, cell by cell.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Members of the nine cells around a position.
    pub fn near(&self, position: Position) -> impl Iterator<Item = &Member> {
        let (column, row) = self.column_and_row(position);
        let [left, _, right] = around(column, self.side);
        // Three cells of a row lie side by side, unless the torus is cut between them.
        let (cells, beyond) = match (left < column, column < right) {
            (true, true) => (left..right + 1, 0..0),
            (false, _) => (column..right + 1, left..left + 1),
            (_, false) => (left..column + 1, right..right + 1),
        };
        around(row, self.side).into_iter().flat_map(move |row| {
            let beyond = self.members_in(row, beyond.clone());
            self.members_in(row, cells.clone()).iter().chain(beyond)
        })
    }

    fn members_in(&self, row: usize, columns: Range<usize>) -> &[Member] {
        let [first, end] = [columns.start, columns.end].map(|column| row * self.side + column);
        &self.members[self.starts[first] as usize..self.starts[end] as usize]
    }

    /// Members of one cell.
    pub fn members_of(&self, cell: usize) -> &[Member] {
        &self.members[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// The cells around this one and itself.
    pub fn cells_around(&self, cell: usize) -> impl Iterator<Item = usize> + use<> {
        let side = self.side;
        let columns = around(cell % side, side);
        around(cell / side, side)
            .into_iter()
            .flat_map(move |row| columns.map(|column| row * side + column))
    }

    /// The cells to the left, to the right, above and below.
    pub fn beside(&self, cell: usize) -> [usize; 4] {
        let (column, row) = (cell % self.side, cell / self.side);
        let [left, _, right] = around(column, self.side).map(|column| row * self.side + column);
        let [up, _, down] = around(row, self.side).map(|row| row * self.side + column);
        [left, right, up, down]
    }

    /// The shortest way from one position to another, which may lead over the edge.
    pub fn way(&self, from: Position, to: Position) -> (f32, f32) {
        let side = self.side as f32;
        let shortest = |d: f32| {
            if d > side / 2.0 {
                d - side
            } else if d < -side / 2.0 {
                d + side
            } else {
                d
            }
        };
        (shortest(to.x - from.x), shortest(to.y - from.y))
    }

    fn column_and_row(&self, position: Position) -> (usize, usize) {
        let last = self.side - 1;
        ((position.x as usize).min(last), (position.y as usize).min(last))
    }
}

/// The numbers before and after `at` on a ring, and itself.
fn around(at: usize, side: usize) -> [usize; 3] {
    let before = if at == 0 { side - 1 } else { at - 1 };
    let after = if at + 1 == side { 0 } else { at + 1 };
    [before, at, after]
}
