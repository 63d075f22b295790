//! Takes rows away that have lost their tenants, and closes the gaps that they leave in pools.
//!
//! The vacant rows of an archetype are its last ones. Those that no newborn has needed for some rounds go at once, in
//! all pools, and at once if they are many. That moves nothing: what lies at their positions was loose before.
//!
//! Gaps are left between the bands of a pool. The last band of the pool moves into a gap that has room for it, which
//! is a move for each position that is won. Where gaps are too small for that, all bands behind one move, some thousand
//! rows in a round, when looking up what lies in the gaps has cost as much. Each pool does so without regard to others.

use super::super::pools::Pools;
use super::rehouse::bits;
use super::{Archetype, Homes};

/// Rows that a round moves at least, if there is so much to do, and the part of all entities that it moves.
pub(super) const BUDGET: (usize, usize) = (4096, 16);

impl Homes {
    /// Whether a small world has so many blocks that to lay it out anew, which is no more work than a round may do, pays.
    pub(super) fn is_scattered(&self, living: usize) -> bool {
        let blocks = self.blocks.len() - self.spare.len();
        let lived_in = || self.archetypes.iter().filter(|archetype| archetype.rows > 0).count();
        living <= BUDGET.0 && blocks > 4 && blocks > lived_in() * 2
    }
}

impl Pools {
    /// Takes the rows away that were vacant for a whole window.
    pub(super) fn trim(&mut self) {
        for number in 0..self.homes.archetypes.len() as u32 {
            let archetype = &self.homes.archetypes[number as usize];
            if archetype.surplus > 0 {
                self.trim_to(number, archetype.rows - archetype.surplus);
            }
            let archetype = &mut self.homes.archetypes[number as usize];
            archetype.surplus = archetype.rows - archetype.used;
        }
    }

    /// Takes vacant rows of an archetype away at once, if they are many.
    pub(super) fn trim_if_long(&mut self, number: u32) {
        let Archetype { rows, used, ref gaps, .. } = self.homes.archetypes[number as usize];
        if gaps.is_empty() && rows - used > used / 4 + 16 {
            self.trim_to(number, used + used / 32);
        }
    }

    /// Takes all rows of an archetype away but the first ones, which include all that are in use.
    pub(super) fn trim_to(&mut self, number: u32, kept: u32) {
        let mask = self.homes.archetypes[number as usize].mask;
        while let Some(&block) = self.homes.archetypes[number as usize].blocks.last() {
            let first = self.homes.blocks[block as usize].first;
            let archetype = &mut self.homes.archetypes[number as usize];
            let rows = kept.saturating_sub(first).min(archetype.rows - first);
            archetype.rows = first + rows;
            self.homes.register.trim(block, rows as usize);
            for bit in bits(mask) {
                self.homes_and_bit(bit).1.cut_band(block, rows as usize);
            }
            if rows > 0 {
                break;
            }
            self.homes.archetypes[number as usize].blocks.pop();
            self.homes.spare.insert(block);
        }
        let archetype = &mut self.homes.archetypes[number as usize];
        debug_assert!(archetype.used <= archetype.rows, "A4");
        archetype.surplus = archetype.surplus.min(archetype.rows - archetype.used);
        self.homes.is_unfinished = true;
    }

    /// Fills gaps between bands, as far as the budget of a round goes: with bands that fit, and in pools where the gaps
    /// have cost enough by moving all others.
    pub(super) fn close_gaps(&mut self, living: usize) {
        if !std::mem::take(&mut self.homes.is_unfinished) {
            return;
        }
        let mut left = BUDGET.0.max(living / BUDGET.1);
        for id in 0..self.len() {
            let (homes, pool) = self.homes_and(id);
            let (has_gaps, is_worn) = pool.is_worn();
            homes.is_unfinished |= has_gaps;
            if has_gaps && left > 0 {
                left = left.saturating_sub(pool.close_gaps(&homes.register, (left, is_worn)));
            }
        }
    }
}
