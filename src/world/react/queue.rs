//! Commands in a row, one after the other in one piece of memory.

#![allow(unsafe_code, reason = "keeps closures of any type as plain words")]

use std::fmt;
use std::mem::{self, MaybeUninit};

use crate::world::World;

/// Commands to be carried out later, in the order in which they were recorded.
///
/// # Invariants
/// **U1** – `words` is a row of records: a header of [`HEADER`] words, which says how to call what
/// follows and how many words that takes, and the command itself, initialised and at home at that
/// place. A command is moved out exactly once: when it runs, or when the queue is dropped.
#[derive(Default)]
pub(crate) struct Queue {
    words: Vec<MaybeUninit<u64>>,
    /// Commands in the row.
    len: usize,
    /// Words that were in use lately.
    lately: usize,
}

/// Something to be done to a world, once.
pub(super) trait Command: Send + 'static {
    fn run(self, world: &mut World);

    /// It will not be done, because something before it has unwound.
    fn discard(self, world: &mut World);
}

impl<C: FnOnce(&mut World) + Send + 'static> Command for C {
    #[inline]
    fn run(self, world: &mut World) {
        self(world);
    }

    fn discard(self, _: &mut World) {}
}

/// What becomes of a command that is taken out of its place.
enum Fate<'w> {
    Run(&'w mut World),
    Discard(&'w mut World),
    Drop,
}

/// Takes a command out of its place.
type Run = unsafe fn(*mut u64, Fate<'_>);

struct Header {
    run: Run,
    words: usize,
}

const HEADER: usize = size_of::<Header>() / size_of::<u64>();

/// Words below which giving memory back is not worth it.
const SMALL: usize = 4096;

// SAFETY: `push` takes only what is `Send`; a shared queue gives access to nothing.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Queue {
    /// Records a command.
    pub(crate) fn push<C: FnOnce(&mut World) + Send + 'static>(&mut self, command: C) {
        if align_of::<C>() > align_of::<u64>() {
            let boxed: Box<dyn FnOnce(&mut World) + Send> = Box::new(command);
            return self.put(boxed);
        }
        self.put(command);
    }

    /// Records a command that words are aligned for.
    pub(super) fn put<C: Command>(&mut self, command: C) {
        debug_assert!(align_of::<C>() <= align_of::<u64>(), "U1");
        let words = size_of::<C>().div_ceil(size_of::<u64>());
        self.words.reserve(HEADER + words);
        let at = self.words.len();
        let start = self.words.as_mut_ptr().wrapping_add(at);
        let header = Header { run: run::<C>, words };
        // SAFETY: there is room for the header behind the length, aligned for words.
        unsafe { start.cast::<Header>().write(header) };
        // SAFETY: there is room for the command behind the header; words are aligned for it.
        unsafe { start.wrapping_add(HEADER).cast::<C>().write(command) };
        // SAFETY: reserved above; what is in between may stay uninitialised.
        unsafe { self.words.set_len(at + HEADER + words) };
        self.len += 1;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of commands.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Moves the commands of another queue to the end.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.words.append(&mut other.words);
        self.len += mem::take(&mut other.len);
    }

    /// Carries all commands out.
    ///
    /// If one of them unwinds, those behind it are discarded.
    pub(crate) fn apply(&mut self, world: &mut World) {
        let mut rest = Rest { words: mem::take(&mut self.words), at: 0, world: Some(world) };
        let used = rest.words.len();
        self.len = 0;
        while rest.next(true) {}
        rest.words.clear();
        rest.at = 0;
        // What this memory was used for may have recorded new commands.
        if self.words.is_empty() {
            self.words = mem::take(&mut rest.words);
        }
        self.give_back(used);
    }

    /// Drops all commands; entities that they were to bring to life are not born.
    pub(crate) fn discard(&mut self, world: &mut World) {
        self.len = 0;
        Rest { words: mem::take(&mut self.words), at: 0, world: Some(world) }.discard();
    }

    /// Gives back memory that was not used lately.
    fn give_back(&mut self, used: usize) {
        self.lately = used.max(self.lately / 2);
        if self.words.capacity() > SMALL.max(4 * self.lately) {
            self.words.shrink_to(SMALL.max(2 * self.lately));
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

/// # Safety
/// `place` holds a `C` that nobody moves out again.
unsafe fn run<C: Command>(place: *mut u64, fate: Fate<'_>) {
    // SAFETY: promised by the caller.
    let command = unsafe { place.cast::<C>().read() };
    match fate {
        Fate::Run(world) => command.run(world),
        Fate::Discard(world) => command.discard(world),
        Fate::Drop => {}
    }
}

/// The commands of a queue from one on; those left when it is dropped are discarded.
struct Rest<'w> {
    words: Vec<MaybeUninit<u64>>,
    at: usize,
    /// None if it is the queue that is dropped.
    world: Option<&'w mut World>,
}

impl Rest<'_> {
    /// Discards what is left. If the drop of a command unwinds, those behind it are discarded all the
    /// same, as the elements of a vector are dropped.
    fn discard(mut self) {
        while self.next(false) {}
    }

    /// Takes the next command out, and runs it or does not; `false` if there is none.
    fn next(&mut self, runs: bool) -> bool {
        if self.at >= self.words.len() {
            return false;
        }
        let start = self.words.as_mut_ptr().wrapping_add(self.at);
        // SAFETY: a record starts here (U1).
        let Header { run, words } = unsafe { start.cast::<Header>().read() };
        debug_assert!(self.at + HEADER + words <= self.words.len(), "U1");
        // Before it runs, so that it is not moved out again if it unwinds.
        self.at += HEADER + words;
        let place = start.wrapping_add(HEADER).cast::<u64>();
        let fate = match &mut self.world {
            Some(world) if runs => Fate::Run(world),
            Some(world) => Fate::Discard(world),
            None => Fate::Drop,
        };
        // SAFETY: the command lies behind its header (U1), and `at` is past it.
        unsafe { run(place, fate) };
        true
    }
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        while self.next(false) {}
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        Rest { words: mem::take(&mut self.words), at: 0, world: None }.discard();
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[test]
    fn commands_of_any_size_run_once_in_order() {
        #[repr(align(64))]
        struct Wide(u8);
        // With a hole, which nobody has written.
        #[repr(C)]
        struct Holey(u8, u64, u8);
        let mut world = World::new();
        world.insert_resource(Vec::<usize>::new());
        let mut queue = Queue::default();
        let note = |world: &mut World, n: usize| world.resource_mut::<Vec<usize>>().push(n);

        for round in 0..3 {
            queue.push(move |world: &mut World| note(world, round));
            let big = [round; 40];
            queue.push(move |world: &mut World| note(world, big[39]));
            let wide = Wide(round as u8);
            queue.push(move |world: &mut World| {
                assert_eq!(&raw const wide as usize % 64, 0);
                note(world, usize::from(wide.0));
            });
            let holey = Holey(1, round as u64, 2);
            queue.push(move |_: &mut World| {
                assert_eq!((holey.0, holey.1, holey.2), (1, round as u64, 2));
            });
            queue.push(|_: &mut World| ());
            assert_eq!(queue.len(), 5);
            queue.apply(&mut world);
            assert!(queue.is_empty());
        }

        assert_eq!(*world.resource::<Vec<usize>>(), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn what_does_not_run_is_dropped_once() {
        struct Count(Arc<AtomicUsize>);
        impl Drop for Count {
            fn drop(&mut self) {
                self.0.fetch_add(1, Relaxed);
            }
        }
        let dropped = Arc::new(AtomicUsize::new(0));
        let mut world = World::new();
        let mut queue = Queue::default();
        for n in 0..10 {
            let count = Count(Arc::clone(&dropped));
            queue.push(move |_: &mut World| {
                let _count = count;
                assert_ne!(n, 4, "on purpose");
            });
        }

        let outcome = catch_unwind(AssertUnwindSafe(|| queue.apply(&mut world)));
        assert!(outcome.is_err() && queue.is_empty());
        assert_eq!(dropped.load(Relaxed), 10);

        let count = Count(Arc::clone(&dropped));
        queue.push(move |_: &mut World| drop(count));
        drop(queue);
        assert_eq!(dropped.load(Relaxed), 11);
    }

    #[test]
    fn memory_of_a_burst_is_given_back() {
        let mut world = World::new();
        let mut queue = Queue::default();
        for n in 0..100_000_u64 {
            queue.push(move |_: &mut World| _ = n);
        }
        queue.apply(&mut world);
        let after_burst = queue.heap_bytes();
        for _ in 0..20 {
            queue.push(|_: &mut World| ());
            queue.apply(&mut world);
        }

        assert!(queue.heap_bytes() <= SMALL * 8 && queue.heap_bytes() < after_burst);
    }
}
