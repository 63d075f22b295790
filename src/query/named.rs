//! Structs of terms: what `derive(QueryData)` makes.
//!
//! A struct with named fields is fetched as the tuple of its fields, and what the tuple gives is put
//! under their names. Only the second half differs from struct to struct, and it is safe: the
//! trait [`Named`], which the derive implements. The first half is the same for all and is written
//! here, once. It is a macro, because an implementation for all that is `Named` would meet those
//! for `&T` and `&mut T`.

#![allow(unsafe_code, reason = "passes on what the tuple of the fields lends")]

use super::term::QueryData;
use crate::component::Component;

// What the signatures of `QueryData` name.
pub use super::opening::Opening;
pub use super::survey::Surveyor;
pub use super::term::{Row, Sealed};
pub use crate::sparse::SlotRow;
pub use crate::tick::Span;

/// A struct whose fields are terms.
///
/// # Soundness
/// Safe to implement, however wrongly: it is given items, and can keep them no longer than they are lent. What a walk trusts is answered by the tuple
/// of its terms.
pub trait Named {
    /// The tuple of the fields.
    type Terms: QueryData;

    /// What one entity gives to who may write, with names.
    type Item<'a>;

    /// What one entity gives to who only reads, with names.
    type ReadItem<'a>;

    /// Puts names to what the terms give.
    fn name<'a>(item: <Self::Terms as QueryData>::Item<'a>) -> Self::Item<'a>;

    /// Puts names to what the terms give to who only reads.
    fn name_read<'a>(item: <Self::Terms as QueryData>::ReadItem<'a>) -> Self::ReadItem<'a>;
}

/// The terms of a struct.
pub type Terms<N> = <N as Named>::Terms;

/// Compiles if `T` is a component.
pub fn is_component<T: Component>() {}

/// `QueryData` and `SliceData` for a type that is [`Named`]: takes the parameters of the
/// implementation, the type, and conditions that end with commas.
///
/// Whatever stands in the brackets, the promises of `QueryData` are kept, because only the terms
/// are asked to keep them.
#[doc(hidden)]
#[macro_export]
macro_rules! named_query_data {
    ([$($parameters:tt)*] [$name:ty] [$($conditions:tt)*]) => {
        impl $($parameters)* $crate::query::named::Sealed for $name where $($conditions)* {}

        // SAFETY: all is that of the terms. Their items are given to safe code, which can keep them
        // no longer than they are lent for.
        #[automatically_derived]
        unsafe impl $($parameters)* $crate::query::QueryData for $name
        where
            $($conditions)*
            // With a lifetime, so that it is asked where the struct is fetched, and not on each line.
            for<'__b> $crate::query::named::Terms<Self>: $crate::query::QueryData,
        {
            type Item<'__a> = <Self as $crate::query::named::Named>::Item<'__a>;
            type ReadItem<'__a> = <Self as $crate::query::named::Named>::ReadItem<'__a>;
            type Fetch<'__a> =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::Fetch<'__a>;
            type View<'__a> =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::View<'__a>;
            type Search<'__a> =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::Search<'__a>;
            type Place = <$crate::query::named::Terms<Self> as $crate::query::QueryData>::Place;
            type Cursor<'__a> =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::Cursor<'__a>;

            const COLUMNS: usize =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::COLUMNS;
            const NICHE: bool =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::NICHE;
            const IS_CLOSED: bool =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::IS_CLOSED;
            const PROVES_LIFE: bool =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::PROVES_LIFE;

            #[inline(always)]
            fn uses(see: &mut impl ::core::ops::FnMut($crate::Key, $crate::Usage)) {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::uses(see);
            }

            #[inline]
            #[track_caller]
            fn open(
                opening: $crate::query::named::Opening<'_>,
            ) -> ::core::result::Result<Self::Fetch<'_>, $crate::world::BorrowConflict> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::open(opening)
            }

            #[inline(always)]
            fn view<'__a>(
                fetch: &'__a Self::Fetch<'_>,
                span: $crate::query::named::Span,
            ) -> Self::View<'__a> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::view(fetch, span)
            }

            #[inline]
            fn columns<'__a>(
                view: Self::View<'__a>,
                survey: &mut impl $crate::query::named::Surveyor<'__a>,
            ) {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::columns(view, survey);
            }

            #[inline]
            fn aligned<'__a>(
                view: Self::View<'__a>,
                known: &dyn ::core::ops::Fn(u32) -> usize,
            ) -> Self::View<'__a> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::aligned(view, known)
            }

            #[inline(always)]
            fn slots(view: Self::View<'_>) -> Option<$crate::query::named::SlotRow<'_>> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::slots(view)
            }

            #[inline(always)]
            fn search(view: Self::View<'_>) -> Self::Search<'_> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::search(view)
            }

            #[inline(always)]
            fn place(
                search: Self::Search<'_>,
                row: $crate::query::named::Row,
            ) -> ::core::option::Option<Self::Place> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::place(search, row)
            }

            #[inline]
            fn is_same(a: Self::Place, b: Self::Place) -> bool {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::is_same(a, b)
            }

            #[inline]
            fn step(place: Self::Place, by: usize) -> Self::Place {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::step(place, by)
            }

            #[inline]
            fn extend(
                search: Self::Search<'_>,
                place: Self::Place,
                entities: &[$crate::Entity],
            ) -> usize {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::extend(
                    search, place, entities,
                )
            }

            #[inline]
            fn save(place: Self::Place, numbers: &mut ::std::vec::Vec<u32>) {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::save(place, numbers);
            }

            #[inline]
            fn load(numbers: &[u32]) -> Self::Place {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::load(numbers)
            }

            #[inline(always)]
            unsafe fn cursor<'__a>(
                view: Self::View<'__a>,
                place: Self::Place,
                entities: *const $crate::Entity,
            ) -> Self::Cursor<'__a> {
                // SAFETY: promised by the caller.
                unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::QueryData>::cursor(
                        view, place, entities,
                    )
                }
            }

            #[inline(always)]
            unsafe fn lone<'__a>(
                fetch: &'__a Self::Fetch<'_>,
                span: $crate::query::named::Span,
                entity: *const $crate::Entity,
            ) -> ::core::option::Option<Self::Cursor<'__a>> {
                // SAFETY: promised by the caller.
                unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::QueryData>::lone(
                        fetch, span, entity,
                    )
                }
            }

            #[inline(always)]
            unsafe fn item<'__a>(cursor: &Self::Cursor<'__a>, nth: usize) -> Self::Item<'__a> {
                // SAFETY: promised by the caller.
                let item = unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::QueryData>::item(cursor, nth)
                };
                <Self as $crate::query::named::Named>::name(item)
            }

            #[inline(always)]
            unsafe fn read<'__a>(cursor: &Self::Cursor<'__a>, nth: usize) -> Self::ReadItem<'__a> {
                // SAFETY: promised by the caller.
                let item = unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::QueryData>::read(cursor, nth)
                };
                <Self as $crate::query::named::Named>::name_read(item)
            }
        }

        // SAFETY: as above.
        #[automatically_derived]
        unsafe impl $($parameters)* $crate::query::SliceData for $name
        where
            $($conditions)*
            // As above: a struct of what makes no slices is an error only to who wants them.
            for<'__b> $crate::query::named::Terms<Self>: $crate::query::SliceData,
        {
            type Slices<'__a> =
                <$crate::query::named::Terms<Self> as $crate::query::SliceData>::Slices<'__a>;
            type ReadSlices<'__a> =
                <$crate::query::named::Terms<Self> as $crate::query::SliceData>::ReadSlices<'__a>;

            #[inline]
            unsafe fn slices<'__a>(cursor: Self::Cursor<'__a>, len: usize) -> Self::Slices<'__a> {
                // SAFETY: promised by the caller.
                unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::SliceData>::slices(cursor, len)
                }
            }

            #[inline]
            unsafe fn read_slices<'__a>(
                cursor: Self::Cursor<'__a>,
                len: usize,
            ) -> Self::ReadSlices<'__a> {
                // SAFETY: promised by the caller.
                unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::SliceData>::read_slices(
                        cursor, len,
                    )
                }
            }
        }
    };
}
