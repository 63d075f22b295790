//! Random operations against the model.

use super::ledger::audit;
use super::twin::{Twin, id};
use super::{Specimen, Storage};
use crate::entity::Entity;

/// Seeds that [`check`](super::check) runs [`random_operations`] with.
pub const SEEDS: [u64; 6] = [1, 2, 3, 4, 5, 6];

const STEPS: usize = 300;

/// A few hundred random operations give what the same operations on a plain list give.
///
/// # Panics
/// If they do not; the seed is printed.
pub fn random_operations<T: Specimen, S: Storage<T>>(seed: u64) {
    println!("random operations on a storage, seed {seed}");
    audit(|| {
        let mut random = SplitMix(seed);
        let mut twin = Twin::<T, S>::new();
        for step in 0..STEPS {
            operate(&mut twin, &mut random);
            if step % 4 == 0 {
                twin.agree();
            }
        }
        twin.agree();
    });
}

fn operate<T: Specimen, S: Storage<T>>(twin: &mut Twin<T, S>, random: &mut SplitMix) {
    let len = twin.model.len();
    match random.below(40) {
        0..20 => twin.insert(some_id(random)),
        20..26 => twin.remove(some_id(random)),
        26..30 if len > 0 => twin.remove(twin.model[random.below(len)].0),
        30..33 if len > 0 => twin.swap(random.below(len), random.below(len)),
        33 => twin.renumber(some_id(random)),
        34 => twin.renumber_all(),
        35 => {
            let salt = random.next();
            twin.retain(|entity| SplitMix(salt ^ entity.to_bits()).below(4) != 0);
        }
        36 => twin.map.reserve(random.below(50)),
        37 => twin.map.shrink_to_fit(),
        38 if random.below(4) == 0 => twin.clear(),
        _ => twin.renumber(some_id(random)),
    }
}

/// An id near others, on both sides of page borders, or far away; of one of three versions.
fn some_id(random: &mut SplitMix) -> Entity {
    let index = match random.below(8) {
        0..5 => random.below(24) as u32,
        5 => 4090 + random.below(12) as u32,
        6 => 1_000_000 + random.below(4) as u32,
        _ => Entity::MAX_INDEX - random.below(3) as u32,
    };
    id(index, random.below(3) as u32)
}

/// The splitmix64 generator.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
