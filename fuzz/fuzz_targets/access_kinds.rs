//! Components for queries by id, and calls for those of which only the number is known.

use esker::prelude::*;
use esker::world::ComponentId;

/// Kinds of components, one per storage and peculiarity.
pub const KINDS: usize = 6;

/// Declares the kinds, and what is done to a value of which only the number of its kind is known.
macro_rules! kinds {
    ($($number:literal $(#[$option:meta])* $name:ident)*) => {
        $(
            #[derive(Component, Debug)]
            $(#[$option])*
            pub struct $name(u64);
        )*

        pub fn insert(world: &mut World, entity: Entity, kind: usize, value: u64) {
            match kind {
                $($number => _ = world.insert(entity, $name(value)),)*
                _ => unreachable!(),
            }
        }

        pub fn remove(world: &mut World, entity: Entity, kind: usize) {
            match kind {
                $($number => _ = world.remove::<$name>(entity),)*
                _ => unreachable!(),
            }
        }

        pub fn value_of(any: &dyn std::any::Any, kind: usize) -> u64 {
            match kind {
                $($number => any.downcast_ref::<$name>().expect("of this type").0,)*
                _ => unreachable!(),
            }
        }

        pub fn set(any: &mut dyn std::any::Any, kind: usize, value: u64) {
            match kind {
                $($number => any.downcast_mut::<$name>().expect("of this type").0 = value,)*
                _ => unreachable!(),
            }
        }

        /// The ids of all kinds, which come to be known in this order.
        pub fn register(world: &mut World) -> [ComponentId; KINDS] {
            [$(world.register::<$name>()),*]
        }

        /// The packed order of a pool.
        pub fn packed(world: &World, kind: usize) -> Vec<Entity> {
            match kind {
                $($number => world.pool::<$name>().entities().to_vec(),)*
                _ => unreachable!(),
            }
        }
    };
}

kinds! {
    0 Packed
    1 #[component(track)] Tracked
    2 #[component(storage = Indexed)] Indexed
    3 #[component(storage = Indexed, track)] IndexedTracked
    4 #[component(storage = Hashed)] Hashed
    5 #[component(storage = Hashed, track)] HashedTracked
}
