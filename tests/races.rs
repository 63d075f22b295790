//! Threads that share a world and wait for nobody.
//!
//! For the thread sanitizer as well (`cargo xtask prove --long "thread sanitizer"`). It sees what happens before
//! what by atomics, and by the start and the end of a thread; a scope, a barrier or a lock that has to be
//! waited for is part of the standard library, into which it does not look. So there are none of these here.

#![cfg(feature = "derive")]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use common::Rng;
use esker::{Component, Entity, World};

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Position(u64);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = Indexed)]
struct Velocity(u64);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(track)]
struct Heat(u64);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Mark;

/// Calls `work` with its number on each of some threads, and gives the world back when all are done.
fn on_threads<R: Send + 'static>(
    threads: usize,
    world: World,
    work: impl Fn(usize, &World) -> R + Send + Sync + 'static,
) -> (World, Vec<R>) {
    let shared = Arc::new((world, work));
    let running: Vec<_> = (0..threads)
        .map(|number| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || (shared.1)(number, &shared.0))
        })
        .collect();
    let done = running.into_iter().map(|thread| thread.join().unwrap()).collect();
    let (world, _) = Arc::into_inner(shared).expect("all threads have ended");
    (world, done)
}

/// Does something until it has been done so many times.
fn until_done(times: u64, mut attempt: impl FnMut() -> bool) {
    let mut done = 0;
    while done < times {
        done += u64::from(attempt());
        thread::yield_now();
    }
}

#[test]
fn threads_that_take_turns_see_what_the_others_wrote() {
    const TURNS: u64 = 500;
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..10).map(|_| Position(0))).collect();
    let first = ids[0];

    let (mut world, seen) = on_threads(3, world, move |number, world| {
        let mut seen = Vec::new();
        until_done(TURNS, || match number {
            0 => world.try_query::<&mut Position, ()>().is_ok_and(|mut all| {
                all.iter_mut().for_each(|position| position.0 += 1);
                true
            }),
            1 => world.try_pool_mut::<Position>().is_ok_and(|mut pool| {
                let gone = pool.remove(first).map_or(0, |position| position.0);
                pool.as_mut_slice().iter_mut().for_each(|position| position.0 += 1);
                pool.insert(first, Position(gone + 1)).is_ok()
            }),
            _ => world.try_pool::<Position>().is_ok_and(|pool| {
                seen.push(pool.as_slice().iter().map(|position| position.0).sum::<u64>());
                true
            }),
        });
        seen
    });

    assert!(ids.iter().all(|&id| *world.get::<Position>(id).unwrap() == Position(2 * TURNS)));
    assert!(seen[2].is_sorted() && seen[2].iter().all(|sum| sum % 10 == 0), "{:?}", seen[2]);
    assert_eq!(world.verify(), Ok(()));
}

#[test]
fn threads_that_write_different_components_do_not_meet() {
    let mut world = World::new();
    let ids: Vec<Entity> =
        world.spawn_batch((0..500).map(|n| (Position(n), Velocity(n), Heat(n)))).collect();
    world.register::<Mark>();
    let chosen = ids.clone();

    let (mut world, _) = on_threads(4, world, move |number, world| {
        for _ in 0..20 {
            match number {
                0 => world.query::<&mut Position>().iter_mut().for_each(|p| p.0 += 1),
                1 => world.query::<&mut Velocity>().iter_mut().for_each(|v| v.0 += 1),
                2 => world.query::<&mut Heat>().iter_mut().for_each(|mut heat| heat.0 += 1),
                // The signatures of the entities, which the other threads do not look at.
                _ => {
                    let mut marks = world.pool_mut::<Mark>();
                    chosen.iter().step_by(3).for_each(|&id| _ = marks.insert(id, Mark));
                    chosen.iter().step_by(6).for_each(|&id| _ = marks.remove(id));
                }
            }
        }
    });

    for (n, &id) in (0..).zip(&ids) {
        assert_eq!(*world.get::<Position>(id).unwrap(), Position(n + 20));
        assert_eq!(*world.get::<Velocity>(id).unwrap(), Velocity(n + 20));
        assert_eq!(*world.get::<Heat>(id).unwrap(), Heat(n + 20));
        assert_eq!(world.has::<Mark>(id), n % 3 == 0 && n % 6 != 0);
    }
    assert_eq!(world.verify(), Ok(()));
}

#[test]
fn threads_that_read_find_orders_together() {
    let mut rng = Rng::new(11);
    let mut world = World::new();
    let mut ids: Vec<Entity> = world.spawn_batch((0..400).map(Position)).collect();
    for at in (1..ids.len()).rev() {
        ids.swap(at, rng.below(at + 1));
    }
    for (n, &id) in ids.iter().enumerate() {
        // In another order, and in the same, so that this is noted.
        world.insert(id, (Velocity(n as u64), Heat(n as u64))).unwrap();
    }

    for _ in 0..20 {
        let (after, sums) = on_threads(4, world, |_, world| {
            (0..3).map(|_| sums(world)).collect::<BTreeSet<(u64, u64, u64)>>()
        });
        world = after;
        let expected = sums[0].iter().next().copied();
        assert!(sums.iter().all(|sums| sums.len() == 1 && sums.first().copied() == expected));
        // What was noted is of the past.
        let id = ids[rng.below(ids.len())];
        let velocity = world.remove::<Velocity>(id).unwrap().unwrap();
        world.insert(id, velocity).unwrap();
    }
    assert_eq!(world.verify(), Ok(()));
}

fn sums(world: &World) -> (u64, u64, u64) {
    let apart = world.query::<(&Position, &Velocity)>();
    let alike = world.query::<(&Velocity, &Heat)>();
    let some = world.query::<(&Position, Option<&Heat>)>();
    (
        apart.iter().map(|(p, v)| p.0 * v.0).sum(),
        alike.iter().map(|(v, heat)| v.0 * heat.0).sum(),
        some.iter().map(|(p, heat)| p.0 + heat.map_or(0, |heat| heat.0)).sum(),
    )
}

#[test]
fn threads_that_reserve_get_ids_of_their_own() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..100).map(|_| world.spawn(())).collect();
    world.despawn_batch(ids.into_iter().step_by(2));

    let (mut world, reserved) = on_threads(4, world, |_, world| {
        (0..200).map(|_| world.reserve_entity().unwrap()).collect::<Vec<_>>()
    });

    let all: BTreeSet<Entity> = reserved.into_iter().flatten().collect();
    assert_eq!(all.len(), 800);
    world.settle();
    assert!(all.iter().all(|&id| world.is_alive(id)));
    assert_eq!(world.len(), 850);
    assert_eq!(world.verify(), Ok(()));
}
