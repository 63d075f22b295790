//! Snapshots in the native format, and clones.

use std::sync::LazyLock;

use ::esker::World;
use ::esker::snapshot::{Cloning, Form, Snapshot, SnapshotTypes};

use crate::components::{Position, Velocity};

static TYPES: LazyLock<SnapshotTypes> =
    LazyLock::new(|| SnapshotTypes::new().component::<Position>().component::<Velocity>());

/// By hand: the components are defined for all contestants.
macro_rules! plain {
    ($($name:ident)*) => {
        $(impl Snapshot for $name {
            const NAME: &'static str = stringify!($name);

            fn form() -> Form<Self> {
                Form::plain()
            }

            fn cloning() -> Option<Cloning<Self>> {
                Some(Cloning::clone())
            }
        })*
    };
}

plain!(Position Velocity);

#[inline(never)]
pub(super) fn serialize((world, bytes): &mut (World, Vec<u8>)) {
    encode(world, bytes);
}

/// Writes a world, in place of what `bytes` holds.
pub fn encode(world: &World, bytes: &mut Vec<u8>) {
    bytes.clear();
    TYPES.save().to_writer(world, bytes).expect("both components are registered");
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
    TYPES.load().to_world(bytes).expect("the bytes are our own")
}

#[inline(never)]
pub(super) fn copy((world, copy): &mut (World, World)) {
    *copy = twin(world);
}

/// A second world like the first.
///
/// # Panics
/// With "both components can be cloned" if one cannot.
pub fn twin(world: &World) -> World {
    TYPES.clone_world(world).expect("both components can be cloned")
}
