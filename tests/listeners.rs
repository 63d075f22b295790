//! Listeners: who is called when, what they may ask for, and what happens if they panic.

#![cfg(feature = "derive")]

mod common;

use std::sync::{Arc, Mutex};

use common::{Counted, Ledger, Rng, SeedReport, panic_message, panics_as_planned, planned_panic};
use esker::prelude::*;
use esker::world::Connection;

#[derive(Component, Debug, Clone, PartialEq)]
struct A(u32);

#[derive(Component, Debug, Clone, PartialEq)]
#[component(storage = Hashed)]
struct B(u32);

#[derive(Component, Debug)]
struct Dropped(#[expect(dead_code, reason = "for its drop")] Counted);

/// What was heard, in words.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// A listener that notes a word and its entity.
    fn hears(&self, word: &'static str) -> impl esker::world::Listener {
        let log = self.clone();
        move |_: &World, entity: Entity, _: &mut Commands<'_, '_>| {
            log.note(format!("{word} {entity}"))
        }
    }
}

#[test]
fn listeners_are_called_in_the_order_of_their_registration_until_disconnected() {
    for seed in 0..50 {
        let _report =
            SeedReport { seed, how_to_repeat: "the seed of a run in `tests/listeners.rs`" };
        let mut rng = Rng::new(seed);
        let (mut world, log) = (World::new(), Log::default());
        // Which listeners there should be, and what holds the scoped ones.
        let mut connected: Vec<(usize, Connection)> = Vec::new();
        let mut scopes = Vec::new();
        let mut ended = Vec::new();
        for n in 0..200 {
            match rng.below(4) {
                0 => {
                    let log = log.clone();
                    let connection = world.on_add::<A>(move |_, _, _| log.note(n.to_string()));
                    connected.push((n, connection));
                    if rng.one_in(2) {
                        scopes.push((connection, world.scope_connection(connection).unwrap()));
                    }
                }
                1 if !connected.is_empty() => {
                    let (_, connection) = connected.remove(rng.below(connected.len()));
                    match scopes.iter().position(|(scoped, _)| *scoped == connection) {
                        Some(at) if rng.one_in(2) => drop(scopes.swap_remove(at)),
                        _ => assert!(world.disconnect(connection)),
                    }
                    ended.push(connection);
                }
                2 if !ended.is_empty() => {
                    let connection = rng.pick(&ended);
                    assert!(!world.disconnect(connection));
                    assert!(world.scope_connection(connection).is_none());
                }
                _ => {
                    world.spawn(A(0));
                    let expected: Vec<_> = connected.iter().map(|(n, _)| n.to_string()).collect();
                    assert_eq!(log.take(), expected);
                }
            }
        }
    }
}

#[test]
fn every_kind_of_connection_can_be_ended_and_scoped() {
    let (mut world, log) = (World::new(), Log::default());
    let group = world.group::<()>().observe::<A>().build().unwrap();
    let connect = |world: &mut World| {
        let said = log.clone();
        vec![
            world.on_spawn(log.hears("spawn")),
            world.on_add::<A>(log.hears("add")),
            world.on_change::<A>(log.hears("change")),
            world.on_remove::<A>(log.hears("remove")),
            world.on_despawn(log.hears("despawn")),
            world.on_enter(group, log.hears("enter")).unwrap(),
            world.on_leave(group, log.hears("leave")).unwrap(),
            world.on(move |_, word: &&str, _| said.note(*word)),
        ]
    };
    let live = |world: &mut World| {
        let e = world.spawn(A(1));
        world.refresh();
        world.insert(e, A(2)).unwrap();
        world.trigger("said");
        world.despawn(e).unwrap();
        world.refresh();
        let words = log.take().into_iter();
        words.map(|word| word.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = ["spawn", "add", "enter", "change", "said", "remove", "despawn", "leave"];

    let connections = connect(&mut world);
    assert_eq!(live(&mut world), all);
    assert!(connections.iter().all(|&connection| world.disconnect(connection)));
    assert!(live(&mut world).is_empty());
    let connections = connect(&mut world);
    let scopes: Vec<_> =
        connections.iter().map(|&connection| world.scope_connection(connection)).collect();
    assert_eq!(live(&mut world), all);
    drop(scopes);
    assert!(live(&mut world).is_empty());
    assert!(connections.iter().all(|&connection| !world.disconnect(connection)));
}

#[test]
fn a_listener_may_connect_and_disconnect_and_it_counts_from_the_next_operation_on() {
    let (mut world, log) = (World::new(), Log::default());
    let own = Arc::new(Mutex::new(None));
    let (noted, me) = (log.clone(), Arc::clone(&own));
    let connection = world.on_add::<A>(move |_, entity, commands| {
        noted.note(format!("first {entity}"));
        let (noted, me) = (noted.clone(), me.lock().unwrap().unwrap());
        commands.add(move |world| {
            assert!(world.disconnect(me));
            _ = world.on_add::<A>(noted.hears("second"));
        });
    });
    *own.lock().unwrap() = Some(connection);

    let a = world.spawn(A(0));
    let b = world.spawn(A(0));

    assert_eq!(log.take(), [format!("first {a}"), format!("second {b}")]);
}

#[test]
fn what_listeners_ask_for_comes_right_after_the_operation_in_order() {
    let (mut world, log) = (World::new(), Log::default());
    _ = world.on_add::<A>(|world, entity, commands| {
        assert!(commands.is_empty() || commands.is_alive(entity));
        let value = world.get::<A>(entity).unwrap().0;
        match value {
            0 => commands.remove::<A>(entity),
            1 => commands.despawn(entity),
            2 => commands.insert(entity, B(7)),
            3 => {
                let child = commands.spawn(B(entity.index()));
                assert!(!world.is_alive(child));
                commands.insert_resource(child);
                commands.send(child);
                commands.trigger(child);
            }
            _ => commands.remove_resource::<Entity>(),
        }
    });
    _ = world.on_add::<B>(log.hears("b"));
    let said = log.clone();
    _ = world.on(move |_, child: &Entity, _| said.note(format!("child {child}")));
    let mut reader = world.message_cursor::<Entity>();

    let ids: Vec<_> = (0..4).map(|n| world.spawn(A(n))).collect();

    assert!(world.is_orphan(ids[0]) && !world.is_alive(ids[1]));
    assert_eq!(*world.get::<B>(ids[2]).unwrap(), B(7));
    let child = *world.resource::<Entity>();
    assert_eq!(*world.get::<B>(child).unwrap(), B(ids[3].index()));
    assert_eq!(reader.read(&world)[0], child);
    assert_eq!(
        log.take(),
        [format!("b {}", ids[2]), format!("b {child}"), format!("child {child}")]
    );
    world.spawn(A(4));
    assert!(world.try_resource::<Entity>().is_err());
    let report = world.command_report();
    assert_eq!((report.applied, report.skipped), (9, 0));
    assert_eq!(world.command_report(), Default::default());
    world.verify().unwrap();
}

#[test]
fn what_is_meant_for_the_dead_is_skipped_and_reported_or_a_panic() {
    let mut world = World::new();
    _ = world.on_add::<A>(|_, entity, commands| {
        commands.despawn(entity);
        commands.insert(entity, B(0));
        commands.remove::<A>(entity);
        commands.despawn(entity);
    });

    let ids: Vec<_> = (0..10).map(|n| world.spawn(A(n))).collect();

    let report = world.command_report();
    assert_eq!((report.applied, report.skipped, report.first_skipped.len()), (40, 30, 16));
    let what: Vec<_> = report.first_skipped[..3].iter().map(|skipped| skipped.what).collect();
    assert_eq!(what, ["insert", "remove", "despawn"]);
    assert!(report.first_skipped[..3].iter().all(|skipped| skipped.entity == ids[0]));
    assert!(report.first_skipped[0].to_string().contains("B"));
    world.set_strict_commands(true);
    let message = panic_message(|| world.spawn(A(0)));
    assert!(message.contains("insert of `listeners::B`"), "{message}");
    world.set_strict_commands(false);
    world.spawn(A(0));
    world.verify().unwrap();
}

type Turn = fn(&mut World);

/// Ways for listeners to set each other off without end, and a word of the chain that names them.
const CIRCLES: [(Turn, &str); 7] = [
    (
        |world| {
            _ = world.on_add::<A>(|_, e, commands| commands.insert(e, A(1)));
            _ = world.on_change::<A>(|_, e, commands| commands.insert(e, A(2)));
            world.spawn(A(0));
        },
        "`listeners::A` changed at",
    ),
    (
        |world| {
            _ = world.on_remove::<A>(|_, entity, commands| {
                commands.insert(entity, A(0));
                commands.remove::<A>(entity);
            });
            let e = world.spawn(A(0));
            _ = world.remove::<A>(e);
        },
        "`listeners::A` removed at",
    ),
    (
        |world| {
            _ = world.on_remove::<A>(|_, _, commands| {
                let next = commands.spawn(A(0));
                commands.despawn(next);
            });
            let e = world.spawn(A(0));
            _ = world.despawn(e);
        },
        "`listeners::A` removed at",
    ),
    (
        |world| {
            _ = world.on_despawn(|_, _, commands| {
                let next = commands.spawn_empty();
                commands.despawn(next);
            });
            let e = world.spawn(());
            _ = world.despawn(e);
        },
        "despawned",
    ),
    (
        |world| {
            _ = world.on(|_, &number: &u64, commands| commands.trigger(number + 1));
            world.trigger(0_u64);
        },
        "`u64` triggered",
    ),
    (
        |world| {
            _ = world.on_spawn(|_, _, commands| _ = commands.spawn(()));
            world.spawn(());
        },
        "spawned",
    ),
    (
        |world| {
            let group = world.group::<()>().observe::<A>().build().unwrap();
            _ = world.on_enter(group, |_, _, commands| {
                commands.add(|world| {
                    world.spawn(A(0));
                    world.refresh();
                });
            });
            world.spawn(A(0));
            world.refresh();
        },
        "entered a group",
    ),
];

#[test]
fn listeners_that_set_each_other_off_without_end_are_stopped_by_a_panic_that_names_the_chain() {
    for (nth, (turn, word)) in CIRCLES.into_iter().enumerate() {
        let mut world = World::new();

        let message = panic_message(|| turn(&mut world));

        assert!(message.contains("without end") && message.contains(word), "{nth}: {message}");
        world.verify().unwrap();
        // It counts from the start again.
        let connection = world.on_add::<B>(|_, entity, commands| commands.remove::<B>(entity));
        let living: Vec<_> = world.entities().collect();
        for entity in living {
            world.insert(entity, B(0)).unwrap();
            assert!(!world.has::<B>(entity));
        }
        world.disconnect(connection);
        assert!(panic_message(|| turn(&mut world)).contains("without end"));
    }
}

#[test]
fn a_long_chain_with_an_end_comes_to_its_end() {
    let mut world = World::new();
    _ = world.on_change::<A>(|world, entity, commands| {
        let left = world.get::<A>(entity).unwrap().0;
        if left > 0 {
            commands.insert(entity, A(left - 1));
        }
    });
    let e = world.spawn(A(0));
    for _ in 0..3 {
        world.insert(e, A(60)).unwrap();
        assert_eq!(*world.get::<A>(e).unwrap(), A(0));
    }
}

/// A world with listeners that note, one of which panics when it is armed.
fn armed(which: usize, log: &Log) -> (World, Arc<Mutex<bool>>) {
    let mut world = World::new();
    let arm = Arc::new(Mutex::new(false));
    for nth in 0..3 {
        let (log, arm) = (log.clone(), Arc::clone(&arm));
        let listen = move |word: &'static str, kind: usize| {
            let (log, arm) = (log.clone(), Arc::clone(&arm));
            move |_: &World, entity: Entity, commands: &mut Commands<'_, '_>| {
                log.note(format!("{word}{nth} {entity}"));
                commands.add(move |world| *world.resource_mut::<u32>() += 1);
                if nth == 1 && kind == which && *arm.lock().unwrap() {
                    planned_panic();
                }
            }
        };
        _ = world.on_spawn(listen("spawn", 0));
        _ = world.on_add::<A>(listen("add", 1));
        _ = world.on_change::<A>(listen("change", 2));
        _ = world.on_remove::<A>(listen("remove", 3));
        _ = world.on_despawn(listen("despawn", 4));
    }
    world.insert_resource(0_u32);
    (world, arm)
}

#[test]
fn a_listener_that_panics_leaves_the_state_before_or_after_and_all_listeners() {
    type Act = fn(&mut World, &[Entity]);
    let acts: [Act; 13] = [
        |world, _| _ = world.spawn((A(9), B(9))),
        |world, _| _ = world.spawn_batch((0..3).map(|n| (B(n), A(n)))).count(),
        |world, _| _ = world.spawn_batch((0..3).map(|n| (B(n), A(n)))).collect::<Vec<_>>(),
        |world, _| _ = world.spawn_columns((vec![A(1), A(2)], vec![B(1), B(2)])),
        |world, ids| _ = world.insert(ids[0], (B(9), A(9))),
        |world, ids| _ = world.insert_batch(ids.iter().map(|&id| (id, (A(9), B(9))))),
        |world, ids| _ = world.remove::<(A, B)>(ids[1]),
        |world, ids| _ = world.remove_batch::<(B, A)>(ids.iter().copied()),
        |world, ids| _ = world.take::<(A, B)>(ids[1]),
        |world, ids| world.despawn(ids[1]).unwrap(),
        |world, ids| _ = world.despawn_batch(ids.iter().copied()),
        |world, _| world.clear(),
        |world, _| world.clear_pool::<A>(),
    ];
    for (nth, act) in acts.into_iter().enumerate() {
        for which in 0..5 {
            let log = Log::default();
            let (mut world, arm) = armed(which, &log);
            let (mut calm, _) = armed(which, &Log::default());
            let mut reader = world.removed::<A>();
            world.reactive::<Log>().removed::<A>().build();
            for world in [&mut world, &mut calm] {
                world.group::<(A, B)>().build().unwrap();
            }
            let fill = |world: &mut World| {
                let with_both = |n| world.spawn((A(n), B(n)));
                let mut ids: Vec<_> = (0..3).map(with_both).collect();
                ids.push(world.spawn(B(7)));
                ids
            };
            let ids = fill(&mut world);
            fill(&mut calm);
            act(&mut calm, &ids);
            let state = |world: &World| -> Vec<_> {
                let of = |e| (e, world.get::<A>(e).map(|a| a.0), world.get::<B>(e).map(|b| b.0));
                world.entities().map(of).collect()
            };
            let before = (state(&world), *world.resource::<u32>());
            log.take();

            *arm.lock().unwrap() = true;
            let panicked = panics_as_planned(|| act(&mut world, &ids));
            *arm.lock().unwrap() = false;

            world.verify().unwrap();
            let is_removal = which == 3;
            match panicked {
                true if is_removal => assert_eq!(state(&world), before.0, "act {nth}"),
                _ => assert_eq!(state(&world), state(&calm), "act {nth}, kind {which}"),
            }
            if panicked {
                assert_eq!(*world.resource::<u32>(), before.1, "its commands are dropped");
            }
            let gone = ids.iter().filter(|&&id| !world.has::<A>(id) && id != ids[3]).count();
            assert_eq!(reader.read(&world).len(), gone, "act {nth}, kind {which}");
            log.take();
            // Whoever listened listens, each once.
            let commands_before = *world.resource::<u32>();
            let e = world.spawn(A(1));
            world.insert(e, A(2)).unwrap();
            world.despawn(e).unwrap();
            assert_eq!(*world.resource::<u32>(), commands_before + 15, "act {nth}, kind {which}");
            let words: Vec<_> =
                log.take().into_iter().filter(|word| word.ends_with(&e.to_string())).collect();
            let kinds = ["spawn", "add", "change", "remove", "despawn"];
            let expected: Vec<_> = kinds
                .iter()
                .flat_map(|kind| (0..3).map(move |n| format!("{kind}{n} {e}")))
                .collect();
            assert_eq!(words, expected, "act {nth}, kind {which}");
            let removed = world.drain_reacted::<Log>();
            assert_eq!(removed.len(), gone + 1, "act {nth}, kind {which}");
        }
    }
}

#[test]
fn what_a_panic_kept_back_is_heard_before_what_comes_later() {
    let ledger = Ledger::new();
    let (mut world, log) = (World::new(), Log::default());
    _ = world.on_change::<Dropped>(log.hears("change"));
    _ = world.on_remove::<Dropped>(log.hears("remove"));
    _ = world.on_add::<A>(log.hears("add"));
    _ = world.on_remove::<A>(log.hears("remove"));
    let ways: [fn(&mut World, Entity); 5] = [
        |world, e| world.despawn(e).unwrap(),
        |world, e| _ = world.remove::<(Dropped, A)>(e),
        |world, e| _ = world.despawn_batch([e]),
        |world, _| world.clear(),
        |world, e| {
            _ = world.take::<Dropped>(e);
            _ = world.take::<A>(e);
        },
    ];
    for way in ways {
        // The drop of what is replaced.
        let e = world.spawn(Dropped(ledger.make(0)));
        ledger.panic_at_drop(0);
        assert!(panics_as_planned(|| world.insert(e, Dropped(ledger.make(1)))));
        way(&mut world, e);
        assert_eq!(log.take(), [format!("change {e}"), format!("remove {e}")]);
        // The iterator of a batch.
        let mut ids = Vec::new();
        let bundles = (0..2).map(|n| if n == 1 { planned_panic() } else { A(n) });
        assert!(panics_as_planned(|| world.spawn_batch(bundles).for_each(|id| ids.push(id))));
        way(&mut world, ids[0]);
        assert_eq!(log.take(), [format!("add {}", ids[0]), format!("remove {}", ids[0])]);
    }
}

#[test]
fn a_reserved_entity_is_heard_of_before_its_components_and_its_death() {
    let (mut world, log) = (World::new(), Log::default());
    _ = world.on_spawn(|world, entity, _| assert!(world.is_alive(entity)));
    _ = world.on_spawn(log.hears("spawn"));
    _ = world.on_add::<A>(log.hears("add"));
    _ = world.on_despawn(log.hears("despawn"));

    let e = world.reserve_entity().unwrap();
    world.insert(e, A(0)).unwrap();
    assert_eq!(log.take(), [format!("spawn {e}"), format!("add {e}")]);
    let e = world.reserve_entity().unwrap();
    world.despawn(e).unwrap();
    assert_eq!(log.take(), [format!("spawn {e}"), format!("despawn {e}")]);
    let (a, b) = (world.reserve_entity().unwrap(), world.reserve_entity().unwrap());
    let c = world.spawn(());
    world.settle();
    assert_eq!(log.take(), [c, a, b].map(|e| format!("spawn {e}")));
    let d = world.reserve_entity().unwrap();
    let living: Vec<_> = world.entities().chain([d]).collect();
    world.clear();
    let heard = log.take();
    assert_eq!(heard[0], format!("spawn {d}"));
    assert_eq!(heard.len(), 1 + living.len());
    let d = world.reserve_entity().unwrap();
    world.refresh();
    world.refresh();
    assert_eq!(log.take(), [format!("spawn {d}")]);
}

#[test]
fn a_connection_that_is_scoped_twice_ends_with_the_first_of_its_scopes() {
    for first in [true, false] {
        let (mut world, log) = (World::new(), Log::default());
        let connection = world.on_add::<A>(log.hears("add"));
        let scopes = (world.scope_connection(connection), world.scope_connection(connection));
        world.spawn(A(0));
        assert_eq!(log.take().len(), 1);

        let left = if first {
            drop(scopes.0);
            scopes.1
        } else {
            drop(scopes.1);
            scopes.0
        };

        world.spawn(A(0));
        assert!(log.take().is_empty());
        assert!(left.is_some() && world.scope_connection(connection).is_none());
        assert!(!world.disconnect(connection));
    }
}

#[test]
fn what_a_listener_has_spawned_is_not_born_if_it_or_an_earlier_command_panics() {
    type Act = fn(&mut World);
    let acts: [Act; 5] = [
        // The listener itself.
        |world| {
            _ = world.on_add::<A>(|_, _, commands| {
                commands.spawn(B(1));
                commands.spawn_empty();
                planned_panic();
            });
            world.spawn(A(0));
        },
        // One after it.
        |world| {
            _ = world.on_add::<A>(|_, _, commands| _ = commands.spawn(B(1)));
            _ = world.on_add::<A>(|_, _, _| planned_panic());
            world.spawn(A(0));
        },
        // A command before the spawn.
        |world| {
            _ = world.on_add::<A>(|_, _, commands| {
                commands.add(|_| planned_panic());
                commands.spawn(B(1));
            });
            world.spawn(A(0));
        },
        // A system that runs alone, also where ids are limited.
        |world| {
            world.spawn(A(0));
            world.run_system(|mut commands: Commands<'_, '_>| {
                if commands.spawn(B(1)).index() < 9 {
                    planned_panic();
                }
            });
        },
        // A command before the spawn, of a system.
        |world| {
            world.spawn(A(0));
            world.run_system(|mut commands: Commands<'_, '_>| {
                commands.add(|_| planned_panic());
                commands.spawn(B(1));
            });
        },
    ];
    for (nth, act) in acts.into_iter().enumerate() {
        for limit in [None, Some(100)] {
            for listens in [false, true] {
                let log = Log::default();
                let builder = World::builder();
                let mut world = match limit {
                    Some(limit) => builder.entity_limit(limit).build(),
                    None => builder.build(),
                };
                if listens {
                    _ = world.on_spawn(log.hears("spawn"));
                    _ = world.on_despawn(log.hears("despawn"));
                }

                assert!(panics_as_planned(|| act(&mut world)));
                world.settle();

                assert_eq!(world.len(), 1, "act {nth}, limit {limit:?}");
                assert!(log.take().len() <= 1);
                world.verify().unwrap();
                // The ids are given out again, in another version.
                let ids: Vec<_> = (0..3).map(|_| world.spawn_empty()).collect();
                assert!(ids.iter().all(|id| id.index() < 4));
                world.verify().unwrap();
            }
        }
    }
}

#[test]
fn a_system_of_a_schedule_that_panics_leaves_nothing_of_what_it_has_spawned() {
    for limit in [None, Some(100)] {
        let builder = World::builder();
        let mut world = match limit {
            Some(limit) => builder.entity_limit(limit).build(),
            None => builder.build(),
        };
        let mut schedule = Schedule::new();
        schedule.add_systems(|mut commands: Commands<'_, '_>| {
            if commands.spawn(B(1)).index() < 9 {
                planned_panic();
            }
        });

        assert!(panics_as_planned(|| schedule.step(&mut world)));

        world.settle();
        assert!(world.is_empty(), "limit {limit:?}");
        world.verify().unwrap();
    }
}

#[test]
fn of_what_was_done_through_a_shared_world_listeners_hear_at_the_refresh_also_if_it_is_dead() {
    let (mut world, log) = (World::new(), Log::default());
    _ = world.on_add::<A>(log.hears("add"));
    _ = world.on_add::<A>(|_, entity, commands| commands.insert(entity, B(0)));
    let (a, b) = (world.spawn(()), world.spawn(()));
    world.pool_mut::<A>().insert(a, A(0)).unwrap();
    world.pool_mut::<A>().insert(b, A(0)).unwrap();
    world.despawn(a).unwrap();

    world.refresh();

    assert_eq!(log.take(), [format!("add {a}"), format!("add {b}")]);
    assert!(world.has::<B>(b) && !world.is_alive(a));
    assert_eq!(world.command_report().skipped, 1);
    world.verify().unwrap();
}

#[test]
fn a_removal_that_names_a_component_twice_is_heard_once() {
    let (mut world, log) = (World::new(), Log::default());
    _ = world.on_remove::<A>(log.hears("remove"));
    let e = world.spawn(A(0));

    world.remove::<(A, (B, A))>(e).unwrap();
    world.remove::<A>(e).unwrap();

    assert_eq!(log.take(), [format!("remove {e}")]);
}

#[test]
fn what_was_done_before_the_last_refresh_is_not_heard_by_who_listens_from_then_on() {
    let (mut world, log) = (World::new(), Log::default());
    let first = world.on_add::<A>(log.hears("first"));
    let e = world.spawn(());
    world.pool_mut::<A>().insert(e, A(0)).unwrap();
    world.disconnect(first);
    world.refresh();
    _ = world.on_add::<A>(log.hears("second"));

    world.refresh();

    assert_eq!(log.take(), [""; 0]);
}

#[test]
fn a_bundle_is_taken_whole_or_not_at_all_if_a_listener_takes_a_part_of_it_away() {
    let (mut world, ledger) = (World::new(), Ledger::new());
    _ = world.on_remove::<Dropped>(|world, entity, _| _ = world.pool_mut::<B>().remove(entity));
    let (mut lost, mut lost_b) = (world.removed::<Dropped>(), world.removed::<B>());
    let e = world.spawn((Dropped(ledger.make(0)), B(1)));

    assert!(world.take::<(Dropped, B)>(e).unwrap().is_none());

    assert!(world.has::<Dropped>(e) && !world.has::<B>(e));
    assert_eq!((ledger.living(), lost.read(&world).len(), lost_b.read(&world).len()), (1, 0, 1));
    world.verify().unwrap();
    // Nothing was left over for the next removal.
    assert!(world.take::<Dropped>(e).unwrap().is_some());
    assert_eq!(lost.read(&world).len(), 1);
    world.refresh();
    world.verify().unwrap();
}

#[test]
fn however_many_a_listener_spawns_each_is_heard_of_once_in_order() {
    // So many that a search through all of them for each would not come to an end.
    let count = if cfg!(miri) { 100 } else { 150_000 };
    let mut world = World::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = Arc::clone(&heard);
    _ = world.on_spawn(move |_, entity, _| hearing.lock().unwrap().push(entity));
    _ = world.on_add::<A>(|world, entity, commands| {
        let count = world.get::<A>(entity).unwrap().0;
        (0..count).for_each(|_| _ = commands.spawn(B(0)));
    });

    let first = world.spawn(A(count));

    let expected: Vec<_> = world.entities().collect();
    assert_eq!(expected.len(), 1 + count as usize);
    assert_eq!(expected[0], first);
    assert!(*heard.lock().unwrap() == expected);
    // The same, if they are not born.
    heard.lock().unwrap().clear();
    _ = world.on_add::<A>(|_, _, _| planned_panic());
    assert!(panics_as_planned(|| world.spawn(A(count))));
    assert_eq!(world.len(), expected.len() + 1);
    world.refresh();
    assert!(heard.lock().unwrap().len() <= 1);
    world.verify().unwrap();
}

#[test]
fn an_id_that_was_reserved_and_is_demanded_later_is_heard_of_once() {
    let (mut world, log) = (World::new(), Log::default());
    _ = world.on_spawn(log.hears("spawn"));
    let e = world.reserve_entity().unwrap();
    world.despawn(e).unwrap();
    log.take();

    world.spawn_at(e, A(0)).unwrap();
    world.refresh();

    assert_eq!(log.take(), [format!("spawn {e}")]);
}

#[test]
fn listeners_whose_scopes_have_ended_do_not_pile_up() {
    let mut world = World::new();
    let kept = Arc::new(());
    for _ in 0..1000 {
        let captured = Arc::clone(&kept);
        let connection = world.on_add::<A>(move |_, _, _| _ = &captured);
        drop(world.scope_connection(connection));
    }

    assert!(Arc::strong_count(&kept) < 50, "{}", Arc::strong_count(&kept));
}
