//! Schedules: the same result for any number of threads and any legal order.

#![cfg(feature = "derive")]
#![allow(unreachable_pub, reason = "modules of one test crate")]

mod common;
#[path = "schedules/random.rs"]
mod random;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::SeedReport;
use esker::prelude::*;
use random::A;

/// How a random schedule comes out that is set up in this way.
fn run(seed: u64, set: impl Fn(&mut Schedule)) -> Vec<(Option<u64>, String)> {
    random::run(seed, 1..=12, 4, set)
}

/// Random schedules that are tried; the environment may ask for more.
fn schedules() -> std::ops::Range<u64> {
    let more = std::env::var("ESKER_SCHEDULES").ok().and_then(|text| text.parse().ok());
    0..more.unwrap_or(if cfg!(debug_assertions) { 150 } else { 1000 })
}

#[cfg(feature = "parallel")]
#[test]
fn a_step_comes_out_the_same_on_any_number_of_threads() {
    let pools = [1, 2, 4, 8]
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    for seed in schedules() {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test schedules" };
        let expected = run(seed, |schedule| _ = schedule.set_serial(true));
        for pool in &pools {
            let found = pool
                .install(|| run(seed, |schedule| _ = schedule.set_task_threshold(Duration::ZERO)));
            assert_eq!(found, expected, "{} threads", pool.current_num_threads());
        }
    }
}

#[test]
fn a_step_comes_out_the_same_in_any_legal_order() {
    for seed in schedules() {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test schedules" };
        let expected = run(seed, |schedule| _ = schedule.set_serial(true));
        for shuffle in 0..4 {
            let found = run(seed, |schedule| _ = schedule.shuffle(Some(seed ^ shuffle)));
            assert_eq!(found, expected, "shuffled by {shuffle}");
        }
    }
}

/// Who looks for an order that was forgotten wants to see all that are legal.
#[test]
fn shuffling_comes_to_every_legal_order_and_to_the_same_one_by_the_same_seed() {
    let order_by = |seed: u64, steps: usize| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let note = |n: u32| {
            let log = Arc::clone(&log);
            move |_: Query<&A>| log.lock().unwrap().push(n)
        };
        let (mut world, mut schedule) = (World::new(), Schedule::new());
        schedule.add_systems((note(0), note(1), note(2), (note(3), note(4)).chain()));
        schedule.shuffle(Some(seed));
        (0..steps).for_each(|_| _ = schedule.step(&mut world));
        let log = log.lock().unwrap();
        log.chunks(5).map(<[u32]>::to_vec).collect::<Vec<_>>()
    };
    let is_legal = |order: &Vec<u32>| {
        let place = |n: u32| order.iter().position(|&one| one == n).unwrap();
        place(3) < place(4)
    };

    let by_seed: BTreeSet<Vec<u32>> = (0..1000).flat_map(|seed| order_by(seed, 1)).collect();
    let by_step: BTreeSet<Vec<u32>> = order_by(7, 1000).into_iter().collect();

    // Half of the 120 in which five can come.
    assert_eq!((by_seed.len(), by_step.len()), (60, 60));
    assert!(by_seed.iter().chain(&by_step).all(is_legal));
    assert_eq!(order_by(9, 20), order_by(9, 20));
}

#[test]
fn a_timed_step_says_how_long_the_refresh_took() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.set_timed(true).add_systems(|mut commands: Commands| _ = commands.spawn_empty());

    let report = schedule.step(&mut world);

    assert!(report.refresh.unwrap() <= report.time.unwrap());
    assert!(report.refresh.unwrap() > Duration::ZERO, "a command was carried out");
    assert!(report.to_string().contains("(refresh)"));
}

/// What is measured decides where systems run. The report says what was measured, so where they will
/// run next is known, whatever the machine is busy with.
#[cfg(feature = "parallel")]
#[test]
fn systems_run_as_tasks_where_two_of_them_took_long_enough() {
    use std::thread::{self, ThreadId};
    use std::time::Instant;

    let threshold = Duration::from_micros(100);
    let ran: Arc<Mutex<Vec<(u64, ThreadId)>>> = Arc::default();
    // It may record commands: that is no reason to stay here.
    let spin = |salt: u64| {
        let ran = Arc::clone(&ran);
        move |mut step: Local<u64>, _: Commands| {
            let began = Instant::now();
            *step += 1;
            // Long for some steps, short for the next ones.
            while common::mix(salt ^ (*step / 8)).is_multiple_of(2)
                && began.elapsed() < 2 * threshold
            {}
            ran.lock().unwrap().push((salt, thread::current().id()));
        }
    };
    let mut schedule = Schedule::new();
    schedule.set_timed(true).set_task_threshold(threshold);
    schedule.add_systems((spin(0).named("0"), spin(1).named("1"), spin(2).named("2")));
    let (mut world, mut costs, mut kinds) = (World::new(), [0; 3], [0; 2]);
    let small = threshold.as_nanos();

    for step in 0..150_u64 {
        let is_enabled: [bool; 3] =
            std::array::from_fn(|nth| !common::mix(step << 8 | nth as u64).is_multiple_of(8));
        for (nth, is_enabled) in is_enabled.into_iter().enumerate() {
            schedule.set_enabled(&nth.to_string(), is_enabled);
        }
        let long = (0..3).filter(|&nth| is_enabled[nth] && costs[nth] >= small).count();

        let report = schedule.step(&mut world);

        let mut ran: Vec<(u64, ThreadId)> = std::mem::take(&mut *ran.lock().unwrap());
        ran.sort_by_key(|(salt, _)| *salt);
        let enabled: Vec<u64> = (0..3).filter(|&nth| is_enabled[nth as usize]).collect();
        assert_eq!(ran.iter().map(|(salt, _)| *salt).collect::<Vec<_>>(), enabled);
        // Tasks are for the threads of the pool, of which this is none.
        let is_here = |(_, id): &(u64, ThreadId)| *id == thread::current().id();
        let are_tasks = long >= 2;
        assert!(ran.iter().all(|one| is_here(one) != are_tasks), "step {step}: {costs:?} {long}");
        kinds[usize::from(are_tasks)] += 1;
        for (nth, system) in report.systems.iter().enumerate() {
            let Some(time) = system.time.map(|time| time.as_nanos()) else { continue };
            costs[nth] = if costs[nth] == 0 { time } else { (3 * costs[nth] + time) / 4 };
        }
    }

    assert!(kinds.iter().all(|&kind| kind > 10), "{kinds:?}");
}

#[test]
fn a_schedule_that_is_not_timed_looks_at_the_clock_in_one_step_of_32() {
    let (mut world, mut schedule) = (World::new(), Schedule::new());
    schedule.add_systems(|_: Query<&A>| ());
    for step in 0..100 {
        let report = schedule.step(&mut world);

        assert_eq!(report.time.is_some(), step % 32 == 0, "step {step}");
        assert_eq!(report.refresh.is_some(), step % 32 == 0, "step {step}");
        assert!(report.systems.is_empty());
    }
    schedule.set_timed(true);
    assert!((0..40).all(|_| schedule.step(&mut world).time.is_some()));
}

#[test]
fn how_systems_came_out_is_forgotten_with_a_step_whose_refresh_unwinds() {
    let (mut world, mut schedule) = (World::new(), Schedule::new());
    let entity = world.spawn_empty();
    let listener = world.on_add::<A>(|_, _, _| panic!("heard"));
    let edits = move |mut pool: PoolMut<A>| _ = pool.insert(entity, A(0));
    schedule.add_systems((edits.named("edits"), (|_: Query<Entity>| ()).named("looks")));
    assert_eq!(common::panic_message(|| schedule.step(&mut world)), "heard");
    world.disconnect(listener);

    let report = schedule.step_from(&mut world, &["looks"]);

    assert_eq!(report.systems_run, 1);
    world.verify().unwrap();
}
