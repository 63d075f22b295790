//! The words of signatures, as the gate changes them: by one who has them to himself, or beside others.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::entity::{Entities, Entity};

/// The signature of a living entity, alone with it or shared.
pub(super) trait Word {
    fn bits(&self) -> u64;

    fn add(self, bit: u64);

    fn keep(self, mask: u64);
}

impl Word for &mut u64 {
    #[inline]
    fn bits(&self) -> u64 {
        **self
    }

    #[inline]
    fn add(self, bit: u64) {
        *self |= bit;
    }

    #[inline]
    fn keep(self, mask: u64) {
        *self &= mask;
    }
}

/// The words of all entities, for who edits a pool.
///
/// Others may edit other pools meanwhile, and so change other bits of the same words. Who has the book of
/// ids to himself need not fear that a change of theirs is lost, and spares the instructions that prevent it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'w> {
    entities: &'w Entities,
    is_sole: bool,
}

impl<'w> Words<'w> {
    /// Beside others.
    #[inline]
    pub(super) fn shared(entities: &'w Entities) -> Self {
        Self { entities, is_sole: false }
    }

    /// For one who has them to himself as long as the borrow lasts. Copies of this are his, too: he uses
    /// one at a time.
    #[inline]
    pub(super) fn sole(entities: &'w mut Entities) -> Self {
        Self { entities, is_sole: true }
    }

    /// Where the word of a living entity lies.
    #[inline]
    pub(super) fn find(&self, entity: Entity) -> Option<&'w AtomicU64> {
        self.entities.word(entity)
    }

    /// A word that was found, to be changed.
    #[inline]
    pub(super) fn edit<'a>(&'a self, word: &'a AtomicU64) -> PoolWord<'a> {
        PoolWord { word, is_sole: &self.is_sole }
    }
}

/// One of [`Words`].
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolWord<'w> {
    word: &'w AtomicU64,
    /// Looked up only when the word is changed: kept so long, it would take a register from all that is done before.
    is_sole: &'w bool,
}

// Relaxed: a bit belongs to a pool, and whoever writes it holds the guard of that pool, which
// orders it for the next one.
impl Word for PoolWord<'_> {
    #[inline]
    fn bits(&self) -> u64 {
        self.word.load(Ordering::Relaxed)
    }

    #[inline]
    fn add(self, bit: u64) {
        if *self.is_sole {
            return self.word.store(self.bits() | bit, Ordering::Relaxed);
        }
        self.word.fetch_or(bit, Ordering::Relaxed);
    }

    #[inline]
    fn keep(self, mask: u64) {
        if *self.is_sole {
            return self.word.store(self.bits() & mask, Ordering::Relaxed);
        }
        self.word.fetch_and(mask, Ordering::Relaxed);
    }
}
