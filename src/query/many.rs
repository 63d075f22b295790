//! Matches of a list of entities, and combinations of matches.

#![allow(unsafe_code, reason = "lends the items of chosen entities")]

use std::borrow::Borrow;
use std::fmt;
use std::iter::FusedIterator;

use super::Query;
use super::filter::QueryFilter;
use super::mode::{Mode, Reading, Writing};
use super::term::QueryData;
use super::view::QueryView;
use crate::entity::Entity;

/// The matches among some entities; see [`Query::iter_many`].
pub struct Many<'a, D: QueryData, F: QueryFilter, I> {
    view: QueryView<'a, D, F>,
    entities: I,
}

/// The matches among some entities, one at a time; see [`Query::iter_many_mut`].
pub struct ManyMut<'a, 'w, D: QueryData, F: QueryFilter, I> {
    query: &'a mut Query<'w, D, F>,
    entities: I,
}

/// The combinations of `K` matches; see [`Query::iter_combinations`].
pub struct Combinations<'a, 'w, D: QueryData, F: QueryFilter, const K: usize> {
    query: &'a Query<'w, D, F>,
    chosen: Chosen<D, K>,
}

/// The combinations of `K` matches, one at a time; see [`Query::iter_combinations_mut`].
pub struct CombinationsMut<'a, 'w, D: QueryData, F: QueryFilter, const K: usize> {
    query: &'a mut Query<'w, D, F>,
    chosen: Chosen<D, K>,
}

impl<'w, D: QueryData, F: QueryFilter> Query<'w, D, F> {
    /// The matches among these entities, in their order, for reading.
    ///
    /// Entities that do not match are left out; one that is named twice comes twice.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Gold(u32);
    /// let mut world = World::new();
    /// let party = [world.spawn(Gold(3)), world.spawn(()), world.spawn(Gold(4))];
    /// let gold: u32 = world.query::<&Gold>().iter_many(&party).map(|gold| gold.0).sum();
    /// assert_eq!(gold, 7);
    /// ```
    #[inline]
    pub fn iter_many<I>(&self, entities: I) -> Many<'_, D, F, I::IntoIter>
    where
        I: IntoIterator,
        I::Item: Borrow<Entity>,
    {
        Many { view: self.view(), entities: entities.into_iter() }
    }

    /// The matches among these entities, in their order, one at a time.
    ///
    /// Not an `Iterator`, because an entity may be named twice: each item must be given back
    /// before the next one.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Gold(u32);
    /// # let mut world = World::new();
    /// # let party = [world.spawn(Gold(3)), world.spawn(Gold(4))];
    /// let mut query = world.query::<&mut Gold>();
    /// let mut members = query.iter_many_mut(&party);
    /// while let Some(gold) = members.fetch_next() {
    ///     gold.0 += 1;
    /// }
    /// ```
    pub fn iter_many_mut<I>(&mut self, entities: I) -> ManyMut<'_, 'w, D, F, I::IntoIter>
    where
        I: IntoIterator,
        I::Item: Borrow<Entity>,
    {
        ManyMut { query: self, entities: entities.into_iter() }
    }

    /// All combinations of `K` different matches, for reading. Each comes once, in the order of the
    /// walk.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Place(i32);
    /// let mut world = World::new();
    /// world.spawn_batch([1, 5, 7].map(Place));
    ///
    /// let query = world.query::<&Place>();
    /// let distances: Vec<_> = query.iter_combinations().map(|[a, b]| b.0 - a.0).collect();
    /// assert_eq!(distances, [4, 6, 2]);
    /// ```
    pub fn iter_combinations<const K: usize>(&self) -> Combinations<'_, 'w, D, F, K> {
        Combinations { query: self, chosen: Chosen::new(self) }
    }

    /// All combinations of `K` different matches, one at a time. Each comes once, in the order of
    /// the walk.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Body { place: f32, pull: f32 }
    /// # let mut world = World::new();
    /// let mut query = world.query::<&mut Body>();
    /// let mut pairs = query.iter_combinations_mut();
    /// while let Some([a, b]) = pairs.fetch_next() {
    ///     let pull = 1.0 / (b.place - a.place);
    ///     a.pull += pull;
    ///     b.pull -= pull;
    /// }
    /// ```
    pub fn iter_combinations_mut<const K: usize>(&mut self) -> CombinationsMut<'_, 'w, D, F, K> {
        let chosen = Chosen::new(self);
        CombinationsMut { query: self, chosen }
    }
}

impl<'a, D, F, I> Iterator for Many<'a, D, F, I>
where
    D: QueryData,
    F: QueryFilter,
    I: Iterator,
    I::Item: Borrow<Entity>,
{
    type Item = D::ReadItem<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.entities.find_map(|entity| self.view.get(*entity.borrow()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.entities.size_hint().1)
    }
}

impl<D, F, I> FusedIterator for Many<'_, D, F, I>
where
    D: QueryData,
    F: QueryFilter,
    I: FusedIterator,
    I::Item: Borrow<Entity>,
{
}

impl<D, F, I> ManyMut<'_, '_, D, F, I>
where
    D: QueryData,
    F: QueryFilter,
    I: Iterator,
    I::Item: Borrow<Entity>,
{
    /// The next match, if there is one.
    pub fn fetch_next(&mut self) -> Option<D::Item<'_>> {
        let entity = self.entities.find_map(|entity| {
            let entity = *entity.borrow();
            self.query.contains(entity).then_some(entity)
        });
        self.query.get_mut(entity?)
    }
}

impl<'a, D: QueryData, F: QueryFilter, const K: usize> Iterator for Combinations<'a, '_, D, F, K> {
    type Item = [D::ReadItem<'a>; K];

    fn next(&mut self) -> Option<Self::Item> {
        let places = self.chosen.next()?;
        // SAFETY: the query is borrowed for `'a`, and nobody writes.
        Some(unsafe { items::<Reading, D, F, K>(self.query, places) })
    }
}

impl<D: QueryData, F: QueryFilter, const K: usize> FusedIterator for Combinations<'_, '_, D, F, K> {}

impl<D: QueryData, F: QueryFilter, const K: usize> CombinationsMut<'_, '_, D, F, K> {
    /// The next combination, if there is one.
    pub fn fetch_next(&mut self) -> Option<[D::Item<'_>; K]> {
        let places = self.chosen.next()?;
        // SAFETY: the query is borrowed uniquely as long as the items live.
        Some(unsafe { items::<Writing, D, F, K>(self.query, places) })
    }
}

/// The items of entities at these places.
///
/// # Safety
/// The places are those of distinct matches; the query is borrowed for `'a`, uniquely if `M`
/// writes, and no other item is in use then.
unsafe fn items<'a, M: Mode, D: QueryData, F: QueryFilter, const K: usize>(
    query: &'a Query<'_, D, F>,
    places: [(Entity, D::Place); K],
) -> [M::Item<'a, D>; K] {
    let view = D::view(&query.held.data, query.held.opening.span());
    places.map(|(entity, place)| {
        // SAFETY: it is the place of this entity.
        let cursor = unsafe { D::cursor(view, place, &raw const entity) };
        // SAFETY: a stretch of one, whose entity is readable; promised by the caller.
        unsafe { M::item::<D>(&cursor, 0) }
    })
}

/// Goes through the combinations of `K` matches.
struct Chosen<D: QueryData, const K: usize> {
    matches: Vec<(Entity, D::Place)>,
    /// The next combination: ascending numbers of matches. `None` behind the last.
    next: Option<[usize; K]>,
}

impl<D: QueryData, const K: usize> Chosen<D, K> {
    fn new<F: QueryFilter>(query: &Query<'_, D, F>) -> Self {
        let mut piece = query.matches();
        let mut matches = Vec::with_capacity(piece.size_hint().0);
        while let Some(run) = piece.next_stretch() {
            let entities = &piece.views.entities[run.driver_at..];
            matches.extend((0..run.len).map(|nth| (entities[nth], D::step(run.place, nth))));
        }
        let next = (matches.len() >= K).then(|| std::array::from_fn(|at| at));
        Self { matches, next }
    }

    fn next(&mut self) -> Option<[(Entity, D::Place); K]> {
        let chosen = self.next?;
        self.next = self.after(chosen);
        Some(chosen.map(|at| self.matches[at]))
    }

    /// The combination that follows.
    fn after(&self, mut chosen: [usize; K]) -> Option<[usize; K]> {
        // The last one that can move up; all behind it follow it closely.
        let last = |at: usize| self.matches.len() - (K - at);
        let moving = (0..K).rev().find(|&at| chosen[at] < last(at))?;
        let first = chosen[moving] + 1;
        for (number, next) in chosen[moving..].iter_mut().zip(first..) {
            *number = next;
        }
        Some(chosen)
    }
}

/// `Debug` for what borrows a query.
macro_rules! opaque {
    ($name:ident, $($parameter:tt)*) => {
        impl<D: QueryData, F: QueryFilter, $($parameter)*> fmt::Debug
            for opaque!(@ $name $($parameter)*)
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
    (@ Many $parameter:ident) => { Many<'_, D, F, $parameter> };
    (@ $name:ident const $parameter:ident: usize) => { $name<'_, '_, D, F, $parameter> };
    (@ $name:ident $parameter:ident) => { $name<'_, '_, D, F, $parameter> };
}

opaque!(Many, I);
opaque!(ManyMut, I);
opaque!(Combinations, const K: usize);
opaque!(CombinationsMut, const K: usize);
