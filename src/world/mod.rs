//! The world: entities, pools, resources, and the gate between them.
//!
//! [`World`] is one type for users and several files here, one idea each: `lifecycle` (entities
//! come and go), `components` and `components_batch` (values come and go), `gate` (the one way in and out of a pool),
//! `pool`, `pool_open`, `pool_read` and `locked` (one pool at a time), `resource`, `entity_ref`, `report`, `verify`. Upper
//! modules add their own `impl World` blocks.

mod batch;
mod builder;
mod bundle;
mod care;
mod clock;
mod codes;
mod columns;
mod components;
mod components_batch;
mod despawn_batch;
mod entity_ref;
mod funeral;
mod gate;
mod group_order;
mod grouping;
mod holding;
mod homes;
mod lease;
mod lifecycle;
mod locked;
mod order;
mod pool;
mod pool_box;
mod pool_error;
mod pool_journal;
mod pool_open;
mod pool_read;
mod pools;
mod react;
mod remains;
mod report;
mod resource;
mod spawn_batch;
#[cfg(feature = "serde")]
mod state;
mod tag;
mod verify;
mod word;

pub use batch::{BatchGate, BundleWriter, PoolWriter, Row, Rows};
pub use builder::WorldBuilder;
pub use bundle::{Bundle, ComponentVisitor};
pub use columns::{ColumnGate, Columns, ColumnsError};
pub use components::{BorrowConflict, ComponentError};
pub use entity_ref::{EntityMut, EntityRef};
pub use gate::Gate;
pub use grouping::{GroupBuilder, GroupConflict, GroupId, OwnedByGroup};
pub use locked::Locked;
pub use pool::PoolMut;
pub use pool_error::PoolError;
pub use pool_read::Pool;

pub use react::{
    CommandReport, Commands, Connection, Crossings, Extras, Hook, Listener, MessageBatch,
    MessageCursor, MessageWriter, Messages, Provider, ReactiveBuilder, ReactiveKey, Removal,
    Removals, RemovedCursor, RemovedKey, ScopedConnection, SkippedCommand,
};
pub use report::{JournalMemory, MemoryReport, PoolMemory};
pub use resource::{Res, ResMut, ResourceError};
pub use spawn_batch::SpawnBatch;
pub use tag::ComponentId;
pub use verify::Violation;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::component::Component;
use crate::entity::{Entities, Entity};
pub(crate) use homes::LooseRows;
#[cfg(feature = "serde")]
pub(crate) use homes::{Homes, Sorted};
#[cfg(feature = "serde")]
pub(crate) use pool_box::Map;
use pool_box::PoolBox;
use pools::Pools;
use react::React;
pub(crate) use react::{Branch, Queue};
use resource::Resources;
#[cfg(feature = "serde")]
pub(crate) use state::{GroupRecord, Home, Incoming, Return, Returning};

/// Everything a program keeps in Esker: entities, their components, and resources.
///
/// Structure changes through `&mut World`. Through `&World` components can be read and written
/// under guards, from any thread: two borrows that exclude each other are a panic that names
/// the component, and an error from the `try_` methods, never undefined behaviour.
///
/// A dead or foreign entity is never a panic: methods answer `Err`, `None` or `false`.
///
/// # Examples
/// ```
/// # use esker::{Component, World};
/// #[derive(Component)]
/// struct Health(u32);
///
/// let mut world = World::new();
/// let hero = world.spawn(Health(10));
/// world.get_mut::<Health>(hero).unwrap().0 -= 3;
/// assert_eq!(world.get::<Health>(hero).unwrap().0, 7);
///
/// world.despawn(hero).unwrap();
/// assert!(world.get::<Health>(hero).is_none());
/// ```
#[doc(alias = "registry")]
#[doc(alias = "context")]
#[derive(Debug, Default)]
pub struct World {
    entities: Entities,
    // Declared before the resources, and so dropped before them: the drop of a component may
    // still use what a resource keeps alive.
    pools: Pools,
    resources: Resources,
    react: React,
    number: WorldNumber,
}

/// Tells worlds apart, for those who keep something that belongs to one.
#[derive(Debug)]
struct WorldNumber(u64);

impl Default for WorldNumber {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl World {
    /// A number that no other world of the process has.
    pub(crate) fn number(&self) -> u64 {
        self.number.0
    }

    /// An empty world.
    pub fn new() -> Self {
        Self::default()
    }

    /// The pool of `T`, if the world knows it.
    #[inline]
    pub(crate) fn pool_box<T: Component>(&self) -> Option<&PoolBox<T>> {
        self.pools.get::<T>()
    }

    /// The signature of a living entity.
    #[inline]
    pub(crate) fn living_signature(&self, entity: Entity) -> Option<u64> {
        self.entities.word(entity).map(|word| word.load(Ordering::Relaxed))
    }

    /// The signature of an entity; nothing is set in that of a dead one.
    #[inline]
    pub(crate) fn signature(&self, entity: Entity) -> u64 {
        self.living_signature(entity).unwrap_or(0)
    }

    /// An empty world with a range or a limit of ids.
    pub fn builder() -> WorldBuilder {
        WorldBuilder::default()
    }
}
