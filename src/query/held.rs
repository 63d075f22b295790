//! What a query holds: guards on its pools, and what it knows of them.

use std::sync::OnceLock;

use super::filter::QueryFilter;
use super::opening::Opening;
use super::piece::Views;
use super::prefix::{Prefix, aligned, covering};
use super::survey::{Speller, Survey, Wanted};
use super::term::QueryData;
use crate::entity::Entity;
use crate::plan::{Asked, Spelling};
use crate::tick::Span;
use crate::world::{BorrowConflict, World};

/// The guards of a query, and how it looks at what they lend. As long as they are held nothing moves.
pub(super) struct Held<'w, D: QueryData, F: QueryFilter> {
    pub(super) data: D::Fetch<'w>,
    pub(super) filter: F::Fetch<'w>,
    pub(super) world: &'w World,
    /// Whether the guards are not marked (B2).
    pub(super) is_alone: bool,
    /// What is new to the query, and the tick of what it changes.
    pub(super) span: Span,
    /// The component whose pool is to be the driver.
    pub(super) wanted: Option<Wanted>,
    /// The entities to walk, if they are not those of a pool, and somebody has asked: the living
    /// ones, or those that a filter knows.
    pub(super) living: OnceLock<Vec<Entity>>,
}

impl<'w, D: QueryData, F: QueryFilter> Held<'w, D, F> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn take(opening: Opening<'w>) -> Result<Self, BorrowConflict> {
        let world = opening.world;
        let data = match D::open(opening) {
            Ok(data) => data,
            Err(conflict) => return Err(world.find_out(conflict)),
        };
        // A filter goes together with whatever the terms have borrowed.
        let filter = F::open(opening)?;
        let (is_alone, span) = (opening.is_alone(), opening.span());
        Ok(Self { data, filter, world, is_alone, span, wanted: None, living: OnceLock::new() })
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

    #[cold]
    fn living(&self) -> &[Entity] {
        self.living.get_or_init(|| self.world.entities().collect())
    }
}

/// A query as far as its plan depends on it.
pub(super) struct Shape<'s, 'a, D: QueryData, F: QueryFilter> {
    pub(super) views: Views<'a, D, F>,
    pub(super) survey: &'s Survey<'a>,
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

impl<D: QueryData, F: QueryFilter> Asked for Held<'_, D, F> {
    #[inline]
    fn spell(&self, to: &mut impl Spelling) {
        let (views, survey) = self.survey();
        Shape { views, survey: &survey }.spell(to);
    }
}
