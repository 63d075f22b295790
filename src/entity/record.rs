//! The book of ids as plain numbers: what a snapshot keeps of it, and the way back.
//!
//! Nothing in a record is believed: [`Entities::restore`] walks E1–E3 before it accepts one.

use std::mem;
use std::sync::atomic::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

use super::demand::Demanded;
use super::far_page::FarPage;
use super::many::Recent;
use super::reserve::IDLE;
use super::slot::{END, Slot};
use super::{Entities, Entity, Limits};
use crate::page::{PageTable, page_of, place_in_page};
use crate::sync::AtomicU64;

/// What a book is made of, apart from its near slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Index of the first near slot, and the index behind the last that may be given out.
    pub(crate) range: [u32; 2],
    pub(crate) fixed: bool,
    pub(crate) last_version: u32,
    /// Number of the first free slot.
    pub(crate) free: u32,
    /// Index and contents of each far slot.
    pub(crate) far: Vec<(u32, u64)>,
    /// Index, link if the free list runs through it, and floor of each demanded slot.
    pub(crate) demanded: Vec<(u32, Option<u32>, u32)>,
    /// Key of each stream of ids, and how many it needs.
    pub(crate) habits: Vec<(u64, u32)>,
}

/// A record that is that of no book, in words.
pub(crate) type Unsound = String;

impl Entities {
    /// All but the near slots.
    pub(crate) fn record(&self) -> Record {
        let far = self.far.iter().flat_map(|(page, slots)| slots.indexed(page));
        let far = far.filter(|(_, slot)| !slot.is_unused());
        let demanded = self.demanded.iter();
        let mut demanded: Vec<_> =
            demanded.map(|(&index, record)| (index, record.threaded, record.floor)).collect();
        // The order of a hash map is nobody's business.
        demanded.sort_unstable();
        let mut habits: Vec<_> = self.habits.iter().map(|(&key, &habit)| (key, habit)).collect();
        habits.sort_unstable();
        Record {
            habits,
            range: [self.limits.range.start, self.limits.range.end],
            fixed: self.limits.fixed,
            last_version: self.limits.last_version,
            free: self.free,
            far: far.map(|(index, slot)| (index, slot.bits())).collect(),
            demanded,
        }
    }

    /// The near slots, as numbers.
    pub(crate) fn near_slots(&self) -> impl ExactSizeIterator<Item = u64> {
        self.near.iter().map(Slot::bits)
    }

    /// Whether the near slots from a place on hold exactly these entities, one by one.
    pub(crate) fn are_near(&self, from: usize, entities: &[Entity]) -> bool {
        let slots = self.near.get(from..).and_then(|slots| slots.get(..entities.len()));
        // Without a jump for each: it runs in wide registers.
        let unlike = |unlike: u64, (slot, id): (&Slot, &Entity)| unlike | (slot.bits() ^ id.raw());
        slots.is_some_and(|slots| slots.iter().zip(entities).fold(0, unlike) == 0)
    }

    /// Copies near slots from a place on, as many as fit, and says how many.
    pub(crate) fn copy_near(&self, from: usize, into: &mut [u64]) -> usize {
        let slots = self.near.get(from..).unwrap_or_default();
        for (place, slot) in into.iter_mut().zip(slots) {
            *place = slot.bits();
        }
        slots.len().min(into.len())
    }

    /// The living entities in ascending order of their index.
    pub(crate) fn living(&self) -> Vec<Entity> {
        if !self.far.is_unused() {
            return self.iter().collect();
        }
        let first = self.limits.range.start;
        if self.is_full() {
            return self.near.iter().map(Slot::live_entity).collect();
        }
        let mut living = Vec::with_capacity(self.alive as usize);
        for (place, slot) in self.near.iter().enumerate() {
            if slot.is_live(first + place as u32) {
                living.push(slot.live_entity());
            }
        }
        living
    }

    /// Whether all slots are near and live: the indices of the living follow each other.
    pub(crate) fn is_full(&self) -> bool {
        self.far.is_unused() && self.alive as usize == self.near.len()
    }

    /// Clears all bits of all words but `keep`, and sets `add` in those of the living.
    pub(crate) fn sign_all(&mut self, keep: u64, add: u64) {
        if (keep, add) == (u64::MAX, 0) {
            return;
        }
        let first = self.limits.range.start;
        for (place, slot) in self.near.iter_mut().enumerate() {
            if slot.is_live(first + place as u32) {
                let word = slot.word.get_mut();
                *word = *word & keep | add;
            }
        }
        for number in self.far.numbers() {
            let page = self.far.get_mut(number).expect("the number was just listed");
            for (index, slot) in page.indexed_mut(number) {
                if slot.is_live(index) {
                    let word = slot.word.get_mut();
                    *word = *word & keep | add;
                }
            }
        }
    }

    /// Whether ids are reserved that are not alive yet.
    pub(crate) fn has_reserved(&self) -> bool {
        self.cursor.load(Ordering::Relaxed) != IDLE
    }

    /// The same book once more, words included; what is reserved in this one is alive in the copy. What
    /// open streams have in advance is not: they are closed in the copy, and have given out nothing.
    pub(crate) fn copy(&self) -> Self {
        let mut copy = Self::new();
        self.copy_into(&mut copy);
        copy
    }

    /// As `copy`, in the memory that another book has.
    pub(crate) fn copy_into(&self, copy: &mut Self) {
        let mut near = mem::take(&mut copy.near);
        near.clear();
        near.extend(self.near.iter().map(Slot::copy));
        let mut far = PageTable::default();
        for (number, slots) in self.far.iter() {
            *far.get_or_create(number, FarPage::new) = slots.copy();
        }
        *copy = Self {
            near,
            far,
            far_used: self.far_used,
            free: self.free,
            recent: Recent::default(),
            plain: self.plain,
            alive: self.alive,
            limits: self.limits.clone(),
            demanded: self.demanded.clone(),
            habits: self.habits.clone(),
            opening: None,
            cursor: AtomicU64::new(IDLE),
        };
        match &self.opening {
            None => {
                copy.cursor = AtomicU64::new(self.cursor.load(Ordering::Relaxed));
                copy.settle();
            }
            // What streams have in advance is not reserved by anybody yet.
            Some(opening) => opening.copy_common(copy),
        }
    }

    /// The book that was recorded; all words are zero.
    ///
    /// # Errors
    /// If it was not one: E1–E3 do not hold.
    pub(crate) fn restore(
        record: Record,
        near: impl ExactSizeIterator<Item = u64>,
    ) -> Result<Self, Unsound> {
        let [start, end] = record.range;
        let count = near.len();
        if start > end || end > Entity::MAX_INDEX || count > (end - start) as usize {
            return Err(format!("{count} slots do not fit into the range {start}..{end}"));
        }
        if record.last_version > Entity::MAX_VERSION {
            return Err(format!("{} is no version", record.last_version));
        }
        let mut limits = Limits::default();
        (limits.range, limits.fixed) = (start..end, record.fixed);
        limits.last_version = record.last_version;
        // Most books are full. That is seen on the way; what is not is looked at once more.
        let mut is_full = true;
        let near: Vec<Slot> = near
            .zip(start..)
            .map(|(bits, index)| {
                let slot = Slot::from_bits(bits);
                is_full &= slot.is_live(index) & !slot.is_retired();
                slot
            })
            .collect();
        let mut book = Self {
            plain: limits.range.len(),
            near,
            far: PageTable::default(),
            far_used: 0,
            free: record.free,
            recent: Recent::default(),
            alive: 0,
            limits,
            demanded: FxHashMap::default(),
            habits: FxHashMap::default(),
            opening: None,
            cursor: AtomicU64::new(IDLE),
        };
        book.restore_far(&record.far)?;
        book.demanded.reserve(record.demanded.len());
        for &(index, threaded, floor) in &record.demanded {
            if book.demanded.insert(index, Demanded { threaded, floor }).is_some() {
                return Err(format!("index {index} was demanded twice"));
            }
        }
        for &(key, habit) in &record.habits {
            // How large a habit may be is asked when streams are opened.
            let is_odd = key == 0 || habit == 0;
            if is_odd || book.habits.insert(key, habit).is_some() {
                return Err(format!("no stream {key:#x} has needed {habit} ids"));
            }
        }
        book.count_slots(is_full)?;
        book.link_back();
        Ok(book)
    }

    /// A book in which just these entities live, all of them demanded.
    ///
    /// # Errors
    /// If two of them have the same index.
    pub(crate) fn of_demanded(entities: &[Entity]) -> Result<Self, Unsound> {
        let mut book = Self::new();
        let Some(last) = entities.iter().map(|entity| entity.index()).max() else {
            return Ok(book);
        };
        if is_dense(entities, last) && last < book.limits.range.end {
            // Ids close together: one row of slots, instead of a page for each few of them.
            book.near.resize_with(last as usize + 1, Slot::default);
            book.plain = book.limits.range.len();
            for &entity in entities {
                let slot = &mut book.near[entity.index() as usize];
                if !slot.is_unused() {
                    return Err(format!("index {} occurs twice", entity.index()));
                }
                slot.set_demanded(entity);
            }
            for index in (0..=last).rev() {
                if book.near[index as usize].is_unused() {
                    // Version one: an unused slot would be no member of the list.
                    book.near[index as usize].set_dead(book.free, 1);
                    book.free = index + 1;
                }
            }
            book.alive = entities.len() as u32;
            book.link_back();
            return Ok(book);
        }
        for &entity in entities {
            book.spawn_at(entity).map_err(|error| error.to_string())?;
        }
        Ok(book)
    }

    /// Heap memory that a book of these demanded ids would take.
    pub(crate) fn bytes_of_demanded(entities: &[Entity]) -> usize {
        let last = entities.iter().map(|entity| entity.index()).max();
        match last {
            Some(last) if !is_dense(entities, last) => {
                bytes_of_far(entities.iter().map(|entity| entity.index()))
            }
            last => last.map_or(0, |last| last as usize + 1) * size_of::<Slot>(),
        }
    }

    fn restore_far(&mut self, far: &[(u32, u64)]) -> Result<(), Unsound> {
        for &(index, bits) in far {
            let slot = Slot::from_bits(bits);
            let is_near = self.near_place(index) < self.near.len();
            if index > Entity::MAX_INDEX || is_near || slot.is_unused() {
                return Err(format!("index {index} is not that of a far slot"));
            }
            if self.limits.fixed && !self.limits.range.contains(&index) {
                return Err(format!("index {index} lies beyond the fixed limit"));
            }
            let is_in_range = self.limits.range.contains(&index);
            if !is_in_range && !slot.is_live(index) && slot.number() != END {
                return Err(format!("slot {index} is in the free list, and lies beyond the range"));
            }
            let page = self.far.get_or_create(page_of(index), FarPage::new);
            let place = page.get_or_create(place_in_page(index));
            if !place.is_unused() {
                return Err(format!("index {index} occurs twice"));
            }
            *place = slot;
            self.far_used += 1;
            if is_in_range {
                self.plain = self.plain.min(self.near_place(index));
            }
        }
        Ok(())
    }

    /// Counts the living, and checks each slot and the free list on the way. `is_full` says that all
    /// near slots are live and not retired.
    fn count_slots(&mut self, is_full: bool) -> Result<(), Unsound> {
        let (mut alive, mut free) = (0_u32, 0_usize);
        let first = self.limits.range.start;
        let unknown = if is_full { &[][..] } else { &self.near[..] };
        alive += (self.near.len() - unknown.len()) as u32;
        for (place, slot) in unknown.iter().enumerate() {
            let index = first + place as u32;
            let is_live = slot.is_live(index);
            alive += u32::from(is_live);
            free += usize::from(!is_live && !slot.is_retired());
            if slot.is_unused() {
                return Err(format!("slot {index} was never used"));
            }
            self.check_slot(index, slot)?;
        }
        for (page, slots) in self.far.iter() {
            for (index, slot) in slots.indexed(page).filter(|(_, slot)| !slot.is_unused()) {
                let is_live = slot.is_live(index);
                alive += u32::from(is_live);
                let is_free = !is_live && !slot.is_retired();
                free += usize::from(is_free && self.limits.range.contains(&index));
                self.check_slot(index, slot)?;
            }
        }
        for (&index, record) in &self.demanded {
            let is_live = self.slot(index).is_some_and(|slot| slot.is_live(index));
            let is_in_range = self.limits.range.contains(&index);
            if !is_live || (record.threaded.is_some() && !is_in_range) {
                return Err(format!("index {index} was not demanded"));
            }
            free += usize::from(record.threaded.is_some());
        }
        self.alive = alive;
        self.check_free_list(free)
    }

    fn check_slot(&self, index: u32, slot: &Slot) -> Result<(), Unsound> {
        if slot.is_live(index) && slot.is_retired() {
            return Err(format!("slot {index} is live and retired"));
        }
        if slot.is_live(index) || slot.is_retired() && slot.number() == END {
            return Ok(());
        }
        // Version 0 is given out only with a slot that is made for it: `unclaim` relies on that.
        if slot.version() == 0 {
            return Err(format!("slot {index} is free and has had no entity"));
        }
        // A retired slot has no link, and a version that is spent retires its slot.
        if slot.is_retired() || slot.version() > self.limits.last_version {
            return Err(format!("slot {index} would give out a spent version"));
        }
        Ok(())
    }

    /// Walks the free list, which must have `expected` slots.
    fn check_free_list(&self, expected: usize) -> Result<(), Unsound> {
        let mut seen = vec![0_u64; self.near.len().div_ceil(64)];
        let mut seen_far = FxHashSet::default();
        let (mut at, mut count) = (self.free, 0);
        while at != END {
            let index = at - 1;
            let place = self.near_place(index);
            let Some(slot) = self.slot(index).filter(|slot| !slot.is_unused()) else {
                return Err(format!("the free list leads to slot {index}, which does not exist"));
            };
            let is_first = match seen.get_mut(place / 64).filter(|_| place < self.near.len()) {
                Some(word) => {
                    let is_first = *word >> (place % 64) & 1 == 0;
                    *word |= 1 << (place % 64);
                    is_first
                }
                None => seen_far.insert(index),
            };
            if !is_first {
                return Err(format!("the free list comes to slot {index} twice"));
            }
            count += 1;
            at = match self.demanded_link(index) {
                Some(link) => link,
                None if slot.is_live(index) || slot.is_retired() => {
                    return Err(format!("the free list leads to slot {index}, which is not free"));
                }
                None => slot.number(),
            };
        }
        if count == expected {
            Ok(())
        } else {
            Err(format!("the free list has {count} slots, and {expected} are free"))
        }
    }
}

/// Whether ids lie so close together that they are worth one row of slots.
fn is_dense(entities: &[Entity], last: u32) -> bool {
    last as usize / 4 <= entities.len()
}

/// Heap memory that far slots of these indices would take.
pub(crate) fn bytes_of_far(indices: impl Iterator<Item = u32>) -> usize {
    let mut pages: FxHashMap<u32, usize> = FxHashMap::default();
    indices.for_each(|index| *pages.entry(page_of(index)).or_default() += 1);
    pages.into_values().map(FarPage::bytes_for).sum()
}

#[cfg(test)]
mod tests;
