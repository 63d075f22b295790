//! What a contestant is: a name, a version and a way to prepare each workload.
//!
//! The harness sees only trait objects, but a call through one surrounds a whole timed run.
//! Inside a run everything is the contestant's own monomorphic code: one `#[inline(never)]`
//! function per workload.

use std::{any::Any, fmt};

use crate::{scene::Scene, workload::Workload};

/// One column of the table.
pub trait Contestant: Sync {
    /// Its name in tables, files and on the command line.
    fn name(&self) -> &'static str;

    /// The version of the library behind it, or a word on what it is.
    fn version(&self) -> &'static str;

    /// Whether it is one of the libraries that compete for "best peer".
    fn role(&self) -> Role {
        Role::Peer
    }

    /// Builds what one workload needs; `None` if the contestant does not offer it.
    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>>;

    /// Builds a world for the memory table; `None` if the contestant has nothing to hold.
    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>>;

    /// Builds a world of `n` entities with two components for the memory table and lets all die
    /// but those that [`stays`] names; `None` if the contestant cannot be brought to `after`.
    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>>;
}

/// What is done with a world after its peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ebb {
    /// Nothing.
    Left,
    /// It is asked to give back what it does not need.
    Shrunk,
}

/// Whether entity number `i` outlives the peak: every 16th does.
pub fn stays(i: usize) -> bool {
    i.is_multiple_of(SURVIVORS)
}

/// Every how many entities outlive the peak.
pub const SURVIVORS: usize = 16;

impl fmt::Debug for dyn Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.version())
    }
}

/// What a contestant is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The limit that all ratios are taken to.
    Limit,
    /// A yardstick that is no library: shown, but never "best peer".
    Yardstick,
    /// A library to compare with.
    Peer,
    /// The library this bench belongs to.
    Ours,
}

/// How many components of eight bytes an entity of the memory table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A position.
    One,
    /// A position and a velocity.
    Two,
    /// The eight fillers.
    Eight,
}

impl Width {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::One, Self::Two, Self::Eight];

    /// As a number.
    pub const fn components(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Eight => 8,
        }
    }
}

/// A prepared workload of one contestant.
pub trait Bout {
    /// Makes the next run possible. Not timed; drops what the last run left.
    fn reset(&mut self) {}

    /// The timed part.
    fn run(&mut self);

    /// What the world holds after the runs so far. Not timed.
    fn checksum(&mut self) -> u64;

    /// The times of both halves since the last call, if the bout takes them itself.
    fn laps(&mut self) -> Option<Laps> {
        None
    }
}

/// Nanoseconds spent in the structural half and in the queries of some frames.
pub type Laps = [f64; 2];

/// A bout whose state lasts: its runs may follow each other without a reset.
pub fn lasting<S: 'static>(
    state: S,
    run: fn(&mut S),
    checksum: fn(&mut S) -> u64,
) -> Option<Box<dyn Bout>> {
    Some(Box::new(Lasting { state, run, checksum }))
}

/// A bout whose state is used up by a run and renewed before the next one.
pub fn renewed<S: 'static>(
    renew: impl FnMut() -> S + 'static,
    run: fn(&mut S),
    checksum: fn(&mut S) -> u64,
) -> Option<Box<dyn Bout>> {
    Some(Box::new(Renewed { state: None, renew, run, checksum }))
}

struct Lasting<S> {
    state: S,
    run: fn(&mut S),
    checksum: fn(&mut S) -> u64,
}

impl<S> Bout for Lasting<S> {
    fn run(&mut self) {
        (self.run)(&mut self.state);
    }

    fn checksum(&mut self) -> u64 {
        (self.checksum)(&mut self.state)
    }
}

struct Renewed<S, F> {
    state: Option<S>,
    renew: F,
    run: fn(&mut S),
    checksum: fn(&mut S) -> u64,
}

impl<S, F: FnMut() -> S> Bout for Renewed<S, F> {
    fn reset(&mut self) {
        // The old state goes first, so that the new one finds its memory free.
        self.state = None;
        self.state = Some((self.renew)());
    }

    fn run(&mut self) {
        (self.run)(self.state.as_mut().expect("`reset` comes before each `run`"));
    }

    fn checksum(&mut self) -> u64 {
        (self.checksum)(self.state.as_mut().expect("a checksum follows a run"))
    }
}
