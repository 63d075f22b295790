//! A part of the matches, and the way through it.
//!
//! A walk goes from *stretch* to stretch. Inside a stretch the parts of the entities lie side by side in
//! every pool.

#![allow(unsafe_code, reason = "makes cursors from places")]

use std::fmt;

use super::blocks::Ahead;
use super::exceptions::Exceptions;
use super::filter::QueryFilter;
use super::mode::Mode;
use super::term::{QueryData, Row};
use crate::entity::Entity;
use crate::sparse::Rows;
use crate::world::World;

/// The first position of every column, for all queries that somebody could write by hand.
pub(super) static FRONT: [u32; 256] = [0; 256];

/// What a walk reads.
pub(super) struct Views<'a, D: QueryData, F: QueryFilter> {
    pub(super) data: D::View<'a>,
    pub(super) filter: F::View<'a>,
    /// The driver: among these are all matches.
    pub(super) entities: &'a [Entity],
    pub(super) world: &'a World,
    /// Whether all of them pass the filter.
    pub(super) is_sure: bool,
    /// The rows of the driver, if they are walked along.
    pub(super) rows: Option<&'a Rows>,
    pub(super) exceptions: &'a Exceptions,
}

/// Entities that follow each other in every pool.
pub(super) struct Stretch<D: QueryData> {
    /// Position of the first one in the driver.
    pub(super) driver_at: usize,
    pub(super) len: usize,
    /// Where the parts of the first one lie.
    pub(super) place: D::Place,
}

impl<D: QueryData> Stretch<D> {
    /// Whether another one begins where this one ends, in every pool.
    pub(super) fn goes_on_with(&self, next: &Self) -> bool {
        self.driver_at + self.len == next.driver_at
            && D::is_same(D::step(self.place, self.len), next.place)
    }
}

/// Some of the matches: those from `at` to `end`.
pub(super) struct Piece<'a, D: QueryData, F: QueryFilter> {
    pub(super) views: Views<'a, D, F>,
    pub(super) way: Way<'a>,
    /// Position in the driver; where positions are picked, the number of one of these.
    pub(super) at: usize,
    pub(super) end: usize,
}

/// How a piece is walked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way<'a> {
    /// By looking those up that are at some positions of the driver.
    Picked(&'a [u32]),
    /// By looking entities up, and comparing the pools behind those that match.
    Direct(Direct),
    /// Along the bands of the driver.
    Bands(Ahead),
    /// As one stretch: all pools hold the same entities in the same order (S6), or have the members of a
    /// group at their fronts, who are the driver then (G1).
    Aligned,
}

/// A walk by look-ups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Direct {
    /// Whether every entity of the driver matches.
    pub(super) is_exact: bool,
    /// The position in the driver up to which single stretches are of one entity: the pools were compared, and
    /// differ.
    pub(super) alone: usize,
}

const NO_PICK: &str = "only filters of changes know positions";

impl<D: QueryData, F: QueryFilter> Clone for Views<'_, D, F> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: QueryData, F: QueryFilter> Copy for Views<'_, D, F> {}

impl<D: QueryData, F: QueryFilter> Clone for Piece<'_, D, F> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: QueryData, F: QueryFilter> Copy for Piece<'_, D, F> {}

impl<'a, D: QueryData, F: QueryFilter> Views<'a, D, F> {
    /// Whether a living entity passes the filter.
    #[inline]
    pub(super) fn passes(self, row: Row) -> bool {
        F::IS_OPEN || self.is_sure || F::passes(self.filter, row, self.world.signature(row.entity))
    }

    /// Where the parts of an entity of the driver lie, if it is a match.
    #[inline(always)]
    pub(super) fn place(self, search: D::Search<'a>, row: Row) -> Option<D::Place> {
        if self.passes(row) { D::place(search, row) } else { None }
    }

    /// Whether the parts of an entity of the driver lie there, for checks.
    pub(super) fn is_placed(self, driver_at: usize, place: D::Place) -> bool {
        let found = D::place(D::search(self.data), Row::alone(self.entities[driver_at]));
        found.is_some_and(|found| D::is_same(found, place))
    }

    /// Points at the parts of the entity at a place.
    ///
    /// # Safety
    /// `place` is that of the entity at `driver_at`.
    #[inline]
    pub(super) unsafe fn cursor(self, driver_at: usize, place: D::Place) -> D::Cursor<'a> {
        debug_assert!(self.is_placed(driver_at, place), "S1");
        // SAFETY: promised by the caller; `wrapping_add` stays in the slice, as the position is one
        // of the driver's.
        unsafe { D::cursor(self.data, place, self.entities.as_ptr().wrapping_add(driver_at)) }
    }
}

impl<'a, D: QueryData, F: QueryFilter> Views<'a, D, F> {
    /// Calls `step` with the items of a stretch.
    #[inline(always)]
    pub(super) fn fold_stretch<M: Mode, A>(
        self,
        stretch: Stretch<D>,
        start: A,
        step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        // SAFETY: a stretch has the place of its first entity.
        let cursor = unsafe { self.cursor(stretch.driver_at, stretch.place) };
        // SAFETY: the stretch is that long; each entity is in one stretch (Q1).
        unsafe { fold_items::<D, M, A>(cursor, stretch.len, start, step) }
    }
}

/// Calls `step` with the first `len` items of a cursor.
///
/// # Safety
/// As [`QueryData::item`], for each of them.
// Never inlined: as a function of its own it is a loop that the compiler vectorises.
#[inline(never)]
unsafe fn fold_items<'a, D: QueryData, M: Mode, A>(
    cursor: D::Cursor<'a>,
    len: usize,
    start: A,
    step: &mut impl FnMut(A, M::Item<'a, D>) -> A,
) -> A {
    let mut folded = start;
    // Counted by hand: in a debug build a range costs as much as the rest of the loop.
    let mut nth = 0;
    while nth < len {
        // SAFETY: promised by the caller.
        folded = step(folded, unsafe { M::item::<D>(&cursor, nth) });
        nth += 1;
    }
    folded
}

impl<'a, D: QueryData, F: QueryFilter> Piece<'a, D, F> {
    /// All matches, which are at some of these positions of the driver.
    pub(super) fn picked(views: Views<'a, D, F>, places: &'a [u32]) -> Self {
        Self { views, way: Way::Picked(places), at: 0, end: places.len() }
    }

    /// Whether a query of so many columns can be walked as one stretch.
    pub(super) const CAN_BE_ALIGNED: bool = D::COLUMNS <= FRONT.len();

    /// Whether all matches are always one stretch: those of a query over one pool.
    pub(super) const IS_ONE_STRETCH: bool = D::COLUMNS == 1 && D::PROVES_LIFE && F::IS_OPEN;

    /// All matches, who are the first entities of all pools.
    #[inline(always)]
    pub(super) fn aligned(views: Views<'a, D, F>) -> Self {
        Self { views, way: Way::Aligned, at: 0, end: views.entities.len() }
    }

    /// All matches, along the bands of the driver.
    #[inline(always)]
    pub(super) fn banded(views: Views<'a, D, F>) -> Self {
        Self { views, way: Way::Bands(Ahead::default()), at: 0, end: views.entities.len() }
    }

    /// All matches, which are looked up; `is_exact` says that every entity of the driver is one.
    pub(super) fn direct(views: Views<'a, D, F>, is_exact: bool) -> Self {
        let way = Way::Direct(Direct { is_exact, alone: 0 });
        Self { views, way, at: 0, end: views.entities.len() }
    }

    /// Matches that are left: at least, at most.
    #[inline]
    pub(super) fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.at;
        match self.way {
            Way::Direct(Direct { is_exact: false, .. }) | Way::Picked(_) | Way::Bands(_) => {
                (0, Some(left))
            }
            _ => (left, Some(left)),
        }
    }

    // Always: an iterator whose address nobody takes is kept in registers.
    #[inline(always)]
    pub(super) fn next_stretch(&mut self) -> Option<Stretch<D>> {
        if self.at >= self.end {
            return None;
        }
        match &mut self.way {
            Way::Picked(_) if const { !F::IS_TIMED } => unreachable!("{NO_PICK}"),
            Way::Picked(places) => {
                let search = D::search(self.views.data);
                while self.at < self.end {
                    let driver_at = places[self.at] as usize;
                    self.at += 1;
                    let row = Row::of(self.views.entities, driver_at);
                    if let Some(place) = self.views.place(search, row) {
                        return Some(Stretch { driver_at, len: 1, place });
                    }
                }
                None
            }
            Way::Direct(direct) => {
                self.views.next_directly(&mut self.at, self.end, &mut direct.alone)
            }
            Way::Bands(ahead) => {
                let (found, at, next) = self.views.next_in_bands(self.at, self.end, *ahead);
                (self.at, *ahead) = (at, next);
                found
            }
            Way::Aligned => {
                let (driver_at, len) = (self.at, self.end - self.at);
                self.at = self.end;
                Some(Stretch {
                    driver_at,
                    len,
                    place: D::step(D::load(&FRONT[..D::COLUMNS]), driver_at),
                })
            }
        }
    }

    /// Calls `step` with the last items of a piece that is one stretch.
    #[inline(always)]
    pub(super) fn fold_last<M: Mode, A>(
        self,
        len: usize,
        start: A,
        mut step: impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let driver_at = self.end - len;
        let place = D::step(D::load(&FRONT[..D::COLUMNS]), driver_at);
        let stretch = Stretch { driver_at, len, place };
        if len == 0 { start } else { self.views.fold_stretch::<M, A>(stretch, start, &mut step) }
    }

    /// Calls `step` with every item, stretch after stretch.
    #[inline(always)]
    pub(super) fn fold<M: Mode, A>(
        mut self,
        start: A,
        mut step: impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let mut folded = start;
        match self.way {
            Way::Picked(_) if const { !F::IS_TIMED } => unreachable!("{NO_PICK}"),
            Way::Bands(_) => self.views.fold_bands::<M, A>(self.at..self.end, folded, step),
            Way::Aligned => {
                if let Some(stretch) = self.next_stretch() {
                    folded = self.views.fold_stretch::<M, A>(stretch, folded, &mut step);
                }
                folded
            }
            Way::Picked(_) => {
                while let Some(stretch) = self.next_stretch() {
                    // SAFETY: a stretch has the place of its first entity.
                    let cursor = unsafe { self.views.cursor(stretch.driver_at, stretch.place) };
                    // SAFETY: one entity; positions that are picked are distinct (Q1).
                    folded = step(folded, unsafe { M::item::<D>(&cursor, 0) });
                }
                folded
            }
            Way::Direct(_) => self.views.fold_directly::<M, A>(self.at..self.end, folded, step),
        }
    }
}

impl<D: QueryData, F: QueryFilter> fmt::Debug for Piece<'_, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Piece").field("left", &self.size_hint()).finish_non_exhaustive()
    }
}
