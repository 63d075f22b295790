//! Snapshots of older programs, and of programs that know more.

use esker::snapshot::{Mirror, Snapshot, SnapshotError, SnapshotTypes, Unknown};
use esker::{Component, Entity, World};
use serde::{Deserialize, Serialize};

use crate::kinds::{Name, Position, Small, Tag};

/// The component as it was in each version of the program.
mod history {
    use super::*;

    #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug, PartialEq)]
    #[snapshot(name = "health", version = 1, clone)]
    pub struct First {
        pub points: u32,
    }

    /// A field more.
    #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug, PartialEq)]
    #[snapshot(name = "health", version = 2, clone)]
    pub struct Added {
        pub points: u32,
        pub full: u32,
    }

    /// A field less.
    #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug, PartialEq)]
    #[snapshot(name = "health", version = 3, clone)]
    pub struct Removed {
        pub full: u32,
    }

    /// A field of another type, and the component under another name.
    #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug, PartialEq)]
    #[snapshot(name = "vitality", version = 3, clone)]
    pub struct Retyped {
        pub full: String,
    }
}
use history::{Added, First, Removed, Retyped};

/// Both formats of a world.
fn saved(types: &SnapshotTypes, world: &World) -> (Vec<u8>, String) {
    let mut text = Vec::new();
    types.save().serialize(world, &mut serde_json::Serializer::new(&mut text)).unwrap();
    (types.save().to_bytes(world).unwrap(), String::from_utf8(text).unwrap())
}

fn world_of<T: Component>(values: Vec<T>) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let ids = world.spawn_columns(values).unwrap().collect();
    (world, ids)
}

/// Loads a snapshot in either format, and hands the world to `check`.
#[track_caller]
fn loads(types: &SnapshotTypes, (bytes, text): &(Vec<u8>, String), check: impl Fn(&World)) {
    let mut world = types.load().to_world(bytes).unwrap();
    world.verify().unwrap();
    check(&world);
    let mut from = serde_json::Deserializer::from_str(text);
    let mut world = types.load().deserialize(&mut from).unwrap();
    world.verify().unwrap();
    check(&world);
}

#[test]
fn each_older_version_is_read_by_its_own_function() {
    let types = SnapshotTypes::new()
        .component::<Retyped>()
        .migrate(|old: First| Retyped { full: old.points.to_string() })
        .migrate(|old: Added| Retyped { full: format!("{}/{}", old.points, old.full) })
        .migrate(|old: Removed| Retyped { full: format!("?/{}", old.full) });
    let text = |world: &World, e: Entity| world.get::<Retyped>(e).unwrap().full.clone();

    let (world, ids) = world_of(vec![First { points: 3 }, First { points: 4 }]);
    let first = saved(&SnapshotTypes::new().component::<First>(), &world);
    loads(&types, &first, |world| assert_eq!(text(world, ids[1]), "4"));
    let (world, ids) = world_of(vec![Added { points: 3, full: 9 }]);
    let added = saved(&SnapshotTypes::new().component::<Added>(), &world);
    loads(&types, &added, |world| assert_eq!(text(world, ids[0]), "3/9"));
    let (world, ids) = world_of(vec![Removed { full: 9 }]);
    let removed = saved(&SnapshotTypes::new().component::<Removed>(), &world);
    loads(&types, &removed, |world| assert_eq!(text(world, ids[0]), "?/9"));
    let (world, ids) = world_of(vec![Retyped { full: "x".into() }]);
    loads(&types, &saved(&types, &world), |world| assert_eq!(text(world, ids[0]), "x"));
}

#[test]
fn a_version_without_a_function_is_refused_with_the_remedy() {
    let (world, _) = world_of(vec![First { points: 3 }]);
    let (bytes, text) = saved(&SnapshotTypes::new().component::<First>(), &world);
    let types = SnapshotTypes::new().component::<Added>();
    let mut target = World::new();
    target.spawn(Added { points: 1, full: 1 });

    let error = types.load().replace(&mut target, &bytes).unwrap_err();
    assert!(matches!(&error, SnapshotError::Unknown { version: 1, .. }));
    let error = error.to_string();
    assert!(error.contains("`health`") && error.contains("version 1"), "{error}");
    assert!(error.contains("reads version 2") && error.contains(".migrate("), "{error}");
    let mut from = serde_json::Deserializer::from_str(&text);
    let error = types.load().deserialize_into(&mut target, &mut from).unwrap_err().to_string();
    assert!(error.contains("`health`") && error.contains(".migrate("), "{error}");
    assert_eq!(target.len(), 1);
}

/// J3 of the bugs seen elsewhere: fields changed without a new version are an error, no panic.
#[test]
fn a_layout_that_was_changed_in_secret_is_an_error() {
    #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug)]
    #[snapshot(name = "health", version = 1)]
    struct Secretly {
        points: u32,
        name: String,
    }
    #[derive(Component, Snapshot, Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
    #[snapshot(name = "health", version = 1, plain)]
    #[repr(C)]
    struct Plainly(u32);
    #[derive(Component, Snapshot, Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
    #[snapshot(name = "health", version = 1, plain)]
    #[repr(C)]
    struct Doubly([u32; 2]);
    let (world, _) = world_of(vec![First { points: 3 }]);
    let (bytes, _) = saved(&SnapshotTypes::new().component::<First>(), &world);
    for types in
        [SnapshotTypes::new().component::<Secretly>(), SnapshotTypes::new().component::<Plainly>()]
    {
        let error = types.load().to_world(&bytes).unwrap_err().to_string();
        assert!(error.contains("component `health`"), "{error}");
    }
    let (world, _) = world_of(vec![Plainly(3)]);
    let bytes = SnapshotTypes::new().component::<Plainly>().save().to_bytes(&world).unwrap();
    let doubly = SnapshotTypes::new().component::<Doubly>();
    let error = doubly.load().to_world(&bytes).unwrap_err().to_string();
    assert!(error.contains("new version") && error.contains("migration"), "{error}");
    let value = Secretly { points: 1, name: String::new() };
    assert_eq!((value.points, value.name.len()), (1, 0));
}

#[test]
fn a_component_is_read_under_its_former_name() {
    let (world, ids) = world_of(vec![Removed { full: 9 }]);
    let old = SnapshotTypes::new().component::<Removed>();
    #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug)]
    #[snapshot(name = "fitness", version = 3)]
    struct Renamed {
        full: u32,
    }
    let types = SnapshotTypes::new().component::<Renamed>().renamed::<Renamed>("health");
    loads(&types, &saved(&old, &world), |world| {
        assert_eq!(world.get::<Renamed>(ids[0]).unwrap().full, 9);
    });
}

#[test]
fn a_resource_is_migrated_too() {
    #[derive(Snapshot, Serialize, Deserialize)]
    #[snapshot(name = "score")]
    struct Old(u8);
    #[derive(Snapshot, Serialize, Deserialize)]
    #[snapshot(name = "score", version = 2)]
    struct New(u64);
    let mut world = World::new();
    world.insert_resource(Old(7));
    let types =
        SnapshotTypes::new().resource::<New>().migrate_resource(|old: Old| New(old.0.into()));
    let saved = saved(&SnapshotTypes::new().resource::<Old>(), &world);
    loads(&types, &saved, |world| assert_eq!(world.resource::<New>().0, 7));
}

#[test]
#[should_panic(expected = "the same name `health`")]
fn two_components_of_one_name_are_refused() {
    _ = SnapshotTypes::new().component::<First>().component::<Added>();
}

fn knowing() -> SnapshotTypes {
    SnapshotTypes::new().component::<Small>().component::<Name>().component::<Tag>()
}

#[test]
fn a_resource_does_not_make_a_component_known() {
    #[derive(Snapshot, Serialize, Deserialize)]
    #[snapshot(name = "Small")]
    struct Resource(u8);
    let (world, _) = world_of(vec![Small(1)]);
    let bytes = knowing().save().to_bytes(&world).unwrap();
    let error = SnapshotTypes::new().resource::<Resource>().load().to_world(&bytes).unwrap_err();
    assert!(error.to_string().contains("is not registered"), "{error}");
}

#[test]
fn what_is_unknown_is_refused_or_skipped() {
    let mut world = World::new();
    let e = world.spawn((Small(1), Name("n".into())));
    let all = saved(&knowing(), &world);
    let few = SnapshotTypes::new().component::<Small>();
    let error = few.load().to_world(&all.0).unwrap_err().to_string();
    assert!(error.contains("`name`") && error.contains("Unknown::Skip"), "{error}");

    let mut world = World::new();
    let report = few.load().unknown(Unknown::Skip).replace(&mut world, &all.0).unwrap();
    assert_eq!(report.skipped, ["name"]);
    assert!(world.get::<Small>(e).is_some() && !world.has::<Name>(e));
    let mut from = serde_json::Deserializer::from_str(&all.1);
    let mut world = World::new();
    let skip = few.load().unknown(Unknown::Skip);
    assert_eq!(skip.deserialize_into(&mut world, &mut from).unwrap().skipped, ["name"]);
    world.verify().unwrap();
}

#[test]
fn what_was_kept_comes_back_for_those_who_still_live() {
    let mut world = World::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| world.spawn((Small(1), Name(name.into()), Tag)));
    let bytes = knowing().save().to_bytes(&world).unwrap();
    let few = SnapshotTypes::new().component::<Small>();
    let mut world = World::new();
    few.load().unknown(Unknown::Keep).replace(&mut world, &bytes).unwrap();
    assert_eq!(few.save().to_bytes(&world).unwrap().len(), bytes.len());
    world.despawn(b).unwrap();
    let d = world.spawn(Small(4));
    let bytes = few.save().to_bytes(&world).unwrap();

    let mut back = knowing().load().to_world(&bytes).unwrap();
    back.verify().unwrap();
    assert_eq!(back.get::<Name>(a).unwrap().0, "a");
    assert_eq!(back.get::<Name>(c).unwrap().0, "c");
    assert!(back.has::<Tag>(c) && !back.is_alive(b) && !back.has::<Name>(d));
    // Other formats cannot take such bytes, and say so.
    let refused = few.save().serialize(&world, serde_json::value::Serializer).unwrap_err();
    assert!(refused.to_string().contains("`name`"), "{refused}");
    // A clone and a rollback have them, too.
    let small = SnapshotTypes::new().component::<Small>();
    let clone = small.clone_world(&world).unwrap();
    assert_eq!(few.save().to_bytes(&clone).unwrap(), bytes);
}

/// Plain values are kept one by one, though they came as a block.
#[test]
fn what_was_kept_of_a_block_comes_back_to_its_owners() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..20_u8).map(|n| world.spawn(Position([n.into(), 0.5]))).collect();
    let plain = SnapshotTypes::new().component::<Position>();
    let few = SnapshotTypes::new().component::<Small>();
    let mut kept = World::new();
    let bytes = plain.save().to_bytes(&world).unwrap();
    few.load().unknown(Unknown::Keep).replace(&mut kept, &bytes).unwrap();
    kept.despawn(ids[3]).unwrap();

    let back = plain.load().to_world(&few.save().to_bytes(&kept).unwrap()).unwrap();

    for (n, &id) in ids.iter().enumerate() {
        let value = back.get::<Position>(id).map(|position| position.0);
        assert_eq!(value, (n != 3).then_some([n as f32, 0.5]), "{id}");
    }
}

#[test]
fn what_was_kept_is_merged_under_the_new_ids() {
    let mut world = World::new();
    let a = world.spawn((Small(1), Name("a".into())));
    let bytes = knowing().save().to_bytes(&world).unwrap();
    let few = SnapshotTypes::new().component::<Small>();
    let keep = few.load().unknown(Unknown::Keep);
    let mut world = World::new();
    let merged = [&bytes, &bytes].map(|bytes| keep.merge(&mut world, bytes).unwrap());
    let back = knowing().load().to_world(&few.save().to_bytes(&world).unwrap()).unwrap();
    for merged in merged {
        assert_eq!(back.get::<Name>(merged.get(a).unwrap()).unwrap().0, "a");
    }
    // What has another name is something else, though all the rest is the same.
    let (tagged, ids) = world_of(vec![Tag]);
    let tagged = knowing().save().to_bytes(&tagged).unwrap();
    let merged = keep.merge(&mut world, &tagged).unwrap();
    let back = knowing().load().to_world(&few.save().to_bytes(&world).unwrap()).unwrap();
    let here = merged.get(ids[0]).unwrap();
    assert!(back.has::<Tag>(here) && !back.has::<Name>(here));
}

#[test]
fn what_a_mirror_keeps_is_the_latest_once() {
    let mut remote = World::new();
    let [a, b] = [remote.spawn(Name("a".into())), remote.spawn(Name("b".into()))];
    let few = SnapshotTypes::new().component::<Small>();
    let keep = few.load().unknown(Unknown::Keep);
    let (mut local, mut mirror) = (World::new(), Mirror::new(few.clone()));
    let send = |remote: &World| knowing().save().to_bytes(remote).unwrap();
    mirror.update_with(&keep, &mut local, &send(&remote)).unwrap();
    remote.insert(a, Name("new".into())).unwrap();
    remote.remove::<Name>(b).unwrap();
    mirror.update_with(&keep, &mut local, &send(&remote)).unwrap();

    let back = knowing().load().to_world(&few.save().to_bytes(&local).unwrap()).unwrap();
    assert_eq!(back.get::<Name>(mirror.get(a).unwrap()).unwrap().0, "new");
    assert!(!back.has::<Name>(mirror.get(b).unwrap()));
}

#[test]
fn two_versions_of_what_was_kept_can_be_saved_and_read() {
    let few = SnapshotTypes::new().component::<Small>();
    let keep = few.load().unknown(Unknown::Keep);
    let mut world = World::new();
    let (first, ids) = world_of(vec![First { points: 3 }]);
    let first = saved(&SnapshotTypes::new().component::<First>(), &first).0;
    let (added, _) = world_of(vec![Added { points: 4, full: 5 }]);
    let added = saved(&SnapshotTypes::new().component::<Added>(), &added).0;
    let one = keep.merge(&mut world, &first).unwrap().get(ids[0]).unwrap();
    let two = keep.merge(&mut world, &added).unwrap().get(ids[0]).unwrap();

    let bytes = few.save().to_bytes(&world).unwrap();
    let mut back = World::new();
    keep.replace(&mut back, &bytes).unwrap();
    assert_eq!(few.save().to_bytes(&back).unwrap(), bytes);
    assert!(back.is_alive(one) && back.is_alive(two));
}

#[test]
fn what_was_kept_and_is_also_there_as_a_component_is_an_error_when_saved() {
    let mut world = World::new();
    world.spawn((Small(1), Name("a".into())));
    let bytes = knowing().save().to_bytes(&world).unwrap();
    let few = SnapshotTypes::new().component::<Small>();
    let mut world = World::new();
    few.load().unknown(Unknown::Keep).replace(&mut world, &bytes).unwrap();
    world.spawn(Name("b".into()));

    let error = knowing().save().to_bytes(&world).unwrap_err().to_string();
    assert!(error.contains("`name`"), "{error}");
}
