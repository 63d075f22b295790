//! Components that bring others along, and watched groups whatever fills and empties them.

#![cfg(feature = "derive")]

mod common;

use std::collections::BTreeSet;

use common::{Rng, SeedReport, panics_as_planned, planned_panic};
use esker::prelude::*;

/// Requires `Middle`, which requires `Last` and `Top` again.
#[derive(Component, Debug, Clone, PartialEq, Default)]
#[component(require(Middle = made, Last))]
struct Top(u32);

#[derive(Component, Debug, Clone, PartialEq, Default)]
#[component(storage = Hashed, require(Last = last, Top))]
struct Middle(u32);

#[derive(Component, Debug, Clone, PartialEq, Default)]
struct Last(u32);

/// What it requires cannot be made.
#[derive(Component, Debug)]
#[component(require(Never = never))]
struct Hopeless;

#[derive(Component, Debug)]
struct Never;

fn made() -> Middle {
    Middle(5)
}

fn last() -> Last {
    Last(6)
}

fn never() -> Never {
    planned_panic()
}

type Values = (Option<u32>, Option<u32>, Option<u32>);

fn values(world: &World, e: Entity) -> Values {
    let top = world.get::<Top>(e).map(|value| value.0);
    let middle = world.get::<Middle>(e).map(|value| value.0);
    (top, middle, world.get::<Last>(e).map(|value| value.0))
}

#[test]
fn a_component_brings_what_it_requires_by_every_way_in_and_keeps_what_is_there() {
    type Way = fn(&mut World) -> Entity;
    let top = (Some(1), Some(5), Some(0));
    let ways: [(Way, Values); 10] = [
        (|world| world.spawn(Top(1)), top),
        (|world| world.spawn((Top(1), Middle(2))), (Some(1), Some(2), Some(0))),
        (|world| world.spawn((Last(3), Top(1))), (Some(1), Some(5), Some(3))),
        (|world| world.spawn(Middle(2)), (Some(0), Some(2), Some(6))),
        (|world| world.spawn(Last(3)), (None, None, Some(3))),
        (|world| world.spawn_batch([Top(0), Top(1)]).last().unwrap(), top),
        (|world| world.spawn_columns(vec![Top(0), Top(1)]).unwrap().nth(1).unwrap(), top),
        (
            |world| {
                let e = world.spawn(());
                world.insert_batch([(e, Last(3))]);
                world.try_add(e, Top(1)).unwrap();
                e
            },
            (Some(1), Some(5), Some(3)),
        ),
        (
            |world| {
                let e = world.spawn(());
                world.register::<Top>();
                world.pool_mut::<Top>().insert(e, Top(1)).unwrap();
                assert_eq!(values(world, e), (Some(1), None, None), "not before the refresh");
                world.refresh();
                e
            },
            top,
        ),
        (
            |world| {
                let e = world.spawn(Top(7));
                world.remove::<(Middle, Last)>(e).unwrap();
                world.insert(e, Top(1)).unwrap();
                e
            },
            // It had it: nothing was added.
            (Some(1), None, None),
        ),
    ];
    for (nth, (way, expected)) in ways.into_iter().enumerate() {
        for is_grouped in [false, true] {
            let mut world = World::new();
            if is_grouped {
                world.group::<(Top, Middle)>().observe::<Last>().build().unwrap();
            }
            let e = way(&mut world);
            assert_eq!(values(&world, e), expected, "way {nth}");
            world.verify().unwrap();
        }
    }
}

#[test]
fn required_components_are_there_when_the_first_listener_is_called_and_are_heard_of_once() {
    let mut world = World::new();
    world.insert_resource(Vec::<&str>::new());
    fn hear(name: &'static str) -> impl esker::world::Listener {
        move |world: &World, entity: Entity, _: &mut Commands<'_, '_>| {
            assert!(world.has::<(Top, Middle, Last)>(entity));
            world.resource_mut::<Vec<&str>>().push(name);
        }
    }
    _ = world.on_add::<Last>(hear("last"));
    _ = world.on_add::<Middle>(hear("middle"));
    _ = world.on_add::<Top>(hear("top"));
    world.reactive::<Last>().added::<Last>().build();

    let e = world.spawn(Top(1));

    assert_eq!(*world.resource::<Vec<&str>>(), ["top", "middle", "last"]);
    assert_eq!(world.drain_reacted::<Last>(), [e]);
}

#[test]
fn what_cannot_be_made_leaves_a_world_that_works() {
    let mut world = World::new();
    assert!(panics_as_planned(|| world.spawn((Hopeless, Last(1)))));

    world.verify().unwrap();
    let e = world.entities().next().unwrap();
    assert!(world.has::<(Hopeless, Last)>(e) && !world.has::<Never>(e));
    world.spawn(Top(1));
    world.despawn(e).unwrap();
    world.verify().unwrap();
}

#[test]
fn what_happened_is_heard_of_with_the_next_operation_if_something_required_cannot_be_made() {
    let mut world = World::new();
    world.insert_resource(Vec::<(&str, Entity)>::new());
    fn hear(name: &'static str) -> impl esker::world::Listener {
        move |world: &World, entity: Entity, _: &mut Commands<'_, '_>| {
            world.resource_mut::<Vec<(&str, Entity)>>().push((name, entity));
        }
    }
    _ = world.on_spawn(hear("spawn"));
    _ = world.on_add::<Hopeless>(hear("hopeless"));
    _ = world.on_add::<Last>(hear("last"));
    world.reactive::<Last>().added::<Last>().build();

    assert!(panics_as_planned(|| world.spawn((Last(1), Hopeless, Top(1)))));
    let first = world.entities().next().unwrap();
    assert!(world.resource::<Vec<(&str, Entity)>>().is_empty());
    let second = world.spawn(Last(2));

    let heard = [("spawn", first), ("last", first), ("hopeless", first)];
    let heard = heard.into_iter().chain([("spawn", second), ("last", second)]);
    assert_eq!(*world.resource::<Vec<(&str, Entity)>>(), heard.collect::<Vec<_>>());
    assert_eq!(world.drain_reacted::<Last>(), [first, second]);
    // What could not be made is not tried again; what comes after it is made.
    assert!(!world.has::<Never>(first) && world.has::<(Top, Middle)>(first));
    world.verify().unwrap();
}

#[test]
fn a_watch_tells_who_has_crossed_whatever_filled_and_emptied_the_group() {
    for seed in 0..60 {
        let _report =
            SeedReport { seed, how_to_repeat: "the seed of a run in `tests/required.rs`" };
        let mut rng = Rng::new(seed);
        let mut world = World::new();
        world.insert_resource((Vec::<Entity>::new(), Vec::<Entity>::new()));
        world.spawn_batch((0..3).map(|n| (Last(n), Top(n))));
        let group = match seed % 3 {
            0 => world.group::<Top>().build().unwrap(),
            1 => world.group::<(Top, Middle)>().exclude::<Never>().build().unwrap(),
            _ => world.group::<()>().observe::<Middle>().exclude::<Never>().build().unwrap(),
        };
        // Watched late: those who are there have entered.
        assert!(world.crossings(group).is_none());
        _ = world.on_enter(group, |world: &World, e: Entity, _: &mut Commands<'_, '_>| {
            world.resource_mut::<(Vec<Entity>, Vec<Entity>)>().0.push(e);
        });
        _ = world.on_leave(group, |world: &World, e: Entity, _: &mut Commands<'_, '_>| {
            world.resource_mut::<(Vec<Entity>, Vec<Entity>)>().1.push(e);
        });
        let mut known = BTreeSet::new();
        for _ in 0..60 {
            let ids: Vec<Entity> = world.entities().collect();
            for _ in 0..rng.below(4) {
                let entity = if ids.is_empty() { common::id(9, 9) } else { rng.pick(&ids) };
                match rng.below(10) {
                    0 => drop(world.spawn_batch((0..3).map(Middle))),
                    1 => _ = world.spawn_columns((vec![Top(1)], vec![Middle(1)])).unwrap(),
                    2 => world.clear_pool::<Middle>(),
                    3 if rng.one_in(3) => world.clear(),
                    4 | 5 => _ = world.despawn(entity),
                    6 => _ = world.insert(entity, Never),
                    7 => _ = world.remove::<(Never, Middle)>(entity),
                    8 => _ = world.pool_mut::<Top>().remove(entity),
                    _ => _ = world.insert(entity, Middle(2)),
                }
            }
            world.refresh();
            world.verify().unwrap();
            let fits = |&e: &Entity| match seed % 3 {
                0 => world.has::<Top>(e),
                1 => world.has::<(Top, Middle)>(e) && !world.has::<Never>(e),
                _ => world.has::<Middle>(e) && !world.has::<Never>(e),
            };
            let now: BTreeSet<Entity> = world.entities().filter(fits).collect();
            let crossings = world.crossings(group).unwrap().clone();
            let sorted = |list: &[Entity]| list.iter().copied().collect::<BTreeSet<_>>();
            assert_eq!(sorted(&crossings.entered), &now - &known);
            assert_eq!(sorted(&crossings.left), &known - &now);
            let told = std::mem::take(&mut *world.resource_mut::<(Vec<Entity>, Vec<Entity>)>());
            assert_eq!(told, (crossings.entered, crossings.left));
            known = now;
        }
        world.ungroup(group);
        world.refresh();
        assert!(world.crossings(group).is_none() && !world.watch(group));
        assert!(
            world.on_enter(group, |_: &World, _: Entity, _: &mut Commands<'_, '_>| ()).is_none()
        );
    }
}
