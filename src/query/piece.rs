//! A part of the matches, and the way through it: by a plan, or directly.
//!
//! A walk goes from *stretch* to stretch: a run of a plan, or one that the direct path has just
//! found. Inside a stretch the parts of the entities lie side by side in every pool.

#![allow(unsafe_code, reason = "makes cursors from places")]

use std::fmt;
use std::ops::Range;

use super::blocks::Ahead;
use super::exceptions::Exceptions;
use super::filter::QueryFilter;
use super::marks::lowest;
use super::mode::Mode;
use super::term::{QueryData, Row};
use crate::entity::Entity;
use crate::plan::{Kind, Plan};
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
    /// Number of a match if there is a plan, of a position if these are picked; otherwise position in
    /// the driver.
    pub(super) at: usize,
    pub(super) end: usize,
}

/// How a piece is walked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way<'a> {
    /// By runs; the number is that of the next one.
    Runs(&'a Plan, usize),
    /// By the rows of a list of places.
    List(&'a [u32]),
    /// By looking those up that are at some positions of the driver.
    Picked(&'a [u32]),
    /// By looking entity after entity up.
    Direct(Guess),
    /// Along the bands of the driver.
    Bands(Ahead),
    /// As one stretch: all pools hold the same entities in the same order (S6), or have the members of a
    /// group at their fronts, who are the driver then (G1).
    Aligned,
}

/// Whether it is worth trying to find more than one entity at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guess {
    /// Entities to go before the next try.
    wait: u32,
    /// Tries in a row that found next to nothing.
    misses: u32,
    /// Entities to look ahead.
    reach: usize,
    /// Whether every entity of the driver matches.
    pub(super) is_exact: bool,
}

const NO_PLAN: &str = "a query over one pool has no plan";
const NO_PICK: &str = "only filters of changes know positions";

/// A stretch at least this long is worth the try.
const WORTHWHILE: usize = 4;

/// After many misses in a row, one entity in `2^PATIENCE` is tried.
const PATIENCE: u32 = 8;

/// Entities that a first try looks ahead, and the most that a later one does.
const REACH: (usize, usize) = (64, 4096);

impl Guess {
    /// `alone` says that the query has no pool but the driver, or only pools that are known to hold the
    /// same, so that looking ahead is free.
    pub(super) fn new(alone: bool, is_exact: bool) -> Self {
        let reach = if alone { usize::MAX } else { REACH.0 };
        Self { wait: 0, misses: 0, reach, is_exact }
    }

    /// Whether looking ahead is free.
    #[inline]
    fn is_free(&self) -> bool {
        self.reach == usize::MAX
    }

    /// How far to look ahead now; one entity if a try is not worth it.
    #[inline]
    fn reach(&mut self) -> usize {
        if self.wait == 0 {
            return self.reach;
        }
        self.wait -= 1;
        1
    }

    /// Learns from a try.
    #[inline]
    fn learn(&mut self, tried: usize, found: usize) {
        if found >= WORTHWHILE {
            self.misses = 0;
            if found == tried {
                self.reach = self.reach.max(self.reach.saturating_mul(4).min(REACH.1));
            }
        } else if tried > found {
            self.misses = (self.misses + 1).min(PATIENCE);
            self.wait = (1 << self.misses) - 1;
        }
    }
}

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

    /// Whether the parts of an entity of the driver lie there: Q2, for checks.
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
        debug_assert!(self.is_placed(driver_at, place), "Q2");
        // SAFETY: promised by the caller; `wrapping_add` stays in the slice, as the position is one
        // of the driver's.
        unsafe { D::cursor(self.data, place, self.entities.as_ptr().wrapping_add(driver_at)) }
    }
}

impl<'a, D: QueryData, F: QueryFilter> Views<'a, D, F> {
    /// The next stretch from position `at` of the driver on, without a plan.
    #[inline(always)]
    pub(super) fn find_stretch(
        self,
        search: D::Search<'a>,
        at: &mut usize,
        end: usize,
        guess: &mut Guess,
    ) -> Option<Stretch<D>> {
        while *at < end {
            let driver_at = *at;
            *at += 1;
            let Some(place) = self.place(search, Row::of(self.entities, driver_at)) else {
                continue;
            };
            let tried = guess.reach().min(end - driver_at);
            if tried == 1 {
                return Some(Stretch { driver_at, len: 1, place });
            }
            let len = self.look_ahead(search, driver_at..driver_at + tried, place);
            guess.learn(tried, len);
            *at = driver_at + len;
            return Some(Stretch { driver_at, len, place });
        }
        None
    }

    /// Calls `step` with the items of every match in a range of the driver.
    #[inline(always)]
    fn fold_directly<M: Mode, A>(
        self,
        range: Range<usize>,
        mut guess: Guess,
        start: A,
        mut step: impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let (mut at, end) = (range.start, range.end);
        let search = D::search(self.data);
        let mut folded = start;
        if guess.is_free() {
            while let Some(stretch) = self.find_stretch(search, &mut at, end, &mut guess) {
                folded = self.fold_stretch::<M, A>(stretch, folded, &mut step);
            }
            return folded;
        }
        while at < end {
            folded = self.fold_found::<M, A>(at, lowest(end - at), folded, &mut step);
            at += 64;
        }
        folded
    }

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

    /// Calls `step` with the items of the matches in the rows of a list.
    // Never inlined: so it has the registers to itself.
    #[inline(never)]
    fn fold_rows<M: Mode, A>(
        self,
        rows: &[u32],
        start: A,
        mut step: impl FnMut(A, M::Item<'a, D>) -> A,
    ) -> A {
        let mut folded = start;
        for row in rows.chunks_exact(Piece::<'a, D, F>::WIDTH) {
            let place = D::load(&row[1..]);
            // SAFETY: a row has the place of the entity at its position in the driver.
            let cursor = unsafe { self.cursor(row[0] as usize, place) };
            // SAFETY: one entity; each is in one row (Q1).
            folded = step(folded, unsafe { M::item::<D>(&cursor, 0) });
        }
        folded
    }

    /// How many entities of this range, of which the first is a match at `place`, are a stretch.
    #[inline]
    fn look_ahead(self, search: D::Search<'a>, range: Range<usize>, place: D::Place) -> usize {
        let alike = D::extend(search, place, &self.entities[range.clone()]);
        if F::IS_OPEN || self.is_sure {
            return alike;
        }
        let others = range.start + 1..range.start + alike;
        1 + others.take_while(|&at| self.passes(Row::of(self.entities, at))).count()
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
    /// Numbers in a row of a list. A constant, so that no row is checked for its length.
    const WIDTH: usize = D::COLUMNS + 1;

    /// All matches of a plan.
    pub(super) fn planned(views: Views<'a, D, F>, plan: &'a Plan) -> Self {
        let way = match plan.kind() {
            Kind::Runs => Way::Runs(plan, 0),
            Kind::List => Way::List(plan.list()),
        };
        Self { views, way, at: 0, end: plan.matches() }
    }

    /// All matches, which are at some of these positions of the driver.
    pub(super) fn picked(views: Views<'a, D, F>, places: &'a [u32]) -> Self {
        Self { views, way: Way::Picked(places), at: 0, end: places.len() }
    }

    /// Whether the query can have a plan: it has several pools, and its matches depend on structure alone. What cannot be is
    /// not compiled: most of a program is queries.
    pub(super) const CAN_BE_PLANNED: bool = !F::IS_TIMED && (D::COLUMNS > 1 || !F::IS_OPEN);

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

    /// All matches, without a plan.
    pub(super) fn direct(views: Views<'a, D, F>, guess: Guess) -> Self {
        Self { views, way: Way::Direct(guess), at: 0, end: views.entities.len() }
    }

    /// Matches that are left: at least, at most.
    #[inline]
    pub(super) fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.at;
        match self.way {
            Way::Direct(Guess { is_exact: false, .. }) | Way::Picked(_) | Way::Bands(_) => {
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
            Way::Runs(..) | Way::List(_) if const { !Self::CAN_BE_PLANNED } => {
                unreachable!("{NO_PLAN}")
            }
            Way::Picked(_) if const { !F::IS_TIMED } => unreachable!("{NO_PICK}"),
            Way::Runs(plan, run) => {
                let (matches, row) = plan.run(*run, D::COLUMNS);
                let skipped = self.at - matches.start;
                let len = matches.end.min(self.end) - self.at;
                *run += 1;
                self.at += len;
                let place = D::step(D::load(&row[1..]), skipped);
                Some(Stretch { driver_at: row[0] as usize + skipped, len, place })
            }
            Way::List(rows) => {
                let row = &rows[self.at * Self::WIDTH..][..Self::WIDTH];
                self.at += 1;
                Some(Stretch { driver_at: row[0] as usize, len: 1, place: D::load(&row[1..]) })
            }
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
            Way::Direct(guess) => {
                let search = D::search(self.views.data);
                self.views.find_stretch(search, &mut self.at, self.end, guess)
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
            Way::List(_) if const { !Self::CAN_BE_PLANNED } => unreachable!("{NO_PLAN}"),
            Way::Picked(_) if const { !F::IS_TIMED } => unreachable!("{NO_PICK}"),
            Way::Bands(_) => self.views.fold_bands::<M, A>(self.at..self.end, folded, step),
            Way::Runs(..) | Way::Aligned => {
                while let Some(stretch) = self.next_stretch() {
                    folded = self.views.fold_stretch::<M, A>(stretch, folded, &mut step);
                }
                folded
            }
            Way::List(rows) => {
                let rows = &rows[self.at * Self::WIDTH..self.end * Self::WIDTH];
                self.views.fold_rows::<M, A>(rows, folded, step)
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
            Way::Direct(guess) => {
                self.views.fold_directly::<M, A>(self.at..self.end, guess, folded, step)
            }
        }
    }
}

impl<D: QueryData, F: QueryFilter> fmt::Debug for Piece<'_, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Piece").field("left", &self.size_hint()).finish_non_exhaustive()
    }
}
