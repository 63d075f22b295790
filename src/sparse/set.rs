//! The sparse set itself; knows no component type.

use std::fmt;

use super::finder::{Finder, SlotRow};
use super::order::{Order, Stamp};
use super::{PagedMap, Rows, Slot, SparseMap};
use crate::entity::{Entity, Newcomers, first_version};
use crate::growth;

/// A set of entities in packed order, with constant-time look-up, insert and remove.
///
/// Pools are built on it. Alone it is a fast set of entities: a selection, the members of a
/// cell, everyone who was visited. It holds at most one version of each index; a stale id is
/// never found.
///
/// Removing moves the last entity to the place of the removed one; all others keep theirs.
///
/// # Examples
/// ```
/// # use esker::{World, sparse::SparseSet};
/// let mut world = World::new();
/// let [a, b, c] = [(); 3].map(|()| world.spawn(()));
///
/// let mut selected = SparseSet::new();
/// selected.extend([a, b, c]);
/// assert_eq!(selected.remove(a), Some(0));
/// assert_eq!(selected.as_slice(), [c, b]);
/// ```
#[derive(Clone)]
pub struct SparseSet<M: SparseMap = PagedMap> {
    pub(super) map: M,
    pub(super) packed: Vec<Entity>,
    /// Raised whenever the packed array changes.
    pub(super) stamp: Stamp,
    /// Stretches whose order other sets share, if there are any. Boxed, because few sets have them.
    pub(super) rows: Option<Box<Rows>>,
}

impl SparseSet {
    /// An empty set over a [`PagedMap`] map.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<M: SparseMap> Default for SparseSet<M> {
    fn default() -> Self {
        Self { map: M::default(), packed: Vec::new(), stamp: Stamp::default(), rows: None }
    }
}

impl<M: SparseMap> SparseSet<M> {
    /// Whether exactly this entity, version included, is in the set.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.position(entity).is_some()
    }

    /// The position of `entity` in [`as_slice`](Self::as_slice).
    #[inline(always)]
    #[doc(alias = "index")]
    pub fn position(&self, entity: Entity) -> Option<usize> {
        let position = self.map.get(entity.index()).position_of(entity);
        // Not by closures: debug builds look up as often as others.
        if cfg!(debug_assertions)
            && let Some(at) = position
        {
            assert!(self.packed[at].raw() == entity.raw(), "S1");
        }
        position
    }

    /// What [`position`](Self::position) reads, for many of them in a row.
    #[inline(always)]
    pub(crate) fn finder(&self) -> Finder<'_, M> {
        Finder { slots: self.map.view() }
    }

    /// Looks for entities that are about to leave: their slots are waited for all at once, and not
    /// one after the other.
    #[inline(never)]
    pub(crate) fn read_ahead(&self, entities: &[Entity]) {
        let finder = self.finder();
        let sum = entities.iter().fold(0, |sum, &entity| sum ^ finder.seek(entity).0);
        // Nobody wants to know it.
        std::hint::black_box(sum);
    }

    /// All slots and the index of the first, if they lie side by side.
    #[inline(always)]
    pub(crate) fn near_slots(&self) -> Option<(u32, &[Slot])> {
        self.map.near()
    }

    /// The same for many look-ups.
    #[inline(always)]
    pub(crate) fn slot_row(&self) -> Option<SlotRow<'_>> {
        let (first, slots) = self.near_slots()?;
        Some(SlotRow { first, slots, len: self.packed.len() })
    }

    /// A set of which S1 and S2 are known.
    pub(super) fn of_parts(map: M, packed: Vec<Entity>) -> Self {
        Self { map, packed, stamp: Stamp::first(), rows: None }
    }

    /// The map and the packed array, to be brought into another state together.
    pub(super) fn parts_mut(&mut self) -> (&mut M, &mut Vec<Entity>) {
        self.rows = None;
        (&mut self.map, &mut self.packed)
    }

    /// Says that the packed array has changed; returns the stamp that it has now.
    pub(super) fn renew_stamp(&mut self) -> u64 {
        self.stamp.raise();
        self.stamp()
    }

    /// Takes the place of another set: who has read its stamp sees that it is no more.
    #[cfg(feature = "serde")]
    pub(crate) fn succeed(&mut self, other: &Self) {
        self.stamp.raise_above(&other.stamp);
    }

    /// The entities in packed order.
    #[inline]
    #[doc(alias = "data")]
    pub fn as_slice(&self) -> &[Entity] {
        &self.packed
    }

    /// Number of entities.
    #[inline]
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// A number that grows whenever an entity comes, goes, or changes its position.
    ///
    /// As long as it is the same, positions read from this set are still right.
    #[inline]
    pub fn stamp(&self) -> u64 {
        self.stamp.get()
    }

    /// The order of the entities, of which it may be known which other sets have it (S6).
    #[inline(always)]
    pub(crate) fn order(&self) -> &Order {
        self.stamp.order()
    }

    /// Walks the entities in packed order.
    pub fn iter(&self) -> std::iter::Copied<std::slice::Iter<'_, Entity>> {
        self.packed.iter().copied()
    }

    /// Adds `entity` at the end; `false` if it was in the set.
    ///
    /// Another version of the same index gives up its place to the new one.
    #[inline]
    #[doc(alias = "push")]
    pub fn insert(&mut self, entity: Entity) -> bool {
        match self.entry(entity) {
            Entry::Vacant(vacant) => {
                vacant.fill();
                true
            }
            Entry::Present(_) => false,
            Entry::Displaced(at) => {
                self.rename(at, entity);
                true
            }
        }
    }

    /// Adds entities of which none is in the set, nor another version of it.
    pub(crate) fn append(&mut self, newcomers: Newcomers<'_>) {
        self.stamp.raise();
        let at = self.packed.len();
        growth::reserve(&mut self.packed, newcomers.len());
        match newcomers {
            Newcomers::Fresh(indices) => {
                let entities = indices.map(first_version);
                self.packed.extend(entities.clone());
                self.check_vacant(at);
                self.map.set_consecutive(entities, at);
            }
            Newcomers::Listed { entities, are_consecutive } => {
                self.packed.extend_from_slice(entities);
                self.check_vacant(at);
                if are_consecutive {
                    return self.map.set_consecutive(entities.iter().copied(), at);
                }
                for (at, &entity) in (at..).zip(entities) {
                    *self.map.slot_mut(entity.index(), at) = Slot::new(at, entity);
                }
            }
        }
    }

    /// Whether nobody from a position on has a slot yet: S2, for checks.
    fn check_vacant(&self, at: usize) {
        let is_vacant = |entity: &Entity| self.map.get(entity.index()).is_vacant();
        debug_assert!(self.packed[at..].iter().all(is_vacant), "S2");
    }

    /// Looks up `entity` for inserting.
    #[inline(always)]
    pub fn entry(&mut self, entity: Entity) -> Entry<'_> {
        let slot = self.map.slot_mut(entity.index(), self.packed.len());
        if slot.is_vacant() {
            let (packed, stamp) = (&mut self.packed, &mut self.stamp);
            return Entry::Vacant(VacantEntry { slot, packed, stamp, entity });
        }
        match slot.position_of(entity) {
            Some(at) => Entry::Present(at),
            None => Entry::Displaced(slot.position()),
        }
    }

    /// Gives the place of one version to another version of the same index.
    ///
    /// # Panics
    /// If `at` is out of bounds or the indices differ.
    pub fn rename(&mut self, at: usize, entity: Entity) {
        assert_eq!(self.packed[at].index(), entity.index(), "only the version may change");
        self.stamp.raise();
        self.unplace(at);
        self.packed[at] = entity;
        self.map.reset(entity.index(), Slot::new(at, entity));
    }

    /// Removes `entity` and says which position it had; the last entity has that position now.
    #[inline(always)]
    #[expect(clippy::question_mark, reason = "`?` is a call in debug builds")]
    #[doc(alias = "erase")]
    pub fn remove(&mut self, entity: Entity) -> Option<usize> {
        let Some(at) = self.map.vacate(entity) else { return None };
        debug_assert!(self.packed.as_slice()[at].raw() == entity.raw(), "S1");
        self.stamp.raise();
        let Some(moved) = self.packed.pop() else { return None };
        self.unplace(at);
        self.shorten();
        let packed = self.packed.as_mut_slice();
        if at < packed.len() {
            packed[at] = moved;
            self.map.reset(moved.index(), Slot::new(at, moved));
        }
        Some(at)
    }

    /// As [`remove`](Self::remove); `None`, and nothing has changed, if the slots do not lie in the
    /// row of the map.
    #[inline(always)]
    pub(crate) fn remove_from_row(&mut self, entity: Entity) -> Option<Option<usize>> {
        let (first, row) = self.map.row();
        let place = |entity: Entity| entity.index().wrapping_sub(first) as usize;
        let Some(at) = row.get(place(entity))?.position_of(entity) else { return Some(None) };
        let packed = self.packed.as_mut_slice();
        let last = *packed.last()?;
        if at + 1 < packed.len() {
            // The test before the first write.
            *row.get_mut(place(last))? = Slot::new(at, last);
            debug_assert_eq!(packed[at], entity, "S1");
            packed[at] = last;
        }
        self.stamp.raise();
        self.packed.pop();
        row[place(entity)] = Slot::VACANT;
        self.unplace(at);
        self.shorten();
        Some(Some(at))
    }

    /// Removes `entity` and says which position it had; the entity at `through`, which is not in
    /// front of it, has that position now, and the last one that of `through`.
    ///
    /// `None`, and nothing has changed, if their slots do not all lie in the row of the map.
    #[inline(always)]
    pub(crate) fn remove_in_row(&mut self, entity: Entity, through: usize) -> Option<usize> {
        let (first, row) = self.map.row();
        let place = |entity: Entity| entity.index().wrapping_sub(first) as usize;
        let packed = self.packed.as_mut_slice();
        let (&last, &follows) = (packed.last()?, packed.get(through)?);
        // All tests before the first write.
        let at = row.get(place(entity))?.position_of(entity)?;
        if place(last) >= row.len() || place(follows) >= row.len() || at > through {
            return None;
        }
        debug_assert_eq!(packed[at], entity, "S1");
        self.stamp.raise();
        // In this order, because two of them may be the same.
        packed[through] = last;
        row[place(last)] = Slot::new(through, last);
        if at != through {
            packed[at] = follows;
            row[place(follows)] = Slot::new(at, follows);
        }
        self.packed.pop();
        row[place(entity)] = Slot::VACANT;
        self.unplace(at);
        self.unplace(through);
        self.shorten();
        Some(at)
    }

    /// Removes the entity at a position; the last entity has that position now.
    ///
    /// # Panics
    /// If `at` is out of bounds.
    pub fn remove_at(&mut self, at: usize) -> Entity {
        let entity = self.packed[at];
        self.remove(entity);
        entity
    }

    /// Exchanges two positions.
    ///
    /// # Panics
    /// If one of them is out of bounds.
    #[inline]
    #[doc(alias = "swap_elements")]
    pub fn swap(&mut self, a: usize, b: usize) {
        let (at_a, at_b) = (self.packed[a], self.packed[b]);
        self.packed[a] = at_b;
        self.packed[b] = at_a;
        self.stamp.raise();
        self.unplace(a);
        self.unplace(b);
        self.map.reset(at_b.index(), Slot::new(a, at_b));
        self.map.reset(at_a.index(), Slot::new(b, at_a));
    }

    /// Exchanges the position of `entity` with another one; returns the one it had.
    ///
    /// `None`, and nothing has changed, if their slots do not both lie in the row of the map.
    #[inline(always)]
    pub(crate) fn bring_in_row(&mut self, entity: Entity, to: usize) -> Option<usize> {
        let (first, row) = self.map.row();
        let place = |entity: Entity| entity.index().wrapping_sub(first) as usize;
        let packed = self.packed.as_mut_slice();
        let other = *packed.get(to)?;
        let at = row.get(place(entity))?.position_of(entity)?;
        if at >= packed.len() {
            return None;
        }
        if at != to {
            if place(other) >= row.len() {
                return None;
            }
            debug_assert_eq!(packed[at], entity, "S1");
            self.stamp.raise();
            packed[at] = other;
            packed[to] = entity;
            row[place(entity)] = Slot::new(to, entity);
            row[place(other)] = Slot::new(at, other);
            self.unplace(at);
            self.unplace(to);
        }
        Some(at)
    }

    /// Empties the set; keeps its memory.
    pub fn clear(&mut self) {
        self.stamp.raise();
        self.rows = None;
        for entity in self.packed.drain(..) {
            self.map.vacate(entity);
        }
    }

    /// Makes room for `additional` more entities.
    ///
    /// Slots are reserved as for entities with consecutive indices; others may need more.
    pub fn reserve(&mut self, additional: usize) {
        self.map.reserve(additional);
        growth::reserve(&mut self.packed, additional);
    }

    /// Gives back pages without members and unused room.
    pub fn shrink_to_fit(&mut self) {
        self.map.shrink_to_fit();
        self.packed.shrink_to_fit();
    }

    /// Entities the packed array can hold without growing.
    pub fn capacity(&self) -> usize {
        self.packed.capacity()
    }

    /// Bytes of heap memory in use.
    pub fn heap_bytes(&self) -> usize {
        self.map.heap_bytes()
            + self.packed.capacity() * size_of::<Entity>()
            + self.rows.as_ref().map_or(0, |rows| size_of::<Rows>() + rows.heap_bytes())
    }

    /// Checks S1, S2 and A2; the error says which one is broken, and where.
    pub fn check(&self) -> Result<(), String> {
        let mut indices = rustc_hash::FxHashSet::default();
        for (at, &entity) in self.packed.iter().enumerate() {
            if self.map.get(entity.index()).position_of(entity) != Some(at) {
                return Err(format!("S1: the slot of {entity} does not lead to position {at}"));
            }
            if !indices.insert(entity.index()) {
                return Err(format!("S2: index {} is in twice", entity.index()));
            }
        }
        if let Some(rows) = &self.rows {
            rows.check(self.len())?;
        }
        match self.map.count_taken() {
            taken if taken == self.len() => Ok(()),
            taken => Err(format!("S1: {taken} slots are taken by {} entities", self.len())),
        }
    }
}

impl<M: SparseMap> SparseSet<M> {}

/// What [`SparseSet::entry`] found.
#[derive(Debug)]
pub enum Entry<'a> {
    /// No version of this index is in the set.
    Vacant(VacantEntry<'a>),
    /// The entity is at this position.
    Present(usize),
    /// Another version of the index is at this position.
    Displaced(usize),
}

/// A place for one entity that is not in the set.
#[derive(Debug)]
pub struct VacantEntry<'a> {
    slot: &'a mut Slot,
    packed: &'a mut Vec<Entity>,
    stamp: &'a mut Stamp,
    entity: Entity,
}

impl VacantEntry<'_> {
    /// Adds the entity at the end of the packed array.
    #[inline(always)]
    pub fn fill(self) {
        let at = self.packed.len();
        // Before the slot is taken: it may unwind for want of memory.
        growth::push(self.packed, self.entity);
        self.stamp.raise();
        *self.slot = Slot::new(at, self.entity);
    }
}

impl<M: SparseMap> Extend<Entity> for SparseSet<M> {
    fn extend<I: IntoIterator<Item = Entity>>(&mut self, entities: I) {
        for entity in entities {
            self.insert(entity);
        }
    }
}

impl<M: SparseMap> FromIterator<Entity> for SparseSet<M> {
    fn from_iter<I: IntoIterator<Item = Entity>>(entities: I) -> Self {
        let mut set = Self::default();
        set.extend(entities);
        set
    }
}

impl<'a, M: SparseMap> IntoIterator for &'a SparseSet<M> {
    type Item = Entity;
    type IntoIter = std::iter::Copied<std::slice::Iter<'a, Entity>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<M: SparseMap> fmt::Debug for SparseSet<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}
