//! Books of ids that were forged: the same ones in every format, and used after they are loaded.

use std::iter;

use esker::Entity;
use serde_json::json;

use crate::kinds::{Name, Rare, batch_that_promises};
use crate::*;

/// A snapshot in both formats, whose books can be changed together.
struct Twins {
    native: Parts,
    document: String,
}

impl Twins {
    fn of(world: &World) -> Self {
        Self { native: Parts::read(&bytes(world)), document: json(world) }
    }

    /// Puts the book of the native snapshot into the document.
    fn align(&mut self) {
        let Parts { book, slots, far, demanded, habits, .. } = &mut self.native;
        let threaded = |&(index, is_threaded, link, floor): &(u32, u8, u32, u32)| {
            (index, (is_threaded == 1).then_some(link), floor)
        };
        let whole = json!({
            "range": [book[0], book[1]],
            "fixed": book[2] == 1,
            "last_version": book[3],
            "free": book[4],
            "slots": slots,
            "far": far,
            "demanded": demanded.iter().map(threaded).collect::<Vec<_>>(),
            "habits": habits,
        });
        let (format, rest) = self.document.split_once("\"entities\":").unwrap();
        let components = rest.split_once(",\"components\":").unwrap().1;
        let book = json!({ "whole": whole });
        self.document = format!("{format}\"entities\":{book},\"components\":{components}");
    }

    /// Changes both books, and loads each; both are refused, or both are worlds.
    #[track_caller]
    fn load(&mut self) -> Option<[World; 2]> {
        self.align();
        let types = types();
        let loader = types.load().memory_limit(usize::MAX);
        let native = loader.to_world(&self.native.write());
        let document = loader.deserialize(&mut serde_json::Deserializer::from_str(&self.document));
        match (native, document) {
            (Ok(native), Ok(document)) => Some([native, document]),
            (Err(_), Err(_)) => None,
            (native, document) => panic!("{:?}, {:?}", native.err(), document.err()),
        }
    }
}

/// Forty living entities, of which most have a name.
fn crowd() -> World {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_empty_batch(41).unwrap().collect();
    for &id in ids.iter().filter(|id| ![0, 1, 5, 10].contains(&id.index())) {
        world.insert(id, Name(format!("a long name of {id}"))).unwrap();
    }
    world
}

/// What a free slot says: the version that comes next, and the number of the next free slot.
fn free_slot(version: u64, next: u64) -> u64 {
    version << 32 | next
}

// Defects 02 and 36: the slot was taken for one that was made a moment ago, and everything behind it was cut off.
#[test]
fn a_free_slot_of_the_first_version_is_refused_in_every_format() {
    for (last, link) in [(1, 2), (10, 11)] {
        let mut twins = Twins::of(&crowd());
        let slots = &mut twins.native.slots;
        (slots[0], slots[5], slots[last]) = (free_slot(1, 6), free_slot(0, link), free_slot(1, 0));
        twins.native.book[4] = 1;

        if let Some(worlds) = twins.load() {
            for mut world in worlds {
                batch_that_promises(&mut world, 2, iter::once(Rare(9)));
                world.verify().unwrap();
                world.spawn(Rare(1));
                world.verify().unwrap();
            }
            panic!("it was accepted");
        }
        // The same list without the forged slot is an ordinary one.
        twins.native.slots[5] = free_slot(1, link);
        for mut world in twins.load().unwrap() {
            use_it(&mut world, 1, &[]);
        }
    }
}

/// Bytes that are kept are written again, and must be read when their type is known.
#[test]
fn a_component_that_nobody_knows_is_kept_only_if_each_entity_has_it_once() {
    let mut world = World::new();
    world.spawn_batch((0..3).map(Rare));
    let mut parts = Parts::read(&bytes(&world));
    parts.schema[0].name = b"strange".to_vec();
    let types = types();
    let keeping = types.load().unknown(Unknown::Keep);
    let saved = |world: &World| types.save().to_bytes(world).unwrap();
    assert_eq!(saved(&keeping.to_world(&parts.write()).unwrap()), parts.write());

    parts.columns[0].ids[0] = parts.columns[0].ids[2];

    let error = keeping.to_world(&parts.write()).unwrap_err().to_string();
    assert!(error.contains("`strange`") && error.contains("index 2 occurs twice"), "{error}");
    types.load().unknown(Unknown::Skip).to_world(&parts.write()).unwrap();
}

#[test]
fn a_book_that_one_format_refuses_is_refused_by_the_others() {
    for_seeds(inputs(), |seed| {
        let mut rng = Rng::new(seed);
        let mut world = eventful(rng.below(10) as u64, 60);
        world.settle();
        let mut twins = Twins::of(&world);
        for _ in 0..1 + rng.below(3) {
            twins.native.lie_about_book(&mut rng);
        }
        for mut world in twins.load().into_iter().flatten() {
            use_it(&mut world, seed, &[]);
        }
    });
}
