//! How a query takes its guards: marked in the flags of the cells, or, by one who has the world to
//! himself, not.
//!
//! # Invariants
//! **B2** – a guard that is not marked exists only within a unique borrow of the world, in a query
//! that does not conflict with itself and gives no access to the world (`QueryData::IS_CLOSED`).

#![allow(unsafe_code, reason = "takes guards that are not marked")]

use super::term::QueryData;
use crate::access::{Key, Usage};
use crate::cell::{Cell, Conflict, Edit, Look, Read};
use crate::tick::{Span, Tick};
use crate::world::{BorrowConflict, World};

/// The world that a query is opened on, and how.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'w> {
    pub(super) world: &'w World,
    is_alone: bool,
    span: Span,
}

impl<'w> Opening<'w> {
    #[inline]
    pub(super) fn shared(world: &'w World) -> Self {
        Self { world, is_alone: false, span: world.span() }
    }

    #[inline]
    pub(super) fn at(world: &'w World, span: Span) -> Self {
        Self { world, is_alone: false, span }
    }

    /// For a query of one who has the world to himself as long as it lives, if the query is such
    /// that marks are of no use.
    #[inline(always)]
    pub(super) fn unique_at<D: QueryData>(world: &'w mut World, span: Span) -> Self {
        Self { world, is_alone: D::IS_CLOSED && !conflicts_with_itself::<D>(), span }
    }

    /// What is new to the query.
    #[inline]
    pub(super) fn span(self) -> Span {
        self.span
    }

    /// The same for a query to which only what is later than `tick` is new.
    #[inline]
    pub(super) fn since(self, tick: Tick) -> Self {
        Self { span: Span { since: tick, ..self.span }, ..self }
    }

    #[inline]
    #[track_caller]
    pub(super) fn read<T>(self, cell: &'w Cell<T>) -> Result<Read<'w, T>, Conflict> {
        if self.is_alone {
            // SAFETY: nobody else has the world (B2), and this query does not write the cell.
            return Ok(unsafe { cell.read_unmarked() });
        }
        cell.try_read()
    }

    #[inline]
    #[track_caller]
    pub(super) fn look<T>(self, cell: &'w Cell<T>) -> Result<Look<'w, T>, Conflict> {
        if self.is_alone {
            // SAFETY: nobody else has the world (B2), and no query changes a structure.
            return Ok(unsafe { cell.look_unmarked() });
        }
        cell.try_look()
    }

    #[inline]
    #[track_caller]
    pub(super) fn edit<T>(self, cell: &'w Cell<T>) -> Result<Edit<'w, T>, Conflict> {
        if self.is_alone {
            // SAFETY: nobody else has the world (B2), and this query borrows the values once.
            return Ok(unsafe { cell.edit_unmarked() });
        }
        cell.try_edit()
    }
}

/// Whether a query fetches a component twice, and one of these to write.
// All of it is known when the query is compiled, so nothing of it is left at run time.
#[inline(always)]
fn conflicts_with_itself<D: QueryData>() -> bool {
    let mut conflicts = false;
    own_conflicts::<D>(|_| conflicts = true);
    conflicts
}

/// Says of the conflict that a query was refused for whether the query itself is both sides.
#[cold]
pub(super) fn explained<D: QueryData>(conflict: BorrowConflict) -> BorrowConflict {
    let mut is_within_query = false;
    own_conflicts::<D>(|key| is_within_query |= key.name() == conflict.name);
    BorrowConflict { is_within_query, ..conflict }
}

/// Shows the components that a query fetches twice, and one of these to write.
#[inline(always)]
fn own_conflicts<D: QueryData>(mut see: impl FnMut(Key)) {
    let mut first = 0;
    D::uses(&mut |one: Key, usage: Usage| {
        first += 1;
        let mut second = 0;
        D::uses(&mut |other: Key, its: Usage| {
            second += 1;
            if first < second && usage.excludes(its) && one == other {
                see(one);
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{AnyOf, Has};
    use crate::storage::Packed;
    use crate::{Component, Entity};

    struct A;
    struct B;

    impl Component for A {
        type Storage = Packed<Self>;
    }

    impl Component for B {
        type Storage = Packed<Self>;
    }

    #[test]
    fn a_query_conflicts_with_itself_if_it_writes_what_it_fetches_twice() {
        assert!(!conflicts_with_itself::<(&mut A, &mut B, Entity)>());
        assert!(!conflicts_with_itself::<(&A, (&A, Option<&B>))>());
        assert!(!conflicts_with_itself::<(&mut A, Has<A>)>());
        assert!(conflicts_with_itself::<(&A, Option<&mut A>)>());
        assert!(conflicts_with_itself::<(&B, (Entity, &mut A), AnyOf<(&B, &mut A)>)>());
    }
}
