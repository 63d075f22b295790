//! Every contestant does the same work as plain vectors, in every workload it offers.

use esker_bench::{
    contestant::{Bout, Contestant, Ebb, Role, Width},
    contestants,
    scene::Scene,
    threads,
    workload::Workload,
};

/// Odd, and no multiple of 2, 26, 32 or 64: remainders show.
const SCENE: Scene = Scene { n: 257, seed: 11 };

fn checksum_after(who: &dyn Contestant, workload: Workload, runs: usize) -> Option<u64> {
    let mut bout: Box<dyn Bout> = who.prepare(workload, SCENE)?;
    for _ in 0..runs {
        bout.reset();
        bout.run();
    }
    Some(bout.checksum())
}

#[test]
fn every_contestant_agrees_with_the_limit() {
    threads::inside(|| {
        let all = contestants::all();
        for workload in Workload::ALL {
            // An odd number: two swaps of `schedule` are none.
            let expected = checksum_after(all[0], workload, 3).expect("the limit does all");
            for who in &all[1..] {
                if let Some(found) = checksum_after(*who, workload, 3) {
                    assert_eq!(found, expected, "{} differs in {workload}", who.name());
                }
            }
        }
    });
}

#[test]
fn frames_agree_after_many_of_them() {
    // Enough that most entities have died and every component has come and gone.
    let frames: Vec<_> = Workload::ALL.into_iter().filter(|w| w.is_frame()).collect();
    let all = contestants::all();
    for workload in frames {
        let expected = checksum_after(all[0], workload, 60);
        let libraries = all[1..].iter().filter(|who| plain(who.name()));
        for who in libraries {
            let found = checksum_after(*who, workload, 60);
            assert_eq!(found, expected, "{} differs in {workload}", who.name());
        }
    }
}

/// Whether a contestant is a library without hints: each of them plays frames.
fn plain(name: &str) -> bool {
    !["rawset", "esker_group", "sparsey_group"].contains(&name)
}

#[test]
fn a_run_too_many_is_noticed() {
    // Workloads that move values on must not have the same sum after another run.
    let moving = [
        Workload::FrameCalm,
        Workload::FrameFlip,
        Workload::Iter1,
        Workload::For2,
        Workload::Iter2Rare,
        Workload::Churn,
        Workload::Commands,
        Workload::Schedule,
    ];
    let limit = contestants::all()[0];
    for workload in moving {
        assert_ne!(
            checksum_after(limit, workload, 2),
            checksum_after(limit, workload, 3),
            "{workload}"
        );
    }
}

#[test]
fn the_limit_comes_first_and_does_everything() {
    let all = contestants::all();

    assert_eq!(all[0].role(), Role::Limit);
    assert!(all[1..].iter().all(|who| who.role() != Role::Limit));
    assert!(Workload::ALL.iter().all(|workload| all[0].prepare(*workload, SCENE).is_some()));
}

#[test]
fn names_are_different() {
    let mut names: Vec<_> = contestants::all().iter().map(|who| who.name()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();

    assert_eq!(names.len(), count);
}

#[test]
fn worlds_for_the_memory_table_are_built() {
    // What flecs holds is allocated in C, where nobody counts it.
    for who in contestants::all().into_iter().filter(|who| who.name() != "flecs") {
        assert!(who.hold(100, Width::Two).is_some(), "{} holds nothing", who.name());
        assert!(who.ebb(100, Ebb::Left).is_some(), "{} has no ebb", who.name());
    }
}
