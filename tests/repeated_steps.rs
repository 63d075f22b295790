//! Steps come out the same when they are repeated: after a load, by the old schedule or a new one.

#![cfg(all(feature = "derive", feature = "serde"))]

use esker::prelude::*;
use esker::snapshot::{Rollback, Snapshot, SnapshotError, SnapshotTypes};
use serde::{Deserialize, Serialize};

#[derive(Component, Snapshot, Serialize, Deserialize)]
struct Age(u32);
#[derive(Component, Snapshot, Serialize, Deserialize)]
struct Tag;

/// Spawns and despawns, so that ids come back.
fn age(mut all: Query<(Entity, &mut Age)>, mut commands: Commands) {
    for (id, age) in &mut all {
        age.0 += 1;
        if age.0 % 3 == 0 {
            commands.spawn(Age(0));
        }
        if age.0 > 7 {
            commands.despawn(id);
        }
    }
}

fn also(all: Query<&Age>, mut commands: Commands) {
    for age in &all {
        if age.0 == 5 {
            commands.spawn(Age(1));
        }
    }
}

fn schedule() -> Schedule {
    let mut s = Schedule::new();
    s.add_systems((age, also));
    s
}

#[test]
fn a_loaded_world_goes_on_with_a_new_schedule_as_the_old_one_does() {
    let types = SnapshotTypes::new().component::<Age>().registered_only();
    let mut world = World::new();
    world.spawn_batch((0..50).map(|i| Age(i % 4)));
    let mut old = schedule();
    for _ in 0..10 {
        old.step(&mut world);
    }
    let bytes = types.save().to_bytes(&world).unwrap();
    let mut loaded = types.load().to_world(&bytes).unwrap();
    let mut new = schedule();
    for step in 0..5 {
        old.step(&mut world);
        new.step(&mut loaded);
        assert_eq!(types.hash_world(&world).unwrap(), types.hash_world(&loaded).unwrap(), "{step}");
    }
}

#[test]
fn steps_that_are_repeated_after_a_load_come_out_the_same() {
    let types = SnapshotTypes::new().component::<Age>().registered_only();
    let mut world = World::new();
    world.spawn_batch((0..50).map(|i| Age(i % 4)));
    let mut old = schedule();
    for _ in 0..10 {
        old.step(&mut world);
    }
    let bytes = types.save().to_bytes(&world).unwrap();
    for _ in 0..5 {
        old.step(&mut world);
    }
    let first = types.hash_world(&world).unwrap();
    types.load().replace(&mut world, &bytes).unwrap();
    for _ in 0..5 {
        old.step(&mut world);
    }
    assert_eq!(types.hash_world(&world).unwrap(), first);
}

#[test]
fn grouping_a_loaded_world_keeps_the_order() {
    let types = SnapshotTypes::new().component::<Age>().component::<Tag>().registered_only();
    let mut world = World::new();
    world.group::<(Age,)>().observe::<Tag>().build().unwrap();
    let ids: Vec<_> = world.spawn_batch((0..50).map(Age)).collect();
    for id in ids.iter().rev().step_by(3) {
        world.insert(*id, Tag).unwrap();
    }
    for id in ids.iter().step_by(7) {
        world.remove::<Tag>(*id).unwrap();
    }
    let bytes = types.save().to_bytes(&world).unwrap();
    let mut loaded = types.load().to_world(&bytes).unwrap();
    assert_eq!(loaded.pool::<Age>().entities(), world.pool::<Age>().entities(), "before grouping");
    loaded.group::<(Age,)>().observe::<Tag>().build().unwrap();
    assert_eq!(loaded.pool::<Age>().entities(), world.pool::<Age>().entities(), "after grouping");
}

/// Counts what is new to it.
#[derive(Default)]
struct Seen(Vec<[usize; 2]>);

#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[component(track)]
#[snapshot(clone)]
struct Mark(u32);

fn mark(mut marks: Query<(Entity, &mut Mark)>, mut commands: Commands) {
    for (id, mut mark) in &mut marks {
        if id.index() % 2 == 0 {
            mark.0 += 1;
        }
        if mark.0 == 6 {
            commands.despawn(id);
            commands.spawn(Mark(0));
        }
    }
}

fn look(
    changed: Query<Entity, Changed<Mark>>,
    added: Query<Entity, Added<Mark>>,
    mut seen: ResMut<Seen>,
) {
    seen.0.push([changed.iter().count(), added.iter().count()]);
}

#[test]
fn what_was_new_to_a_system_is_new_to_it_again_after_going_back() {
    let types = SnapshotTypes::new().component::<Mark>().ignore_resource::<Seen>();
    let mut world = World::new();
    world.insert_resource(Seen::default());
    world.spawn_batch((0..40).map(|nth| Mark(nth % 5)));
    let mut schedule = Schedule::new();
    schedule.add_systems((mark, look));
    let mut past = Rollback::new(types.clone(), 10);
    for _ in 0..8 {
        past.keep(&world).unwrap();
        schedule.step(&mut world);
    }
    let hash = types.hash_world(&world).unwrap();
    let seen: Vec<_> = world.resource_mut::<Seen>().0.split_off(3);
    assert!(seen.iter().any(|[_, added]| *added > 0) && seen.iter().any(|[all, _]| *all < 40));

    // The second time from the same state, which `back` has kept.
    for (steps, takes) in [(4, false), (0, true)] {
        match takes {
            true => past.take_back(&mut world, steps).unwrap(),
            false => past.back(&mut world, steps).unwrap(),
        }
        world.verify().unwrap();
        world.resource_mut::<Seen>().0.clear();
        for _ in 0..5 {
            schedule.step(&mut world);
        }

        assert_eq!(world.resource::<Seen>().0, seen);
        assert_eq!(types.hash_world(&world).unwrap(), hash);
    }
}

#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
struct Body(u32);

/// In no snapshot.
#[derive(Component)]
struct Paint;

#[test]
fn groups_are_right_after_going_back_whatever_they_depend_on() {
    for (is_owned, ignores_owned) in [(true, false), (true, true), (false, false)] {
        let mut world = World::new();
        let builder = world.group::<(Body, Mark)>();
        match is_owned {
            true => builder.observe::<Paint>().build().unwrap(),
            false => world.group::<()>().observe::<(Body, Mark, Paint)>().build().unwrap(),
        };
        let ids: Vec<_> = world.spawn_batch((0..30).map(|nth| (Body(nth), Mark(nth)))).collect();
        for id in ids.iter().step_by(2) {
            world.insert(*id, Paint).unwrap();
        }
        let types = SnapshotTypes::new().component::<Body>().ignore::<Paint>();
        let types = if ignores_owned { types.ignore::<Mark>() } else { types.component::<Mark>() };
        let mut past = Rollback::new(types.clone(), 2);
        past.keep(&world).unwrap();
        world.despawn(ids[4]).unwrap();

        past.back(&mut world, 0).unwrap();
        world.verify().unwrap();
        assert_eq!(
            world.query::<(&Body, &Mark)>().iter().count(),
            if ignores_owned { 0 } else { 30 }
        );
        types.clone_world(&world).unwrap().verify().unwrap();
    }
}

#[test]
fn a_delta_does_not_reach_behind_the_moment_of_going_back() {
    let types = SnapshotTypes::new().component::<Mark>();
    let mut world = World::new();
    types.keep_departures(&mut world, 100);
    let id = world.spawn(Mark(1));
    let mut past = Rollback::new(types.clone(), 2);
    past.keep(&world).unwrap();
    let sent = world.advance_tick();
    world.despawn(id).unwrap();
    assert!(types.delta(&world, sent).is_ok());

    past.back(&mut world, 0).unwrap();

    let error = types.delta(&world, sent).unwrap_err();
    assert!(matches!(error, SnapshotError::TooOld { .. }), "{error}");
    let now = world.advance_tick();
    assert!(types.delta(&world, now).is_ok());
}

#[test]
fn components_that_are_registered_later_are_listened_to_once() {
    let mut world = World::new();
    world.register::<Mark>();
    SnapshotTypes::new().keep_departures(&mut world, 100);
    let types = SnapshotTypes::new().component::<Mark>();
    types.keep_departures(&mut world, 100);
    types.keep_departures(&mut world, 100);
    let id = world.spawn(Mark(1));
    let mut twin = types.clone_world(&world).unwrap();
    let sent = world.advance_tick();

    world.remove::<Mark>(id).unwrap();
    types.apply(&mut twin, &types.delta(&world, sent).unwrap()).unwrap();

    assert!(twin.is_alive(id) && !twin.has::<Mark>(id));
}
