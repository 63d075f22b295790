//! A sum over everything a contestant holds, the same in whatever order it is visited.
//!
//! Rows are hashed bit by bit and the hashes added with wrap-around: addition forgets the
//! order, the hash inside a row does not. Two contestants that did the same work agree; one
//! that lost, doubled or mixed up a single value does not.

use bytemuck::NoUninit;

/// An order-independent sum of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    sum: u64,
    rows: u64,
}

impl Tally {
    /// Adds one row made of the bits of its parts, in this order.
    pub fn row(&mut self, parts: &[u64]) {
        let hash = parts.iter().fold(SEED, |hash, part| mix(hash ^ part));
        self.sum = self.sum.wrapping_add(hash);
        self.rows += 1;
    }

    /// Adds a row of a single component.
    pub fn one<T: NoUninit>(&mut self, value: &T) {
        self.row(&[bits(value)]);
    }

    /// Adds a row of two components.
    pub fn two<T: NoUninit, U: NoUninit>(&mut self, first: &T, second: &U) {
        self.row(&[bits(first), bits(second)]);
    }

    /// Closes the sum; the number of rows is part of it.
    pub fn finish(self) -> u64 {
        mix(self.sum ^ mix(self.rows))
    }
}

/// A hash of the bytes of `value`.
pub fn bits<T: NoUninit>(value: &T) -> u64 {
    bytemuck::bytes_of(value)
        .iter()
        .fold(SEED, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// The checksum of a workload that is judged by a number of things alone.
pub fn counted(things: usize) -> u64 {
    mix(things as u64 ^ SEED)
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Spreads every input bit over the whole word.
fn mix(mut word: u64) -> u64 {
    word ^= word >> 30;
    word = word.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word ^= word >> 27;
    word = word.wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(rows: &[[u64; 2]]) -> u64 {
        let mut tally = Tally::default();
        rows.iter().for_each(|row| tally.row(row));
        tally.finish()
    }

    #[test]
    fn order_of_rows_does_not_matter() {
        assert_eq!(tally(&[[1, 2], [3, 4], [5, 6]]), tally(&[[5, 6], [1, 2], [3, 4]]));
    }

    #[test]
    fn order_inside_a_row_matters() {
        assert_ne!(tally(&[[1, 2]]), tally(&[[2, 1]]));
    }

    #[test]
    fn values_swapped_between_rows_are_noticed() {
        assert_ne!(tally(&[[1, 2], [3, 4]]), tally(&[[1, 4], [3, 2]]));
    }

    #[test]
    fn a_single_flipped_bit_is_noticed() {
        assert_ne!(bits(&1.0_f32), bits(&f32::from_bits(1.0_f32.to_bits() ^ 1)));
    }

    #[test]
    fn a_doubled_row_is_noticed() {
        assert_ne!(tally(&[[1, 2]]), tally(&[[1, 2], [1, 2]]));
    }
}
