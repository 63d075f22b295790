//! A set that shares the order of stretches with others.

use super::{Band, Home, Register, Rows, Slot, SparseMap, SparseSet};
use crate::entity::Entity;
use crate::prefetch::prefetch;

/// What is found at the position of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heritage {
    /// The set has no such row.
    NoRow,
    /// No dead member.
    Nothing,
    /// A dead member, whose position is that of the newcomer now.
    At(usize),
}

impl<M: SparseMap> SparseSet<M> {
    /// The member with an index, and its position.
    pub(crate) fn find_index(&self, index: u32) -> Option<(Entity, usize)> {
        let slot = self.map.get(index);
        (!slot.is_vacant()).then(|| (self.packed[slot.position()], slot.position()))
    }

    /// Looks for members that are about to move, as [`read_ahead`](Self::read_ahead) does.
    pub(crate) fn read_indices_ahead(&self, indices: impl Iterator<Item = u32>) {
        let found = indices.filter_map(|index| self.find_index(index));
        // So that the loads are not optimised away.
        std::hint::black_box(found.fold(0, |sum, (entity, _)| sum ^ entity.raw()));
    }

    /// Stretches whose order other sets share.
    #[inline]
    pub(crate) fn rows(&self) -> Option<&Rows> {
        self.rows.as_deref()
    }

    /// Says which stretches have an order that other sets share, and who is at its place there (A1).
    pub(crate) fn set_rows(&mut self, rows: Option<Rows>) {
        self.rows = rows.map(Box::new);
    }

    /// Copies the stretches into memory that may be there.
    #[cfg(feature = "serde")]
    pub(crate) fn copy_rows(&self, copy: &mut Option<Box<Rows>>) {
        copy.clone_from(&self.rows);
    }

    /// Exchanges the stretches for those of another time, when the entities were in the order that they have now (A1).
    #[cfg(feature = "serde")]
    pub(crate) fn exchange_rows(&mut self, rows: &mut Option<Box<Rows>>) {
        std::mem::swap(&mut self.rows, rows);
    }

    /// Marks a position of a band as placed: the entity there is the one whose row it is (A1).
    #[inline]
    pub(crate) fn place(&mut self, at: usize) {
        debug_assert!(at < self.packed.len(), "A2");
        if let Some(rows) = &mut self.rows {
            rows.place(at);
        }
    }

    /// Takes the mark of a position away whose entity changes (A1).
    #[inline(always)]
    pub(crate) fn unplace(&mut self, at: usize) {
        if let Some(rows) = &mut self.rows {
            rows.unplace(at);
        }
    }

    /// Gives the position of a row to `entity`, whose row it is and who is not in the set, if the member there is dead.
    ///
    /// A member that is placed in a row of another is dead (R2).
    #[inline(always)]
    pub(crate) fn inherit(&mut self, entity: Entity, home: Home) -> Heritage {
        let Some(rows) = &self.rows else { return Heritage::NoRow };
        let Some(at) = rows.position_of(home) else { return Heritage::NoRow };
        if !rows.is_placed(at) {
            return Heritage::Nothing;
        }
        let dead = self.packed[at];
        let (first, row) = self.map.row();
        let place = |entity: Entity| entity.index().wrapping_sub(first) as usize;
        let (new, old) = (place(entity), place(dead));
        if new >= row.len() || old >= row.len() || row[new].position_of(entity).is_some() {
            // Rare: it has no slot yet, or a bundle names a component twice.
            return Heritage::Nothing;
        }
        debug_assert!(row[old].position_of(dead) == Some(at), "S1");
        self.stamp.raise();
        self.packed[at] = entity;
        let before = std::mem::replace(&mut row[new], Slot::new(at, entity));
        if before.is_vacant() {
            row[old] = Slot::VACANT;
        } else if new != old {
            // Another dead member has had the index. That one goes, and this one takes its position.
            let to = before.position();
            self.packed[to] = dead;
            row[old] = Slot::new(to, dead);
        }
        Heritage::At(at)
    }

    /// Asks for the memory of a row and of the slot of an index; returns the position of the row.
    #[inline(always)]
    pub(crate) fn prefetch_row(&self, home: Home, index: u32) -> Option<usize> {
        let at = self.rows.as_ref()?.position_of(home)?;
        prefetch(self.packed.as_ptr().wrapping_add(at));
        if let Some((first, slots)) = self.map.near() {
            prefetch(slots.as_ptr().wrapping_add(index.wrapping_sub(first) as usize));
        }
        Some(at)
    }

    /// The last position is gone.
    #[inline(always)]
    pub(super) fn shorten(&mut self) {
        if let Some(rows) = &mut self.rows {
            rows.shorten(self.packed.len());
        }
    }

    /// The stretches, to be marked by one who knows whose rows they are (A1).
    pub(crate) fn rows_mut(&mut self) -> Option<&mut Rows> {
        self.rows.as_deref_mut()
    }

    /// Checks A1: who is placed somewhere has its home there.
    pub(crate) fn check_places(&self, register: &Register) -> Result<(), String> {
        let Some(rows) = self.rows() else { return Ok(()) };
        for band in rows.bands() {
            let len = register.rows_of(band.block);
            if len != Some(band.len as usize) {
                let Band { len: has, block, .. } = band;
                return Err(format!("A1: {has} rows of block {block} are here, of {len:?}"));
            }
        }
        for (at, entity) in self.packed.iter().enumerate().filter(|(at, _)| rows.is_placed(*at)) {
            let (here, home) = (rows.home_at(at), register.home(entity.index()));
            if here != Some(home) {
                let here = here.unwrap_or(Home::NONE);
                return Err(format!("A1: {entity} is placed in {here}, but belongs in {home}"));
            }
        }
        Ok(())
    }
}
