//! Copies of homes, and the way back to them.
//!
//! The order of pools depends on homes and rows, so who goes back, or goes on as a copy, has both as they were (T2).
//! They are good for one numbering of components and for pools in the order that they had; wherever a world gets
//! pools of another kind, it has no homes and no rows, and is laid out anew (A1). Which pools somebody has sorted is
//! kept with them: homes leave these alone.

#[cfg(feature = "serde")]
use std::any::TypeId;

#[cfg(feature = "serde")]
use super::super::World;
use super::{AllLoose, Archetype, Homes};
#[cfg(feature = "serde")]
use crate::sparse::Rows;

impl Clone for Archetype {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// In the memory that is there.
    fn clone_from(&mut self, other: &Self) {
        let Self { mask, blocks, rows, used, surplus, gaps, is_listed, waiting } = other;
        self.blocks.clone_from(blocks);
        self.gaps.clone_from(gaps);
        self.waiting.clone_from(waiting);
        (self.mask, self.rows, self.used) = (*mask, *rows, *used);
        (self.surplus, self.is_listed) = (*surplus, *is_listed);
    }
}

impl Clone for Homes {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// In the memory that is there: states that are kept are copied again and again.
    fn clone_from(&mut self, other: &Self) {
        let Self {
            is_active,
            register,
            blocks,
            archetypes,
            by_mask,
            strays,
            unseated,
            births: _,
            spare,
            gappy,
            chosen,
            able,
            heritable,
            most,
            reach,
            restless,
            idle,
            usual,
            lost,
            rounds,
            loose: _,
            is_stale,
            is_unfinished,
            sweep,
        } = other;
        self.register.clone_from(register);
        self.blocks.clone_from(blocks);
        self.archetypes.clone_from(archetypes);
        self.by_mask.clone_from(by_mask);
        self.strays.clone_from(strays);
        self.unseated.clone_from(unseated);
        self.births.clear();
        self.loose = AllLoose::default();
        self.gappy.clone_from(gappy);
        self.usual.clone_from(usual);
        self.lost.clone_from(lost);
        (self.is_active, self.is_stale, self.rounds) = (*is_active, *is_stale, *rounds);
        (self.is_unfinished, self.sweep, self.most) = (*is_unfinished, *sweep, *most);
        self.spare.clone_from(spare);
        self.chosen.clone_from(chosen);
        (self.able, self.restless, self.idle) = (*able, *restless, *idle);
        (self.reach, self.heritable) = (*reach, *heritable);
    }
}

#[cfg(feature = "serde")]
impl World {
    /// Copies where entities belong, to be known again when pools and rows are as they are now. `has_all` says that
    /// all components are copied, too.
    pub(crate) fn copy_homes(&self, copy: &mut Homes, has_all: bool) {
        copy.clone_from(&self.pools.homes);
        if !has_all {
            // Homes may be of components that were left out.
            copy.renew();
        }
    }

    /// Homes as numbers, for a file with columns of these component types, which have these rows.
    pub(crate) fn record_homes(
        &self,
        types: &[TypeId],
        rows: &[Option<&Rows>],
    ) -> Option<Vec<u64>> {
        let id = |&wanted: &TypeId| {
            (0..self.pools.len()).find(|&id| self.pools.at(id).component_type() == wanted)
        };
        let ids: Vec<usize> = types.iter().map(id).collect::<Option<_>>()?;
        self.pools.homes.record(&ids, rows, self.book().near_slots().len())
    }

    /// Has the homes of the world that it is a copy of, with the same components under the same numbers, and the same rows.
    pub(crate) fn dwell_as(&mut self, original: &Self, has_all: bool) {
        original.copy_homes(&mut self.pools.homes, has_all);
        self.pools.find_heritable();
    }
}

/// Which pools somebody has sorted, to be known again when the pools are as they are now.
#[cfg(feature = "serde")]
#[derive(Debug, Clone, Default)]
pub(crate) struct Sorted {
    /// The number of the world.
    of: Option<u64>,
    /// Numbers of their components.
    ids: Vec<u32>,
}

#[cfg(feature = "serde")]
impl World {
    /// Which pools somebody has sorted.
    pub(crate) fn sorted(&self) -> Sorted {
        let ids = (0..self.pools.len()).filter(|&id| self.pools.at(id).is_sorted());
        Sorted { of: Some(self.number()), ids: ids.map(|id| id as u32).collect() }
    }

    /// Knows which pools were sorted when they were as they are now; none, if that was another world, in which
    /// other components may have the same numbers.
    pub(crate) fn restore_sorted(&mut self, sorted: &Sorted) {
        let is_home = sorted.of == Some(self.number());
        self.mark_sorted(if is_home { &sorted.ids } else { &[] });
    }

    /// The same pools are sorted as in the world that it is a copy of.
    pub(crate) fn mark_sorted_as(&mut self, original: &Self) {
        self.mark_sorted(&original.sorted().ids);
    }

    fn mark_sorted(&mut self, sorted: &[u32]) {
        for id in 0..self.pools.len() {
            let pool = self.pools.at_mut(id);
            let is_sorted = sorted.contains(&(id as u32));
            if pool.is_sorted() != is_sorted {
                pool.set_sorted(is_sorted);
                pool.drop_rows();
                self.pools.homes.renew();
            }
        }
    }
}
