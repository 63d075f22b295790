//! Sparse maps: from an entity index to its slot.

use std::fmt::Debug;

use super::Slot;
use super::whole::{Foreseen, span};
use crate::entity::Entity;
use crate::growth;
use crate::page::{PAGE_LEN, PageTable, page_of, place_in_page};

/// Entities one after the other, as often as need be.
///
/// # Soundness
/// The maps of a world are given rows of the library's own; a row of the user's reaches only a map of the user's.
pub trait Row: ExactSizeIterator<Item = Entity> + Clone {}

impl<I: ExactSizeIterator<Item = Entity> + Clone> Row for I {}

/// How a [`SparseSet`](super::SparseSet) finds the slot of an index.
///
/// Sealed: the two maps here are all there are, because [`SparseSet`](super::SparseSet) trusts
/// them to give back what was put in.
///
/// # Soundness
/// Sealed: positions that it gives are used without a bounds check (S1).
pub trait SparseMap: Default + Clone + Debug + Send + Sync + 'static + Sealed {
    /// What a look-up reads, apart from the map, so that it can be kept in registers.
    type View<'a>: Copy + Send + Sync;

    /// The view of the map as it is.
    fn view(&self) -> Self::View<'_>;

    /// The slot of this index, as [`get`](Self::get) gives it.
    fn get_in(view: Self::View<'_>, index: u32) -> Slot;

    /// The slot of this index, vacant if it was never set.
    fn get(&self, index: u32) -> Slot;

    /// The slot of this index for writing; makes it if need be.
    ///
    /// `members` is the number of slots that are taken: a map may spend memory on them.
    fn slot_mut(&mut self, index: u32, members: usize) -> &mut Slot;

    /// Sets the slots of entities whose indices follow each other, the first at position `at`.
    fn set_consecutive(&mut self, entities: impl Row, at: usize) {
        for (at, entity) in (at..).zip(entities) {
            *self.slot_mut(entity.index(), at) = Slot::new(at, entity);
        }
    }

    /// Makes the slots of these entities, the only ones, in one piece where that is worth it.
    fn prepare(&mut self, entities: &[Entity]);

    /// Sets the slot of an index whose slot exists.
    fn reset(&mut self, index: u32, slot: Slot);

    /// Makes the slot of `entity` vacant, if it is that of this very version, and returns the
    /// position it held.
    fn vacate(&mut self, entity: Entity) -> Option<usize>;

    /// Slots that lie side by side, and the index of the first; a slot that is in there is nowhere
    /// else. Who finds all that he needs here does without a call.
    fn row(&mut self) -> (u32, &mut [Slot]);

    /// The slots and the index of the first, if all of them lie side by side.
    fn near(&self) -> Option<(u32, &[Slot])>;

    /// Makes room for the slots of `additional` more members, if they lie side by side.
    fn reserve(&mut self, additional: usize);

    /// Gives back memory in which no slot is taken.
    fn shrink_to_fit(&mut self);

    /// Bytes of heap memory in use.
    fn heap_bytes(&self) -> usize;

    /// Number of slots that are not vacant.
    ///
    /// # Complexity
    /// O(slots): for checks.
    fn count_taken(&self) -> usize;
}

/// Keeps [`SparseMap`] to this module.
pub trait Sealed: Foreseen {}

/// Slots in one row where members are dense, in pages elsewhere: one load, no hashing.
///
/// The row is a *window* over the indices, wide enough for nearly all members, and bounded by
/// their number. A member that lies too far off has its slot in a page of its own (S4).
#[derive(Debug, Default, Clone)]
pub struct PagedMap {
    /// The first index of the window.
    first: u32,
    window: Vec<Slot>,
    far: PageTable<SlotPage>,
}

type SlotPage = [Slot; PAGE_LEN];

/// Slots that a window may have for each member of the set, beyond the first page: it takes no
/// more memory than pages would for members that are this far apart.
const SPREAD: u64 = 64;

fn new_page() -> Box<SlotPage> {
    let slots = vec![Slot::VACANT; PAGE_LEN].into_boxed_slice();
    slots.try_into().expect("the page has PAGE_LEN slots")
}

impl PagedMap {
    /// Place of an index in the window, if it is in there.
    #[inline(always)]
    fn place(&self, index: u32) -> usize {
        index.wrapping_sub(self.first) as usize
    }

    #[inline]
    fn far_slot(&self, index: u32) -> Slot {
        if self.far.is_unused() { Slot::VACANT } else { self.far_slot_in_page(index) }
    }

    #[cold]
    fn far_slot_in_page(&self, index: u32) -> Slot {
        self.far.get(page_of(index)).map_or(Slot::VACANT, |page| page[place_in_page(index)])
    }

    #[cold]
    #[inline(never)]
    fn far_slot_mut(&mut self, index: u32) -> Option<&mut Slot> {
        self.far.get_mut(page_of(index)).map(|page| &mut page[place_in_page(index)])
    }

    /// The slot of an index outside the window, which may be widened for it.
    #[cold]
    #[inline(never)]
    fn slot_outside(&mut self, index: u32, members: usize) -> &mut Slot {
        self.widen(index, members);
        let place = self.place(index);
        match self.window.get_mut(place) {
            Some(slot) => slot,
            None => &mut self.far.get_or_create(page_of(index), new_page)[place_in_page(index)],
        }
    }

    /// Widens the window to `index`, if the number of members warrants it, and keeps S4.
    fn widen(&mut self, index: u32, members: usize) {
        let page = PAGE_LEN as u64;
        let allowed = Self::allowed(members + 1);
        let (first, end) = match self.window.len() as u64 {
            0 => (u64::from(page_of(index)) * page, u64::from(page_of(index)) * page),
            len => (u64::from(self.first), u64::from(self.first) + len),
        };
        let new_end = end.max((u64::from(page_of(index)) + 1) * page);
        let mut new_first = first.min(u64::from(page_of(index)) * page);
        if new_end - new_first > allowed {
            return;
        }
        if new_first < first {
            // Room in front is made for as many again, so that it is not made often.
            let roomy = first.saturating_sub(end - first).min(new_first);
            if new_end - roomy <= allowed {
                new_first = roomy;
            }
        }
        let in_front = (first - new_first) as usize;
        let len = (new_end - new_first) as usize;
        let more = len - self.window.len();
        growth::reserve(&mut self.window, more);
        self.window.splice(0..0, std::iter::repeat_n(Slot::VACANT, in_front));
        self.window.resize(len, Slot::VACANT);
        self.first = new_first as u32;
        self.take_in_far();
    }

    /// Slots that the window may have for this many members.
    pub(super) fn allowed(members: usize) -> u64 {
        PAGE_LEN as u64 + SPREAD * members as u64
    }

    /// Lengthens the window by the slots of entities with consecutive indices, if the first of
    /// them is just behind it; `false` if not.
    fn lengthen(&mut self, entities: impl Row, at: usize) -> bool {
        let Some(first) = entities.clone().next().map(Entity::index) else { return true };
        let fits = match self.window.len() {
            0 => (first as usize).is_multiple_of(PAGE_LEN),
            len => self.place(first) == len,
        };
        let padded = (self.window.len() + entities.len()).next_multiple_of(PAGE_LEN);
        if !fits || !self.far.is_unused() || padded as u64 > Self::allowed(at + entities.len()) {
            return false;
        }
        if self.window.is_empty() {
            self.first = first;
        }
        // For the padding too: what is added to a full vector doubles it.
        let more = padded - self.window.len();
        growth::reserve(&mut self.window, more);
        let slots = entities.enumerate().map(|(nth, entity)| Slot::new(at + nth, entity));
        self.window.extend(slots);
        self.window.resize(padded, Slot::VACANT);
        true
    }

    /// Moves far pages that the window has come to cover into it.
    fn take_in_far(&mut self) {
        for number in self.far.numbers() {
            let place = self.place(number * PAGE_LEN as u32);
            if place < self.window.len() {
                let page = self.far.take(number).expect("the number was just listed");
                self.window[place..place + PAGE_LEN].copy_from_slice(&page[..]);
            }
        }
        // So that a look-up outside the window is answered without asking.
        if self.far.len() == 0 {
            self.far = PageTable::default();
        }
    }
}

impl Sealed for PagedMap {}

/// Makes a slot vacant, if it is that of this very version, and returns the position it held.
#[inline(always)]
fn vacate(slot: &mut Slot, entity: Entity) -> Option<usize> {
    let position = slot.position_of(entity);
    if position.is_some() {
        *slot = Slot::VACANT;
    }
    position
}

/// What a look-up in a [`PagedMap`] reads.
#[derive(Debug, Clone, Copy)]
pub struct PagedView<'a> {
    first: u32,
    window: &'a [Slot],
    map: &'a PagedMap,
}

impl SparseMap for PagedMap {
    type View<'a> = PagedView<'a>;

    #[inline(always)]
    fn view(&self) -> PagedView<'_> {
        PagedView { first: self.first, window: &self.window, map: self }
    }

    #[inline(always)]
    fn get_in(view: PagedView<'_>, index: u32) -> Slot {
        match view.window.get(index.wrapping_sub(view.first) as usize) {
            Some(&slot) => slot,
            None => view.map.far_slot(index),
        }
    }

    #[inline(always)]
    fn get(&self, index: u32) -> Slot {
        Self::get_in(self.view(), index)
    }

    #[inline(always)]
    fn slot_mut(&mut self, index: u32, members: usize) -> &mut Slot {
        let place = self.place(index);
        // Asked twice because a borrow returned from one branch would last through the other.
        if place < self.window.len() {
            return &mut self.window.as_mut_slice()[place];
        }
        self.slot_outside(index, members)
    }

    fn set_consecutive(&mut self, entities: impl Row, at: usize) {
        let count = entities.len();
        let Some(first) = entities.clone().next().map(Entity::index) else { return };
        debug_assert!(entities.clone().map(Entity::index).eq(first..first + count as u32));
        if self.lengthen(entities.clone(), at) {
            return;
        }
        // Widens the window over all of them, if it may be that wide.
        self.slot_mut(first, at);
        self.slot_mut(first + count as u32 - 1, at + count - 1);
        let place = self.place(first);
        if let Some(row) = self.window.get_mut(place..place.saturating_add(count)) {
            // Counted by `enumerate`: a range beside them would keep it from being vectorised.
            for (nth, (slot, entity)) in row.iter_mut().zip(entities).enumerate() {
                *slot = Slot::new(at + nth, entity);
            }
        } else {
            for (at, entity) in (at..).zip(entities) {
                *self.slot_mut(entity.index(), at) = Slot::new(at, entity);
            }
        }
    }

    fn prepare(&mut self, entities: &[Entity]) {
        let Some((first, end)) = span(entities) else { return };
        debug_assert!(self.window.is_empty() && self.far.is_unused());
        if end - first <= Self::allowed(entities.len()) {
            self.first = first as u32;
            self.window = vec![Slot::VACANT; (end - first) as usize];
        }
    }

    fn reserve(&mut self, additional: usize) {
        growth::reserve(&mut self.window, additional);
    }

    #[inline(always)]
    fn reset(&mut self, index: u32, slot: Slot) {
        let place = self.place(index);
        let window = self.window.as_mut_slice();
        if place < window.len() {
            window[place] = slot;
        } else if let Some(old) = self.far_slot_mut(index) {
            *old = slot;
        }
    }

    #[inline(always)]
    fn row(&mut self) -> (u32, &mut [Slot]) {
        (self.first, &mut self.window)
    }

    #[inline(always)]
    fn near(&self) -> Option<(u32, &[Slot])> {
        if self.far.is_unused() { Some((self.first, &self.window)) } else { None }
    }

    #[inline(always)]
    fn vacate(&mut self, entity: Entity) -> Option<usize> {
        let place = self.place(entity.index());
        if place < self.window.len() {
            return vacate(&mut self.window.as_mut_slice()[place], entity);
        }
        vacate(self.far_slot_mut(entity.index())?, entity)
    }

    fn shrink_to_fit(&mut self) {
        self.far.retain(|page| page.iter().any(|slot| !slot.is_vacant()));
        let taken = |slot: &Slot| !slot.is_vacant();
        let end = self.window.iter().rposition(taken).map_or(0, |last| last + 1);
        self.window.truncate(end.next_multiple_of(PAGE_LEN));
        let start = self.window.iter().position(taken).unwrap_or(0) / PAGE_LEN * PAGE_LEN;
        self.window.drain(..start);
        self.window.shrink_to_fit();
        self.first = if self.window.is_empty() { 0 } else { self.first + start as u32 };
    }

    fn heap_bytes(&self) -> usize {
        self.window.capacity() * size_of::<Slot>() + self.far.heap_bytes()
    }

    fn count_taken(&self) -> usize {
        let far = self.far.iter().flat_map(|(_, page)| page);
        self.window.iter().chain(far).filter(|slot| !slot.is_vacant()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(map: &mut PagedMap, indices: impl IntoIterator<Item = u32>) {
        for (members, index) in indices.into_iter().enumerate() {
            let entity = Entity::new(index, 0).unwrap();
            *map.slot_mut(index, members) = Slot::new(members, entity);
        }
    }

    /// S4.
    fn check(map: &PagedMap) {
        assert!((map.first as usize).is_multiple_of(PAGE_LEN));
        assert!(map.window.len().is_multiple_of(PAGE_LEN));
        let inside = |page: u32| map.place(page * PAGE_LEN as u32) < map.window.len();
        assert!(!map.far.numbers().into_iter().any(inside));
    }

    #[test]
    fn dense_members_are_all_in_the_window_wherever_it_begins() {
        for indices in [(0..5000).collect::<Vec<_>>(), (3_000_000..3_005_000).rev().collect()] {
            let mut map = PagedMap::default();

            fill(&mut map, indices.iter().copied());

            check(&map);
            assert_eq!(map.far.len(), 0);
            assert!((0..).zip(indices).all(|(at, index)| map.get(index).position() == at));
        }
    }

    #[test]
    fn a_member_far_off_does_not_widen_the_window() {
        let mut map = PagedMap::default();

        fill(&mut map, [0, 4_000_000_000, 1]);

        check(&map);
        assert_eq!((map.window.len(), map.far.len()), (PAGE_LEN, 1));
        assert_eq!(map.get(4_000_000_000).position(), 1);
        assert!(map.get(4_000_000_001).is_vacant());
    }

    #[test]
    fn a_window_that_grows_over_a_far_page_takes_it_in() {
        let mut map = PagedMap::default();

        fill(&mut map, [0, 100_000].into_iter().chain(1..2000).chain([100_001]));

        check(&map);
        assert_eq!(map.far.len(), 0);
        assert_eq!(map.get(100_000).position(), 1);
        assert_eq!(map.count_taken(), 2002);
    }

    #[test]
    fn consecutive_members_at_once_are_where_they_are_one_by_one() {
        for (before, row) in [
            (0..0, 0..3000),
            (0..0, 5..1500),
            (0..1024, 1024..1030),
            (0..700, 700..5000),
            (9_000_000..9_000_100, 0..2000),
        ] {
            let mut map = PagedMap::default();
            fill(&mut map, before.clone());
            let entities: Vec<_> = row.clone().map(|i| Entity::new(i, i % 3).unwrap()).collect();

            let room = map.window.capacity();
            map.set_consecutive(entities.iter().copied(), before.len());

            check(&map);
            // Room for all at once, and not for more than that.
            assert!(map.window.capacity() <= map.window.len().max(2 * room));
            assert_eq!(map.count_taken(), before.len() + row.len());
            assert!(before.clone().zip(0..).all(|(index, at)| map.get(index).position() == at));
            let places = entities.iter().zip(before.len()..);
            assert!(
                places.into_iter().all(|(&e, at)| map.get(e.index()).position_of(e) == Some(at))
            );
        }
    }

    /// By one, by several at once, wherever members lie already: the bound is that of `SPREAD`.
    #[test]
    fn the_window_is_widened_as_far_as_the_number_of_members_allows_and_no_farther() {
        let page = PAGE_LEN as u32;
        for (members, pages) in (1..70).flat_map(|members| (1..5).map(move |page| (members, page)))
        {
            let entity = |index| Entity::new(index, 0).unwrap();
            let is_covered = |map: &PagedMap, index| map.place(index) < map.window.len();
            let is_allowed = u64::from(pages + 1) * u64::from(page)
                <= u64::from(page) + SPREAD * u64::from(members + 1);
            let mut above = PagedMap::default();
            fill(&mut above, 0..members);
            let mut below = PagedMap::default();
            fill(&mut below, 9 * page..9 * page + members);

            *above.slot_mut(pages * page, members as usize) = Slot::new(0, entity(pages * page));
            let in_front = (9 - pages) * page;
            *below.slot_mut(in_front, members as usize) = Slot::new(0, entity(in_front));

            assert_eq!(is_covered(&above, pages * page), is_allowed, "{members} {pages}");
            assert_eq!(is_covered(&below, in_front), is_allowed, "{members} {pages}");
        }
        // Members that have left do not count.
        for left in [1, 10, 700] {
            let mut map = PagedMap::default();
            fill(&mut map, 0..40_960);
            (left..40_960).for_each(|index| _ = map.vacate(Entity::new(index, 0).unwrap()));
            let behind: Vec<Entity> =
                (40_960..40_970).map(|index| Entity::new(index, 0).unwrap()).collect();
            map.set_consecutive(behind.iter().copied(), left as usize);

            let is_allowed = 41_984 <= PagedMap::allowed(left as usize + behind.len());
            assert_eq!(map.window.len() > 40_960, is_allowed, "{left}");
            check(&map);
        }
    }

    #[test]
    fn shrinking_gives_back_what_lies_around_the_members() {
        let mut map = PagedMap::default();
        fill(&mut map, 0..10_000);
        for index in (0..10_000).filter(|index| !(5000..5010).contains(index)) {
            map.vacate(Entity::new(index, 0).unwrap());
        }

        map.shrink_to_fit();

        check(&map);
        assert_eq!(map.window.len(), PAGE_LEN);
        assert_eq!(map.get(5003).position(), 5003);
        assert!(map.get(4999).is_vacant() && map.get(0).is_vacant());
    }
}
