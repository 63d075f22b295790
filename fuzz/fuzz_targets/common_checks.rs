//! What must hold after any input.

use esker::World;
use esker::snapshot::{SnapshotError, Unknown};

use crate::common::Rng;
use crate::kinds::{bytes, change, eventful, types};

/// A world with a few entities, and its bytes.
pub fn target() -> (World, Vec<u8>) {
    let mut world = eventful(4, 10);
    world.settle();
    let before = bytes(&world);
    (world, before)
}

/// The world is as it was if loading failed, and else sound and usable.
///
/// `kept` names the components that came in a version that nobody knows. Values of such a name that
/// the world gets by itself cannot be saved beside bytes that were kept.
pub fn check(mut world: World, before: Vec<u8>, is_done: bool, seed: u8, kept: &[String]) {
    if !is_done {
        assert_eq!(bytes(&world), before);
        return;
    }
    world.verify().unwrap();
    let mut rng = Rng::new(seed.into());
    for _ in 0..30 {
        change(&mut world, &mut rng);
    }
    world.verify().unwrap();
    let saved = match types().save().to_bytes(&world) {
        Err(SnapshotError::Unwritable { name, why })
            if kept.contains(&name) && why.contains("kept as bytes when they were loaded") =>
        {
            return;
        }
        saved => saved.unwrap(),
    };
    let types = types();
    let loader = types.load().memory_limit(usize::MAX).unknown(Unknown::Keep);
    assert_eq!(bytes(&loader.to_world(&saved).unwrap()), saved);
    // And as a document, unless there are bytes that only the native format can keep.
    let mut text = Vec::new();
    let written = types.save().serialize(&world, &mut serde_json::Serializer::new(&mut text));
    match written {
        Ok(()) => {
            let mut from = serde_json::Deserializer::from_slice(&text);
            assert_eq!(bytes(&loader.deserialize(&mut from).unwrap()), saved);
        }
        Err(error) => assert!(error.to_string().contains("kept as bytes"), "{error}"),
    }
}
