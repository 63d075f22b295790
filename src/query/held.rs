//! What a query holds: guards on its pools, and what it knows of them.

use std::sync::OnceLock;

use super::alignment::Alignment;
use super::candidates::{Candidates, Walked};
use super::exceptions::Exceptions;
use super::filter::QueryFilter;
use super::opening::{Opening, explained};
use super::piece::{Piece, Views};
use super::prefix::{aligned, covering};
use super::survey::{Column, Demands, Needs, Survey, Surveyor, Wanted};
use super::term::QueryData;
use crate::entity::Entity;
use crate::world::BorrowConflict;

/// The guards of a query, and how it looks at what they lend. As long as they are held nothing moves.
pub(super) struct Held<'w, D: QueryData, F: QueryFilter> {
    pub(super) data: D::Fetch<'w>,
    pub(super) filter: F::Fetch<'w>,
    /// The world, whether the guards are not marked (B2), what is new to the query, and the tick of what
    /// it changes.
    pub(super) opening: Opening<'w>,
    /// The component whose pool is to be the driver.
    pub(super) wanted: Option<Wanted>,
    /// What to walk, if it is not a pool from end to end, and somebody has asked.
    pub(super) walked: OnceLock<Walked>,
    /// What a walk along bands has found out.
    pub(super) exceptions: Exceptions,
}

impl<'w, D: QueryData, F: QueryFilter> Held<'w, D, F> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn take(opening: Opening<'w>) -> Result<Self, BorrowConflict> {
        let data = match D::open(opening) {
            Ok(data) => data,
            Err(conflict) => return Err(explained::<D>(conflict)),
        };
        // A filter goes together with whatever the terms have borrowed.
        let filter = F::open(opening)?;
        Ok(Self {
            data,
            filter,
            opening,
            wanted: None,
            walked: OnceLock::new(),
            exceptions: Exceptions::default(),
        })
    }

    /// What the guards lend, and what is known of the pools.
    #[inline(always)]
    fn look(&self) -> ((D::View<'_>, F::View<'_>), Survey<'_>) {
        self.look_for(self.wanted)
    }

    /// As `look`, with a component that must be the driver.
    #[inline(always)]
    fn look_for(&self, wanted: Option<Wanted>) -> ((D::View<'_>, F::View<'_>), Survey<'_>) {
        let (data, filter) =
            (D::view(&self.data, self.opening.span()), F::view(&self.filter, self.opening.span()));
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
        let ((mut data, filter), mut survey) = self.look();
        let mut entities = match survey.driver {
            Some(driver) => driver.entities,
            None if const { D::PROVES_LIFE } => unreachable!("it requires a pool"),
            None => self.living(),
        };
        // One pool, all of which matches: groups know nothing more, and need not be compiled.
        if const { Piece::<D, F>::IS_ONE_STRETCH } {
            debug_assert!(survey.is_aligned());
            let world = self.opening.world;
            return (
                Views {
                    data,
                    filter,
                    entities,
                    world,
                    is_sure: true,
                    rows: None,
                    exceptions: &self.exceptions,
                },
                survey,
            );
        }
        let mut is_sure = survey.is_aligned();
        // What groups know comes in parts that fit into registers: views that are filled in by a
        // function that is called stay in memory, whether it is called or not.
        if !is_sure && self.opening.world.has_groups() {
            if let Some(prefix) = covering(self.opening, needs::<D, F>(data, filter, &survey)) {
                if survey.driver.is_none_or(|driver| driver.id != prefix.only.id()) {
                    survey.driver = self.driver_by(prefix.only);
                }
                let all = survey.driver.map_or(entities, |driver| driver.entities);
                entities = &all[..prefix.len];
                is_sure = prefix.is_sure;
                survey.prefix = Some(prefix);
            }
            let (driver, prefix) = (survey.driver.map(|driver| driver.id), survey.prefix);
            // Who walks one stretch looks nobody up.
            if !survey.is_one_stretch() {
                data = D::aligned(data, &|id| match prefix {
                    // That of others does not matter: nobody goes further.
                    Some(prefix) if prefix.owns(id) => prefix.len,
                    _ => aligned(self.opening, driver, id),
                });
            }
        }
        let rows = match const { Views::<D, F>::HAS_PLACES } && !survey.is_simple() {
            true => survey.banded(D::COLUMNS),
            false => None,
        };
        let (world, exceptions) = (self.opening.world, &self.exceptions);
        (Views { data, filter, entities, world, is_sure, rows, exceptions }, survey)
    }

    /// Notes which pools are in the same order; the next walk knows it then.
    #[cold]
    #[inline(never)]
    pub(super) fn align(&self) {
        let mut alignment = Alignment::default();
        self.show(&mut alignment);
        alignment.note();
    }

    /// Shows the pools to who is in no hurry.
    #[inline(never)]
    pub(super) fn show<'a>(&'a self, mut to: &mut dyn Surveyor<'a>) {
        D::columns(D::view(&self.data, self.opening.span()), &mut to);
        F::columns(F::view(&self.filter, self.opening.span()), &mut to);
    }

    /// The pool of a component as the driver.
    #[inline(never)]
    fn driver_by(&self, wanted: Wanted) -> Option<Column<'_>> {
        self.look_for(Some(wanted)).1.driver
    }

    /// As `survey`, for a filter that depends on more than structure.
    #[inline(never)]
    fn survey_changes(&self) -> (Views<'_, D, F>, Survey<'_>) {
        let ((data, filter), mut survey) = self.look();
        // Structure does not say who passes, so nothing is known for sure.
        (survey.is_picky, survey.is_timed) = (true, true);
        let driver = survey.driver.filter(|_| survey.wanted.is_some());
        let known = match (driver, self.walked.get()) {
            (None, None) => F::candidates(filter).map(|mut found| {
                if F::MAY_BE_DEAD
                    && let Candidates::Entities(entities) = &mut found
                {
                    entities.retain(|&entity| self.opening.world.is_alive(entity));
                }
                self.walked.get_or_init(|| found.into())
            }),
            (None, known) => known,
            _ => None,
        };
        let (is_sure, entities) = match known {
            Some(Walked::Found(entities)) => (F::IS_EXACT, &entities[..]),
            Some(Walked::Places(pool, places)) => {
                survey.driver = self.driver_by(*pool);
                survey.places = Some(places);
                (F::IS_EXACT, survey.driver.map_or(&[][..], |driver| driver.entities))
            }
            // The filter does not know better.
            Some(Walked::Living(entities)) => (false, &entities[..]),
            None => (false, survey.driver.map_or_else(|| self.living(), |driver| driver.entities)),
        };
        let (world, exceptions) = (self.opening.world, &self.exceptions);
        (Views { data, filter, entities, world, is_sure, rows: None, exceptions }, survey)
    }

    #[cold]
    fn living(&self) -> &[Entity] {
        match self.walked.get_or_init(|| Walked::Living(self.opening.world.entities().collect())) {
            Walked::Living(entities) => entities,
            _ => unreachable!("a query walks what its filter knows, or the living entities"),
        }
    }
}

/// What a query demands of its matches.
#[inline(always)]
pub(super) fn needs<'a, D: QueryData, F: QueryFilter>(
    data: D::View<'a>,
    filter: F::View<'a>,
    survey: &Survey<'a>,
) -> Needs {
    let mut demands = Demands::new();
    D::columns(data, &mut demands);
    F::columns(filter, &mut demands);
    survey.needs(demands)
}
