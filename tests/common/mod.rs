//! What the tests share: seeded numbers, and a ledger of values that were made and dropped.

#![allow(dead_code, unreachable_pub, reason = "each test crate uses the part it needs")]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker::Entity;

/// The generator `splitmix64`: the same numbers from the same seed, everywhere.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn index_below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end)) as u32
    }

    /// `true` once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Spreads a number over all 64 bits.
pub fn mix(number: u64) -> u64 {
    let a = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let b = (a ^ (a >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    b ^ (b >> 31)
}

/// The id with these halves.
#[track_caller]
pub fn id(index: u32, version: u32) -> Entity {
    Entity::new(index, version).expect("both halves are below the reserved one")
}

/// The same index in a later version, as far as there is one.
pub fn later(entity: Entity, by: u32) -> Entity {
    id(entity.index(), entity.version().saturating_add(by).min(Entity::MAX_VERSION))
}

/// Says on standard error how to repeat a failed run, if the thread is panicking when it goes.
#[derive(Debug)]
pub struct SeedReport {
    pub seed: u64,
    pub how_to_repeat: &'static str,
}

impl Drop for SeedReport {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with seed {}; to repeat: {}", self.seed, self.how_to_repeat);
        }
    }
}

/// Counts values from their making to their drop; each has a number of its own.
#[derive(Debug, Default)]
pub struct Ledger {
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    /// How often each value was dropped, by number.
    drops: Vec<u8>,
    living: usize,
    dropped_twice: Vec<usize>,
    /// Drops until one panics: at zero, that one does. Once.
    fuse: Option<usize>,
}

impl Ledger {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Makes a value that this ledger counts.
    pub fn make(self: &Arc<Self>, value: u64) -> Counted {
        let mut book = self.book();
        let number = book.drops.len();
        book.drops.push(0);
        book.living += 1;
        Counted { ledger: Arc::clone(self), number, value }
    }

    /// Lets the `k`-th drop from now on panic, counted from zero.
    pub fn panic_at_drop(&self, k: usize) {
        self.book().fuse = Some(k);
    }

    /// Lets no drop panic; says whether one would still have.
    pub fn defuse(&self) -> bool {
        self.book().fuse.take().is_some()
    }

    /// Values made and not dropped.
    pub fn living(&self) -> usize {
        self.book().living
    }

    pub fn made(&self) -> usize {
        self.book().drops.len()
    }

    /// Whether the value with this number was dropped.
    pub fn is_dropped(&self, number: usize) -> bool {
        self.book().drops[number] > 0
    }

    #[track_caller]
    pub fn assert_none_dropped_twice(&self) {
        let book = self.book();
        assert!(book.dropped_twice.is_empty(), "dropped twice: values {:?}", book.dropped_twice);
    }

    /// Every value was dropped exactly once.
    #[track_caller]
    pub fn assert_all_dropped(&self) {
        self.assert_none_dropped_twice();
        let book = self.book();
        let left: Vec<usize> = (0..book.drops.len()).filter(|&n| book.drops[n] == 0).collect();
        assert!(left.is_empty(), "never dropped: values {left:?}");
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a drop; says whether it is the one that panics.
    fn enter_drop(&self, number: usize) -> bool {
        let mut book = self.book();
        book.drops[number] = book.drops[number].saturating_add(1);
        if book.drops[number] > 1 {
            book.dropped_twice.push(number);
            return false;
        }
        book.living -= 1;
        match &mut book.fuse {
            Some(0) => {
                book.fuse = None;
                true
            }
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }
}

/// A value whose drop is counted, and may panic.
#[derive(Debug)]
pub struct Counted {
    ledger: Arc<Ledger>,
    pub number: usize,
    pub value: u64,
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.ledger.enter_drop(self.number) {
            std::panic::panic_any(Planned);
        }
    }
}

/// What planned panics carry, so that they are told from real ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned;

/// Panics as planned.
pub fn planned_panic() -> ! {
    std::panic::panic_any(Planned)
}

/// Runs `act` and says whether it panicked as planned; a panic of any other kind goes on.
#[track_caller]
pub fn panics_as_planned<R>(act: impl FnOnce() -> R) -> bool {
    silence_what_is_planned();
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(_) => false,
        Err(payload) if payload.is::<Planned>() => true,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// Runs `act`, which must panic, and returns the message.
#[track_caller]
pub fn panic_message<R>(act: impl FnOnce() -> R) -> String {
    silence_what_is_planned();
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    QUIET.set(false);
    let Err(payload) = result else { panic!("it did not panic") };
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().expect("a text")).to_owned(),
    }
}

thread_local! {
    /// Whether panics of this thread are expected.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics that are part of a test out of its output.
fn silence_what_is_planned() {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<Planned>() && !QUIET.get() {
                default(info);
            }
        }));
    });
}

/// How many types [`register_crowd`] makes known.
pub const CROWD: usize = 70;

/// One of many component types.
#[derive(Debug)]
pub struct Extra<const K: usize>(pub u64);

impl<const K: usize> esker::Component for Extra<K> {
    type Storage = esker::storage::Packed<Self>;
}

/// Makes seventy component types known: with these, types share bits of signatures.
pub fn register_crowd(world: &mut esker::World) {
    macro_rules! register {
        ($($k:literal)*) => { $(world.register::<Extra<$k>>();)* };
    }
    register!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34);
    register!(35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69);
}
