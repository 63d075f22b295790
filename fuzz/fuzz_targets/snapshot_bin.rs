//! Any bytes as a snapshot in the native format: refused, or a sound world that can be used.
//!
//! The checksum is made to fit, so that the fuzzer need not guess it.

#![no_main]

#[allow(dead_code, reason = "only the schema is read here")]
#[path = "../../tests/snapshots/bits.rs"]
mod bits;
#[path = "../../tests/common/mod.rs"]
mod common;
mod common_checks;
#[path = "../../tests/snapshots/kinds.rs"]
mod kinds;

use esker::snapshot::{Delta, Mirror, Unknown};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // The first byte says how the rest is used.
    let Some((&how, body)) = input.split_first() else { return };
    let mut bytes = body.to_vec();
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes);
    bytes.extend(sum.to_le_bytes());
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
