//! Removals: who has lost a component, for readers at a pace of their own.

use std::marker::PhantomData;
use std::ops::Index;
use std::sync::Arc;

use crate::cell::{Cell, Read};
use crate::component::Component;
use crate::entity::Entity;
use crate::journal::{Journal, Place, Portion};
use crate::world::{BorrowConflict, World};

/// The removals of one component.
pub(in crate::world) type RemovalJournal<T> = Cell<Journal<Removal<T>>>;

/// What stands for the removals of a component where it is said what somebody uses.
#[derive(Debug)]
pub struct RemovedKey<T>(PhantomData<T>);

/// A component that an entity has lost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Removal<T> {
    /// The entity; it may be dead, or have got a new value since.
    pub entity: Entity,
    /// The value or a copy of it, if the component says `#[component(keep_removed)]`.
    pub value: Option<T>,
}

impl<T> Removal<T> {
    pub(in crate::world) fn new(entity: Entity, value: Option<T>) -> Self {
        Self { entity, value }
    }
}

/// Reads which entities have lost a `T`, each time once; see [`World::removed`].
#[derive(Debug)]
pub struct RemovedCursor<T> {
    place: Arc<Place>,
    component: PhantomData<fn() -> T>,
}

/// The removals since the reader read last; see [`RemovedCursor::read`].
#[derive(Debug)]
pub struct Removals<'w, T: Component> {
    journal: Option<Read<'w, Journal<Removal<T>>>>,
    portion: Portion,
}

impl World {
    /// A reader of removals: it is told of each entity that loses its `T` from now on, exactly once,
    /// however seldom it reads.
    ///
    /// A removal is kept until all readers that exist have read it. If more than about a million
    /// wait for one of them ([`set_removal_limit`](Self::set_removal_limit)), the oldest go, and the
    /// reader is told how many it [missed](Removals::missed); the memory report counts them.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// #[derive(Component, Clone, Debug, PartialEq)]
    /// #[component(keep_removed)]
    /// struct Texture(u32);
    ///
    /// let mut world = World::new();
    /// let mut reader = world.removed::<Texture>();
    /// let e = world.spawn(Texture(7));
    /// world.despawn(e).unwrap();
    ///
    /// let removals = reader.read(&world);
    /// assert_eq!((removals[0].entity, removals[0].value.clone()), (e, Some(Texture(7))));
    /// drop(removals);
    /// assert!(reader.read(&world).is_empty());
    /// ```
    pub fn removed<T: Component>(&mut self) -> RemovedCursor<T> {
        let pool = self.pools.get_or_create::<T>();
        let place = pool.reader();
        self.pools.mark_care();
        RemovedCursor { place, component: PhantomData }
    }

    /// Lets at most this many removals of `T` wait for the slowest reader.
    pub fn set_removal_limit<T: Component>(&mut self, limit: usize) {
        let overtaken = self.pools.get_or_create::<T>().journal.get_mut().set_limit(limit);
        drop(overtaken);
    }
}

impl<T: Component> RemovedCursor<T> {
    /// The removals since the last call, oldest first.
    ///
    /// # Panics
    /// If the pool of the component is being changed through [`World::pool_mut`].
    #[track_caller]
    pub fn read<'w>(&mut self, world: &'w World) -> Removals<'w, T> {
        let removals = self.show(world);
        self.mark_read();
        removals
    }

    /// As [`read`](Self::read), but they count as read only after [`mark_read`](Self::mark_read).
    #[track_caller]
    pub(crate) fn show<'w>(&mut self, world: &'w World) -> Removals<'w, T> {
        let Some(pool) = world.pool_box::<T>() else {
            let portion = Portion { start: 0, end: 0, missed: 0 };
            return Removals { journal: None, portion };
        };
        let journal = pool.journal.try_read().unwrap_or_else(|conflict| {
            panic!("the removals of {}", BorrowConflict::of::<T>(conflict))
        });
        let portion = journal.show(&self.place);
        Removals { journal: Some(journal), portion }
    }

    /// The removals that were shown last count as read from now on.
    pub(crate) fn mark_read(&mut self) {
        self.place.mark_read();
    }
}

impl<T: Component> Removals<'_, T> {
    /// Number of removals.
    pub fn len(&self) -> usize {
        self.portion.end - self.portion.start
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removals that were not kept, because too many waited.
    pub fn missed(&self) -> u64 {
        self.portion.missed
    }

    /// The removals, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Removal<T>> {
        (0..self.len()).map(|at| &self[at])
    }

    /// The entities, oldest removal first.
    pub fn entities(&self) -> impl ExactSizeIterator<Item = Entity> {
        self.iter().map(|removal| removal.entity)
    }
}

impl<T: Component> Index<usize> for Removals<'_, T> {
    type Output = Removal<T>;

    fn index(&self, at: usize) -> &Removal<T> {
        let len = self.len();
        assert!(at < len, "removal {at} of {len}");
        let journal = self.journal.as_ref().expect("there is one, as there are removals");
        journal.get(self.portion.start + at).expect("a portion is kept as long as it is read")
    }
}
