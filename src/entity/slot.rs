//! One slot: the state of one index.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Entity;

/// Number of "no slot": ends the free list.
pub(super) const END: u32 = 0;

/// Version half of a slot that gives out no more ids.
const RETIRED: u32 = u32::MAX;

/// The id that lives here, or the link to the next free slot; and the owner's word.
///
/// A *number* is an index plus one, as inside [`Entity`]. All zeroes is a slot that was never
/// used: a fresh page is a page of zeroes.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Number in the lower half, version in the upper one, as in [`Entity::raw`].
    id: u64,
    /// While the slot is dead: the number of the one before it in the free list (E5), or zero.
    pub(super) word: AtomicU64,
}

/// Slots in a row with their indices, of which `first` is the first.
pub(super) fn indexed(first: u32, slots: &[Slot]) -> impl DoubleEndedIterator<Item = (u32, &Slot)> {
    slots.iter().enumerate().map(move |(at, slot)| (first + at as u32, slot))
}

impl Slot {
    /// What it says of its index, without the word.
    #[inline]
    pub(super) fn bits(&self) -> u64 {
        self.id
    }

    #[inline]
    pub(super) fn from_bits(id: u64) -> Self {
        Self { id, word: AtomicU64::new(0) }
    }

    /// The same once more.
    #[inline]
    pub(super) fn copy(&self) -> Self {
        Self { id: self.id, word: AtomicU64::new(self.word.load(Ordering::Relaxed)) }
    }

    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        self.id == 0
    }

    /// Whether exactly this entity lives here.
    #[inline(always)]
    pub(super) fn holds(&self, entity: Entity) -> bool {
        self.id == entity.raw()
    }

    /// Whether the slot of this index is live (E1).
    #[inline]
    pub(super) fn is_live(&self, index: u32) -> bool {
        // As 64 bits: no number follows that of the last index.
        u64::from(self.number()) == u64::from(index) + 1
    }

    pub(super) fn is_retired(&self) -> bool {
        self.version() == RETIRED
    }

    /// Own number while live, number of the next free slot while dead.
    #[inline]
    pub(super) fn number(&self) -> u32 {
        self.id as u32
    }

    /// Version of the entity that lives here, or of the one that will.
    #[inline]
    pub(super) fn version(&self) -> u32 {
        (self.id >> 32) as u32
    }

    /// The entity that lives here.
    #[inline]
    pub(super) fn live_entity(&self) -> Entity {
        Entity::of(self.number().wrapping_sub(1), self.version())
    }

    /// A slot in which the first entity of this index lives.
    #[inline]
    pub(super) fn new_live(index: u32, word: u64) -> Self {
        Self { id: u64::from(index) + 1, word: AtomicU64::new(word) }
    }

    /// Brings the entity of the slot's present version to life.
    #[inline]
    pub(super) fn set_live(&mut self, index: u32) {
        self.id = u64::from(self.version()) << 32 | (u64::from(index) + 1);
        *self.word.get_mut() = 0;
    }

    /// Brings an entity of any version to life.
    pub(super) fn set_demanded(&mut self, entity: Entity) {
        self.id = entity.raw();
        *self.word.get_mut() = 0;
    }

    #[inline]
    pub(super) fn set_dead(&mut self, next: u32, version: u32) {
        self.id = u64::from(version) << 32 | u64::from(next);
        *self.word.get_mut() = 0;
    }

    /// Lets a dead slot be followed by another one in the free list.
    #[inline]
    pub(super) fn set_next(&mut self, next: u32) {
        self.id = u64::from(self.version()) << 32 | u64::from(next);
    }

    pub(super) fn set_retired(&mut self) {
        self.set_dead(END, RETIRED);
    }
}
