//! Walks by look-ups, for pools that have no bands.
//!
//! The next entity of the driver is looked up in the other pools. Then the packed arrays are compared from there
//! on: as long as they are equal the entities are a stretch, and no more of them is looked up. Where pools
//! differ, some entities are looked up one by one before the next comparison. Nothing is remembered, so the walk
//! of a part finds the same matches as that of the whole.

#![allow(unsafe_code, reason = "makes cursors from places")]

use std::ops::Range;

use super::filter::QueryFilter;
use super::mode::Mode;
use super::piece::{Stretch, Views};
use super::term::{QueryData, Row};

/// Entities that are looked up one by one where pools differ.
const CHUNK: usize = 64;

/// Stretches of fewer entities cost more than their look-ups.
const SHORT: usize = 8;

/// The first and the most entities that are compared in one go.
const REACH: (usize, usize) = (64, 4096);

impl<'a, D: QueryData, F: QueryFilter> Views<'a, D, F> {
    /// The next stretch from position `at` of the driver on. Up to position `alone` no pools are compared.
    #[inline(always)]
    pub(super) fn next_directly(
        self,
        at: &mut usize,
        end: usize,
        alone: &mut usize,
    ) -> Option<Stretch<D>> {
        let search = D::search(self.data);
        while *at < end {
            let driver_at = *at;
            *at += 1;
            let Some(place) = self.place(search, Row::of(self.entities, driver_at)) else {
                continue;
            };
            if driver_at < *alone {
                return Some(Stretch { driver_at, len: 1, place });
            }
            let len = self.look_ahead(driver_at..end, place);
            *at = driver_at + len;
            if len < SHORT {
                *alone = driver_at + CHUNK;
            }
            return Some(Stretch { driver_at, len, place });
        }
        None
    }

    /// Calls `step` with the items of every match in a range of the driver.
    #[inline(always)]
    pub(super) fn fold_directly<M: Mode, A>(
        self,
        Range { start: mut at, end }: Range<usize>,
        start: A,
        mut step: impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let (search, mut folded) = (D::search(self.data), start);
        while at < end {
            if let Some(place) = self.place(search, Row::of(self.entities, at)) {
                let len = self.look_ahead(at..end, place);
                if len >= SHORT || at + len == end {
                    let stretch = Stretch { driver_at: at, len, place };
                    folded = self.fold_stretch::<M, A>(stretch, folded, &mut step);
                    at += len;
                    continue;
                }
            }
            let next = end.min(at + CHUNK);
            folded = self.fold_each::<M, A>(at..next, folded, &mut step);
            at = next;
        }
        folded
    }

    /// Calls `step` with the items of the matches in a range of the driver, each of which is looked up.
    // Never inlined: so the loop has the registers to itself.
    #[inline(never)]
    fn fold_each<M: Mode, A>(
        self,
        range: Range<usize>,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let (search, mut folded) = (D::search(self.data), start);
        for at in range {
            let Some(place) = self.place(search, Row::of(self.entities, at)) else { continue };
            // SAFETY: it was found.
            let cursor = unsafe { self.cursor(at, place) };
            // SAFETY: one entity; each is at one position of the driver (Q1).
            folded = step(folded, unsafe { M::item::<D>(&cursor, 0) });
        }
        folded
    }

    /// How many entities of this range, of which the first is a match at `place`, are a stretch.
    ///
    /// Goes on in longer and longer steps, so that a pool that differs early does not cost a comparison of all
    /// the others to their ends.
    // Cold: so a `for` loop lays out its arguments here, and not before each item.
    #[cold]
    #[inline(never)]
    fn look_ahead(self, range: Range<usize>, place: D::Place) -> usize {
        let search = D::search(self.data);
        let (mut at, mut reach) = (range.start, REACH.0);
        loop {
            let next = at..range.end.min(at + reach);
            let place = D::step(place, at - range.start);
            let mut len = D::extend(search, place, &self.entities[next.clone()]);
            if !(F::IS_OPEN || self.is_sure) {
                let passes = |&at: &usize| self.passes(Row::of(self.entities, at));
                len = (at..at + len).take_while(passes).count();
            }
            at += len;
            if at < next.end || at == range.end {
                return at - range.start;
            }
            reach = REACH.1.min(reach * 4);
        }
    }
}
