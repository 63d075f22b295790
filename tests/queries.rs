//! Queries in random worlds: whichever way a query finds its matches, the answer is the same.
//!
//! A query is one run, goes along blocks, or looks entities up; what is known of pools must be
//! forgotten when one changes. Each way to use a query is compared with a naive model, again
//! and again, after each of a series of changes. `ESKER_QUERY_SEED=7 cargo test --test queries`
//! runs one seed only.

// Not in release builds, where the many shapes take minutes to compile; the model and the groups
// walk queries there.
#![cfg(all(feature = "derive", debug_assertions))]
#![allow(unreachable_pub, reason = "modules of one test crate")]

#[path = "queries/borrows.rs"]
mod borrows;
mod common;
#[path = "queries/dynamic.rs"]
mod dynamic;
#[path = "queries/kinds.rs"]
mod kinds;
#[path = "queries/many_types.rs"]
mod many_types;
#[path = "queries/model.rs"]
mod model;
#[path = "queries/reads.rs"]
mod reads;
#[path = "queries/scene.rs"]
mod scene;
#[path = "queries/shapes.rs"]
mod shapes;
#[path = "queries/slices.rs"]
mod slices;
#[path = "queries/terms.rs"]
mod terms;
#[path = "queries/ways.rs"]
mod ways;
#[path = "queries/writes.rs"]
mod writes;

use std::collections::BTreeSet;

use common::{Rng, SeedReport, mix};
use esker::Entity;
use scene::Scene;
use shapes::{SHAPES, Topic};

/// Runs `one` for each seed, or for the one in `ESKER_QUERY_SEED`.
fn for_seeds(count: u64, one: impl Fn(u64)) {
    let wanted = std::env::var("ESKER_QUERY_SEED").ok();
    let wanted: Option<u64> = wanted.map(|text| text.parse().expect("a seed is a number"));
    let seeds = wanted.map_or(0..count, |seed| seed..seed + 1);
    for seed in seeds {
        let how_to_repeat = "ESKER_QUERY_SEED=<seed> cargo test --test queries <name>";
        let _report = SeedReport { seed, how_to_repeat };
        one(seed);
    }
}

/// A random world.
fn scene(seed: u64, scale: usize) -> Scene {
    Scene::new(Rng::new(mix(seed)), scale)
}

/// Looks at all shapes in random worlds, and at some of them after each of a series of changes.
fn look_at(topics: &[Topic], seeds: u64, scale: usize) {
    for_seeds(seeds, |seed| {
        let mut scene = scene(seed, scale);
        for shape in SHAPES {
            shape(&mut scene, topics);
        }
        let some = [0; 3].map(|_| scene.rng.pick(SHAPES));
        for _ in 0..12 {
            if scene.rng.one_in(5) {
                scene.replace();
            } else {
                scene.change();
            }
            for shape in some {
                shape(&mut scene, topics);
            }
        }
    });
}

#[test]
fn every_way_to_iterate_gives_the_matches_in_the_order_of_the_driver() {
    look_at(&[Topic::Walks], 40, 90);
}

#[test]
fn a_walk_can_be_left_or_finished_in_another_way() {
    look_at(&[Topic::Parts], 20, 90);
}

#[test]
fn sizes_are_honest_at_every_step_and_exact_in_one_run() {
    look_at(&[Topic::Sizes], 40, 90);
}

#[test]
fn entities_are_found_by_their_id_if_they_match_and_only_then() {
    look_at(&[Topic::Lookups], 16, 60);
}

#[test]
fn combinations_are_those_of_nested_loops() {
    look_at(&[Topic::Combinations], 60, 8);
}

#[cfg(feature = "parallel")]
#[test]
fn several_threads_are_given_every_match_exactly_once() {
    look_at(&[Topic::Parallel], 16, 90);
}

#[test]
fn runs_make_up_the_walk_and_none_could_be_longer() {
    look_at(&[Topic::Runs], 24, 90);
}

#[test]
fn what_is_written_through_a_query_is_what_the_world_has() {
    look_at(&[Topic::Writes], 16, 90);
}

#[test]
fn an_explanation_counts_the_matches_and_runs() {
    look_at(&[Topic::Explanations], 40, 90);
}

#[test]
fn large_worlds_give_the_same_answers() {
    use Topic::{Explanations, Parallel, Runs, Sizes, Walks, Writes};

    // Large enough for long stretches and for threads to be worth it.
    for_seeds(2, |seed| {
        let mut scene = scene(seed, 4000);
        for _ in 0..8 {
            let shape = scene.rng.pick(SHAPES);
            shape(&mut scene, &[Walks, Sizes, Runs, Writes, Parallel, Explanations]);
            scene.change();
        }
    });
}

#[test]
fn the_worlds_of_these_tests_let_queries_go_every_way() {
    // Otherwise the tests above would be worth less than they seem.
    let mut seen = BTreeSet::new();
    for seed in 0..40 {
        let mut scene = scene(seed, if seed % 4 == 0 { 900 } else { 90 });
        for _ in 0..3 {
            // As a shape is looked at.
            _ = scene.world.query_mut::<Entity>();
            let query = scene.world.query::<(&kinds::A, &kinds::B)>();
            for _ in 0..3 {
                seen.insert(format!("{:?}", query.explain().way));
                query.iter().for_each(drop);
            }
            drop(query);
            scene.change();
        }
    }
    let seen: Vec<String> = seen.into_iter().collect();
    assert_eq!(seen, ["Blocks", "Direct", "OneRun"]);
}
