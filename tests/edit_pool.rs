//! A pool in the hands of one who has the world to himself.

#![cfg(feature = "derive")]

mod common;

use std::mem;
use std::time::Duration;

use common::{Rng, SeedReport};
use esker::prelude::*;
use esker::world::{PoolError, RemovedCursor};

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct A(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = Hashed)]
struct B(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct C(u32);

/// What listeners have heard: what it was, of whom.
#[derive(Debug, Default, PartialEq)]
struct Heard(Vec<(char, Entity)>);

/// Two worlds alike, with a group over `A` and `B` or without, and with listeners to `A` or without.
fn worlds(is_grouped: bool, is_heard: bool) -> [World; 2] {
    [(); 2].map(|()| {
        let mut world = World::new();
        world.insert_resource(Heard::default());
        if is_grouped {
            world.group::<(A, B)>().build().unwrap();
        }
        if is_heard {
            _ = world.on_add::<A>(|world, id, _| world.resource_mut::<Heard>().0.push(('+', id)));
            _ = world
                .on_remove::<A>(|world, id, _| world.resource_mut::<Heard>().0.push(('-', id)));
        }
        for n in 0..40 {
            world.spawn(C(n));
        }
        world
    })
}

/// Ids and values of a pool, in order.
fn rows<T: Component + Copy>(world: &World) -> Vec<(Entity, T)> {
    world.pool::<T>().iter().map(|(id, value)| (id, *value)).collect()
}

#[test]
fn edits_leave_the_world_that_insert_and_remove_leave() {
    for seed in 0..32 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test edit_pool" };
        let mut rng = Rng::new(seed);
        let [mut edited, mut plain] = worlds(seed % 2 == 0, seed % 4 < 2);
        let lost = [&mut edited, &mut plain].map(World::removed::<B>);
        let ids: Vec<Entity> = plain.entities().collect();

        for step in 0..200 {
            let id = ids[rng.below(ids.len())];
            match rng.below(7) {
                0 | 1 => {
                    let old = edited.edit_pool().insert(id, A(step));
                    let before = plain.get::<A>(id).as_deref().copied();
                    assert_eq!(old, Ok(before));
                    plain.insert(id, A(step)).unwrap();
                }
                2 => assert_eq!(edited.edit_pool::<A>().remove(id), plain.remove::<A>(id).unwrap()),
                3 | 4 => {
                    _ = edited.edit_pool().insert(id, B(step)).unwrap();
                    plain.insert(id, B(step)).unwrap();
                }
                5 => assert_eq!(edited.edit_pool::<B>().remove(id), plain.remove::<B>(id).unwrap()),
                _ if rng.one_in(8) => {
                    edited.edit_pool::<A>().clear();
                    plain.clear_pool::<A>();
                }
                _ => {
                    // The order in which both let go is that of the pool.
                    edited.edit_pool::<B>().retain(|_, b| b.0 % 3 != 0);
                    while let Some((id, _)) = rows::<B>(&plain).iter().find(|(_, b)| b.0 % 3 == 0) {
                        _ = plain.remove::<B>(*id);
                    }
                }
            }
            edited.verify().unwrap();
        }
        edited.refresh();

        assert_eq!(rows::<A>(&edited), rows::<A>(&plain));
        assert_eq!(rows::<B>(&edited), rows::<B>(&plain));
        for &id in &ids {
            assert!(edited.component_ids(id).eq(plain.component_ids(id)), "{id}");
        }
        assert_eq!(*edited.resource::<Heard>(), *plain.resource::<Heard>());
        let [lost_by_edits, lost] = lost;
        let read =
            |mut cursor: RemovedCursor<B>, world| cursor.read(world).entities().collect::<Vec<_>>();
        assert_eq!(read(lost_by_edits, &edited), read(lost, &plain));
    }
}

#[test]
fn a_component_that_nobody_has_had_gets_its_pool() {
    let mut world = World::new();
    let id = world.spawn(());
    assert!(matches!(world.try_pool_mut::<A>(), Err(PoolError::Unknown { .. })));

    world.edit_pool::<A>().insert(id, A(1)).unwrap();

    assert!(world.has::<A>(id));
    world.verify().unwrap();
}

#[test]
fn a_reserved_entity_is_alive_to_who_has_the_world_alone() {
    let mut world = World::new();
    world.register::<A>();
    let id = world.reserve_entity().unwrap();
    assert!(world.pool_mut::<A>().insert(id, A(1)).is_err());

    assert_eq!(world.edit_pool::<A>().insert(id, A(2)), Ok(None));

    world.verify().unwrap();
}

#[test]
fn a_dead_entity_gets_and_loses_nothing() {
    let mut world = World::new();
    let id = world.spawn(A(1));
    world.despawn(id).unwrap();

    let mut pool = world.edit_pool::<A>();

    assert!(pool.insert(id, A(2)).is_err());
    assert_eq!(pool.remove(id), None);
    drop(pool);
    world.verify().unwrap();
}

#[test]
fn guards_that_were_leaked_refuse_nothing() {
    let mut world = World::new();
    world.group::<(A, B)>().observe::<C>().build().unwrap();
    let id = world.spawn((A(1), B(1), C(1)));
    let _lost = world.removed::<A>();
    _ = world.on_add::<A>(|_, _, _| {});
    // With it go the guards on the group, on the journal, and on what listeners are to be told.
    mem::forget(world.pool_mut::<A>());
    assert!(world.try_pool::<A>().is_err() && world.try_pool::<B>().is_err());

    assert_eq!(world.edit_pool::<A>().remove(id), Some(A(1)));
    assert_eq!(world.edit_pool::<B>().insert(id, B(2)), Ok(Some(B(1))));

    mem::forget(world.query::<&mut C>());
    mem::forget(world.edit_pool::<A>());
    assert_eq!(world.edit_pool::<C>().remove(id), Some(C(1)));
    world.verify().unwrap();
    assert!(world.try_query::<(&mut A, &mut B, &mut C), ()>().is_ok(), "nobody has them");
}

#[test]
fn a_pool_is_edited_alike_by_a_system_alone_and_beside_another() {
    let edit = |mut pool: PoolMut<'_, A>| {
        let ids = pool.entities().to_vec();
        for id in ids {
            let value = pool.remove(id).unwrap();
            if !value.0.is_multiple_of(3) {
                pool.insert(id, A(value.0 + 1)).unwrap();
            }
        }
        pool.retain(|_, value| value.0 % 5 != 0);
    };
    // Others change their bits of the same words.
    let toggle = |mut pool: PoolMut<'_, B>| {
        let ids = pool.entities().to_vec();
        for id in ids {
            let value = pool.remove(id).unwrap();
            if value.0.is_multiple_of(2) {
                pool.insert(id, B(value.0 + 3)).unwrap();
            }
        }
    };
    let outcome = |threshold| {
        let mut world = World::new();
        world.spawn_batch((0..2000).map(|n| (A(n), B(n), C(n)))).for_each(drop);
        let mut schedule = Schedule::new();
        schedule.set_task_threshold(threshold);
        schedule.add_systems((edit, toggle));
        for _ in 0..4 {
            schedule.step(&mut world);
            world.verify().unwrap();
        }
        (rows::<A>(&world), rows::<B>(&world))
    };

    // One by one, where a task is worth more than they take; beside each other, where it is worth nothing.
    assert!(outcome(Duration::MAX) == outcome(Duration::ZERO));
}

#[test]
fn a_guard_that_was_leaked_refuses_a_system_however_it_is_run() {
    let edit = |_: PoolMut<'_, A>| {};
    for threshold in [Duration::MAX, Duration::ZERO] {
        let mut world = World::new();
        world.spawn(A(1));
        let mut schedule = Schedule::new();
        schedule.set_task_threshold(threshold);
        schedule.add_systems((edit, |_: PoolMut<'_, B>| {}));
        schedule.build(&mut world).unwrap();
        mem::forget(world.query::<&A>());

        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            schedule.step(&mut world);
        }));

        assert!(refused.is_err());
    }
}
