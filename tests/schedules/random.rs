//! Random schedules over random worlds, and the states that they lead to.

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use esker::prelude::*;
use esker::schedule::Configs;

use super::common::{Rng, mix};

#[derive(Component, Debug, Clone, PartialEq)]
#[component(track)]
pub struct A(pub u64);

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

/// What a system panics with.
struct Fault(u64);

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
            for id in pool.entities().to_vec().into_iter().filter(|&id| is_hit(id)) {
                let value = pool.remove(id).expect("it is in the list");
                if !value.0.is_multiple_of(4) {
                    _ = pool.insert(id, C(mix(value.0 ^ salt)));
                }
            }
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
        13 => (move |world: &mut World| {
            let oldest = world.entities().next();
            if let Some(id) = oldest {
                _ = world.insert(id, (A(salt), C(salt)));
            }
            world.spawn((A(salt), B(salt)));
        })
        .into_configs(),
        _ => {
            (move |query: Query<Entity, With<C>>, mut commands: Commands, mut runs: Local<u64>| {
                *runs += 1;
                commands.spawn(B(salt));
                query.iter().filter(|&id| is_hit(id)).for_each(|id| commands.insert(id, B(*runs)));
                if mix(salt ^ *runs).is_multiple_of(2) {
                    resume_unwind(Box::new(Fault(salt)));
                }
            })
            .into_configs()
        }
    }
}
fn schedule(seed: u64, systems: RangeInclusive<usize>) -> Schedule {
    let mut rng = Rng::new(seed);
    let mut schedule = Schedule::new();
    let has_faults = rng.one_in(4);
    let count = systems.start() + rng.below(systems.clone().count());
    for nth in 0..count {
        let kind = match rng.below(8) {
            0 => 13,
            1 if has_faults => 14,
            _ => rng.below(13),
        };
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

/// What becomes of a random world in the steps of a random schedule: its states, and who has panicked.
pub fn run(
    seed: u64,
    systems: RangeInclusive<usize>,
    steps: usize,
    set: impl Fn(&mut Schedule),
) -> Vec<(Option<u64>, String)> {
    let (mut world, mut schedule) = (world(seed), schedule(seed, systems));
    set(&mut schedule);
    let states = (0..steps).map(|_| {
        let step = catch_unwind(AssertUnwindSafe(|| schedule.step(&mut world)));
        let fault = step.err().map(|payload| match payload.downcast::<Fault>() {
            Ok(fault) => fault.0,
            Err(unknown) => resume_unwind(unknown),
        });
        (fault, state(&world))
    });
    let states = states.collect();
    world.verify().unwrap();
    states
}
