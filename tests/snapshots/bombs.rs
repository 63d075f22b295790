//! J9 of the bugs seen elsewhere: few bytes that ask for much memory.

use std::collections::BTreeMap;

use bytemuck::{Pod, Zeroable};
use esker::Component;
use esker::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use crate::kinds::{Mark, Small, Stable};
use crate::*;

/// Little in bytes, much in memory.
#[derive(Component, Snapshot, Serialize, Deserialize, Debug)]
struct Sparse(Vec<Option<[u64; 4]>>);

/// Itself inside itself.
#[derive(Component, Snapshot, Serialize, Deserialize, Debug)]
struct Tree {
    branches: Vec<Tree>,
}

#[derive(Component, Snapshot, Serialize, Deserialize, Debug)]
struct Book(BTreeMap<u8, Vec<String>>);

fn all() -> SnapshotTypes {
    types().component::<Sparse>().component::<Tree>().component::<Book>()
}

/// A snapshot of one world with one component, to be made worse.
fn simple(spawn: impl FnOnce(&mut World)) -> Parts {
    let mut world = World::new();
    spawn(&mut world);
    Parts::read(&all().save().to_bytes(&world).unwrap())
}

/// An attack on a world with all types, which must not succeed.
#[track_caller]
fn refused(parts: &Parts) {
    let hostile = parts.write();
    for rule in [Unknown::Refuse, Unknown::Skip, Unknown::Keep] {
        let (types, mut target) = (all(), Target::new());
        assert!(!target.attack(&types.load().unknown(rule), &hostile));
    }
}

/// An attack that may succeed, within the limits.
#[track_caller]
fn bounded(parts: &Parts) {
    let hostile = parts.write();
    for rule in [Unknown::Refuse, Unknown::Skip, Unknown::Keep] {
        let types = all();
        let loader = types.load().unknown(rule);
        let mut world = World::new();
        let (outcome, peak) = peak_of(|| loader.replace(&mut world, &hostile).is_ok());
        let allowed = 4 * hostile.len() + (1 << 20);
        assert!(peak <= allowed, "{peak} bytes for {}, of {allowed}: {outcome}", hostile.len());
    }
}

/// The first component has this one value, of the first entity.
fn set_value(parts: &mut Parts, value: &[u8]) {
    let column = &mut parts.columns[0];
    column.values = (value.len() as u32).to_le_bytes().to_vec();
    column.values.extend(value);
    column.length = column.values.len() as u64;
}

#[test]
fn a_large_schema_takes_no_more_than_its_bytes() {
    let mut parts = simple(|_| ());
    for n in 0..150_000_u32 {
        let name = n.to_le_bytes()[..3].iter().map(|byte| byte & 0x7F).collect();
        parts.schema.push(bits::Entry { what: 0, name, version: n, form: 0, size: 0 });
    }
    parts.schema_count = parts.schema.len() as u32;
    refused(&parts);
}

#[test]
fn many_demanded_ids_that_nobody_demanded_are_refused_in_time() {
    let mut parts = simple(|_| ());
    parts.demanded = (0..300_000).map(|index| (index, 0, 0, 0)).collect();
    parts.demanded_count = parts.demanded.len() as u64;
    refused(&parts);
}

#[test]
fn many_far_ids_take_no_more_than_is_allowed() {
    let mut parts = simple(|_| ());
    parts.far = (0..100_000_u32).map(|n| (n * 20_011, u64::from(n * 20_011))).collect();
    parts.far_count = parts.far.len() as u64;
    refused(&parts);
}

#[test]
fn many_entities_without_anything_are_just_that() {
    let parts = simple(|world| _ = world.spawn_empty_batch(300_000).unwrap());
    bounded(&parts);
}

#[test]
fn many_values_of_one_byte_or_none_stay_within_the_limit() {
    let small = simple(|world| _ = world.spawn_columns(vec![Small(1); 200_000]).unwrap());
    bounded(&small);
    let none = simple(|world| _ = world.spawn_columns(vec![Mark; 200_000]).unwrap());
    bounded(&none);
    let tags = simple(|world| _ = world.spawn_columns(vec![kinds::Tag; 200_000]).unwrap());
    bounded(&tags);
    let lists = simple(|world| {
        let empty: Vec<Stable> = (0..100_000).map(|_| Stable(vec![])).collect();
        world.spawn_columns(empty).unwrap();
    });
    bounded(&lists);
}

#[test]
fn unknown_components_are_kept_within_the_limit() {
    for mut parts in [
        simple(|world| _ = world.spawn_columns(vec![Mark; 200_000]).unwrap()),
        simple(|world| _ = world.spawn_columns(vec![kinds::Tag; 200_000]).unwrap()),
        simple(|world| _ = world.spawn_columns(vec![Small(1); 200_000]).unwrap()),
    ] {
        parts.schema[0].name = b"unknown".to_vec();
        bounded(&parts);
    }
}

#[test]
fn lists_that_say_little_do_not_take_much() {
    let mut parts = simple(|world| _ = world.spawn(Sparse(vec![])));
    let mut value = 200_000_u64.to_le_bytes().to_vec();
    value.resize(8 + 200_000, 0);
    set_value(&mut parts, &value);
    bounded(&parts);
}

#[test]
fn lengths_inside_each_other_do_not_add_up() {
    let mut parts = simple(|world| _ = world.spawn(Tree { branches: vec![] }));
    let mut value = Vec::new();
    let size = 60_000_usize;
    while value.len() < size {
        value.extend(((size - value.len() - 8) as u64).to_le_bytes());
    }
    set_value(&mut parts, &value);
    bounded(&parts);
    let mut parts = simple(|world| _ = world.spawn(Book(BTreeMap::new())));
    let mut value = 50_000_u64.to_le_bytes().to_vec();
    value.push(0);
    value.extend(49_000_u64.to_le_bytes());
    value.resize(60_000, 0);
    set_value(&mut parts, &value);
    bounded(&parts);
}

#[test]
fn deep_nesting_is_an_error() {
    let mut parts = simple(|world| _ = world.spawn(Tree { branches: vec![] }));
    let mut value = Vec::new();
    for _ in 0..100_000 {
        value.extend(1_u64.to_le_bytes());
    }
    value.extend(0_u64.to_le_bytes());
    set_value(&mut parts, &value);
    refused(&parts);
    let open = r#"{"branches":["#.repeat(100_000);
    let text = format!(
        r#"{{"format":1,"entities":{{"chosen":{{"ids":[0]}}}},"components":[{{"name":"Tree","version":1,"entities":["0v0"],"values":[{open}"#
    );
    let mut world = World::new();
    let mut from = serde_json::Deserializer::from_str(&text);
    assert!(all().load().deserialize_into(&mut world, &mut from).is_err());
}

#[test]
fn empty_objects_and_spaces_are_no_snapshot() {
    for text in [" ".repeat(1 << 20), "{}".repeat(1 << 18), format!("[{}", "{},".repeat(1 << 18))] {
        let mut world = World::new();
        let mut from = serde_json::Deserializer::from_str(&text);
        let load = || all().load().deserialize_into(&mut world, &mut from).is_err();
        let (is_refused, peak) = peak_of(load);
        assert!(is_refused && peak < 1 << 20, "{peak}");
    }
}

#[test]
fn a_newer_format_is_named_and_not_parsed() {
    let mut parts = simple(|_| ());
    parts.format = 7;
    let error = all().load().to_world(&parts.write()).unwrap_err().to_string();
    assert!(error.contains("unsupported format 7"), "{error}");
    parts.format = 1;
    parts.magic[6..].reverse();
    let error = all().load().to_world(&parts.write()).unwrap_err().to_string();
    assert!(error.contains("byte order"), "{error}");
    assert!(all().load().to_world(b"hello").unwrap_err().to_string().contains("at byte 0"));
}

/// Plain values as they were once, and what becomes of them.
#[derive(Component, Snapshot, Clone, Copy, Pod, Zeroable)]
#[snapshot(name = "weight", plain)]
#[repr(C)]
struct Heavy([u64; 8]);

#[derive(Component, Snapshot, Clone, Copy, Pod, Zeroable)]
#[snapshot(name = "weight", version = 2, plain)]
#[repr(C)]
struct Light(u64);

/// What is foreseen is about what is taken, whatever a world is made of: the least limit with which it
/// can be loaded is not exceeded, and not much higher than need be.
#[test]
fn no_limit_is_exceeded_and_none_has_to_be_much_too_high() {
    const COUNT: u32 = 8000;
    let old = SnapshotTypes::new().component::<Heavy>();
    let new = SnapshotTypes::new().component::<Light>();
    let new = new.migrate(|heavy: Heavy| Light(heavy.0[0]));
    let world = |fill: &dyn Fn(&mut World)| {
        let mut world = World::new();
        fill(&mut world);
        world
    };
    let each =
        |one: &dyn Fn(&mut World, u32)| world(&|world| (0..COUNT).for_each(|n| one(world, n)));
    let worlds = [
        ("nothing", each(&|world, _| _ = world.spawn(()))),
        ("packed", each(&|world, n| _ = world.spawn(kinds::Position([n as f32; 2])))),
        ("tracked", each(&|world, n| _ = world.spawn(kinds::Velocity([n; 4])))),
        ("indexed", each(&|world, n| _ = world.spawn(kinds::Wide([n.into(); 4])))),
        ("hashed", each(&|world, n| _ = world.spawn(kinds::Rare(n.into())))),
        ("small", each(&|world, n| _ = world.spawn((Small(n as u8), Mark, kinds::Tag)))),
        ("lists", each(&|world, n| _ = world.spawn(Stable(vec![Some(n as u16); 9])))),
        ("apart", each(&|world, n| world.spawn_at(common::id(n * 3, 1), Small(1)).unwrap())),
        (
            "far",
            world(&|world| {
                let ids = (0..60).map(|n| common::id(n * 1_000_003, 0));
                ids.for_each(|id| world.spawn_at(id, (Small(1), kinds::Wide([1; 4]))).unwrap());
            }),
        ),
        ("older", each(&|world, n| _ = world.spawn(Heavy([n.into(); 8])))),
    ];
    for (what, world) in worlds {
        let (writer, reader) = if what == "older" { (&old, &new) } else { (&types(), &types()) };
        for saved in [
            writer.save().to_bytes(&world).unwrap(),
            writer.save().only_entities(|_| true).to_bytes(&world).unwrap(),
        ] {
            let attempt = |limit: usize| {
                let loader = reader.load().memory_limit(limit);
                peak_of(|| loader.to_world(&saved).is_ok())
            };
            let (mut refused, mut enough) = (0, 4 * attempt(usize::MAX).1);
            while enough - refused > enough / 64 {
                let limit = (refused + enough) / 2;
                match attempt(limit).0 {
                    true => enough = limit,
                    false => refused = limit,
                }
            }

            let (is_loaded, peak) = attempt(enough);

            assert!(is_loaded);
            let said = format!("{what}: {peak} bytes with a limit of {enough}");
            assert!(peak <= enough + enough / 12 + 6000, "{said}");
            assert!(enough <= peak + peak * 2 / 5 + 6000, "{said}");
        }
    }
}

#[test]
fn a_limit_that_is_raised_lets_large_things_in() {
    let parts = simple(|world| _ = world.spawn_at(common::id(4_000_000_000, 0), Stable(vec![])));
    let whole = parts.write();
    let mut far = World::new();
    for n in 0..2000 {
        far.spawn_at(common::id(n * 1_000_003, 0), Small(1)).unwrap();
    }
    let hostile = all().save().to_bytes(&far).unwrap();
    let refused = all().load().to_world(&hostile);
    assert!(matches!(refused, Err(SnapshotError::TooLarge { .. })), "{refused:?}");
    assert_eq!(all().load().memory_limit(1 << 30).to_world(&hostile).unwrap().len(), 2000);
    // A document says how many ids it has, and not how many bytes.
    let types = all();
    let saver = types.save().only_entities(|_| true);
    let mut text = Vec::new();
    saver.serialize(&far, &mut serde_json::Serializer::new(&mut text)).unwrap();
    let mut from = serde_json::Deserializer::from_slice(&text);
    let refused = types.load().deserialize(&mut from).unwrap_err().to_string();
    assert!(refused.contains("loading would take about"), "{refused}");
    assert!(all().load().memory_limit(100).to_world(&whole).is_err());
}
