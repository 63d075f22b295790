//! The face of a map whose component type is not known.

use std::any::{Any, type_name};

use super::{EntityMap, Storage};
use crate::entity::Entity;
use crate::tick::Tick;

/// An [`EntityMap`] of any type: what can be done without knowing the values.
///
/// Object safe. For code that walks all pools of an entity: inspectors, scripts, groups.
///
/// # Soundness
/// Safe to implement; a world has maps of its own only, and takes none.
pub trait AnyMap {
    /// The entities in packed order.
    fn entities(&self) -> &[Entity];

    /// Whether `entity` has a value.
    fn contains(&self, entity: Entity) -> bool;

    /// The position of `entity` among the entities.
    fn position(&self, entity: Entity) -> Option<usize>;

    /// The value of `entity`, to be asked for its type.
    fn value(&self, entity: Entity) -> Option<&dyn Any>;

    /// The value of `entity`, to be changed.
    fn value_mut(&mut self, entity: Entity) -> Option<&mut dyn Any>;

    /// Removes and drops the value of `entity`; `false` if it has none.
    fn discard(&mut self, entity: Entity) -> bool;

    /// Exchanges two positions.
    ///
    /// # Panics
    /// If one of them is out of bounds.
    fn swap(&mut self, a: usize, b: usize);

    /// Exchanges the position of `entity`, which has a value, with another one.
    ///
    /// # Panics
    /// If it has none, or `to` is out of bounds.
    fn bring(&mut self, entity: Entity, to: usize);

    /// Drops all values.
    fn clear(&mut self);

    /// Makes room for `additional` more values.
    fn reserve(&mut self, additional: usize);

    /// Gives back memory that serves no value.
    fn shrink_to_fit(&mut self);

    /// Sets the tick of changes from now on.
    fn set_now(&mut self, now: Tick);

    /// Full name of the value type.
    fn type_name(&self) -> &'static str;

    /// What the map occupies.
    fn memory(&self) -> MapMemory;

    /// The number of the order of its entities, which maps of the same order may share (S6); zero if it has none.
    #[doc(hidden)]
    fn order_number(&self) -> u64;

    /// Checks the invariants S1 and S2.
    fn check(&self) -> Result<(), String>;
}

/// A map in a world, which any thread may borrow.
pub(crate) type SharedMap = dyn AnyMap + Send + Sync;

/// Heap memory of a map, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MapMemory {
    /// Sparse map and packed entities.
    pub entities: usize,
    /// Values, without what they own elsewhere.
    pub values: usize,
}

impl MapMemory {
    /// Both together.
    pub fn total(self) -> usize {
        self.entities + self.values
    }
}

impl<T: 'static, S: Storage<T>> AnyMap for EntityMap<T, S> {
    fn entities(&self) -> &[Entity] {
        self.entities()
    }

    fn contains(&self, entity: Entity) -> bool {
        self.contains(entity)
    }

    fn position(&self, entity: Entity) -> Option<usize> {
        self.set().position(entity)
    }

    fn value(&self, entity: Entity) -> Option<&dyn Any> {
        self.get(entity).map(|value| value as &dyn Any)
    }

    fn value_mut(&mut self, entity: Entity) -> Option<&mut dyn Any> {
        self.get_mut(entity).map(|value| value as &mut dyn Any)
    }

    fn discard(&mut self, entity: Entity) -> bool {
        self.remove(entity).is_some()
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.swap(a, b);
    }

    fn bring(&mut self, entity: Entity, to: usize) {
        self.bring(entity, to);
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn reserve(&mut self, additional: usize) {
        self.reserve(additional);
    }

    fn shrink_to_fit(&mut self) {
        self.shrink_to_fit();
    }

    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }

    fn set_now(&mut self, now: Tick) {
        self.set_now(now);
    }

    fn memory(&self) -> MapMemory {
        MapMemory { entities: self.set().heap_bytes(), values: self.storage().heap_bytes() }
    }

    fn order_number(&self) -> u64 {
        self.set().order().get()
    }

    fn check(&self) -> Result<(), String> {
        self.set().check()?;
        self.storage().ticks().map_or(Ok(()), |ticks| ticks.check(self.len()))
    }
}
