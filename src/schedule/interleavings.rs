//! Whole schedules under orders of their threads that chance chooses.
//!
//! Each task is a thread of shuttle's, and another one may go on at each borrow, each id that is reserved
//! and each system that is handed over (`crate::sync`). `cargo xtask shuttle` runs this; a failure prints
//! how its order can be repeated. The schedules are those of `tests/schedules.rs`; they are run from here
//! because only a test of the library itself can do with a shuttle that users never hear of.

#![allow(unreachable_pub, reason = "what it shares with test crates is public there")]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/schedules/random.rs"]
mod random;

use std::sync::OnceLock;
use std::time::Duration;

use common::SeedReport;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// Random schedules that are tried, each in many orders.
const SCENARIOS: u64 = 20;

/// Orders of each; the environment may ask for more.
fn orders() -> usize {
    let more = std::env::var("ESKER_ORDERS").ok().and_then(|text| text.parse().ok());
    more.unwrap_or(100)
}

/// Runs each scenario in the orders that a scheduler chooses, which is made of a seed.
fn all_come_out_the_same<S: Scheduler + 'static>(scheduler: impl Fn(u64) -> S) {
    let mut config = Config::new();
    config.stack_size = 1 << 20;
    config.silence_warnings = true;
    for seed in 0..SCENARIOS {
        let _report = SeedReport { seed, how_to_repeat: "cargo xtask shuttle" };
        let expected = OnceLock::new();
        let run = move |is_serial| {
            random::run(seed, 3..=6, 2, |schedule| {
                // Two that always run at once: a scenario without is none.
                schedule.add_systems((|| (), || ()));
                schedule.set_serial(is_serial).set_task_threshold(Duration::ZERO);
            })
        };
        Runner::new(scheduler(seed), config.clone()).run(move || {
            let found = run(false);
            assert_eq!(&found, expected.get_or_init(|| run(true)));
        });
    }
}

#[test]
fn a_step_comes_out_the_same_in_orders_that_chance_chooses() {
    all_come_out_the_same(|seed| RandomScheduler::new_from_seed(seed, orders()));
}

/// Threads with priorities, which change at a few places: finds what needs one long delay.
#[test]
fn a_step_comes_out_the_same_whoever_is_delayed() {
    all_come_out_the_same(|seed| PctScheduler::new_from_seed(seed, 3, orders()));
}
