//! Looking entities up in a set that does not change, without reading the set itself again and again.

use super::{Slot, SparseMap};
use crate::entity::Entity;

/// Finds positions in a set that does not change.
pub(crate) struct Finder<'a, M: SparseMap> {
    pub(super) slots: M::View<'a>,
}

impl<M: SparseMap> Clone for Finder<'_, M> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: SparseMap> Copy for Finder<'_, M> {}

impl<M: SparseMap> Finder<'_, M> {
    /// Looks an entity up. Returns its position and whether it is a member; if it is not, the position means nothing.
    #[inline(always)]
    pub(crate) fn seek(&self, entity: Entity) -> (u32, bool) {
        let slot = M::get_in(self.slots, entity.index());
        (slot.position() as u32, slot.is_of(entity))
    }
}

/// The slots of a set, all of which lie side by side.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct SlotRow<'a> {
    /// The index of the first.
    pub(super) first: u32,
    pub(super) slots: &'a [Slot],
    /// Number of entities.
    pub(super) len: usize,
}

impl SlotRow<'_> {
    /// As [`SparseSet::position`](super::SparseSet::position); below the number of entities.
    #[inline(always)]
    pub(crate) fn position(self, entity: Entity) -> Option<usize> {
        let place = entity.index().wrapping_sub(self.first) as usize;
        if place >= self.slots.len() {
            return None;
        }
        self.slots[place].position_below(self.len, entity)
    }
}
