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
    /// Of entities that an optional pool has, where it is loose, or a required one that lacks their block.
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
    /// All: to look all up takes less than to find out which.
    All,
}

impl Found {
    /// The rows; `None` stands for all.
    pub(super) fn bits(&self) -> Option<&[u64]> {
        match self {
            Self::None => Some(&[]),
            Self::One(rows) => Some(rows.bits()),
            Self::Several(bits) => Some(bits),
            Self::All => None,
        }
    }

    fn add(&mut self, rows: Arc<LooseRows>) {
        *self = match mem::take(self) {
            Self::None => Self::One(rows),
            Self::All => Self::All,
            other => {
                let mut bits = other.bits().unwrap_or_default().to_vec();
                bits.resize(bits.len().max(rows.bits().len()), 0);
                for (all, more) in bits.iter_mut().zip(rows.bits()) {
                    *all |= more;
                }
                Self::Several(bits)
            }
        };
    }
}

/// Finds the rows of those who are loose in the refused pools of a query, or in the others.
pub(super) struct Loose<'s> {
    world: &'s World,
    driver: &'s Rows,
    /// Loose entities of a pool that are worth it, at most.
    most: usize,
    is_refused: bool,
    pub(super) found: Found,
}

impl<'s> Loose<'s> {
    pub(super) fn new(world: &'s World, driver: &'s Rows, is_refused: bool) -> Self {
        let most = driver.count();
        Self { world, driver, most, is_refused, found: Found::None }
    }
}

impl<'a> Surveyor<'a> for Loose<'_> {
    fn column(&mut self, column: Column<'a>) {
        let is_driver = column.rows.is_some_and(|rows| std::ptr::eq(rows, self.driver));
        let is_asked = (column.role == Role::Without) == self.is_refused && !is_driver;
        let loose = column.entities.len() - column.rows.map_or(0, Rows::count);
        if is_asked && !self.is_refused && loose > self.most {
            self.found = Found::All;
        } else if is_asked && loose > 0 {
            let Column { id, stamp, entities, rows, .. } = column;
            self.found.add(self.world.loose_rows((id, stamp), entities, rows));
        }
    }

    fn begin(&mut self, _: Part) {}

    fn end(&mut self) {}
}
