//! The iterator over the matches.

#![allow(unsafe_code, reason = "lends item after item from one borrow of the query")]

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::filter::QueryFilter;
use super::mode::{Mode, Reading, Writing};
use super::piece::{Piece, Way};
use super::term::QueryData;

/// A walk over the matches of a query, in the packed order of its driver.
///
/// `for_each`, `fold` and what is built on them (`sum`, `count`, `collect` …) run as loops over
/// slices where the pools of the query are in the same order; a `for` loop is a little slower.
pub struct Walk<'a, D: QueryData, F: QueryFilter, M: Mode> {
    /// The stretch under way: `nth` of `len` comes next.
    cursor: MaybeUninit<D::Cursor<'a>>,
    nth: usize,
    len: usize,
    /// What comes after it.
    rest: Piece<'a, D, F>,
    mode: PhantomData<M>,
}

/// A walk that reads; see [`Query::iter`](super::Query::iter).
pub type Iter<'a, D, F = ()> = Walk<'a, D, F, Reading>;

/// A walk that writes; see [`Query::iter_mut`](super::Query::iter_mut).
pub type IterMut<'a, D, F = ()> = Walk<'a, D, F, Writing>;

impl<'a, D: QueryData, F: QueryFilter, M: Mode> Walk<'a, D, F, M> {
    /// Walks a piece.
    ///
    /// # Safety
    /// The query is borrowed for `'a`, uniquely if the walk writes, and no two walks that write
    /// have a match in common.
    #[inline]
    pub(super) unsafe fn new(rest: Piece<'a, D, F>) -> Self {
        let (cursor, mode) = (MaybeUninit::uninit(), PhantomData);
        let mut walk = Self { cursor, nth: 0, len: 0, rest, mode };
        if const { Piece::<D, F>::IS_ONE_STRETCH } {
            // So that a `for` loop is one over a slice, and compiled as such.
            debug_assert!(matches!(walk.rest.way, Way::Aligned));
            walk.enter();
        }
        walk
    }

    /// Enters the next stretch; `false` if there is none.
    #[inline(always)]
    fn enter(&mut self) -> bool {
        let Some(stretch) = self.rest.next_stretch() else { return false };
        // SAFETY: a stretch has the place of its first entity.
        let cursor = unsafe { self.rest.views.cursor(stretch.driver_at, stretch.place) };
        self.cursor = MaybeUninit::new(cursor);
        (self.nth, self.len) = (0, stretch.len);
        true
    }
}

impl<'a, D: QueryData, F: QueryFilter, M: Mode> Iterator for Walk<'a, D, F, M> {
    type Item = M::Item<'a, D>;

    // Always: an iterator whose address nobody takes is kept in registers.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.nth >= self.len && (const { Piece::<D, F>::IS_ONE_STRETCH } || !self.enter()) {
            return None;
        }
        let nth = self.nth;
        self.nth += 1;
        // SAFETY: there is a stretch under way, so the cursor was made.
        let cursor = unsafe { self.cursor.assume_init_ref() };
        // SAFETY: the stretch is that long; each entity is in one stretch, and each of them is
        // lent once (Q1), to one who holds the query's borrow (`new`).
        Some(unsafe { M::item::<D>(cursor, nth) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let under_way = self.len - self.nth;
        let (least, most) = self.rest.size_hint();
        (under_way + least, most.map(|most| under_way + most))
    }

    #[inline(always)]
    fn fold<A, G: FnMut(A, Self::Item) -> A>(self, start: A, mut step: G) -> A {
        let mut folded = start;
        if const { Piece::<D, F>::IS_ONE_STRETCH } {
            let left = self.len - self.nth;
            return self.rest.fold_last::<M, A>(left, folded, step);
        }
        for nth in self.nth..self.len {
            // SAFETY: as in `next`.
            let cursor = unsafe { self.cursor.assume_init_ref() };
            // SAFETY: as in `next`.
            folded = step(folded, unsafe { M::item::<D>(cursor, nth) });
        }
        self.rest.fold::<M, A>(folded, step)
    }

    fn count(self) -> usize {
        match self.size_hint() {
            (least, Some(most)) if least == most => least,
            _ => self.fold(0, |count, _| count + 1),
        }
    }
}

impl<D: QueryData, F: QueryFilter, M: Mode> FusedIterator for Walk<'_, D, F, M> {}

impl<D: QueryData, F: QueryFilter, M: Mode> fmt::Debug for Walk<'_, D, F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("left", &self.size_hint()).finish_non_exhaustive()
    }
}
