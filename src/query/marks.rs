//! Which rows of a band match: what the pools of a query say, without their types.
//!
//! A walk asks for up to [`ROWS`] rows of a band at once, pool after pool, so the loops are over words of 64 rows and compiled
//! once for all queries.

use super::survey::{Column, Part, Role, Surveyor};
use super::term::NONE;
use crate::sparse::{Band, Rows};

/// Pools of a query that is walked along bands, at most.
pub(super) const MOST: usize = 16;

/// Rows that are asked at once, at most.
pub(super) const ROWS: usize = 64 * WORDS;

const WORDS: usize = 16;

/// A pool of a query that is walked along bands.
#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    role: Role,
    /// The number of the optional part that the pool is in; 0 for a required one, or one of a filter.
    part: u8,
    /// The number of the `AnyOf` that this part is in; 0 for none.
    choice: u8,
    rows: Option<&'a Rows>,
}

impl Entry<'_> {
    /// Where row `row` of a block lies in the pool, if the pool has the block.
    #[inline(always)]
    fn position(&self, block: u32, row: usize) -> Option<usize> {
        Some(self.rows?.start_of(block)? + row)
    }
}

/// The pools of a query that is walked along bands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a> {
    /// What is known of them, in the order in which the query names them.
    list: [Entry<'a>; MOST],
    len: usize,
    /// Whether there are optional parts.
    pub(super) has_choice: bool,
    /// The numbers of the part and of the `AnyOf` that are open or were the last.
    part: u8,
    choice: u8,
    /// Whether a part is open, and whether an `AnyOf` is.
    is_open: [bool; 2],
}

impl Columns<'_> {
    #[inline]
    pub(super) fn new() -> Self {
        let entry = Entry { role: Role::Without, part: 0, choice: 0, rows: None };
        let (part, choice, is_open) = (0, 0, [false; 2]);
        Self { list: [entry; MOST], len: 0, has_choice: false, part, choice, is_open }
    }
}

impl<'a> Surveyor<'a> for Columns<'a> {
    #[inline(always)]
    fn column(&mut self, column: Column<'a>) {
        debug_assert!(self.len < MOST, "the survey has counted them");
        let Column { role, rows, .. } = column;
        let [part, choice] = self.is_open;
        let numbers = [part.then_some(self.part), choice.then_some(self.choice)];
        let [part, choice] = numbers.map(Option::unwrap_or_default);
        self.has_choice |= role == Role::Asked || part != 0;
        if let Some(place) = self.list.get_mut(self.len) {
            *place = Entry { role, part, choice, rows };
            self.len += 1;
        }
    }

    #[inline(always)]
    fn begin(&mut self, part: Part) {
        match part {
            Part::AnyOf => (self.choice, self.is_open[1]) = (self.choice + 1, true),
            _ => (self.part, self.is_open[0]) = (self.part + 1, true),
        }
    }

    #[inline(always)]
    fn end(&mut self) {
        // The inner one ends first.
        let [part, choice] = self.is_open;
        self.is_open = [false, choice && part];
    }
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
    /// Rows as bits that are refused; the first row that is asked is number `first`.
    pub(super) refused: &'a [u64],
    /// Rows that are looked up in any case; `None` stands for all.
    pub(super) extra: Option<&'a [u64]>,
    pub(super) first: usize,
}

impl Columns<'_> {
    /// Finds the positions of a row in the pools that are fetched from; `false` if a required pool lacks the block.
    #[inline]
    pub(super) fn places(&self, block: u32, row: usize, numbers: &mut [u32; MOST]) -> bool {
        let (mut fetched, mut nth) = (0, 0);
        // The `AnyOf`s that were seen, and those of which a part is there.
        let (mut asked, mut given) = (0_u32, 0_u32);
        let list = &self.list[..self.len];
        while let Some(entry) = list.get(nth) {
            let position = entry.position(block, row);
            nth += 1;
            match (entry.role, position) {
                (Role::Without, _) => continue,
                (Role::Asked, _) => numbers[fetched] = position.is_some().into(),
                (role, Some(at)) if entry.part == 0 => {
                    numbers[fetched] = at as u32;
                    fetched += usize::from(role == Role::Fetched);
                    continue;
                }
                _ if entry.part == 0 => return false,
                _ => {
                    let len = 1 + list[nth..].iter().take_while(|e| e.part == entry.part).count();
                    let part = &list[nth - 1..nth - 1 + len];
                    let is_there = part.iter().all(|e| e.position(block, row).is_some());
                    for (number, e) in numbers[fetched..fetched + len].iter_mut().zip(part) {
                        let at = e.position(block, row).filter(|_| is_there);
                        *number = at.map_or(NONE, |at| at as u32);
                    }
                    asked |= 1 << entry.choice;
                    given |= u32::from(is_there) << entry.choice;
                    (nth, fetched) = (nth - 1 + len, fetched + len);
                    continue;
                }
            }
            fetched += 1;
        }
        // Number 0 stands for parts that may all be missing.
        asked & !given & !1 == 0
    }

    /// Whether a pool counts for the rows of a block: a part of which one pool lacks the block is missing as a whole.
    #[inline]
    fn counts(&self, nth: usize, block: u32) -> bool {
        let part = self.list[nth].part;
        let mut others = self.list[..self.len].iter().filter(|other| other.part == part);
        part == 0 || others.all(|other| other.position(block, 0).is_some())
    }

    /// Whether all rows that are asked match, in a block that all required pools have.
    #[inline]
    fn is_full(&self, asked: Asked<'_>) -> bool {
        let Asked { band, row, len, refused, extra, first } = asked;
        let is_full = |(nth, entry): (usize, &Entry<'_>)| {
            match (entry.rows, entry.position(band.block, row), entry.role) {
                (Some(rows), Some(at), Role::Without) => is_clear(rows.words(), at, len),
                (Some(rows), Some(at), _) => rows.is_full(at, len) || !self.counts(nth, band.block),
                // Of a required pool, or it is a part that is missing.
                (.., role) => role == Role::Without || role == Role::Asked || entry.part != 0,
            }
        };
        self.list[..self.len].iter().enumerate().all(is_full)
            && is_clear(refused, first, len)
            && extra.is_some_and(|extra| is_clear(extra, first, len))
    }

    /// Whether none of the rows that are asked is looked up, in a block that a required pool lacks.
    #[inline]
    fn is_empty(driver: &Rows, asked: Asked<'_>) -> bool {
        let Asked { band, row, len, extra, first, .. } = asked;
        extra.is_some_and(|extra| is_clear(extra, first, len))
            && driver.is_full(band.start as usize + row, len)
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
            true => self.mark_matches(driver, asked, marks),
            false => Self::mark_lacking(driver, asked, marks),
        }
    }

    /// Marks rows of a block that all required pools have.
    fn mark_matches(&self, driver: &Rows, asked: Asked<'_>, marks: &mut Marks) {
        let Asked { band, row, len, refused, extra, first } = asked;
        let matches = marks.begin(len);
        matches.fill(u64::MAX);
        let columns = || self.list[..self.len].iter().enumerate();
        for (nth, entry) in columns().filter(|(_, entry)| entry.role != Role::Without) {
            let at = entry.position(band.block, row).filter(|_| self.counts(nth, band.block));
            if let (Some(rows), Some(at)) = (entry.rows, at) {
                each_word(rows.words(), at, matches, |word, bits| *word &= bits);
            }
        }
        if self.has_choice {
            match extra {
                Some(extra) => each_word(extra, first, matches, |word, bits| *word &= !bits),
                None => matches.fill(0),
            }
        }
        marks.unknown_are_others();
        let words = len.div_ceil(64);
        let Marks { matches, unknown, sure, .. } = marks;
        let (matches, sure) = (&mut matches[..words], &mut sure[..words]);
        sure.fill(0);
        each_word(driver.words(), band.start as usize + row, sure, |word, bits| *word |= bits);
        let mut refuse = |words: &[u64], at: usize| {
            each_word(words, at, matches, |word, bits| *word &= !bits);
            let mut known = sure.iter();
            each_word(words, at, &mut unknown[..len.div_ceil(64)], |word, bits| {
                *word &= !(bits & known.next().unwrap_or(&0));
            });
        };
        for (_, entry) in columns().filter(|(_, entry)| entry.role == Role::Without) {
            if let (Some(rows), Some(at)) = (entry.rows, entry.position(band.block, row)) {
                refuse(rows.words(), at);
            }
        }
        if !refused.is_empty() {
            refuse(refused, first);
        }
        for (_, entry) in columns().filter(|(_, entry)| entry.role == Role::With) {
            if let (Some(rows), Some(at)) = (entry.rows, entry.position(band.block, row)) {
                each_word(rows.words(), at, sure, |word, bits| *word &= bits);
            }
        }
        marks.finish();
    }

    /// Marks those rows of a block that a required pool lacks which are looked up all the same: those that are loose in the driver,
    /// and the exceptions.
    fn mark_lacking(driver: &Rows, asked: Asked<'_>, marks: &mut Marks) {
        let Asked { band, row, len, extra, first, .. } = asked;
        let words = len.div_ceil(64);
        let unknown = marks.begin(len);
        unknown.fill(0);
        match extra {
            Some(extra) => {
                let at = band.start as usize + row;
                each_word(driver.words(), at, unknown, |word, bits| *word |= !bits);
                each_word(extra, first, unknown, |word, bits| *word |= bits);
            }
            None => unknown.fill(u64::MAX),
        }
        marks.unknown[..words].copy_from_slice(&marks.matches[..words]);
        marks.matches[..words].fill(0);
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
    /// Those of which the filter lets the entity in the driver pass, if it is looked up.
    pub(super) sure: [u64; WORDS],
    len: usize,
}

impl Marks {
    #[inline]
    pub(super) fn new() -> Self {
        let none = [0; WORDS];
        Self { matches: none, unknown: none, sure: none, len: 0 }
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
