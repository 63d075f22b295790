//! Order of pools: sorting, and aligning several.
//!
//! Queries are fastest where their pools hold the same entities in the same order. Pools that are
//! filled together are so by themselves; the functions here bring it about where they are not.

use std::cmp::Ordering;

use super::pools::Pools;
use super::{Bundle, ComponentVisitor, OwnedByGroup, Pool, PoolMut, World};
use crate::component::Component;
use crate::entity::Entity;

impl<T: Component> PoolMut<'_, T> {
    /// Sorts the pool by its values; equal ones keep their order.
    ///
    /// # Errors
    /// [`OwnedByGroup`] if a group keeps the order.
    ///
    /// # Panics
    /// If `compare` does, or may if it is no total order; the pool is as it was then.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component, PartialEq, Debug)] struct Depth(u32);
    /// let mut world = World::new();
    /// world.spawn_batch([3, 1, 2].map(Depth));
    /// world.pool_mut::<Depth>().sort_by(|a, b| a.0.cmp(&b.0)).unwrap();
    /// assert_eq!(world.pool::<Depth>().as_slice(), [Depth(1), Depth(2), Depth(3)]);
    /// ```
    pub fn sort_by(
        &mut self,
        mut compare: impl FnMut(&T, &T) -> Ordering,
    ) -> Result<(), OwnedByGroup> {
        self.sort_pairs_by(|(_, a), (_, b)| compare(a, b))
    }

    /// Sorts the pool by a key of its values; equal ones keep their order.
    ///
    /// # Errors
    /// As [`sort_by`](Self::sort_by), which says when it panics, too.
    pub fn sort_by_key<K: Ord>(
        &mut self,
        mut key: impl FnMut(&T) -> K,
    ) -> Result<(), OwnedByGroup> {
        self.sort_by(|a, b| key(a).cmp(&key(b)))
    }

    /// Sorts the pool by its values; equal ones may change their order.
    ///
    /// # Errors
    /// As [`sort_by`](Self::sort_by), which says when it panics, too.
    pub fn sort_unstable_by(
        &mut self,
        mut compare: impl FnMut(&T, &T) -> Ordering,
    ) -> Result<(), OwnedByGroup> {
        self.put_in_order(|map| map.sort_unstable_by(|(_, a), (_, b)| compare(a, b)))
    }

    /// Sorts the pool by its entities and their values; equal ones keep their order.
    ///
    /// # Errors
    /// As [`sort_by`](Self::sort_by), which says when it panics, too.
    pub fn sort_pairs_by(
        &mut self,
        compare: impl FnMut((Entity, &T), (Entity, &T)) -> Ordering,
    ) -> Result<(), OwnedByGroup> {
        self.put_in_order(|map| map.sort_by(compare))
    }

    /// Sorts a pool that is nearly sorted, as after a frame in which little has moved; equal ones
    /// keep their order.
    ///
    /// # Errors
    /// [`OwnedByGroup`] if a group keeps the order.
    ///
    /// # Panics
    /// If `compare` does; the pool then has the same values in some order.
    ///
    /// # Complexity
    /// O(n + pairs in the wrong order), and no memory.
    pub fn sort_nearly_by(
        &mut self,
        mut compare: impl FnMut(&T, &T) -> Ordering,
    ) -> Result<(), OwnedByGroup> {
        self.put_in_order(|map| map.sort_nearly_by(|(_, a), (_, b)| compare(a, b)))
    }

    /// Brings the entities that `other` has, too, to the front, in the order of `other`, and says how
    /// many there are. The others follow in some order.
    ///
    /// # Errors
    /// [`OwnedByGroup`] if a group keeps the order.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component)] struct Rank(u32);
    /// # #[derive(Component)] struct Name(&'static str);
    /// let mut world = World::new();
    /// let [a, b] = [world.spawn((Rank(2), Name("a"))), world.spawn((Rank(1), Name("b")))];
    /// world.pool_mut::<Rank>().sort_by_key(|rank| rank.0).unwrap();
    /// world.pool_mut::<Name>().sort_as(&world.pool::<Rank>()).unwrap();
    /// assert_eq!(world.pool::<Name>().entities(), [b, a]);
    /// ```
    pub fn sort_as<U: Component>(&mut self, other: &Pool<'_, U>) -> Result<usize, OwnedByGroup> {
        self.put_in_order(|map| map.sort_as(other.entities().iter().copied()))
    }
}

impl World {
    /// Brings the entities that have all of these components to the front of their pools, in one
    /// order, and says how many there are.
    ///
    /// A query over these components then runs over plain slices, until the pools change. Where
    /// pools were filled together there is little to do.
    ///
    /// # Errors
    /// [`OwnedByGroup`] if a group keeps the order of one of the pools; nothing has changed then.
    ///
    /// # Complexity
    /// O(shortest pool): for a level that was loaded, or now and then.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Velocity(f32);
    /// let mut world = World::new();
    /// let ids: Vec<_> = (0..100).map(|i| world.spawn(Position(i as f32))).collect();
    /// for &id in ids.iter().rev().step_by(2) {
    ///     world.insert(id, Velocity(1.0)).unwrap();
    /// }
    /// assert_eq!(world.query::<(&Position, &Velocity)>().explain().runs, 50);
    ///
    /// assert_eq!(world.align::<(Position, Velocity)>(), Ok(50));
    /// assert_eq!(world.query::<(&Position, &Velocity)>().explain().runs, 1);
    /// ```
    pub fn align<B: Bundle>(&mut self) -> Result<usize, OwnedByGroup> {
        let mut named = Named { pools: &self.pools, ids: Some(Vec::new()) };
        B::visit(&mut named);
        // A component that nobody has ever had: no entity has all.
        let Some(mut ids) = named.ids else { return Ok(0) };
        ids.sort_unstable();
        ids.dedup();
        let Some(&lead) = ids.iter().min_by_key(|&&id| self.members(id).len()) else {
            return Ok(0);
        };
        if let Some(&id) = ids.iter().find(|&&id| self.pools.at(id).tag().is_owned) {
            return Err(OwnedByGroup { component: self.pools.at(id).name() });
        }

        let mut front = 0;
        let mut places = Vec::new();
        for at in 0..self.members(lead).len() {
            let entity = self.members(lead)[at];
            places.clear();
            let found =
                ids.iter().map_while(|&id| self.pools.at_mut(id).map_mut().position(entity));
            places.extend(found);
            if places.len() < ids.len() {
                continue;
            }
            for (&id, &from) in ids.iter().zip(&places) {
                // What stood there has been seen, or is not shared.
                if from != front {
                    self.pools.at_mut(id).map_mut().swap(front, from);
                }
            }
            front += 1;
        }
        Ok(front)
    }

    /// The entities of a pool.
    fn members(&mut self, id: usize) -> &[Entity] {
        self.pools.at_mut(id).map_mut().entities()
    }
}

/// Collects the ids of the components of a bundle; nothing if one is unknown.
struct Named<'w> {
    pools: &'w Pools,
    ids: Option<Vec<usize>>,
}

impl ComponentVisitor for Named<'_> {
    fn visit<T: Component>(&mut self) {
        let id = self.pools.get::<T>().map(|pool| pool.tag.id.index());
        self.ids = self.ids.take().zip(id).map(|(mut ids, id)| {
            ids.push(id);
            ids
        });
    }
}
