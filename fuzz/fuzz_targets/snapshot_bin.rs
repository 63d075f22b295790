//! Any bytes as a snapshot in the native format: refused, or a sound world that can be used.
//!
//! The checksum is made to fit, so that the fuzzer need not guess it. Half of the inputs are no bytes of a
//! snapshot, but the lies that a sound one is told before it is loaded: what a fuzzer changes by itself
//! seldom gets past the lengths.

#![no_main]

#[path = "../../tests/snapshots/bits.rs"]
mod bits;
#[path = "choices.rs"]
mod common;
mod common_checks;
#[path = "../../tests/snapshots/kinds.rs"]
mod kinds;
#[path = "../../tests/common/mod.rs"]
mod seeded;

use common::Rng;
use esker::snapshot::{Delta, Mirror, Unknown};
use libfuzzer_sys::fuzz_target;

/// More of them contradict each other.
const LAST_LIE: usize = 6;

/// A sound snapshot, chosen by the first byte, that was told the lies of the others.
fn lied_to(input: &[u8]) -> Vec<u8> {
    let Some((&world, lies)) = input.split_first() else { return vec![] };
    let mut world = kinds::eventful(world.into(), 25);
    world.settle();
    let mut parts = bits::Parts::read(&kinds::bytes(&world));
    let mut rng = Rng::of(lies);
    for _ in 0..LAST_LIE {
        if rng.is_done() {
            break;
        }
        parts.lie(&mut rng);
    }
    parts.write()
}

fuzz_target!(|input: &[u8]| {
    // The first byte says how the rest is used.
    let Some((&how, body)) = input.split_first() else { return };
    let bytes = if how / 12 % 2 == 0 { bits::sealed(body) } else { lied_to(body) };
    let types = kinds::types();
    let rule = [Unknown::Refuse, Unknown::Skip, Unknown::Keep][usize::from(how % 3)];
    let loader = types.load().unknown(rule);
    let (mut world, before) = common_checks::target();
    let is_done = match how / 3 % 4 {
        0 => loader.replace(&mut world, &bytes).is_ok(),
        1 => loader.merge(&mut world, &bytes).is_ok(),
        2 => Mirror::new(types.clone()).update_with(&loader, &mut world, &bytes).is_ok(),
        _ => types.apply(&mut world, &Delta::from_bytes(bytes.clone())).is_ok(),
    };
    let keeps = is_done && rule == Unknown::Keep && how / 3 % 4 < 3;
    let kept = if keeps { bits::unknown_versions(&bytes, 1) } else { vec![] };
    common_checks::check(world, before, is_done, how, &kept);
});
