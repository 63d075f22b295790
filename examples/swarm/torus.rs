//! The ground: a square whose edges are joined, cut into cells of size one.

use esker::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use crate::life::Position;

/// The world's shape, a resource.
#[derive(Debug, Clone, Copy, Snapshot, Serialize, Deserialize)]
#[snapshot(clone)]
pub struct Torus {
    /// Cells along each edge.
    pub side: usize,
}

impl Torus {
    /// Number of cells.
    pub fn cells(self) -> usize {
        self.side * self.side
    }

    /// The number of the cell around a position.
    pub fn cell(self, position: Position) -> usize {
        let last = self.side - 1;
        (position.y as usize).min(last) * self.side + (position.x as usize).min(last)
    }

    /// The middle of a cell.
    pub fn middle(self, cell: usize) -> Position {
        Position { x: (cell % self.side) as f32 + 0.5, y: (cell / self.side) as f32 + 0.5 }
    }

    /// The position after moving on by this much, which is less than once around.
    pub fn advance(self, from: Position, (x, y): (f32, f32)) -> Position {
        let side = self.side as f32;
        let wrap = |at: f32| {
            if at < 0.0 {
                at + side
            } else if at >= side {
                at - side
            } else {
                at
            }
        };
        Position { x: wrap(from.x + x), y: wrap(from.y + y) }
    }

    /// The shortest way from one position to another, which may lead over the edge.
    pub fn way(self, from: Position, to: Position) -> (f32, f32) {
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

    /// Three rows of three cells, with the cell in the middle.
    pub fn around(self, cell: usize) -> [[usize; 3]; 3] {
        let columns = self.neighbours(cell % self.side);
        let rows = self.neighbours(cell / self.side);
        rows.map(|row| columns.map(|column| row * self.side + column))
    }

    /// The numbers before and after `at` on a ring, with itself in the middle.
    fn neighbours(self, at: usize) -> [usize; 3] {
        let before = if at == 0 { self.side - 1 } else { at - 1 };
        let after = if at + 1 == self.side { 0 } else { at + 1 };
        [before, at, after]
    }
}

/// The square of a length.
pub fn square((x, y): (f32, f32)) -> f32 {
    x * x + y * y
}
