//! Single matches: by their id, or the only one.

#![allow(unsafe_code, reason = "lends the items of single entities")]

use std::error::Error;
use std::fmt;

use super::Query;
use super::filter::QueryFilter;
use super::mode::{Mode, Reading, Writing};
use super::term::{QueryData, Row};
use crate::entity::Entity;

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// The match of `entity`, if it is one, for reading.
    #[inline]
    pub fn get(&self, entity: Entity) -> Option<D::ReadItem<'_>> {
        // SAFETY: the query is borrowed, and nobody writes.
        unsafe { self.item::<Reading>(entity) }
    }

    /// The match of `entity`, if it is one.
    #[inline]
    pub fn get_mut(&mut self, entity: Entity) -> Option<D::Item<'_>> {
        // SAFETY: the query is borrowed uniquely as long as the item lives.
        unsafe { self.item::<Writing>(entity) }
    }

    /// The matches of several entities at once.
    ///
    /// # Errors
    /// [`DisjointError`] if one of them does not match, or is named twice.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Gold(u32);
    /// let mut world = World::new();
    /// let (thief, victim) = (world.spawn(Gold(0)), world.spawn(Gold(8)));
    ///
    /// let mut query = world.query::<&mut Gold>();
    /// let [to, from] = query.get_disjoint_mut([thief, victim])?;
    /// (to.0, from.0) = (to.0 + 3, from.0 - 3);
    /// assert!(query.get_disjoint_mut([thief, thief]).is_err());
    /// # Ok::<(), esker::query::DisjointError>(())
    /// ```
    pub fn get_disjoint_mut<const N: usize>(
        &mut self,
        entities: [Entity; N],
    ) -> Result<[D::Item<'_>; N], DisjointError> {
        for (at, &entity) in entities.iter().enumerate() {
            if entities[..at].contains(&entity) {
                return Err(DisjointError::Repeated { entity });
            }
            if !self.contains(entity) {
                return Err(DisjointError::NoMatch { entity });
            }
        }
        // SAFETY: the query is borrowed uniquely as long as the items live, and the entities are
        // distinct.
        let item = |entity| unsafe { self.item::<Writing>(entity) };
        Ok(entities.map(|entity| item(entity).expect("all of them match, as seen above")))
    }

    /// Whether `entity` is a match.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.view().contains(entity)
    }

    /// The only match, for reading.
    ///
    /// # Errors
    /// [`SingleError`] if there is none, or more than one.
    pub fn single(&self) -> Result<D::ReadItem<'_>, SingleError> {
        only(self.iter())
    }

    /// The only match.
    ///
    /// # Errors
    /// [`SingleError`] if there is none, or more than one.
    pub fn single_mut(&mut self) -> Result<D::Item<'_>, SingleError> {
        only(self.iter_mut())
    }

    /// Number of matches.
    ///
    /// # Complexity
    /// O(driver), or O(1) if the query has just one pool, or its pools are known to be in one order.
    pub fn count(&self) -> usize {
        self.iter().count()
    }

    /// Whether nothing matches.
    pub fn is_empty(&self) -> bool {
        self.matches().next_stretch().is_none()
    }

    /// What `entity` gives.
    ///
    /// # Safety
    /// The query is borrowed for `'a`, uniquely if `M` writes, and no other item of the entity is
    /// in use then.
    #[inline]
    pub(super) unsafe fn item<'a, M: Mode>(&'a self, entity: Entity) -> Option<M::Item<'a, D>> {
        if !self.may_match(entity) {
            return None;
        }
        // SAFETY: the entity is readable as long as the cursor is used, which is here.
        let cursor =
            unsafe { D::lone(&self.held.data, self.held.opening.span(), &raw const entity) }?;
        debug_assert!(self.held.opening.world.is_alive(entity), "W2");
        // SAFETY: a stretch of one, whose entity is readable; promised by the caller.
        Some(unsafe { M::item::<D>(&cursor, 0) })
    }

    /// Whether an entity passes the filter and is alive, if the place of a match does not prove that.
    #[inline(always)]
    fn may_match(&self, entity: Entity) -> bool {
        // The version in the slot of a pool says as much as that in the book of ids, and is read anyway.
        if F::IS_OPEN && D::PROVES_LIFE {
            return true;
        }
        let held = &self.held;
        let Some(signature) = held.opening.world.living_signature(entity) else { return false };
        F::IS_OPEN
            || F::passes(F::view(&held.filter, held.opening.span()), Row::alone(entity), signature)
    }
}

fn only<I: Iterator>(mut matches: I) -> Result<I::Item, SingleError> {
    let first = matches.next().ok_or(SingleError::None)?;
    match matches.next() {
        None => Ok(first),
        Some(_) => Err(SingleError::Several),
    }
}

/// The entities given to [`Query::get_disjoint_mut`] cannot all be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DisjointError {
    /// It is dead, or the query does not match it.
    NoMatch {
        /// The entity that was asked for.
        entity: Entity,
    },
    /// It was named twice.
    Repeated {
        /// The entity that was asked for.
        entity: Entity,
    },
}

impl fmt::Display for DisjointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMatch { entity } => {
                write!(f, "entity {entity} is dead or does not match the query")
            }
            Self::Repeated { entity } => {
                write!(f, "entity {entity} was asked for twice, but can be lent only once; ")?;
                f.write_str("name each entity once")
            }
        }
    }
}

impl Error for DisjointError {}

/// A query that was to have one match has another number of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingleError {
    /// Nothing matches.
    None,
    /// More than one entity matches.
    Several,
}

impl fmt::Display for SingleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "nothing matches the query, which was to have one match; spawn it first, or use `iter`",
            Self::Several => "several entities match the query, which was to have one match; use `iter`, or filter",
        })
    }
}

impl Error for SingleError {}
