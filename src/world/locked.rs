//! A pool that several threads edit at once, one operation at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{PoolMut, World};
use crate::component::Component;
use crate::entity::{Entity, NoSuchEntity};

/// A pool whose operations are each locked.
///
/// Share a reference to it with any number of threads. Single operations lock for themselves;
/// several that belong together take the [`lock`](Self::lock). The order in which threads get
/// there, and with it the order of the pool, is up to the machine: where a run must repeat
/// itself, record commands instead.
///
/// # Examples
/// ```
/// # use esker::{Component, World};
/// # #[derive(Component)] struct Found;
/// let mut world = World::new();
/// world.register::<Found>();
/// let entities: Vec<_> = (0..100).map(|_| world.spawn(())).collect();
///
/// let found = world.locked::<Found>();
/// std::thread::scope(|scope| {
///     for part in entities.chunks(50) {
///         let found = &found;
///         scope.spawn(move || part.iter().for_each(|&e| _ = found.insert(e, Found)));
///     }
/// });
/// assert_eq!(found.len(), 100);
/// ```
#[derive(Debug)]
pub struct Locked<'w, T: Component> {
    pool: Mutex<PoolMut<'w, T>>,
}

impl World {
    /// The pool of `T`, for several threads at once. Holds the component for writing.
    ///
    /// # Panics
    /// If the component is borrowed, or the world does not know it yet;
    /// [`try_locked`](Self::try_locked) returns both as errors.
    #[track_caller]
    pub fn locked<T: Component>(&self) -> Locked<'_, T> {
        self.try_locked().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The pool of `T`, for several threads at once, if it can be had.
    ///
    /// # Errors
    /// As [`try_pool_mut`](Self::try_pool_mut).
    #[track_caller]
    pub fn try_locked<T: Component>(&self) -> Result<Locked<'_, T>, super::PoolError> {
        Ok(Locked { pool: Mutex::new(self.try_pool_mut()?) })
    }
}

impl<'w, T: Component> Locked<'w, T> {
    /// Takes the lock, for several operations that belong together.
    ///
    /// A thread that panicked with the lock in hand does not spoil it: a pool is valid after
    /// every operation, whether it came to its end or not.
    pub fn lock(&self) -> MutexGuard<'_, PoolMut<'w, T>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives `entity` a value and returns the one it had.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if it is not alive.
    pub fn insert(&self, entity: Entity, value: T) -> Result<Option<T>, NoSuchEntity> {
        self.lock().insert(entity, value)
    }

    /// Takes the value of `entity` out, if it has one.
    pub fn remove(&self, entity: Entity) -> Option<T> {
        self.lock().remove(entity)
    }

    /// Whether `entity` has the component now.
    pub fn contains(&self, entity: Entity) -> bool {
        self.lock().contains(entity)
    }

    /// Calls `change` on the value of `entity`, if it has one, with the lock in hand.
    pub fn patch<R>(&self, entity: Entity, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.lock().get_mut(entity).map(change)
    }

    /// Number of values now.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there are none now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
