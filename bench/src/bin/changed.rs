//! What a query for changes costs: a million tracked values of which some were changed, against a walk
//! over all of them that asks each one.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ::esker::prelude::*;

#[derive(Component)]
#[component(track)]
struct Tracked(u64);

const VALUES: usize = 1_000_000;
const ROUNDS: usize = 21;

fn main() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..VALUES as u64).map(Tracked)).collect();
    println!("{VALUES} tracked values; medians of {ROUNDS} interleaved rounds");
    println!("{:>10} {:>12} {:>12} {:>8}", "changed", "query", "full scan", "ratio");
    for changed in [0, 100, 10_000, VALUES] {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            world.refresh();
            for n in 0..changed {
                let at = (n * (VALUES / changed.max(1)) + round * 7919) % VALUES;
                world.get_mut::<Tracked>(ids[at]).expect("all are alive").0 += 1;
            }
            let (sum, time) = timed(|| {
                let query = world.query_filtered::<&Tracked, Changed<Tracked>>();
                query.iter().map(|value| value.0).fold(0, u64::wrapping_add)
            });
            times[0].push(time);
            let (scanned, time) = timed(|| {
                let query = world.query::<Ref<'_, Tracked>>();
                let new = query.iter().filter(|value| value.is_changed());
                new.map(|value| value.0).fold(0, u64::wrapping_add)
            });
            times[1].push(time);
            assert_eq!(sum, scanned);
        }
        let [query, scan] = times.map(|mut times| {
            times.sort_unstable();
            times[ROUNDS / 2]
        });
        let ratio = query.as_secs_f64() / scan.as_secs_f64();
        println!("{changed:>10} {query:>12.1?} {scan:>12.1?} {ratio:>8.4}");
    }
}

fn timed(work: impl FnOnce() -> u64) -> (u64, Duration) {
    let started = Instant::now();
    let result = black_box(work());
    (result, started.elapsed())
}
