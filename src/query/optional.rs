//! The terms `Option<D>`, `AnyOf<…>` and `Has<T>`: what an entity may have.

#![allow(unsafe_code, reason = "passes on what its terms lend")]

use std::fmt;
use std::marker::PhantomData;

use super::membership::{Members, MembersFetch};
use super::opening::Opening;
use super::survey::{Part, Role, Surveyor};
use super::term::{NONE, QueryData, Row, Sealed};
use crate::access::{Key, Usage};
use crate::component::Component;
use crate::entity::Entity;
use crate::tick::Span;
use crate::world::BorrowConflict;

impl<D: QueryData> Sealed for Option<D> {}

// SAFETY: as its term; what is missing is not lent, and a stretch in which it is missing ends
// where it is there again.
unsafe impl<D: QueryData> QueryData for Option<D> {
    type Item<'a> = Option<D::Item<'a>>;
    type ReadItem<'a> = Option<D::ReadItem<'a>>;
    type Fetch<'w> = D::Fetch<'w>;
    type View<'a> = D::View<'a>;
    type Search<'a> = D::Search<'a>;
    type Place = Option<D::Place>;
    type Cursor<'a> = Option<D::Cursor<'a>>;

    // Whether it is there is said by the first number, or by one more if that may be `NONE`.
    const COLUMNS: usize = D::COLUMNS + if D::NICHE { 0 } else { 1 };
    const NICHE: bool = false;
    const IS_CLOSED: bool = D::IS_CLOSED;
    const PROVES_LIFE: bool = false;

    #[inline(always)]
    fn uses(see: &mut impl FnMut(Key, Usage)) {
        D::uses(see);
    }

    #[inline]
    #[track_caller]
    fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
        D::open(opening)
    }

    #[inline]
    fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a> {
        D::view(fetch, span)
    }

    #[inline]
    fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>) {
        survey.begin(Part::Option);
        D::columns(view, survey);
        survey.end();
    }

    fn aligned<'a>(view: Self::View<'a>, known: &dyn Fn(u32) -> usize) -> Self::View<'a> {
        D::aligned(view, known)
    }

    #[inline]
    fn search(view: Self::View<'_>) -> Self::Search<'_> {
        D::search(view)
    }

    #[inline]
    fn seek(search: Self::Search<'_>, row: Row) -> (Self::Place, bool) {
        (D::place(search, row), true)
    }

    #[inline]
    fn seek_near(search: Self::Search<'_>, row: Row, near: Self::Place) -> (Self::Place, bool) {
        let Some(near) = near else { return Self::seek(search, row) };
        let (place, is_there) = D::seek_near(search, row, near);
        (is_there.then_some(place), true)
    }

    #[inline]
    fn is_same(a: Self::Place, b: Self::Place) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => D::is_same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    #[inline]
    fn step(place: Self::Place, by: usize) -> Self::Place {
        place.map(|place| D::step(place, by))
    }

    #[inline]
    fn extend(search: Self::Search<'_>, place: Self::Place, entities: &[Entity]) -> usize {
        match place {
            Some(place) => D::extend(search, place, entities),
            None => {
                let lacks = |entity: &&Entity| D::place(search, Row::alone(**entity)).is_none();
                entities.iter().take_while(lacks).count()
            }
        }
    }

    #[inline]
    fn load(numbers: &[u32]) -> Self::Place {
        let is_there = numbers[0] != NONE;
        is_there.then(|| D::load(if D::NICHE { numbers } else { &numbers[1..] }))
    }

    #[inline]
    unsafe fn cursor<'a>(
        view: Self::View<'a>,
        place: Self::Place,
        entities: *const Entity,
    ) -> Self::Cursor<'a> {
        // SAFETY: promised by the caller.
        place.map(|place| unsafe { D::cursor(view, place, entities) })
    }

    #[inline(always)]
    unsafe fn item<'a>(cursor: &Self::Cursor<'a>, nth: usize) -> Self::Item<'a> {
        // SAFETY: promised by the caller.
        cursor.as_ref().map(|cursor| unsafe { D::item(cursor, nth) })
    }

    #[inline(always)]
    unsafe fn read<'a>(cursor: &Self::Cursor<'a>, nth: usize) -> Self::ReadItem<'a> {
        // SAFETY: promised by the caller.
        cursor.as_ref().map(|cursor| unsafe { D::read(cursor, nth) })
    }
}

/// Gives an `Option` for each of several terms, and matches who has at least one of them.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// # #[derive(Component)] struct Shield(u32);
/// let mut world = World::new();
/// world.spawn(Health(3));
/// world.spawn((Health(4), Shield(1)));
/// world.spawn(());
///
/// let query = world.query::<AnyOf<(&Health, &Shield)>>();
/// let strength = query.iter().map(|(health, shield)| {
///     health.map_or(0, |h| h.0) + shield.map_or(0, |s| 10 * s.0)
/// });
/// assert_eq!(strength.collect::<Vec<_>>(), [3, 14]);
/// ```
pub struct AnyOf<D>(PhantomData<fn() -> D>);

impl<D> fmt::Debug for AnyOf<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<Self>())
    }
}

/// `QueryData` for `AnyOf` a tuple.
macro_rules! any_of {
    () => {};
    ($($name:ident $at:tt),*) => {
        impl<$($name: QueryData),*> Sealed for AnyOf<($($name,)*)> {}

        // SAFETY: as the tuple of its optional terms, of which some are left out.
        unsafe impl<$($name: QueryData),*> QueryData for AnyOf<($($name,)*)> {
            type Item<'a> = ($(Option<$name::Item<'a>>,)*);
            type ReadItem<'a> = ($(Option<$name::ReadItem<'a>>,)*);
            type Fetch<'w> = ($($name::Fetch<'w>,)*);
            type View<'a> = ($($name::View<'a>,)*);
            type Search<'a> = ($($name::Search<'a>,)*);
            type Place = ($(Option<$name::Place>,)*);
            type Cursor<'a> = ($(Option<$name::Cursor<'a>>,)*);

            const COLUMNS: usize = <($(Option<$name>,)*)>::COLUMNS;
            const NICHE: bool = false;
            const IS_CLOSED: bool = true $(&& $name::IS_CLOSED)*;
            const PROVES_LIFE: bool = false;

            #[inline(always)]
            fn uses(see: &mut impl FnMut(Key, Usage)) {
                $($name::uses(see);)*
            }

            #[inline]
            #[track_caller]
            fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
                <($(Option<$name>,)*)>::open(opening)
            }

            #[inline]
            fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a> {
                <($(Option<$name>,)*)>::view(fetch, span)
            }

            #[inline]
            fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>) {
                survey.begin(Part::AnyOf);
                <($(Option<$name>,)*)>::columns(view, survey);
                survey.end();
            }

            fn aligned<'a>(view: Self::View<'a>, known: &dyn Fn(u32) -> usize) -> Self::View<'a> {
                <($(Option<$name>,)*)>::aligned(view, known)
            }

            #[inline]
            fn search(view: Self::View<'_>) -> Self::Search<'_> {
                ($($name::search(view.$at),)*)
            }

            #[inline]
            fn seek(search: Self::Search<'_>, row: Row) -> (Self::Place, bool) {
                let place = ($($name::place(search.$at, row),)*);
                (place, false $(|| place.$at.is_some())*)
            }

            #[inline]
            fn is_same(a: Self::Place, b: Self::Place) -> bool {
                <($(Option<$name>,)*)>::is_same(a, b)
            }

            #[inline]
            fn step(place: Self::Place, by: usize) -> Self::Place {
                <($(Option<$name>,)*)>::step(place, by)
            }

            #[inline]
            fn extend(search: Self::Search<'_>, place: Self::Place, entities: &[Entity]) -> usize {
                <($(Option<$name>,)*)>::extend(search, place, entities)
            }

            #[inline]
            fn load(numbers: &[u32]) -> Self::Place {
                <($(Option<$name>,)*)>::load(numbers)
            }

            #[inline]
            unsafe fn cursor<'a>(
                view: Self::View<'a>,
                place: Self::Place,
                entities: *const Entity,
            ) -> Self::Cursor<'a> {
                // SAFETY: promised by the caller.
                unsafe { <($(Option<$name>,)*)>::cursor(view, place, entities) }
            }

            #[inline(always)]
            unsafe fn item<'a>(cursor: &Self::Cursor<'a>, nth: usize) -> Self::Item<'a> {
                // SAFETY: promised by the caller.
                unsafe { <($(Option<$name>,)*)>::item(cursor, nth) }
            }

            #[inline(always)]
            unsafe fn read<'a>(cursor: &Self::Cursor<'a>, nth: usize) -> Self::ReadItem<'a> {
                // SAFETY: promised by the caller.
                unsafe { <($(Option<$name>,)*)>::read(cursor, nth) }
            }
        }
    };
}

crate::tuples::all_tuples!(any_of);

/// Says whether an entity has `T`, without borrowing its value: another query may write it.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// # #[derive(Component)] struct Poisoned;
/// let mut world = World::new();
/// world.spawn((Health(9), Poisoned));
/// world.spawn(Health(5));
///
/// for (health, poisoned) in &mut world.query::<(&mut Health, Has<Poisoned>)>() {
///     if poisoned {
///         health.0 -= 1;
///     }
/// }
/// ```
pub struct Has<T>(PhantomData<fn() -> T>);

impl<T> fmt::Debug for Has<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<Self>())
    }
}

impl<T> Sealed for Has<T> {}

// SAFETY: nothing is lent; a stretch ends where the answer changes.
unsafe impl<T: Component> QueryData for Has<T> {
    type Item<'a> = bool;
    type ReadItem<'a> = bool;
    type Fetch<'w> = MembersFetch<'w, T>;
    type View<'a> = Members<'a, T>;
    type Search<'a> = Members<'a, T>;
    type Place = bool;
    type Cursor<'a> = bool;

    const COLUMNS: usize = 1;
    const NICHE: bool = true;
    const IS_CLOSED: bool = true;
    const PROVES_LIFE: bool = false;

    #[inline(always)]
    fn uses(see: &mut impl FnMut(Key, Usage)) {
        see(Key::of::<T>(), Usage::Look);
    }

    #[inline]
    #[track_caller]
    fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
        MembersFetch::open(opening)
    }

    #[inline]
    fn view<'a>(fetch: &'a Self::Fetch<'_>, _: Span) -> Self::View<'a> {
        fetch.view()
    }

    #[inline]
    fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>) {
        view.column(Role::Asked, survey);
    }

    fn aligned<'a>(view: Self::View<'a>, _: &dyn Fn(u32) -> usize) -> Self::View<'a> {
        view
    }

    #[inline]
    fn search(view: Self::View<'_>) -> Self::Search<'_> {
        view
    }

    #[inline]
    fn seek(search: Self::Search<'_>, row: Row) -> (bool, bool) {
        (search.contains(row.entity), true)
    }

    #[inline]
    fn is_same(a: bool, b: bool) -> bool {
        a == b
    }

    #[inline]
    fn step(place: bool, _: usize) -> bool {
        place
    }

    #[inline]
    fn extend(search: Self::Search<'_>, place: bool, entities: &[Entity]) -> usize {
        entities.iter().take_while(|entity| search.contains(**entity) == place).count()
    }

    #[inline]
    fn load(numbers: &[u32]) -> bool {
        numbers[0] != 0
    }

    #[inline]
    unsafe fn cursor<'a>(_: Self::View<'a>, place: bool, _: *const Entity) -> Self::Cursor<'a> {
        place
    }

    #[inline]
    unsafe fn item<'a>(cursor: &Self::Cursor<'a>, _: usize) -> Self::Item<'a> {
        *cursor
    }

    #[inline]
    unsafe fn read<'a>(cursor: &Self::Cursor<'a>, _: usize) -> Self::ReadItem<'a> {
        *cursor
    }
}
