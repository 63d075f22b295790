//! Many entities of one kind.

use std::iter::FusedIterator;

use super::batch::{row_bytes, spawn_rows};
use super::bundle::repeated_component;
use super::{Bundle, World};
use crate::entity::Entity;
use crate::growth;

impl World {
    /// Brings an entity to life for each bundle of `bundles`.
    ///
    /// The entities come to life as the returned iterator is walked, and the rest of them when
    /// it is dropped; so `world.spawn_batch(…);` spawns all, and collecting gives their ids.
    /// Listeners hear of them when it is dropped.
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn), while the batch is walked; those spawned so far stay.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component)] struct Number(usize);
    /// let mut world = World::new();
    /// world.spawn_batch((0..100).map(Number));
    /// assert_eq!(world.len(), 100);
    /// let more: Vec<_> = world.spawn_batch((0..3).map(Number)).collect();
    /// assert_eq!(more[0].index(), 100);
    /// ```
    #[doc(alias = "insert")]
    pub fn spawn_batch<I>(&mut self, bundles: I) -> SpawnBatch<'_, I::IntoIter>
    where
        I: IntoIterator,
        I::Item: Bundle,
    {
        SpawnBatch { world: self, bundles: bundles.into_iter(), ended: false }
    }
}

/// Spawns as it is walked; see [`World::spawn_batch`].
#[derive(Debug)]
pub struct SpawnBatch<'w, I>
where
    I: Iterator,
    I::Item: Bundle,
{
    world: &'w mut World,
    bundles: I,
    /// Nothing is left to spawn: the iterator came to its end, or it or a spawn panicked. (Set
    /// before they run, so that it is still set if they unwind.)
    ended: bool,
}

impl<I> Iterator for SpawnBatch<'_, I>
where
    I: Iterator,
    I::Item: Bundle,
{
    type Item = Entity;

    #[inline]
    fn next(&mut self) -> Option<Entity> {
        self.ended = true;
        let bundle = self.bundles.next()?;
        let entity = self.world.held(|world| world.spawn(bundle));
        self.ended = false;
        Some(entity)
    }

    fn fold<A, F: FnMut(A, Entity) -> A>(mut self, start: A, mut step: F) -> A {
        let mut folded = Some(start);
        self.spawn_rest(|entity| folded = Some(step(folded.take().expect("put back"), entity)));
        folded.expect("put back by the last step")
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.bundles.size_hint()
    }
}

impl<I> ExactSizeIterator for SpawnBatch<'_, I>
where
    I: ExactSizeIterator,
    I::Item: Bundle,
{
}

impl<I> FusedIterator for SpawnBatch<'_, I>
where
    I: FusedIterator,
    I::Item: Bundle,
{
}

impl<I> SpawnBatch<'_, I>
where
    I: Iterator,
    I::Item: Bundle,
{
    /// Spawns all that is left, as one batch.
    fn spawn_rest(&mut self, mut each: impl FnMut(Entity)) {
        self.ended = true;
        // One by one, so that each is noted; what is noted is delivered when all are there. Also a bundle with a
        // component twice, whose pools cannot all be taken out of the world.
        if repeated_component::<I::Item>().is_some() || self.world.is_noted::<I::Item>() {
            let bundles = &mut self.bundles;
            return self.world.held(|world| {
                bundles.for_each(|bundle| each(world.spawn(bundle)));
            });
        }
        // Hints may lie.
        let promised = self.bundles.size_hint().0;
        let expected = growth::trusted(promised, row_bytes::<I::Item>());
        spawn_rows(self.world, expected, &mut self.bundles, each);
    }
}

impl<I> Drop for SpawnBatch<'_, I>
where
    I: Iterator,
    I::Item: Bundle,
{
    fn drop(&mut self) {
        if !self.ended {
            self.spawn_rest(drop);
        }
        // Not on the way out of a panic, where another one would abort: the next operation does it.
        if !std::thread::panicking() {
            self.world.deliver();
        }
    }
}
