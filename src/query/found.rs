//! Looks entities up, up to 64 of them at a time.
//!
//! A look-up waits for memory, and for no other look-up. So places are found first and items are handed out
//! afterwards: what the caller does with one item delays no look-up.

#![allow(unsafe_code, reason = "makes cursors from places")]

use std::ops::Range;

use super::filter::QueryFilter;
use super::marks::lowest;
use super::mode::Mode;
use super::piece::{FRONT, Stretch, Views};
use super::term::{QueryData, Row};

impl<'a, D: QueryData, F: QueryFilter> Views<'a, D, F> {
    /// Calls `step` with the items of the matches in a range of the driver, all of which are looked up.
    #[inline(always)]
    pub(super) fn fold_others<M: Mode, A>(
        self,
        range: Range<usize>,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let mut folded = start;
        for at in range.clone().step_by(64) {
            folded = self.fold_found::<M, A>(at, lowest(range.end - at), folded, step);
        }
        folded
    }

    /// Whether places follow each other in every pool.
    #[inline(always)]
    fn follow(places: &[D::Place]) -> bool {
        let last = places.len() - 1;
        D::is_same(D::step(places[0], last), places[last])
            && places.windows(2).all(|pair| D::is_same(D::step(pair[0], 1), pair[1]))
    }

    /// Calls `step` with the items of the matches among some of 64 positions of the driver, which are looked up.
    #[inline(always)]
    pub(super) fn fold_found<M: Mode, A>(
        self,
        at: usize,
        asked: u64,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        if asked == 0 {
            return start;
        }
        let mut places = [D::load(&FRONT[..D::COLUMNS]); 64];
        let found = self.look_up(at, (asked, 0), &mut places);
        let len = asked.trailing_ones() as usize;
        if found == asked && asked == lowest(len) && len > 8 && Self::follow(&places[..len]) {
            let stretch = Stretch { driver_at: at, len, place: places[0] };
            return self.fold_stretch::<M, A>(stretch, start, step);
        }
        // SAFETY: they were found.
        unsafe { self.fold_placed::<M, A>(at, &places, found, start, step) }
    }

    /// Looks up some of 64 positions of the driver, the first of which is `at`. Returns the matches.
    ///
    /// A look-up waits for memory and for no other look-up; next to nothing here depends on what is found, so they overlap.
    /// Those that are `sure` pass the filter, and their parts are likely to lie at `places` already.
    #[inline(never)]
    pub(super) fn look_up(
        self,
        at: usize,
        (asked, sure): (u64, u64),
        places: &mut [D::Place; 64],
    ) -> u64 {
        let search = D::search(self.data);
        let (mut left, mut found) = (asked & sure, 0);
        while left != 0 {
            let nth = left.trailing_zeros() as usize;
            left &= left - 1;
            let row = Row::of(self.entities, at + nth);
            let (place, is_there) = D::seek_near(search, row, places[nth]);
            debug_assert!(self.passes(row), "A1");
            places[nth] = place;
            found |= u64::from(is_there) << nth;
        }
        left = asked & !sure;
        while left != 0 {
            let nth = left.trailing_zeros() as usize;
            left &= left - 1;
            let row = Row::of(self.entities, at + nth);
            let (place, is_there) = D::seek(search, row);
            places[nth] = place;
            found |= u64::from(is_there & self.passes(row)) << nth;
        }
        found
    }

    /// Calls `step` with the items of some of 64 positions of the driver, the first of which is `at`.
    ///
    /// # Safety
    /// The places of these are those of the entities there.
    // Never inlined: so the loop has the registers to itself.
    #[inline(never)]
    pub(super) unsafe fn fold_placed<M: Mode, A>(
        self,
        at: usize,
        places: &[D::Place; 64],
        mut chosen: u64,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let mut folded = start;
        while chosen != 0 {
            let nth = chosen.trailing_zeros() as usize;
            chosen &= chosen - 1;
            // SAFETY: promised by the caller.
            let cursor = unsafe { self.cursor(at + nth, places[nth]) };
            // SAFETY: one entity; each is at one position of the driver (Q1).
            folded = step(folded, unsafe { M::item::<D>(&cursor, 0) });
        }
        folded
    }
}
