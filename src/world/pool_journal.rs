//! What a pool does for those who read who has lost a value.
//!
//! Most components are never asked for that. So a pool knows how only from its first reader on: who
//! makes one puts a [`Keeper`] in, and all of this is compiled for the components that have readers, and
//! for no others.

use std::any::Any;
use std::sync::Arc;

use super::pool_box::{CopyRemoved, PoolBox};
use super::react::Removal;
use crate::component::Component;
use crate::entity::Entity;
use crate::journal::Place;

/// Keeps the journal of a pool. Copies of values are made before anything is changed, because that may unwind; `detach`
/// makes none.
pub(super) trait KeepJournal<T: Component>: Send + Sync {
    /// Writes that an entity is about to lose its value, if it has one.
    fn note(&self, pool: &mut PoolBox<T>, entity: Entity);

    /// The entry for a value that is about to go, if there is one.
    fn draft_one(&self, pool: &mut PoolBox<T>, entity: Entity) -> Option<Removal<T>>;

    /// Entries for all values, which are about to go.
    fn draft_all(&self, pool: &mut PoolBox<T>) -> Box<dyn Any>;

    /// Writes what `draft_all` has made.
    fn write_all(&self, pool: &mut PoolBox<T>, draft: Box<dyn Any>);

    /// Takes the value of an entity out; it and what had to go for it wait to be dropped.
    fn detach(&self, pool: &mut PoolBox<T>, entity: Entity);

    /// Drops what all readers have read.
    fn trim(&self, pool: &mut PoolBox<T>);

    /// Entries that wait to be read, that went unread, and bytes of heap memory.
    fn size(&self, pool: &PoolBox<T>) -> (usize, u64, usize);
}

/// The one way to keep a journal.
struct Keeper;

impl<T: Component> PoolBox<T> {
    /// Registers a reader of what is lost from now on.
    pub(super) fn reader(&mut self) -> Arc<Place> {
        self.keeper = Some(&Keeper);
        self.journal.get_mut().reader()
    }

    fn write(&mut self, removal: Removal<T>) {
        if let Some(overtaken) = self.journal.get_mut().push(removal) {
            self.overtaken.push(overtaken);
        }
    }
}

/// The entry of the journal for a value that is about to go.
pub(super) fn removal<T>(entity: Entity, value: &T, copy: CopyRemoved<T>) -> Removal<T> {
    Removal::new(entity, copy.map(|copy| copy(value)))
}

impl<T: Component> KeepJournal<T> for Keeper {
    fn note(&self, pool: &mut PoolBox<T>, entity: Entity) {
        let copy = pool.answers.copy_removed;
        if let Some(value) = pool.cell.get_mut().get(entity) {
            let drafted = pool.drafted.pop().filter(|drafted| drafted.entity == entity);
            let removal = drafted.unwrap_or_else(|| removal(entity, value, copy));
            pool.write(removal);
        }
    }

    fn draft_one(&self, pool: &mut PoolBox<T>, entity: Entity) -> Option<Removal<T>> {
        let copy = pool.answers.copy_removed;
        pool.cell.get_mut().get(entity).map(|value| removal(entity, value, copy))
    }

    fn draft_all(&self, pool: &mut PoolBox<T>) -> Box<dyn Any> {
        let copy = pool.answers.copy_removed;
        let all = pool.cell.get_mut().iter();
        Box::new(all.map(|(entity, value)| removal(entity, value, copy)).collect::<Vec<_>>())
    }

    fn write_all(&self, pool: &mut PoolBox<T>, draft: Box<dyn Any>) {
        // Nothing was drafted if nobody reads.
        let Ok(removals) = draft.downcast::<Vec<Removal<T>>>() else { return };
        removals.into_iter().for_each(|removal| pool.write(removal));
    }

    fn detach(&self, pool: &mut PoolBox<T>, entity: Entity) {
        let Some(value) = pool.cell.get_mut().remove(entity) else { return };
        // Nobody else wants the value, so it is not copied.
        let (kept, rest) = match pool.answers.copy_removed {
            Some(_) => (Some(value), None),
            None => (None, Some(value)),
        };
        pool.write(Removal::new(entity, kept));
        pool.limbo.extend(rest);
    }

    fn trim(&self, pool: &mut PoolBox<T>) {
        let read_by_all = pool.journal.get_mut().trim();
        drop(read_by_all);
    }

    fn size(&self, pool: &PoolBox<T>) -> (usize, u64, usize) {
        let journal = pool.journal.try_read();
        journal.map_or((0, 0, 0), |read| (read.len(), read.overtaken(), read.heap_bytes()))
    }
}
