//! Terms: what a query fetches.

#![allow(unsafe_code, reason = "lends values of several entities at once")]

use crate::cell::{Read, Write};
use crate::component::Component;
use crate::entity::Entity;
use crate::storage::{EntityMap, Storage};
use crate::world::{BorrowConflict, World};

type Map<T> = EntityMap<T, <T as Component>::Storage>;

/// What a [`Query`](super::Query) fetches from each entity.
///
/// # Safety
/// - `fetch` for distinct entities lends distinct memory, or memory that is only read;
/// - the entities of `driver` are distinct, and alive as long as the guards are held.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be fetched by a query",
    label = "not a query term",
    note = "terms are `Entity`, `&T`, `&mut T`, `Option` of these, and tuples, for components `T`",
    note = "a component derives `Component`"
)]
pub unsafe trait QueryData {
    /// What one entity gives.
    type Item<'a>;

    /// Guards on the pools.
    type Fetch<'w>;

    /// Takes the guards.
    ///
    /// # Errors
    /// [`BorrowConflict`] if one cannot be had.
    fn open(world: &World) -> Result<Self::Fetch<'_>, BorrowConflict>;

    /// The shortest pool that every match is in; `None` if nothing is required.
    fn driver<'f>(fetch: &'f Self::Fetch<'_>) -> Option<&'f [Entity]>;

    /// Whether `entity` has what is required.
    fn matches(fetch: &Self::Fetch<'_>, entity: Entity) -> bool;

    /// What `entity` gives, if it has what is required.
    ///
    /// # Safety
    /// Nothing fetched for the same entity is in use, unless the term only reads.
    unsafe fn fetch<'a>(fetch: &'a Self::Fetch<'_>, entity: Entity) -> Option<Self::Item<'a>>;

    /// What `entity` gives, to one who has the guards to himself.
    fn write<'a>(fetch: &'a mut Self::Fetch<'_>, entity: Entity) -> Option<Self::Item<'a>> {
        // SAFETY: the unique borrow lasts as long as the item.
        unsafe { Self::fetch(fetch, entity) }
    }

    /// What `entity` gives, from a term that only reads.
    fn read<'a>(fetch: &'a Self::Fetch<'_>, entity: Entity) -> Option<Self::Item<'a>>
    where
        Self: ReadOnlyQueryData,
    {
        // SAFETY: the term only reads.
        unsafe { Self::fetch(fetch, entity) }
    }
}

/// A [`QueryData`] that only reads.
///
/// # Safety
/// Items give no mutable access.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may write, so the query must be borrowed mutably",
    note = "use `iter_mut`, `get_mut` or `for … in &mut query`"
)]
pub unsafe trait ReadOnlyQueryData: QueryData {}

// SAFETY: an id is copied, not lent.
unsafe impl QueryData for Entity {
    type Item<'a> = Entity;
    type Fetch<'w> = ();

    fn open(_: &World) -> Result<(), BorrowConflict> {
        Ok(())
    }

    fn driver((): &()) -> Option<&[Entity]> {
        None
    }

    #[inline]
    fn matches((): &(), _: Entity) -> bool {
        true
    }

    #[inline]
    unsafe fn fetch((): &(), entity: Entity) -> Option<Entity> {
        Some(entity)
    }
}

// SAFETY: an id gives no access.
unsafe impl ReadOnlyQueryData for Entity {}

// SAFETY: values are only read.
unsafe impl<T: Component> QueryData for &T {
    type Item<'a> = &'a T;
    type Fetch<'w> = Option<Read<'w, Map<T>>>;

    #[track_caller]
    fn open(world: &World) -> Result<Self::Fetch<'_>, BorrowConflict> {
        world.try_read_map::<T>()
    }

    fn driver<'f>(fetch: &'f Self::Fetch<'_>) -> Option<&'f [Entity]> {
        Some(fetch.as_deref().map_or(&[], |map| map.entities()))
    }

    #[inline]
    fn matches(fetch: &Self::Fetch<'_>, entity: Entity) -> bool {
        fetch.as_ref().is_some_and(|map| map.contains(entity))
    }

    #[inline]
    unsafe fn fetch<'a>(fetch: &'a Self::Fetch<'_>, entity: Entity) -> Option<&'a T> {
        fetch.as_deref()?.get(entity)
    }
}

// SAFETY: values are only read.
unsafe impl<T: Component> ReadOnlyQueryData for &T {}

// SAFETY: distinct entities have distinct positions (S1), which are distinct memory (P2).
unsafe impl<T: Component> QueryData for &mut T {
    type Item<'a> = &'a mut T;
    type Fetch<'w> = Option<Write<'w, Map<T>>>;

    #[track_caller]
    fn open(world: &World) -> Result<Self::Fetch<'_>, BorrowConflict> {
        world.try_write_map::<T>()
    }

    fn driver<'f>(fetch: &'f Self::Fetch<'_>) -> Option<&'f [Entity]> {
        Some(fetch.as_deref().map_or(&[], |map| map.entities()))
    }

    #[inline]
    fn matches(fetch: &Self::Fetch<'_>, entity: Entity) -> bool {
        fetch.as_ref().is_some_and(|map| map.contains(entity))
    }

    #[inline]
    unsafe fn fetch<'a>(fetch: &'a Self::Fetch<'_>, entity: Entity) -> Option<&'a mut T> {
        let map = fetch.as_deref()?;
        let at = map.set().position(entity)?;
        // SAFETY: `entity` is at position `at` (S1).
        let value = unsafe { map.storage().ptr(at, entity) };
        // SAFETY: the guard keeps everyone else out (B1), and the caller has nothing else of this
        // entity in use; other entities are other memory (P2).
        Some(unsafe { &mut *value })
    }
}

// SAFETY: as its term; what is missing is not lent.
unsafe impl<D: QueryData> QueryData for Option<D> {
    type Item<'a> = Option<D::Item<'a>>;
    type Fetch<'w> = D::Fetch<'w>;

    #[track_caller]
    fn open(world: &World) -> Result<Self::Fetch<'_>, BorrowConflict> {
        D::open(world)
    }

    fn driver<'f>(_: &'f Self::Fetch<'_>) -> Option<&'f [Entity]> {
        None
    }

    #[inline]
    fn matches(_: &Self::Fetch<'_>, _: Entity) -> bool {
        true
    }

    #[inline]
    unsafe fn fetch<'a>(fetch: &'a Self::Fetch<'_>, entity: Entity) -> Option<Self::Item<'a>> {
        // SAFETY: promised by the caller.
        Some(unsafe { D::fetch(fetch, entity) })
    }
}

// SAFETY: as its term.
unsafe impl<D: ReadOnlyQueryData> ReadOnlyQueryData for Option<D> {}

/// The shorter of two drivers.
pub(super) fn shorter<'f>(
    a: Option<&'f [Entity]>,
    b: Option<&'f [Entity]>,
) -> Option<&'f [Entity]> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.len() < a.len() { b } else { a }),
        (driver, None) | (None, driver) => driver,
    }
}

/// `QueryData` for a tuple.
macro_rules! tuple_data {
    ($($name:ident $at:tt),*) => {
        // SAFETY: each term lends from its own guard; two terms on one pool cannot both be open
        // unless both read (B1).
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        unsafe impl<$($name: QueryData),*> QueryData for ($($name,)*) {
            type Item<'a> = ($($name::Item<'a>,)*);
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
            fn matches(fetch: &Self::Fetch<'_>, entity: Entity) -> bool {
                true $(&& $name::matches(&fetch.$at, entity))*
            }

            #[inline]
            unsafe fn fetch<'a>(fetch: &'a Self::Fetch<'_>, entity: Entity) -> Option<Self::Item<'a>> {
                // SAFETY: promised by the caller for all terms.
                Some(($(unsafe { $name::fetch(&fetch.$at, entity) }?,)*))
            }
        }

        // SAFETY: as its terms.
        unsafe impl<$($name: ReadOnlyQueryData),*> ReadOnlyQueryData for ($($name,)*) {}
    };
}

crate::tuples::all_tuples!(tuple_data);
