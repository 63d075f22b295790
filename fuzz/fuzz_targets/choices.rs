//! Decisions that are read from an input, with the calls of the seeded numbers of the tests: modules
//! that draw lots there are led by the fuzzer here. Stands in for `common` of the tests.

#![allow(dead_code, unused_imports, reason = "each target uses the part it needs")]

pub use crate::seeded::*;

/// Takes a byte or two for each decision; behind the last one come the numbers of a fixed seed.
#[derive(Debug, Clone)]
pub struct Rng {
    bytes: Vec<u8>,
    taken: usize,
    rest: crate::seeded::Rng,
}

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self { bytes: Vec::new(), taken: 0, rest: crate::seeded::Rng::new(seed) }
    }

    pub fn of(input: &[u8]) -> Self {
        Self { bytes: input.to_vec(), ..Self::new(0) }
    }

    /// Whether all bytes have been used.
    pub fn is_done(&self) -> bool {
        self.taken >= self.bytes.len()
    }

    fn byte(&mut self) -> Option<u64> {
        let byte = self.bytes.get(self.taken).copied();
        self.taken += 1;
        byte.map(u64::from)
    }

    /// Any number; two bytes choose it.
    pub fn next(&mut self) -> u64 {
        match (self.byte(), self.byte()) {
            (Some(low), Some(high)) => mix(high << 8 | low),
            _ => self.rest.next(),
        }
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        if end > 256 {
            return (self.next() % end as u64) as usize;
        }
        self.byte().map_or_else(|| self.rest.below(end), |byte| byte as usize % end)
    }

    pub fn index_below(&mut self, end: u32) -> u32 {
        self.below(end as usize) as u32
    }

    /// `true` once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
