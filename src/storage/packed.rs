//! Values one after the other, in the order of their entities.

#![allow(unsafe_code, reason = "hands out pointers to values")]

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;

use super::{Fill, Storage, Untracked};
use crate::entity::Entity;
use crate::growth;
use crate::sparse::{HashedMap, PagedMap, SparseMap};

/// Values in a plain slice, found through pages: the default storage.
///
/// Removing moves the last value to the place of the removed one. Values without size (tags)
/// take no memory. Good for nearly everything; the module's documentation has a table of the others.
pub struct Packed<T, M = PagedMap> {
    values: Vec<UnsafeCell<T>>,
    map: PhantomData<fn() -> M>,
}

/// Values in a plain slice, found through a hash map: for few entities with scattered ids.
///
/// The same as [`Packed`], except that looking up an entity hashes its index and that no page
/// of slots is needed, so that a component three entities have costs bytes and not kibibytes.
pub type Hashed<T> = Packed<T, HashedMap>;

// SAFETY: a shared `Packed` gives out `&T` only through the map, which needs `T: Sync`; whoever
// writes through `ptr` answers for not being shared (contract of `Storage`).
unsafe impl<T: Sync, M> Sync for Packed<T, M> {}

impl<T, M> Default for Packed<T, M> {
    fn default() -> Self {
        Self { values: Vec::new(), map: PhantomData }
    }
}

// SAFETY: value `i` is `values[i]`: push appends, swap_remove and swap do to the vector what the
// map does to the entities. Distinct elements of a vector are distinct memory (P2), in
// `UnsafeCell`s. `Vec::clear` sets the length before it drops.
unsafe impl<T, M: SparseMap> Storage<T> for Packed<T, M> {
    type Map = M;
    type Tracking = Untracked;

    const CONTIGUOUS: bool = true;

    #[inline(always)]
    fn push(&mut self, _: Entity, value: T) {
        growth::make_room(&mut self.values);
        let len = self.values.len();
        debug_assert!(len < self.values.capacity() || size_of::<T>() == 0);
        // SAFETY: there is room for one more, so the end is inside the allocation.
        let end = unsafe { self.values.as_mut_ptr().add(len) };
        // Not by `Vec::push`: without optimisation a value takes room on the stack for each function that it is passed to.
        // SAFETY: it is valid for writes, as above, and aligned; a cell lies as its value does.
        unsafe { ptr::write(end.cast::<T>(), value) };
        // SAFETY: there is room, and the value is initialised.
        unsafe { self.values.set_len(len + 1) };
    }

    fn append(&mut self, values: Vec<T>) -> Result<(), Vec<T>> {
        let mut values = ManuallyDrop::new(values);
        let (start, len, capacity) = (values.as_mut_ptr(), values.len(), values.capacity());
        // SAFETY: these are the parts of a vector that is not used again; a cell lies as its value does.
        let mut values =
            unsafe { Vec::from_raw_parts(start.cast::<UnsafeCell<T>>(), len, capacity) };
        if self.values.is_empty() && self.values.capacity() <= len {
            // The allocation is taken over as it is.
            self.values = values;
        } else {
            growth::reserve(&mut self.values, len);
            self.values.append(&mut values);
        }
        Ok(())
    }

    const BY_POSITION: bool = true;

    #[inline(always)]
    unsafe fn overwrite(&mut self, at: usize, value: *const T) {
        let old = self.values[at].get_mut();
        // SAFETY: both are valid and aligned, and the new one is elsewhere: the caller owns it and gives it up.
        unsafe { ptr::copy_nonoverlapping(value, old, 1) };
    }

    fn refill(&mut self, values: &[T], fill: Fill<T>) -> bool {
        fill(values, &mut self.values);
        true
    }

    #[inline(always)]
    fn swap_remove(&mut self, at: usize, _: Entity) -> T {
        self.values.swap_remove(at).into_inner()
    }

    #[inline(always)]
    fn swap(&mut self, a: usize, b: usize) {
        self.values.swap(a, b);
    }

    #[inline(always)]
    unsafe fn ptr(&self, at: usize, _: Entity) -> *mut T {
        debug_assert!(at < self.values.len());
        // SAFETY: `at` is in use, by the caller's promise, and so below the length (P1).
        UnsafeCell::raw_get(unsafe { self.values.as_ptr().add(at) })
    }

    #[inline(always)]
    fn base(&self) -> *mut T {
        UnsafeCell::raw_get(self.values.as_ptr())
    }

    #[inline]
    fn clear(&mut self) {
        self.values.clear();
    }

    fn reserve(&mut self, additional: usize) {
        growth::reserve(&mut self.values, additional);
    }

    fn shrink_to_fit(&mut self) {
        self.values.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        if size_of::<T>() == 0 { 0 } else { self.values.capacity() * size_of::<T>() }
    }
}

impl<T, M> fmt::Debug for Packed<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packed").field("len", &self.values.len()).finish_non_exhaustive()
    }
}
