//! Sets that collect the entities to which something happened, until they are drained.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::mem;

use super::{Event, What};
use crate::cell::{Cell, Read, Write};
use crate::component::Component;
use crate::entity::Entity;
use crate::sparse::{Entry, SparseSet};
use crate::world::pools::name_of;
use crate::world::{BorrowConflict, World};

/// A reactive set, as the world keeps it.
#[derive(Debug)]
pub(crate) struct Reactive {
    of: TypeId,
    name: &'static str,
    /// What it collects entities for.
    collects: Vec<(What, u32)>,
    /// Whether an entity is forgotten when it loses one of these components.
    forgets: bool,
    set: Cell<SparseSet>,
    /// Dead entities whose index another one has got, which has taken their place in the set.
    displaced: BTreeSet<Entity>,
}

impl Reactive {
    /// Components whose events it wants to hear of.
    pub(in crate::world) fn components(&self) -> impl Iterator<Item = u32> {
        self.collects.iter().map(|&(_, component)| component)
    }

    /// Hears of an event to an entity that may be dead; `has` says whether it has the component now.
    ///
    /// That may be another answer than the event gives, which is old if it was noted through `&World`.
    fn hear(&mut self, event: Event, is_alive: bool, mut has: impl FnMut(u32, Entity) -> bool) {
        let Event { what, component, entity } = event;
        if self.collects.contains(&(what, component)) {
            if !self.forgets || what == What::Removed || has(component, entity) {
                self.collect(entity, is_alive);
            }
        } else if self.forgets
            && what == What::Removed
            && self.components().any(|listed| listed == component)
            && !has(component, entity)
        {
            self.set.get_mut().remove(entity);
            self.displaced.remove(&entity);
        }
    }

    fn collect(&mut self, entity: Entity, is_alive: bool) {
        let set = self.set.get_mut();
        if self.displaced.contains(&entity) {
            return;
        }
        if let Entry::Displaced(at) = set.entry(entity) {
            // Of two versions of an index the living one is in the set.
            if !is_alive {
                self.displaced.insert(entity);
                return;
            }
            self.displaced.insert(set.as_slice()[at]);
        }
        set.insert(entity);
    }

    fn drain(&mut self) -> Vec<Entity> {
        let mut drained: Vec<Entity> = mem::take(&mut self.displaced).into_iter().collect();
        let set = self.set.get_mut();
        drained.extend(set.iter());
        set.clear();
        drained
    }
}

/// What stands for a reactive set where it is said what somebody uses.
#[derive(Debug)]
pub struct ReactiveKey<S>(std::marker::PhantomData<S>);

/// Says what a reactive set collects; see [`World::reactive`].
#[derive(Debug)]
#[must_use = "a reactive set is made by `build`"]
pub struct ReactiveBuilder<'w> {
    world: &'w mut World,
    of: TypeId,
    name: &'static str,
    collects: Vec<(What, u32)>,
    forgets: bool,
}

impl World {
    /// Starts a set that collects entities for chosen events, each once, until it is drained.
    ///
    /// `S` is any type; it names the set. Queries take it as the filter
    /// [`Reacted<S>`](crate::query::Reacted), and then walk the set, not the pools.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Sprite(u32);
    /// struct Moved;
    ///
    /// let mut world = World::new();
    /// world.reactive::<Moved>().added::<Sprite>().changed::<Position>().build();
    /// let e = world.spawn((Position(0.0), Sprite(1)));
    /// world.spawn(Position(0.0));
    ///
    /// assert_eq!(world.query_filtered::<Entity, Reacted<Moved>>().iter().collect::<Vec<_>>(), [e]);
    /// assert_eq!(world.drain_reacted::<Moved>(), [e]);
    /// world.patch(e, |position: &mut Position| position.0 += 1.0).unwrap();
    /// assert_eq!(world.drain_reacted::<Moved>(), [e]);
    /// ```
    #[doc(alias = "observer")]
    #[doc(alias = "track")]
    pub fn reactive<S: 'static>(&mut self) -> ReactiveBuilder<'_> {
        let (of, name) = (TypeId::of::<S>(), name_of::<S>());
        ReactiveBuilder { world: self, of, name, collects: Vec::new(), forgets: false }
    }

    /// The entities that a reactive set has collected; `None` if there is no such set.
    ///
    /// # Panics
    /// If it is borrowed by [`reacted_mut`](Self::reacted_mut).
    #[track_caller]
    pub fn reacted<S: 'static>(&self) -> Option<Read<'_, SparseSet>> {
        self.try_reacted::<S>().unwrap_or_else(|error| panic!("the reactive set {error}"))
    }

    /// Like [`reacted`](Self::reacted), but returns a conflict as an error.
    #[track_caller]
    pub(crate) fn try_reacted<S: 'static>(
        &self,
    ) -> Result<Option<Read<'_, SparseSet>>, BorrowConflict> {
        let Some(reactive) = self.find_reactive(TypeId::of::<S>()) else { return Ok(None) };
        let set = reactive.set.try_read();
        set.map(Some).map_err(|conflict| BorrowConflict::new(reactive.name, conflict))
    }

    /// The entities that a reactive set has collected, to be taken out one by one; `None` if there
    /// is no such set.
    ///
    /// # Panics
    /// If it is borrowed.
    #[track_caller]
    pub fn reacted_mut<S: 'static>(&self) -> Option<Write<'_, SparseSet>> {
        let reactive = self.find_reactive(TypeId::of::<S>())?;
        match reactive.set.try_write() {
            Ok(set) => Some(set),
            Err(conflict) => panic!("the reactive set `{}`: {conflict}", reactive.name),
        }
    }

    /// Takes all entities out of a reactive set: first those whose index another one of them has got
    /// since, which the set itself does not show; then the others in the order in which they came,
    /// unless the set has forgotten some.
    pub fn drain_reacted<S: 'static>(&mut self) -> Vec<Entity> {
        let mut sets = self.pools.notes.reactive.iter_mut();
        let Some(reactive) = sets.find(|reactive| reactive.of == TypeId::of::<S>()) else {
            return Vec::new();
        };
        reactive.drain()
    }

    /// Ends a reactive set; what it has collected is returned. `None` if there is no such set.
    pub fn stop_reacting<S: 'static>(&mut self) -> Option<Vec<Entity>> {
        let sets = &mut self.pools.notes.reactive;
        let at = sets.iter().position(|reactive| reactive.of == TypeId::of::<S>())?;
        let mut reactive = sets.remove(at);
        self.pools.mark_care();
        Some(reactive.drain())
    }

    fn find_reactive(&self, of: TypeId) -> Option<&Reactive> {
        self.pools.notes.reactive.iter().find(|reactive| reactive.of == of)
    }

    /// Lets the reactive sets hear of an event.
    pub(super) fn tell_sets(&mut self, event: Event) {
        let is_alive = self.entities.is_alive(event.entity);
        let mut sets = mem::take(&mut self.pools.notes.reactive);
        for reactive in &mut sets {
            // Without a guard, which one that was leaked would refuse.
            let pools = &mut self.pools;
            let has = |id: u32, entity| pools.at_mut(id as usize).map_mut().contains(entity);
            reactive.hear(event, is_alive, has);
        }
        self.pools.notes.reactive = sets;
    }
}

impl ReactiveBuilder<'_> {
    /// Collects entities that get a `T`.
    pub fn added<T: Component>(self) -> Self {
        self.collect::<T>(What::Added)
    }

    /// Collects entities whose `T` is replaced or patched.
    pub fn changed<T: Component>(self) -> Self {
        self.collect::<T>(What::Changed)
    }

    /// Collects entities that lose their `T`.
    pub fn removed<T: Component>(self) -> Self {
        self.collect::<T>(What::Removed)
    }

    /// Forgets an entity when it loses one of the components that it was collected for, which it
    /// does when it dies. Otherwise it stays until the set is drained.
    pub fn forget_lost(mut self) -> Self {
        self.forgets = true;
        self
    }

    /// Makes the set. One of the same name is replaced; what it has collected stays.
    pub fn build(self) {
        let Self { world, of, name, collects, forgets } = self;
        let sets = &mut world.pools.notes.reactive;
        match sets.iter_mut().find(|reactive| reactive.of == of) {
            Some(reactive) => {
                reactive.collects = collects;
                reactive.forgets = forgets;
            }
            None => {
                let (set, displaced) = (Cell::default(), BTreeSet::new());
                sets.push(Reactive { of, name, collects, forgets, set, displaced });
            }
        }
        world.pools.mark_care();
    }

    fn collect<T: Component>(mut self, what: What) -> Self {
        let component = self.world.register::<T>().index() as u32;
        let entry = (what, component);
        if !self.collects.contains(&entry) {
            self.collects.push(entry);
        }
        self
    }
}
