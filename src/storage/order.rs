//! Putting the packed order of a map in order.
//!
//! Sorting has two halves: the new order is found while the map stands still, so that a comparison
//! that panics changes nothing; then it is brought about by swaps, which move entities and values
//! together (P1) and run no code of the user's.

use std::cmp::Ordering;

use super::{EntityMap, Storage};
use crate::entity::Entity;

impl<T, S: Storage<T>> EntityMap<T, S> {
    /// Sorts by comparing entities with their values; equal ones keep their order.
    ///
    /// # Panics
    /// If `compare` does, or may if it is no total order; the map is as it was then.
    pub fn sort_by(&mut self, mut compare: impl FnMut((Entity, &T), (Entity, &T)) -> Ordering) {
        let order = self.order(|places| places.sort_by(|a, b| compare((a.0, a.1), (b.0, b.1))));
        self.arrange(order);
    }

    /// Sorts by comparing entities with their values; equal ones may change their order.
    ///
    /// # Panics
    /// As [`sort_by`](Self::sort_by).
    pub fn sort_unstable_by(
        &mut self,
        mut compare: impl FnMut((Entity, &T), (Entity, &T)) -> Ordering,
    ) {
        let order =
            self.order(|places| places.sort_unstable_by(|a, b| compare((a.0, a.1), (b.0, b.1))));
        self.arrange(order);
    }

    /// Sorts what is nearly sorted, by moving each value as far to the front as need be; equal ones
    /// keep their order.
    ///
    /// # Panics
    /// If `compare` does; the map then holds the same values in some order.
    ///
    /// # Complexity
    /// O(n + pairs in the wrong order), and no memory.
    pub fn sort_nearly_by(
        &mut self,
        mut compare: impl FnMut((Entity, &T), (Entity, &T)) -> Ordering,
    ) {
        let mut is_less = |map: &Self, a: usize, b: usize| {
            let [a, b] = [a, b].map(|at| map.entities()[at]);
            let value = |entity| map.get(entity).expect("it is in the map");
            compare((a, value(a)), (b, value(b))).is_lt()
        };
        for end in 1..self.len() {
            let mut at = end;
            while at > 0 && is_less(self, at, at - 1) {
                self.swap(at, at - 1);
                at -= 1;
            }
        }
    }

    /// Brings the members among `entities` to the front, in that order, and says how many there
    /// are. The others follow in some order.
    pub fn sort_as(&mut self, entities: impl IntoIterator<Item = Entity>) -> usize {
        let mut front = 0;
        for entity in entities {
            // One that was named before is in front already.
            if let Some(at) = self.set().position(entity).filter(|&at| at >= front) {
                self.swap(front, at);
                front += 1;
            }
        }
        front
    }

    /// The positions in the order that `sort` gives them.
    fn order(&self, sort: impl FnOnce(&mut Vec<(Entity, &T, u32)>)) -> Vec<u32> {
        let mut places: Vec<(Entity, &T, u32)> =
            self.iter().zip(0..).map(|((entity, value), at)| (entity, value, at)).collect();
        sort(&mut places);
        places.into_iter().map(|(_, _, at)| at).collect()
    }

    /// Puts at each place what was at the position that `order` has there.
    fn arrange(&mut self, mut order: Vec<u32>) {
        for start in 0..order.len() {
            // Along a cycle: each swap brings one to its place.
            let mut at = start;
            while order[at] as usize != start {
                let from = order[at] as usize;
                self.swap(at, from);
                order[at] = at as u32;
                at = from;
            }
            order[at] = at as u32;
        }
    }
}
