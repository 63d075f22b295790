//! Many entities of one kind.

use std::iter::FusedIterator;

use super::{Bundle, ComponentVisitor, World};
use crate::component::Component;
use crate::entity::Entity;

/// Room made in advance on the word of an iterator's size hint, at most; hints may lie.
const TRUSTED_HINT: usize = 1 << 20;

impl World {
    /// Brings an entity to life for each bundle of `bundles`.
    ///
    /// The entities come to life as the returned iterator is walked, and the rest of them when
    /// it is dropped; so `world.spawn_batch(…);` spawns all, and collecting gives their ids.
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
        let bundles = bundles.into_iter();
        let expected = bundles.size_hint().0.min(TRUSTED_HINT);
        self.reserve(expected);
        I::Item::visit(&mut Reserve { world: self, additional: expected });
        SpawnBatch { world: self, bundles, unwound: false }
    }
}

/// Makes room in the pools of a bundle.
struct Reserve<'w> {
    world: &'w mut World,
    additional: usize,
}

impl ComponentVisitor for Reserve<'_> {
    fn visit<T: Component>(&mut self) {
        self.world.pools.get_or_create::<T>().cell.get_mut().reserve(self.additional);
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
    /// Set while the user's iterator runs: still set afterwards if it panicked.
    unwound: bool,
}

impl<I> Iterator for SpawnBatch<'_, I>
where
    I: Iterator,
    I::Item: Bundle,
{
    type Item = Entity;

    #[inline]
    fn next(&mut self) -> Option<Entity> {
        self.unwound = true;
        let bundle = self.bundles.next();
        self.unwound = false;
        Some(self.world.spawn(bundle?))
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

impl<I> Drop for SpawnBatch<'_, I>
where
    I: Iterator,
    I::Item: Bundle,
{
    fn drop(&mut self) {
        if !self.unwound {
            self.for_each(drop);
        }
    }
}
