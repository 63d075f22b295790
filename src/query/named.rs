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

            const COLUMNS: ::core::primitive::usize =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::COLUMNS;
            const NICHE: ::core::primitive::bool =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::NICHE;
            const IS_CLOSED: ::core::primitive::bool =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::IS_CLOSED;
            const PROVES_LIFE: ::core::primitive::bool =
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::PROVES_LIFE;

            #[inline(always)]
            fn uses(__see: &mut impl ::core::ops::FnMut($crate::Key, $crate::Usage)) {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::uses(__see);
            }

            #[inline]
            #[track_caller]
            fn open(
                __opening: $crate::query::named::Opening<'_>,
            ) -> ::core::result::Result<Self::Fetch<'_>, $crate::world::BorrowConflict> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::open(__opening)
            }

            #[inline(always)]
            fn view<'__a>(
                __fetch: &'__a Self::Fetch<'_>,
                __span: $crate::query::named::Span,
            ) -> Self::View<'__a> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::view(__fetch, __span)
            }

            #[inline]
            fn columns<'__a>(
                __view: Self::View<'__a>,
                __survey: &mut impl $crate::query::named::Surveyor<'__a>,
            ) {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::columns(__view, __survey);
            }

            #[inline]
            fn aligned<'__a>(
                __view: Self::View<'__a>,
                __known: &dyn ::core::ops::Fn(::core::primitive::u32) -> ::core::primitive::usize,
            ) -> Self::View<'__a> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::aligned(__view, __known)
            }

            #[inline(always)]
            fn slots(__view: Self::View<'_>) -> ::core::option::Option<$crate::query::named::SlotRow<'_>> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::slots(__view)
            }

            #[inline(always)]
            fn search(__view: Self::View<'_>) -> Self::Search<'_> {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::search(__view)
            }

            #[inline(always)]
            fn seek(
                __search: Self::Search<'_>,
                __row: $crate::query::named::Row,
            ) -> (Self::Place, ::core::primitive::bool) {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::seek(__search, __row)
            }

            #[inline(always)]
            fn seek_near(
                __search: Self::Search<'_>,
                __row: $crate::query::named::Row,
                __near: Self::Place,
            ) -> (Self::Place, ::core::primitive::bool) {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::seek_near(
                    __search, __row, __near,
                )
            }

            #[inline]
            fn is_same(__a: Self::Place, __b: Self::Place) -> ::core::primitive::bool {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::is_same(__a, __b)
            }

            #[inline]
            fn step(__place: Self::Place, __by: ::core::primitive::usize) -> Self::Place {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::step(__place, __by)
            }

            #[inline]
            fn extend(
                __search: Self::Search<'_>,
                __place: Self::Place,
                __entities: &[$crate::Entity],
            ) -> ::core::primitive::usize {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::extend(
                    __search, __place, __entities,
                )
            }

            #[inline]
            fn load(__numbers: &[::core::primitive::u32]) -> Self::Place {
                <$crate::query::named::Terms<Self> as $crate::query::QueryData>::load(__numbers)
            }

            #[inline(always)]
            unsafe fn cursor<'__a>(
                __view: Self::View<'__a>,
                __place: Self::Place,
                __entities: *const $crate::Entity,
            ) -> Self::Cursor<'__a> {
                // SAFETY: promised by the caller.
                unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::QueryData>::cursor(
                        __view, __place, __entities,
                    )
                }
            }

            #[inline(always)]
            unsafe fn lone<'__a>(
                __fetch: &'__a Self::Fetch<'_>,
                __span: $crate::query::named::Span,
                __entity: *const $crate::Entity,
            ) -> ::core::option::Option<Self::Cursor<'__a>> {
                // SAFETY: promised by the caller.
                unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::QueryData>::lone(
                        __fetch, __span, __entity,
                    )
                }
            }

            #[inline(always)]
            unsafe fn item<'__a>(__cursor: &Self::Cursor<'__a>, __nth: ::core::primitive::usize) -> Self::Item<'__a> {
                // SAFETY: promised by the caller.
                let __item = unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::QueryData>::item(__cursor, __nth)
                };
                <Self as $crate::query::named::Named>::name(__item)
            }

            #[inline(always)]
            unsafe fn read<'__a>(__cursor: &Self::Cursor<'__a>, __nth: ::core::primitive::usize) -> Self::ReadItem<'__a> {
                // SAFETY: promised by the caller.
                let __item = unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::QueryData>::read(__cursor, __nth)
                };
                <Self as $crate::query::named::Named>::name_read(__item)
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
            unsafe fn slices<'__a>(__cursor: Self::Cursor<'__a>, __len: ::core::primitive::usize) -> Self::Slices<'__a> {
                // SAFETY: promised by the caller.
                unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::SliceData>::slices(__cursor, __len)
                }
            }

            #[inline]
            unsafe fn read_slices<'__a>(
                __cursor: Self::Cursor<'__a>,
                __len: ::core::primitive::usize,
            ) -> Self::ReadSlices<'__a> {
                // SAFETY: promised by the caller.
                unsafe {
                    <$crate::query::named::Terms<Self> as $crate::query::SliceData>::read_slices(
                        __cursor, __len,
                    )
                }
            }
        }
    };
}
