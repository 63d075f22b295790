//! A walk in several parts, each with its own output and commands.
//!
//! Unlike the parts of a parallel iterator, these are the same for any number of threads: they are cut
//! from the driver by position.

#![allow(unsafe_code, reason = "walks the parts of one unique borrow")]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::filter::QueryFilter;
use super::matches::piece;
use super::piece::Piece;
use super::term::QueryData;
use super::{IterMut, Query, Walk};
use crate::world::{Branch, Commands};

/// How a walk is cut into parts; see [`Query::subtasks`].
///
/// # Examples
/// ```
/// # use esker::query::Split;
/// let split = Split::evenly(4).sequential_below(100);
/// assert_eq!(split.parts(1000).count(), 4);
/// assert_eq!(split.parts(99).count(), 1);
/// assert_eq!(Split::every(300).parts(1000).count(), 4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    how: How,
    sequential_below: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Evenly(usize),
    Every(usize),
}

impl Split {
    /// One part.
    pub const fn none() -> Self {
        Self::evenly(1)
    }

    /// This many parts of equal length.
    pub const fn evenly(parts: usize) -> Self {
        Self { how: How::Evenly(parts), sequential_below: 0 }
    }

    /// As many parts as the machine has cores, whatever the number of threads.
    pub fn per_core() -> Self {
        Self::evenly(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Parts of this many entities.
    pub const fn every(entities: usize) -> Self {
        Self { how: How::Every(entities), sequential_below: 0 }
    }

    /// One part if there are fewer entities.
    #[must_use]
    pub const fn sequential_below(mut self, entities: usize) -> Self {
        self.sequential_below = entities;
        self
    }

    /// The parts of a walk over this many entities.
    pub fn parts(self, entities: usize) -> impl Iterator<Item = Range<usize>> {
        let parts = match self.how {
            _ if entities < self.sequential_below => 1,
            How::Evenly(parts) => parts.clamp(1, entities.max(1)),
            How::Every(len) => entities.div_ceil(len.max(1)).max(1),
        };
        let bound = move |nth: usize| match self.how {
            How::Every(len) if parts > 1 => (nth * len.max(1)).min(entities),
            _ => (entities as u128 * nth as u128 / parts as u128) as usize,
        };
        (0..parts).map(move |nth| bound(nth)..bound(nth + 1))
    }
}

/// A query whose walk is cut into parts; see [`Query::subtasks`].
#[derive(Debug)]
pub struct Subtasks<'q, 'w, D: QueryData, F: QueryFilter> {
    query: &'q mut Query<'w, D, F>,
    split: Split,
}

impl<'w, D: QueryData, F: QueryFilter> Query<'w, D, F> {
    /// Cuts the walk into parts, to be run at once.
    ///
    /// The parts depend on how many entities the driver has and on `split`, not on the number of
    /// threads: what comes out is the same on any machine with the same number of cores.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// use esker::query::Split;
    /// # #[derive(Component)] struct Health(u32);
    /// fn burn(mut query: Query<(Entity, &mut Health)>, mut commands: Commands) {
    ///     let split = Split::per_core().sequential_below(1000);
    ///     let deaths = query.subtasks(split).run(&mut commands, |part, commands| {
    ///         let mut deaths = 0;
    ///         for (id, health) in part {
    ///             health.0 -= 1;
    ///             if health.0 == 0 {
    ///                 commands.despawn(id);
    ///                 deaths += 1;
    ///             }
    ///         }
    ///         deaths
    ///     });
    ///     println!("{} died", deaths.iter().sum::<u32>());
    /// }
    /// # let mut world = World::new();
    /// # world.spawn_batch((1..=2000).map(|n| Health(1 + n % 2)));
    /// # world.run_system(burn);
    /// # assert_eq!(world.len(), 1000);
    /// ```
    pub fn subtasks(&mut self, split: Split) -> Subtasks<'_, 'w, D, F> {
        Subtasks { query: self, split }
    }
}

impl<D: QueryData, F: QueryFilter> Subtasks<'_, '_, D, F> {
    /// Calls `body` for each part, and returns what they return, part by part.
    ///
    /// Each part records commands of its own; they are carried out part by part, after those that
    /// `commands` has already.
    ///
    /// # Panics
    /// As `body` does: all parts run, then the panic of the first one that panicked goes on. What the
    /// parts have recorded is in `commands` by then, as if they had recorded there.
    pub fn run<O: Send>(
        self,
        commands: &mut Commands<'_, '_>,
        body: impl Fn(IterMut<'_, D, F>, &mut Commands<'_, '_>) -> O + Sync,
    ) -> Vec<O> {
        let (views, survey) = self.query.held.survey();
        let world = commands.world();
        let whole = piece(views, &survey);
        let parts: Vec<Range<usize>> = self.split.parts(whole.end).collect();
        let branches = commands.fork(parts.len());
        let tasks = parts.into_iter().zip(branches).map(|(part, branch)| {
            let piece = Piece { at: part.start, end: part.end, ..whole };
            Task { piece, branch }
        });
        let run = |task: Task<'_, D, F>| {
            let Task { piece, mut branch } = task;
            // SAFETY: the query is borrowed uniquely, and the parts have no match in common: they are
            // distinct positions of the driver (Q1).
            let walk = unsafe { Walk::new(piece) };
            let call = || body(walk, &mut branch.commands(world));
            (catch_unwind(AssertUnwindSafe(call)), branch)
        };
        // Without ids of their own the parts run one after the other: who spawns first would get another
        // id each time.
        let done = match commands.has_stream() {
            true => run_all(tasks.collect(), run),
            false => tasks.map(run).collect(),
        };
        let (outcomes, branches): (Vec<_>, Vec<Branch>) = done.into_iter().unzip();
        // Also if a part has panicked: the ids that it was given go back with its branch.
        commands.join(branches);
        let outputs: Result<Vec<O>, _> = outcomes.into_iter().collect();
        outputs.unwrap_or_else(|payload| resume_unwind(payload))
    }
}

/// One part and its commands.
struct Task<'a, D: QueryData, F: QueryFilter> {
    piece: Piece<'a, D, F>,
    branch: Branch,
}

// SAFETY: as that of a parallel walk: shared references to pools and numbers; the matches of two parts
// are distinct.
unsafe impl<D: QueryData, F: QueryFilter> Send for Task<'_, D, F> {}

#[cfg(feature = "parallel")]
fn run_all<T: Send, R: Send>(tasks: Vec<T>, run: impl Fn(T) -> R + Sync) -> Vec<R> {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};

    if tasks.len() == 1 {
        return tasks.into_iter().map(run).collect();
    }
    tasks.into_par_iter().map(&run).collect()
}

#[cfg(not(feature = "parallel"))]
fn run_all<T: Send, R: Send>(tasks: Vec<T>, run: impl Fn(T) -> R + Sync) -> Vec<R> {
    tasks.into_iter().map(run).collect()
}
