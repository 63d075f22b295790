//! A storage that knows when its values were changed.

#![allow(unsafe_code, reason = "passes on the promises of the storage inside")]

use super::{Fill, Storage, Ticks, WithTicks};
use crate::entity::Entity;
use crate::tick::Tick;

/// Any storage, with a tick for each value; `#[component(track)]` chooses it.
///
/// Whatever moves a value moves its ticks in the same function (P1).
#[derive(Debug, Default)]
pub struct Tracked<S> {
    values: S,
    ticks: Ticks,
}

// SAFETY: values are kept by a storage that keeps these promises; ticks are not values.
unsafe impl<T, S: Storage<T>> Storage<T> for Tracked<S> {
    type Map = S::Map;
    type Tracking = WithTicks;

    const CONTIGUOUS: bool = S::CONTIGUOUS;

    #[inline]
    fn push(&mut self, entity: Entity, value: T) {
        // The value first: if it unwinds, there is no tick too many.
        self.values.push(entity, value);
        self.ticks.push();
    }

    fn append(&mut self, values: Vec<T>) -> Result<(), Vec<T>> {
        let count = values.len();
        self.values.append(values)?;
        self.ticks.append(count);
        Ok(())
    }

    #[inline]
    fn swap_remove(&mut self, at: usize, entity: Entity) -> T {
        self.ticks.swap_remove(at);
        self.values.swap_remove(at, entity)
    }

    #[inline]
    fn swap(&mut self, a: usize, b: usize) {
        self.ticks.swap(a, b);
        self.values.swap(a, b);
    }

    #[inline]
    unsafe fn ptr(&self, at: usize, entity: Entity) -> *mut T {
        // SAFETY: promised by the caller.
        unsafe { self.values.ptr(at, entity) }
    }

    #[inline]
    fn base(&self) -> *mut T {
        self.values.base()
    }

    fn clear(&mut self) {
        self.ticks.clear();
        self.values.clear();
    }

    fn reserve(&mut self, additional: usize) {
        self.values.reserve(additional);
        self.ticks.reserve(additional);
    }

    fn shrink_to_fit(&mut self) {
        self.values.shrink_to_fit();
        self.ticks.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        self.values.heap_bytes() + self.ticks.heap_bytes()
    }

    fn bytes_for(entities: &[Entity]) -> usize {
        // Two ticks for each value, and a summary for each sixteen.
        S::bytes_for(entities) + entities.len() * 17
    }

    fn ticks_mut(&mut self) -> Option<&mut Ticks> {
        Some(&mut self.ticks)
    }

    const BY_POSITION: bool = S::BY_POSITION;

    #[inline]
    unsafe fn overwrite(&mut self, at: usize, value: *const T) {
        self.ticks.restart(at);
        // SAFETY: promised by the caller.
        unsafe { self.values.overwrite(at, value) };
    }

    fn refill(&mut self, values: &[T], fill: Fill<T>) -> bool {
        // Who asks for it copies the ticks, too.
        self.values.refill(values, fill)
    }

    #[inline]
    fn ticks(&self) -> Option<&Ticks> {
        Some(&self.ticks)
    }

    #[inline]
    fn set_now(&mut self, now: Tick) {
        self.ticks.set_now(now);
    }

    #[inline]
    fn touch(&self, at: usize, count: usize) {
        self.ticks.mark_range(at, count, self.ticks.now());
    }
}
