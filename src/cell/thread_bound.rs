//! Values that may not leave their thread, inside a world that may.

#![allow(
    unsafe_code,
    reason = "makes a value movable between threads that refuses to be touched there"
)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::thread::{self, ThreadId};

/// A value that only the thread that made it can touch.
///
/// Touched elsewhere it is not there; dropped elsewhere it is leaked, because its destructor
/// belongs to the other thread too.
pub(crate) struct ThreadBound<T> {
    home: ThreadId,
    value: ManuallyDrop<T>,
}

// SAFETY: every access and the drop compare the current thread with `home` first, so the value
// is never touched by another thread, only its bytes are moved along.
unsafe impl<T> Send for ThreadBound<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for ThreadBound<T> {}

impl<T> ThreadBound<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { home: thread::current().id(), value: ManuallyDrop::new(value) }
    }

    pub(crate) fn is_home(&self) -> bool {
        thread::current().id() == self.home
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.is_home().then(|| &*self.value)
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.is_home().then(|| &mut *self.value)
    }

    /// Takes the value out, or gives the whole back.
    pub(crate) fn into_inner(mut self) -> Result<T, Self> {
        if !self.is_home() {
            return Err(self);
        }
        // SAFETY: `self` is forgotten on the next line, so nobody uses the field again.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        std::mem::forget(self);
        Ok(value)
    }
}

impl<T> Drop for ThreadBound<T> {
    fn drop(&mut self) {
        if self.is_home() {
            // SAFETY: dropped once, here; `into_inner` forgets `self`.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

impl<T> fmt::Debug for ThreadBound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBound").field("home", &self.home).finish_non_exhaustive()
    }
}
