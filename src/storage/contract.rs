//! What a storage promises.

#![allow(unsafe_code, reason = "declares the unsafe trait")]

use std::cell::UnsafeCell;

use super::{Ticks, Tracking};
use crate::entity::Entity;
use crate::sparse::SparseMap;
use crate::tick::Tick;

/// Replaces what is in a row of values by copies of others.
#[doc(hidden)]
pub type Fill<T> = fn(&[T], &mut Vec<UnsafeCell<T>>);

/// Keeps the values of an [`EntityMap`](super::EntityMap).
///
/// Those that come with the library are enough for most programs. Write one of your own for another layout
/// of values: blocks of fixed size, a file that is mapped into memory, one array for each field.
///
/// The map keeps the entities in packed order and tells the storage of every change of that
/// order. A storage may keep values by position, by entity, or any other way, as long as it finds
/// them again.
///
/// # Safety
/// The map dereferences what [`ptr`](Self::ptr) returns. An implementation promises that, if it
/// is told of every change in the order in which they happen:
///
/// - `ptr(at, entity)` for a position in use and its entity points to the value of that entity,
///   aligned and initialised, and may be read and written through until the next call of a
///   method that takes `&mut self`;
/// - pointers for distinct positions point to distinct memory (P2), and making one of them does
///   not touch the values (values sit in an `UnsafeCell` or behind a raw pointer);
/// - if [`CONTIGUOUS`](Self::CONTIGUOUS), `ptr(at, _)` is `base().add(at)`;
/// - `swap_remove` gives up the value it returns, and `clear` all of them, even if it unwinds;
/// - `swap_remove` and `swap` do not unwind (`push` and `append` may, if they have taken nothing in then; all others and `Default` may);
/// - values are dropped when the storage is dropped, each once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a storage for `{T}`",
    note = "storages that come with esker: `Packed`, `Indexed`, `Hashed`"
)]
pub unsafe trait Storage<T>: Default {
    /// How the map that uses this storage looks entities up.
    type Map: SparseMap;

    /// Whether it knows when values were changed: [`Untracked`](super::Untracked), unless it is put
    /// into a [`Tracked`](super::Tracked).
    type Tracking: Tracking;

    /// Whether values lie in packed order one after the other, so that they make a slice.
    const CONTIGUOUS: bool;

    /// Takes in the value of `entity`, whose position is the next one.
    fn push(&mut self, entity: Entity, value: T);

    /// Takes in the values of the next positions at once, or gives them back to be pushed.
    ///
    /// # Errors
    /// The values: this storage has no faster way than to push them.
    fn append(&mut self, values: Vec<T>) -> Result<(), Vec<T>> {
        Err(values)
    }

    /// Gives up the value of `entity` at position `at`; the last one takes that position.
    fn swap_remove(&mut self, at: usize, entity: Entity) -> T;

    /// Exchanges the positions of two values.
    fn swap(&mut self, a: usize, b: usize);

    /// Where the value of `entity`, which is at position `at`, lies.
    ///
    /// # Safety
    /// `at` is a position in use and `entity` is the one at this position.
    unsafe fn ptr(&self, at: usize, entity: Entity) -> *mut T;

    /// Where the first value lies, or would, if the storage is contiguous.
    fn base(&self) -> *mut T {
        std::ptr::dangling_mut()
    }

    /// Drops all values. Those left when a drop unwinds are dropped or leaked, not kept.
    fn clear(&mut self);

    /// Makes room for `additional` more values, where that means anything.
    fn reserve(&mut self, additional: usize);

    /// Gives back memory that holds no value.
    fn shrink_to_fit(&mut self);

    /// Bytes of heap memory in use.
    fn heap_bytes(&self) -> usize;

    /// Bytes of heap memory that it would use for values of these entities, about.
    fn bytes_for(entities: &[Entity]) -> usize {
        entities.len() * size_of::<T>()
    }

    /// The ticks of its values, if it has some, to be replaced by as many others.
    #[doc(hidden)]
    fn ticks_mut(&mut self) -> Option<&mut Ticks> {
        None
    }

    /// Replaces all values by copies of these, which `fill` makes, in the memory that is there;
    /// `false`, and nothing has changed, if the storage does not lay them out in a row.
    #[doc(hidden)]
    fn refill(&mut self, _values: &[T], _fill: Fill<T>) -> bool {
        false
    }

    /// Whether it keeps values by position alone, so that another entity can have the one at a position.
    #[doc(hidden)]
    const BY_POSITION: bool = false;

    /// Writes the value of another entity over the one at a position, which needs no drop, if it keeps them
    /// [so](Self::BY_POSITION).
    ///
    /// # Safety
    /// The caller gives up the value, and uses it no more.
    #[doc(hidden)]
    unsafe fn overwrite(&mut self, _at: usize, _value: *const T) {}

    /// When its values were added and changed, if it knows.
    #[inline(always)]
    fn ticks(&self) -> Option<&Ticks> {
        None
    }

    /// Sets the tick of what is done from now on.
    #[inline(always)]
    fn set_now(&mut self, _now: Tick) {}

    /// Says that `count` values from a position on are changed now.
    #[inline(always)]
    fn touch(&self, _at: usize, _count: usize) {}
}
