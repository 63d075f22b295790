//! Tuples of terms: all of them.

#![allow(unsafe_code, reason = "passes on what its terms lend")]

use super::opening::Opening;
use super::survey::Surveyor;
use super::term::{QueryData, Row, Sealed};
use crate::access::{Key, Usage};
use crate::entity::Entity;
use crate::sparse::SlotRow;
use crate::tick::Span;
use crate::world::BorrowConflict;

/// `QueryData` for a tuple.
macro_rules! tuple_term {
    ($($name:ident $at:tt),*) => {
        impl<$($name: QueryData),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, unused_mut, unused_assignments, clippy::unused_unit,
            reason = "the empty tuple has nothing")]
        // SAFETY: each term lends from its own guard; two terms on the values of one pool cannot
        // both be open unless both read (B1). A stretch ends where one of theirs does.
        unsafe impl<$($name: QueryData),*> QueryData for ($($name,)*) {
            type Item<'a> = ($($name::Item<'a>,)*);
            type ReadItem<'a> = ($($name::ReadItem<'a>,)*);
            type Fetch<'w> = ($($name::Fetch<'w>,)*);
            type View<'a> = ($($name::View<'a>,)*);
            type Search<'a> = ($($name::Search<'a>,)*);
            type Place = ($($name::Place,)*);
            type Cursor<'a> = ($($name::Cursor<'a>,)*);

            const COLUMNS: usize = 0 $(+ $name::COLUMNS)*;
            // Of the first term that has a number.
            const NICHE: bool = {
                let mut niche = None;
                $(if niche.is_none() && $name::COLUMNS > 0 {
                    niche = Some($name::NICHE);
                })*
                matches!(niche, Some(true))
            };
            const IS_CLOSED: bool = true $(&& $name::IS_CLOSED)*;
            const PROVES_LIFE: bool = false $(|| $name::PROVES_LIFE)*;

            #[inline(always)]
            fn uses(see: &mut impl FnMut(Key, Usage)) {
                $($name::uses(see);)*
            }

            #[inline]
            #[track_caller]
            fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
                Ok(($($name::open(opening)?,)*))
            }

            #[inline(always)]
            fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a> {
                ($($name::view(&fetch.$at, span),)*)
            }

            #[inline(always)]
            fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>) {
                $($name::columns(view.$at, survey);)*
            }

            fn aligned<'a>(view: Self::View<'a>, known: &dyn Fn(u32) -> usize) -> Self::View<'a> {
                ($($name::aligned(view.$at, known),)*)
            }

            #[inline(always)]
            fn slots(view: Self::View<'_>) -> Option<SlotRow<'_>> {
                None$(.or_else(|| $name::slots(view.$at)))*
            }

            #[inline(always)]
            fn search(view: Self::View<'_>) -> Self::Search<'_> {
                ($($name::search(view.$at),)*)
            }

            #[inline(always)]
            fn seek(search: Self::Search<'_>, row: Row) -> (Self::Place, bool) {
                let found = ($($name::seek(search.$at, row),)*);
                (($(found.$at.0,)*), true $(& found.$at.1)*)
            }

            #[inline(always)]
            fn seek_near(
                search: Self::Search<'_>,
                row: Row,
                near: Self::Place,
            ) -> (Self::Place, bool) {
                let found = ($($name::seek_near(search.$at, row, near.$at),)*);
                (($(found.$at.0,)*), true $(& found.$at.1)*)
            }

            #[inline]
            fn is_same(a: Self::Place, b: Self::Place) -> bool {
                true $(&& $name::is_same(a.$at, b.$at))*
            }

            #[inline]
            fn step(place: Self::Place, by: usize) -> Self::Place {
                ($($name::step(place.$at, by),)*)
            }

            #[inline]
            fn extend(search: Self::Search<'_>, place: Self::Place, entities: &[Entity]) -> usize {
                let mut len = entities.len();
                $(len = $name::extend(search.$at, place.$at, &entities[..len]);)*
                len
            }

            #[inline]
            fn load(numbers: &[u32]) -> Self::Place {
                let mut next = 0;
                ($({
                    let own = next;
                    next += $name::COLUMNS;
                    $name::load(&numbers[own..next])
                },)*)
            }

            #[inline(always)]
            unsafe fn cursor<'a>(
                view: Self::View<'a>,
                place: Self::Place,
                entities: *const Entity,
            ) -> Self::Cursor<'a> {
                // SAFETY: promised by the caller for all terms.
                ($(unsafe { $name::cursor(view.$at, place.$at, entities) },)*)
            }

            #[inline(always)]
            unsafe fn lone<'a>(
                fetch: &'a Self::Fetch<'_>,
                span: Span,
                entity: *const Entity,
            ) -> Option<Self::Cursor<'a>> {
                // SAFETY: promised by the caller for all terms.
                Some(($(unsafe { $name::lone(&fetch.$at, span, entity) }?,)*))
            }

            #[inline(always)]
            unsafe fn item<'a>(cursor: &Self::Cursor<'a>, nth: usize) -> Self::Item<'a> {
                // SAFETY: promised by the caller for all terms.
                ($(unsafe { $name::item(&cursor.$at, nth) },)*)
            }

            #[inline(always)]
            unsafe fn read<'a>(cursor: &Self::Cursor<'a>, nth: usize) -> Self::ReadItem<'a> {
                // SAFETY: promised by the caller for all terms.
                ($(unsafe { $name::read(&cursor.$at, nth) },)*)
            }
        }
    };
}

crate::tuples::all_tuples!(tuple_term);
