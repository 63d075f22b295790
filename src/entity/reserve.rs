//! Reservation: ids for entities that will exist, taken through `&self` by any thread.
//!
//! Reservation walks the free list and then the unused indices exactly as spawning does, but
//! moves only a cursor (E4). Nobody frees a slot while the book is shared, so what the cursor
//! reads does not change under it and a slot it has passed does not come back: a compare-and-swap
//! is enough. [`Entities::settle`] makes the same steps again and brings the entities to life.
//! While streams are open (`stream.rs`), the cursor stands behind what was reserved for them.

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
        if let Some(opening) = &self.opening {
            return opening.reserve(self);
        }
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

    /// Keeps what is reserved until it is settled, also if that is nothing: whatever changes the book
    /// settles first. Returns the index behind all that were ever used or reserved.
    pub(super) fn hold_reserved(&mut self) -> u32 {
        if get_alone(&mut self.cursor) == IDLE {
            let here = pack(self.free, self.fresh());
            set_alone(&mut self.cursor, here);
        }
        unpack(self.held()).1
    }

    /// The cursor as it is.
    pub(super) fn held(&mut self) -> u64 {
        get_alone(&mut self.cursor)
    }

    /// Puts the cursor behind what was read of the free list.
    pub(super) fn hold(&mut self, cursor: u64) {
        set_alone(&mut self.cursor, cursor);
    }

    /// The id that comes next in the free list behind a cursor, and the cursor behind that.
    pub(super) fn after_in_list(&self, cursor: u64) -> Option<(Entity, u64)> {
        let (mut free, fresh) = unpack(cursor);
        while free != END {
            let index = free - 1;
            free = self.link(index);
            if self.demanded_link(index).is_none() {
                let version = self.slot(index).map_or(0, |slot| slot.version());
                return Some((Entity::of(index, version), pack(free, fresh)));
            }
        }
        None
    }

    /// The reserved ids, first one first.
    pub(super) fn reserved(&mut self) -> Vec<Entity> {
        let end = get_alone(&mut self.cursor);
        let mut at = pack(self.free, self.fresh());
        let mut reserved = Vec::new();
        while at != end && end != IDLE {
            let (free, fresh) = unpack(at);
            let (index, after) = self.reserve_from(free, fresh).expect("the cursor has come by");
            let version = self.slot(index).map_or(0, |slot| slot.version());
            reserved.push(Entity::of(index, version));
            at = after;
        }
        reserved
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
        // Unused indices are counted by arithmetic, so the walk is no longer than the free list.
        let mut missing = count.saturating_sub(self.unused_indices());
        let mut free = self.free;
        while missing > 0 {
            if free == END {
                return Err(OutOfEntities { limit: self.limits.range.len() as u32 });
            }
            let index = free - 1;
            free = self.link(index);
            missing -= usize::from(self.demanded_link(index).is_none());
        }
        Ok(())
    }

    /// How many indices beyond the near slots were never used. Those of the dead are in the free list (E2).
    fn unused_indices(&self) -> usize {
        let ahead = self.fresh()..self.limits.range.end;
        let far = self.far.iter().flat_map(|(page, slots)| slots.indexed(page));
        let taken = far.filter(|&(index, slot)| ahead.contains(&index) && !slot.is_unused());
        ahead.len() - taken.count()
    }

    /// Brings every reserved id to life.
    #[inline]
    pub fn settle(&mut self) {
        if get_alone(&mut self.cursor) != IDLE {
            self.settle_reserved();
        }
    }

    #[cold]
    pub(super) fn settle_reserved(&mut self) {
        if self.opening.is_some() {
            // No stream is handed in: what they have given out is never alive.
            return self.close_streams([]);
        }
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

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::*;

    /// How many ids are left, by taking them all.
    fn left(book: &Entities) -> usize {
        let book = book.copy();
        std::iter::from_fn(|| book.reserve().ok()).count()
    }

    #[test]
    fn room_is_foreseen_to_the_last_id() {
        let limits = Limits { range: 5..60, fixed: false, last_version: 2 };
        let mut book = Entities::with_limits(limits);
        let id = |index, version| Entity::new(index, version).unwrap();
        // Demanded ahead: alive, dead, retired; and outside of the range.
        for far in [id(30, 0), id(31, 1), id(40, 2), id(59, 7), id(3, 0), id(60, 0), id(9000, 0)] {
            book.spawn_at(far).unwrap();
        }
        book.despawn(id(31, 1)).unwrap();
        book.despawn(id(40, 2)).unwrap();
        let mut seed = 7_u32;
        for _ in 0..600 {
            seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            let index = 5 + seed / 65_536 % 40;
            match (seed >> 8) % 5 {
                0 => _ = book.spawn_at(id(index, seed >> 30)),
                1 | 2 => _ = book.at(index).map(|living| book.despawn(living)),
                _ => _ = book.try_spawn(),
            }
            let left = left(&book);

            assert!(book.check_room(left).is_ok());
            assert!(book.check_room(left + 1).is_err() && book.check_room(usize::MAX).is_err());
            book.check().unwrap();
        }
    }
}
