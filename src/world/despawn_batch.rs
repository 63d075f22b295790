//! Many deaths at once.
//!
//! One death waits for memory several times: for the slot of the id, then for a slot in each pool. Many
//! of them are carried out in blocks, step by step for the whole block, so that these waits go on at the same
//! time. What comes out is what one after the other would give: ids are freed in the order of the batch, and
//! each pool loses its values in that order.

use std::mem;

use super::World;
use super::funeral::Funeral;
use crate::entity::Entity;
use crate::growth;

/// Entities of a block: their slots in one pool stay in the first-level cache.
pub(super) const BLOCK: usize = 64;

impl World {
    /// Lets many entities die and returns how many were alive. Dead ones are skipped.
    ///
    /// All of them are gone before the first value is dropped. The world is the same as after one
    /// [`despawn`](Self::despawn) for each, but many are gone sooner: what they need from memory is
    /// waited for once.
    ///
    /// # Examples
    /// ```
    /// # use esker::World;
    /// let mut world = World::new();
    /// let a = world.spawn(());
    /// let b = world.spawn(());
    /// assert_eq!(world.despawn_batch([a, b, a]), 2);
    /// ```
    pub fn despawn_batch(&mut self, entities: impl IntoIterator<Item = Entity>) -> usize {
        if self.pools.death_needs_care {
            return self.despawn_all_with_care(growth::collect(entities.into_iter()));
        }
        self.detach_all(entities)
    }

    /// Lets many entities die, and drops what they had when all are gone.
    pub(super) fn detach_all(&mut self, entities: impl IntoIterator<Item = Entity>) -> usize {
        let mut entities = entities.into_iter();
        let Some(first) = entities.next() else { return 0 };
        let block = Block { entities: [first; BLOCK], len: 1 };
        let mut mourned = Mourned { world: self, block, count: 0, waiting: 0 };
        for entity in entities {
            mourned.add(entity);
        }
        mourned.detach_block();
        mourned.count
    }
}

/// Entities of a batch that have not been looked at.
struct Block {
    entities: [Entity; BLOCK],
    len: usize,
}

/// The deaths of a batch. Holds its funeral, also if the iterator of the batch unwinds.
struct Mourned<'w> {
    world: &'w mut World,
    block: Block,
    count: usize,
    /// The signature bits of pools where values wait to be dropped.
    waiting: u64,
}

impl Mourned<'_> {
    #[inline]
    fn add(&mut self, entity: Entity) {
        if self.block.len == BLOCK {
            self.detach_block();
        }
        self.block.entities[self.block.len] = entity;
        self.block.len += 1;
    }

    /// Lets the entities of the block die. No code of the user's runs before they are out of the pools.
    #[inline(never)]
    fn detach_block(&mut self) {
        let World { entities: ids, pools, .. } = &mut *self.world;
        let Block { entities, len } = &mut self.block;
        let mut signatures = [0; BLOCK];
        let living = ids.release_all(&mut entities[..mem::take(len)], &mut signatures);
        self.count += living;
        self.waiting |= pools.detach_block(&entities[..living], &signatures[..living]);
    }
}

impl Drop for Mourned<'_> {
    fn drop(&mut self) {
        self.detach_block();
        Funeral::bury(&mut self.world.pools, self.waiting);
    }
}
