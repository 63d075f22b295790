//! Chooses the way through the matches, and makes plans.
//!
//! The rules: a query over one pool, or with a driver shorter than `SMALL`, is walked directly.
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
use crate::cell::{Cell, Read};
use crate::component::Component;
use crate::entity::Entity;
use crate::plan::{Asked, Finding, Plan, Recorder, Spelling};

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
        let (views, survey) = self.survey();
        if self.plan().is_none()
            && !survey.is_simple()
            && let Some(plan) = self.find_plan()
        {
            // Another thread may have been faster, with the same plan.
            _ = self.shared_plan.set(plan);
        }
        Self::piece(views, &survey, self.plan())
    }

    /// All matches, for one who has the query to himself.
    #[inline(always)]
    pub(super) fn matches_mut(&mut self) -> Piece<'_, D, F> {
        if self.is_alone {
            return self.matches_alone();
        }
        if self.plan().is_none()
            && !self.is_simple()
            && let Some(plan) = self.find_plan()
        {
            self.plan = Some(plan);
        }
        let (views, survey) = self.survey();
        Self::piece(views, &survey, self.plan())
    }

    /// All matches, for one who has the query and the world to himself.
    #[inline(always)]
    fn matches_alone(&mut self) -> Piece<'_, D, F> {
        debug_assert!(self.is_alone, "B2");
        let (views, survey) = self.survey();
        if survey.is_simple() {
            return Self::piece(views, &survey, None);
        }
        // SAFETY: nobody else has the world (B2). This query does not replace a plan that it
        // finds, and pools that it has borrowed do not change, so it finds the same every time.
        let open = |cell: &'w Cell<_>| Some(unsafe { cell.read_unmarked() });
        let asked = Shape { views, survey: &survey };
        if let Finding::Plan(plan) = self.world.plans().find_by(&asked, open)
            && let Ok(plan) = plan.into_unmarked()
        {
            return Self::piece(views, &survey, Some(plan));
        }
        self.matches()
    }

    /// All matches, by what is known of them.
    #[inline(always)]
    fn piece<'a>(
        views: Views<'a, D, F>,
        survey: &Survey<'_>,
        plan: Option<&'a Plan>,
    ) -> Piece<'a, D, F> {
        match plan {
            Some(plan) => Piece::planned(views, plan),
            None => {
                let is_matched = views.is_sure || survey.required <= 1 && !survey.is_picky;
                let is_exact = is_matched && !survey.is_timed;
                Piece::direct(views, Guess::new(survey.pools <= 1, is_exact))
            }
        }
    }

    #[inline(always)]
    fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref().or_else(|| self.shared_plan.get()).map(|plan| &**plan)
    }

    /// Whether a plan would be of no use.
    #[inline(always)]
    pub(super) fn is_simple(&self) -> bool {
        F::IS_TIMED || self.look().1.is_simple()
    }

    /// What the guards lend, and what is known of the pools.
    #[inline(always)]
    fn look(&self) -> ((D::View<'_>, F::View<'_>), Survey<'_>) {
        self.look_for(self.wanted)
    }

    /// As `look`, with a component that must be the driver.
    #[inline(always)]
    fn look_for(&self, wanted: Option<Wanted>) -> ((D::View<'_>, F::View<'_>), Survey<'_>) {
        let (data, filter) = (D::view(&self.data, self.span), F::view(&self.filter, self.span));
        let mut survey = Survey::new(wanted);
        D::columns(data, &mut survey);
        F::columns(filter, &mut survey);
        ((data, filter), survey)
    }

    /// What a walk reads, and what is known of the pools.
    #[inline(always)]
    pub(super) fn survey(&self) -> (Views<'_, D, F>, Survey<'_>) {
        if F::IS_TIMED {
            return self.survey_changes();
        }
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
        survey.prefix = prefix;
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

    /// As `survey`, for a filter that depends on more than structure.
    #[inline(never)]
    fn survey_changes(&self) -> (Views<'_, D, F>, Survey<'_>) {
        let ((data, filter), mut survey) = self.look();
        // Structure does not say who passes, so nothing is known for sure and no plan is made.
        (survey.is_picky, survey.is_timed) = (true, true);
        let driver = survey.driver.filter(|_| survey.wanted.is_some());
        let known = match (driver, self.living.get()) {
            (None, None) => F::candidates(filter).map(|mut found| {
                if F::MAY_BE_DEAD {
                    found.retain(|&entity| self.world.is_alive(entity));
                }
                self.living.get_or_init(|| found)
            }),
            (None, known) => known,
            _ => None,
        };
        // The living entities, too, are kept there, if the filter does not know better.
        let is_sure = F::IS_EXACT && known.is_some() && survey.driver.is_some();
        let entities = match (known, survey.driver) {
            (Some(known), _) => known,
            (None, Some(driver)) => driver.entities,
            (None, None) => self.living(),
        };
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

/// A query as far as its plan depends on it.
struct Shape<'s, 'a, D: QueryData, F: QueryFilter> {
    views: Views<'a, D, F>,
    survey: &'s Survey<'a>,
}

impl<D: QueryData, F: QueryFilter> Asked for Shape<'_, '_, D, F> {
    #[inline(always)]
    fn spell(&self, to: &mut impl Spelling) {
        // A plan has positions of the driver, so which one that is belongs to its key.
        let mut wanted = self.survey.wanted;
        if let Some(prefix) = self.survey.prefix {
            wanted = prefix.only;
            to.stamp(prefix.len as u64);
        }
        let mut speller = Speller::new(to, wanted);
        D::columns(self.views.data, &mut speller);
        F::columns(self.views.filter, &mut speller);
    }
}

impl<D: QueryData, F: QueryFilter> Asked for Query<'_, D, F> {
    #[inline]
    fn spell(&self, to: &mut impl Spelling) {
        let (views, survey) = self.survey();
        Shape { views, survey: &survey }.spell(to);
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
        D::columns(D::view(&query.data, query.span), &mut requirement);
        F::columns(F::view(&query.filter, query.span), &mut requirement);
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
