//! Whether pools of a query are in the same order: found out once after a change, and noted in the pools (S6).

use super::survey::{Column, Part, Surveyor};
use crate::entity::Entity;
use crate::sparse::{Order, common_prefix};

/// The pools of a query, all of which are required and have the same length.
#[derive(Default)]
pub(super) struct Alignment<'a> {
    pools: Vec<(&'a Order, &'a [Entity])>,
}

impl Alignment<'_> {
    /// Compares the pools, and gives those that are equal one number, and others other numbers. When one of them is
    /// asked for the first time since it has changed, that is all that is noted: a world that changes between every
    /// two walks pays for no comparison.
    pub(super) fn note(self) {
        let asked = self.pools.iter().filter(|(order, _)| order.is_first_question());
        if asked.count() > 0 {
            return;
        }
        let firsts: Vec<usize> = (0..self.pools.len())
            .map(|nth| (0..nth).find(|&other| self.are_same(other, nth)).unwrap_or(nth))
            .collect();
        for (nth, _) in firsts.iter().enumerate().filter(|&(nth, &first)| nth == first) {
            let alike = || self.pools.iter().zip(&firsts).filter(move |(_, first)| **first == nth);
            // The least of all: so that pools which are compared in several pairs come to have the same in the end,
            // and none of the pairs takes from another what it has learnt.
            let known = alike().map(|((order, _), _)| order.get()).filter(|&number| number != 0);
            let number = known.min().unwrap_or_else(|| self.pools[nth].0.number());
            alike().for_each(|((order, _), _)| order.is_that_of(number));
        }
    }

    fn are_same(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.pools[a].1, self.pools[b].1);
        a.len() == b.len() && common_prefix(a, b) == a.len()
    }
}

impl<'a> Surveyor<'a> for Alignment<'a> {
    fn column(&mut self, column: Column<'a>) {
        self.pools.push((column.order, column.entities));
    }

    fn begin(&mut self, _: Part) {}

    fn end(&mut self) {}
}
