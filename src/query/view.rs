//! Matches by their ids, many in a row.

#![allow(unsafe_code, reason = "lends the items of single entities")]

use std::fmt;

use super::Query;
use super::filter::QueryFilter;
use super::held::Held;
use super::piece::{FRONT, Piece};
use super::term::{QueryData, Row};
use crate::entity::Entity;
use crate::sparse::SlotRow;
use crate::world::World;

/// The matches of a query by their ids, for reading; see [`Query::view`].
// A loop that asks the query itself reads all this again for each entity, because the compiler cannot know
// that it is still the same. Here it stays in registers, and more look-ups are under way while they wait for
// memory.
pub struct QueryView<'a, D: QueryData, F: QueryFilter = ()> {
    world: &'a World,
    view: D::View<'a>,
    search: D::Search<'a>,
    filter: F::View<'a>,
    /// The slots of one pool, if an entity is at the same position in all of them: then one look-up is enough.
    common: Option<SlotRow<'a>>,
}

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// The matches by their ids, for reading, for who looks up many of them.
    ///
    /// As [`get`](Self::get), but what each look-up needs is read once for all of them: a loop over random
    /// ids is up to a quarter faster. For a few look-ups `get` is as good. Where all pools of the query hold the
    /// same entities in the same order, an entity is looked up in one of them; the
    /// second view or walk since they have changed finds out whether they do, and compares them.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Target(Entity);
    /// # let mut world = World::new();
    /// # let prey = world.spawn(Position(2.0));
    /// # world.spawn((Position(5.0), Target(prey)));
    /// let positions = world.query::<&Position>();
    /// let positions = positions.view();
    /// for (position, target) in &world.query::<(&Position, &Target)>() {
    ///     if let Some(there) = positions.get(target.0) {
    ///         println!("{} to go", (there.0 - position.0).abs());
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn view(&self) -> QueryView<'_, D, F> {
        let (held, span) = (&self.held, self.held.opening.span());
        let view = D::view(&held.data, span);
        let filter = F::view(&held.filter, span);
        let common = match const { D::COLUMNS > 1 && Piece::<D, F>::CAN_BE_ALIGNED && F::IS_OPEN } {
            true => held.common_slots(),
            false => None,
        };
        QueryView { world: held.opening.world, view, search: D::search(view), filter, common }
    }
}

impl<D: QueryData, F: QueryFilter> Held<'_, D, F> {
    /// The slots of one pool, if all pools are known to be in the same order. If that may be, the second view since
    /// a change finds out.
    #[inline(never)]
    fn common_slots(&self) -> Option<SlotRow<'_>> {
        let (views, survey) = self.survey();
        if survey.is_aligned() {
            return D::slots(views.data);
        }
        if survey.is_worth_comparing() {
            self.align();
        }
        None
    }
}

impl<'a, D: QueryData, F: QueryFilter> QueryView<'a, D, F> {
    /// The match of `entity`, if it is one.
    #[inline]
    pub fn get(&self, entity: Entity) -> Option<D::ReadItem<'a>> {
        let place = self.place(entity)?;
        debug_assert!(self.world.is_alive(entity), "W2");
        // SAFETY: it is the place of this entity, which is readable as long as the cursor is used: here.
        let cursor = unsafe { D::cursor(self.view, place, &raw const entity) };
        // SAFETY: a stretch of one; the query is borrowed for `'a`, and nobody writes.
        Some(unsafe { D::read(&cursor, 0) })
    }

    /// Whether `entity` is a match.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.place(entity).is_some()
    }

    /// Where the parts of `entity` lie, if it is a match.
    #[inline(always)]
    fn place(&self, entity: Entity) -> Option<D::Place> {
        let row = Row::alone(entity);
        if let Some(common) = self.common {
            // Where it is in one pool, it is in all (S6): who is in none of them is no match.
            let place = D::step(D::load(&FRONT[..D::COLUMNS]), common.position(entity)?);
            debug_assert!(D::place(self.search, row).is_some_and(|found| D::is_same(found, place)));
            return Some(place);
        }
        // As in `Query::may_match`.
        if !(F::IS_OPEN && D::PROVES_LIFE) {
            let signature = self.world.living_signature(entity)?;
            if !F::IS_OPEN && !F::passes(self.filter, row, signature) {
                return None;
            }
        }
        D::place(self.search, row)
    }
}

impl<D: QueryData, F: QueryFilter> fmt::Debug for QueryView<'_, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryView").finish_non_exhaustive()
    }
}
