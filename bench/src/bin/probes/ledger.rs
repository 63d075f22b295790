//! Values that know how often they were dropped, and a fuse that makes one of the drops panic.
//!
//! A value is a number and owns no memory, so that a library that drops one twice is counted and not
//! killed.

use std::cell::{Cell, RefCell};

thread_local! {
    static DROPS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    static FUSE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Counts its drops.
#[derive(Debug)]
pub(crate) struct Value(u32);

impl Value {
    pub(crate) fn new() -> Self {
        DROPS.with_borrow_mut(|drops| {
            drops.push(0);
            Self(drops.len() as u32 - 1)
        })
    }

    /// Whether it has been dropped, or never was made: nobody may be able to ask.
    pub(crate) fn is_gone(&self) -> bool {
        DROPS.with_borrow(|drops| drops.get(self.0 as usize).is_none_or(|&count| count > 0))
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        DROPS.with_borrow_mut(|drops| {
            if let Some(count) = drops.get_mut(self.0 as usize) {
                *count += 1;
            }
        });
        let burns = FUSE.get() == Some(0);
        FUSE.set(FUSE.get().and_then(|left| left.checked_sub(1)));
        // A second panic while the first one is under way would end the process by the rule of the language.
        if burns && !std::thread::panicking() {
            panic!("a planned panic");
        }
    }
}

/// Forgets all values.
pub(crate) fn clear() {
    DROPS.with_borrow_mut(Vec::clear);
    disarm();
}

/// Lets the drop after `count` others panic.
pub(crate) fn arm(count: usize) {
    FUSE.set(Some(count));
}

/// Returns whether the fuse had not burnt.
pub(crate) fn disarm() -> bool {
    FUSE.take().is_some()
}

/// How many were never dropped, and how many more than once.
pub(crate) fn sums() -> (usize, usize) {
    DROPS.with_borrow(|drops| {
        let count = |is: fn(u32) -> bool| drops.iter().filter(|&&drops| is(drops)).count();
        (count(|drops| drops == 0), count(|drops| drops > 1))
    })
}
