//! Which bits of a signature stand for a pool, and which pools a signature may stand for.
//!
//! A signature has 64 bits. The first 64 pools have one each. A later pool has a *code* of two bits, those of
//! two earlier pools: then these bits say "maybe" for all who have them. Two of 48 bits make 1,128
//! codes, so that an entity with a few late components is asked for in a few pools, where one bit for every
//! 64th pool would name a sixteenth of a thousand. The lowest 16 bits are in no code: the pools that a
//! program makes first are mostly those that it uses most, and they stay exact.
//!
//! Consecutive codes lie far apart, so that few late pools are seldom taken for each other.

/// Bits of a signature.
pub(crate) const BITS: usize = u64::BITS as usize;

/// The first bit that codes are made of, and how many there are.
const FIRST: usize = 16;
const SHARED: usize = BITS - FIRST;

/// Pairs of these bits: so many pools have different codes.
const CODES: usize = SHARED * (SHARED - 1) / 2;

/// How far apart consecutive codes lie: about the golden section, and prime to `CODES`.
const STRIDE: usize = 697;

/// `STRIDE * INVERSE` is one, counted around `CODES`.
const INVERSE: usize = {
    let mut inverse = 1;
    while STRIDE * inverse % CODES != 1 {
        inverse += 1;
    }
    inverse
};

/// The bits of each code, in the order in which pools get them.
static PAIRS: [u64; CODES] = {
    let mut pairs = [0; CODES];
    let mut late = 0;
    while late < CODES {
        // The pairs with `high` are those from `high * (high - 1) / 2` on.
        let (mut low, mut high) = (late * STRIDE % CODES, 1);
        while low >= high {
            low -= high;
            high += 1;
        }
        pairs[late] = 1 << (FIRST + low) | 1 << (FIRST + high);
        late += 1;
    }
    pairs
};

/// The signature bits of the pool with this number: one of its own, or two that it shares.
#[inline]
pub(super) fn bits_of(place: usize) -> u64 {
    match place.checked_sub(BITS) {
        Some(late) => PAIRS[late % CODES],
        None => 1 << place,
    }
}

/// Whether the bit of the pool with this number says more than "maybe", however many pools there are.
#[inline]
pub(super) fn is_exact(place: usize) -> bool {
    place < FIRST
}

/// The first pool whose code is made of these bits.
#[inline]
fn first_with(low: usize, high: usize) -> usize {
    let (low, high) = (low - FIRST, high - FIRST);
    BITS + (high * (high - 1) / 2 + low) * INVERSE % CODES
}

/// Takes the lowest bit out of a set of them.
#[inline]
fn pop(bits: &mut u64) -> usize {
    let lowest = bits.trailing_zeros() as usize;
    *bits &= *bits - 1;
    lowest
}

/// Numbers of the pools that may hold an entity with some signature, each once.
///
/// Exact while there are no more pools than bits. Apart from any borrow, so that the pools can be
/// changed on the way.
#[derive(Debug, Clone)]
pub(crate) struct Candidates {
    /// Bits whose own pools were not visited yet.
    own: u64,
    late: Late,
    /// Number of all pools.
    pools: usize,
}

/// How the pools that have codes are visited.
#[derive(Debug, Clone)]
enum Late {
    /// Each of them from `next` on is asked for its code: there are few.
    All { next: usize, signature: u64 },
    /// Each pair of bits is asked for its pools: there are few bits.
    ByPairs {
        /// Bits that were not yet the lower one of a code.
        lows: u64,
        /// The lower bit of the codes that are being visited, and bits that were not yet the higher one.
        low: usize,
        highs: u64,
        /// The next pool with the code visited last.
        next: usize,
    },
}

impl Candidates {
    #[inline]
    pub(super) fn new(signature: u64, pools: usize) -> Self {
        let late = Late::All { next: BITS, signature };
        let mut candidates = Self { own: signature, late, pools };
        if pools > BITS {
            candidates.choose(signature);
        }
        candidates
    }

    /// Goes by pairs where that is less work.
    fn choose(&mut self, signature: u64) {
        let lows = signature & (u64::MAX << FIRST);
        let bits = lows.count_ones() as usize;
        // To make a pool of a pair takes about twice as long as to look a code up.
        if bits * bits.saturating_sub(1) < self.pools - BITS {
            self.late = Late::ByPairs { lows, low: 0, highs: 0, next: self.pools };
        }
    }

    /// Goes on with pools that have codes.
    fn next_late(&mut self) -> Option<usize> {
        match &mut self.late {
            Late::All { next, signature } => {
                while *next < self.pools {
                    let id = *next;
                    *next += 1;
                    if bits_of(id) & !*signature == 0 {
                        return Some(id);
                    }
                }
                None
            }
            Late::ByPairs { lows, low, highs, next } => {
                while *next >= self.pools {
                    while *highs == 0 {
                        if *lows == 0 {
                            return None;
                        }
                        *low = pop(lows);
                        *highs = *lows;
                    }
                    *next = first_with(*low, pop(highs));
                }
                let id = *next;
                *next += CODES;
                Some(id)
            }
        }
    }
}

impl Iterator for Candidates {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self.own {
            0 => self.next_late(),
            _ => Some(pop(&mut self.own)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_pools_have_a_bit_each_and_later_ones_a_pair_of_their_own() {
        assert!((0..BITS).all(|place| bits_of(place) == 1 << place));
        let late: BTreeSet<u64> = (BITS..BITS + CODES).map(bits_of).collect();
        assert_eq!(late.len(), CODES);
        assert!(late.iter().all(|bits| bits.count_ones() == 2 && bits.trailing_zeros() >= 16));
        assert_eq!(bits_of(BITS + 5), bits_of(BITS + 5 + CODES));
    }

    #[test]
    fn the_first_codes_are_those_that_tests_of_groups_and_filters_rely_on() {
        let codes = [(16, 17), (47, 53), (29, 39), (33, 60), (20, 49), (26, 30)];
        for (place, (low, high)) in (BITS..).zip(codes) {
            assert_eq!(bits_of(place), 1 << low | 1 << high, "{place}");
        }
    }

    #[test]
    fn all_bits_stand_for_all_pools() {
        for pools in [64, 65, 66, 100, 300, 1000, 64 + CODES, 5000] {
            let named: Vec<usize> = Candidates::new(u64::MAX, pools).collect();
            let once: BTreeSet<usize> = named.iter().copied().collect();
            assert_eq!(named.len(), once.len(), "{pools}");
            assert!(once.into_iter().eq(0..pools), "{pools}");
        }
    }

    /// Both ways name the same pools, whichever would be chosen.
    #[test]
    fn pools_are_the_same_by_pairs_of_bits_and_by_all_codes() {
        for pools in [65, 66, 100, 300, 1000, 64 + CODES, 3000] {
            for bits in [0, 1 << 20, 0b111 << 30, 0xF0F0_0F0F_0000_FFFF, u64::MAX << 40, u64::MAX] {
                let by = |late| {
                    let named = Candidates { own: bits, late, pools };
                    named.collect::<BTreeSet<usize>>()
                };
                let lows = bits & (u64::MAX << FIRST);
                let by_pairs = by(Late::ByPairs { lows, low: 0, highs: 0, next: pools });
                assert_eq!(by(Late::All { next: BITS, signature: bits }), by_pairs, "{bits:#x}");
            }
        }
    }

    #[test]
    fn few_of_a_thousand_are_asked_for_two_early_and_two_late_ones() {
        let early = bits_of(0) | bits_of(1);
        let most = (64..999)
            .map(|late| Candidates::new(early | bits_of(late) | bits_of(999), 1000).count());
        assert!(most.max().unwrap() <= 12);
    }

    proptest! {
        /// Whatever an entity has, its signature names: nothing is left behind when it dies (W2).
        #[test]
        fn a_signature_names_all_pools_that_have_signed_it(
            pools in 1..6000_usize,
            had in prop::collection::vec(0..6000_usize, 0..40),
        ) {
            let had: BTreeSet<usize> = had.into_iter().map(|place| place % pools).collect();
            let signature = had.iter().fold(0, |bits, &place| bits | bits_of(place));

            let named: Vec<usize> = Candidates::new(signature, pools).collect();

            let once: BTreeSet<usize> = named.iter().copied().collect();
            prop_assert_eq!(named.len(), once.len());
            prop_assert!(had.is_subset(&once));
            prop_assert!(once.iter().all(|&id| id < pools && bits_of(id) & !signature == 0));
            prop_assert!(pools > BITS || once == had);
        }
    }
}
