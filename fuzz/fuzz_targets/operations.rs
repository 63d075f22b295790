//! Any bytes as a list of operations: the world does what the naive one of the model test does.
//!
//! The first byte says how large the world may be and whether there are groups, readers, listeners
//! and snapshots; the others are the decisions that the model test draws by lot.

#![no_main]
#![allow(dead_code, reason = "modules of the tests, of which this is a part")]

#[path = "choices.rs"]
mod common;
#[path = "../../tests/model/ids.rs"]
mod ids;
#[path = "../../tests/model/kinds.rs"]
mod kinds;
#[path = "../../tests/model/ops.rs"]
mod ops;
#[path = "../../tests/model/own_storage.rs"]
mod own_storage;
#[path = "../../tests/model/pool_ops.rs"]
mod pool_ops;
#[path = "../../tests/model/query_ops.rs"]
mod query_ops;
#[path = "../../tests/model/run.rs"]
mod run;
#[path = "../../tests/common/mod.rs"]
mod seeded;
#[path = "../../tests/model/wild_ops.rs"]
mod wild_ops;

use common::Rng;
use esker::World;
use ids::Ids;
use libfuzzer_sys::fuzz_target;
use run::Run;
use wild_ops::Wild;

/// Longer lists find nothing that shorter ones do not.
const LAST_STEP: usize = 300;

fuzz_target!(|input: &[u8]| {
    let Some((&how, decisions)) = input.split_first() else { return };
    let size = [3, 10, 30, 60][usize::from(how >> 2) % 4];
    let mut run = Run::new(Rng::of(decisions), size, World::new(), Ids::unlimited());
    if how & 3 != 0 {
        run.register_all();
    }
    if how & 2 != 0 {
        run.wild = Some(Wild::new(&mut run.world));
    }
    for step in 1..=LAST_STEP {
        if run.rng.is_done() {
            break;
        }
        run.step();
        if step % 4 == 0 {
            run.compare();
        }
        if step % 16 == 0 {
            run.verify();
        }
    }
    run.finish();
});
