//! Any bytes as a schedule: it is built or refused by name, as the orders that were declared say, and
//! a step comes out the same in any legal order.

#![no_main]

#[path = "choices.rs"]
mod common;
mod declared;
#[path = "../../tests/common/mod.rs"]
mod seeded;

use common::{Rng, mix};
use declared::Declared;
use esker::prelude::*;
use esker::schedule::{Configs, ScheduleError};
use libfuzzer_sys::fuzz_target;

#[derive(Component, Debug, Clone)]
#[component(track)]
struct A(u64);

#[derive(Component, Debug, Clone)]
struct B(u64);

#[derive(Component, Debug, Clone)]
#[component(storage = Hashed)]
struct C(u64);

#[derive(Debug, Default)]
struct Log(Vec<u64>);

/// Names of systems and sets; not all of them are always there.
const LABELS: [&str; 8] = ["a::b::x", "b::x", "x", "c::y", "y", "set", "other set", "nobody"];

/// A system that names what it has done by `salt`.
fn system(kind: usize, salt: u64) -> Configs {
    match kind {
        0 => (move |mut all: Query<(&mut A, &B)>| {
            all.iter_mut().for_each(|(mut a, b)| a.0 = mix(a.0 ^ b.0 ^ salt));
        })
        .into_configs(),
        1 => (move |mut all: Query<&mut B, Without<C>>| {
            all.iter_mut().for_each(|b| b.0 = mix(b.0 ^ salt));
        })
        .into_configs(),
        2 => (move |all: Query<(Entity, &A), Changed<A>>, mut commands: Commands| {
            for (id, a) in all.iter().filter(|(_, a)| mix(a.0 ^ salt).is_multiple_of(3)) {
                let child = commands.spawn(C(a.0));
                commands.insert(child, B(u64::from(child.index())));
                commands.remove::<C>(id);
            }
        })
        .into_configs(),
        3 => (move |all: Query<Entity, With<C>>, mut commands: Commands| {
            all.iter()
                .filter(|id| mix(salt ^ id.to_bits()).is_multiple_of(3))
                .for_each(|id| commands.despawn(id));
        })
        .into_configs(),
        4 => (move |mut pool: PoolMut<C>, all: Query<Entity, With<B>>| {
            all.iter().take(3).for_each(|id| _ = pool.insert(id, C(salt)));
        })
        .into_configs(),
        5 => (move |all: Query<&C>, mut log: ResMut<Log>| {
            log.0.push(all.iter().fold(salt, |sum, c| mix(sum ^ c.0)));
        })
        .into_configs(),
        6 => (move |lost: Removed<C>, mut log: ResMut<Log>| {
            log.0.extend(lost.entities().map(|id| mix(id.to_bits() ^ salt)));
        })
        .into_configs(),
        7 => (move |world: &mut World| _ = world.spawn((A(salt), B(salt)))).into_configs(),
        // Excludes itself.
        _ => (|_: Query<&mut A>, _: Query<&A>| {}).into_configs(),
    }
}

fn schedule(rng: &mut Rng) -> (Schedule, Declared) {
    let (mut schedule, mut declared) = (Schedule::new(), Declared::default());
    let mut phase = 0;
    for _ in 0..rng.below(10) {
        let mut parts = [None, None].map(|part: Option<Configs>| part);
        let first = declared.names.len();
        let count = 1 + rng.below(2);
        for part in parts.iter_mut().take(count) {
            let (at, name) = (declared.names.len(), rng.pick(&LABELS[..5]));
            let kind = if rng.one_in(40) { 8 } else { rng.below(8) };
            declared.clashes |= kind == 8;
            let mut added = system(kind, at as u64).named(name);
            let set = rng.one_in(3).then(|| rng.pick(&LABELS[5..7]));
            if let Some(set) = set {
                added = added.in_set(set);
            }
            for _ in 0..rng.below(3) {
                let known = 7 + usize::from(rng.one_in(30));
                let label = rng.pick(&LABELS[..known]);
                let is_before = rng.one_in(4);
                added = if is_before { added.before(label) } else { added.after(label) };
                declared.orders.push((at, label, is_before));
            }
            if rng.one_in(6) {
                added = added.run_if(|log: Res<Log>| log.0.len() % 3 != 1);
            }
            declared.names.push(name);
            declared.sets.push(set);
            declared.phases.push(phase);
            *part = Some(added);
        }
        match parts {
            [Some(one), Some(other)] if rng.one_in(2) => {
                schedule.add_systems((one, other).chain());
                declared.edges.insert((first, first + 1));
            }
            parts => parts.into_iter().flatten().for_each(|part| _ = schedule.add_systems(part)),
        }
        if rng.one_in(6) {
            schedule.add_barrier();
            phase += 1;
        }
    }
    (schedule, declared)
}

/// The states after some steps.
fn steps(mut schedule: Schedule, mut world: World) -> String {
    for _ in 0..3 {
        schedule.step(&mut world);
    }
    world.verify().unwrap();
    let (a, b) = (world.query::<(Entity, &A)>(), world.query::<(Entity, &B)>());
    let (a, b): (Vec<_>, Vec<_>) = (a.iter().collect(), b.iter().collect());
    let c = world.query::<(Entity, &C)>();
    let c: Vec<_> = c.iter().collect();
    format!("{a:?} {b:?} {c:?} {:?}", world.resource::<Log>().0)
}

fn world() -> World {
    let mut world = World::new();
    world.insert_resource(Log::default());
    world.spawn_batch((0..6).map(|n| (A(n), B(n))));
    world.spawn_batch((0..4).map(|n| (B(n), C(n))));
    world
}

fuzz_target!(|input: &[u8]| {
    let (mut serial, declared) = schedule(&mut Rng::of(input));
    let (mut shuffled, _) = schedule(&mut Rng::of(input));
    let mut worlds = [world(), world()];
    let built = serial.build(&mut worlds[0]);
    assert_eq!(shuffled.build(&mut worlds[1]), built);
    let pairs = declared.pairs();
    let is_order = pairs.as_ref().is_some_and(|pairs| declared.is_order(pairs));
    match &built {
        Ok(()) => assert!(is_order && !declared.clashes, "built against what was declared"),
        Err(ScheduleError::Clash { .. }) => assert!(declared.clashes),
        Err(ScheduleError::Unknown { .. }) => assert!(pairs.is_none()),
        Err(ScheduleError::Cycle { .. }) => assert!(pairs.is_some() && !is_order),
        Err(other) => panic!("not an error of such schedules: {other}"),
    }
    if let Err(error) = built {
        assert!(!error.to_string().is_empty());
        assert_eq!(serial.explain(&mut worlds[0]).unwrap_err(), error);
        return;
    }
    serial.explain(&mut worlds[0]).unwrap();
    serial.set_serial(true);
    shuffled.shuffle(Some(input.len() as u64));
    let [one, other] = worlds;
    assert_eq!(steps(shuffled, other), steps(serial, one));
});
