//! Whether all pools of a query are in the same order: found out once, and noted in the pools (S6).

use super::survey::{Column, Part, Role, Surveyor};
use crate::entity::Entity;
use crate::sparse::common_prefix;

/// Compares the pools of a query.
pub(super) struct Compared<'a> {
    first: Option<Column<'a>>,
    is_same: bool,
    /// Whether that they are the same is known already.
    is_known: bool,
    /// The least number that one of them has.
    number: Option<u64>,
}

impl Compared<'_> {
    pub(super) fn new(is_known: bool) -> Self {
        Self { first: None, is_same: true, is_known, number: None }
    }

    /// What to note, if all pools are required and hold the same entities in the same order.
    pub(super) fn number(&self) -> Option<Noted> {
        let first = self.first.filter(|first| self.is_same && !first.entities.is_empty())?;
        // The least of all: so that pools which are compared in several pairs come to have the same in the end,
        // and none of the pairs takes from another what it has learnt.
        Some(Noted(self.number.unwrap_or_else(|| first.order.number())))
    }
}

impl<'a> Surveyor<'a> for Compared<'a> {
    fn column(&mut self, column: Column<'a>) {
        let first = *self.first.get_or_insert(column);
        let known = Some(column.order.get()).filter(|&number| number != 0);
        self.number = self.number.into_iter().chain(known).min();
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
