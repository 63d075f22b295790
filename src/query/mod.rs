//! Queries: many components at once.
//!
//! A query holds a guard on each pool it names and walks the shortest of the required ones, the
//! *driver*. It goes from stretch to stretch in which all its pools hold the same entities in the
//! same order, so that most of the work is a loop over slices. Blocks say where these are; where there
//! are none, the walk looks entities up and compares the pools as it goes.
//!
//! # Invariants
//! **Q1** – within one walk each entity is fetched at most once: the entities of a pool are
//! distinct (S2), and so are the living ones; parallel pieces part the driver.

mod alignment;
mod blocks;
mod candidates;
mod change;
mod direct;
mod dynamic;
mod entity_term;
mod exceptions;
mod explain;
mod filter;
mod found;
mod grouped;
mod held;
mod lookup;
mod many;
mod marks;
mod matches;
mod membership;
mod merged;
mod mode;
#[doc(hidden)]
pub mod named;
mod opening;
mod optional;
#[cfg(feature = "parallel")]
mod parallel;
mod piece;
mod pool_term;
mod prefix;
mod runs;
#[cfg(not(feature = "parallel"))]
mod serial;
mod subtasks;
mod survey;
mod term;
mod tuple;
mod view;
mod walk;

pub use change::{Added, Changed, Reacted};
pub use dynamic::{DynamicError, DynamicMatch, DynamicQuery, DynamicTerms};
pub use explain::{Explanation, NoBlocks, WalkKind};
pub use filter::{Or, QueryFilter, With, Without};
pub use grouped::{GroupError, Grouped};
pub use lookup::{DisjointError, SingleError};
pub use many::{Combinations, CombinationsMut, Many, ManyMut};
pub use mode::{Mode, Reading, Writing};
pub use optional::{AnyOf, Has};
#[cfg(feature = "parallel")]
pub use parallel::{ParIter, ParIterMut, ParWalk};
pub use runs::{Runs, SliceData};
pub use subtasks::{Split, Subtasks};
pub use term::QueryData;
pub use view::QueryView;
pub use walk::{Iter, IterMut, Walk};

use held::Held;
use opening::Opening;

use std::fmt;
use std::sync::OnceLock;

use crate::tick::{Span, Tick};
use crate::world::{BorrowConflict, World};

/// Components of all entities that have them; see [`World::query`].
///
/// `D` says what is fetched (the terms are listed at [`QueryData`]), `F` what else must hold
/// ([`With`], [`Without`], [`Or`], and tuples of these).
///
/// While a query exists its components are borrowed, so nobody can add or remove them. A query
/// that writes is walked by `for … in &mut query` or [`iter_mut`](Self::iter_mut); through a
/// shared query, `for … in &query` and [`iter`](Self::iter) lend the same components for reading.
///
/// Use it for whatever concerns several components, or all entities that have one; for a single
/// component of a single entity there is [`World::get`], and for one pool as a slice [`Pool`](crate::Pool).
/// As a parameter of a system it is the same type.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// # #[derive(Component)] struct Armour(u32);
/// let mut world = World::new();
/// let knight = world.spawn((Health(10), Armour(3)));
/// let page = world.spawn(Health(5));
///
/// let mut fighters = world.query::<(&mut Health, Option<&Armour>)>();
/// for (health, armour) in &mut fighters {
///     health.0 -= 4_u32.saturating_sub(armour.map_or(0, |armour| armour.0));
/// }
/// assert_eq!(fighters.get(knight).unwrap().0.0, 9);
/// assert_eq!(fighters.get(page).unwrap().0.0, 1);
/// ```
#[doc(alias = "view")]
pub struct Query<'w, D: QueryData, F: QueryFilter = ()> {
    held: Held<'w, D, F>,
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
    #[inline(always)]
    #[track_caller]
    #[doc(alias = "view")]
    pub fn query<D: QueryData>(&self) -> Query<'_, D> {
        self.query_filtered()
    }

    /// Asks for components of all entities that have them and pass a filter.
    ///
    /// # Panics
    /// As [`query`](Self::query).
    #[inline(always)]
    #[track_caller]
    pub fn query_filtered<D: QueryData, F: QueryFilter>(&self) -> Query<'_, D, F> {
        self.try_query().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Asks for components, if they can be borrowed.
    ///
    /// # Errors
    /// [`BorrowConflict`] names the component and both borrows.
    #[inline(always)]
    #[track_caller]
    pub fn try_query<D: QueryData, F: QueryFilter>(
        &self,
    ) -> Result<Query<'_, D, F>, BorrowConflict> {
        Query::open(Opening::shared(self))
    }

    /// As [`query`](Self::query), by one who has the world to himself.
    ///
    /// Nothing can be borrowed already, so nothing is marked as borrowed: for queries over few
    /// entities that is most of the work.
    ///
    /// # Panics
    /// If the query conflicts with itself (`(&A, &mut A)`).
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Velocity(f32);
    /// # let mut world = World::new();
    /// # world.spawn((Position(0.0), Velocity(1.0)));
    /// for (position, velocity) in &mut world.query_mut::<(&mut Position, &Velocity)>() {
    ///     position.0 += velocity.0;
    /// }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn query_mut<D: QueryData>(&mut self) -> Query<'_, D> {
        self.query_filtered_mut()
    }

    /// As [`query_filtered`](Self::query_filtered), by one who has the world to himself; see
    /// [`query_mut`](Self::query_mut).
    ///
    /// # Panics
    /// As [`query_mut`](Self::query_mut).
    #[inline(always)]
    #[track_caller]
    pub fn query_filtered_mut<D: QueryData, F: QueryFilter>(&mut self) -> Query<'_, D, F> {
        self.tidy();
        Query::open_alone_at(self, self.span()).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl<'w, D: QueryData, F: QueryFilter> Query<'w, D, F> {
    /// As [`World::try_query`], with a view of what is new.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn open_at(world: &'w World, span: Span) -> Result<Self, BorrowConflict> {
        Self::open(Opening::at(world, span))
    }

    /// As [`World::query_filtered_mut`], with a view of what is new.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn open_alone_at(world: &'w mut World, span: Span) -> Result<Self, BorrowConflict> {
        Self::open(Opening::unique_at::<D>(world, span))
    }

    #[inline(always)]
    #[track_caller]
    fn open(opening: Opening<'w>) -> Result<Self, BorrowConflict> {
        Ok(Self { held: Held::take(opening)? })
    }
}

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// Says since when changes are new, for [`Added`], [`Changed`] and the items that know of them.
    ///
    /// Changes later than `tick` are; see [`World::advance_tick`]. Without this they are new since
    /// the last [`World::refresh`], and in a system since it ran last.
    #[must_use]
    pub fn since(mut self, tick: Tick) -> Self {
        self.held.opening = self.held.opening.since(tick);
        self.held.walked = OnceLock::new();
        self
    }

    /// Walks the matches and lends their components for reading.
    #[inline]
    pub fn iter(&self) -> Iter<'_, D, F> {
        self.walk_reading()
    }

    /// Walks the matches.
    #[inline]
    pub fn iter_mut(&mut self) -> IterMut<'_, D, F> {
        self.walk_writing()
    }
}

impl<'a, D: QueryData, F: QueryFilter> IntoIterator for &'a Query<'_, D, F> {
    type Item = D::ReadItem<'a>;
    type IntoIter = Iter<'a, D, F>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, D: QueryData, F: QueryFilter> IntoIterator for &'a mut Query<'_, D, F> {
    type Item = D::Item<'a>;
    type IntoIter = IterMut<'a, D, F>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<D: QueryData, F: QueryFilter> fmt::Debug for Query<'_, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<Self>())
    }
}
