//! Filters: what must hold beside the terms.

use std::fmt;
use std::marker::PhantomData;

use super::data::{QueryData, shorter};
use crate::component::Component;
use crate::entity::Entity;
use crate::world::{BorrowConflict, World};

/// A condition on the entities of a [`Query`](super::Query).
///
/// Sealed: a query trusts the entities of a driver to be distinct (Q1).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query filter",
    label = "not a filter",
    note = "filters are `With<T>`, `Without<T>` and tuples of these, for components `T`"
)]
pub trait QueryFilter: Sealed {
    /// Guards on the pools.
    type Fetch<'w>;

    /// Takes the guards.
    ///
    /// # Errors
    /// [`BorrowConflict`] if one cannot be had.
    fn open(world: &World) -> Result<Self::Fetch<'_>, BorrowConflict>;

    /// The shortest pool that every match is in; `None` if nothing is required.
    fn driver<'f>(fetch: &'f Self::Fetch<'_>) -> Option<&'f [Entity]>;

    /// Whether a living entity passes.
    fn passes(fetch: &Self::Fetch<'_>, entity: Entity) -> bool;
}

/// Keeps [`QueryFilter`] to this module.
pub trait Sealed {}

impl<T> Sealed for With<T> {}

impl<T> Sealed for Without<T> {}

/// Lets entities pass that have `T`.
pub struct With<T>(PhantomData<fn() -> T>);

/// Lets entities pass that do not have `T`.
#[doc(alias = "exclude")]
pub struct Without<T>(PhantomData<fn() -> T>);

impl<T: Component> QueryFilter for With<T> {
    type Fetch<'w> = <&'static T as QueryData>::Fetch<'w>;

    #[track_caller]
    fn open(world: &World) -> Result<Self::Fetch<'_>, BorrowConflict> {
        <&T>::open(world)
    }

    fn driver<'f>(fetch: &'f Self::Fetch<'_>) -> Option<&'f [Entity]> {
        <&T>::driver(fetch)
    }

    #[inline]
    fn passes(fetch: &Self::Fetch<'_>, entity: Entity) -> bool {
        <&T>::matches(fetch, entity)
    }
}

impl<T: Component> QueryFilter for Without<T> {
    type Fetch<'w> = <&'static T as QueryData>::Fetch<'w>;

    #[track_caller]
    fn open(world: &World) -> Result<Self::Fetch<'_>, BorrowConflict> {
        <&T>::open(world)
    }

    fn driver<'f>(_: &'f Self::Fetch<'_>) -> Option<&'f [Entity]> {
        None
    }

    #[inline]
    fn passes(fetch: &Self::Fetch<'_>, entity: Entity) -> bool {
        !<&T>::matches(fetch, entity)
    }
}

impl<T> fmt::Debug for With<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<Self>())
    }
}

impl<T> fmt::Debug for Without<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<Self>())
    }
}

/// `QueryFilter` for a tuple: all of them.
macro_rules! tuple_filter {
    ($($name:ident $at:tt),*) => {
        impl<$($name: QueryFilter),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        impl<$($name: QueryFilter),*> QueryFilter for ($($name,)*) {
            type Fetch<'w> = ($($name::Fetch<'w>,)*);

            #[track_caller]
            fn open(world: &World) -> Result<Self::Fetch<'_>, BorrowConflict> {
                Ok(($($name::open(world)?,)*))
            }

            fn driver<'f>(fetch: &'f Self::Fetch<'_>) -> Option<&'f [Entity]> {
                let shortest = None;
                $(let shortest = shorter(shortest, $name::driver(&fetch.$at));)*
                shortest
            }

            #[inline]
            fn passes(fetch: &Self::Fetch<'_>, entity: Entity) -> bool {
                true $(&& $name::passes(&fetch.$at, entity))*
            }
        }
    };
}

crate::tuples::all_tuples!(tuple_filter);
