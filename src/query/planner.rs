//! Chooses the way through the matches, and makes plans.
//!
//! The rules: a query over one pool, or with a driver shorter than [`SMALL`], is walked directly.
//! Any other has its plan looked up under its shape and the stamps of its pools. The first walk
//! since a pool changed goes directly; the second makes a plan, which is kept and used from then
//! on. So a world that changes between every two walks never pays for a plan.

#![allow(unsafe_code, reason = "starts walks from a borrow of the query")]

use std::sync::OnceLock;

use super::filter::QueryFilter;
use super::merged::Merged;
use super::piece::{Guess, Piece, Views};
use super::prefix::{Prefix, aligned, covering};
use super::survey::{Requirement, Speller, Survey, UNKNOWN, Wanted};
use super::term::QueryData;
use super::{Iter, IterMut, Query, Walk};
use crate::cell::Read;
use crate::component::Component;
use crate::entity::Entity;
use crate::plan::{Asked, Finding, Plan, Recorder, Spelling};

/// Entities below which finding a plan costs more than it saves.
const SMALL: usize = 16;

impl<'w, D: QueryData, F: QueryFilter> Query<'w, D, F> {
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
        if self.wants_plan()
            && let Some(plan) = self.find_plan()
        {
            // Another thread may have been faster, with the same plan.
            _ = self.shared_plan.set(plan);
        }
        self.piece()
    }

    /// All matches, for one who has the query to himself.
    #[inline(always)]
    pub(super) fn matches_mut(&mut self) -> Piece<'_, D, F> {
        if self.wants_plan()
            && let Some(plan) = self.find_plan()
        {
            self.plan = Some(plan);
        }
        self.piece()
    }

    /// All matches, by what is known of them.
    #[inline(always)]
    fn piece(&self) -> Piece<'_, D, F> {
        let (views, survey) = self.survey();
        match self.plan() {
            Some(plan) => Piece::planned(views, plan),
            None => {
                let is_exact = views.is_sure || survey.required <= 1 && !survey.is_picky;
                Piece::direct(views, Guess::new(survey.pools <= 1, is_exact))
            }
        }
    }

    /// Whether there is no plan, but one would be of use.
    #[inline(always)]
    fn wants_plan(&self) -> bool {
        self.plan().is_none() && !self.is_simple()
    }

    #[inline(always)]
    fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref().or_else(|| self.shared_plan.get()).map(|plan| &**plan)
    }

    /// Whether a plan would be of no use.
    #[inline(always)]
    pub(super) fn is_simple(&self) -> bool {
        let (_, survey) = self.look();
        survey.pools <= 1 || survey.driver.is_none_or(|driver| driver.entities.len() < SMALL)
    }

    /// What the guards lend, and what is known of the pools.
    #[inline(always)]
    fn look(&self) -> ((D::View<'_>, F::View<'_>), Survey<'_>) {
        self.look_for(self.wanted)
    }

    /// As `look`, with a component that must be the driver.
    #[inline(always)]
    fn look_for(&self, wanted: Option<Wanted>) -> ((D::View<'_>, F::View<'_>), Survey<'_>) {
        let (data, filter) = (D::view(&self.data), F::view(&self.filter));
        let mut survey = Survey::new(wanted);
        D::columns(data, &mut survey);
        F::columns(filter, &mut survey);
        ((data, filter), survey)
    }

    /// What a walk reads, and what is known of the pools.
    #[inline(always)]
    pub(super) fn survey(&self) -> (Views<'_, D, F>, Survey<'_>) {
        if self.world.has_groups() {
            return self.survey_groups();
        }
        let ((data, filter), survey) = self.look();
        let entities = match survey.driver {
            Some(driver) => driver.entities,
            None => self.living(),
        };
        (Views { data, filter, entities, world: self.world, is_sure: false }, survey)
    }

    /// As `survey`, with what groups know.
    #[inline(never)]
    fn survey_groups(&self) -> (Views<'_, D, F>, Survey<'_>) {
        let ((data, filter), mut survey) = self.look();
        let prefix = covering(self.world, &survey);
        if let Some(Prefix { only: Some(driver), .. }) = prefix {
            survey = self.look_for(Some(driver)).1;
        }
        let mut entities = match survey.driver {
            Some(driver) => driver.entities,
            None => self.living(),
        };
        if let Some(prefix) = prefix {
            entities = &entities[..prefix.len];
        }
        let data = D::aligned(data, &|id| aligned(self.world, survey.driver, id));
        let is_sure = prefix.is_some_and(|prefix| prefix.is_sure);
        (Views { data, filter, entities, world: self.world, is_sure }, survey)
    }

    /// Looks for the plan, or makes one if that is worth it.
    #[inline(never)]
    fn find_plan(&self) -> Option<Read<'w, Plan>> {
        let plans = self.world.plans();
        match plans.find(self) {
            Finding::Plan(plan) => Some(plan),
            Finding::Unchanged => plans.keep(self, record(self.survey().0)),
            Finding::New => {
                plans.note(self);
                None
            }
            Finding::TooBig => None,
        }
    }

    #[cold]
    fn living(&self) -> &[Entity] {
        self.living.get_or_init(|| self.world.entities().collect())
    }
}

impl<D: QueryData, F: QueryFilter> Asked for Query<'_, D, F> {
    #[inline]
    fn spell(&self, to: &mut impl Spelling) {
        // A plan has positions of the driver, so which one that is belongs to its key.
        let prefix = match self.world.has_groups() {
            true => covering(self.world, &self.look().1),
            false => None,
        };
        let wanted = prefix.map_or(self.wanted, |prefix| prefix.only);
        if let Some(prefix) = prefix {
            to.stamp(prefix.len as u64);
        }
        let mut speller = Speller::new(to, wanted);
        D::columns(D::view(&self.data), &mut speller);
        F::columns(F::view(&self.filter), &mut speller);
    }
}

impl<'w, D: QueryData, F: QueryFilter> Query<'w, D, F> {
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
        let id = self.world.component_id::<T>().map_or(UNKNOWN, |id| id.index() as u32);
        let name = std::any::type_name::<T>();
        let query = Self {
            wanted: Some(Wanted { id, name }),
            plan: None,
            shared_plan: OnceLock::new(),
            ..self
        };
        let mut requirement = Requirement::of::<T>();
        D::columns(D::view(&query.data), &mut requirement);
        F::columns(F::view(&query.filter), &mut requirement);
        assert!(
            requirement.is_met,
            "a query cannot be driven by `{name}`, which it does not require; \
            add `With<{name}>` to its filter"
        );
        query
    }
}

/// Finds all matches and writes them down.
pub(super) fn record<D: QueryData, F: QueryFilter>(views: Views<'_, D, F>) -> Plan {
    let mut recorder = Recorder::new(D::COLUMNS);
    for run in Merged::new(Piece::direct(views, Guess::new(false, false))) {
        recorder.run(run.driver_at, run.len, |numbers| D::save(run.place, numbers));
    }
    recorder.finish(|row, nth, list| {
        list.push(row[0] + nth as u32);
        D::save(D::step(D::load(&row[1..]), nth), list);
    })
}
