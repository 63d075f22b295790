//! An allocator that counts, for tests that look at memory.
//!
//! It counts for each thread by itself: the others are those of the harness and of tests beside
//! this one. Threads that work for one test can be counted as one.

#![allow(unsafe_code, reason = "an allocator is unsafe; this one passes everything on")]
#![allow(dead_code, reason = "each test crate uses the part it needs")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

/// What the threads of a team have in use.
static IN_TEAM: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static ASKED: Cell<usize> = const { Cell::new(0) };
    static IS_IN_TEAM: Cell<bool> = const { Cell::new(false) };
}

fn taken(bytes: usize) {
    // A thread that ends has no counters any more, and nobody who asks.
    _ = ASKED.try_with(|asked| asked.set(asked.get() + bytes));
    changed(bytes.cast_signed());
}

fn changed(bytes: isize) {
    _ = IN_USE.try_with(|in_use| {
        in_use.set(in_use.get() + bytes);
        _ = PEAK.try_with(|peak| peak.set(peak.get().max(in_use.get())));
    });
    _ = IS_IN_TEAM.try_with(|is_in_team| {
        if is_in_team.get() {
            IN_TEAM.fetch_add(bytes, Relaxed);
        }
    });
}

// SAFETY: everything is passed on to the allocator of the system as it came; counting does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        changed(-layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may exist for a moment.
        taken(size);
        // SAFETY: the caller's promise.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        changed(-layout.size().cast_signed());
        moved
    }
}

/// What this thread has taken and not given back, in bytes.
pub fn in_use() -> isize {
    IN_USE.get()
}

/// The most memory that `work` has had at one time beyond what there was before, in bytes.
pub fn peak_of<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = IN_USE.get();
    PEAK.set(before);
    let done = work();
    (done, (PEAK.get() - before) as usize)
}

/// Bytes that this thread asks for in `act`, given back or not.
pub fn bytes_asked(act: impl FnOnce()) -> usize {
    let before = ASKED.get();
    act();
    ASKED.get() - before
}

/// From now on this thread is one of the team. A test program has one team at most.
pub fn join_team() {
    IS_IN_TEAM.set(true);
}

/// What the threads of the team have taken since they joined it and not given back, in bytes.
pub fn in_use_by_team() -> isize {
    IN_TEAM.load(Relaxed)
}
