//! Whole maps: made of columns at once, copied, taken apart.

use super::{EntityMap, Storage};
use crate::entity::Entity;
use crate::sparse::{Foreseen, SparseSet};
use crate::tick::Tick;

/// How the values of a component are copied: many at once, and one.
pub(crate) struct Copying<T> {
    pub(crate) many: fn(&[T]) -> Vec<T>,
    pub(crate) one: fn(&T) -> T,
}

impl<T> Clone for Copying<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Copying<T> {}

impl<T, S: Storage<T>> EntityMap<T, S> {
    /// The map of these entities and their values, in this order.
    ///
    /// # Errors
    /// An entity whose index occurs twice.
    ///
    /// # Panics
    /// If there are not as many values as entities.
    pub(crate) fn try_from_columns(entities: Vec<Entity>, values: Vec<T>) -> Result<Self, Entity> {
        assert_eq!(entities.len(), values.len(), "P1");
        let set = SparseSet::try_from_vec(entities)?;
        Ok(Self::of_parts(set, values))
    }

    /// The same map once more, ticks included.
    pub(crate) fn copy(&self, copying: Copying<T>) -> Self {
        let values = match self.contiguous() {
            Some(values) => (copying.many)(values),
            None => self.iter().map(|(_, value)| (copying.one)(value)).collect(),
        };
        let mut copy = Self::of_parts(self.set().clone(), values);
        if let Some(ticks) = self.storage().ticks() {
            copy.put_ticks(ticks.copy());
        }
        copy
    }

    /// Says that all values were added just now.
    pub(crate) fn renew(&mut self, now: Tick) {
        let ticks = self.storage().ticks().map(|ticks| ticks.renewed(now));
        if let Some(ticks) = ticks {
            self.put_ticks(ticks);
        }
    }

    /// Says that all additions and changes were so much later.
    pub(crate) fn shift_ticks(&mut self, by: u64, latest: Tick) {
        let ticks = self.storage().ticks().map(|ticks| ticks.shifted(by, latest));
        if let Some(ticks) = ticks {
            self.put_ticks(ticks);
        }
    }

    /// Entities and values, in packed order.
    pub(crate) fn into_pairs(mut self) -> Vec<(Entity, T)> {
        let mut pairs = Vec::with_capacity(self.len());
        while let Some(&last) = self.entities().last() {
            pairs.extend(self.remove(last).map(|value| (last, value)));
        }
        pairs.reverse();
        pairs
    }

    /// What the map of these entities would take on the heap, about; what its values own not counted.
    pub(crate) fn bytes_for(entities: &[Entity]) -> usize {
        let set = S::Map::bytes_for(entities) + size_of_val(entities);
        set + S::bytes_for(entities)
    }
}
