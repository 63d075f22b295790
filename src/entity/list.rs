//! The free list: slots of dead entities whose indices are given out again, the last one first.
//!
//! It runs through the slots in both directions (E2, E5), so a slot can be taken out of the middle: a newborn that takes the row of a
//! dead entity has its index, too, where that is still free.

use super::entities::far_slot_mut;
use super::slot::END;
use super::{Entities, Entity};

impl Entities {
    /// Takes the first slot off the free list and makes it live; its index.
    #[inline]
    pub(super) fn next_free(&mut self) -> Option<u32> {
        let index = self.free.wrapping_sub(1);
        let place = self.near_place(index);
        match self.near.get_mut(place) {
            Some(slot) if !slot.is_live(index) => {
                self.free = slot.number();
                slot.set_live(index);
                self.set_before(self.free, END);
                Some(index)
            }
            _ => self.next_free_elsewhere(),
        }
    }

    /// Puts a slot at the head of the free list, unless it is spent.
    ///
    /// One outside the range is forgotten: no id is given out there, so its version is of no use.
    pub(super) fn free_slot(&mut self, index: u32, next_version: u32) {
        if !self.limits.range.contains(&index) {
            return self.forget_far(index);
        }
        let next = self.free;
        let spent = next_version > self.limits.last_version;
        let slot = self.slot_mut(index).expect("a slot that was live exists");
        if spent {
            slot.set_retired();
        } else {
            slot.set_dead(next, next_version);
            self.free = index + 1;
            self.set_before(next, self.free);
        }
    }

    /// Says which slot comes before another one in the free list (E5).
    #[inline(always)]
    pub(super) fn set_before(&mut self, number: u32, before: u32) {
        if number == END {
            return;
        }
        let place = self.near_place(number - 1);
        match self.near.get_mut(place) {
            Some(slot) if !slot.is_live(number - 1) => *slot.word.get_mut() = u64::from(before),
            // One that is demanded and lives.
            Some(_) => {}
            None => self.set_before_far(number, before),
        }
    }

    #[cold]
    fn set_before_far(&mut self, number: u32, before: u32) {
        if let Some(slot) = far_slot_mut(&mut self.far, number - 1)
            && !slot.is_live(number - 1)
        {
            *slot.word.get_mut() = u64::from(before);
        }
    }

    /// Brings the entity of an index to life that is anywhere in the free list, if it is found there at once.
    #[inline]
    pub(crate) fn claim_at(&mut self, index: u32) -> Option<Entity> {
        self.settle();
        let place = self.near_place(index);
        let slot = self.near.get_mut(place)?;
        let is_free = !slot.is_live(index) && !slot.is_retired() && !slot.is_unused();
        if !is_free || !self.demanded.is_empty() {
            return None;
        }
        let (before, next) = (*slot.word.get_mut() as u32, slot.number());
        if before == END {
            debug_assert_eq!(self.free, index + 1, "E5");
            self.free = next;
        } else {
            let place = self.near_place(before - 1);
            let slot = self.near.get_mut(place)?;
            debug_assert!(!slot.is_live(before - 1) && slot.number() == index + 1, "E5");
            slot.set_next(next);
        }
        self.set_before(next, before);
        self.alive += 1;
        let slot = &mut self.near[place];
        slot.set_live(index);
        Some(slot.live_entity())
    }

    /// Says of all slots of the free list which one comes before.
    pub(super) fn link_back(&mut self) {
        let (mut before, mut at) = (END, self.free);
        while at != END {
            let next = self.link(at - 1);
            self.set_before(at, before);
            (before, at) = (at, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::*;

    #[test]
    fn an_index_is_taken_out_of_the_middle_and_the_others_stay_in_order() {
        let mut book = Entities::new();
        let ids: Vec<Entity> = (0..5).map(|_| book.spawn()).collect();
        ids.iter().for_each(|&id| book.despawn(id).unwrap());

        let taken = [2, 4, 0].map(|index| book.claim_at(index).unwrap().index());

        assert_eq!(taken, [2, 4, 0]);
        assert_eq!(book.claim_at(2), None, "it lives");
        assert_eq!(book.claim_at(9), None, "it was never used");
        book.check().unwrap();
        assert_eq!([book.spawn().index(), book.spawn().index()], [3, 1]);
    }

    #[test]
    fn the_list_is_whole_whatever_is_done() {
        for seed in 1..50_u32 {
            let limits = Limits { range: 5..60, fixed: false, last_version: 3 };
            let mut book = Entities::with_limits(limits);
            let mut random = seed.wrapping_mul(0x9E37_79B9) | 1;
            for _ in 0..400 {
                random ^= random << 13;
                random ^= random >> 17;
                random ^= random << 5;
                let index = 5 + random / 65_536 % 60;
                match random % 16 {
                    0 => _ = Entity::new(index, random >> 30).map(|id| book.spawn_at(id)),
                    1..=5 => _ = book.at(index).map(|living| book.despawn(living)),
                    6..=8 => {
                        let dead = book.at(index).is_none();
                        let claimed = book.claim_at(index);
                        assert!(claimed.is_none_or(|id| dead && id.index() == index), "{seed}");
                    }
                    9 => _ = book.reserve(),
                    10 => book = book.copy(),
                    11 => {
                        book.settle();
                        let slots: Vec<u64> = book.near_slots().collect();
                        book = Entities::restore(book.record(), slots.into_iter()).unwrap();
                    }
                    12 if random % 7 == 0 => book.clear(),
                    _ => _ = book.try_spawn(),
                }
                book.check().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            }
        }
    }
}
