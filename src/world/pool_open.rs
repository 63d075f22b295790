//! How pools are had: for reading, for changing, by one who has the world to himself; and emptied.

use super::gate;
use super::pool_box::{AnyPool, Map};
use super::pools::Found;
use super::react::{Event, What};
use super::word::Words;
use super::{BorrowConflict, ComponentId, Pool, PoolError, PoolMut, World};
use crate::cell::Read;
use crate::component::Component;
use crate::tick::Tick;

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
        self.empty_pool::<T>();
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

    /// Lets all values of a pool out, when no listener can stop it, and drops them.
    fn empty_pool<T: Component>(&mut self) {
        let now = self.tick();
        let Self { entities, pools, .. } = self;
        // Found once: from here to the first drop no type is asked for its pool.
        pools.clear();
        let Some(mut found) = pools.found::<T>() else { return };
        found.pool().cell.get_mut().set_now(now);
        let tag = found.pool().tag;
        if tag.needs_care {
            note_emptied(&mut found);
        }
        let members = found.pool().cell.get_mut().len();
        found.pools_mut().homes.note_emptied(tag.id.index(), members);
        let pool = found.pool();
        if !tag.is_grouped {
            gate::clear((pool.cell.get_mut(), &tag), Words::sole(entities));
            return found.pool().drop_overtaken();
        }
        let component = tag.id.index() as u32;
        found.pools_mut().emptied(component);
        let parts = (found.pool().cell.get_mut(), &tag);
        for entity in gate::sign_all_out(parts, Words::sole(entities)) {
            let signature = entities.word_mut(entity).map_or(0, |word| *word);
            found.pools_mut().removed(component, (entity, signature));
        }
        found.pool().cell.get_mut().drop_values();
        found.pool().drop_overtaken();
    }
}

/// Tells readers and sets that a pool is about to be emptied.
fn note_emptied<T: Component>(found: &mut Found<'_, T>) {
    let pool = found.pool();
    let draft = pool.draft_all();
    pool.journal_all(draft);
    let tag = pool.tag;
    if tag.is_noted {
        let component = tag.id.index() as u32;
        for entity in pool.cell.get_mut().entities().to_vec() {
            found.pools_mut().notes.push(Event { what: What::Removed, component, entity });
        }
    }
}
