//! One pool, for reading.

#![allow(unsafe_code, reason = "looks entities up beside the guard on their pool")]

use super::pool_box::Map;
use crate::cell::Read;
use crate::component::Component;
use crate::entity::Entity;
use crate::storage::Lookup;

/// All values of a component, for reading.
///
/// Empty for a component the world does not know: reading never makes a pool. See
/// [`World::pool`](super::World::pool).
#[derive(Debug)]
pub struct Pool<'w, T: Component> {
    map: Option<Read<'w, Map<T>>>,
    /// What is read to find single entities, as long as the guard is held.
    lookup: Lookup<T>,
}

impl<'w, T: Component> Pool<'w, T> {
    #[inline]
    pub(super) fn new(map: Option<Read<'w, Map<T>>>) -> Self {
        let lookup = map.as_deref().map_or_else(Lookup::nowhere, Lookup::of);
        Self { map, lookup }
    }
}

impl<T: Component> Pool<'_, T> {
    /// The map behind it, if there is one.
    #[inline(always)]
    fn map(&self) -> Option<&Map<T>> {
        self.map.as_deref()
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.entities().len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entities, in the order of their values.
    #[inline]
    pub fn entities(&self) -> &[Entity] {
        self.map().map_or(&[], |map| map.entities())
    }

    /// The values, in the order of their entities. Needs a contiguous storage.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        self.map().map_or(&[], |map| map.as_slice())
    }

    /// Whether `entity` has the component.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.map().is_some_and(|map| map.contains(entity))
    }

    /// The component of `entity`.
    #[inline]
    pub fn get(&self, entity: Entity) -> Option<&T> {
        // Not by `map`: a debug build makes every call.
        let Some(map) = &self.map else { return None };
        // SAFETY: it was made under the guard, which is held and keeps writers out (B1).
        unsafe { self.lookup.get(map, entity) }
    }

    /// Entities and values in packed order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (Entity, &T)> {
        self.map().into_iter().flatten()
    }
}
