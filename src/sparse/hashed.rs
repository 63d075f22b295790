//! A sparse map for few entities with scattered indices.

use rustc_hash::FxHashMap;

use super::map::Sealed;
use super::{Slot, SparseMap};
use crate::entity::Entity;

/// A hash map of slots: a few dozen bytes per entity wherever its index lies.
#[derive(Debug, Default, Clone)]
pub struct HashedMap {
    slots: FxHashMap<u32, Slot>,
}

impl Sealed for HashedMap {}

impl SparseMap for HashedMap {
    type View<'a> = &'a Self;

    #[inline]
    fn view(&self) -> &Self {
        self
    }

    #[inline]
    fn get_in(view: &Self, index: u32) -> Slot {
        view.get(index)
    }

    #[inline]
    fn get(&self, index: u32) -> Slot {
        self.slots.get(&index).copied().unwrap_or(Slot::VACANT)
    }

    #[inline]
    fn slot_mut(&mut self, index: u32, _: usize) -> &mut Slot {
        self.slots.entry(index).or_insert(Slot::VACANT)
    }

    #[inline(always)]
    fn reset(&mut self, index: u32, slot: Slot) {
        self.slots.insert(index, slot);
    }

    #[inline(always)]
    fn row(&mut self) -> (u32, &mut [Slot]) {
        (0, &mut [])
    }

    fn vacate(&mut self, entity: Entity) -> Option<usize> {
        let position = self.get(entity.index()).position_of(entity)?;
        self.slots.remove(&entity.index());
        Some(position)
    }

    fn prepare(&mut self, entities: &[Entity]) {
        self.slots.reserve(entities.len());
    }

    fn reserve(&mut self, additional: usize) {
        self.slots.reserve(additional);
    }

    fn shrink_to_fit(&mut self) {
        self.slots.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        // One control byte beside each bucket.
        self.slots.capacity() * (size_of::<(u32, Slot)>() + 1)
    }

    fn count_taken(&self) -> usize {
        self.slots.values().filter(|slot| !slot.is_vacant()).count()
    }
}
