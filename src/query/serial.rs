//! What stands in for parallel walks without the feature `parallel`: the ordinary ones.

use super::filter::QueryFilter;
use super::term::QueryData;
use super::{Iter, IterMut, Query};

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// Walks the matches, for reading. With the feature `parallel`, by several threads.
    pub fn par_iter(&self) -> Iter<'_, D, F> {
        self.iter()
    }

    /// Walks the matches. With the feature `parallel`, by several threads.
    pub fn par_iter_mut(&mut self) -> IterMut<'_, D, F> {
        self.iter_mut()
    }
}
