//! Walks along the bands of the driver: a stretch is a run of rows that are placed in all pools.
//!
//! In a band whose block has all required pools, a row that is placed in each of them is a match, unless a pool that
//! is refused has its entity. Sixty-four rows are asked at once, by the marks of the pools (A1). Every other entity of the
//! driver is looked up: those that are loose, and those of blocks without a required pool that have
//! the component all the same.

#![allow(unsafe_code, reason = "makes cursors from places")]

use std::ops::Range;

use super::exceptions::{Found, Loose};
use super::filter::QueryFilter;
use super::marks::{Asked, Columns, MOST, Marks, ROWS, Together, lowest};
use super::mode::Mode;
use super::piece::{Stretch, Views};
use super::term::{QueryData, Row};
use crate::sparse::{Band, Rows};

/// Runs of fewer entities than this, in the mean, are not walked as stretches.
const SHORT: u32 = 24;

/// Sixty-four rows of a band.
struct Word<D: QueryData> {
    /// Position of the first in the driver.
    at: usize,
    matches: u64,
    /// Those of which it is not known whether they match.
    unknown: u64,
    /// Those that pass the filter if they are found.
    sure: u64,
    /// Where the parts of the first lie.
    place: D::Place,
}

/// Where a walk by single stretches is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ahead {
    /// The number of a band that does not lie behind.
    band: usize,
    /// The position of the first of up to 64 rows that were asked.
    from: usize,
    matches: u64,
    unknown: u64,
}

impl<'a, D: QueryData, F: QueryFilter> Views<'a, D, F> {
    /// Whether a query of so many columns can be walked along bands.
    pub(super) const HAS_PLACES: bool = D::COLUMNS <= MOST;

    /// The pools of the query.
    #[inline(always)]
    fn columns(self) -> Columns<'a> {
        let mut columns = Columns::new();
        D::columns(self.data, &mut columns);
        F::columns(self.filter, &mut columns);
        columns
    }

    /// What is to be asked of rows of a band from a position on, and where the first one lies, if the block has all required
    /// pools.
    #[inline(always)]
    fn asked(
        self,
        columns: &Columns<'a>,
        driver: &Rows,
        (band, at, len): (Band, usize, usize),
    ) -> (Asked<'a>, Option<D::Place>) {
        let (row, mut numbers) = (at - band.start as usize, [0; MOST]);
        let has_all = columns.places(band.block, row, &mut numbers);
        let refused = match has_all && !F::IS_OPEN {
            true => self.exceptions.refused.get_or_init(|| self.loose(driver, true)).bits(),
            false => Some(&[][..]),
        };
        let extra = match has_all && !columns.has_choice {
            true => Some(&[][..]),
            false => self.exceptions.extra.get_or_init(|| self.loose(driver, false)).bits(),
        };
        let first = self.world.first_row_of(band.block) + row;
        let place = has_all.then(|| D::load(&numbers[..D::COLUMNS]));
        let refused = refused.unwrap_or_default();
        (Asked { band, row, len, refused, extra, first }, place)
    }

    /// Lets a stretch that ends with a band go on over the bands behind it, as far as all their rows match and lie behind
    /// it in every pool; `next` is the number of the first of them. Returns the number of the first one that is not part of it.
    #[inline]
    fn join(
        self,
        columns: &Columns<'a>,
        rows: &Rows,
        (mut next, end): (usize, usize),
        stretch: &mut Stretch<D>,
    ) -> usize {
        while let Some(&band) = rows.bands().get(next) {
            let at = stretch.driver_at + stretch.len;
            // After a short one a new loop costs as much as to find out that it is not needed.
            if stretch.len < ROWS || at >= end || band.start as usize != at {
                break;
            }
            let len = band.end().min(end) - at;
            let (asked, place) = self.asked(columns, rows, (band, at, len));
            let goes_on = |place| D::is_same(D::step(stretch.place, stretch.len), place);
            if !place.is_some_and(goes_on) || columns.survey(rows, asked, true) != Together::All {
                break;
            }
            self.check_run(at, len, D::step(stretch.place, stretch.len));
            stretch.len += len;
            next += 1;
        }
        next
    }

    /// The next stretch from position `at` of the driver on, and from where to go on.
    // By value: if no address of an iterator escapes, its state stays in registers between two calls.
    #[inline(never)]
    pub(super) fn next_in_bands(
        self,
        mut at: usize,
        end: usize,
        mut ahead: Ahead,
    ) -> (Option<Stretch<D>>, usize, Ahead) {
        let found = self.find_in_bands(&mut at, end, &mut ahead);
        (found, at, ahead)
    }

    #[inline(always)]
    fn find_in_bands(self, at: &mut usize, end: usize, ahead: &mut Ahead) -> Option<Stretch<D>> {
        let (Some(rows), search) = (self.rows, D::search(self.data)) else { return None };
        let bands = rows.bands();
        while *at < end {
            while bands.get(ahead.band).is_some_and(|band| band.end() <= *at) {
                *ahead = Ahead { band: ahead.band + 1, ..Ahead::default() };
            }
            let next = bands.get(ahead.band).copied();
            let Some(band) = next.filter(|band| band.start as usize <= *at) else {
                // Between bands, or behind all of them.
                let stop = next.map_or(end, |band| end.min(band.start as usize));
                while *at < stop {
                    let driver_at = *at;
                    *at += 1;
                    if let Some(place) = self.place(search, Row::of(self.entities, driver_at)) {
                        return Some(Stretch { driver_at, len: 1, place });
                    }
                }
                continue;
            };
            let stop = band.end().min(end);
            let passed = *at - ahead.from.min(*at);
            if passed >= 64 || ahead.from > *at || ahead.matches | ahead.unknown == 0 {
                let columns = self.columns();
                let (mut asked, place) = self.asked(&columns, rows, (band, *at, stop - *at));
                let driver_at = *at;
                match (columns.survey(rows, asked, place.is_some()), place) {
                    (Together::All, Some(place)) => {
                        self.check_run(driver_at, asked.len, place);
                        let mut stretch = Stretch { driver_at, len: asked.len, place };
                        self.join(&columns, rows, (ahead.band + 1, end), &mut stretch);
                        *at = driver_at + stretch.len;
                        return Some(stretch);
                    }
                    (Together::None, _) => {
                        *at = stop;
                        continue;
                    }
                    _ => {}
                }
                asked.len = asked.len.min(ROWS);
                let mut marks = Marks::new();
                columns.mark(rows, asked, place.is_some(), &mut marks);
                let len = marks.run();
                if let Some(place) = place.filter(|_| len >= 64) {
                    *at += len;
                    self.check_run(driver_at, len, place);
                    return Some(Stretch { driver_at, len, place });
                }
                let Some(skipped) = marks.skipped() else {
                    *at += asked.len;
                    continue;
                };
                *at += skipped * 64;
                (ahead.matches, ahead.unknown) = (marks.matches[skipped], marks.unknown[skipped]);
                ahead.from = *at;
                continue;
            }
            let asked = !lowest(passed);
            let nth = ((ahead.matches | ahead.unknown) & asked).trailing_zeros() as usize;
            if nth == 64 {
                *at = stop.min(ahead.from + 64);
                continue;
            }
            let driver_at = ahead.from + nth;
            let len = (ahead.matches >> nth).trailing_ones() as usize;
            if len > 0 {
                *at = driver_at + len;
                let (mut numbers, row) = ([0; MOST], driver_at - band.start as usize);
                let has_all = self.columns().places(band.block, row, &mut numbers);
                debug_assert!(has_all, "rows match only in a block that has all required pools");
                let place = D::load(&numbers[..D::COLUMNS]);
                self.check_run(driver_at, len, place);
                return Some(Stretch { driver_at, len, place });
            }
            *at = driver_at + 1;
            if let Some(place) = self.place(search, Row::of(self.entities, driver_at)) {
                return Some(Stretch { driver_at, len: 1, place });
            }
        }
        None
    }

    /// Calls `step` with the items of every match in a range of the driver, as `next_in_bands` finds them.
    #[inline(always)]
    pub(super) fn fold_bands<M: Mode, A>(
        self,
        range: Range<usize>,
        start: A,
        mut step: impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let (mut at, end, mut folded) = (range.start, range.end, start);
        let Some(rows) = self.rows else { return folded };
        let columns = self.columns();
        let mut next = rows.bands().partition_point(|band| band.end() <= at);
        while let Some(&band) = rows.bands().get(next) {
            next += 1;
            let (start, stop) = (end.min(band.start as usize), end.min(band.end()));
            if at < start {
                folded = self.fold_others::<M, A>(at..start, folded, &mut step);
                at = start;
            }
            if at >= stop {
                break;
            }
            let (mut asked, place) = self.asked(&columns, rows, (band, at, stop - at));
            match (columns.survey(rows, asked, place.is_some()), place) {
                (Together::All, Some(place)) => {
                    self.check_run(at, asked.len, place);
                    let mut stretch = Stretch { driver_at: at, len: asked.len, place };
                    next = self.join(&columns, rows, (next, end), &mut stretch);
                    at += stretch.len;
                    folded = self.fold_stretch::<M, A>(stretch, folded, &mut step);
                    continue;
                }
                (Together::None, _) => {}
                _ => {
                    let mut marks = Marks::new();
                    for from in (at..stop).step_by(ROWS) {
                        asked.len = ROWS.min(stop - from);
                        columns.mark(rows, asked, place.is_some(), &mut marks);
                        (asked.row, asked.first) = (asked.row + ROWS, asked.first + ROWS);
                        if let Some(base) = place {
                            let base = D::step(base, from - at);
                            let rows = (from, asked.len, base);
                            folded = self.fold_marked::<M, A>(rows, &marks, folded, &mut step);
                            continue;
                        }
                        for (at, asked) in (from..from + asked.len).step_by(64).zip(marks.unknown) {
                            folded = self.fold_found::<M, A>(at, asked, folded, &mut step);
                        }
                    }
                }
            }
            at = stop;
        }
        self.fold_others::<M, A>(at..end, folded, &mut step)
    }

    /// Calls `step` with the items of the matches among rows, of which the first lies at `base`.
    #[inline(always)]
    fn fold_marked<M: Mode, A>(
        self,
        (begin, rows, base): (usize, usize, D::Place),
        marks: &Marks,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let mut folded = start;
        // The stretch that is being found: it begins at `run`, and ends where the next word does not go on.
        let (mut run, end) = (begin, begin + rows);
        for (nth, at) in (begin..end).step_by(64).enumerate() {
            let (matches, unknown) = (marks.matches[nth], marks.unknown[nth]);
            let next = end.min(at + 64);
            if matches == lowest(end - at) {
                continue;
            }
            // Mixed. Where runs are short, one after the other: a loop over a run costs more to begin and to end.
            let runs = (matches & !(matches << 1)).count_ones();
            let is_scattered = runs * SHORT > matches.count_ones();
            let first = if is_scattered { 0 } else { matches.trailing_ones() as usize };
            let len = at - run + first;
            if len > 0 {
                let place = D::step(base, run - begin);
                self.check_run(run, len, place);
                let stretch = Stretch { driver_at: run, len, place };
                folded = self.fold_stretch::<M, A>(stretch, folded, step);
            }
            let (sure, place) = (marks.sure[nth], D::step(base, at - begin));
            let word = Word { at, matches, unknown, sure, place };
            folded = match is_scattered {
                true => self.fold_word::<M, A>(word, folded, step),
                false => self.fold_runs::<M, A>(word, first, folded, step),
            };
            run = next;
        }
        if run < end {
            let place = D::step(base, run - begin);
            self.check_run(run, end - run, place);
            let stretch = Stretch { driver_at: run, len: end - run, place };
            folded = self.fold_stretch::<M, A>(stretch, folded, step);
        }
        folded
    }

    /// Calls `step` with the items of the matches among 64 rows, one after the other.
    #[inline(always)]
    fn fold_word<M: Mode, A>(
        self,
        word: Word<D>,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let Word { at, matches, unknown, sure, place } = word;
        if unknown == 0 {
            let first = matches.trailing_zeros() as usize;
            if first == 64 {
                return start;
            }
            let (first_at, place) = (at + first, D::step(place, first));
            self.check_bits(first_at, matches >> first, place);
            // SAFETY: the first match is at its place in all pools (A1).
            let cursor = unsafe { self.cursor(first_at, place) };
            // SAFETY: each of them is at its place in all pools (A1), so many rows behind the first, and in one word (Q1).
            return unsafe { fold_chosen::<D, M, A>(cursor, matches >> first, start, step) };
        }
        self.check_bits(at, matches, place);
        let mut places: [D::Place; 64] = std::array::from_fn(|nth| D::step(place, nth));
        let found = self.look_up(at, (unknown, sure), &mut places);
        // SAFETY: matches are at their places in all pools (A1), the others were found.
        unsafe { self.fold_placed::<M, A>(at, &places, matches | found, start, step) }
    }

    /// Calls `step` with the items of the matches among 64 rows, run after run. The first rows were walked before.
    #[inline(always)]
    fn fold_runs<M: Mode, A>(
        self,
        word: Word<D>,
        first: usize,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let Word { at, matches, unknown, sure, place } = word;
        let (mut places, mut found) = ([place; 64], 0);
        if unknown != 0 {
            places = std::array::from_fn(|nth| D::step(place, nth));
            found = self.look_up(at, (unknown, sure), &mut places);
        }
        let (mut left, mut folded) = ((matches | found) & !lowest(first), start);
        while left != 0 {
            let nth = left.trailing_zeros() as usize;
            let of_kind = if matches >> nth & 1 == 1 { matches } else { found };
            let len = (of_kind >> nth).trailing_ones() as usize;
            let run = lowest(len) << nth;
            left &= !run;
            if matches & run == 0 {
                // SAFETY: they were found.
                folded = unsafe { self.fold_placed::<M, A>(at, &places, run, folded, step) };
                continue;
            }
            let stretch = Stretch { driver_at: at + nth, len, place: D::step(place, nth) };
            self.check_run(stretch.driver_at, len, stretch.place);
            folded = self.fold_stretch::<M, A>(stretch, folded, step);
        }
        folded
    }

    /// Blocks that have all required pools, and entities that are looked up.
    pub(super) fn count_in_bands(self) -> (usize, usize) {
        let Some(rows) = self.rows else { return (0, 0) };
        let (columns, mut marks) = (self.columns(), Marks::new());
        let (mut blocks, mut looked_up, mut at) = (0, 0, 0);
        let end = self.entities.len();
        for &band in rows.bands() {
            let (start, stop) = (end.min(band.start as usize), end.min(band.end()));
            looked_up += start - at;
            for from in (start..stop).step_by(ROWS) {
                let len = ROWS.min(stop - from);
                let (asked, place) = self.asked(&columns, rows, (band, from, len));
                blocks += usize::from(place.is_some() && from == start);
                columns.mark(rows, asked, place.is_some(), &mut marks);
                let words = marks.unknown[..len.div_ceil(64)].iter();
                looked_up += words.map(|word| word.count_ones() as usize).sum::<usize>();
            }
            at = stop;
        }
        (blocks, looked_up + end - at)
    }

    /// A1, for checks.
    #[inline(always)]
    fn check_run(self, driver_at: usize, len: usize, place: D::Place) {
        debug_assert!(
            (0..len).all(|nth| self.is_placed(driver_at + nth, D::step(place, nth))),
            "A1"
        );
    }

    /// A1 for the rows of a word, for checks.
    #[inline(always)]
    fn check_bits(self, driver_at: usize, bits: u64, place: D::Place) {
        let mut rows = (0..64).filter(|nth| bits >> nth & 1 == 1);
        debug_assert!(rows.all(|nth| self.is_placed(driver_at + nth, D::step(place, nth))), "A1");
    }

    #[cold]
    #[inline(never)]
    fn loose(self, driver: &Rows, is_refused: bool) -> Found {
        let mut loose = Loose::new(self.world, driver, is_refused);
        D::columns(self.data, &mut loose);
        F::columns(self.filter, &mut loose);
        loose.found
    }
}

/// Calls `step` with the items of a cursor whose bits are set.
///
/// # Safety
/// As [`QueryData::item`], for each of them.
// Never inlined: so the loop has the registers to itself.
#[inline(never)]
unsafe fn fold_chosen<'a, D: QueryData, M: Mode, A>(
    cursor: D::Cursor<'a>,
    mut chosen: u64,
    start: A,
    step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
) -> A {
    let mut folded = start;
    while chosen != 0 {
        let nth = chosen.trailing_zeros() as usize;
        chosen &= chosen - 1;
        // SAFETY: promised by the caller.
        folded = step(folded, unsafe { M::item::<D>(&cursor, nth) });
    }
    folded
}
