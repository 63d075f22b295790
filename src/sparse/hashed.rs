//! A sparse map for few entities with scattered indices.

use rustc_hash::FxHashMap;

use super::map::Sealed;
use super::{Slot, SparseMap};
use crate::entity::Entity;
use crate::heap::bytes_of_table;

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

    #[inline(always)]
    fn near(&self) -> Option<(u32, &[Slot])> {
        None
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
        bytes_of_table(&self.slots)
    }

    fn count_taken(&self) -> usize {
        self.slots.values().filter(|slot| !slot.is_vacant()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn giving_back_memory_never_looks_like_taking_some() {
        // Scattered, as what a hash map is for.
        let entity = |nth: u32| Entity::new(nth.wrapping_mul(0x9E37_79B1) >> 8, 0).unwrap();
        let mut map = HashedMap::default();
        // Up to a peak, then fewer that come and go: who leaves where it is crowded leaves a trace, which
        // counts as neither taken nor free.
        let mut oldest = 0;
        for newest in 0..2000 {
            *map.slot_mut(entity(newest).index(), 0) = Slot::new(0, entity(newest));
            let members = if newest < 220 { 220 } else { 59 };
            while newest - oldest >= members {
                map.vacate(entity(oldest));
                oldest += 1;
            }
            let mut shrunk = map.clone();

            shrunk.shrink_to_fit();

            let bytes = (map.heap_bytes(), shrunk.heap_bytes());
            assert!(bytes.1 <= bytes.0, "{bytes:?} at {newest}");
        }
    }
}
