//! Remains: values of dead entities that are still in pools.
//!
//! In a world with homes a death only takes notes: the entity stays in its pools until a newborn of its archetype takes over
//! the row (`SparseSet::inherit`), or until something can look at a pool. Then the remains go, before the look. So
//! where deaths and births balance, nothing is moved.
//!
//! Values that need a drop go at once, and so does what somebody hears of: nothing of the user's runs when remains go.
//!
//! # Invariants
//! - **R1** – while there are remains, nothing outside of `Pools` has a reference to a pool: they come about through
//!   `&mut Pools`, and every way to a pool but those of the gate leads through [`clear`](Pools::clear) first.
//! - **R2** – a pool with remains is a sparse set like any other; some of its members are dead, and listed. A member that
//!   is placed in a row that is vacant, or has another tenant, is one of them.

#![allow(
    unsafe_code,
    reason = "reaches pools through `&Pools` when nothing has a reference to one"
)]

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use super::despawn_batch::BLOCK;
use super::pools::Pools;
use crate::entity::Entity;
use crate::group;

impl Pools {
    /// Takes all remains out of the pools, if there are some.
    #[inline(always)]
    pub(super) fn clear(&self) {
        if self.has_remains() {
            self.clear_together();
        }
    }

    /// Whether there are remains.
    #[inline(always)]
    pub(super) fn has_remains(&self) -> bool {
        self.shown.load(Ordering::Acquire) != self.by_type_len()
    }

    /// An entity dies, but stays in these pools for now.
    #[inline]
    pub(super) fn leave(&mut self, entity: Entity, pools: u64) {
        let remains = self.remains.get_mut().unwrap_or_else(PoisonError::into_inner);
        remains.push((entity, pools));
        let is_full = remains.len() > self.homes.most();
        *self.shown.get_mut() = 0;
        if is_full {
            self.clear_together();
        }
    }

    /// Bytes of heap memory of the list.
    pub(super) fn remains_bytes(&self) -> usize {
        let remains = self.remains.lock().unwrap_or_else(PoisonError::into_inner);
        remains.capacity() * size_of::<(Entity, u64)>()
    }

    /// Gives back the memory of the list.
    pub(super) fn forget_remains(&mut self) {
        self.clear();
        self.remains = Mutex::default();
    }

    #[cold]
    #[inline(never)]
    fn clear_together(&self) {
        let mut remains = self.remains.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been here in the meantime: then the list is empty, and no pool is touched.
        let mut pools = remains.iter().fold(0, |all, (_, pools)| all | pools);
        while pools != 0 {
            let bit = pools.trailing_zeros() as usize;
            pools &= pools - 1;
            let mut pool = self.list[self.homes.component_of(bit)];
            // SAFETY: owned by `list` (C3). Nothing has a reference to it (R1), and who wants one now waits for the lock.
            let pool = unsafe { pool.as_mut() };
            for some in remains.chunks(BLOCK) {
                let (mut members, mut len) = ([some[0].0; BLOCK], 0);
                for &(entity, pools) in some {
                    members[len] = entity;
                    len += (pools >> bit & 1) as usize;
                }
                let waiting = pool.detach_all(&members[..len]);
                debug_assert!(waiting == 0, "what needs a drop does not remain");
            }
        }
        remains.clear();
        self.shown.store(self.by_type_len(), Ordering::Release);
    }

    /// Takes an entity with this signature out of all pools that hold it.
    ///
    /// Returns the signature bits of pools where a value waits to be dropped.
    #[inline(always)]
    pub(crate) fn detach(&mut self, entity: Entity, signature: u64) -> u64 {
        if self.homes.is_active() {
            self.homes.vacate(entity);
        }
        if !self.groups.is_empty() {
            let (groups, mut family) = self.split_with_remains();
            group::dying(groups, (entity, signature), &mut family);
        }
        if self.has_codes() {
            return self.detach_by_asking(entity, signature);
        }
        // Nothing is, as long as there are no homes.
        let mut left = signature & !self.homes.heritable;
        if left != signature {
            self.leave(entity, signature & !left);
        }
        let mut waiting = 0;
        while left != 0 {
            waiting |= self.at_mut_with_remains(left.trailing_zeros() as usize).detach(entity);
            left &= left - 1;
        }
        waiting
    }

    /// As `detach`, for up to [`BLOCK`] entities, one after the other.
    pub(crate) fn detach_block(&mut self, entities: &[Entity], signatures: &[u64]) -> u64 {
        let Some(&first) = entities.first() else { return 0 };
        let pairs = || entities.iter().copied().zip(signatures.iter().copied());
        let in_any = pairs().fold(0, |all, (_, signature)| all | signature);
        let by_bits = !self.has_codes();
        let pools = Self::candidates(in_any, self.len());
        if by_bits && self.groups.is_empty() {
            let mut heritable = 0;
            if self.homes.is_active() {
                heritable = self.homes.heritable;
                for (entity, signature) in pairs() {
                    self.homes.vacate(entity);
                    if signature & heritable != 0 {
                        self.leave(entity, signature & heritable);
                    }
                }
            }
            let pools = pools.filter(|bit| heritable >> bit & 1 == 0);
            return pools.fold(0, |waiting, bit| {
                let (mut members, mut len) = ([first; BLOCK], 0);
                for (entity, signature) in pairs() {
                    members[len] = entity;
                    len += (signature >> bit & 1) as usize;
                }
                waiting | self.at_mut_with_remains(bit).detach_all(&members[..len])
            });
        }
        if by_bits {
            pools.for_each(|bit| self.at_mut_with_remains(bit).read_ahead(entities));
        }
        // Who leaves a group changes places in several pools, so each death is carried out whole.
        pairs().fold(0, |waiting, (entity, signature)| waiting | self.detach(entity, signature))
    }

    /// As `detach`, where a bit may stand for several pools.
    #[cold]
    fn detach_by_asking(&mut self, entity: Entity, signature: u64) -> u64 {
        let (mut waiting, mut stays) = (0, 0);
        for id in Self::candidates(signature, self.len()) {
            // It need not be in the pool, here as there.
            match self.homes.heritable_bit(id) {
                Some(bit) => stays |= bit,
                None => waiting |= self.at_mut_with_remains(id).detach(entity),
            }
        }
        if stays != 0 {
            self.leave(entity, stays);
        }
        waiting
    }
}
