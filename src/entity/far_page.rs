//! The far slots of one page: few in a list, many side by side.
//!
//! A far id may be the only one in its page, and stays there after its death: its slot has the version, and the free
//! list runs through it. So a page takes what its slots take, and a full page of them only from [`FEW`] on.

use std::mem;

use super::slot::{Slot, indexed};
use crate::page::PAGE_LEN;

/// Slots that are kept in a list, at most.
const FEW: usize = 32;

/// Slots of which `places` says where in the page they belong, in ascending order; or all of the page, if it is empty.
#[derive(Debug, Default)]
pub(super) struct FarPage {
    slots: Vec<Slot>,
    places: Vec<u16>,
}

impl FarPage {
    pub(super) fn new() -> Box<Self> {
        Box::default()
    }

    fn is_full(&self) -> bool {
        self.slots.len() == PAGE_LEN
    }

    /// Where the slot of a place lies, or would.
    fn find(&self, place: usize) -> Result<usize, usize> {
        match self.is_full() {
            true => Ok(place),
            false => self.places.binary_search(&(place as u16)),
        }
    }

    pub(super) fn get(&self, place: usize) -> Option<&Slot> {
        self.slots.get(self.find(place).ok()?)
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Slot> {
        let at = self.find(place).ok()?;
        self.slots.get_mut(at)
    }

    /// The slot of a place; an unused one is made if there is none.
    pub(super) fn get_or_create(&mut self, place: usize) -> &mut Slot {
        let at = match self.find(place) {
            Ok(at) => at,
            Err(_) if self.slots.len() >= FEW => {
                self.spread();
                place
            }
            Err(at) => {
                self.places.insert(at, place as u16);
                self.slots.insert(at, Slot::default());
                at
            }
        };
        &mut self.slots[at]
    }

    /// Takes what the slot of a place says, and leaves it unused.
    pub(super) fn take(&mut self, place: usize) -> Slot {
        self.get_mut(place).map(mem::take).unwrap_or_default()
    }

    /// Puts all slots side by side.
    fn spread(&mut self) {
        let mut all = Vec::with_capacity(PAGE_LEN);
        all.resize_with(PAGE_LEN, Slot::default);
        for (place, slot) in mem::take(&mut self.places).into_iter().zip(self.slots.drain(..)) {
            all[usize::from(place)] = slot;
        }
        self.slots = all;
    }

    pub(super) fn is_unused(&self) -> bool {
        self.slots.iter().all(Slot::is_unused)
    }

    /// Slots that lie side by side, with the index of the first, in ascending order.
    pub(super) fn rows(&self, page: u32) -> impl Iterator<Item = (u32, &[Slot])> + Send + Sync {
        let first = page * PAGE_LEN as u32;
        let few = self.places.iter().zip(self.slots.chunks(1));
        let few = few.map(move |(&place, slot)| (first + u32::from(place), slot));
        few.chain(self.is_full().then_some((first, &self.slots[..])))
    }

    /// The slots with their indices, in ascending order.
    pub(super) fn indexed(&self, page: u32) -> impl Iterator<Item = (u32, &Slot)> {
        self.rows(page).flat_map(|(first, row)| indexed(first, row))
    }

    /// The slots with their indices, to be changed, in ascending order.
    pub(super) fn indexed_mut(&mut self, page: u32) -> impl Iterator<Item = (u32, &mut Slot)> {
        let first = page * PAGE_LEN as u32;
        let Self { slots, places } = self;
        let place =
            |(at, slot)| (places.get(at).map_or(at as u32, |&place| u32::from(place)), slot);
        slots.iter_mut().enumerate().map(place).map(move |(place, slot)| (first + place, slot))
    }

    /// The same once more.
    pub(super) fn copy(&self) -> Self {
        Self { slots: self.slots.iter().map(Slot::copy).collect(), places: self.places.clone() }
    }

    /// Bytes of heap memory in use, without its own box.
    pub(super) fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.places.capacity() * size_of::<u16>()
    }

    /// What a page of so many slots takes, with its box and its entry in a table; not less.
    pub(super) fn bytes_for(slots: usize) -> usize {
        let own = match slots > FEW {
            true => PAGE_LEN * size_of::<Slot>(),
            false => slots.next_power_of_two().max(4) * (size_of::<Slot>() + size_of::<u16>()),
        };
        size_of::<(u32, Box<Self>)>() + size_of::<Self>() + own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::Entity;

    #[test]
    fn slots_are_found_whether_they_are_few_or_many() {
        let mut page = FarPage::default();
        let mut known = std::collections::BTreeMap::new();
        for nth in 0..200_u32 {
            let place = (nth * 389 % PAGE_LEN as u32) as usize;
            let entity = Entity::new(3 * PAGE_LEN as u32 + place as u32, nth).unwrap();
            page.get_or_create(place).set_demanded(entity);
            known.insert(entity.index(), entity);
            assert!(page.heap_bytes() + size_of::<FarPage>() <= FarPage::bytes_for(known.len()));
            let used = page.indexed(3).filter(|(_, slot)| !slot.is_unused());
            let found: Vec<_> = used.map(|(index, slot)| (index, slot.live_entity())).collect();
            assert_eq!(found, known.clone().into_iter().collect::<Vec<_>>());
            assert_eq!(page.copy().indexed(3).count(), page.indexed(3).count());
        }
        for (index, entity) in known {
            let place = index as usize % PAGE_LEN;
            assert!(!page.is_unused() && page.get(place).unwrap().holds(entity));
            assert!(page.take(place).holds(entity) && page.take(place).is_unused());
        }
        assert!(page.is_unused());
    }
}
