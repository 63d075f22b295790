//! Every callback of the user's panics at every call, in every operation; then the world is used.
//!
//! `ESKER_FAULT_OPS=50` says how many random operations follow each panic. A failure names the
//! operation, the callback, the call and who cared for the components; `ESKER_FAULT_ACT=<name>` runs
//! one operation only.

#![cfg(feature = "derive")]
#![allow(unreachable_pub, reason = "modules of one test crate")]

#[path = "faults/acts.rs"]
mod acts;
#[path = "faults/by_hand.rs"]
mod by_hand;
mod common;
#[path = "faults/fuse.rs"]
mod fuse;
#[path = "faults/parts.rs"]
mod parts;
#[path = "faults/scene.rs"]
mod scene;
#[path = "faults/user_code.rs"]
mod user_code;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use acts::{ACTS, Act};
use common::{Rng, panics_as_planned};
use fuse::{CALLBACKS, Callback};
use scene::{Care, Scene};

/// The last call that is made to panic.
const LAST: usize = 64;

/// One panic.
#[derive(Debug, Clone, Copy)]
struct Fault {
    act: &'static str,
    care: Care,
    callback: Callback,
    /// Counted from zero.
    nth: usize,
}

/// Says which fault it was if the thread panics.
struct Report(Fault);

impl Drop for Report {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed after {:?}; to repeat: ESKER_FAULT_ACT=\"{}\"", self.0, self.0.act);
        }
    }
}

#[test]
fn whatever_panics_the_world_goes_on_and_drops_everything_once() {
    let only = std::env::var("ESKER_FAULT_ACT").ok();
    let (mut faults, mut failed, mut operations) = (0, 0, 0);
    let mut called = [0; CALLBACKS.len()];
    for &(name, act) in ACTS {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let before = faults;
        for care in Care::all() {
            let calls = calls_of(act, care);
            for callback in CALLBACKS {
                called[callback as usize] += calls[callback as usize];
                for nth in 0..calls[callback as usize].min(LAST) {
                    let fault = Fault { act: name, care, callback, nth };
                    // All of them are tried, so that one report has all that fail.
                    let outcome = catch_unwind(AssertUnwindSafe(|| survive(act, fault)));
                    failed += usize::from(outcome.is_err());
                    faults += 1;
                }
            }
        }
        operations += 1;
        println!("{name}: {} faults", faults - before);
    }
    println!("{faults} faults in {operations} operations, {failed} not survived");
    assert_eq!(failed, 0, "faults that were not survived; see above");
    let is_idle = |callback: &Callback| called[*callback as usize] == 0;
    let idle: Vec<Callback> = CALLBACKS.into_iter().filter(is_idle).collect();
    assert!(only.is_some() || idle.is_empty(), "no operation calls {idle:?}");
    assert!(only.is_some() || faults >= 2000, "only {faults} faults");
}

/// How often each callback is called if none panics.
fn calls_of(act: Act, care: Care) -> [usize; CALLBACKS.len()] {
    let mut scene = Scene::new(care);
    fuse::take_calls();
    act(&mut scene);
    let calls = fuse::take_calls();
    scene.world.verify().unwrap();
    let ledger = Arc::clone(&scene.ledger);
    drop(scene);
    ledger.assert_all_dropped();
    calls
}

fn survive(act: Act, fault: Fault) {
    let _report = Report(fault);
    let mut scene = Scene::new(fault.care);
    fuse::arm(fault.callback, fault.nth);
    let panicked = panics_as_planned(|| act(&mut scene));

    assert!(!fuse::disarm(), "it was not called as often as before");
    assert!(panicked, "the panic was lost");
    scene.world.verify().unwrap();
    scene.ledger.assert_none_dropped_twice();
    // Commands of listeners to an operation that unwound wait for the next one.
    scene.world.settle();
    if !leaves_orphans(fault) {
        assert_eq!(scene.new_orphans(), [], "entities without components");
    }
    use_it(&mut scene, fault);
    let ledger = Arc::clone(&scene.ledger);
    drop(scene);
    ledger.assert_all_dropped();
}

/// Whether a new entity may be left without components: it had come to life, and what it was to get
/// was refused by a storage or its type or by the bundle itself, or a listener to its spawn or a parameter panicked before
/// a command gave it that.
fn leaves_orphans(fault: Fault) -> bool {
    use Callback::{Bundle, Extras, Listener, NewStorage, Param, Push, Storage, TypeSlot};
    let refuses =
        matches!(fault.callback, Push | Storage | NewStorage | TypeSlot | Extras | Bundle);
    refuses || matches!(fault.callback, Listener | Param)
}

/// Goes on with the world as if nothing had happened.
fn use_it(scene: &mut Scene, fault: Fault) {
    let seed = fault.nth as u64 ^ (fault.callback as u64) << 8 ^ (fault.act.len() as u64) << 16;
    let mut rng = Rng::new(seed);
    let count = std::env::var("ESKER_FAULT_OPS").map_or(4, |text| text.parse().unwrap());
    for _ in 0..count {
        let (name, act) = rng.pick(ACTS);
        let _step = Step(name);
        act(scene);
    }
    scene.world.verify().unwrap();
    scene.ledger.assert_none_dropped_twice();
}

/// Says which operation came later if the thread panics.
struct Step(&'static str);

impl Drop for Step {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in the later operation `{}`", self.0);
        }
    }
}
