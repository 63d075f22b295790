//! What the entities of a workload look like, the same for every contestant.
//!
//! A scene is drawn from a seed: the same seed gives the same random orders and the same
//! frames of `churn`, so that checksums can agree.

use crate::workload::{HALF, RARE, Workload};

/// The size and the randomness of one preparation.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// How many entities the world has.
    pub n: usize,
    /// Where all randomness comes from.
    pub seed: u64,
}

impl Scene {
    /// The numbers `0..n` in random order.
    pub fn order(&self) -> Vec<u32> {
        let mut random = Random::new(self.seed);
        random.shuffled(self.n)
    }

    /// The frames that `churn` plays in turn.
    pub fn frames(&self) -> Frames {
        let mut random = Random::new(self.seed ^ 0x5eed);
        let list = (0..FRAMES)
            .map(|_| Frame {
                doomed: random.sample(self.n, self.n.div_ceil(20)),
                toggled: random.sample(self.n, self.n.div_ceil(10)),
            })
            .collect();
        Frames { list, next: 0 }
    }

    /// Which of the five spreaders entity number `i` has, as bits.
    pub fn spread(&self, i: usize) -> u32 {
        (Random::new(self.seed ^ i as u64).next() & 31) as u32
    }
}

/// How many different frames there are: enough that no branch learns them.
const FRAMES: usize = 8;

/// One frame of `churn`. Entities are named by their number, not by their id.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Who is despawned and then spawned anew with the values it started with.
    pub doomed: Vec<u32>,
    /// Whose tag is toggled afterwards.
    pub toggled: Vec<u32>,
}

/// The frames of `churn`, played round and round.
#[derive(Clone, Debug)]
pub struct Frames {
    list: Vec<Frame>,
    next: usize,
}

impl Frames {
    /// The frame whose turn it is.
    pub fn advance(&mut self) -> &Frame {
        let at = self.next;
        self.next = (at + 1) % self.list.len();
        &self.list[at]
    }
}

/// Whether entity number `i` has a velocity in one of the `iter_2` workloads.
pub fn moves(workload: Workload, i: usize) -> bool {
    match workload {
        Workload::Iter2Half => i.is_multiple_of(HALF),
        Workload::Iter2Rare => i.is_multiple_of(RARE),
        _ => true,
    }
}

/// A small generator (splitmix64), enough to shuffle.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator whose whole future is in `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "it never ends, an iterator would")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// The numbers `0..n` in random order.
    pub fn shuffled(&mut self, n: usize) -> Vec<u32> {
        self.sample(n, n)
    }

    /// `count` different numbers below `n`, in random order.
    pub fn sample(&mut self, n: usize, count: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..n as u32).collect();
        for at in 0..count {
            let other = at + self.below(n - at);
            all.swap(at, other);
        }
        all.truncate(count);
        all.shrink_to_fit();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_holds_every_number_once() {
        let mut order = Scene { n: 100, seed: 7 }.order();
        assert!(!order.is_sorted());

        order.sort_unstable();

        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn sample_has_no_doubles() {
        let mut sample = Random::new(1).sample(50, 25);
        sample.sort_unstable();
        sample.dedup();

        assert_eq!(sample.len(), 25);
    }

    #[test]
    fn frames_come_round() {
        let mut frames = Scene { n: 40, seed: 3 }.frames();
        let first = frames.advance().doomed.clone();
        (1..FRAMES).for_each(|_| drop(frames.advance().doomed.clone()));

        assert_eq!(frames.advance().doomed, first);
    }
}
