//! One pool at a time: its slices, its values, and changes to its membership.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::gate;
use super::grouping::OwnedByGroup;
use super::lease::Lease;
use super::pool_box::{CopyRemoved, Map};
use super::pool_journal::removal;
use super::pools::{Pools, name_of};
use super::react::{Event, Removal, What};
use super::tag::Tag;
use super::word::{Word, Words};
use super::{BorrowConflict, PoolError};
use crate::cell::Write;
use crate::component::Component;
use crate::entity::{Entity, NoSuchEntity};
use crate::journal::Journal;
use crate::storage;
use crate::tick::Tick;

/// All values of a component, for changing: the values, and who has one.
///
/// Works through `&World`, beside borrows of other components. Ids are checked: a dead entity
/// gets nothing. In a system, use it where commands would come too late; see [`World::pool_mut`](crate::World::pool_mut).
/// Who has the world to himself takes it by [`World::edit_pool`](crate::World::edit_pool), and edits cost less.
pub struct PoolMut<'w, T: Component> {
    map: Write<'w, Map<T>>,
    tag: &'w Tag,
    words: Words<'w>,
    /// Whether somebody has put the pool into an order of his own.
    is_sorted: &'w AtomicBool,
    /// Whether one of the following is there.
    needs_care: bool,
    /// The rest of the family, if groups name the component.
    lease: Option<Lease<'w>>,
    /// What is to be told at the next refresh, if somebody wants to know.
    echo: Option<Write<'w, Vec<Event>>>,
    /// Who has lost a value, if somebody reads that, and how to copy one for them.
    journal: Option<Journaling<'w, T>>,
}

/// The removals of a component, to be written, and how to copy a value for them.
type Journaling<'w, T> = (Write<'w, Journal<Removal<T>>>, CopyRemoved<T>);

impl<'w, T: Component> PoolMut<'w, T> {
    /// Takes all guards that edits need.
    #[track_caller]
    pub(super) fn open(pools: &'w Pools, words: Words<'w>, now: Tick) -> Result<Self, PoolError> {
        let unknown = PoolError::Unknown { name: name_of::<T>() };
        let pool = pools.get::<T>().ok_or(unknown)?;
        let mut map = pool.cell.try_write().map_err(BorrowConflict::of::<T>)?;
        map.set_now(now);
        let tag = &pool.tag;
        let lease = match tag.is_grouped {
            true => Some(pools.lease(tag)?),
            false => None,
        };
        let is_heard = tag.is_noted || pools.hears_removal;
        let echo = match is_heard {
            true => Some(pool.echo.try_write().map_err(BorrowConflict::of::<T>)?),
            false => None,
        };
        let journal = match tag.is_journaled {
            true => {
                let journal = pool.journal.try_write().map_err(BorrowConflict::of::<T>)?;
                Some((journal, pool.answers.copy_removed))
            }
            false => None,
        };
        let needs_care = tag.needs_care || is_heard;
        let is_sorted = &pool.is_sorted;
        Ok(Self { map, tag, words, is_sorted, needs_care, lease, echo, journal })
    }
}

impl<T: Component> PoolMut<'_, T> {
    /// Puts the map into an order, if no group keeps it.
    pub(super) fn put_in_order<R>(
        &mut self,
        put: impl FnOnce(&mut Map<T>) -> R,
    ) -> Result<R, OwnedByGroup> {
        if self.tag.is_owned {
            return Err(OwnedByGroup::of::<T>());
        }
        let done = put(&mut self.map);
        self.is_sorted.store(true, Ordering::Relaxed);
        // From now on nobody else moves its values.
        self.map.drop_rows();
        Ok(done)
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The entities, in the order of their values.
    #[inline]
    pub fn entities(&self) -> &[Entity] {
        self.map.entities()
    }

    /// The values, in the order of their entities. Needs a contiguous storage.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        self.map.as_slice()
    }

    /// The values, to be changed. Needs a contiguous storage.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.map.as_mut_slice()
    }

    /// The entities and their values as two slices. Needs a contiguous storage.
    #[inline]
    pub fn split_mut(&mut self) -> (&[Entity], &mut [T]) {
        self.map.split_mut()
    }

    /// Whether `entity` has the component.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.map.contains(entity)
    }

    /// The component of `entity`.
    #[inline]
    pub fn get(&self, entity: Entity) -> Option<&T> {
        self.map.get(entity)
    }

    /// The component of `entity`, to be changed.
    #[inline]
    pub fn get_mut(&mut self, entity: Entity) -> Option<&mut T> {
        self.map.get_mut(entity)
    }

    /// Gives `entity` a value and returns the one it had.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if it is not alive. Reserved entities are not, until they are settled.
    #[inline(always)]
    pub fn insert(&mut self, entity: Entity, value: T) -> Result<Option<T>, NoSuchEntity> {
        let word = self.words.find(entity).ok_or(NoSuchEntity { entity })?;
        if self.needs_care {
            return Ok(self.insert_with_care(entity, word, value));
        }
        // As `gate::admit` does.
        let replaced = self.map.insert(entity, value);
        if replaced.is_none() {
            self.words.edit(word).add(self.tag.bit);
        }
        Ok(replaced)
    }

    /// As `insert`, for a component that somebody cares for.
    #[inline(never)]
    fn insert_with_care(&mut self, entity: Entity, word: &AtomicU64, value: T) -> Option<T> {
        let (parts, word) = ((&mut *self.map, self.tag), self.words.edit(word));
        let replaced = match &mut self.lease {
            Some(lease) => lease.admit(parts, entity, word, value),
            None => gate::admit(parts, entity, word, value),
        };
        if self.echo.is_some() {
            self.note(if replaced.is_some() { What::Changed } else { What::Added }, entity);
        }
        replaced
    }

    /// Takes the value of `entity` out, if it has one.
    #[inline(always)]
    pub fn remove(&mut self, entity: Entity) -> Option<T> {
        let word = self.words.find(entity)?;
        if self.needs_care {
            return self.remove_with_care(entity, word);
        }
        gate::release((&mut self.map, self.tag), entity, self.words.edit(word))
    }

    /// Notes what happens to an entity, if somebody wants to know.
    fn note(&mut self, what: What, entity: Entity) {
        if let Some(echo) = &mut self.echo {
            echo.push(Event { what, component: self.tag.id.index() as u32, entity });
        }
    }

    /// As `remove`, for a component that somebody cares for.
    #[inline(never)]
    fn remove_with_care(&mut self, entity: Entity, word: &AtomicU64) -> Option<T> {
        let overtaken = match self.journal {
            Some(_) => self.journal_one(entity)?,
            None => None,
        };
        let (parts, word) = ((&mut *self.map, self.tag), self.words.edit(word));
        let value = match &mut self.lease {
            Some(lease) => lease.release(parts, entity, word),
            None => gate::release(parts, entity, word),
        }?;
        if self.echo.is_some() {
            self.note(What::Removing, entity);
            self.note(What::Removed, entity);
        }
        drop(overtaken);
        Some(value)
    }

    /// Writes that an entity is about to lose its value, if it has one; hands back what had to go for it.
    #[cold]
    #[inline(never)]
    fn journal_one(&mut self, entity: Entity) -> Option<Option<Removal<T>>> {
        // Made before anything is changed: a copy may unwind.
        let (journal, copy) = self.journal.as_mut()?;
        let removal = removal(entity, self.map.get(entity)?, *copy);
        Some(journal.push(removal))
    }

    /// Keeps the values for which `keep` says `true`, and drops the others one by one.
    ///
    /// If `keep` or a drop unwinds, those not yet visited stay.
    pub fn retain(&mut self, mut keep: impl FnMut(Entity, &mut T) -> bool) {
        if !self.needs_care {
            return gate::retain((&mut self.map, self.tag), self.words, keep);
        }
        let mut at = 0;
        while let Some(&entity) = self.entities().get(at) {
            if self.get_mut(entity).is_some_and(|value| keep(entity, value)) {
                at += 1;
            } else {
                // Whatever comes to this place, from the end of a group or of the pool, has not
                // been visited.
                drop(self.remove(entity));
            }
        }
    }

    /// Removes all values.
    ///
    /// Nobody has the component any more when the first value is dropped.
    pub fn clear(&mut self) {
        // Dropped when the books are right.
        let mut overtaken = Vec::new();
        if let Some((journal, copy)) = &mut self.journal {
            // All copies first: one of them may unwind.
            let removals: Vec<_> =
                self.map.iter().map(|(id, value)| removal(id, value, *copy)).collect();
            overtaken.extend(removals.into_iter().filter_map(|removal| journal.push(removal)));
        }
        if self.echo.is_some() {
            for entity in self.map.entities().to_vec() {
                self.note(What::Removing, entity);
                self.note(What::Removed, entity);
            }
        }
        let Some(lease) = &mut self.lease else {
            return gate::clear((&mut self.map, self.tag), self.words);
        };
        lease.emptied();
        let lost = gate::sign_all_out((&mut self.map, self.tag), self.words);
        for entity in lost {
            let signature = self.words.find(entity).map_or(0, |word| word.load(Ordering::Relaxed));
            lease.removed(&mut *self.map, (entity, signature));
        }
        self.map.drop_values();
    }

    /// Entities and values in packed order.
    #[inline]
    pub fn iter(&self) -> storage::Iter<'_, T, T::Storage> {
        self.map.iter()
    }

    /// Entities and values in packed order, the values to be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> storage::IterMut<'_, T, T::Storage> {
        self.map.iter_mut()
    }

    /// Exchanges two positions of the packed order.
    ///
    /// # Errors
    /// [`OwnedByGroup`] if a group keeps the order.
    ///
    /// # Panics
    /// If one of them is out of bounds; nothing has changed then.
    pub fn swap(&mut self, a: usize, b: usize) -> Result<(), OwnedByGroup> {
        self.put_in_order(|map| map.swap(a, b))
    }

    /// Makes room for `additional` more values.
    pub fn reserve(&mut self, additional: usize) {
        self.map.reserve(additional);
    }

    /// Gives back memory that serves no value.
    pub fn shrink_to_fit(&mut self) {
        self.map.shrink_to_fit();
    }
}

impl<T: Component> fmt::Debug for PoolMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolMut")
            .field("component", &name_of::<T>())
            .field("len", &self.len())
            .finish()
    }
}
