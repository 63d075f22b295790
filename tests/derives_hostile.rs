//! The derives where every name that a macro could rely on means something else.
//!
//! `names` has no prelude, and its own types, traits, modules, constants and macros under the names of the standard library's,
//! the library's, and the variables that derives use. What is derived there works as it does anywhere else.

#![cfg(feature = "derive")]

#[path = "derives_hostile/names.rs"]
mod names;

use std::sync::atomic::Ordering;

use esker::prelude::*;
use esker::snapshot::SnapshotTypes;

type Tagged = names::Some;

/// An entity with all that `names::r#impl` asks for.
fn loaded() -> names::Loaded {
    names::Loaded {
        gate: names::Vec,
        parts: names::Keyed { r#const: 3, r#fn: 4 },
        writer: (names::Option, names::Err),
        row: names::Pair(names::World, names::Entity),
        r#type: names::r#type { r#fn: 5 },
        __gate: names::Ok,
    }
}

#[test]
fn components_have_all_that_their_attributes_say() {
    let mut world = World::new();
    let mut removed = world.removed::<Tagged>();
    let id = world.spawn(Tagged { number: 7, marker: std::marker::PhantomData });

    assert!(world.has::<(names::Vec, names::Box, names::Result, names::String, names::Made)>(id));
    assert_eq!(world.get::<names::r#type>(id).unwrap().r#fn, 4);
    assert_eq!(world.get::<names::Keyed<3>>(id).unwrap().r#const, 3);
    assert_eq!(names::CALLS.load(Ordering::Relaxed), 1);
    assert_eq!(world.query_filtered::<Entity, Changed<Tagged>>().single(), Ok(id));
    world.despawn(id).unwrap();
    let removals = removed.read(&world);
    let values = removals.iter().map(|gone| gone.value.as_ref().map(|value| value.number));
    assert_eq!(values.collect::<Vec<_>>(), [Some(7)]);
}

#[test]
fn bundles_go_in_and_out() {
    let mut world = World::new();
    let id = world.spawn(loaded());
    let other = world.spawn_batch([loaded(), loaded()]).next().unwrap();

    assert!(world.has::<(names::Vec, names::World, names::Ok)>(id));
    assert_eq!(world.take::<names::Loaded>(other).unwrap().unwrap().r#type.r#fn, 5);
    assert!(world.is_orphan(other));
    world.insert(other, names::Nothing).unwrap();
    assert!(world.is_orphan(other));
}

#[test]
fn queries_give_their_fields_names() {
    let mut world = World::new();
    let id = world.spawn(loaded());

    for mut item in &mut world.query::<names::r#impl>() {
        let names::implItem { entity, r#fn, ref mut view, .. } = item;
        assert_eq!(entity, id);
        view.r#fn += r#fn.r#fn;
        assert!(item.made.1.is_some() && item.__given_0.is_some() && !item.item);
    }
    let query = world.query::<names::Wide>();
    let wide = query.single().unwrap();
    assert_eq!((wide.a.view.r#fn, wide.a.fetch.is_some(), wide.q.is_none()), (9, true, true));
    drop(query);
    let none = world.query::<names::r#impl<names::Res>>();
    assert!(none.single().unwrap().fetch.is_none());
    drop(none);
    assert_eq!(world.query::<names::Ids>().single().unwrap().r#for, id);
}

#[test]
fn parameters_are_made_of_parameters() {
    let mut world = World::new();
    world.spawn(loaded());
    let mut schedule = Schedule::new();
    schedule.add_systems(|mut param: names::r#mod, few: names::Few, mut late: names::Late| {
        assert_eq!((param.world.len(), param.state.count(), few.0.len()), (1, 1, 1));
        assert!(param.see.is_none());
        *param.run += 1;
        *late.access += 1;
        param.r#fn.spawn(names::Vec);
    });
    schedule.add_systems(|other: names::r#mod<names::Res, 5>| assert_eq!(other.state.count(), 0));

    schedule.build(&mut world).unwrap();
    schedule.step(&mut world);
    assert_eq!(world.pool::<names::Vec>().len(), 2);
}

impl serde::Serialize for names::r#trait {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (self.r#fn, self.mapper.0, self.other).serialize(to)
    }
}

impl<'de> serde::Deserialize<'de> for names::r#trait {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (r#fn, mapper, other) = serde::Deserialize::deserialize(from)?;
        Ok(Self { r#fn, mapper: names::Linked(mapper), other })
    }
}

#[test]
fn snapshots_keep_values_and_map_their_ids() {
    let mut world = World::new();
    let id = world.spawn(());
    world.spawn(names::r#trait { r#fn: id, mapper: names::Linked(id), other: 6 });
    let types = SnapshotTypes::new().component::<names::r#trait>();
    let bytes = types.save().to_bytes(&world).unwrap();

    let mut other = World::new();
    other.spawn(());
    types.load().merge(&mut other, &bytes).unwrap();

    let query = other.query::<&names::r#trait>();
    let value = query.single().unwrap();
    assert!(value.r#fn != id && value.r#fn == value.mapper.0 && other.is_alive(value.r#fn));
    assert_eq!(<names::r#trait as esker::snapshot::Snapshot>::NAME, "trait");
}
