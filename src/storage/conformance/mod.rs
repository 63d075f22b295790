//! Tests for storages, ours and yours.
//!
//! [`Storage`] is an unsafe trait that anybody may implement; what an implementation promises can
//! be tried out here. [`storage_conformance!`](crate::storage_conformance) makes a test module
//! for a storage. The functions behind it can be called one by one, for any value shape that is
//! a [`Specimen`]; a broken promise is a panic that says which one.
//!
//! Each function works on an [`EntityMap`](super::EntityMap) and compares it with a plain list
//! that does the same. After each one a ledger proves that every value was dropped exactly once.
//! Passing under Miri as well is what makes a storage trustworthy: the suite can see wrong
//! values and wrong addresses, but not an aliasing rule that was broken on the way.
//!
//! # Examples
//! A storage that keeps each value in a box of its own:
//! ```
//! use std::cell::UnsafeCell;
//! use esker::sparse::PagedMap;
//! use esker::storage::{Storage, conformance};
//! use esker::Entity;
//!
//! pub struct Boxed<T>(Vec<Box<UnsafeCell<T>>>);
//!
//! impl<T> Default for Boxed<T> {
//!     fn default() -> Self { Self(Vec::new()) }
//! }
//!
//! // SAFETY: value `i` is in box `i`; boxes are distinct memory.
//! unsafe impl<T> Storage<T> for Boxed<T> {
//!     type Tracking = esker::storage::Untracked;
//!     type Map = PagedMap;
//!     const CONTIGUOUS: bool = false;
//!
//!     fn push(&mut self, _: Entity, value: T) { self.0.push(Box::new(UnsafeCell::new(value))) }
//!     fn swap_remove(&mut self, at: usize, _: Entity) -> T { self.0.swap_remove(at).into_inner() }
//!     fn swap(&mut self, a: usize, b: usize) { self.0.swap(a, b) }
//!     unsafe fn ptr(&self, at: usize, _: Entity) -> *mut T { self.0[at].get() }
//!     fn clear(&mut self) { self.0.clear() }
//!     fn reserve(&mut self, additional: usize) { self.0.reserve(additional) }
//!     fn shrink_to_fit(&mut self) { self.0.shrink_to_fit() }
//!     fn heap_bytes(&self) -> usize { self.0.len() * (8 + size_of::<T>()) }
//! }
//!
//! // In a test module; values in boxes stay where they are, so that is tested too.
//! esker::storage_conformance!(Boxed, stable);
//!
//! # fn main() {
//! // Or by hand, for one shape of values:
//! conformance::check::<u32, Boxed<u32>>();
//! conformance::addresses_stay::<u32, Boxed<u32>>();
//! # }
//! ```

mod checks;
mod ledger;
mod places;
mod random;
mod specimen;
mod twin;

pub use checks::{
    clear, clear_that_unwinds, drop_of_the_map, erased_face, far_indices, insert_and_get, iterate,
    move_of_the_map, remove, replace, reserve_and_shrink, retain, swap,
};
pub use places::addresses_stay;
pub use random::{SEEDS, random_operations};
pub use specimen::{Aligned, Counted, CountedTag, Large, Specimen, Tag};

use super::Storage;

/// Runs the whole suite on storage `S` for one shape of values.
///
/// [`addresses_stay`] is not part of it, because only some storages promise that (P3).
///
/// # Panics
/// If the storage breaks a promise.
pub fn check<T: Specimen, S: Storage<T>>() {
    insert_and_get::<T, S>();
    replace::<T, S>();
    remove::<T, S>();
    swap::<T, S>();
    retain::<T, S>();
    iterate::<T, S>();
    clear::<T, S>();
    clear_that_unwinds::<T, S>();
    reserve_and_shrink::<T, S>();
    far_indices::<T, S>();
    erased_face::<T, S>();
    move_of_the_map::<T, S>();
    drop_of_the_map::<T, S>();
    for seed in SEEDS {
        random_operations::<T, S>(seed);
    }
}

/// Makes a test module that runs the [conformance suite](crate::storage::conformance) on a storage.
///
/// Takes the path of a storage that is generic over the type of its values. Add `stable` if it
/// promises that values never move between insert and remove. The module is called
/// `storage_conformance`; put each into a module of your own if there are several.
///
/// # Examples
/// ```
/// mod packed {
///     esker::storage_conformance!(esker::storage::Packed);
/// }
/// mod indexed {
///     esker::storage_conformance!(esker::storage::Indexed, stable);
/// }
/// ```
#[macro_export]
macro_rules! storage_conformance {
    ($($storage:ident)::+ $(, $stable:ident)?) => {
        #[allow(unused, reason = "used by tests only")]
        mod storage_conformance {
            use super::*;

            type Kept<T> = $($storage)::+<T>;

            $crate::storage_conformance!(@shapes ($($stable)?)
                plain_values: u32,
                tags: $crate::storage::conformance::Tag,
                drop_counted_values: $crate::storage::conformance::Counted,
                drop_counted_tags: $crate::storage::conformance::CountedTag,
                over_aligned_values: $crate::storage::conformance::Aligned,
                large_values: $crate::storage::conformance::Large,
            );
        }
    };
    (@shapes () $($name:ident: $value:path,)+) => {
        $(#[test]
        fn $name() {
            $crate::storage::conformance::check::<$value, Kept<$value>>();
        })+
    };
    (@shapes (stable) $($name:ident: $value:path,)+) => {
        $crate::storage_conformance!(@shapes () $($name: $value,)+);

        mod stay_where_they_are {
            $(#[test]
            fn $name() {
                $crate::storage::conformance::addresses_stay::<$value, super::Kept<$value>>();
            })+
        }
    };
}
