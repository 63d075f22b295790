//! The pools of a world, by type and in order of their creation.

#![allow(unsafe_code, reason = "goes from a type index to the pool of that type without asking")]

use std::any::{TypeId, type_name};
use std::fmt;

use super::pool_box::{AnyPool, PoolBox};
use crate::component::Component;
use crate::entity::Entity;

/// Number of a component in one world, in the order in which the world came to know them.
///
/// Two worlds with the same history number alike, whatever else the process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(u32);

impl ComponentId {
    /// The number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a pool does to the signature of an entity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tag {
    pub(crate) id: ComponentId,
    /// Set when a value comes in.
    pub(crate) bit: u64,
    /// What stays when a value goes: all but `bit`, or everything if other pools share the bit.
    pub(crate) keep: u64,
}

/// Bits of a signature.
const BITS: usize = u64::BITS as usize;

/// All pools.
///
/// # Invariants
/// **C2** – the pool whose id stands at a type index in `by_type` is a `PoolBox` of just that
/// type: only `create` puts one there.
#[derive(Default)]
pub(crate) struct Pools {
    /// The pool of each component id.
    list: Vec<Box<dyn AnyPool>>,
    /// The component id of each type index; `NONE` for a type without a pool.
    by_type: Vec<u32>,
}

/// No component id: out of bounds in any list.
const NONE: u32 = u32::MAX;

impl Pools {
    #[inline]
    pub(crate) fn get<T: Component>(&self) -> Option<&PoolBox<T>> {
        let id = *self.by_type.get(T::type_index().get())?;
        let pool = self.list.get(id as usize)?;
        debug_assert_eq!(pool.component_type(), TypeId::of::<T>(), "C2");
        // SAFETY: the pool at the index of `T` (C1) is a `PoolBox<T>` (C2).
        Some(unsafe { &*std::ptr::from_ref(&**pool).cast::<PoolBox<T>>() })
    }

    #[inline]
    pub(crate) fn get_mut<T: Component>(&mut self) -> Option<&mut PoolBox<T>> {
        self.cast_mut(T::type_index().get())
    }

    #[inline]
    pub(crate) fn get_or_create<T: Component>(&mut self) -> &mut PoolBox<T> {
        // The index is asked for once, because each time is a load that cannot be merged.
        let index = T::type_index().get();
        if self.by_type.get(index).is_none_or(|&id| id == NONE) {
            self.create::<T>(index);
        }
        self.cast_mut(index).expect("created above if it was not there")
    }

    /// The pool at the index of `T`.
    #[inline]
    fn cast_mut<T: Component>(&mut self, index: usize) -> Option<&mut PoolBox<T>> {
        let id = *self.by_type.get(index)?;
        let pool = self.list.get_mut(id as usize)?;
        debug_assert_eq!(pool.component_type(), TypeId::of::<T>(), "C2");
        // SAFETY: the pool at the index of `T` (C1) is a `PoolBox<T>` (C2).
        Some(unsafe { &mut *std::ptr::from_mut(&mut **pool).cast::<PoolBox<T>>() })
    }

    #[cold]
    fn create<T: Component>(&mut self, index: usize) {
        let place = self.list.len();
        let number = u32::try_from(place).expect("fewer than 2^32 component types");
        let bit = 1 << (place % BITS);
        let shared = place >= BITS;
        if shared {
            // From here on the bit says "maybe" for the pool that had it alone, too.
            for id in (place % BITS..place).step_by(BITS) {
                self.list[id].tag_mut().keep = u64::MAX;
            }
        }
        let keep = if shared { u64::MAX } else { !bit };
        let tag = Tag { id: ComponentId(number), bit, keep };
        if self.by_type.len() <= index {
            self.by_type.resize(index + 1, NONE);
        }
        self.list.push(Box::new(PoolBox::<T>::new(tag)));
        self.by_type[index] = number;
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The pool of a component id, which must exist.
    #[inline]
    pub(crate) fn at(&self, id: usize) -> &dyn AnyPool {
        &*self.list[id]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, id: usize) -> &mut dyn AnyPool {
        &mut *self.list[id]
    }

    /// The pools in order of creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn AnyPool> {
        self.list.iter().map(|pool| &**pool)
    }

    /// Takes an entity with this signature out of all pools that hold it.
    ///
    /// Returns the signature bits of pools where a value waits to be dropped.
    #[inline]
    pub(crate) fn detach(&mut self, entity: Entity, signature: u64) -> u64 {
        if self.len() > BITS {
            return self.detach_by_asking(entity, signature);
        }
        let (mut left, mut waiting) = (signature, 0);
        while left != 0 {
            waiting |= self.at_mut(left.trailing_zeros() as usize).detach(entity);
            left &= left - 1;
        }
        waiting
    }

    /// As `detach`, where a bit may stand for several pools.
    #[cold]
    fn detach_by_asking(&mut self, entity: Entity, signature: u64) -> u64 {
        let mut waiting = 0;
        for id in Self::candidates(signature, self.len()) {
            waiting |= self.at_mut(id).detach(entity);
        }
        waiting
    }

    /// Ids of the pools that may hold an entity with this signature.
    ///
    /// Exact while there are no more pools than bits.
    #[inline]
    pub(crate) fn candidates(signature: u64, pools: usize) -> Candidates {
        Candidates { signature, next: usize::MAX, pools }
    }
}

/// See [`Pools::candidates`]. Apart from any borrow, so that the pools can be changed on the way.
#[derive(Debug, Clone)]
pub(crate) struct Candidates {
    signature: u64,
    /// The next pool that shares the bit visited last.
    next: usize,
    pools: usize,
}

impl Iterator for Candidates {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.next >= self.pools {
            if self.signature == 0 {
                return None;
            }
            self.next = self.signature.trailing_zeros() as usize;
            self.signature &= self.signature - 1;
        }
        let id = self.next;
        self.next += BITS;
        Some(id)
    }
}

impl fmt::Debug for Pools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|pool| pool.name())).finish()
    }
}

impl fmt::Display for ComponentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "component {}", self.0)
    }
}

/// The name under which messages speak of a type.
pub(crate) fn name_of<T>() -> &'static str {
    type_name::<T>()
}
