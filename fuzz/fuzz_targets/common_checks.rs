//! What must hold after any input.

use esker::World;
use esker::snapshot::Unknown;

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
pub fn check(mut world: World, before: Vec<u8>, is_done: bool, seed: u8) {
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
    let saved = bytes(&world);
    let types = types();
    let loader = types.load().memory_limit(usize::MAX).unknown(Unknown::Keep);
    assert_eq!(bytes(&loader.to_world(&saved).unwrap()), saved);
}
