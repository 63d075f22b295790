//! Which rows belong to entities that are loose in a pool.
//!
//! A walk along blocks asks 64 rows at once. Who is loose in a pool that it refuses, or requires beyond what a block has, is known
//! by these bits. They are made when a walk first needs them, and kept for the others until the pool or a home changes.

use std::sync::{Arc, Mutex, PoisonError};

use super::super::World;
use crate::entity::Entity;
use crate::sparse::{Register, Rows};

/// The rows of those who are loose in a pool, as bits by the number of the row among all of the world.
#[derive(Debug, Default)]
pub(crate) struct LooseRows {
    /// Of the pool, and of the register; and how many were placed, because a pool may lose its rows and change in
    /// nothing else.
    times: Option<(u64, u64, usize)>,
    bits: Vec<u64>,
}

/// By component: what was found last.
#[derive(Debug, Default)]
pub(super) struct AllLoose(Mutex<Vec<Arc<LooseRows>>>);

impl LooseRows {
    /// By the number of the row.
    #[inline]
    pub(crate) fn bits(&self) -> &[u64] {
        &self.bits
    }

    fn find(&mut self, entities: &[Entity], rows: Option<&Rows>, register: &Register) {
        self.bits.clear();
        self.bits.resize(register.rows().div_ceil(64), 0);
        let mut mark = |entity: Entity| {
            if let Some(at) = register.number_of(register.home(entity.index())) {
                self.bits[at / 64] |= 1 << (at % 64);
            }
        };
        let Some(rows) = rows else { return entities.iter().for_each(|&entity| mark(entity)) };
        rows.loose(entities.len()).for_each(|at| mark(entities[at]));
    }
}

impl AllLoose {
    pub(super) fn heap_bytes(&self) -> usize {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|found| found.bits.capacity() * size_of::<u64>()).sum::<usize>()
            + kept.capacity() * size_of::<Arc<LooseRows>>()
    }
}

impl World {
    /// The rows of those who are loose in the pool of a component, which has these entities and rows and this stamp.
    pub(crate) fn loose_rows(
        &self,
        (component, stamp): (u32, u64),
        entities: &[Entity],
        rows: Option<&Rows>,
    ) -> Arc<LooseRows> {
        let register = &self.pools.homes.register;
        let find = || {
            let mut found = LooseRows::default();
            found.find(entities, rows, register);
            Arc::new(found)
        };
        if component as usize >= self.pools.len() {
            // One that the world does not know.
            return find();
        }
        let mut kept = self.pools.homes.loose.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() <= component as usize {
            kept.resize_with(component as usize + 1, Arc::default);
        }
        let kept = &mut kept[component as usize];
        let times = Some((stamp, register.changes(), rows.map_or(usize::MAX, Rows::count)));
        if kept.times != times {
            match Arc::get_mut(kept) {
                Some(found) => found.find(entities, rows, register),
                // Somebody still walks by the old one.
                None => *kept = find(),
            }
            Arc::get_mut(kept).expect("it is new, or nobody else has it").times = times;
        }
        Arc::clone(kept)
    }

    /// The number of the first row of a block among all rows of the world.
    #[inline]
    pub(crate) fn first_row_of(&self, block: u32) -> usize {
        self.pools.homes.register.first_row_of(block)
    }
}
