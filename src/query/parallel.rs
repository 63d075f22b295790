//! Walks by several threads.

#![allow(unsafe_code, reason = "sends pieces of one walk to other threads")]

use std::fmt;
use std::marker::PhantomData;

use rayon::iter::ParallelIterator;
use rayon::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};

use super::filter::QueryFilter;
use super::mode::{Mode, Reading, Writing};
use super::piece::Piece;
use super::term::QueryData;
use super::{Query, Walk};

/// Matches below which a piece is not parted any more, unless the caller says otherwise.
///
/// Handing a piece to another thread costs about as much as a thousand small bodies.
const BATCH: usize = 1024;

/// The matches of a query, for several threads; see [`Query::par_iter_mut`].
///
/// A rayon [`ParallelIterator`]. Which thread gets which match is up to rayon; every match is
/// given to exactly one.
pub struct ParWalk<'a, D: QueryData, F: QueryFilter, M: Mode> {
    piece: Piece<'a, D, F>,
    batch: usize,
    mode: PhantomData<M>,
}

/// A parallel walk that reads; see [`Query::par_iter`].
pub type ParIter<'a, D, F = ()> = ParWalk<'a, D, F, Reading>;

/// A parallel walk that writes; see [`Query::par_iter_mut`].
pub type ParIterMut<'a, D, F = ()> = ParWalk<'a, D, F, Writing>;

// SAFETY: a piece is made of shared references to pools, whose values are `Send` and `Sync`, and
// of numbers. It lends items only to the thread that walks it, and the matches of two pieces are
// distinct (Q1).
unsafe impl<D: QueryData, F: QueryFilter, M: Mode> Send for ParWalk<'_, D, F, M> {}

impl<D: QueryData, F: QueryFilter> Piece<'_, D, F> {
    /// Parts the piece in the middle, if it is long enough for both halves to be `least` long.
    fn split(self, least: usize) -> (Self, Option<Self>) {
        let len = self.end - self.at;
        if len / 2 < least.max(1) {
            return (self, None);
        }
        let middle = self.at + len / 2;
        (Self { end: middle, ..self }, Some(Self { at: middle, ..self }))
    }
}

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// Walks the matches by several threads, for reading.
    pub fn par_iter(&self) -> ParIter<'_, D, F> {
        ParWalk::new(self.matches())
    }

    /// Walks the matches by several threads.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// use rayon::iter::ParallelIterator;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Velocity(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| (Position(0.0), Velocity(i as f32))));
    ///
    /// let mut query = world.query::<(&mut Position, &Velocity)>();
    /// query.par_iter_mut().for_each(|(position, velocity)| position.0 += velocity.0);
    /// let fast = query.par_iter().filter(|(position, _)| position.0 > 9_000.0).count();
    /// assert_eq!(fast, 999);
    /// ```
    pub fn par_iter_mut(&mut self) -> ParIterMut<'_, D, F> {
        ParWalk::new(self.matches())
    }
}

impl<'a, D: QueryData, F: QueryFilter, M: Mode> ParWalk<'a, D, F, M> {
    pub(super) fn new(piece: Piece<'a, D, F>) -> Self {
        Self { piece, batch: BATCH, mode: PhantomData }
    }

    /// Parts the work into pieces of no fewer than `matches`.
    ///
    /// Pieces are measured in entities of the driver, of which some may not match.
    /// The default suits bodies of a few nanoseconds; for heavy ones choose fewer.
    #[must_use]
    pub fn batch(mut self, matches: usize) -> Self {
        self.batch = matches.max(1);
        self
    }
}

impl<'a, D, F, M> ParallelIterator for ParWalk<'a, D, F, M>
where
    D: QueryData,
    F: QueryFilter,
    M: Mode,
    M::Item<'a, D>: Send,
{
    type Item = M::Item<'a, D>;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        bridge_unindexed(self, consumer)
    }
}

impl<'a, D, F, M> UnindexedProducer for ParWalk<'a, D, F, M>
where
    D: QueryData,
    F: QueryFilter,
    M: Mode,
    M::Item<'a, D>: Send,
{
    type Item = M::Item<'a, D>;

    fn split(self) -> (Self, Option<Self>) {
        let (near, far) = self.piece.split(self.batch);
        (Self { piece: near, ..self }, far.map(|piece| Self { piece, ..self }))
    }

    fn fold_with<G: Folder<Self::Item>>(self, folder: G) -> G {
        // SAFETY: the query is borrowed for `'a`, uniquely if the walk writes, and the pieces part
        // its matches.
        folder.consume_iter(unsafe { Walk::<'a, D, F, M>::new(self.piece) })
    }
}

impl<D: QueryData, F: QueryFilter, M: Mode> fmt::Debug for ParWalk<'_, D, F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParWalk").field("batch", &self.batch).finish_non_exhaustive()
    }
}
