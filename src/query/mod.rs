//! Queries: many components at once.
//!
//! A query holds a guard on each pool it asks for, walks the shortest of the required ones (the
//! *driver*) and looks the others up.
//!
//! # Invariants
//! **Q1** – within one iteration each entity is fetched at most once: the entities of a pool are
//! distinct (S2), and so are the living ones.

mod data;
mod filter;
mod iter;

pub use data::{QueryData, ReadOnlyQueryData};
pub use filter::{QueryFilter, With, Without};
pub use iter::{Iter, IterMut};

use std::fmt;

use crate::entity::Entity;
use crate::world::{BorrowConflict, World};

/// Components of all entities that have them; see [`World::query`].
///
/// `D` says what is fetched: [`Entity`], `&T`, `&mut T`, `Option` of these, and tuples, nested as
/// you like. `F` says what else must hold: [`With`], [`Without`], and tuples of these.
///
/// While a query exists its components are borrowed, so nobody can add or remove them. A query
/// that writes is walked by `for … in &mut query` or [`iter_mut`](Self::iter_mut); one that only
/// reads, by `for … in &query` or [`iter`](Self::iter).
#[doc(alias = "view")]
pub struct Query<'w, D: QueryData, F: QueryFilter = ()> {
    data: D::Fetch<'w>,
    filter: F::Fetch<'w>,
    world: &'w World,
}

impl World {
    /// Asks for components of all entities that have them.
    ///
    /// Entities come in the packed order of the shortest pool that is required.
    ///
    /// # Panics
    /// If a component is borrowed in a way that excludes this, also by the query itself
    /// (`(&A, &mut A)`); [`try_query`](Self::try_query) returns that as an error.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Health(u32);
    /// # #[derive(Component)] struct Poisoned;
    /// let mut world = World::new();
    /// world.spawn((Health(10), Poisoned));
    /// world.spawn(Health(10));
    ///
    /// for health in &mut world.query_filtered::<&mut Health, With<Poisoned>>() {
    ///     health.0 -= 1;
    /// }
    /// let total: u32 = world.query::<&Health>().iter().map(|health| health.0).sum();
    /// assert_eq!(total, 19);
    /// ```
    #[track_caller]
    #[doc(alias = "view")]
    pub fn query<D: QueryData>(&self) -> Query<'_, D> {
        self.query_filtered()
    }

    /// Asks for components of all entities that have them and pass a filter.
    ///
    /// # Panics
    /// As [`query`](Self::query).
    #[track_caller]
    pub fn query_filtered<D: QueryData, F: QueryFilter>(&self) -> Query<'_, D, F> {
        self.try_query().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Asks for components, if they can be borrowed.
    ///
    /// # Errors
    /// [`BorrowConflict`] names the component and both borrows.
    #[track_caller]
    pub fn try_query<D: QueryData, F: QueryFilter>(
        &self,
    ) -> Result<Query<'_, D, F>, BorrowConflict> {
        Ok(Query { data: D::open(self)?, filter: F::open(self)?, world: self })
    }
}

impl<'w, D: QueryData, F: QueryFilter> Query<'w, D, F> {
    /// Walks the matches; for queries that only read.
    pub fn iter(&self) -> Iter<'_, 'w, D, F>
    where
        D: ReadOnlyQueryData,
    {
        Iter::new(self.world, &self.data, &self.filter)
    }

    /// Walks the matches.
    pub fn iter_mut(&mut self) -> IterMut<'_, 'w, D, F> {
        IterMut::new(self.world, &mut self.data, &self.filter)
    }

    /// The match of `entity`, if it is one; for queries that only read.
    pub fn get(&self, entity: Entity) -> Option<D::Item<'_>>
    where
        D: ReadOnlyQueryData,
    {
        if self.passes(entity) { D::read(&self.data, entity) } else { None }
    }

    /// The match of `entity`, if it is one.
    pub fn get_mut(&mut self, entity: Entity) -> Option<D::Item<'_>> {
        if self.passes(entity) { D::write(&mut self.data, entity) } else { None }
    }

    /// Whether `entity` is a match.
    pub fn contains(&self, entity: Entity) -> bool {
        self.passes(entity) && D::matches(&self.data, entity)
    }

    /// Number of matches.
    ///
    /// # Complexity
    /// O(driver).
    pub fn count(&self) -> usize {
        iter::driver::<D, F>(self.world, &self.data, &self.filter)
            .filter(|&entity| self.contains(entity))
            .count()
    }

    /// Whether nothing matches.
    pub fn is_empty(&self) -> bool {
        !iter::driver::<D, F>(self.world, &self.data, &self.filter)
            .any(|entity| self.contains(entity))
    }

    /// Whether it is alive and the filter lets it pass.
    fn passes(&self, entity: Entity) -> bool {
        self.world.is_alive(entity) && F::passes(&self.filter, entity)
    }
}

impl<'a, 'w, D: ReadOnlyQueryData, F: QueryFilter> IntoIterator for &'a Query<'w, D, F> {
    type Item = D::Item<'a>;
    type IntoIter = Iter<'a, 'w, D, F>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, 'w, D: QueryData, F: QueryFilter> IntoIterator for &'a mut Query<'w, D, F> {
    type Item = D::Item<'a>;
    type IntoIter = IterMut<'a, 'w, D, F>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<D: QueryData, F: QueryFilter> fmt::Debug for Query<'_, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<Self>())
    }
}
