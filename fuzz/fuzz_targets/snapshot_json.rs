//! Any bytes as a snapshot in JSON: refused, or a sound world that can be used.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
mod common_checks;
#[path = "../../tests/snapshots/kinds.rs"]
mod kinds;

use esker::snapshot::Unknown;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let types = kinds::types();
    let loader = types.load().unknown(Unknown::Skip);
    let (mut world, before) = common_checks::target();
    let mut from = serde_json::Deserializer::from_slice(text);
    let is_done = loader.deserialize_into(&mut world, &mut from).is_ok();
    common_checks::check(world, before, is_done, text.len() as u8, &[]);
});
