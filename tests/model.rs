//! Random operations against a naive model, with a look at everything in between.
//!
//! `ESKER_MODEL_SEED=7 cargo test --test model` runs one seed only. The long mode is
//! `ESKER_MODEL_OPS=100000000 cargo test --release --test model long -- --nocapture`.

#![cfg(feature = "derive")]
#![allow(unreachable_pub, reason = "modules of one test crate")]

mod common;
#[path = "model/ids.rs"]
mod ids;
#[path = "model/kinds.rs"]
mod kinds;
#[path = "model/many_types.rs"]
mod many_types;
#[path = "model/maps.rs"]
mod maps;
#[path = "model/ops.rs"]
mod ops;
#[path = "model/own_storage.rs"]
mod own_storage;
#[path = "model/pool_ops.rs"]
mod pool_ops;
#[path = "model/query_ops.rs"]
mod query_ops;
#[path = "model/run.rs"]
mod run;
#[path = "model/tiny.rs"]
mod tiny;
#[path = "model/wild_ops.rs"]
mod wild_ops;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use common::{SeedReport, mix};
use run::{Care, Plan, Run};

const HOW_TO_REPEAT: &str = "ESKER_MODEL_SEED=<seed> cargo test --test model";

/// The number in an environment variable, if it is set.
fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")))
}

/// Runs `one` for every seed of a range, on two threads, or for the one in `ESKER_MODEL_SEED`.
fn for_seeds(seeds: std::ops::Range<u64>, one: impl Fn(u64) + Sync) {
    let seeds = number_from("ESKER_MODEL_SEED").map_or(seeds, |seed| seed..seed + 1);
    let next = AtomicU64::new(seeds.start);
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= seeds.end {
            return;
        }
        let _report = SeedReport { seed, how_to_repeat: HOW_TO_REPEAT };
        one(seed);
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
}

/// A plan whose size and length depend on the seed.
fn small_plan(seed: u64) -> Plan {
    let size = [3, 10, 30, 60][(mix(seed) % 4) as usize];
    // Looking at the whole world costs a walk over its pages: some seeds do it at every step.
    let care = match seed % 16 {
        0 => Care { verify_every: 1, compare_every: 1 },
        _ => Care { verify_every: 32, compare_every: 4 },
    };
    Plan { seed, steps: 40 + (mix(seed) >> 32) as usize % 60, size, care }
}

#[test]
fn a_small_world_agrees_with_the_model_at_every_step() {
    for_seeds(0..2000, |seed| Run::follow(&small_plan(seed)));
}

#[test]
fn a_world_with_groups_readers_and_snapshots_agrees_with_the_model() {
    for_seeds(0..400, |seed| {
        let plan = small_plan(seed ^ 0x57_11D);
        Run::follow_wildly(&Plan { steps: 2 * plan.steps, ..plan });
    });
}

#[test]
fn a_large_world_agrees_with_the_model() {
    let care = Care { verify_every: 64, compare_every: 64 };
    for_seeds(0..4, |seed| {
        Run::follow(&Plan { seed: seed ^ 0xBEEF, steps: 600, size: 3000, care });
    });
}

#[test]
fn a_world_whose_entities_have_homes_agrees_with_the_model() {
    let care = Care { verify_every: 64, compare_every: 64 };
    for_seeds(0..6, |seed| {
        Run::follow_wildly(&Plan { seed: seed ^ 0x40_7E, steps: 1200, size: 700, care });
    });
}

#[test]
fn the_long_mode_agrees_with_the_model() {
    let Some(wanted) = number_from("ESKER_MODEL_OPS") else { return };
    let steps = 2000;
    let (start, done) = (Instant::now(), AtomicU64::new(0));
    let first = number_from("ESKER_MODEL_FIRST_SEED").unwrap_or(1 << 32);
    for_seeds(first..first + wanted.div_ceil(steps), |seed| {
        let size = [3, 10, 30, 100, 300, 1000][(mix(seed) % 6) as usize];
        let care = Care { verify_every: 64, compare_every: 16 };
        let plan = Plan { seed, steps: steps as usize, size, care };
        if seed.is_multiple_of(2) {
            Run::follow(&plan)
        } else {
            Run::follow_wildly(&plan)
        }
        let done = done.fetch_add(steps, Ordering::Relaxed) + steps;
        if (done / steps).is_multiple_of(500) {
            let speed = done as f64 / start.elapsed().as_secs_f64();
            eprintln!("{done} of {wanted} operations, {speed:.0} per second");
        }
    });
}
