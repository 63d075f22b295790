//! Chooses the way through the matches.
//!
//! The rules, in this order: a query over one pool, over pools that are known to be in the same order, or over those
//! that a group of just its condition owns, is one stretch. One that most of the driver is placed for goes along
//! bands. A filter of changes picks positions. Any other walk looks entities up.

#![allow(unsafe_code, reason = "starts walks from a borrow of the query")]

use super::filter::QueryFilter;
use super::held::Held;
use super::piece::{Piece, Views};
use super::survey::{Requirement, Survey};
use super::term::QueryData;
use super::{Iter, IterMut, Query, Walk};
use crate::component::Component;

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    #[inline(always)]
    pub(super) fn walk_reading(&self) -> Iter<'_, D, F> {
        // SAFETY: the query is borrowed, and the walk only reads.
        unsafe { Walk::new(self.matches()) }
    }

    #[inline(always)]
    pub(super) fn walk_writing(&mut self) -> IterMut<'_, D, F> {
        // SAFETY: the query is borrowed uniquely, and this is its only walk.
        unsafe { Walk::new(self.matches()) }
    }

    /// All matches.
    // Always: a piece that is returned through memory stays there.
    #[inline(always)]
    pub(super) fn matches(&self) -> Piece<'_, D, F> {
        let (views, survey) = self.held.survey();
        if Piece::<D, F>::CAN_BE_ALIGNED && views.rows.is_none() && survey.is_worth_comparing() {
            self.held.align();
        }
        piece(views, &survey)
    }
}

/// All matches, by what is known of them.
#[inline(always)]
pub(super) fn piece<'a, D: QueryData, F: QueryFilter>(
    views: Views<'a, D, F>,
    survey: &Survey<'a>,
) -> Piece<'a, D, F> {
    match survey.places {
        _ if Piece::<D, F>::CAN_BE_ALIGNED && survey.is_one_stretch() => Piece::aligned(views),
        _ if const { Views::<D, F>::HAS_PLACES } && views.rows.is_some() => Piece::banded(views),
        Some(places) => Piece::picked(views, places),
        None => {
            let is_matched = views.is_sure || survey.required <= 1 && !survey.is_picky;
            Piece::direct(views, is_matched && !survey.is_timed)
        }
    }
}

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// Walks the entities in the packed order of `T`, instead of that of the shortest pool.
    ///
    /// # Panics
    /// If the query does not require `T`, so that entities without it match, too.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Rank(u32);
    /// # #[derive(Component)] struct Name(&'static str);
    /// let mut world = World::new();
    /// let bo = world.spawn(Name("Bo"));
    /// world.spawn((Rank(1), Name("Al")));
    /// world.insert(bo, Rank(2)).unwrap();
    ///
    /// let by_rank = world.query::<(&Name, &Rank)>().drive_by::<Rank>();
    /// assert_eq!(by_rank.iter().map(|(name, _)| name.0).collect::<Vec<_>>(), ["Al", "Bo"]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn drive_by<T: Component>(self) -> Self {
        let mut requirement = Requirement::of::<T>();
        self.held.show(&mut requirement);
        let name = std::any::type_name::<T>();
        assert!(
            requirement.found.is_some(),
            "a query cannot be driven by `{name}`, which it does not require; \
            add `With<{name}>` to its filter"
        );
        Self { held: Held { wanted: requirement.found, ..self.held } }
    }
}
