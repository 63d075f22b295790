//! Filters: what must hold beside the terms.

use std::fmt;
use std::marker::PhantomData;

use super::candidates::Candidates;
use super::membership::{Members, MembersFetch};
use super::opening::Opening;
use super::survey::{Part, Role, Surveyor};
use super::term::Row;
use crate::access::{Key, Usage};
use crate::component::Component;
use crate::tick::Span;
use crate::world::BorrowConflict;

/// A condition on the entities of a [`Query`](super::Query).
///
/// Filters are [`With`], [`Without`], [`Or`], [`Added`](super::Added), [`Changed`](super::Changed) and tuples of filters, which must all hold. They look
/// at who has a component and not at its value, so they go together with a query that writes it.
/// The methods are for the library itself.
///
/// # Soundness
/// Sealed: a walk trusts a filter to say which pools it has looked at.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query filter",
    label = "not a filter",
    note = "filters are `With<T>`, `Without<T>`, `Added<T>`, `Changed<T>`, `Or<(…)>` and tuples of \
            these, for components `T`",
    note = "what is fetched, such as `&T`, belongs into the first parameter of the query"
)]
pub trait QueryFilter: Sealed {
    /// Guards on the pools.
    #[doc(hidden)]
    type Fetch<'w>;

    /// What the guards lend.
    #[doc(hidden)]
    type View<'a>: Copy + Send + Sync;

    /// Whether everybody passes.
    #[doc(hidden)]
    const IS_OPEN: bool;

    /// Whether it depends on more than structure, so that structure cannot tell who passes.
    #[doc(hidden)]
    const IS_TIMED: bool;

    /// Shows the components that are asked about, and how.
    #[doc(hidden)]
    fn uses(see: &mut impl FnMut(Key, Usage));

    /// Takes the guards.
    #[doc(hidden)]
    fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict>;

    #[doc(hidden)]
    fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a>;

    /// Shows the pools to `survey`.
    #[doc(hidden)]
    fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>);

    /// Whether the candidates all pass.
    #[doc(hidden)]
    const IS_EXACT: bool = false;

    /// Whether some of the candidates may be dead.
    #[doc(hidden)]
    const MAY_BE_DEAD: bool = false;

    /// Entities among which all are that pass, if the filter knows them and they are few.
    #[doc(hidden)]
    fn candidates(_view: Self::View<'_>) -> Option<Candidates<'_>> {
        None
    }

    /// Whether a living entity with this signature passes.
    #[doc(hidden)]
    fn passes(view: Self::View<'_>, row: Row, signature: u64) -> bool;
}

/// Keeps [`QueryFilter`] to this module.
pub trait Sealed {}

/// Lets entities pass that have `T`.
///
/// Use it where the value is not needed, in place of `&T`: it borrows who has the component and not the
/// values, so it goes together with a query that writes them.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// # #[derive(Component)] struct Poisoned;
/// # #[derive(Component)] struct Immune;
/// let mut world = World::new();
/// let ada = world.spawn((Health(9), Poisoned));
/// world.spawn((Health(9), Poisoned, Immune));
///
/// let ill = world.query_filtered::<Entity, (With<Poisoned>, Without<Immune>)>();
/// assert_eq!(ill.single(), Ok(ada));
/// ```
pub struct With<T>(PhantomData<fn() -> T>);

/// Lets entities pass that do not have `T`; see [`With`].
#[doc(alias = "exclude")]
pub struct Without<T>(PhantomData<fn() -> T>);

/// Lets entities pass that one of several filters lets pass.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Burning;
/// # #[derive(Component)] struct Frozen;
/// let mut world = World::new();
/// world.spawn(Burning);
/// world.spawn(Frozen);
/// world.spawn(());
/// assert_eq!(world.query_filtered::<Entity, Or<(With<Burning>, With<Frozen>)>>().count(), 2);
/// ```
pub struct Or<F>(PhantomData<fn() -> F>);

/// `QueryFilter` for a question about one component.
macro_rules! membership_filter {
    ($name:ident, $role:expr, $expected:literal) => {
        impl<T> Sealed for $name<T> {}

        impl<T: Component> QueryFilter for $name<T> {
            type Fetch<'w> = MembersFetch<'w, T>;
            type View<'a> = Members<'a, T>;

            const IS_OPEN: bool = false;
            const IS_TIMED: bool = false;

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
                view.column($role, survey);
            }

            #[inline]
            fn passes(view: Self::View<'_>, row: Row, signature: u64) -> bool {
                view.has(row.entity, signature) == $expected
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(std::any::type_name::<Self>())
            }
        }
    };
}

membership_filter!(With, Role::With, true);
membership_filter!(Without, Role::Without, false);

/// `QueryFilter` for a tuple, all of them, and for `Or` a tuple, one of them.
macro_rules! tuple_filter {
    ($($name:ident $at:tt),*) => {
        impl<$($name: QueryFilter),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        impl<$($name: QueryFilter),*> QueryFilter for ($($name,)*) {
            type Fetch<'w> = ($($name::Fetch<'w>,)*);
            type View<'a> = ($($name::View<'a>,)*);

            const IS_OPEN: bool = true $(&& $name::IS_OPEN)*;
            const IS_TIMED: bool = false $(|| $name::IS_TIMED)*;
            // Of one that knows, beside others that let everybody pass.
            const IS_EXACT: bool =
                (0 $(+ $name::IS_EXACT as usize)*) == 1 && true $(&& ($name::IS_EXACT || $name::IS_OPEN))*;
            const MAY_BE_DEAD: bool = false $(|| $name::MAY_BE_DEAD)*;

            fn uses(see: &mut impl FnMut(Key, Usage)) {
                $($name::uses(see);)*
            }

            #[inline]
            #[track_caller]
            fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
                Ok(($($name::open(opening)?,)*))
            }

            #[inline]
            fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a> {
                ($($name::view(&fetch.$at, span),)*)
            }

            #[inline]
            fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>) {
                $($name::columns(view.$at, survey);)*
            }

            fn candidates(view: Self::View<'_>) -> Option<Candidates<'_>> {
                let known: Vec<Option<Candidates<'_>>> = vec![$($name::candidates(view.$at)),*];
                known.into_iter().flatten().min_by_key(Candidates::len)
            }

            #[inline]
            fn passes(view: Self::View<'_>, row: Row, signature: u64) -> bool {
                true $(&& $name::passes(view.$at, row, signature))*
            }
        }

        impl<$($name: QueryFilter),*> Sealed for Or<($($name,)*)> {}

        #[allow(unused_variables, unused_mut, clippy::unused_unit,
            reason = "the empty tuple has nothing")]
        impl<$($name: QueryFilter),*> QueryFilter for Or<($($name,)*)> {
            type Fetch<'w> = ($($name::Fetch<'w>,)*);
            type View<'a> = ($($name::View<'a>,)*);

            const IS_OPEN: bool = false;
            const IS_TIMED: bool = false $(|| $name::IS_TIMED)*;
            const IS_EXACT: bool = true $(&& $name::IS_EXACT)*;
            const MAY_BE_DEAD: bool = false $(|| $name::MAY_BE_DEAD)*;

            fn uses(see: &mut impl FnMut(Key, Usage)) {
                $($name::uses(see);)*
            }

            #[inline]
            #[track_caller]
            fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
                <($($name,)*)>::open(opening)
            }

            #[inline]
            fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a> {
                <($($name,)*)>::view(fetch, span)
            }

            #[inline]
            fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>) {
                survey.begin(Part::Or);
                $(
                    // A tuple inside is a part of its own: all of it, or none.
                    survey.begin(Part::Option);
                    $name::columns(view.$at, survey);
                    survey.end();
                )*
                survey.end();
            }

            fn candidates(view: Self::View<'_>) -> Option<Candidates<'_>> {
                Some(Candidates::union(vec![$($name::candidates(view.$at)?),*]))
            }

            #[inline]
            fn passes(view: Self::View<'_>, row: Row, signature: u64) -> bool {
                false $(|| $name::passes(view.$at, row, signature))*
            }
        }
    };
}

crate::tuples::all_tuples!(tuple_filter);

impl<F> fmt::Debug for Or<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<Self>())
    }
}
