//! Stretches, each as long as can be.

use super::filter::QueryFilter;
use super::piece::{Piece, Stretch};
use super::term::QueryData;

/// The stretches of a piece, with those that go on put together.
///
/// The direct path looks only so far ahead, and a list has every entity by itself; what comes out
/// here does not depend on the way.
pub(super) struct Merged<'a, D: QueryData, F: QueryFilter> {
    pub(super) piece: Piece<'a, D, F>,
    /// The first stretch after the one that was given out.
    ahead: Option<Stretch<D>>,
}

impl<'a, D: QueryData, F: QueryFilter> Merged<'a, D, F> {
    pub(super) fn new(piece: Piece<'a, D, F>) -> Self {
        Self { piece, ahead: None }
    }

    /// The next stretch of the piece. Compiled once: all ways through a query are in it.
    #[inline(never)]
    fn step(&mut self) -> Option<Stretch<D>> {
        self.piece.next_stretch()
    }
}

impl<D: QueryData, F: QueryFilter> Iterator for Merged<'_, D, F> {
    type Item = Stretch<D>;

    fn next(&mut self) -> Option<Stretch<D>> {
        let mut run = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.step()?,
        };
        while let Some(next) = self.step() {
            if !run.goes_on_with(&next) {
                self.ahead = Some(next);
                break;
            }
            run.len += next.len;
        }
        Some(run)
    }
}
