//! Components as a kept state has them: copies of entities and values, with nothing to look them up by.

use std::any::Any;

use super::form::Snapshot;
use crate::cell::Read;
use crate::component::Component;
use crate::entity::Entity;
use crate::storage::Columns;
use crate::world::{ComponentId, Home, Map, Return, Returning, World};

/// The values of a component in a world, to be copied.
pub(super) trait Keepable: Send + Sync {
    fn len(&self) -> usize;

    /// Copies entities and values, if they can be cloned; into the memory of `spare`, if that was of the
    /// same component.
    fn keep(&self, spare: Option<Box<dyn Kept>>) -> Option<Box<dyn Kept>>;
}

/// Entities and values of a component apart from any world, to be put back.
pub(super) trait Kept: Returning + Any + Send + Sync {
    /// Name of the component.
    fn name(&self) -> &'static str;

    /// Number of values.
    fn len(&self) -> usize;

    /// Drops values that need it, and keeps the memory.
    fn release(&mut self);
}

/// A pool that is open for reading.
pub(super) struct Original<'w, T: Component> {
    pub(super) map: Read<'w, Map<T>>,
    /// The number of the world.
    pub(super) world: u64,
}

struct Copied<T: Component> {
    columns: Columns<T, T::Storage>,
    /// Of which pool they have the same entities in the same order: the number of its world, and the
    /// stamp that it had.
    alike: Option<(u64, u64)>,
}

impl<T: Component + Snapshot> Keepable for Original<'_, T> {
    fn len(&self) -> usize {
        self.map.len()
    }

    fn keep(&self, spare: Option<Box<dyn Kept>>) -> Option<Box<dyn Kept>> {
        let copying = T::cloning()?.0;
        let spare = spare.and_then(|spare| (spare as Box<dyn Any>).downcast::<Copied<T>>().ok());
        let mut copied = spare.unwrap_or_default();
        let alike = Some((self.world, self.map.set().stamp()));
        let is_alike = copied.alike == alike;
        // Unknown as long as it is under way: a clone may unwind.
        copied.alike = None;
        copied.columns.copy_map(&self.map, copying, is_alike);
        copied.alike = alike;
        Some(copied)
    }
}

impl<T: Component> Default for Copied<T> {
    fn default() -> Self {
        Self { columns: Columns::default(), alike: None }
    }
}

impl<T: Component> Returning for Copied<T> {
    fn entities(&self) -> &[Entity] {
        self.columns.entities()
    }

    fn prepare(&mut self, world: &mut World, by: Return) -> ComponentId {
        self.columns.shift_ticks(by.later, by.now);
        world.register::<T>()
    }

    fn exchange(&mut self, by: Return, home: Home<'_>) {
        let map = home.map::<T>().expect("`prepare` has found the pool of `T`");
        let is_alike = self.alike == Some((by.world, map.set().stamp()));
        self.alike = Some((by.world, map.exchange(&mut self.columns, is_alike)));
    }
}

impl<T: Component + Snapshot> Kept for Copied<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn len(&self) -> usize {
        self.columns.entities().len()
    }

    fn release(&mut self) {
        if std::mem::needs_drop::<T>() {
            self.alike = None;
            self.columns.clear();
        }
    }
}
