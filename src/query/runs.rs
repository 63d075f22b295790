//! Runs: the matches as slices.

#![allow(unsafe_code, reason = "makes slices of the values of a run")]

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::Query;
use super::filter::QueryFilter;
use super::merged::Merged;
use super::mode::{Mode, Reading, Writing};
use super::optional::{AnyOf, Has};
use super::term::QueryData;
use crate::component::Component;
use crate::entity::Entity;

/// Terms whose values can be had as slices: all but `EntityRef`, for components whose storage
/// keeps values side by side.
///
/// # Safety
/// As [`QueryData`]: distinct stretches are distinct memory, or only read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be had as slices",
    note = "`Entity`, `&T`, `&mut T`, `Option<…>`, `Has<T>`, `AnyOf<(…)>` and tuples of these can"
)]
pub unsafe trait SliceData: QueryData {
    /// What a run gives to who may write: `&mut [T]` for `&mut T`.
    type Slices<'a>;

    /// What a run gives to who only reads.
    type ReadSlices<'a>;

    /// # Safety
    /// As [`QueryData::item`] for all `len` entities of the stretch, and these are readable for
    /// `'a`.
    #[doc(hidden)]
    unsafe fn slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> Self::Slices<'a>;

    /// # Safety
    /// As [`QueryData::read`] for all `len` entities of the stretch, and these are readable for
    /// `'a`.
    #[doc(hidden)]
    unsafe fn read_slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> Self::ReadSlices<'a>;
}

// SAFETY: as the term.
unsafe impl<T: Component> SliceData for &T {
    type Slices<'a> = &'a [T];
    type ReadSlices<'a> = &'a [T];

    #[inline]
    unsafe fn slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> &'a [T] {
        // SAFETY: promised by the caller.
        unsafe { Self::read_slices(cursor, len) }
    }

    #[inline]
    unsafe fn read_slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> &'a [T] {
        // SAFETY: a stretch lies in one slice (P1), as the caller promises.
        unsafe { std::slice::from_raw_parts(cursor.as_ptr(), len) }
    }
}

// SAFETY: as the term.
unsafe impl<T: Component> SliceData for &mut T {
    type Slices<'a> = &'a mut [T];
    type ReadSlices<'a> = &'a [T];

    #[inline]
    unsafe fn slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> &'a mut [T] {
        // Nobody can say which values of a slice are changed, so all of them are.
        cursor.mark(len);
        // SAFETY: a stretch lies in one slice (P1), and nobody else has an entity of it, as the
        // caller promises.
        unsafe { std::slice::from_raw_parts_mut(cursor.as_ptr(), len) }
    }

    #[inline]
    unsafe fn read_slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> &'a [T] {
        // SAFETY: a stretch lies in one slice (P1), as the caller promises.
        unsafe { std::slice::from_raw_parts(cursor.as_ptr(), len) }
    }
}

// SAFETY: ids are only read.
unsafe impl SliceData for Entity {
    type Slices<'a> = &'a [Entity];
    type ReadSlices<'a> = &'a [Entity];

    #[inline]
    unsafe fn slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> Self::Slices<'a> {
        // SAFETY: promised by the caller.
        unsafe { Self::read_slices(cursor, len) }
    }

    #[inline]
    unsafe fn read_slices<'a>((_, first): Self::Cursor<'a>, len: usize) -> Self::ReadSlices<'a> {
        // SAFETY: the entities of the stretch are readable, as the caller promises.
        unsafe { std::slice::from_raw_parts(first, len) }
    }
}

// SAFETY: nothing is lent.
unsafe impl<T: Component> SliceData for Has<T> {
    type Slices<'a> = bool;
    type ReadSlices<'a> = bool;

    #[inline]
    unsafe fn slices<'a>(cursor: Self::Cursor<'a>, _: usize) -> Self::Slices<'a> {
        cursor
    }

    #[inline]
    unsafe fn read_slices<'a>(cursor: Self::Cursor<'a>, _: usize) -> Self::ReadSlices<'a> {
        cursor
    }
}

// SAFETY: as the term; in a stretch it is there for all entities, or for none.
unsafe impl<D: SliceData> SliceData for Option<D> {
    type Slices<'a> = Option<D::Slices<'a>>;
    type ReadSlices<'a> = Option<D::ReadSlices<'a>>;

    #[inline]
    unsafe fn slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> Self::Slices<'a> {
        // SAFETY: promised by the caller.
        cursor.map(|cursor| unsafe { D::slices(cursor, len) })
    }

    #[inline]
    unsafe fn read_slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> Self::ReadSlices<'a> {
        // SAFETY: promised by the caller.
        cursor.map(|cursor| unsafe { D::read_slices(cursor, len) })
    }
}

/// `SliceData` for a tuple, and for `AnyOf` it.
macro_rules! tuple_slices {
    ($($name:ident $at:tt),*) => {
        // SAFETY: as the terms.
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        unsafe impl<$($name: SliceData),*> SliceData for ($($name,)*) {
            type Slices<'a> = ($($name::Slices<'a>,)*);
            type ReadSlices<'a> = ($($name::ReadSlices<'a>,)*);

            #[inline]
            unsafe fn slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> Self::Slices<'a> {
                // SAFETY: promised by the caller for all terms.
                ($(unsafe { $name::slices(cursor.$at, len) },)*)
            }

            #[inline]
            unsafe fn read_slices<'a>(
                cursor: Self::Cursor<'a>,
                len: usize,
            ) -> Self::ReadSlices<'a> {
                // SAFETY: promised by the caller for all terms.
                ($(unsafe { $name::read_slices(cursor.$at, len) },)*)
            }
        }

        tuple_slices!(@ any_of $($name $at),*);
    };
    (@ any_of) => {};
    (@ any_of $($name:ident $at:tt),*) => {
        // SAFETY: as the terms.
        unsafe impl<$($name: SliceData),*> SliceData for AnyOf<($($name,)*)> {
            type Slices<'a> = ($(Option<$name::Slices<'a>>,)*);
            type ReadSlices<'a> = ($(Option<$name::ReadSlices<'a>>,)*);

            #[inline]
            unsafe fn slices<'a>(cursor: Self::Cursor<'a>, len: usize) -> Self::Slices<'a> {
                // SAFETY: promised by the caller for all terms.
                unsafe { <($(Option<$name>,)*)>::slices(cursor, len) }
            }

            #[inline]
            unsafe fn read_slices<'a>(
                cursor: Self::Cursor<'a>,
                len: usize,
            ) -> Self::ReadSlices<'a> {
                // SAFETY: promised by the caller for all terms.
                unsafe { <($(Option<$name>,)*)>::read_slices(cursor, len) }
            }
        }
    };
}

crate::tuples::all_tuples!(tuple_slices);

/// The matches as slices; see [`Query::runs`] and [`Query::runs_mut`].
pub struct Runs<'a, D: QueryData, F: QueryFilter, M: Mode> {
    runs: Merged<'a, D, F>,
    mode: PhantomData<M>,
}

impl<D: SliceData, F: QueryFilter> Query<'_, D, F> {
    /// The matches as slices, for reading: run after run, each as long as can be.
    ///
    /// In a run all slices have the same length, and what stands at one place belongs to one
    /// entity. A world whose pools are in the same order has one run.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Mass(f32);
    /// # #[derive(Component)] struct Charge(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..100).map(|i| (Mass(i as f32), Charge(1.0))));
    ///
    /// let query = world.query::<(Entity, &Mass, &Charge)>();
    /// for (ids, masses, charges) in query.runs() {
    ///     assert_eq!((ids.len(), masses.len(), charges.len()), (100, 100, 100));
    /// }
    /// ```
    pub fn runs(&self) -> Runs<'_, D, F, Reading> {
        Runs { runs: Merged::new(self.matches()), mode: PhantomData }
    }

    /// The matches as slices: run after run, each as long as can be.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Velocity(f32);
    /// # let mut world = World::new();
    /// for (positions, velocities) in world.query::<(&mut Position, &Velocity)>().runs_mut() {
    ///     for (position, velocity) in positions.iter_mut().zip(velocities) {
    ///         position.0 += velocity.0;
    ///     }
    /// }
    /// ```
    pub fn runs_mut(&mut self) -> Runs<'_, D, F, Writing> {
        Runs { runs: Merged::new(self.matches()), mode: PhantomData }
    }
}

/// `Iterator` for both modes; they differ in the slices they make.
macro_rules! runs {
    ($mode:ty, $item:ident, $slices:ident) => {
        impl<'a, D: SliceData, F: QueryFilter> Iterator for Runs<'a, D, F, $mode> {
            type Item = D::$item<'a>;

            fn next(&mut self) -> Option<Self::Item> {
                let run = self.runs.next()?;
                // SAFETY: a stretch has the place of its first entity.
                let cursor = unsafe { self.runs.piece.views.cursor(run.driver_at, run.place) };
                // SAFETY: the stretch is that long, and each entity is in one (Q1); the query is
                // borrowed for `'a`, uniquely by who writes, and its driver lives as long.
                Some(unsafe { D::$slices(cursor, run.len) })
            }
        }

        impl<D: SliceData, F: QueryFilter> FusedIterator for Runs<'_, D, F, $mode> {}
    };
}

runs!(Reading, ReadSlices, read_slices);
runs!(Writing, Slices, slices);

impl<D: QueryData, F: QueryFilter, M: Mode> fmt::Debug for Runs<'_, D, F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").finish_non_exhaustive()
    }
}
