//! Walks E1–E4, for tests and for `World::verify`.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;

use super::Entities;
use super::reserve::IDLE;
use super::slot::{END, indexed};
use crate::sync::get_alone;

impl Entities {
    /// Checks the invariants of this book; the error says which one is broken, and where.
    ///
    /// # Complexity
    /// O(indices ever used).
    pub fn check(&mut self) -> Result<(), String> {
        self.settle();
        debug_assert_eq!(get_alone(&mut self.cursor), IDLE);
        let free = self.walk_free_list()?;
        let first = self.limits.range.start;
        let near = indexed(first, &self.near);
        let far = self.far.iter().flat_map(|(page, slots)| slots.indexed(page));
        let mut alive = 0;
        for (index, slot) in near.chain(far.filter(|(_, slot)| !slot.is_unused())) {
            let live = slot.is_live(index);
            alive += usize::from(live);
            if !std::ptr::eq(self.slot(index).expect("listed above"), slot) {
                return Err(format!("E1: index {index} has a near and a far slot"));
            }
            let is_in_range = self.limits.range.contains(&index);
            let threaded = self.demanded_link(index).is_some();
            let belongs = if live { threaded } else { is_in_range && !slot.is_retired() };
            if free.contains(&index) != belongs {
                return Err(format!("E2: slot {index} is in the free list: {}", !belongs));
            }
            if !live && slot.version() > self.limits.last_version && !slot.is_retired() {
                return Err(format!("E3: slot {index} would give out a spent version"));
            }
            if !live && slot.version() == 0 {
                return Err(format!("E3: dead slot {index} would give out the first version"));
            }
            if !live && !belongs && slot.word.load(Ordering::Relaxed) != 0 {
                return Err(format!("E1: dead slot {index} has a word"));
            }
        }
        let far = self.far.iter().flat_map(|(page, slots)| slots.indexed(page));
        let far_used = far.filter(|(_, slot)| !slot.is_unused()).count();
        if far_used != self.far_used as usize {
            return Err(format!("E1: {far_used} far slots are used, {} counted", self.far_used));
        }
        if alive != self.len() {
            return Err(format!("E1: {alive} slots are live, {} are counted", self.len()));
        }
        Ok(())
    }

    fn walk_free_list(&self) -> Result<FxHashSet<u32>, String> {
        let mut seen = FxHashSet::default();
        let (mut before, mut at) = (END, self.free);
        while at != END {
            let slot = self.slot(at - 1).filter(|_| seen.insert(at - 1));
            let Some(slot) = slot else {
                return Err(format!("E2: the free list comes to slot {} wrongly", at - 1));
            };
            let said = slot.word.load(Ordering::Relaxed);
            if self.demanded.is_empty() && said != u64::from(before) {
                return Err(format!("E5: slot {} does not say which one comes before", at - 1));
            }
            (before, at) = (at, self.link(at - 1));
        }
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_that_is_wrong_says_so() {
        let attempt = |spoil: fn(&mut Entities), broken: &str| {
            let mut book = Entities::new();
            let ids: Vec<_> = (0..4).map(|_| book.spawn()).collect();
            book.despawn(ids[1]).unwrap();
            book.check().unwrap();

            spoil(&mut book);

            let error = book.check().unwrap_err();
            assert!(error.starts_with(broken), "{error}");
        };
        attempt(|book| book.alive += 1, "E1");
        attempt(|book| book.free = END, "E2");
        attempt(|book| book.free = 1, "E2");
        attempt(|book| book.limits.last_version = 0, "E3");
        attempt(|book| book.near[1].set_dead(END, 0), "E3");
        attempt(|book| book.near[1].word.store(1, Ordering::Relaxed), "E5");
    }
}
