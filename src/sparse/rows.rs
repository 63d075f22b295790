//! Rows: stretches of a packed array whose order other sets share.
//!
//! A *block* is a list of rows that several sets have in common. In each of them it is a *band*: a stretch of
//! positions, of which position `start + r` is the place of row `r`. A position is *placed* if the entity there is
//! the one that has that row. All others are loose: they are found by look-up, as if there were no rows.
//!
//! A set does not know whose row is whose. The register's owner marks positions; every other change of a position takes the
//! mark away, so a set can be changed by anybody, and the worst that comes of it is a look-up.
//!
//! # Invariants
//! - **A1** – positions of two sets that are placed in the same row of the same block hold the same entity.
//! - **A2** – bands do not overlap and are in ascending order; no position outside of a band, and none from the
//!   length of the set on, is placed.

use super::Home;

/// A block in one set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Band {
    /// Position of row 0.
    pub(crate) start: u32,
    /// Number of rows. The set may be shorter.
    pub(crate) len: u32,
    /// Number of the block.
    pub(crate) block: u32,
}

impl Band {
    /// The position behind the last row.
    #[inline]
    pub(crate) fn end(self) -> usize {
        self.start as usize + self.len as usize
    }
}

/// Where a block does not occur.
const NOWHERE: u32 = u32::MAX;

/// The bands of a set, and which of their positions are placed.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    bands: Vec<Band>,
    /// By block: the position of its row 0, or `NOWHERE`.
    starts: Vec<u32>,
    /// By position. One word more than needed, so that 64 bits can be read from any position on.
    placed: Vec<u64>,
    /// By word of these: whether all of its positions are placed.
    full: Vec<u64>,
    /// Positions that are placed.
    count: usize,
    /// The least length of the set since it was settled.
    low: usize,
    /// Rows of all bands.
    rows: usize,
    /// What the gaps between bands have cost since they were closed: one for each position in each round.
    debt: usize,
}

impl Clone for Rows {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// In the memory that is there: states that are kept are copied again and again.
    fn clone_from(&mut self, other: &Self) {
        let Self { bands, starts, placed, full, count, low, rows, debt } = other;
        self.bands.clone_from(bands);
        self.starts.clone_from(starts);
        self.placed.clone_from(placed);
        self.full.clone_from(full);
        (self.count, self.low, self.rows, self.debt) = (*count, *low, *rows, *debt);
    }
}

impl Rows {
    /// Rows of which nothing is placed yet. Bands in ascending order.
    pub(crate) fn new(bands: Vec<Band>) -> Self {
        debug_assert!(bands.windows(2).all(|pair| pair[0].end() <= pair[1].start as usize), "A2");
        let blocks = bands.iter().map(|band| band.block as usize + 1).max().unwrap_or(0);
        let mut starts = vec![NOWHERE; blocks];
        for band in &bands {
            starts[band.block as usize] = band.start;
        }
        let end = bands.last().map_or(0, |band| band.end());
        let rows = bands.iter().map(|band| band.len as usize).sum();
        let mut all = Self { bands, starts, rows, ..Self::default() };
        all.make_room(end);
        all
    }

    #[inline]
    pub(crate) fn bands(&self) -> &[Band] {
        &self.bands
    }

    /// Positions that are placed.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The position of row 0 of a block, if it occurs here.
    #[inline]
    pub(crate) fn start_of(&self, block: u32) -> Option<usize> {
        match self.starts.get(block as usize) {
            Some(&start) if start != NOWHERE => Some(start as usize),
            _ => None,
        }
    }

    /// Whether a position is placed.
    #[inline]
    pub(crate) fn is_placed(&self, at: usize) -> bool {
        self.placed.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// The positions of a set of this length that are not placed, in ascending order. Skips 4,096 placed ones at a time.
    pub(crate) fn loose(&self, len: usize) -> impl Iterator<Item = usize> {
        let words = len.div_ceil(64);
        let mixed = (0..words.div_ceil(64)).flat_map(move |nth| {
            let full = self.full.get(nth).copied().unwrap_or(0);
            set_bits(!full, nth * 64).take_while(move |&word| word < words)
        });
        let positions = mixed.flat_map(|word| {
            let placed = self.placed.get(word).copied().unwrap_or(0);
            set_bits(!placed, word * 64)
        });
        positions.take_while(move |&at| at < len)
    }

    /// Whether positions are placed, 64 to a word.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        &self.placed
    }

    /// Marks a position of a band as placed.
    #[inline]
    pub(crate) fn place(&mut self, at: usize) {
        let bit = 1 << (at % 64);
        let word = &mut self.placed[at / 64];
        self.count += usize::from(*word & bit == 0);
        *word |= bit;
        if *word == u64::MAX {
            self.full[at / 64 / 64] |= 1 << (at / 64 % 64);
        }
    }

    /// Whether so many positions from one on, at least one, are all placed.
    #[inline]
    pub(crate) fn is_full(&self, at: usize, len: usize) -> bool {
        let (first, last) = (at / 64, (at + len - 1) / 64);
        let ahead = u64::MAX << (at % 64);
        let behind = u64::MAX >> (63 - (at + len - 1) % 64);
        let has =
            |word: usize, bits: u64| self.placed.get(word).is_some_and(|word| !word & bits == 0);
        if first == last {
            return has(first, ahead & behind);
        }
        has(first, ahead) && has(last, behind) && are_set(&self.full, first + 1, last)
    }

    /// The position of a home in this set, if its block occurs here.
    #[inline(always)]
    pub(crate) fn position_of(&self, home: Home) -> Option<usize> {
        Some(self.start_of(home.block)? + home.row as usize)
    }

    /// The home whose position this is.
    pub(crate) fn home_at(&self, at: usize) -> Option<Home> {
        let after = self.bands.partition_point(|band| band.start as usize <= at);
        let band = self.bands[..after].last().filter(|band| at < band.end())?;
        Some(Home { block: band.block, row: (at - band.start as usize) as u32 })
    }

    /// Adds a block behind all others; returns the position of its row 0.
    pub(crate) fn append(&mut self, block: u32, len: usize) -> usize {
        let start = self.bands.last().map_or(0, |band| band.end());
        self.bands.push(Band { start: start as u32, len: len as u32, block });
        if self.starts.len() <= block as usize {
            self.starts.resize(block as usize + 1, NOWHERE);
        }
        self.starts[block as usize] = start as u32;
        self.make_room(start + len);
        self.rows += len;
        start
    }

    /// The number of a band, by the block.
    fn find(&self, block: u32) -> Option<usize> {
        let start = self.start_of(block)?;
        let at = self.bands.partition_point(|band| (band.start as usize) < start);
        // Bands without rows do not exist, so no other one begins there.
        debug_assert_eq!(self.bands[at].block, block, "A2");
        Some(at)
    }

    /// Takes the last rows of a block away; so many stay. Its band goes with the last row.
    pub(crate) fn cut(&mut self, block: u32, len: usize) {
        let Some(at) = self.find(block) else { return };
        let band = self.bands[at];
        let first = band.start as usize + len;
        (first..band.end()).for_each(|position| self.unplace(position));
        let left = len.min(band.len as usize);
        self.rows -= band.len as usize - left;
        self.bands[at].len = left as u32;
        if left == 0 {
            self.bands.remove(at);
            self.starts[block as usize] = NOWHERE;
        }
    }

    /// Positions between bands.
    pub(crate) fn slack(&self) -> usize {
        let end = self.bands.last().map_or(0, |band| band.end());
        end - self.rows
    }

    /// Whether gaps between bands are worth closing in a set of this length, after one more round: as soon as their
    /// positions, which are looked up, have cost as much as it takes (a move is two look-ups); at once, if they are an
    /// eighth of the set.
    pub(crate) fn is_worn(&mut self, len: usize) -> bool {
        let slack = self.slack();
        self.debt = if slack > len / 1024 + 8 { self.debt.saturating_add(slack) } else { 0 };
        self.debt > len * 2 || slack > len / 8 + 8
    }

    /// What the gaps between bands have cost.
    pub(crate) fn debt(&self) -> usize {
        self.debt
    }

    /// Says what the gaps between bands have cost.
    #[cfg(feature = "serde")]
    pub(crate) fn set_debt(&mut self, debt: usize) {
        self.debt = debt;
    }

    /// Moves the last band into the first gap between bands that has room for it. None of its rows is placed then.
    /// Returns where it is; `None` if it fits nowhere.
    pub(crate) fn fill_gap(&mut self) -> Option<Band> {
        let last = *self.bands.last()?;
        if (last.len as usize) > self.slack() {
            return None;
        }
        let mut end = 0;
        let at = self.bands.iter().position(|band| {
            let room = band.start - end;
            let fits = room >= last.len;
            end = if fits { end } else { band.end() as u32 };
            fits
        })?;
        let band = self.bands.pop()?;
        self.bands.insert(at, band);
        Some(self.put(at, end))
    }

    /// Moves the first band that does not begin where the one before it ends to that position. None of its rows is placed
    /// then. Returns where it is.
    pub(crate) fn close_gap(&mut self) -> Option<Band> {
        let mut end = 0;
        let at = self.bands.iter().position(|band| {
            let is_far = band.start as usize != end;
            end = if is_far { end } else { band.end() };
            is_far
        })?;
        Some(self.put(at, end as u32))
    }

    /// Lets a band begin somewhere else.
    fn put(&mut self, at: usize, start: u32) -> Band {
        let band = self.bands[at];
        (band.start as usize..band.end()).for_each(|position| self.unplace(position));
        self.bands[at].start = start;
        self.starts[band.block as usize] = start;
        self.bands[at]
    }

    /// The last position is gone: the set has this length now.
    #[inline(always)]
    pub(crate) fn shorten(&mut self, len: usize) {
        self.unplace(len);
        self.low = self.low.min(len);
    }

    /// The least length of a set of this length since this was asked.
    pub(crate) fn take_low(&mut self, len: usize) -> usize {
        std::mem::replace(&mut self.low, len)
    }

    /// The least length of the set since this was asked.
    pub(crate) fn low(&self) -> usize {
        self.low
    }

    /// Takes the mark of a position away, if it has one.
    #[inline]
    pub(crate) fn unplace(&mut self, at: usize) {
        let bit = 1 << (at % 64);
        if let Some(word) = self.placed.get_mut(at / 64) {
            self.count -= usize::from(*word & bit != 0);
            *word &= !bit;
            self.full[at / 64 / 64] &= !(1 << (at / 64 % 64));
        }
    }

    /// Makes room for the marks of so many positions.
    fn make_room(&mut self, positions: usize) {
        self.placed.resize(positions.div_ceil(64) + 1, 0);
        self.full.resize(self.placed.len().div_ceil(64), 0);
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.bands.capacity() * size_of::<Band>()
            + self.starts.capacity() * size_of::<u32>()
            + (self.placed.capacity() + self.full.capacity()) * size_of::<u64>()
    }

    /// Checks A2 for a set of this length.
    pub(crate) fn check(&self, len: usize) -> Result<(), String> {
        if !self.bands.windows(2).all(|pair| pair[0].end() <= pair[1].start as usize) {
            return Err("A2: bands overlap".to_owned());
        }
        let rows = self.bands.iter().map(|band| band.len as usize).sum::<usize>();
        if rows != self.rows {
            return Err(format!("A2: bands have {rows} rows, {} counted", self.rows));
        }
        for band in &self.bands {
            if self.start_of(band.block) != Some(band.start as usize) {
                return Err(format!("A2: block {} is not found at its start", band.block));
            }
        }
        let is_full = |word: usize| self.full[word / 64] >> (word % 64) & 1 == 1;
        if let Some(word) =
            (0..self.placed.len()).find(|&word| is_full(word) != (self.placed[word] == u64::MAX))
        {
            return Err(format!(
                "A2: it is wrong whether positions from {} on are all placed",
                word * 64
            ));
        }
        let is_in_band = |at: usize| {
            let after = self.bands.partition_point(|band| band.start as usize <= at);
            after > 0 && at < self.bands[after - 1].end()
        };
        let mut placed = (0..self.placed.len() * 64).filter(|&at| self.is_placed(at));
        if let Some(at) = placed.clone().find(|&at| at >= len || !is_in_band(at)) {
            return Err(format!("A2: position {at} of {len} is placed outside of all bands"));
        }
        match placed.by_ref().count() {
            count if count == self.count => Ok(()),
            count => Err(format!("A2: {count} positions are placed, {} counted", self.count)),
        }
    }
}

/// The numbers of the bits that are set, if the lowest one is number `first`.
#[inline]
fn set_bits(mut word: u64, first: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| first + word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}

/// Whether all bits from one on, up to another, are set.
#[inline]
fn are_set(words: &[u64], from: usize, to: usize) -> bool {
    let mut at = from;
    while at < to {
        let len = (64 - at % 64).min(to - at);
        let asked = u64::MAX >> (64 - len) << (at % 64);
        if words.get(at / 64).is_none_or(|word| !word & asked != 0) {
            return false;
        }
        at += len;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_stretches_of_placed_positions_are_told_from_others() {
        let mut rows = Rows::new(vec![Band { start: 0, len: 9000, block: 0 }]);
        (0..9000).for_each(|at| rows.place(at));
        rows.check(9000).unwrap();
        let gaps = [0, 63, 64, 700, 4095, 4096, 4097, 8191, 8999];
        for gap in gaps {
            rows.unplace(gap);
            for from in [0, 1, 62, 63, 64, 65, 640, 4032, 4095, 4096, 8000, 8999] {
                for len in [1, 2, 63, 64, 65, 128, 700, 4096, 4100, 8300] {
                    let is_full = !(from..from + len).contains(&gap) && from + len <= 9000;
                    assert_eq!(
                        rows.is_full(from, len),
                        is_full,
                        "{len} from {from} on, without {gap}"
                    );
                }
            }
            rows.check(9000).unwrap();
            rows.place(gap);
        }
        rows.check(9000).unwrap();
    }

    #[test]
    fn positions_that_are_not_placed_are_listed_in_order() {
        let mut rows = Rows::new(vec![Band { start: 0, len: 9000, block: 0 }]);
        (0..9000).for_each(|at| rows.place(at));
        let gaps = [0, 63, 64, 700, 4095, 4096, 4097, 8191, 8999];
        gaps.iter().for_each(|&gap| rows.unplace(gap));
        for len in [0, 1, 63, 64, 65, 4095, 4096, 4097, 8192, 9000] {
            let expected: Vec<usize> = gaps.into_iter().filter(|&gap| gap < len).collect();
            assert_eq!(rows.loose(len).collect::<Vec<_>>(), expected, "of {len}");
        }
        // A set may be longer than its bands.
        assert_eq!(rows.loose(9003).last(), Some(9002));
    }

    #[test]
    fn the_last_band_fills_the_first_gap_that_has_room_for_it() {
        let band = |start, len, block| Band { start, len, block };
        let mut rows =
            Rows::new(vec![band(0, 10, 4), band(14, 6, 1), band(30, 20, 0), band(50, 8, 2)]);
        (50..55).for_each(|at| rows.place(at));

        assert_eq!(rows.fill_gap(), Some(band(20, 8, 2)));

        assert_eq!((rows.start_of(2), rows.count()), (Some(20), 0));
        assert_eq!(rows.bands()[2..], [band(20, 8, 2), band(30, 20, 0)]);
        assert_eq!(rows.fill_gap(), None, "20 rows fit nowhere");
        rows.check(50).unwrap();
    }

    #[test]
    fn each_placed_position_of_a_band_is_known() {
        let mut rows = Rows::new(vec![Band { start: 3, len: 400, block: 2 }]);
        let is_placed = |at: usize| (3..403).contains(&at) && at * 7 % 5 != 2;
        (0..500).filter(|&at| is_placed(at)).for_each(|at| rows.place(at));
        rows.check(403).unwrap();
        for at in 0..700 {
            assert_eq!(rows.is_placed(at), is_placed(at));
        }
        assert_eq!((rows.start_of(2), rows.start_of(1), rows.start_of(9)), (Some(3), None, None));
    }

    #[test]
    fn marks_are_counted_once() {
        let mut rows = Rows::new(vec![Band { start: 0, len: 100, block: 0 }]);
        (10..90).for_each(|at| rows.place(at));
        rows.place(20);
        rows.unplace(30);
        rows.unplace(30);
        rows.unplace(5000);
        assert_eq!(rows.count(), 79);
        rows.check(90).unwrap();
        assert!(rows.check(80).unwrap_err().contains("A2"));
    }
}
