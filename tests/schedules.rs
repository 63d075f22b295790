//! Schedules: the same result for any number of threads and any legal order.

#![cfg(feature = "derive")]

mod common;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Rng, SeedReport, mix};
use esker::prelude::*;
use esker::schedule::Configs;

#[derive(Component, Debug, Clone, PartialEq)]
#[component(track)]
struct A(u64);

#[derive(Component, Debug, Clone, PartialEq)]
struct B(u64);

#[derive(Component, Debug, Clone, PartialEq)]
#[component(track, storage = Hashed)]
struct C(u64);

#[derive(Component, Debug, Clone, PartialEq)]
struct Tag;

#[derive(Debug, Default)]
struct Log(Vec<u64>);

#[derive(Debug, Clone, PartialEq)]
struct Note(u64);

struct Sum(u64);
impl SystemOutput for Sum {}

struct Count(u64);
impl SystemOutput for Count {}

/// A system of one of many kinds; `salt` tells those of one kind apart.
fn system(kind: usize, salt: u64) -> Configs {
    let is_hit = move |entity: Entity| mix(salt ^ u64::from(entity.index())).is_multiple_of(3);
    match kind {
        0 => (move |mut query: Query<(&mut A, &B)>| {
            query.iter_mut().for_each(|(mut a, b)| a.0 = mix(a.0 ^ b.0 ^ salt));
        })
        .into_configs(),
        1 => (move |mut query: Query<&mut B, With<A>>| {
            query.iter_mut().for_each(|b| b.0 = mix(b.0 ^ salt));
        })
        .into_configs(),
        2 => (move |query: Query<(Entity, &A)>, mut commands: Commands| {
            for (id, a) in &query {
                if mix(a.0 ^ salt).is_multiple_of(7) {
                    let child = commands.spawn((B(a.0), C(salt)));
                    commands.insert(child, A(u64::from(child.index()) ^ u64::from(id.index())));
                }
            }
        })
        .into_configs(),
        3 => (move |query: Query<Entity, With<C>>, mut commands: Commands| {
            query.iter().filter(|&id| is_hit(id)).for_each(|id| commands.despawn(id));
        })
        .into_configs(),
        4 => (move |mut pool: PoolMut<C>, query: Query<Entity, With<B>>| {
            for id in query.iter().filter(|&id| is_hit(id)) {
                _ = pool.insert(id, C(salt));
            }
        })
        .into_configs(),
        5 => (move |mut pool: PoolMut<C>| {
            pool.retain(|id, value| !mix(value.0 ^ u64::from(id.index())).is_multiple_of(5));
        })
        .into_configs(),
        6 => (move |changed: Query<(Entity, &A), Changed<A>>, mut log: ResMut<Log>| {
            let seen = changed.iter().map(|(id, a)| mix(a.0 ^ u64::from(id.index())));
            let sum = seen.fold(salt, u64::wrapping_add);
            log.0.push(sum);
        })
        .into_configs(),
        7 => (move |lost: Removed<C>, mut log: ResMut<Log>| {
            log.0.extend(lost.entities().map(|id| u64::from(id.index()) ^ salt));
        })
        .into_configs(),
        8 => (move |query: Query<&A>, mut notes: MessageWriter<Note>| {
            query.iter().take(5).for_each(|a| notes.send(Note(a.0 ^ salt)));
        })
        .into_configs(),
        9 => (move |notes: MessageReader<Note>, mut log: ResMut<Log>, mut runs: Local<u64>| {
            *runs += 1;
            log.0.extend(notes.read().map(|note| mix(note.0 ^ *runs)));
        })
        .into_configs(),
        10 => (move |mut query: Query<(&mut C, Option<&Tag>, Has<B>)>| {
            for (mut c, tag, has) in &mut query {
                c.0 = mix(c.0 ^ u64::from(tag.is_some()) ^ (u64::from(has) << 1) ^ salt);
            }
        })
        .into_configs(),
        11 => (move |query: Query<Entity>, mut commands: Commands, log: Res<Log>| {
            let shift = log.0.len() as u64;
            for id in query.iter().filter(|&id| is_hit(id)) {
                match mix(shift ^ u64::from(id.index())) % 3 {
                    0 => commands.insert(id, Tag),
                    1 => commands.remove::<(Tag, B)>(id),
                    _ => commands.insert(id, B(shift)),
                }
            }
        })
        .into_configs(),
        12 => (move |world: &World, mut log: ResMut<Log>| {
            log.0.push(world.query::<&B>().iter().fold(salt, |sum, b| sum.wrapping_add(b.0)));
        })
        .into_configs(),
        _ => (move |world: &mut World| {
            let oldest = world.entities().next();
            if let Some(id) = oldest {
                _ = world.insert(id, (A(salt), C(salt)));
            }
            world.spawn((A(salt), B(salt)));
        })
        .into_configs(),
    }
}

fn schedule(seed: u64) -> Schedule {
    let mut rng = Rng::new(seed);
    let mut schedule = Schedule::new();
    let count = 1 + rng.below(12);
    for nth in 0..count {
        let kind = if rng.one_in(8) { 13 } else { rng.below(13) };
        let mut added = system(kind, rng.next()).named(&format!("s{nth}"));
        if rng.one_in(4) {
            added = added.in_set("set");
        }
        if nth > 0 && rng.one_in(3) {
            added = added.after(format!("s{}", rng.below(nth)).as_str());
        }
        if rng.one_in(6) {
            added = added.run_if(|log: Res<Log>| !log.0.len().is_multiple_of(3));
        }
        schedule.add_systems(added);
        if rng.one_in(8) {
            schedule.add_barrier();
        }
    }
    if rng.one_in(2) {
        let read = |sum: Output<Sum>, count: Output<Count>, mut log: ResMut<Log>| {
            log.0.push(sum.0 ^ count.0);
        };
        let sum = |query: Query<&B>| Sum(query.iter().map(|b| b.0).fold(0, u64::wrapping_add));
        let count = |query: Query<&A>| -> Result<Count, std::fmt::Error> {
            Ok(Count(query.count() as u64))
        };
        schedule.add_systems((read, sum, count));
    }
    schedule
}

fn world(seed: u64) -> World {
    let mut rng = Rng::new(seed);
    let mut world = World::new();
    world.insert_resource(Log::default());
    world.register::<C>();
    for n in 0..rng.below(60) as u64 {
        match rng.below(4) {
            0 => world.spawn(A(n)),
            1 => world.spawn((A(n), B(n))),
            2 => world.spawn((B(n), C(n), Tag)),
            _ => world.spawn((A(n), B(n), C(n))),
        };
    }
    if rng.one_in(2) {
        _ = world.group::<(A, B)>().build();
    }
    if rng.one_in(3) {
        _ = world.group::<C>().observe::<A>().build();
    }
    world
}

/// Everything there is, in the order in which it lies.
fn state(world: &World) -> String {
    let pools = (
        world.query::<(Entity, &A)>().iter().map(|(id, a)| (id, a.clone())).collect::<Vec<_>>(),
        world.query::<(Entity, &B)>().iter().map(|(id, b)| (id, b.clone())).collect::<Vec<_>>(),
        world.query::<(Entity, &C)>().iter().map(|(id, c)| (id, c.clone())).collect::<Vec<_>>(),
        world.query_filtered::<Entity, With<Tag>>().iter().collect::<Vec<_>>(),
    );
    let living: Vec<Entity> = world.entities().collect();
    format!("{pools:?} {living:?} {:?}", world.resource::<Log>().0)
}

/// The states after each of some steps.
fn run(seed: u64, set: impl Fn(&mut Schedule)) -> Vec<String> {
    let (mut world, mut schedule) = (world(seed), schedule(seed));
    set(&mut schedule);
    let states = (0..4).map(|_| {
        schedule.step(&mut world);
        state(&world)
    });
    let states = states.collect();
    world.verify().unwrap();
    states
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
            while mix(salt ^ (*step / 8)).is_multiple_of(2) && began.elapsed() < 2 * threshold {}
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
            std::array::from_fn(|nth| !mix(step << 8 | nth as u64).is_multiple_of(8));
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
