//! When values were added and changed, position by position.

use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::growth;
use crate::tick::Tick;

/// Values that share a summary, and summaries that share one of the next level.
const BLOCK: usize = 16;

/// Levels of summaries: a million values have 245 on the last one.
const LEVELS: usize = 3;

/// The ticks of the values of a storage, in packed order.
///
/// One tick says when a value was added, one when it was changed last, and summaries when any of
/// several in a row was: who looks for changes passes over the others.
///
/// Ticks are written through a shared reference, by whoever may write the value; two threads that
/// write neighbouring values both write their summary. So they are atomic, and relaxed: the guard of
/// the pool orders them for the next one who looks.
///
/// # Invariants
/// **K1** – the tick of a summary is not below that of the last change of any value in it, and that is not below the one of its addition.
#[derive(Debug, Default)]
pub struct Ticks {
    added: Vec<AtomicU64>,
    changed: Vec<AtomicU64>,
    /// When any of 16, 256, 4,096 values in a row was changed last.
    summaries: [Vec<AtomicU64>; LEVELS],
    /// The tick of what is done through a unique borrow.
    now: Tick,
}

impl Ticks {
    /// Of no value.
    pub(super) const NONE: Self = Self {
        added: Vec::new(),
        changed: Vec::new(),
        summaries: [const { Vec::new() }; LEVELS],
        now: Tick::ZERO,
    };

    /// When the value at a position was added.
    #[inline]
    pub fn added(&self, at: usize) -> Tick {
        Tick::new(self.added[at].load(Relaxed))
    }

    /// When the value at a position was changed last; its addition counts.
    #[inline]
    pub fn changed(&self, at: usize) -> Tick {
        Tick::new(self.changed[at].load(Relaxed))
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.changed.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    /// Says that the value at a position is changed.
    #[inline]
    pub fn mark(&self, at: usize, now: Tick) {
        self.changed[at].store(now.get(), Relaxed);
        self.raise(at, now.get());
    }

    /// Says that the values from one position on are changed.
    pub fn mark_range(&self, at: usize, len: usize, now: Tick) {
        for at in at..at + len {
            self.mark(at, now);
        }
    }

    /// Calls `each` with the positions of values that were changed after `since`, ascending, as long as
    /// it returns `true`.
    ///
    /// # Complexity
    /// O(n / 4096 + values changed).
    pub fn changed_since(&self, since: Tick, mut each: impl FnMut(usize) -> bool) {
        let [blocks, regions, zones] = &self.summaries;
        let zones = newer_below(0..zones.len().div_ceil(BLOCK), zones, since);
        for zones in zones.chunks(AT_ONCE) {
            for regions in newer_below(zones.iter().copied(), regions, since).chunks(AT_ONCE) {
                for blocks in newer_below(regions.iter().copied(), blocks, since).chunks(AT_ONCE) {
                    for at in newer_below(blocks.iter().copied(), &self.changed, since) {
                        if !each(at) {
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Says that the value at a position is a new one.
    #[inline]
    pub(super) fn restart(&mut self, at: usize) {
        *self.added[at].get_mut() = self.now.get();
        self.mark(at, self.now);
    }

    #[inline]
    fn raise(&self, at: usize, tick: u64) {
        let mut at = at;
        for level in &self.summaries {
            at /= BLOCK;
            // Ticks of several threads that write at once differ only if their guards do.
            if level[at].load(Relaxed) < tick {
                level[at].store(tick, Relaxed);
            }
        }
    }

    /// Makes the summaries as many as the values need.
    #[inline]
    fn fit(&mut self) {
        let mut len = self.len();
        for level in &mut self.summaries {
            len = len.div_ceil(BLOCK);
            if level.len() == len {
                // Nor have the next levels changed.
                return;
            }
            level.resize_with(len, AtomicU64::default);
        }
    }
}

/// What a summary is of, among `len` of the level below.
#[inline]
fn below(at: usize, len: usize) -> Range<usize> {
    at * BLOCK..len.min((at + 1) * BLOCK)
}

/// Places that are looked below in one go.
const AT_ONCE: usize = 128;

/// What is newer than `since` among the ticks below some places of the level above.
fn newer_below(
    places: impl Iterator<Item = usize> + Clone,
    ticks: &[AtomicU64],
    since: Tick,
) -> Vec<usize> {
    // Changes are far apart, so the ticks below each place are somewhere else in memory. Read for nothing
    // but to be on their way all together; the loop after this would wait for one after the other.
    let read = |sum: u64, place: usize| {
        // They may begin in the middle of a line of memory, and end in the third.
        let below = &ticks[below(place, ticks.len())];
        sum ^ [0, below.len() / 2, below.len() - 1]
            .iter()
            .fold(0, |sum, &at| sum ^ below[at].load(Relaxed))
    };
    black_box(places.clone().fold(0, read));
    let mut found = Vec::with_capacity(AT_ONCE);
    for place in places {
        let below = below(place, ticks.len());
        // One bit for each: no jump that depends on a tick.
        let mut newer = 0_u32;
        for tick in ticks[below.clone()].iter().rev() {
            newer = newer << 1 | u32::from(tick.load(Relaxed) > since.get());
        }
        while newer != 0 {
            found.push(below.start + newer.trailing_zeros() as usize);
            newer &= newer - 1;
        }
    }
    found
}

/// What the storage does to its values, done to their ticks.
impl Ticks {
    #[inline]
    pub(super) fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    pub(super) fn set_now(&mut self, now: Tick) {
        self.now = now;
    }

    #[inline]
    pub(super) fn push(&mut self) {
        let (at, now) = (self.len(), self.now.get());
        growth::push(&mut self.added, AtomicU64::new(now));
        growth::push(&mut self.changed, AtomicU64::new(now));
        self.fit();
        self.raise(at, now);
    }

    pub(super) fn append(&mut self, count: usize) {
        self.reserve(count);
        for _ in 0..count {
            self.push();
        }
    }

    #[inline]
    pub(super) fn swap_remove(&mut self, at: usize) {
        self.added.swap_remove(at);
        let moved = self.changed.last().map_or(0, |tick| tick.load(Relaxed));
        self.changed.swap_remove(at);
        if at < self.len() {
            self.raise(at, moved);
        }
        self.fit();
    }

    #[inline]
    pub(super) fn swap(&mut self, a: usize, b: usize) {
        self.added.swap(a, b);
        self.changed.swap(a, b);
        for at in [a, b] {
            self.raise(at, self.changed[at].load(Relaxed));
        }
    }

    /// Becomes the same as another, in the memory that it has.
    pub(super) fn copy_from(&mut self, other: &Self) {
        for (to, from) in self.rows().into_iter().zip(other.rows_ref()) {
            to.clear();
            to.extend(from.iter().map(|tick| AtomicU64::new(tick.load(Relaxed))));
        }
        self.now = other.now;
    }

    /// The arrays, to be gone through alike.
    fn rows(&mut self) -> [&mut Vec<AtomicU64>; 2 + LEVELS] {
        let [blocks, regions, zones] = &mut self.summaries;
        [&mut self.added, &mut self.changed, blocks, regions, zones]
    }

    fn rows_ref(&self) -> [&Vec<AtomicU64>; 2 + LEVELS] {
        let [blocks, regions, zones] = &self.summaries;
        [&self.added, &self.changed, blocks, regions, zones]
    }

    /// Makes each so much later; nothing is later than `latest`.
    #[cfg(feature = "serde")]
    pub(super) fn shift(&mut self, by: u64, latest: Tick) {
        // Nothing is later than the last summaries (K1). So mostly it is known that nothing gets too late,
        // and all can be moved in wide registers.
        let last = self.summaries[LEVELS - 1].iter().map(|tick| tick.load(Relaxed)).max();
        let is_early = last.unwrap_or(0).checked_add(by).is_some_and(|last| last <= latest.get());
        match is_early {
            true => self.change_all(|tick| tick + by),
            false => self.change_all(|tick| tick.saturating_add(by).min(latest.get())),
        }
        self.now = latest;
    }

    /// Says that all values were added at this tick.
    pub(super) fn renew(&mut self, now: Tick) {
        self.change_all(|_| now.get());
        self.now = now;
    }

    /// Changes every tick, those of summaries included.
    fn change_all(&mut self, change: impl Fn(u64) -> u64) {
        // Row by row: one loop over all of them would not run in wide registers.
        for row in self.rows() {
            for tick in row.iter_mut().map(AtomicU64::get_mut) {
                *tick = change(*tick);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.added.clear();
        self.changed.clear();
        self.fit();
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        growth::reserve(&mut self.added, additional);
        growth::reserve(&mut self.changed, additional);
        self.summaries[0].reserve(additional.div_ceil(BLOCK));
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.added.shrink_to_fit();
        self.changed.shrink_to_fit();
        self.summaries.iter_mut().for_each(Vec::shrink_to_fit);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let values = self.added.capacity() + self.changed.capacity();
        let summaries: usize = self.summaries.iter().map(Vec::capacity).sum();
        (values + summaries) * size_of::<AtomicU64>()
    }

    /// Checks K1, and that there are ticks for `len` values.
    pub(super) fn check(&self, len: usize) -> Result<(), String> {
        if (self.added.len(), self.changed.len()) != (len, len) {
            let found = (self.added.len(), self.changed.len());
            return Err(format!("P1: {len} values have {found:?} ticks"));
        }
        for at in 0..len {
            let mut place = at;
            let is_summed_up = self.summaries.iter().all(|level| {
                place /= BLOCK;
                level.get(place).is_some_and(|tick| tick.load(Relaxed) >= self.changed(at).get())
            });
            if self.added(at) > self.changed(at) || !is_summed_up {
                return Err(format!("K1: ticks at position {at} are out of order"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_found_wherever_values_move() {
        let mut ticks = Ticks::default();
        ticks.set_now(Tick::new(1));
        ticks.append(9000);
        ticks.mark(8999, Tick::new(5));
        ticks.mark(70, Tick::new(4));
        let since = |ticks: &Ticks, tick| {
            let mut found = Vec::new();
            ticks.changed_since(Tick::new(tick), |at| {
                found.push(at);
                true
            });
            found
        };

        assert_eq!(since(&ticks, 1), [70, 8999]);
        assert_eq!(since(&ticks, 4), [8999]);
        assert_eq!(since(&ticks, 5), []);
        assert_eq!(since(&ticks, 0).len(), 9000);
        ticks.swap_remove(3);
        assert_eq!(since(&ticks, 1), [3, 70]);
        ticks.swap(3, 200);
        assert_eq!(since(&ticks, 1), [70, 200]);
        assert_eq!(ticks.added(200), Tick::new(1));
        ticks.check(8999).unwrap();
        ticks.clear();
        ticks.append(300);
        while !ticks.is_empty() {
            ticks.swap_remove(0);
            ticks.check(ticks.len()).unwrap();
        }
        assert_eq!(since(&ticks, 0), []);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn shifted_ticks_are_later_and_never_too_late() {
        // Whether all stay below the latest, some come up to it, or they would go beyond all numbers.
        for (by, latest) in [(0, 9), (4, 9), (5, 9), (6, 9), (900, 9), (u64::MAX - 3, u64::MAX)] {
            let mut ticks = Ticks::default();
            ticks.set_now(Tick::new(1));
            ticks.append(5000);
            ticks.mark(70, Tick::new(4));

            ticks.shift(by, Tick::new(latest));

            let later = |tick: u64| Tick::new(tick.saturating_add(by).min(latest));
            assert_eq!((ticks.changed(70), ticks.changed(71)), (later(4), later(1)), "{by}");
            assert_eq!((ticks.added(70), ticks.now()), (later(1), Tick::new(latest)), "{by}");
            ticks.check(5000).unwrap();
        }
    }
}
