//! Delivers what an operation has noted.

use std::marker::PhantomData;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::extras::Provider;
use super::{Cause, Event, Queue, What};
use crate::component::Component;
use crate::entity::Entity;
use crate::sparse::SparseSet;
use crate::world::pools::Pools;
use crate::world::{Bundle, ComponentId, ComponentVisitor, World};

/// Operations that may follow from each other, commands of listeners being operations again.
const DEEPEST: usize = 64;

impl World {
    /// Delivers what the operation that ends here has noted.
    #[inline(always)]
    pub(in crate::world) fn deliver(&mut self) {
        if self.pools.notes.is_pending {
            self.deliver_pending();
        }
    }

    #[cold]
    #[inline(never)]
    fn deliver_pending(&mut self) {
        if self.pools.notes.holds > 0 {
            return;
        }
        for component in mem::take(&mut self.pools.notes.overtaken) {
            self.pools.at_mut(component as usize).drop_overtaken();
        }
        self.pools.notes.is_pending = false;
        let mut events = mem::take(&mut self.pools.notes.events);
        let noted = events.len();
        self.tell_of_reserved(&mut events);
        // Spawns that were put in front require nothing.
        let provided = mem::take(&mut self.pools.notes.provided) + events.len() - noted;
        let events = self.add_required(events, provided);
        for &event in &events {
            self.tell_sets(event);
        }
        let first = events.first().copied().map(Cause::Event);
        let cause = self.react.cause.take().or(first);
        // Kept even if a listener unwinds, so that nothing is called twice.
        let level = Level::enter(self, cause);
        for event in events {
            level.world.tell_listeners(event);
        }
        level.world.carry_out();
    }

    /// Does several operations, and delivers what they note when all are done.
    pub(in crate::world) fn batched<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let done = self.held(work);
        self.deliver();
        done
    }

    /// Does something that somebody else delivers.
    #[inline]
    pub(in crate::world) fn held<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let held = Held::new(self);
        work(held.0)
    }

    /// Whether somebody wants to know when one of these components is added, or an entity spawned.
    pub(in crate::world) fn is_noted<B: Bundle>(&mut self) -> bool {
        struct Noted<'w>(&'w mut World, bool);
        impl ComponentVisitor for Noted<'_> {
            fn visit<T: Component>(&mut self) {
                // Made if there is none: it may bring listeners along.
                self.1 |= self.0.pools.get_or_create::<T>().tag.is_noted;
            }
        }
        let hears_spawn = self.pools.hears_spawn;
        let mut noted = Noted(self, hears_spawn);
        B::visit(&mut noted);
        noted.1
    }

    /// Notes that entities have come to life with these components.
    pub(in crate::world) fn note_spawned<B: Bundle>(&mut self, entities: &[Entity]) {
        struct Ids<'w>(&'w World, Vec<u32>);
        impl ComponentVisitor for Ids<'_> {
            fn visit<T: Component>(&mut self) {
                let noted = self.0.pool_box::<T>().filter(|pool| pool.tag.is_noted);
                self.1.extend(noted.map(|pool| pool.tag.id.index() as u32));
            }
        }
        let mut ids = Ids(self, Vec::new());
        B::visit(&mut ids);
        let added = ids.1;
        let hears_spawn = self.pools.hears_spawn;
        for &entity in entities {
            let notes = &mut self.pools.notes;
            if hears_spawn {
                notes.push(Event { what: What::Spawned, component: 0, entity });
            }
            for &component in &added {
                notes.push(Event { what: What::Added, component, entity });
            }
        }
    }

    /// Adds what added components require, and notes that, too. The first events are provided for.
    ///
    /// If one of them cannot be made, the events wait for the next operation, and what comes after
    /// the one that failed is added then.
    fn add_required(&mut self, events: Vec<Event>, provided: usize) -> Vec<Event> {
        let mut waiting = Waiting { world: self, events, at: provided };
        while let Some(&Event { what, component, entity }) = waiting.events.get(waiting.at) {
            waiting.at += 1;
            let pools = &mut waiting.world.pools;
            // It may be gone again, if it was added through `&World`.
            if what != What::Added || !pools.at_mut(component as usize).map_mut().contains(entity) {
                continue;
            }
            for require in pools.at(component as usize).required() {
                require(&mut Provider(waiting.world), entity);
            }
            waiting.events.append(&mut waiting.world.pools.notes.events);
        }
        waiting.world.pools.notes.is_pending = false;
        mem::take(&mut waiting.events)
    }

    /// Calls the listeners to an event.
    fn tell_listeners(&mut self, event: Event) {
        self.call_listeners(
            |world| world.pools.notes.signals.list(event.what, event.component),
            |listener, world, commands| listener(world, event.entity, commands),
        );
    }

    /// Carries out what listeners have recorded.
    fn carry_out(&mut self) {
        if self.react.queue.is_empty() {
            return;
        }
        let mut queue = mem::take(&mut self.react.queue);
        self.react.report.applied += queue.len() as u64;
        queue.apply(self);
        // Its memory serves again, unless somebody has recorded meanwhile.
        if self.react.queue.is_empty() {
            self.react.queue = queue;
        }
    }

    /// Carries out commands that were recorded in a queue of somebody else's.
    pub(crate) fn apply_queue(&mut self, queue: &mut Queue) {
        self.react.report.applied += queue.len() as u64;
        queue.apply(self);
    }

    /// Tells the listeners that those of these components that `entity` has are about to go.
    #[inline]
    pub(in crate::world) fn announce<B: Bundle>(&mut self, entity: Entity) {
        if self.pools.prepares_removal {
            self.prepare_removal::<B>(entity);
        }
    }

    #[cold]
    fn prepare_removal<B: Bundle>(&mut self, entity: Entity) {
        if self.pools.hears_removal {
            // What an operation that unwound has left comes first.
            self.deliver();
            self.announce_each::<B>(entity);
        }
        self.draft::<B>(entity);
    }

    /// Like [`announce`](Self::announce), for components that go together or not at all; says whether they all can:
    /// a listener may have taken one away.
    #[cold]
    pub(in crate::world) fn prepare_taking<B: Bundle>(&mut self, entity: Entity) -> bool {
        if self.pools.hears_removal {
            self.announce_each::<B>(entity);
            if !self.holds_all::<B>(entity) {
                return false;
            }
        }
        self.draft::<B>(entity);
        true
    }

    /// Makes the entries for readers of those of these components that `entity` has, which are about to go.
    pub(in crate::world) fn draft<B: Bundle>(&mut self, entity: Entity) {
        // All copies before anything is changed: one of them may unwind.
        Drafts::<B> { world: self, bundle: PhantomData }.make(entity);
    }

    /// Tells the listeners that those of these components that many entities have are about to go, of each once.
    #[cold]
    pub(in crate::world) fn announce_many<B: Bundle>(&mut self, entities: &[Entity]) {
        // What an operation that unwound has left comes first.
        self.deliver();
        let mut told = SparseSet::new();
        for &entity in entities {
            if self.is_alive(entity) && told.insert(entity) {
                self.announce_each::<B>(entity);
            }
        }
    }

    fn announce_each<B: Bundle>(&mut self, entity: Entity) {
        struct Announce<'w>(&'w mut World, Entity, Vec<ComponentId>);
        impl ComponentVisitor for Announce<'_> {
            fn visit<T: Component>(&mut self) {
                let id = self.0.component_id::<T>().filter(|id| !self.2.contains(id));
                if let Some(id) = id.filter(|_| self.0.holds_all::<T>(self.1)) {
                    self.2.push(id);
                    self.0.announce_one(id.index() as u32, self.1);
                }
            }
        }
        B::visit(&mut Announce(self, entity, Vec::new()));
    }

    /// Tells the listeners that an entity is about to lose a component.
    pub(in crate::world) fn announce_one(&mut self, component: u32, entity: Entity) {
        let event = Event { what: What::Removing, component, entity };
        self.tell_listeners(event);
        self.note_cause(Cause::Event(event));
    }

    /// Remembers why listeners were called, if they want something.
    pub(super) fn note_cause(&mut self, cause: Cause) {
        if !self.react.queue.is_empty() {
            self.react.cause.get_or_insert(cause);
        }
    }

    /// Tells the listeners that an entity is about to lose all its components.
    pub(in crate::world) fn announce_all(&mut self, entity: Entity) {
        for id in self.held_ids(entity) {
            self.announce_one(id.index() as u32, entity);
        }
    }

    /// Delivers what was done to pools through `&World`, pool by pool.
    pub(in crate::world) fn deliver_echoes(&mut self) {
        if !self.pools.is_heard {
            return;
        }
        for id in 0..self.pools.len() {
            let mut events = self.pools.at_mut(id).take_echo();
            self.pools.notes.is_pending |= !events.is_empty();
            self.pools.notes.events.append(&mut events);
        }
        self.deliver();
    }

    /// Drops what all readers of journals have read.
    pub(in crate::world) fn trim_journals(&mut self) {
        if self.pools.is_heard {
            for id in 0..self.pools.len() {
                self.pools.at_mut(id).trim_journal();
            }
            // Nobody is left to read: nothing need be written.
            let is_stale = |pools: &mut Pools, id| {
                pools.at(id).tag().is_journaled && !pools.at_mut(id).is_journaled()
            };
            if (0..self.pools.len()).any(|id| is_stale(&mut self.pools, id)) {
                self.pools.mark_care();
            }
            self.pools.is_heard = self.pools.has_hearers();
        }
        for nth in 0..self.react.trims.len() {
            self.react.trims[nth].1(self);
        }
    }

    /// What led to the operation that is under way, in words.
    fn chain_in_words(&self, chain: &[Cause]) -> String {
        let words = chain.iter().map(|&cause| {
            let event = match cause {
                Cause::Event(event) => event,
                Cause::Triggered(name) => return format!("`{name}` triggered"),
                Cause::Crossed { entity, has_entered: true } => {
                    return format!("{entity} entered a group");
                }
                Cause::Crossed { entity, has_entered: false } => {
                    return format!("{entity} left a group");
                }
            };
            let verb = match event.what {
                What::Spawned => "spawned",
                What::Added => "added",
                What::Changed => "changed",
                What::Removing | What::Removed => "removed",
                What::Despawned => "despawned",
            };
            match event.what {
                What::Spawned | What::Despawned => format!("{} {verb}", event.entity),
                _ => {
                    let name = self.pools.at(event.component as usize).name();
                    format!("`{name}` {verb} at {}", event.entity)
                }
            }
        });
        // The ends of the chain tell the story; the middle repeats it.
        let words: Vec<String> = words.collect();
        let (head, tail) = (&words[..4.min(words.len())], &words[words.len().saturating_sub(2)..]);
        format!("{}, …, {}", head.join(", "), tail.join(", "))
    }
}

/// Copies, for readers of removals, of values that are about to go together.
struct Drafts<'w, B: Bundle> {
    world: &'w mut World,
    bundle: PhantomData<B>,
}

impl<B: Bundle> Drafts<'_, B> {
    fn make(self, entity: Entity) {
        struct Make<'w>(&'w mut World, Entity, Vec<ComponentId>);
        impl ComponentVisitor for Make<'_> {
            fn visit<T: Component>(&mut self) {
                let Some(pool) = self.0.pools.get_mut::<T>() else { return };
                // One that is named twice goes once.
                if !self.2.contains(&pool.tag.id) {
                    self.2.push(pool.tag.id);
                    pool.draft_one(self.1);
                }
            }
        }
        B::visit(&mut Make(self.world, entity, Vec::new()));
        // They are for who takes the values out.
        mem::forget(self);
    }
}

impl<B: Bundle> Drop for Drafts<'_, B> {
    fn drop(&mut self) {
        struct Unmake<'w>(&'w mut World);
        impl ComponentVisitor for Unmake<'_> {
            fn visit<T: Component>(&mut self) {
                if let Some(pool) = self.0.pools.get_mut::<T>() {
                    pool.drop_draft();
                }
            }
        }
        B::visit(&mut Unmake(self.world));
    }
}

/// Holds deliveries back, also while unwinding.
struct Held<'w>(&'w mut World);

impl<'w> Held<'w> {
    #[inline]
    fn new(world: &'w mut World) -> Self {
        world.pools.notes.holds += 1;
        Self(world)
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.pools.notes.holds -= 1;
    }
}

/// Events on their way to who hears of them; noted again if something they require cannot be made.
struct Waiting<'w> {
    world: &'w mut World,
    events: Vec<Event>,
    /// Those before it are provided with what they require, as far as it could be made.
    at: usize,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.events.is_empty() {
            let notes = &mut self.world.pools.notes;
            self.events.append(&mut notes.events);
            notes.events = mem::take(&mut self.events);
            notes.provided = self.at;
            notes.is_pending = true;
        }
    }
}

/// One operation inside another: an entry of the chain as long as it lasts.
struct Level<'w> {
    /// Another one than at the beginning if a command has exchanged it.
    world: &'w mut World,
    /// The chain of the world in which it began, wherever that world is now, and its length before.
    chain: Arc<Mutex<Vec<Cause>>>,
    depth: usize,
}

impl<'w> Level<'w> {
    fn enter(world: &'w mut World, cause: Option<Cause>) -> Self {
        let chain = Arc::clone(&world.react.chain);
        let depth = locked(&chain).len();
        let level = Self { world, chain, depth };
        locked(&level.chain).extend(cause);
        if cause.is_some() && depth >= DEEPEST {
            // As if a listener had panicked: what they have recorded is not carried out later.
            mem::take(&mut level.world.react.queue).discard(level.world);
            let chain = level.world.chain_in_words(&locked(&level.chain));
            panic!(
                "listeners set each other off without end ({depth} operations inside each other): {chain}; \
                 let a listener record commands only if they change something",
            );
        }
        level
    }
}

impl Drop for Level<'_> {
    fn drop(&mut self) {
        locked(&self.chain).truncate(self.depth);
    }
}

fn locked(chain: &Mutex<Vec<Cause>>) -> MutexGuard<'_, Vec<Cause>> {
    chain.lock().unwrap_or_else(PoisonError::into_inner)
}
