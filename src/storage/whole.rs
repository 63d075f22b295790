//! Whole maps: made of columns at once, copied, taken apart.

use std::cell::UnsafeCell;

use super::{EntityMap, Fill, Storage};
use crate::entity::{Entity, Spawned};
#[cfg(feature = "serde")]
use crate::sparse::Rows;
use crate::sparse::{EntityList, Foreseen, SparseSet};
use crate::tick::Tick;

/// How the values of a component are copied: many at once, into a row that is there, and one.
pub(crate) struct Copying<T> {
    pub(crate) many: fn(&[T]) -> Vec<T>,
    pub(crate) fill: Fill<T>,
    pub(crate) one: fn(&T) -> T,
}

impl<T: Clone> Copying<T> {
    /// As `Clone` says; values that are `Copy` are copied as a block.
    pub(crate) fn cloning() -> Self {
        let fill = |values: &[T], row: &mut Vec<UnsafeCell<T>>| {
            row.clear();
            row.extend(values.iter().cloned().map(UnsafeCell::new));
        };
        Self { many: <[T]>::to_vec, fill, one: T::clone }
    }
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
    pub(crate) fn try_from_columns(entities: EntityList, values: Vec<T>) -> Result<Self, Entity> {
        assert_eq!(entities.len(), values.len(), "P1");
        let set = SparseSet::try_from_list(entities)?;
        Ok(Self::of_parts(set, values))
    }

    /// Gives entities that have no value, and whose other versions have none, theirs.
    pub(crate) fn append(&mut self, entities: &Spawned, values: Vec<T>) {
        assert_eq!(entities.len(), values.len(), "P1");
        let (set, storage) = self.parts_mut();
        match storage.append(values) {
            Ok(()) => set.append(entities.newcomers()),
            Err(values) => self.append_each(entities, values),
        }
    }

    /// As `append`, one by one.
    #[inline(never)]
    fn append_each(&mut self, entities: &Spawned, values: Vec<T>) {
        for (entity, value) in entities.clone().zip(values) {
            self.insert(entity, value);
        }
    }

    /// The same map once more, ticks included.
    pub(crate) fn copy(&self, copying: Copying<T>) -> Self {
        let values = match self.contiguous() {
            Some(values) => (copying.many)(values),
            None => self.iter().map(|(_, value)| (copying.one)(value)).collect(),
        };
        let mut copy = Self::of_parts(self.set().clone(), values);
        copy_ticks(self.storage(), copy.parts_mut().1);
        copy
    }

    /// Takes the place of another map: who has read its stamp sees that it is no more.
    #[cfg(feature = "serde")]
    pub(crate) fn succeed(&mut self, other: &Self) {
        self.parts_mut().0.succeed(other.set());
    }

    /// Says which bands the set has, and who is placed there (A1).
    #[cfg(feature = "serde")]
    pub(crate) fn set_rows(&mut self, rows: Option<Rows>) {
        self.parts_mut().0.set_rows(rows);
    }

    /// Says that all values were added just now.
    pub(crate) fn renew(&mut self, now: Tick) {
        if let Some(ticks) = self.parts_mut().1.ticks_mut() {
            ticks.renew(now);
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
    pub(crate) fn bytes_for(entities: &EntityList) -> usize {
        let set = S::Map::bytes_for(entities) + size_of_val(entities.as_slice());
        set + S::bytes_for(entities.as_slice())
    }
}

pub(super) fn copy_ticks<T, S: Storage<T>>(from: &S, to: &mut S) {
    if let (Some(to), Some(from)) = (to.ticks_mut(), from.ticks()) {
        to.copy_from(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{AnyMap, Hashed, Indexed, Packed, Tracked};

    #[test]
    fn what_a_map_takes_is_foreseen_and_not_much_more() {
        fn attempt<S: Storage<u32>>() {
            // Indices, and what may be foreseen for every four bytes that are taken.
            let shapes: [(Vec<u32>, usize); 6] = [
                (vec![], 5),
                (vec![9], 5),
                ((0..50_000).collect(), 5),
                ((70_000..90_000).rev().collect(), 5),
                ((0..3000).map(|nth| nth * 100).collect(), 8),
                ((0..200).map(|nth| nth * 20_000_003).collect(), 8),
            ];
            for (indices, most) in shapes {
                let ids: Vec<Entity> =
                    indices.into_iter().map(|index| Entity::new(index, 0).unwrap()).collect();
                let mut map = EntityMap::<u32, S>::default();
                ids.iter().for_each(|&id| _ = map.insert(id, 7));
                map.shrink_to_fit();

                let foreseen = EntityMap::<u32, S>::bytes_for(&ids.into());

                // What is not moved as a block is there twice for a moment. Tables of pages and the
                // least that a vector takes are not foreseen.
                let twice = if S::CONTIGUOUS { 0 } else { map.len() * size_of::<u32>() };
                let taken = map.memory().total();
                let is_enough = foreseen + taken / 64 + 512 >= taken + twice;
                let is_near = foreseen <= taken * most / 4 + twice + 256;
                assert!(is_enough && is_near, "{foreseen} for {taken}, {} entities", map.len());
            }
        }
        attempt::<Packed<u32>>();
        attempt::<Hashed<u32>>();
        attempt::<Indexed<u32>>();
        attempt::<Tracked<Packed<u32>>>();
    }
}
