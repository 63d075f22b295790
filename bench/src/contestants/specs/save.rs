//! specs' `saveload`, written as binary by bincode.

use std::{convert::Infallible, fmt};

use specs::{
    Builder as _, World, WorldExt as _,
    saveload::{
        DeserializeComponents, MarkedBuilder as _, SerializeComponents, SimpleMarker,
        SimpleMarkerAllocator,
    },
};

use super::super::binary::options;
use crate::{
    components::{Position, Velocity},
    kernel,
};

/// Names the set of entities that are saved.
struct Saved;

type Mark = SimpleMarker<Saved>;

fn empty() -> World {
    let mut world = super::fresh();
    world.register::<Mark>();
    world.insert(SimpleMarkerAllocator::<Saved>::new());
    world
}

/// A world of `n` entities with two components and the mark that `saveload` asks for.
pub fn marked(n: usize) -> World {
    let mut world = empty();
    for i in 0..n {
        let builder = world.create_entity().with(kernel::position(i)).with(kernel::velocity(i));
        builder.marked::<Mark>().build();
    }
    world
}

#[inline(never)]
pub(super) fn serialize((world, bytes): &mut (World, Vec<u8>)) {
    encode(world, bytes);
}

/// Writes a world, in place of what `bytes` holds.
pub fn encode(world: &World, bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut out = bincode::Serializer::new(bytes, options());
    SerializeComponents::<Infallible, Mark>::serialize(
        &(&world.read_storage::<Position>(), &world.read_storage::<Velocity>()),
        &world.entities(),
        &world.read_storage::<Mark>(),
        &mut out,
    )
    .expect("writing to memory does not fail");
}

#[inline(never)]
pub(super) fn deserialize((bytes, world): &mut (Vec<u8>, World)) {
    *world = decode(bytes);
}

/// Reads a world.
///
/// # Panics
/// With "the bytes are our own" if they are refused.
pub fn decode(bytes: &[u8]) -> World {
    let mut world = empty();
    {
        let mut input = bincode::Deserializer::from_slice(bytes, options());
        DeserializeComponents::<Broken, Mark>::deserialize(
            &mut (world.write_storage::<Position>(), world.write_storage::<Velocity>()),
            &world.entities(),
            &mut world.write_storage::<Mark>(),
            &mut world.write_resource::<SimpleMarkerAllocator<Saved>>(),
            &mut input,
        )
        .expect("the bytes are our own");
    }
    world.maintain();
    world
}

/// What `saveload` may report; with plain components it never does.
#[derive(Debug)]
struct Broken(Infallible);

impl fmt::Display for Broken {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

impl From<Infallible> for Broken {
    fn from(never: Infallible) -> Self {
        Self(never)
    }
}
