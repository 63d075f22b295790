//! Values at the place of their entity's index: they never move.

#![allow(unsafe_code, reason = "hands out pointers to values in memory that is filled bit by bit")]

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::{self, MaybeUninit};

use super::{Storage, Untracked};
use crate::entity::Entity;
use crate::page::PageTable;
use crate::sparse::PagedMap;

/// Values addressed by entity index: their addresses stay the same from insert to remove (P3).
///
/// Pages of values are made when an index of theirs is first used. Iterating reads values in
/// packed order of the entities, which need not be the order in memory, and there is no slice of
/// all values; a group cannot own such a storage. Choose it for values whose address somebody
/// else keeps, or that are too big to move.
///
/// # Invariants
/// **I1** – the value of index `i` is initialised ⇔ its bit in `present` of its page is set.
pub struct Indexed<T> {
    pages: PageTable<Page<T>>,
}

struct Page<T> {
    present: Box<[u64]>,
    values: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: as for `Packed`: shared access reads, and writers answer for not being shared.
unsafe impl<T: Sync> Sync for Indexed<T> {}

impl<T> Indexed<T> {
    /// Values per page: about 16 KiB of them, a power of two, at least one word of the bitmap.
    const PAGE_BITS: u32 = {
        let size = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        let per_page = 16 * 1024 / size;
        if per_page < 64 {
            6
        } else if per_page > 4096 {
            12
        } else {
            per_page.ilog2()
        }
    };

    const fn page_of(index: u32) -> u32 {
        index >> Self::PAGE_BITS
    }

    const fn place_in_page(index: u32) -> usize {
        (index & ((1 << Self::PAGE_BITS) - 1)) as usize
    }

    /// Moves every value out; the storage is empty afterwards.
    fn take_all(&mut self) -> Vec<T> {
        let mut values = Vec::new();
        for number in self.pages.numbers() {
            let page = self.pages.get_mut(number).expect("the number was just listed");
            page.take_all(&mut values);
        }
        values
    }
}

impl<T> Page<T> {
    fn new() -> Box<Self> {
        let len = 1 << Indexed::<T>::PAGE_BITS;
        let values = (0..len).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
        Box::new(Self { present: vec![0; len / 64].into(), values })
    }

    #[inline]
    fn is_present(&self, place: usize) -> bool {
        self.present[place / 64] >> (place % 64) & 1 == 1
    }

    fn is_empty(&self) -> bool {
        self.present.iter().all(|&word| word == 0)
    }

    /// Moves the value at `place` out, if there is one.
    #[inline]
    fn take(&mut self, place: usize) -> Option<T> {
        if !self.is_present(place) {
            return None;
        }
        self.present[place / 64] &= !(1 << (place % 64));
        let value = mem::replace(self.values[place].get_mut(), MaybeUninit::uninit());
        // SAFETY: its bit was set, so it is initialised (I1); the bit is clear now.
        Some(unsafe { value.assume_init() })
    }

    fn take_all(&mut self, into: &mut Vec<T>) {
        for word in 0..self.present.len() {
            while self.present[word] != 0 {
                let bit = self.present[word].trailing_zeros() as usize;
                into.extend(self.take(word * 64 + bit));
            }
        }
    }
}

impl<T> Default for Indexed<T> {
    fn default() -> Self {
        Self { pages: PageTable::default() }
    }
}

impl<T> Drop for Indexed<T> {
    fn drop(&mut self) {
        self.clear();
    }
}

// SAFETY: the value of an entity is at its index, wherever its position goes; the map holds one
// version of each index (S2), so distinct positions are distinct places (P2), in `UnsafeCell`s.
// `clear` moves all values out before the first is dropped.
unsafe impl<T> Storage<T> for Indexed<T> {
    type Tracking = Untracked;
    type Map = PagedMap;

    const CONTIGUOUS: bool = false;

    #[inline]
    fn push(&mut self, entity: Entity, value: T) {
        let place = Self::place_in_page(entity.index());
        let page = self.pages.get_or_create(Self::page_of(entity.index()), Page::new);
        debug_assert!(!page.is_present(place), "I1");
        page.values[place].get_mut().write(value);
        page.present[place / 64] |= 1 << (place % 64);
    }

    #[inline]
    fn swap_remove(&mut self, _: usize, entity: Entity) -> T {
        let page = self.pages.get_mut(Self::page_of(entity.index()));
        let value = page.and_then(|page| page.take(Self::place_in_page(entity.index())));
        value.expect("the map removes only what it has pushed")
    }

    #[inline]
    fn swap(&mut self, _: usize, _: usize) {}

    #[inline]
    unsafe fn ptr(&self, _: usize, entity: Entity) -> *mut T {
        let place = Self::place_in_page(entity.index());
        let page = self.pages.get(Self::page_of(entity.index())).expect("the entity has a value");
        debug_assert!(page.is_present(place), "I1");
        page.values[place].get().cast()
    }

    fn clear(&mut self) {
        if mem::needs_drop::<T>() {
            drop(self.take_all());
        } else {
            for number in self.pages.numbers() {
                let page = self.pages.get_mut(number).expect("the number was just listed");
                page.present.fill(0);
            }
        }
    }

    fn reserve(&mut self, _: usize) {}

    fn bytes_for(entities: &[Entity]) -> usize {
        let pages = entities.iter().map(|entity| Self::page_of(entity.index()));
        let pages: rustc_hash::FxHashSet<u32> = pages.collect();
        let len = 1_usize << Self::PAGE_BITS;
        // And the values themselves, as long as they are on their way.
        pages.len() * (len * size_of::<T>() + len / 8) + entities.len() * size_of::<T>()
    }

    fn shrink_to_fit(&mut self) {
        self.pages.retain(|page| !page.is_empty());
    }

    fn heap_bytes(&self) -> usize {
        let len = 1_usize << Self::PAGE_BITS;
        self.pages.heap_bytes() + self.pages.len() * (len * size_of::<T>() + len / 8)
    }
}

impl<T> fmt::Debug for Indexed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexed").field("pages", &self.pages.len()).finish_non_exhaustive()
    }
}
