//! Walks along the bands of the driver: a stretch is a run of rows that are placed in all pools.
//!
//! In a band whose block has all required pools, a row that is placed in each of them is a match, unless a pool that
//! is refused has its entity. Sixty-four rows are asked at once, by the marks of the pools (A1). Every other entity of the
//! driver is looked up: those that are loose, and those of blocks without a required pool that have
//! the component all the same.

#![allow(unsafe_code, reason = "makes cursors from places")]

use std::mem;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::filter::QueryFilter;
use super::mode::Mode;
use super::piece::{Stretch, Views};
use super::survey::{Column, Part, Role, Surveyor};
use super::term::{QueryData, Row};
use crate::sparse::Rows;
use crate::world::{LooseRows, World};

/// Numbers that the place of a query's entity is saved in, at most.
const MOST: usize = 16;

/// Runs of fewer entities than this, in the mean, are not walked as stretches.
const SHORT: u32 = 24;

/// Rows that the marks of pools do not tell. Found when a walk comes to the first band that needs them.
#[derive(Debug, Default)]
pub(super) struct Exceptions {
    /// Of entities that a refused pool has, where it is loose.
    refused: OnceLock<Found>,
    /// Of entities whose block lacks a required pool that has them all the same.
    extra: OnceLock<Found>,
}

/// Rows as bits, by their numbers among all of the world.
#[derive(Debug, Default)]
enum Found {
    #[default]
    None,
    /// Those of one pool.
    One(Arc<LooseRows>),
    /// Those of several.
    Several(Vec<u64>),
}

impl Found {
    fn bits(&self) -> &[u64] {
        match self {
            Self::None => &[],
            Self::One(rows) => rows.bits(),
            Self::Several(bits) => bits,
        }
    }

    fn add(&mut self, rows: Arc<LooseRows>) {
        *self = match mem::take(self) {
            Self::None => Self::One(rows),
            other => {
                let mut bits = other.bits().to_vec();
                bits.resize(bits.len().max(rows.bits().len()), 0);
                for (all, more) in bits.iter_mut().zip(rows.bits()) {
                    *all |= more;
                }
                Self::Several(bits)
            }
        };
    }
}

/// Sixty-four rows of a band.
struct Word<D: QueryData> {
    /// Position of the first in the driver.
    at: usize,
    matches: u64,
    /// The matches, and those of whom that is not known.
    asked: u64,
    /// Where the parts of the first lie.
    place: D::Place,
}

/// Where a block lies in the pools of a query.
struct Places {
    block: u32,
    row: usize,
    /// The positions of the row in the pools that are fetched from, in their order.
    numbers: [u32; MOST],
    fetched: usize,
    /// Whether a required pool has no such block.
    is_lacking: bool,
}

impl<'a> Surveyor<'a> for Places {
    #[inline(always)]
    fn column(&mut self, column: Column<'a>) {
        if column.role == Role::Without {
            return;
        }
        let start = column.rows.and_then(|rows| rows.start_of(self.block));
        let Some(start) = start else {
            self.is_lacking = true;
            return;
        };
        if column.role == Role::Fetched && self.fetched < MOST {
            self.numbers[self.fetched] = (start + self.row) as u32;
            self.fetched += 1;
        }
    }

    #[inline(always)]
    fn begin(&mut self, _: Part) {}

    #[inline(always)]
    fn end(&mut self) {}
}

/// Which of 64 rows of a block are placed in all required pools, and in one that is refused.
struct Marks {
    block: u32,
    row: usize,
    placed: u64,
    refused: u64,
}

impl<'a> Surveyor<'a> for Marks {
    #[inline(always)]
    fn column(&mut self, column: Column<'a>) {
        let found = column.rows.and_then(|rows| Some((rows, rows.start_of(self.block)?)));
        match (found, column.role) {
            (Some((rows, start)), Role::Without) => self.refused |= rows.bits(start + self.row),
            (Some((rows, start)), _) => self.placed &= rows.bits(start + self.row),
            (None, Role::Without) => {}
            (None, _) => self.placed = 0,
        }
    }

    #[inline(always)]
    fn begin(&mut self, _: Part) {}

    #[inline(always)]
    fn end(&mut self) {}
}

/// Finds the rows of those who are loose in the refused pools of a query, or in the required ones.
struct Loose<'s> {
    world: &'s World,
    driver: &'s Rows,
    is_refused: bool,
    found: Found,
}

impl<'a> Surveyor<'a> for Loose<'_> {
    fn column(&mut self, column: Column<'a>) {
        let is_driver = column.rows.is_some_and(|rows| std::ptr::eq(rows, self.driver));
        if (column.role == Role::Without) == self.is_refused && !is_driver {
            let Column { id, stamp, entities, rows, .. } = column;
            self.found.add(self.world.loose_rows((id, stamp), entities, rows));
        }
    }

    fn begin(&mut self, _: Part) {}

    fn end(&mut self) {}
}

/// Sixty-four bits from a position on.
#[inline]
fn bits(words: &[u64], at: usize) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    let next = words.get(word + 1).copied().unwrap_or(0);
    words.get(word).copied().unwrap_or(0) >> shift | next << 1 << (63 - shift)
}

/// The lowest so many bits.
#[inline]
fn lowest(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

impl<'a, D: QueryData, F: QueryFilter> Views<'a, D, F> {
    /// Whether a query of so many columns can be walked along bands.
    pub(super) const HAS_PLACES: bool = D::COLUMNS <= MOST;

    /// The next stretch from position `at` of the driver on; `band` is one that does not lie behind it.
    pub(super) fn next_in_bands(
        self,
        at: &mut usize,
        end: usize,
        band: &mut usize,
    ) -> Option<Stretch<D>> {
        let (Some(rows), search) = (self.rows, D::search(self.data)) else { return None };
        let bands = rows.bands();
        while *at < end {
            while bands.get(*band).is_some_and(|band| band.end() <= *at) {
                *band += 1;
            }
            let ahead = bands.get(*band).copied();
            let Some(here) = ahead.filter(|band| band.start as usize <= *at) else {
                // Between bands, or behind all of them.
                let stop = ahead.map_or(end, |band| end.min(band.start as usize));
                while *at < stop {
                    let driver_at = *at;
                    *at += 1;
                    if let Some(place) = self.place(search, Row::of(self.entities, driver_at)) {
                        return Some(Stretch { driver_at, len: 1, place });
                    }
                }
                continue;
            };
            let (stop, row) = (here.end().min(end), *at - here.start as usize);
            let block = here.block;
            let mut places =
                Places { block, row, numbers: [0; MOST], fetched: 0, is_lacking: false };
            D::columns(self.data, &mut places);
            F::columns(self.filter, &mut places);
            if places.is_lacking {
                let left = !rows.bits(*at) | self.extra(rows, block, row);
                match (left & lowest(stop - *at)).trailing_zeros() as usize {
                    64 => {
                        *at = stop.min(*at + 64);
                        continue;
                    }
                    skipped => *at += skipped,
                }
            } else {
                let (matches, unknown) = self.marks(rows, block, row, stop - *at);
                if matches & 1 == 1 {
                    let driver_at = *at;
                    let mut len = matches.trailing_ones() as usize;
                    while len.is_multiple_of(64) && *at + len < stop {
                        let more = self.marks(rows, block, row + len, stop - *at - len).0;
                        match more.trailing_ones() as usize {
                            0 => break,
                            found => len += found,
                        }
                    }
                    *at += len;
                    let place = D::load(&places.numbers[..D::COLUMNS]);
                    self.check_run(driver_at, len, place);
                    return Some(Stretch { driver_at, len, place });
                }
                match (matches | unknown).trailing_zeros() as usize {
                    64 => {
                        *at = stop.min(*at + 64);
                        continue;
                    }
                    skipped => *at += skipped,
                }
                if unknown >> (*at - here.start as usize - row) & 1 == 0 {
                    continue;
                }
            }
            let driver_at = *at;
            *at += 1;
            if let Some(place) = self.place(search, Row::of(self.entities, driver_at)) {
                return Some(Stretch { driver_at, len: 1, place });
            }
        }
        None
    }

    /// Calls `step` with the items of every match in a range of the driver, as `next_in_bands` finds them.
    // A band is asked once where its block lies, and 64 rows at once who matches.
    #[inline(always)]
    pub(super) fn fold_bands<M: Mode, A>(
        self,
        range: Range<usize>,
        start: A,
        mut step: impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let (mut at, end, mut folded) = (range.start, range.end, start);
        let Some(rows) = self.rows else { return folded };
        let first = rows.bands().partition_point(|band| band.end() <= at);
        for &band in &rows.bands()[first..] {
            let (start, stop) = (end.min(band.start as usize), end.min(band.end()));
            if at < start {
                folded = self.fold_loose::<M, A>(at..start, folded, &mut step);
                at = start;
            }
            if at >= stop {
                break;
            }
            let (block, row) = (band.block, at - band.start as usize);
            let mut places =
                Places { block, row, numbers: [0; MOST], fetched: 0, is_lacking: false };
            D::columns(self.data, &mut places);
            F::columns(self.filter, &mut places);
            if places.is_lacking {
                for from in (at..stop).step_by(64) {
                    let left = !rows.bits(from) | self.extra(rows, block, row + (from - at));
                    folded =
                        self.fold_bits::<M, A>(from, left & lowest(stop - from), folded, &mut step);
                }
                at = stop;
                continue;
            }
            // The stretch that is being found: it begins at `run`, and ends where the next word does not go on.
            let (base, begin, mut run) = (D::load(&places.numbers[..D::COLUMNS]), at, at);
            while at < stop {
                let asked = lowest(stop - at);
                let (matches, unknown) = self.marks(rows, block, row + (at - begin), stop - at);
                let next = stop.min(at + 64);
                if matches == asked {
                    at = next;
                    continue;
                }
                // Mixed. Where runs are short, one after the other: a loop over a run costs more to begin and to end.
                let runs = (matches & !(matches << 1)).count_ones();
                let is_scattered = runs * SHORT > matches.count_ones();
                let first = if is_scattered { 0 } else { matches.trailing_ones() as usize };
                let mut left = (matches | unknown) & !lowest(first);
                let mut len = at - run + first;
                loop {
                    if len > 0 {
                        let place = D::step(base, run - begin);
                        self.check_run(run, len, place);
                        let stretch = Stretch { driver_at: run, len, place };
                        folded = self.fold_stretch::<M, A>(stretch, folded, &mut step);
                    }
                    if is_scattered {
                        let word =
                            Word { at, matches, asked: left, place: D::step(base, at - begin) };
                        folded = self.fold_word::<M, A>(word, folded, &mut step);
                        break;
                    }
                    if left == 0 {
                        break;
                    }
                    let nth = left.trailing_zeros() as usize;
                    run = at + nth;
                    len = (matches >> nth).trailing_ones() as usize;
                    if len == 0 {
                        left &= left - 1;
                        folded = self.fold_loose::<M, A>(run..run + 1, folded, &mut step);
                    } else {
                        left &= !(lowest(len) << nth);
                    }
                }
                (at, run) = (next, next);
            }
            if run < stop {
                let place = D::step(base, run - begin);
                self.check_run(run, stop - run, place);
                let stretch = Stretch { driver_at: run, len: stop - run, place };
                folded = self.fold_stretch::<M, A>(stretch, folded, &mut step);
            }
        }
        self.fold_loose::<M, A>(at..end, folded, &mut step)
    }

    /// Calls `step` with the items of the matches among 64 rows, one after the other.
    #[inline(always)]
    fn fold_word<M: Mode, A>(
        self,
        word: Word<D>,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let Word { at, matches, asked, place } = word;
        let (mut left, mut folded, first) = (asked, start, matches.trailing_zeros() as usize);
        if first == 64 {
            return self.fold_bits::<M, A>(at, left, folded, step);
        }
        self.check_run(at + first, 1, D::step(place, first));
        // SAFETY: the first match is at its place in all pools (A1).
        let cursor = unsafe { self.cursor(at + first, D::step(place, first)) };
        while left != 0 {
            let nth = left.trailing_zeros() as usize;
            left &= left - 1;
            if matches >> nth & 1 == 1 {
                self.check_run(at + nth, 1, D::step(place, nth));
                // SAFETY: it is at its place in all pools (A1), so many rows behind the first; each is in one word (Q1).
                folded = step(folded, unsafe { M::item::<D>(&cursor, nth - first) });
            } else {
                folded = self.fold_loose::<M, A>(at + nth..at + nth + 1, folded, step);
            }
        }
        folded
    }

    /// Blocks that have all required pools, and entities that are looked up.
    pub(super) fn count_in_bands(self) -> (usize, usize) {
        let Some(rows) = self.rows else { return (0, 0) };
        let (mut blocks, mut looked_up, mut at) = (0, 0, 0);
        let end = self.entities.len();
        for band in rows.bands() {
            let (start, stop) = (end.min(band.start as usize), end.min(band.end()));
            looked_up += start - at;
            let (block, numbers) = (band.block, [0; MOST]);
            let mut places = Places { block, row: 0, numbers, fetched: 0, is_lacking: false };
            D::columns(self.data, &mut places);
            F::columns(self.filter, &mut places);
            blocks += usize::from(!places.is_lacking && start < stop);
            for from in (start..stop).step_by(64) {
                let left = match places.is_lacking {
                    true => !rows.bits(from) | self.extra(rows, block, from - start),
                    false => self.marks(rows, block, from - start, stop - from).1,
                };
                looked_up += (left & lowest(stop - from)).count_ones() as usize;
            }
            at = stop;
        }
        (blocks, looked_up + end - at)
    }

    /// Calls `step` with the items of those positions of the driver, 64 from one on, that match.
    #[inline(always)]
    fn fold_bits<M: Mode, A>(
        self,
        from: usize,
        mut left: u64,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let mut folded = start;
        while left != 0 {
            let at = from + left.trailing_zeros() as usize;
            left &= left - 1;
            folded = self.fold_loose::<M, A>(at..at + 1, folded, step);
        }
        folded
    }

    /// Calls `step` with the items of the matches in a range of the driver, which are looked up.
    #[inline(always)]
    fn fold_loose<M: Mode, A>(
        self,
        range: Range<usize>,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let (search, mut folded) = (D::search(self.data), start);
        for driver_at in range {
            if let Some(place) = self.place(search, Row::of(self.entities, driver_at)) {
                // SAFETY: it is the place of the entity at that position.
                let cursor = unsafe { self.cursor(driver_at, place) };
                // SAFETY: one entity; each is at one position of the driver (Q1).
                folded = step(folded, unsafe { M::item::<D>(&cursor, 0) });
            }
        }
        folded
    }

    /// Which of 64 rows from one on are matches, and of which that is not known, of so many.
    #[inline(always)]
    fn marks(self, rows: &Rows, block: u32, row: usize, most: usize) -> (u64, u64) {
        let mut marks = Marks { block, row, placed: u64::MAX, refused: 0 };
        D::columns(self.data, &mut marks);
        F::columns(self.filter, &mut marks);
        if !F::IS_OPEN {
            marks.refused |= self.refused(rows, block, row);
        }
        let asked = lowest(most);
        (marks.placed & !marks.refused & asked, !marks.placed & asked)
    }

    /// A1, for checks.
    #[inline(always)]
    fn check_run(self, driver_at: usize, len: usize, place: D::Place) {
        debug_assert!(
            (0..len).all(|nth| self.is_placed(driver_at + nth, D::step(place, nth))),
            "A1"
        );
    }

    /// Which of 64 rows from one on belong to entities that a refused pool has, where it is loose.
    #[inline]
    fn refused(self, rows: &Rows, block: u32, row: usize) -> u64 {
        let found = self.exceptions.refused.get_or_init(|| self.loose(rows, true));
        bits(found.bits(), self.world.first_row_of(block) + row)
    }

    /// Which of 64 rows from one on belong to entities that a required pool has, where it is loose.
    #[inline]
    fn extra(self, rows: &Rows, block: u32, row: usize) -> u64 {
        let found = self.exceptions.extra.get_or_init(|| self.loose(rows, false));
        bits(found.bits(), self.world.first_row_of(block) + row)
    }

    #[cold]
    #[inline(never)]
    fn loose(self, driver: &Rows, is_refused: bool) -> Found {
        let mut loose = Loose { world: self.world, driver, is_refused, found: Found::None };
        D::columns(self.data, &mut loose);
        F::columns(self.filter, &mut loose);
        loose.found
    }
}
