//! Any bytes as a list of operations, some of which are torn off by a panic in code of the user's: the
//! books are right after each, and everything is dropped once.
//!
//! The first byte says who cares for the components; then three bytes each choose an operation, the
//! callback that panics, and at which call. Half of the choices of a callback let none panic.

#![no_main]
#![allow(dead_code, reason = "modules of the tests, of which this is a part")]

#[path = "../../tests/faults/acts.rs"]
mod acts;
#[path = "../../tests/faults/by_hand.rs"]
mod by_hand;
#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/faults/fuse.rs"]
mod fuse;
#[path = "../../tests/faults/parts.rs"]
mod parts;
#[path = "../../tests/faults/scene.rs"]
mod scene;

use std::sync::Arc;

use acts::ACTS;
use common::panics_as_planned;
use fuse::CALLBACKS;
use libfuzzer_sys::fuzz_target;
use scene::{Care, Scene};

/// Longer lists find nothing that shorter ones do not.
const LAST_STEP: usize = 48;

fuzz_target!(|input: &[u8]| {
    let Some((&care, steps)) = input.split_first() else { return };
    let cares: Vec<Care> = Care::all().collect();
    let mut scene = Scene::new(cares[usize::from(care) % cares.len()]);
    for step in steps.chunks_exact(3).take(LAST_STEP) {
        let [act, callback, nth] = [0, 1, 2].map(|at| usize::from(step[at]));
        let (_, act) = ACTS[act % ACTS.len()];
        if let Some(&callback) = CALLBACKS.get(callback % (2 * CALLBACKS.len())) {
            fuse::arm(callback, nth % 64);
        }
        let panicked = panics_as_planned(|| act(&mut scene));
        let is_unburnt = fuse::disarm();
        assert!(!(panicked && is_unburnt), "a panic that was not ours");
        scene.world.verify().unwrap();
        scene.ledger.assert_none_dropped_twice();
    }
    // Commands of listeners to an operation that unwound wait for the next one.
    scene.world.settle();
    scene.world.verify().unwrap();
    let ledger = Arc::clone(&scene.ledger);
    drop(scene);
    ledger.assert_all_dropped();
});
