//! Looking single entities up in a map that does not change, many times in a row.

#![allow(unsafe_code, reason = "keeps pointers into a map beside the guard on it")]

use std::fmt;

use super::{EntityMap, Storage};
use crate::entity::Entity;
use crate::sparse::Slot;

/// What a look-up reads, taken out of a map once.
///
/// A loop that looks entities up and writes something else would read all this again for each of them, because
/// the compiler cannot know that it is still the same. Here it stays in registers: a look-up takes 13
/// instructions and not 18, and as many more of them are under way at a time while they wait for memory.
///
/// Pointers and not references, because it lies beside a guard, and what they lead to may change as soon
/// as that is gone.
pub(crate) struct Lookup<T> {
    /// The slots and the index of the first, if all of them lie side by side: then no look-up is a call.
    near: Option<(u32, *const [Slot])>,
    /// Number of entities.
    len: usize,
    /// Where the first value lies, if they are contiguous.
    base: *mut T,
}

// SAFETY: it gives nothing without a reference to the map.
unsafe impl<T> Send for Lookup<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Lookup<T> {}

impl<T> Lookup<T> {
    #[inline(always)]
    pub(crate) fn of<S: Storage<T>>(map: &EntityMap<T, S>) -> Self {
        let near = map.set().near_slots().map(|(first, slots)| (first, &raw const *slots));
        Self { near, len: map.len(), base: map.storage().base() }
    }

    /// For no map.
    #[inline(always)]
    pub(crate) fn nowhere() -> Self {
        Self { near: None, len: 0, base: std::ptr::dangling_mut() }
    }

    /// The value of `entity`.
    ///
    /// # Safety
    /// It is the map that this was made of, it has not changed since, and nobody writes values as long as it
    /// is borrowed.
    #[inline(always)]
    pub(crate) unsafe fn get<'a, S: Storage<T>>(
        &self,
        map: &'a EntityMap<T, S>,
        entity: Entity,
    ) -> Option<&'a T> {
        let Some((first, slots)) = self.near else { return get_apart(map, entity) };
        // SAFETY: they are where they were, as the caller promises.
        let slots = unsafe { &*slots };
        // By hand, as in all that is looked up often: a debug build makes every call.
        let place = entity.index().wrapping_sub(first) as usize;
        if place >= slots.len() {
            return None;
        }
        let at = slots[place].position_below(self.len, entity)?;
        debug_assert!(map.entities()[at].raw() == entity.raw(), "S1");
        if S::CONTIGUOUS {
            // SAFETY: there are more values than `at` behind it (P1).
            let value = unsafe { self.base.add(at) };
            // So that an `Option` of it costs no comparison. In debug builds it would be one.
            if cfg!(not(debug_assertions)) {
                // SAFETY: it is the address of a value.
                unsafe { std::hint::assert_unchecked(!value.is_null()) };
            }
            // SAFETY: it is initialised (P1), and nobody writes it, as the caller promises.
            return Some(unsafe { &*value });
        }
        // SAFETY: `entity` is at position `at` (S1).
        let value = unsafe { map.storage().ptr(at, entity) };
        // SAFETY: as above.
        Some(unsafe { &*value })
    }
}

/// As [`EntityMap::get`], where that is hardly ever needed.
#[cold]
#[inline(never)]
fn get_apart<T, S: Storage<T>>(map: &EntityMap<T, S>, entity: Entity) -> Option<&T> {
    map.get(entity)
}

impl<T> fmt::Debug for Lookup<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("is_near", &self.near.is_some()).finish_non_exhaustive()
    }
}
