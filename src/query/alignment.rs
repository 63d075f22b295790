//! Whether all pools of a query are in the same order: found out once, and noted in the pools (S6).

use super::survey::{Column, Part, Role, Surveyor, common_prefix};
use crate::entity::Entity;

/// Compares the pools of a query.
pub(super) struct Compared<'a> {
    first: Option<Column<'a>>,
    is_same: bool,
    /// Whether that they are the same is known already.
    is_known: bool,
}

impl Compared<'_> {
    pub(super) fn new(is_known: bool) -> Self {
        Self { first: None, is_same: true, is_known }
    }

    /// What to note, if all pools are required and hold the same entities in the same order.
    pub(super) fn number(&self) -> Option<Noted> {
        let first = self.first.filter(|first| self.is_same && !first.entities.is_empty())?;
        Some(Noted(first.order.number()))
    }
}

impl<'a> Surveyor<'a> for Compared<'a> {
    fn column(&mut self, column: Column<'a>) {
        let first = *self.first.get_or_insert(column);
        debug_assert!(!self.is_known || are_same(first.entities, column.entities), "G1");
        self.is_same &= matches!(column.role, Role::Fetched | Role::With)
            && (self.is_known || are_same(first.entities, column.entities));
    }

    fn begin(&mut self, _: Part) {
        self.is_same = false;
    }

    fn end(&mut self) {}
}

fn are_same(a: &[Entity], b: &[Entity]) -> bool {
    a.len() == b.len() && common_prefix(a, b) == a.len()
}

/// Notes the number of an order in every pool of a query that has been compared.
pub(super) struct Noted(u64);

impl<'a> Surveyor<'a> for Noted {
    fn column(&mut self, column: Column<'a>) {
        column.order.is_that_of(self.0);
    }

    fn begin(&mut self, _: Part) {}

    fn end(&mut self) {}
}
