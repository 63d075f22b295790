//! Snapshots: what is saved, loaded, merged, mirrored, cloned and rolled back is what it was.
//!
//! `ESKER_SNAPSHOT_SEED=7 cargo test --test snapshots` runs one seed only.

#![cfg(all(feature = "derive", feature = "serde"))]
#![allow(unreachable_pub, reason = "modules of one test crate")]

mod common;
#[path = "snapshots/copies.rs"]
mod copies;
#[path = "snapshots/exact.rs"]
mod exact;
#[path = "snapshots/files.rs"]
mod files;
#[path = "snapshots/kinds.rs"]
mod kinds;
#[path = "snapshots/merges.rs"]
mod merges;
#[path = "snapshots/migrations.rs"]
mod migrations;
#[path = "snapshots/mirrors.rs"]
mod mirrors;
#[path = "snapshots/panics.rs"]
mod panics;

use common::SeedReport;

/// Runs `one` for each seed, or for the one in `ESKER_SNAPSHOT_SEED`.
fn for_seeds(count: u64, one: impl Fn(u64)) {
    let wanted = std::env::var("ESKER_SNAPSHOT_SEED").ok();
    let wanted: Option<u64> = wanted.map(|text| text.parse().expect("a seed is a number"));
    let seeds = wanted.map_or(0..count, |seed| seed..seed + 1);
    for seed in seeds {
        let how_to_repeat = "ESKER_SNAPSHOT_SEED=<seed> cargo test --test snapshots <name>";
        let _report = SeedReport { seed, how_to_repeat };
        one(seed);
    }
}
