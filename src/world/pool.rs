//! One pool at a time: its slices, its values, and changes to its membership.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::gate;
use super::grouping::OwnedByGroup;
use super::lease::Lease;
use super::pool_box::{AnyPool, Map};
use super::pool_journal::removal;
use super::pool_read::Pool;
use super::pools::{Pools, name_of};
use super::react::{Event, Removal, What};
use super::tag::Tag;
use super::word::Words;
use super::{BorrowConflict, ComponentId, PoolError, World};
use crate::cell::{Read, Write};
use crate::component::Component;
use crate::entity::{Entity, NoSuchEntity};
use crate::journal::Journal;
use crate::storage;
use crate::tick::Tick;

/// All values of a component, for changing: the values, and who has one.
///
/// Works through `&World`, beside borrows of other components. Ids are checked: a dead entity
/// gets nothing. In a system, use it where commands would come too late; see [`World::pool_mut`].
/// Who has the world to himself takes it by [`World::edit_pool`], and edits cost less.
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
    /// Who has lost a value, if somebody reads that.
    journal: Option<Write<'w, Journal<Removal<T>>>>,
}

impl World {
    /// The pool of `T`, for reading.
    ///
    /// # Panics
    /// If the component is borrowed for writing; [`try_pool`](Self::try_pool) returns that as an
    /// error.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component)] struct Mass(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((1..=4).map(|m| Mass(m as f32)));
    /// let total: f32 = world.pool::<Mass>().as_slice().iter().map(|mass| mass.0).sum();
    /// assert_eq!(total, 10.0);
    /// ```
    #[track_caller]
    #[doc(alias = "storage")]
    pub fn pool<T: Component>(&self) -> Pool<'_, T> {
        self.try_pool().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The pool of `T`, for reading, if it can be borrowed.
    ///
    /// # Errors
    /// [`BorrowConflict`] if the component is borrowed for writing.
    #[track_caller]
    pub fn try_pool<T: Component>(&self) -> Result<Pool<'_, T>, BorrowConflict> {
        Ok(Pool::new(self.try_read_map()?))
    }

    /// The pool of `T`, for changing.
    ///
    /// # Panics
    /// If the component is borrowed, or the world does not know it yet;
    /// [`try_pool_mut`](Self::try_pool_mut) returns both as errors.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component)] struct Burning(u8);
    /// let mut world = World::new();
    /// let a = world.spawn(Burning(3));
    /// let b = world.spawn(());
    ///
    /// let mut burning = world.pool_mut::<Burning>();
    /// burning.insert(b, Burning(1)).unwrap();
    /// burning.retain(|_, left| { left.0 -= 1; left.0 > 0 });
    /// assert_eq!(burning.entities(), [a]);
    /// ```
    #[track_caller]
    pub fn pool_mut<T: Component>(&self) -> PoolMut<'_, T> {
        self.try_pool_mut().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The pool of `T`, for changing, if there is one and it can be borrowed.
    ///
    /// # Errors
    /// [`PoolError::Unknown`] if the world does not know the component yet;
    /// [`PoolError::Borrowed`] if it is borrowed.
    #[track_caller]
    pub fn try_pool_mut<T: Component>(&self) -> Result<PoolMut<'_, T>, PoolError> {
        self.try_pool_mut_at(self.tick())
    }

    /// As `try_pool_mut`, for what is done at a tick.
    #[track_caller]
    pub(crate) fn try_pool_mut_at<T: Component>(
        &self,
        now: Tick,
    ) -> Result<PoolMut<'_, T>, PoolError> {
        PoolMut::open(&self.pools, Words::shared(&self.entities), now)
    }

    /// As `try_pool_mut_at`, by one who has the world to himself as long as the pool is his.
    #[track_caller]
    pub(crate) fn try_edit_pool_at<T: Component>(
        &mut self,
        now: Tick,
    ) -> Result<PoolMut<'_, T>, PoolError> {
        PoolMut::open(&self.pools, Words::sole(&mut self.entities), now)
    }

    /// The pool of `T`, for changing, while nobody else has the world.
    ///
    /// As [`pool_mut`](Self::pool_mut), but an edit changes the signature of an entity without an
    /// atomic instruction, which costs as much as the rest of the edit on some processors. Where many
    /// entities get or lose one component, it is the fastest way: the pool is found once.
    ///
    /// A component that the world does not know yet gets its pool, and reserved entities are settled.
    /// Nothing is refused: a guard that was leaked ([`mem::forget`](std::mem::forget)) is nobody's, and
    /// its mark is taken away. As with `pool_mut`, listeners are told at the next
    /// [`refresh`](Self::refresh).
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component)] struct Visible;
    /// let mut world = World::new();
    /// let ids: Vec<_> = world.spawn_batch((0..10).map(|_| ())).collect();
    ///
    /// let mut visible = world.edit_pool::<Visible>();
    /// for &id in &ids[..5] {
    ///     visible.insert(id, Visible)?;
    /// }
    /// assert!(visible.remove(ids[0]).is_some());
    /// drop(visible);
    /// assert_eq!(world.query::<&Visible>().count(), 4);
    /// # Ok::<(), esker::NoSuchEntity>(())
    /// ```
    #[track_caller]
    pub fn edit_pool<T: Component>(&mut self) -> PoolMut<'_, T> {
        self.settle();
        let pool = self.pools.get_or_create::<T>();
        pool.unmark();
        let tag = pool.tag;
        if tag.is_grouped {
            self.pools.unmark_family(tag.id);
        }
        let now = self.tick();
        self.try_edit_pool_at(now).expect("the pool is there, and nobody else has the world")
    }

    /// A guard on the map of `T`, for reading; `None` if the world does not know `T`.
    #[inline]
    #[track_caller]
    pub(crate) fn try_read_map<T: Component>(
        &self,
    ) -> Result<Option<Read<'_, Map<T>>>, BorrowConflict> {
        let Some(pool) = self.pools.get::<T>() else { return Ok(None) };
        Ok(Some(pool.cell.try_read().map_err(BorrowConflict::of::<T>)?))
    }

    /// Ids and names of the components that the world knows.
    pub(crate) fn known_components(&self) -> impl Iterator<Item = (ComponentId, &'static str)> {
        self.pools.iter().map(|pool| (pool.tag().id, pool.name()))
    }

    /// Removes the component from all entities that have it.
    ///
    /// Nobody has it any more when the first value is dropped. The pool keeps its memory.
    pub fn clear_pool<T: Component>(&mut self) {
        self.announce_clear_pool::<T>();
        self.note_clear_pool::<T>();
        self.empty_pool::<T>();
        if let Some(pool) = self.pools.get_mut::<T>() {
            pool.drop_overtaken();
        }
        self.deliver();
    }

    /// Tells listeners that a pool is about to be emptied.
    fn announce_clear_pool<T: Component>(&mut self) {
        if !self.pools.hears_removal {
            return;
        }
        self.deliver();
        let Some(pool) = self.pools.get_mut::<T>() else { return };
        let component = pool.tag.id.index() as u32;
        for entity in pool.cell.get_mut().entities().to_vec() {
            self.announce_one(component, entity);
        }
    }

    /// Tells readers and sets that a pool is about to be emptied, when no listener can stop it.
    fn note_clear_pool<T: Component>(&mut self) {
        let Some(pool) = self.pools.get_mut::<T>().filter(|pool| pool.tag.needs_care) else {
            return;
        };
        let draft = pool.draft_all();
        pool.journal_all(draft);
        let tag = pool.tag;
        if tag.is_noted {
            let component = tag.id.index() as u32;
            for entity in pool.cell.get_mut().entities().to_vec() {
                self.pools.notes.push(Event { what: What::Removed, component, entity });
            }
        }
    }

    fn empty_pool<T: Component>(&mut self) {
        let now = self.tick();
        let Some(pool) = self.pools.get_mut::<T>() else { return };
        if !pool.tag.is_grouped {
            return gate::clear(pool.parts(now), Words::sole(&mut self.entities));
        }
        let component = pool.tag.id.index() as u32;
        self.pools.emptied(component);
        let Some(pool) = self.pools.get_mut::<T>() else { return };
        let lost = gate::sign_all_out(pool.parts(now), Words::sole(&mut self.entities));
        for entity in lost {
            let signature = self.entities.word_mut(entity).map_or(0, |word| *word);
            self.pools.removed(component, (entity, signature));
        }
        if let Some(pool) = self.pools.get_mut::<T>() {
            pool.cell.get_mut().drop_values();
        }
    }
}

impl<'w, T: Component> PoolMut<'w, T> {
    /// Takes all guards that edits need.
    #[track_caller]
    fn open(pools: &'w Pools, words: Words<'w>, now: Tick) -> Result<Self, PoolError> {
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
            true => Some(pool.journal.try_write().map_err(BorrowConflict::of::<T>)?),
            false => None,
        };
        let needs_care = tag.needs_care || is_heard;
        let is_sorted = &pool.is_sorted;
        Ok(Self { map, tag, words, is_sorted, needs_care, lease, echo, journal })
    }
}

impl<T: Component> PoolMut<'_, T> {
    /// The map, to be put into an order, if no group keeps it.
    pub(super) fn free_map(&mut self) -> Result<&mut Map<T>, OwnedByGroup> {
        if self.tag.is_owned {
            return Err(OwnedByGroup::of::<T>());
        }
        self.is_sorted.store(true, Ordering::Relaxed);
        Ok(&mut self.map)
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
        Ok(gate::admit((&mut self.map, self.tag), entity, self.words.edit(word), value))
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
        let removal = removal(entity, self.map.get(entity)?);
        Some(self.journal.as_mut()?.push(removal))
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
        if let Some(journal) = &mut self.journal {
            // All copies first: one of them may unwind.
            let removals: Vec<_> = self.map.iter().map(|(id, value)| removal(id, value)).collect();
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
        self.free_map()?.swap(a, b);
        Ok(())
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
