//! Reservation: ids for entities that will exist, taken through `&self` by any thread.
//!
//! Reservation walks the free list and then the unused indices exactly as spawning does, but
//! moves only a cursor (E4). Nobody frees a slot while the book is shared, so what the cursor
//! reads does not change under it and a slot it has passed does not come back: a compare-and-swap
//! is enough. [`Entities::settle`] makes the same steps again and brings the entities to life.

use std::sync::atomic::Ordering;

use super::slot::END;
use super::{Entities, Entity, OutOfEntities};
use crate::sync::{get_alone, set_alone};

/// The cursor when nothing is reserved. No index gets as high as this (see `Limits`).
pub(super) const IDLE: u64 = u64::MAX;

/// Free list head in the lower half, next unused index in the upper one.
fn pack(free: u32, fresh: u32) -> u64 {
    u64::from(fresh) << 32 | u64::from(free)
}

fn unpack(cursor: u64) -> (u32, u32) {
    (cursor as u32, (cursor >> 32) as u32)
}

impl Entities {
    /// Reserves an id, from any thread.
    ///
    /// The entity comes to life at the next call of [`settle`](Self::settle), which every call
    /// through `&mut` that spawns or despawns makes by itself. The ids are those that the same
    /// number of calls of [`spawn`](Self::spawn) would have given, in some order.
    ///
    /// # Errors
    /// [`OutOfEntities`] if no id is left.
    ///
    /// # Examples
    /// ```
    /// # use esker::entity::Entities;
    /// let mut ids = Entities::new();
    /// let a = ids.reserve().unwrap();
    /// assert!(!ids.is_alive(a));
    /// ids.settle();
    /// assert!(ids.is_alive(a));
    /// ```
    pub fn reserve(&self) -> Result<Entity, OutOfEntities> {
        // Relaxed throughout: the cursor guards no other memory. Slots are not written while
        // `&self` exists, and whoever settles has `&mut self`, by some synchronisation of his own.
        let mut seen = self.cursor.load(Ordering::Relaxed);
        loop {
            let (free, fresh) = if seen == IDLE { (self.free, self.fresh()) } else { unpack(seen) };
            let (index, after) = self.reserve_from(free, fresh)?;
            let swapped = self.cursor.compare_exchange_weak(
                seen,
                after,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match swapped {
                Ok(_) => {
                    let version = self.slot(index).map_or(0, |slot| slot.version());
                    return Ok(Entity::new(index, version).expect("a slot that is not retired"));
                }
                Err(now) => seen = now,
            }
        }
    }

    /// The index behind all that were ever used or reserved.
    pub(super) fn reserved_end(&mut self) -> u32 {
        match get_alone(&mut self.cursor) {
            IDLE => self.fresh(),
            cursor => unpack(cursor).1,
        }
    }

    /// The index that comes next, and the cursor behind it.
    fn reserve_from(&self, mut free: u32, fresh: u32) -> Result<(u32, u64), OutOfEntities> {
        while free != END {
            let index = free - 1;
            free = self.link(index);
            if self.demanded_link(index).is_none() {
                return Ok((index, pack(free, fresh)));
            }
        }
        let limit = self.limits.range.len() as u32;
        let index = self.first_fresh(fresh).ok_or(OutOfEntities { limit })?;
        Ok((index, pack(END, index + 1)))
    }

    /// Whether `count` entities can be brought to life.
    pub(crate) fn check_room(&mut self, count: usize) -> Result<(), OutOfEntities> {
        self.settle();
        if count <= self.plain.saturating_sub(self.near.len()) {
            return Ok(());
        }
        let mut cursor = pack(self.free, self.fresh());
        for _ in 0..count {
            let (free, fresh) = unpack(cursor);
            cursor = self.reserve_from(free, fresh)?.1;
        }
        Ok(())
    }

    /// Brings every reserved id to life.
    #[inline]
    pub fn settle(&mut self) {
        if get_alone(&mut self.cursor) != IDLE {
            self.settle_reserved();
        }
    }

    #[cold]
    fn settle_reserved(&mut self) {
        let (free, fresh) = unpack(get_alone(&mut self.cursor));
        set_alone(&mut self.cursor, IDLE);
        while self.free != free {
            // The list may end in demanded slots; then the first fresh index was reserved next.
            self.next_free().expect("the cursor found this slot free");
            self.count_alive();
        }
        while self.fresh() < fresh {
            self.next_fresh().expect("the cursor found this index unused");
            self.count_alive();
        }
    }
}
