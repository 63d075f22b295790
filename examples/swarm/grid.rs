//! Who is near: entities sorted into the cells of the torus.

use std::ops::Range;

use esker::Entity;

use crate::life::{Position, Velocity};
use crate::torus::{Torus, square};

/// Entities by cell: the members of a cell lie one after the other.
pub struct Grid {
    torus: Torus,
    /// Where each cell begins in `members`, and one more for the end of the last.
    starts: Vec<u32>,
    members: Vec<Member>,
}

/// An entity and where it was when the grid was made.
#[derive(Clone, Copy)]
pub struct Member {
    pub entity: Entity,
    pub position: Position,
    pub velocity: Velocity,
}

impl Grid {
    /// Sorts `members` into cells; those of one cell keep their order.
    pub fn new(torus: Torus, members: impl Iterator<Item = Member>) -> Self {
        let unsorted: Vec<_> = members.map(|m| (torus.cell(m.position), m)).collect();
        let mut starts = vec![0; torus.cells() + 1];
        for &(cell, _) in &unsorted {
            starts[cell] += 1;
        }
        // From counts to ends; filling from behind turns the ends into starts.
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut members: Vec<Member> = unsorted.iter().map(|&(_, member)| member).collect();
        for &(cell, member) in unsorted.iter().rev() {
            starts[cell] -= 1;
            members[starts[cell] as usize] = member;
        }
        Self { torus, starts, members }
    }

    /// Members of cells that follow each other.
    pub fn members_of(&self, cells: Range<usize>) -> &[Member] {
        &self.members[self.starts[cells.start] as usize..self.starts[cells.end] as usize]
    }

    /// Members of the nine cells around a position.
    pub fn near(&self, position: Position) -> impl Iterator<Item = &Member> {
        let rows = self.torus.around(self.torus.cell(position));
        rows.into_iter().flat_map(|[left, middle, right]| {
            // Three cells of a row follow each other, unless the torus is cut between them.
            let (cells, beyond) = match (left < middle, middle < right) {
                (true, true) => (left..right + 1, 0..0),
                (true, false) => (left..middle + 1, right..right + 1),
                (false, _) => (middle..right + 1, left..left + 1),
            };
            self.members_of(cells).iter().chain(self.members_of(beyond))
        })
    }

    /// The way to the nearest member, if there is one near.
    pub fn way_to_nearest(&self, from: Position) -> Option<(f32, f32)> {
        let ways = self.near(from).map(|member| self.torus.way(from, member.position));
        ways.min_by(|a, b| square(*a).total_cmp(&square(*b)))
    }
}
