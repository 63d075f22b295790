//! Slots of demanded ids that lie apart from the near ones.
//!
//! A living entity has a slot in a page, so that it is found without a search. Of a dead one only the version has to
//! be remembered (E3): it is in an ordered map, and a page goes with the last entity that lives in it. So memory
//! follows the entities that live, and some bytes for each index that died; a page for each of those would stay
//! for ever.

use std::collections::BTreeMap;

use super::Entity;
use super::slot::{END, RETIRED, Slot, indexed};
use crate::page::{PAGE_LEN, PageTable, page_of, place_in_page};

/// Bytes that a dead index takes in the ordered map, about: its nodes are half full at least.
pub(super) const PER_DEAD: usize = 2 * size_of::<(u32, u32)>();

/// The far slots of a book; see the [module](self).
#[derive(Debug, Default)]
pub(super) struct FarSlots {
    pages: PageTable<FarPage>,
    /// Living entities in all pages.
    living: usize,
    /// The version that comes next of each index whose entity died, or that of a retired slot.
    dead: BTreeMap<u32, u32>,
}

/// Slots in a row; those in which no entity lives are unused.
#[derive(Debug)]
pub(super) struct FarPage {
    slots: [Slot; PAGE_LEN],
    living: u32,
}

fn new_page() -> Box<FarPage> {
    Box::new(FarPage { slots: std::array::from_fn(|_| Slot::default()), living: 0 })
}

impl FarSlots {
    /// The slot of a living entity.
    #[cold]
    pub(super) fn get(&self, index: u32) -> Option<&Slot> {
        let slot = &self.pages.get(page_of(index))?.slots[place_in_page(index)];
        (!slot.is_unused()).then_some(slot)
    }

    #[cold]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Slot> {
        let slot = &mut self.pages.get_mut(page_of(index))?.slots[place_in_page(index)];
        (!slot.is_unused()).then_some(slot)
    }

    /// The version that comes next at an index whose entity died.
    pub(super) fn dead_version(&self, index: u32) -> Option<u32> {
        self.dead.get(&index).copied()
    }

    pub(super) fn has_living(&self) -> bool {
        self.living > 0
    }

    /// Brings an entity to life at an index where none lives; returns the version that would have come next.
    pub(super) fn demand(&mut self, entity: Entity) -> u32 {
        let index = entity.index();
        let mut slot = Slot::default();
        slot.set_demanded(entity);
        self.put(index, slot);
        self.dead.remove(&index).unwrap_or(0)
    }

    /// Puts a living slot where none is.
    pub(super) fn put(&mut self, index: u32, slot: Slot) {
        let page = self.pages.get_or_create(page_of(index), new_page);
        debug_assert!(slot.is_live(index) && page.slots[place_in_page(index)].is_unused(), "E1");
        page.slots[place_in_page(index)] = slot;
        page.living += 1;
        self.living += 1;
    }

    /// Remembers what comes next at an index where no entity lives.
    pub(super) fn put_dead(&mut self, index: u32, version: u32) {
        self.dead.insert(index, version);
    }

    /// Takes out the slot of an index, living, dead or unused.
    pub(super) fn take(&mut self, index: u32) -> Slot {
        if let Some(slot) = self.take_living(index) {
            return slot;
        }
        let mut slot = Slot::default();
        if let Some(version) = self.dead.remove(&index) {
            slot.set_dead(END, version);
        }
        slot
    }

    /// Takes out the slot of a living entity; its page goes with the last one.
    pub(super) fn take_living(&mut self, index: u32) -> Option<Slot> {
        let number = page_of(index);
        let page = self.pages.get_mut(number)?;
        let slot = &mut page.slots[place_in_page(index)];
        if slot.is_unused() {
            return None;
        }
        let slot = std::mem::take(slot);
        page.living -= 1;
        let is_last = page.living == 0;
        self.living -= 1;
        if self.living == 0 {
            // With its window.
            self.pages = PageTable::default();
        } else if is_last {
            self.pages.take(number);
        }
        Some(slot)
    }

    /// The first index from `index` on that has a slot, living or dead.
    pub(super) fn first_from(&self, index: u32) -> Option<u32> {
        let dead = self.dead.range(index..).next().map(|(&at, _)| at);
        let pages = self.pages().filter(|&(first, _)| page_of(first) >= page_of(index));
        let slots = pages.flat_map(|(first, slots)| indexed(first, slots));
        let mut living = slots.filter(|&(at, slot)| at >= index && !slot.is_unused());
        dead.into_iter().chain(living.next().map(|(at, _)| at)).min()
    }

    /// The pages in ascending order: the index of the first slot, and all slots.
    pub(super) fn pages(&self) -> impl Iterator<Item = (u32, &[Slot])> {
        self.pages.iter().map(|(number, page)| (number * PAGE_LEN as u32, &page.slots[..]))
    }

    /// The living with their indices, in ascending order.
    pub(super) fn living(&self) -> impl Iterator<Item = (u32, &Slot)> {
        let slots = self.pages().flat_map(|(first, slots)| indexed(first, slots));
        slots.filter(|(_, slot)| !slot.is_unused())
    }

    /// The indices where an entity died, and the version that comes next there, in ascending order.
    pub(super) fn dead(&self) -> impl Iterator<Item = (u32, u32)> {
        self.dead.iter().map(|(&index, &version)| (index, version))
    }

    /// Shows each living slot.
    pub(super) fn for_each_living(&mut self, mut each: impl FnMut(&mut Slot)) {
        for number in self.pages.numbers() {
            let page = self.pages.get_mut(number).expect("the number was just listed");
            page.slots.iter_mut().filter(|slot| !slot.is_unused()).for_each(&mut each);
        }
    }

    /// All slots as numbers, in ascending order of their indices.
    pub(super) fn bits(&self) -> Vec<(u32, u64)> {
        let living = self.living().map(|(index, slot)| (index, slot.bits()));
        let dead = self.dead().map(|(index, version)| (index, u64::from(version) << 32));
        let mut all: Vec<_> = living.chain(dead).collect();
        all.sort_unstable();
        all
    }

    pub(super) fn copy(&self) -> Self {
        let mut copy = Self { dead: self.dead.clone(), ..Self::default() };
        self.living().for_each(|(index, slot)| copy.put(index, slot.copy()));
        copy
    }

    /// Gives back memory that serves no slot.
    pub(super) fn shrink_to_fit(&mut self) {
        self.pages.retain(|_| true);
    }

    /// Bytes of heap memory in use, about.
    pub(super) fn heap_bytes(&self) -> usize {
        self.pages.heap_bytes() + self.dead.len() * PER_DEAD
    }

    /// Checks that pages hold the living only, and are counted; and that no index is alive and dead.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut living = 0;
        for (number, page) in self.pages.iter() {
            let first = number * PAGE_LEN as u32;
            let slots = indexed(first, &page.slots).filter(|(_, slot)| !slot.is_unused());
            let mut here = 0;
            for (index, slot) in slots {
                here += 1;
                if !slot.is_live(index) || slot.is_retired() || self.dead.contains_key(&index) {
                    return Err(format!("E1: far slot {index} is not alive, or dead as well"));
                }
            }
            if here != page.living || here == 0 {
                return Err(format!("E1: {here} slots are live in the page of {first}"));
            }
            living += here as usize;
        }
        match living == self.living {
            true => Ok(()),
            false => Err(format!("E1: {living} far slots are live, {} are counted", self.living)),
        }
    }
}

/// Heap memory that these far slots would take: their indices, and what they say.
pub(crate) fn bytes_of_far(slots: impl Iterator<Item = (u32, u64)>) -> usize {
    let mut dead = 0;
    let is_live = |&(index, bits): &(u32, u64)| {
        let is_live = Slot::from_bits(bits).is_live(index);
        dead += usize::from(!is_live);
        is_live
    };
    let pages: rustc_hash::FxHashSet<u32> =
        slots.filter(is_live).map(|(index, _)| page_of(index)).collect();
    pages.len() * size_of::<FarPage>() + dead * PER_DEAD
}

/// What a dead slot says of its next version, which is spent or not.
pub(super) fn version_or_retired(version: u32, last: u32) -> u32 {
    if version > last { RETIRED } else { version }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(index: u32, version: u32) -> Entity {
        Entity::new(index, version).unwrap()
    }

    #[test]
    fn a_page_goes_with_the_last_entity_that_lives_in_it() {
        let mut far = FarSlots::default();
        assert_eq!(far.demand(id(70_000, 2)), 0);
        assert_eq!(far.demand(id(70_001, 0)), 0);
        assert_eq!(far.demand(id(9_000_000, 0)), 0);
        let pages = far.pages.len();

        far.take_living(70_000).unwrap();
        far.put_dead(70_000, 3);
        assert_eq!(far.pages.len(), pages);
        far.take_living(70_001).unwrap();
        assert_eq!(far.pages.len(), pages - 1);
        far.check().unwrap();

        assert_eq!((far.first_from(0), far.first_from(70_001)), (Some(70_000), Some(9_000_000)));
        assert_eq!(far.demand(id(70_000, 1)), 3);
        assert_eq!(far.dead_version(70_000), None);
        far.take_living(9_000_000).unwrap();
        far.take_living(70_000).unwrap();
        assert!(!far.has_living() && far.heap_bytes() == 0);
    }

    #[test]
    fn what_is_foreseen_for_far_slots_is_what_they_take() {
        let mut far = FarSlots::default();
        for n in 0..30 {
            far.demand(id(n * 3_000_000, 0));
            far.put_dead(n * 3_000_000 + 7, 5);
        }
        let (taken, foreseen) = (far.heap_bytes(), bytes_of_far(far.bits().into_iter()));
        assert!(taken.abs_diff(foreseen) <= taken / 50 + 400, "{foreseen} for {taken}");
    }
}
