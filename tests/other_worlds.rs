//! States that go into a world other than the one they come from, and worlds that change places while
//! something is done to them.

#![cfg(feature = "derive")]

mod common;

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use common::{panics_as_planned, planned_panic};
use esker::prelude::*;
use esker::snapshot::{Mirror, Rollback, Snapshot, SnapshotTypes};
use serde::{Deserialize, Serialize};

#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
struct A(u32);

#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
struct B(u32);

/// Not kept.
#[derive(Component)]
struct Sprite;

#[test]
fn going_back_gives_what_was_kept_and_nothing_else_in_whatever_world() {
    let types = SnapshotTypes::new().ignore::<Sprite>().component::<A>().component::<B>();
    let mut world = World::new();
    let (a, b) = (world.spawn((Sprite, A(1))), world.spawn((Sprite, B(2))));
    let mut past = Rollback::new(types, 1);
    past.keep(&world).unwrap();
    // Where components have other numbers, and one where nothing is known yet.
    let mut other = World::new();
    other.group::<(A, B)>().build().unwrap();
    other.spawn((B(3), Sprite));

    for mut world in [world, other, World::new()] {
        past.back(&mut world, 0).unwrap();

        assert_eq!(world.verify(), Ok(()));
        assert!(world.has::<A>(a) && world.has::<B>(b));
        assert!(!world.has_any::<(B, Sprite)>(a) && !world.has_any::<(A, Sprite)>(b));
        assert_eq!((world.component_names(a).count(), world.component_names(b).count()), (1, 1));
        world.insert(a, (B(4), Sprite)).unwrap();
        world.despawn(a).unwrap();
        assert_eq!(world.pool::<B>().entities(), [b]);
        assert_eq!(world.verify(), Ok(()));
    }
}

/// A world whose listeners exchange it for another one, once for each time that this is asked for.
struct Exchange {
    other: Arc<Mutex<World>>,
    is_asked_for: Arc<AtomicBool>,
}

impl Exchange {
    fn new() -> (World, Self) {
        let (mut world, mut other) = (World::new(), World::new());
        let is_asked_for = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Mutex::new(World::new()));
        for world in [&mut world, &mut other] {
            let group = world.group::<()>().observe::<A>().build().unwrap();
            let exchanges = || {
                let (other, is_asked_for) = (Arc::clone(&shared), Arc::clone(&is_asked_for));
                move |_: &World, entity: Entity, commands: &mut Commands<'_, '_>| {
                    if !is_asked_for.load(Relaxed) {
                        return;
                    }
                    let (other, is_asked_for) = (Arc::clone(&other), Arc::clone(&is_asked_for));
                    // One before the exchange and one behind it.
                    commands.insert(entity, Sprite);
                    commands.add(move |world| {
                        if is_asked_for.swap(false, Relaxed) {
                            mem::swap(world, &mut other.lock().unwrap());
                        }
                    });
                    commands.spawn(B(2));
                }
            };
            _ = world.on_spawn(exchanges());
            _ = world.on_despawn(exchanges());
            _ = world.on_add::<A>(exchanges());
            _ = world.on_change::<A>(exchanges());
            _ = world.on_remove::<A>(exchanges());
            _ = world.on_enter(group, exchanges());
            _ = world.on_leave(group, exchanges());
            let exchange = exchanges();
            _ = world
                .on(move |world, &entity: &Entity, commands| exchange(world, entity, commands));
            world.reactive::<A>().added::<A>().removed::<A>().forget_lost().build();
            // Other components and ids than in the first.
            world.spawn_batch((0..3).map(|n| (A(n), B(n))));
        }
        other.spawn_batch((0..5).map(|_| (Sprite, B(0))));
        *shared.lock().unwrap() = other;
        (world, Self { other: shared, is_asked_for })
    }

    /// Does something during which the worlds are exchanged; says whether they were. Both are sound and
    /// can be used.
    fn during(&self, world: &mut World, act: &mut dyn FnMut(&mut World, Entity)) -> bool {
        let id = world.spawn((A(7), B(7), Sprite));
        self.is_asked_for.store(true, Relaxed);
        act(world, id);
        let is_done = !self.is_asked_for.swap(false, Relaxed);
        let mut other = self.other.lock().unwrap();
        if is_done {
            mem::swap(world, &mut other);
        }
        for world in [world, &mut *other] {
            world.verify().unwrap();
            let id = world.spawn((A(1), B(1)));
            world.insert(id, A(2)).unwrap();
            assert_eq!(world.remove::<A>(id).unwrap().map(|a| a.0), Some(2));
            world.despawn(id).unwrap();
            world.refresh();
            world.verify().unwrap();
        }
        is_done
    }
}

type Act<'a> = Box<dyn FnMut(&mut World, Entity) + 'a>;

/// Everything in the course of which commands of listeners are carried out.
fn acts<'a>(mirror: &'a mut Mirror, past: &'a mut Rollback) -> Vec<(&'static str, Act<'a>)> {
    fn act<'a>(act: impl FnMut(&mut World, Entity) + 'a) -> Act<'a> {
        Box::new(act)
    }
    let types = || SnapshotTypes::new().component::<A>().component::<B>().registered_only();
    let mut source = World::new();
    source.spawn_batch((0..4).map(|n| (A(n), B(n))));
    let saved = types().save().to_bytes(&source).unwrap();
    let (merged, mirrored) = (saved.clone(), saved.clone());
    vec![
        ("spawn", act(|world, _| _ = world.spawn(A(1)))),
        ("try_spawn", act(|world, _| _ = world.try_spawn(()))),
        ("spawn_empty", act(|world, _| _ = world.spawn_empty())),
        ("spawn_at", act(|world, _| _ = world.spawn_at(common::id(900, 0), A(1)))),
        ("spawn_batch", act(|world, _| _ = world.spawn_batch((0..3).map(A)))),
        ("spawn_columns", act(|world, _| _ = world.spawn_columns(vec![A(1), A(2)]))),
        ("spawn_empty_batch", act(|world, _| _ = world.spawn_empty_batch(3))),
        (
            "settle",
            act(|world, _| {
                world.reserve_entity().unwrap();
                world.settle();
            }),
        ),
        ("insert", act(|world, id| _ = world.insert(id, A(3)))),
        ("insert_batch", act(|world, id| _ = world.insert_batch([(id, A(3)), (id, A(4))]))),
        (
            "try_add",
            act(|world, _| {
                let id = world.entities().find(|&id| !world.has::<A>(id));
                _ = world.try_add(id.unwrap_or(common::id(0, 0)), A(1));
                world.trigger(common::id(0, 0));
            }),
        ),
        ("replace", act(|world, id| _ = world.replace(id, A(3)))),
        ("patch", act(|world, id| _ = world.patch(id, |a: &mut A| a.0 = 5))),
        (
            "get_or_insert_with",
            act(|world, _| {
                let id = world.spawn_empty();
                _ = world.get_or_insert_with(id, || A(1)).map(|a| a.0 += 1);
            }),
        ),
        ("remove", act(|world, id| _ = world.remove::<(A, B)>(id))),
        ("remove_batch", act(|world, id| _ = world.remove_batch::<A>([id, id]))),
        ("take", act(|world, id| _ = world.take::<(A, B)>(id))),
        ("clear_pool", act(|world, _| world.clear_pool::<A>())),
        ("despawn", act(|world, id| _ = world.despawn(id))),
        ("despawn_batch", act(|world, id| _ = world.despawn_batch([id, id]))),
        ("clear", act(|world, _| world.clear())),
        (
            "entity_mut",
            act(|world, id| {
                let mut entity = world.entity_mut(id).unwrap();
                entity.insert(A(1)).remove::<A>().insert(B(1));
                entity.despawn();
            }),
        ),
        ("trigger", act(|world, id| world.trigger(id))),
        (
            "edit_pool",
            act(|world, _| {
                world.reserve_entity().unwrap();
                world.edit_pool::<A>().retain(|_, _| false);
            }),
        ),
        (
            "refresh",
            act(|world, id| {
                world.pool_mut::<A>().remove(id);
                world.refresh();
            }),
        ),
        (
            "query",
            act(|world, _| {
                world.spawn(A(1));
                for a in &mut world.query_mut::<&mut A>() {
                    a.0 += 1;
                }
            }),
        ),
        ("replace a world", act(move |world, _| _ = types().load().replace(world, &saved))),
        ("merge", act(move |world, _| _ = types().load().merge(world, &merged))),
        ("update", act(move |world, _| _ = mirror.update(world, &mirrored))),
        (
            "back",
            act(move |world, _| {
                past.keep(world).unwrap();
                world.reserve_entity().unwrap();
                past.back(world, 0).unwrap();
            }),
        ),
        (
            "run_system",
            act(|world, id| {
                world.run_system(move |mut commands: Commands<'_, '_>| commands.despawn(id));
            }),
        ),
        (
            "step",
            act(|world, id| {
                let mut schedule = Schedule::new();
                schedule.add_systems(move |mut commands: Commands<'_, '_>| commands.despawn(id));
                schedule.step(world);
            }),
        ),
    ]
}

#[test]
fn worlds_that_commands_exchange_are_both_sound_whatever_is_under_way() {
    let types = SnapshotTypes::new().component::<A>().component::<B>().registered_only();
    let (mut mirror, mut past) = (Mirror::new(types.clone()), Rollback::new(types, 2));
    for (name, mut act) in acts(&mut mirror, &mut past) {
        let (mut world, exchange) = Exchange::new();
        let rounds = if cfg!(miri) { 2 } else { 70 };
        // More often than operations may lie inside each other.
        let exchanged = (0..rounds).filter(|_| exchange.during(&mut world, &mut *act)).count();
        assert!(exchanged > 0, "{name}");
    }
}

#[test]
fn a_world_that_a_command_drops_in_the_middle_is_gone_and_the_new_one_sound() {
    let mut world = World::new();
    let hear = |_: &World, _: Entity, commands: &mut Commands<'_, '_>| {
        commands.add(|world| *world = World::new());
        commands.spawn(B(1));
    };
    _ = world.on_add::<A>(hear);
    _ = world.on_remove::<A>(hear);

    world.spawn(A(1));

    world.verify().unwrap();
    assert_eq!(world.query::<&A>().count(), 0);
    assert_eq!(world.spawn(A(1)).index(), world.len() as u32 - 1);
}

/// What was reserved in one world is not taken back in another, where another entity has the id.
#[test]
fn commands_that_are_dropped_in_another_world_kill_no_entity_there() {
    for is_system in [false, true] {
        let mut there = World::new();
        let living: Vec<_> = there.spawn_empty_batch(20).unwrap().collect();
        let other = Arc::new(Mutex::new(there));
        let shared = Arc::clone(&other);
        let record = move |commands: &mut Commands<'_, '_>| {
            let shared = Arc::clone(&shared);
            commands.add(move |world| mem::swap(world, &mut shared.lock().unwrap()));
            commands.add(|_| planned_panic());
            (0..5).for_each(|_| _ = commands.spawn(()));
        };
        let mut world = World::new();
        world.spawn(());

        assert!(panics_as_planned(|| match is_system {
            true => world.run_system(move |mut commands: Commands<'_, '_>| record(&mut commands)),
            false => {
                _ = world.on_add::<A>(move |_, _, commands| record(commands));
                world.spawn(A(1));
            }
        }));

        assert!(living.iter().all(|&id| world.is_alive(id)));
        for world in [&mut world, &mut *other.lock().unwrap_or_else(|error| error.into_inner())] {
            world.refresh();
            world.verify().unwrap();
        }
    }
}

#[test]
fn worlds_that_systems_exchange_are_both_sound() {
    type Run = fn(&mut World, &Arc<Mutex<World>>);
    let ways: [Run; 4] = [
        |world, other| {
            let other = Arc::clone(other);
            world.run_system(move |world: &mut World| {
                world.reserve_entity().unwrap();
                mem::swap(world, &mut other.lock().unwrap());
            });
        },
        |world, other| {
            let other = Arc::clone(other);
            world.run_system(move |mut commands: Commands<'_, '_>| {
                commands.spawn(A(1));
                let other = Arc::clone(&other);
                commands.add(move |world| mem::swap(world, &mut other.lock().unwrap()));
                commands.spawn(A(2));
            });
        },
        |world, other| {
            let other = Arc::clone(other);
            let mut schedule = Schedule::new();
            let spawns = |mut commands: Commands<'_, '_>| _ = commands.spawn((A(1), B(2)));
            let exchanges = move |world: &mut World| mem::swap(world, &mut other.lock().unwrap());
            schedule.add_systems((spawns, exchanges).chain());
            schedule.step(world);
        },
        |world, other| {
            let other = Arc::clone(other);
            let mut schedule = Schedule::new();
            let spawns = |mut commands: Commands<'_, '_>| _ = commands.spawn((A(1), B(2)));
            let exchanges = move |mut commands: Commands<'_, '_>| {
                commands.spawn(A(1));
                let other = Arc::clone(&other);
                commands.add(move |world| mem::swap(world, &mut other.lock().unwrap()));
                commands.spawn(A(2));
            };
            schedule.add_systems((spawns, exchanges, spawns.named("again")));
            schedule.step(world);
        },
    ];
    for way in ways {
        let (mut world, mut other) = (World::new(), World::new());
        _ = world.on_spawn(|_, _, _| {});
        _ = other.on_spawn(|world, entity, _| assert!(world.is_alive(entity)));
        let living: Vec<_> = other.spawn_empty_batch(30).unwrap().collect();
        other.spawn_batch((0..5).map(|n| (B(n), A(n))));
        let other = Arc::new(Mutex::new(other));
        for round in 0..3 {
            way(&mut world, &other);
            let mut other = other.lock().unwrap();
            for world in [&mut world, &mut *other] {
                world.verify().unwrap();
                world.spawn((A(1), Sprite));
                world.refresh();
                world.verify().unwrap();
            }
            let home = if round % 2 == 0 { &mut world } else { &mut *other };
            assert!(living.iter().all(|&id| home.is_alive(id)), "{round}");
        }
    }
}
