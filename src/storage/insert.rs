//! How a value gets into a map.

#![allow(unsafe_code, reason = "writes through the pointers that storages hand out")]

use std::mem;

use super::{EntityMap, Storage};
use crate::entity::Entity;
use crate::prefetch::prefetch;
use crate::sparse::{Entry, Heritage, Home};

/// Where a newcomer belongs, and whether it came there.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) home: Home,
    /// `false` as soon as one of its values lies elsewhere.
    pub(crate) is_taken: bool,
    /// The row that the next one of its kind is likely to get, and the index with it.
    pub(crate) next: (Home, u32),
}

impl Seat {
    /// Nowhere.
    pub(crate) const NONE: Self = Self { home: Home::NONE, is_taken: true, next: (Home::NONE, 0) };
}

impl<T, S: Storage<T>> EntityMap<T, S> {
    /// Whether a newcomer can have the position and the value of a dead member.
    pub(crate) const IS_HERITABLE: bool = S::BY_POSITION && !mem::needs_drop::<T>();

    /// Gives `entity` a value and returns the one that was there.
    ///
    /// A new value goes to the end of the packed order; a replaced one keeps its place. The value
    /// of another version of the same index counts as replaced.
    #[inline(always)]
    pub fn insert(&mut self, entity: Entity, value: T) -> Option<T> {
        self.insert_in(entity, value, &mut Seat { ..Seat::NONE })
    }

    /// As `insert`; a new value goes to the position of its row, if a dead member is there.
    // Always: inside a loop its registers are saved once, not per entity (a third of its cost).
    #[inline(always)]
    pub(crate) fn insert_in(&mut self, entity: Entity, value: T, seat: &mut Seat) -> Option<T> {
        if seat.home.is_row() && self.inherit(entity, &value, seat) {
            return None;
        }
        let (at, is_same) = match self.set.entry(entity) {
            Entry::Vacant(vacant) => {
                // The value first: if a storage of the user's unwinds here, the set is as it was.
                self.values.push(entity, value);
                vacant.fill();
                return None;
            }
            Entry::Present(at) => (at, true),
            Entry::Displaced(at) => (at, false),
        };
        self.replace(at, is_same, entity, value)
    }

    /// Gives the position of its row to `entity`, if a dead member is there. Then the value is moved out of, and is not to
    /// be used: as one that needs no drop it may go out of scope.
    // By reference: without optimisation a value that is passed on takes room on the stack, whichever branch is taken.
    #[inline(always)]
    fn inherit(&mut self, entity: Entity, value: &T, seat: &mut Seat) -> bool {
        let heritage = match Self::IS_HERITABLE {
            true => self.set.inherit(entity, seat.home),
            false => Heritage::Nothing,
        };
        seat.is_taken &= heritage != Heritage::Nothing;
        let Heritage::At(at) = heritage else { return false };
        debug_assert!(!mem::needs_drop::<T>() && self.set.as_slice()[at] == entity);
        // SAFETY: the caller returns at once, so the value is not used again; it needs no drop (`IS_HERITABLE`).
        unsafe { self.values.overwrite(at, value) };
        self.prefetch_row(seat.next);
        true
    }

    /// Asks for the memory of a row, and of the index that it had.
    #[inline(always)]
    fn prefetch_row(&self, (home, index): (Home, u32)) {
        if home.is_row()
            && let Some(at) = self.set.prefetch_row(home, index)
            && S::CONTIGUOUS
        {
            let value = self.values.base().wrapping_add(at);
            prefetch(value);
            if size_of::<T>() > 8 {
                // It may lie in two lines.
                prefetch(value.cast::<u8>().wrapping_add(size_of::<T>() - 1));
            }
        }
    }

    // A function of its own, and not forced into `insert`: without optimisation a value that is passed on takes room on
    // the stack in each branch of a function, whichever is taken.
    #[inline]
    fn replace(&mut self, at: usize, is_same: bool, entity: Entity, value: T) -> Option<T> {
        if !is_same {
            return self.displace(at, entity, value);
        }
        debug_assert_eq!(self.set.as_slice().get(at), Some(&entity));
        self.values.touch(at, 1);
        // SAFETY: `entity` is at position `at`: `entry` has just said so.
        let old = unsafe { self.values.ptr(at, entity) };
        // SAFETY: it is initialised (P1), and `&mut self` is the only access.
        Some(mem::replace(unsafe { &mut *old }, value))
    }

    #[cold]
    fn displace(&mut self, at: usize, entity: Entity, value: T) -> Option<T> {
        // Not in place: a storage may keep values by entity, and must be told that it is another.
        let old_value = self.remove(self.set.as_slice()[at]);
        self.insert(entity, value);
        self.swap(at, self.len() - 1);
        old_value
    }
}
