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
    pub(super) fn new(mut piece: Piece<'a, D, F>) -> Self {
        let ahead = piece.next_stretch();
        Self { piece, ahead }
    }
}

impl<D: QueryData, F: QueryFilter> Iterator for Merged<'_, D, F> {
    type Item = Stretch<D>;

    fn next(&mut self) -> Option<Stretch<D>> {
        let mut run = self.ahead.take()?;
        while let Some(next) = self.piece.next_stretch() {
            let goes_on = run.driver_at + run.len == next.driver_at
                && D::is_same(D::step(run.place, run.len), next.place);
            if !goes_on {
                self.ahead = Some(next);
                break;
            }
            run.len += next.len;
        }
        Some(run)
    }
}
