//! Sparse maps: from an entity index to its slot.

use std::fmt::Debug;

use rustc_hash::FxHashMap;

use super::Slot;
use crate::entity::Entity;
use crate::page::{PAGE_LEN, PageTable, page_of, place_in_page};

/// How a [`SparseSet`](super::SparseSet) finds the slot of an index.
///
/// Sealed: the two maps here are all there are, because [`SparseSet`](super::SparseSet) trusts
/// them to give back what was put in.
pub trait SparseMap: Default + Debug + Send + Sync + 'static + Sealed {
    /// The slot of this index, vacant if it was never set.
    fn get(&self, index: u32) -> Slot;

    /// The slot of this index for writing; makes it if need be.
    fn slot_mut(&mut self, index: u32) -> &mut Slot;

    /// Sets the slot of an index whose slot exists.
    fn reset(&mut self, index: u32, slot: Slot);

    /// Makes the slot of `entity` vacant, if it is that of this very version, and returns the
    /// position it held.
    fn vacate(&mut self, entity: Entity) -> Option<usize>;

    /// Gives back memory in which no slot is taken.
    fn shrink_to_fit(&mut self);

    /// Bytes of heap memory in use.
    fn heap_bytes(&self) -> usize;

    /// Number of slots that are not vacant.
    ///
    /// # Complexity
    /// O(slots): for checks.
    fn count_taken(&self) -> usize;
}

/// Keeps [`SparseMap`] to this module.
pub trait Sealed {}

/// Pages of slots, each made when first used: one load, no hashing.
#[derive(Debug, Default)]
pub struct PagedMap {
    pages: PageTable<SlotPage>,
}

type SlotPage = [Slot; PAGE_LEN];

fn new_page() -> Box<SlotPage> {
    let slots = vec![Slot::VACANT; PAGE_LEN].into_boxed_slice();
    slots.try_into().expect("the page has PAGE_LEN slots")
}

impl Sealed for PagedMap {}

impl SparseMap for PagedMap {
    #[inline]
    fn get(&self, index: u32) -> Slot {
        match self.pages.get(page_of(index)) {
            Some(page) => page[place_in_page(index)],
            None => Slot::VACANT,
        }
    }

    #[inline]
    fn slot_mut(&mut self, index: u32) -> &mut Slot {
        &mut self.pages.get_or_create(page_of(index), new_page)[place_in_page(index)]
    }

    #[inline]
    fn reset(&mut self, index: u32, slot: Slot) {
        if let Some(page) = self.pages.get_mut(page_of(index)) {
            page[place_in_page(index)] = slot;
        }
    }

    #[inline]
    fn vacate(&mut self, entity: Entity) -> Option<usize> {
        let page = self.pages.get_mut(page_of(entity.index()))?;
        let slot = &mut page[place_in_page(entity.index())];
        let position = slot.position_of(entity)?;
        *slot = Slot::VACANT;
        Some(position)
    }

    fn shrink_to_fit(&mut self) {
        self.pages.retain(|page| page.iter().any(|slot| !slot.is_vacant()));
    }

    fn heap_bytes(&self) -> usize {
        self.pages.heap_bytes()
    }

    fn count_taken(&self) -> usize {
        self.pages.iter().flat_map(|(_, page)| page).filter(|slot| !slot.is_vacant()).count()
    }
}

/// A hash map of slots: a few dozen bytes per entity wherever its index lies.
#[derive(Debug, Default)]
pub struct HashedMap {
    slots: FxHashMap<u32, Slot>,
}

impl Sealed for HashedMap {}

impl SparseMap for HashedMap {
    #[inline]
    fn get(&self, index: u32) -> Slot {
        self.slots.get(&index).copied().unwrap_or(Slot::VACANT)
    }

    #[inline]
    fn slot_mut(&mut self, index: u32) -> &mut Slot {
        self.slots.entry(index).or_insert(Slot::VACANT)
    }

    #[inline]
    fn reset(&mut self, index: u32, slot: Slot) {
        self.slots.insert(index, slot);
    }

    #[inline]
    fn vacate(&mut self, entity: Entity) -> Option<usize> {
        let position = self.get(entity.index()).position_of(entity)?;
        self.slots.remove(&entity.index());
        Some(position)
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
