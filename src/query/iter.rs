//! Walking the matches.

#![allow(unsafe_code, reason = "fetches entity after entity from one borrow of the query")]

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::data::shorter;
use super::{QueryData, QueryFilter, ReadOnlyQueryData};
use crate::entity::{Entity, LiveEntities};
use crate::world::World;

/// The entities among which all matches are: those of a pool, or all that live.
pub(super) enum Driver<'a> {
    Pool(std::slice::Iter<'a, Entity>),
    Living(LiveEntities<'a>),
}

/// The shortest way through all matches.
pub(super) fn driver<'a, D: QueryData, F: QueryFilter>(
    world: &'a World,
    data: &'a D::Fetch<'_>,
    filter: &'a F::Fetch<'_>,
) -> Driver<'a> {
    match shorter(D::driver(data), F::driver(filter)) {
        Some(entities) => Driver::Pool(entities.iter()),
        None => Driver::Living(world.entities()),
    }
}

impl Iterator for Driver<'_> {
    type Item = Entity;

    #[inline]
    fn next(&mut self) -> Option<Entity> {
        match self {
            Self::Pool(entities) => entities.next().copied(),
            Self::Living(entities) => entities.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Pool(entities) => entities.size_hint(),
            Self::Living(entities) => entities.size_hint(),
        }
    }
}

/// A walk over the matches of a query; see [`Query::iter_mut`](super::Query::iter_mut).
pub struct IterMut<'a, 'w, D: QueryData, F: QueryFilter> {
    driver: Driver<'a>,
    /// Shared although values are written; `lent` says what is really borrowed.
    data: &'a D::Fetch<'w>,
    filter: &'a F::Fetch<'w>,
    lent: PhantomData<&'a mut D::Fetch<'w>>,
}

/// A walk over the matches of a query that only reads; see [`Query::iter`](super::Query::iter).
pub struct Iter<'a, 'w, D: ReadOnlyQueryData, F: QueryFilter>(IterMut<'a, 'w, D, F>);

impl<'a, 'w, D: QueryData, F: QueryFilter> IterMut<'a, 'w, D, F> {
    pub(super) fn new(
        world: &'a World,
        data: &'a mut D::Fetch<'w>,
        filter: &'a F::Fetch<'w>,
    ) -> Self {
        let data = &*data;
        Self { driver: driver::<D, F>(world, data, filter), data, filter, lent: PhantomData }
    }
}

impl<'a, 'w, D: ReadOnlyQueryData, F: QueryFilter> Iter<'a, 'w, D, F> {
    pub(super) fn new(world: &'a World, data: &'a D::Fetch<'w>, filter: &'a F::Fetch<'w>) -> Self {
        let driver = driver::<D, F>(world, data, filter);
        Self(IterMut { driver, data, filter, lent: PhantomData })
    }
}

impl<'a, D: QueryData, F: QueryFilter> Iterator for IterMut<'a, '_, D, F> {
    type Item = D::Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let entity = self.driver.next()?;
            if F::passes(self.filter, entity) {
                // SAFETY: the driver yields each entity once (Q1); the query is borrowed uniquely
                // for as long as items live, or the terms only read.
                if let Some(item) = unsafe { D::fetch(self.data, entity) } {
                    return Some(item);
                }
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.driver.size_hint().1)
    }
}

impl<'a, D: ReadOnlyQueryData, F: QueryFilter> Iterator for Iter<'a, '_, D, F> {
    type Item = D::Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<D: QueryData, F: QueryFilter> FusedIterator for IterMut<'_, '_, D, F> {}

impl<D: ReadOnlyQueryData, F: QueryFilter> FusedIterator for Iter<'_, '_, D, F> {}

impl<D: QueryData, F: QueryFilter> fmt::Debug for IterMut<'_, '_, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterMut").field("left_at_most", &self.size_hint().1).finish()
    }
}

impl<D: ReadOnlyQueryData, F: QueryFilter> fmt::Debug for Iter<'_, '_, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("left_at_most", &self.size_hint().1).finish()
    }
}
