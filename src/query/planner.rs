//! Chooses the way through the matches, and makes plans.
//!
//! The rules: a query over one pool, over pools that are known to be in the same order, or over those that a
//! group of just its condition owns, is one stretch. With a driver shorter than `SMALL` it is walked directly.
//! Any other has its plan looked up under its shape and the stamps of its pools. The first walk
//! since a pool changed goes directly; the second notes that the pools are in the same order, if they are,
//! or makes a plan, which is kept and used from then on. So a world that changes between every two walks
//! never pays for a plan.

#![allow(unsafe_code, reason = "starts walks from a borrow of the query")]

use std::sync::OnceLock;

use super::filter::QueryFilter;
use super::held::{Held, Shape, Spelled};
use super::piece::{Guess, Piece, Stretch, Views};
use super::survey::{Marks, Requirement, Survey};
use super::term::QueryData;
use super::{Iter, IterMut, Query, Walk};
use crate::cell::{Cell, Read};
use crate::component::Component;
use crate::plan::{Finding, Plan, Recorder};

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    #[inline(always)]
    pub(super) fn walk_reading(&self) -> Iter<'_, D, F> {
        // SAFETY: the query is borrowed, and the walk only reads.
        unsafe { Walk::new(self.matches()) }
    }

    #[inline(always)]
    pub(super) fn walk_writing(&mut self) -> IterMut<'_, D, F> {
        // SAFETY: the query is borrowed uniquely, and this is its only walk.
        unsafe { Walk::new(self.matches_mut()) }
    }

    /// All matches.
    // Always, down to the plan: a piece that is returned through memory stays there.
    #[inline(always)]
    pub(super) fn matches(&self) -> Piece<'_, D, F> {
        let (views, survey) = self.held.survey();
        if const { !Piece::<D, F>::CAN_BE_PLANNED } || survey.is_simple() || views.rows.is_some() {
            return piece(views, &survey, None);
        }
        if self.plan().is_none()
            && let Some(plan) = self.held.find_plan(Shape { views, survey: &survey })
        {
            // Another thread may have been faster, with the same plan.
            _ = self.shared_plan.set(plan);
        }
        piece(views, &survey, self.plan())
    }

    /// All matches, for one who has the query to himself.
    #[inline(always)]
    pub(super) fn matches_mut(&mut self) -> Piece<'_, D, F> {
        let (views, survey) = self.held.survey();
        if const { !Piece::<D, F>::CAN_BE_PLANNED } || survey.is_simple() || views.rows.is_some() {
            return piece(views, &survey, None);
        }
        if self.plan().is_none()
            && let Some(plan) = self.held.find_plan_alone(Shape { views, survey: &survey })
        {
            match plan.into_unmarked() {
                Ok(plan) => return piece(views, &survey, Some(plan)),
                Err(plan) => self.plan = Some(plan),
            }
        }
        piece(views, &survey, self.plan())
    }

    #[inline(always)]
    fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref().or_else(|| self.shared_plan.get()).map(|plan| &**plan)
    }
}

/// All matches, by what is known of them.
#[inline(always)]
pub(super) fn piece<'a, D: QueryData, F: QueryFilter>(
    views: Views<'a, D, F>,
    survey: &Survey<'a>,
    plan: Option<&'a Plan>,
) -> Piece<'a, D, F> {
    match (plan, survey.places) {
        _ if Piece::<D, F>::CAN_BE_ALIGNED && survey.is_one_stretch() => Piece::aligned(views),
        _ if const { Piece::<D, F>::CAN_BE_PLANNED } && views.rows.is_some() => {
            Piece::banded(views)
        }
        (Some(plan), _) => Piece::planned(views, plan),
        (None, Some(places)) => Piece::picked(views, places),
        (None, None) => {
            let is_matched = views.is_sure || survey.required <= 1 && !survey.is_picky;
            let is_exact = is_matched && !survey.is_timed;
            Piece::direct(views, Guess::new(survey.pools <= 1, is_exact))
        }
    }
}

impl<'w, D: QueryData, F: QueryFilter> Held<'w, D, F> {
    /// As `find_plan`, for one who has the query to himself: if he has the world to himself, too, a plan that
    /// there is comes without a mark.
    #[inline(always)]
    fn find_plan_alone(&self, asked: Shape<'_, '_, D, F>) -> Option<Read<'w, Plan>> {
        let is_alone = self.opening.is_alone();
        let finding = self.opening.world.plans().find_by(&asked, |cell: &'w Cell<_>| {
            if is_alone {
                // SAFETY: nobody else has the world (B2). This query does not replace a plan that it
                // finds, and pools that it has borrowed do not change, so it finds the same every time.
                return Some(unsafe { cell.read_unmarked() });
            }
            cell.try_read().ok()
        });
        self.use_finding(finding, asked)
    }

    /// Looks for the plan, or makes one if that is worth it.
    #[inline(always)]
    fn find_plan(&self, asked: Shape<'_, '_, D, F>) -> Option<Read<'w, Plan>> {
        self.use_finding(self.opening.world.plans().find(&asked), asked)
    }

    #[inline(always)]
    fn use_finding(
        &self,
        finding: Finding<'w>,
        asked: Shape<'_, '_, D, F>,
    ) -> Option<Read<'w, Plan>> {
        match finding {
            Finding::Plan(plan) => Some(plan),
            Finding::Unchanged => self.make_plan(asked.views, asked.survey.marks()),
            Finding::New => {
                self.note(asked.survey.marks());
                None
            }
            Finding::TooBig => None,
        }
    }

    #[cold]
    #[inline(never)]
    fn make_plan(&self, views: Views<'_, D, F>, marks: Marks) -> Option<Read<'w, Plan>> {
        // Better than a plan, for all queries over some of these pools: from the next walk on.
        if self.align(false) {
            return None;
        }
        let spelled = Spelled { marks, show: &|to| self.show(to) };
        spelled.keep(self.opening.world.plans(), record(views))
    }

    /// Remembers that the query was walked; there is no plan yet.
    #[cold]
    #[inline(never)]
    fn note(&self, marks: Marks) {
        Spelled { marks, show: &|to| self.show(to) }.note(self.opening.world.plans());
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
        let held = Held { wanted: requirement.found, ..self.held };
        Self { held, plan: None, shared_plan: OnceLock::new() }
    }
}

/// Finds all matches and writes them down.
pub(super) fn record<D: QueryData, F: QueryFilter>(views: Views<'_, D, F>) -> Plan {
    let mut recorder = Recorder::new(D::COLUMNS);
    let mut write = |run: Stretch<D>| {
        recorder.run(run.driver_at, run.len, |numbers| D::save(run.place, numbers));
    };
    // Not by `Merged`, which knows all ways.
    let (search, mut at, mut guess) = (D::search(views.data), 0, Guess::new(false, false));
    let mut last: Option<Stretch<D>> = None;
    while let Some(next) = views.find_stretch(search, &mut at, views.entities.len(), &mut guess) {
        match &mut last {
            Some(run) if run.goes_on_with(&next) => run.len += next.len,
            last => _ = last.replace(next).map(&mut write),
        }
    }
    _ = last.map(&mut write);
    recorder.finish(|row, nth, list| {
        list.push(row[0] + nth as u32);
        D::save(D::step(D::load(&row[1..]), nth), list);
    })
}
