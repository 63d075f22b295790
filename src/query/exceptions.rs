//! Rows that the marks of pools do not tell, because entities are loose in a pool.

use std::mem;
use std::sync::{Arc, OnceLock};

use super::survey::{Column, Part, Role, Surveyor};
use crate::sparse::Rows;
use crate::world::{LooseRows, World};

/// Those that matter to a query. Found when a walk comes to the first band that needs them.
#[derive(Debug, Default)]
pub(super) struct Exceptions {
    /// Of entities that a refused pool has, where it is loose.
    pub(super) refused: OnceLock<Found>,
    /// Of entities whose block lacks a required pool that has them all the same.
    pub(super) extra: OnceLock<Found>,
}

/// Rows as bits, by their numbers among all of the world.
#[derive(Debug, Default)]
pub(super) enum Found {
    #[default]
    None,
    /// Those of one pool.
    One(Arc<LooseRows>),
    /// Those of several.
    Several(Vec<u64>),
}

impl Found {
    pub(super) fn bits(&self) -> &[u64] {
        match self {
            Self::None => &[],
            Self::One(rows) => rows.bits(),
            Self::Several(bits) => bits,
        }
    }

    fn add(&mut self, rows: Arc<LooseRows>) {
        *self = match mem::take(self) {
            Self::None => Self::One(rows),
            other => {
                let mut bits = other.bits().to_vec();
                bits.resize(bits.len().max(rows.bits().len()), 0);
                for (all, more) in bits.iter_mut().zip(rows.bits()) {
                    *all |= more;
                }
                Self::Several(bits)
            }
        };
    }
}

/// Finds the rows of those who are loose in the refused pools of a query, or in the required ones.
pub(super) struct Loose<'s> {
    world: &'s World,
    driver: &'s Rows,
    is_refused: bool,
    pub(super) found: Found,
}

impl<'s> Loose<'s> {
    pub(super) fn new(world: &'s World, driver: &'s Rows, is_refused: bool) -> Self {
        Self { world, driver, is_refused, found: Found::None }
    }
}

impl<'a> Surveyor<'a> for Loose<'_> {
    fn column(&mut self, column: Column<'a>) {
        let is_driver = column.rows.is_some_and(|rows| std::ptr::eq(rows, self.driver));
        let is_asked = (column.role == Role::Without) == self.is_refused && !is_driver;
        if is_asked && column.entities.len() > column.rows.map_or(0, Rows::count) {
            let Column { id, stamp, entities, rows, .. } = column;
            self.found.add(self.world.loose_rows((id, stamp), entities, rows));
        }
    }

    fn begin(&mut self, _: Part) {}

    fn end(&mut self) {}
}
