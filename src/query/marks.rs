//! Which rows of a band match: what the pools of a query say, without their types.
//!
//! A walk asks for up to [`ROWS`] rows of a band at once, pool after pool, so the loops are over words of 64 rows and compiled
//! once for all queries.

use super::survey::{Column, Part, Role, Surveyor};
use crate::sparse::{Band, Rows};

/// Pools of a query that is walked along bands, at most.
pub(super) const MOST: usize = 16;

/// Rows that are asked at once, at most.
pub(super) const ROWS: usize = 64 * WORDS;

const WORDS: usize = 16;

/// The pools of a query that is walked along bands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a> {
    /// What is known of them, in the order in which the query names them.
    list: [(Role, Option<&'a Rows>); MOST],
    len: usize,
}

impl Columns<'_> {
    #[inline]
    pub(super) fn new() -> Self {
        Self { list: [(Role::Without, None); MOST], len: 0 }
    }
}

impl<'a> Surveyor<'a> for Columns<'a> {
    #[inline(always)]
    fn column(&mut self, column: Column<'a>) {
        debug_assert!(self.len < MOST, "the survey has counted them");
        if let Some(place) = self.list.get_mut(self.len) {
            *place = (column.role, column.rows);
            self.len += 1;
        }
    }

    #[inline(always)]
    fn begin(&mut self, _: Part) {}

    #[inline(always)]
    fn end(&mut self) {}
}

/// What is known of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    /// All match.
    All,
    /// None matches.
    None,
    /// Each is to be asked.
    Mixed,
}

/// What is asked: rows of a band from one on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) band: Band,
    pub(super) row: usize,
    pub(super) len: usize,
    /// Rows as bits that are looked up, or that are refused, if the block has all required pools; the row is number `first`.
    pub(super) exceptions: &'a [u64],
    pub(super) first: usize,
}

impl Columns<'_> {
    /// Finds the positions of a row in the pools that are fetched from; `false` if a required pool lacks the block.
    #[inline]
    pub(super) fn places(&self, block: u32, row: usize, numbers: &mut [u32; MOST]) -> bool {
        let mut fetched = 0;
        for &(role, rows) in &self.list[..self.len] {
            if role == Role::Without {
                continue;
            }
            let Some(start) = rows.and_then(|rows| rows.start_of(block)) else { return false };
            if role == Role::Fetched {
                numbers[fetched] = (start + row) as u32;
                fetched += 1;
            }
        }
        true
    }

    /// Whether all rows that are asked match, in a block that all required pools have.
    #[inline]
    fn is_full(&self, asked: Asked<'_>) -> bool {
        let Asked { band, row, len, exceptions, first } = asked;
        let is_full = |&(role, rows): &(Role, Option<&Rows>)| {
            let place = rows.and_then(|rows| Some((rows, rows.start_of(band.block)? + row)));
            match (place, role) {
                (None, role) => role == Role::Without,
                (Some((rows, at)), Role::Without) => is_clear(rows.words(), at, len),
                (Some((rows, at)), _) => rows.is_full(at, len),
            }
        };
        self.list[..self.len].iter().all(is_full) && is_clear(exceptions, first, len)
    }

    /// Whether none of the rows that are asked is looked up, in a block that a required pool lacks.
    #[inline]
    fn is_empty(driver: &Rows, asked: Asked<'_>) -> bool {
        let Asked { band, row, len, exceptions, first } = asked;
        driver.is_full(band.start as usize + row, len) && is_clear(exceptions, first, len)
    }

    /// What is known of all rows that are asked together; `has_all` says that all required pools have the block.
    #[inline]
    pub(super) fn survey(&self, driver: &Rows, asked: Asked<'_>, has_all: bool) -> Together {
        match has_all {
            true if self.is_full(asked) => Together::All,
            false if Self::is_empty(driver, asked) => Together::None,
            _ => Together::Mixed,
        }
    }

    /// Marks the rows that match, and those that are looked up; `has_all` says that all required pools have the block.
    #[inline(never)]
    pub(super) fn mark(&self, driver: &Rows, asked: Asked<'_>, has_all: bool, marks: &mut Marks) {
        match has_all {
            true => self.mark_matches(asked, marks),
            false => Self::mark_lacking(driver, asked, marks),
        }
    }

    /// Marks rows of a block that all required pools have.
    fn mark_matches(&self, asked: Asked<'_>, marks: &mut Marks) {
        let Asked { band, row, len, exceptions, first } = asked;
        let matches = marks.begin(len);
        matches.fill(u64::MAX);
        let place = |rows: &Rows| Some(rows.start_of(band.block)? + row);
        let columns = self.list[..self.len].iter();
        for (_, rows) in columns.clone().filter(|(role, _)| *role != Role::Without) {
            match rows.and_then(|rows| Some((rows, place(rows)?))) {
                Some((rows, at)) => {
                    each_word(rows.words(), at, matches, |word, bits| *word &= bits);
                }
                None => matches.fill(0),
            }
        }
        marks.unknown_are_others();
        let matches = &mut marks.matches[..len.div_ceil(64)];
        for (_, rows) in columns.filter(|(role, _)| *role == Role::Without) {
            if let Some(rows) = rows
                && let Some(at) = place(rows)
            {
                each_word(rows.words(), at, matches, |word, bits| *word &= !bits);
            }
        }
        if !exceptions.is_empty() {
            each_word(exceptions, first, matches, |word, bits| *word &= !bits);
        }
        marks.finish();
    }

    /// Marks those rows of a block that a required pool lacks which are looked up all the same: who is loose in the driver, and
    /// the exceptions.
    fn mark_lacking(driver: &Rows, asked: Asked<'_>, marks: &mut Marks) {
        let Asked { band, row, len, exceptions, first } = asked;
        marks.begin(len).fill(0);
        each_word(
            driver.words(),
            band.start as usize + row,
            &mut marks.matches[..len.div_ceil(64)],
            |word, bits| *word |= bits,
        );
        marks.unknown_are_others();
        let words = len.div_ceil(64);
        marks.matches[..words].fill(0);
        each_word(exceptions, first, &mut marks.unknown[..words], |word, bits| *word |= bits);
        marks.finish();
    }
}

/// Up to [`ROWS`] rows.
#[derive(Debug)]
pub(super) struct Marks {
    /// Those that match.
    pub(super) matches: [u64; WORDS],
    /// Those that are looked up.
    pub(super) unknown: [u64; WORDS],
    len: usize,
}

impl Marks {
    #[inline]
    pub(super) fn new() -> Self {
        let none = [0; WORDS];
        Self { matches: none, unknown: none, len: 0 }
    }

    /// How many of the first rows match.
    pub(super) fn run(&self) -> usize {
        let words = &self.matches[..self.len.div_ceil(64)];
        let whole = words.iter().take_while(|&&word| word == u64::MAX).count();
        whole * 64 + words.get(whole).map_or(0, |word| word.trailing_ones() as usize)
    }

    /// How many words come before one with a row that matches or is looked up, if there is one.
    pub(super) fn skipped(&self) -> Option<usize> {
        let words = self.len.div_ceil(64);
        let mut words = self.matches[..words].iter().zip(&self.unknown);
        words.position(|(matches, unknown)| matches | unknown != 0)
    }

    fn begin(&mut self, len: usize) -> &mut [u64] {
        debug_assert!(len <= ROWS);
        self.len = len;
        &mut self.matches[..len.div_ceil(64)]
    }

    fn unknown_are_others(&mut self) {
        let words = self.len.div_ceil(64);
        for (unknown, matches) in self.unknown[..words].iter_mut().zip(&self.matches) {
            *unknown = !matches;
        }
    }

    /// Takes what is behind the last row away.
    fn finish(&mut self) {
        let words = self.len.div_ceil(64);
        if let Some(last) = words.checked_sub(1) {
            let asked = lowest(self.len - last * 64);
            self.matches[last] &= asked;
            self.unknown[last] &= asked;
        }
    }
}

/// The lowest so many bits.
#[inline]
pub(super) fn lowest(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Whether none of so many bits from one on, at least one, is set; what is behind the last word is not.
#[inline]
fn is_clear(words: &[u64], at: usize, len: usize) -> bool {
    let (first, last) = (at / 64, (at + len - 1) / 64);
    let Some(words) = words.get(first..words.len().min(last + 1)) else { return true };
    let (ahead, behind) = (u64::MAX << (at % 64), u64::MAX >> (63 - (at + len - 1) % 64));
    let found = words.iter().enumerate().fold(0, |found, (nth, word)| {
        let ahead = if nth == 0 { ahead } else { u64::MAX };
        let behind = if first + nth == last { behind } else { u64::MAX };
        found | word & ahead & behind
    });
    found == 0
}

/// Shows words of 64 bits from a bit on; what is behind the last one is not set.
#[inline(always)]
fn each_word(words: &[u64], at: usize, to: &mut [u64], mut step: impl FnMut(&mut u64, u64)) {
    let (words, shift) = (words.get(at / 64..).unwrap_or(&[]), at % 64);
    let whole = to.len().min(words.len().saturating_sub(1));
    let (inner, last) = to.split_at_mut(whole);
    for (word, pair) in inner.iter_mut().zip(words.windows(2)) {
        // In two steps: a shift by 64 is none.
        step(word, pair[0] >> shift | pair[1] << 1 << (63 - shift));
    }
    for (nth, word) in (whole..).zip(last) {
        step(word, words.get(nth).copied().unwrap_or(0) >> shift);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_from_any_bit_on_and_beyond_the_end() {
        let words = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0xdead_beef_0bad_cafe];
        let is_set = |at: usize| words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
        for at in 0..260 {
            for len in 0..5 {
                let mut found = vec![0; len];
                each_word(&words, at, &mut found, |word, bits| *word = bits);
                for len in 1..200 {
                    let is_clear_here = (at..at + len).all(|at| !is_set(at));
                    assert_eq!(is_clear(&words, at, len), is_clear_here, "{len} from {at} on");
                }
                for nth in 0..len * 64 {
                    let bit = found[nth / 64] >> (nth % 64) & 1 == 1;
                    assert_eq!(bit, is_set(at + nth), "{at} + {nth} of {len} words");
                }
            }
        }
    }
}
