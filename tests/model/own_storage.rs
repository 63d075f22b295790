//! A storage as a user would write it, around one of ours.

use esker::Entity;
use esker::sparse::PagedMap;
use esker::storage::{Packed, Storage, Untracked};

pub struct Own<T>(Packed<T>);

impl<T> Default for Own<T> {
    fn default() -> Self {
        Self(Packed::default())
    }
}

#[allow(unsafe_code, reason = "implements the unsafe trait as a user would")]
// SAFETY: all calls are passed on to a storage that keeps the promises.
unsafe impl<T> Storage<T> for Own<T> {
    type Map = PagedMap;
    type Tracking = Untracked;

    const CONTIGUOUS: bool = true;

    fn push(&mut self, entity: Entity, value: T) {
        self.0.push(entity, value);
    }

    fn swap_remove(&mut self, at: usize, entity: Entity) -> T {
        self.0.swap_remove(at, entity)
    }

    fn swap(&mut self, a: usize, b: usize) {
        Storage::swap(&mut self.0, a, b);
    }

    unsafe fn ptr(&self, at: usize, entity: Entity) -> *mut T {
        // SAFETY: promised by the caller.
        unsafe { self.0.ptr(at, entity) }
    }

    fn base(&self) -> *mut T {
        self.0.base()
    }

    fn clear(&mut self) {
        Storage::clear(&mut self.0);
    }

    fn reserve(&mut self, additional: usize) {
        Storage::reserve(&mut self.0, additional);
    }

    fn shrink_to_fit(&mut self) {
        Storage::shrink_to_fit(&mut self.0);
    }

    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}
