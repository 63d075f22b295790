//! Entities come and go.

use super::funeral::Funeral;
use super::gate::Gate;
use super::homes::Homes;
use super::{Bundle, World};
use crate::entity::{Entity, LiveEntities, NoSuchEntity, OutOfEntities, SpawnAtError, Stream};

impl World {
    /// Brings an entity to life with these components; `()` for none.
    ///
    /// # Panics
    /// If no id is left, which takes a limit or four billion entities;
    /// [`try_spawn`](Self::try_spawn) returns that as an error.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Enemy;
    /// let mut world = World::new();
    /// let e = world.spawn((Position(1.0), Enemy));
    /// assert!(world.has::<Enemy>(e));
    /// ```
    #[inline(always)]
    #[track_caller]
    #[doc(alias = "create")]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) -> Entity {
        // Not by `try_spawn`: without optimisation each function on the way has room on the stack for the bundle.
        if self.pools.homes.is_active() {
            return self.spawn_at_home(bundle).unwrap_or_else(|error| panic!("{error}"));
        }
        let gate = match self.new_gate() {
            Ok(gate) => gate,
            Err(error) => panic!("{error}"),
        };
        let entity = gate.entity;
        gate.fill(bundle);
        self.deliver();
        entity
    }

    /// Brings an entity to life, if an id is left.
    ///
    /// # Errors
    /// [`OutOfEntities`]; the bundle is dropped and the world is as it was.
    #[inline(always)]
    pub fn try_spawn<B: Bundle>(&mut self, bundle: B) -> Result<Entity, OutOfEntities> {
        if self.pools.homes.is_active() {
            return self.spawn_at_home(bundle);
        }
        let gate = self.new_gate()?;
        let entity = gate.entity;
        gate.fill(bundle);
        self.deliver();
        Ok(entity)
    }

    /// Brings an entity to life, and opens the gate for it.
    #[inline(always)]
    fn new_gate(&mut self) -> Result<Gate<'_>, OutOfEntities> {
        let (entity, word) = self.entities.claim()?;
        if self.pools.hears_spawn {
            self.pools.note_spawn(entity);
        }
        Ok(Gate::new(&mut self.pools, word, entity))
    }

    /// Brings an entity to life in a world with homes: in the row of one who has died, and with its index, if there is one.
    // Not inlined: other worlds do without.
    #[inline(never)]
    fn spawn_at_home<B: Bundle>(&mut self, bundle: B) -> Result<Entity, OutOfEntities> {
        let kind = self.pools.kind_of::<B>();
        let index = self.pools.homes.index_for(kind);
        let entity = match index.and_then(|index| self.entities.claim_at(index)) {
            Some(entity) => entity,
            None => self.entities.claim()?.0,
        };
        if self.pools.hears_spawn {
            self.pools.note_spawn(entity);
        }
        let word = self.entities.word_mut(entity).expect("it has just come to life");
        let mut gate = Gate::new(&mut self.pools, word, entity);
        gate.move_in(kind);
        gate.fill(bundle);
        self.deliver();
        Ok(entity)
    }

    /// Brings an entity without components to life.
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    #[inline]
    #[track_caller]
    pub fn spawn_empty(&mut self) -> Entity {
        match self.pools.hears_spawn {
            true => self.spawn(()),
            false => self.entities.spawn(),
        }
    }

    /// Brings exactly this entity to life, with these components.
    ///
    /// For ids chosen by somebody else: a server, a file. See
    /// [`Entities::spawn_at`](crate::entity::Entities::spawn_at) for what may be demanded.
    ///
    /// # Errors
    /// [`SpawnAtError`] if an entity lives at that index, or the index lies beyond a fixed limit;
    /// the bundle is dropped and the world is as it was.
    pub fn spawn_at<B: Bundle>(&mut self, entity: Entity, bundle: B) -> Result<(), SpawnAtError> {
        self.demand(entity)?;
        self.note_demanded(entity);
        let word = self.entities.word_mut(entity).expect("it has just come to life");
        Gate::new(&mut self.pools, word, entity).give_birth(bundle);
        self.deliver();
        Ok(())
    }

    /// Brings exactly this entity to life, without components.
    pub(super) fn demand(&mut self, entity: Entity) -> Result<(), SpawnAtError> {
        // The same id may have died just now; what is left of it is not what it will have.
        self.pools.clear();
        self.entities.spawn_at(entity)
    }

    /// Reserves the id of an entity that will exist, from any thread.
    ///
    /// It comes to life, without components, with the next call that spawns or despawns, with any
    /// call through `&mut World` that is given its id, or with [`settle`](Self::settle). Until
    /// then it is not alive.
    ///
    /// # Errors
    /// [`OutOfEntities`] if no id is left.
    pub fn reserve_entity(&self) -> Result<Entity, OutOfEntities> {
        let entity = self.entities.reserve()?;
        if self.pools.hears_spawn {
            self.note_reserved(entity);
        }
        Ok(entity)
    }

    /// Whether systems can have streams of ids: not where ids are limited, or demanded nearby.
    pub(crate) fn can_open_streams(&self) -> bool {
        self.entities.has_room_for_streams()
    }

    /// Opens a stream of ids for each key; until they are closed, ids are reserved from one more of them.
    pub(crate) fn open_id_streams(&mut self, keys: &[u64]) -> Vec<Stream> {
        self.entities.open_streams(keys)
    }

    /// The next id of a stream that is open.
    pub(crate) fn next_id(&self, stream: &mut Stream) -> Result<Entity, OutOfEntities> {
        stream.next(&self.entities)
    }

    /// Whether a stream is one of those that are open.
    #[inline]
    pub(crate) fn has_opened(&self, stream: &Stream) -> bool {
        self.entities.has_opened(stream)
    }

    /// Closes streams: the entities they have given out come to life. What the others have given out
    /// does not.
    pub(crate) fn close_id_streams(&mut self, streams: Vec<Stream>) {
        self.entities.close_streams(streams);
    }

    /// Brings all reserved entities to life.
    pub fn settle(&mut self) {
        self.entities.settle();
        self.note_settled();
        self.deliver();
    }

    /// Whether `entity` is alive in this world.
    #[inline]
    #[doc(alias = "valid")]
    #[doc(alias = "contains")]
    pub fn is_alive(&self, entity: Entity) -> bool {
        self.entities.is_alive(entity)
    }

    /// Number of living entities.
    #[inline]
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Whether no entity is alive.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// The living entities, in ascending order of their index.
    pub fn entities(&self) -> LiveEntities<'_> {
        self.entities.iter()
    }

    /// The entity that lives at `index`, if one does.
    pub fn entity_at(&self, index: u32) -> Option<Entity> {
        self.entities.at(index)
    }

    /// Removes all components of `entity` and lets it die.
    ///
    /// No value is dropped before the entity is gone from every pool, so a `Drop` that panics
    /// leaves no half-dead entity behind.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if it is not alive.
    ///
    /// # Complexity
    /// O(components it has); how many component types there are does not matter while they are
    /// no more than 64.
    #[doc(alias = "destroy")]
    #[doc(alias = "kill")]
    pub fn despawn(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        if self.pools.death_needs_care {
            return self.despawn_with_care(entity);
        }
        // The id goes first, in one look-up with its signature; no code of the user's runs before
        // it is out of the pools, too.
        let signature = self.entities.release(entity)?;
        let waiting = self.pools.detach(entity, signature);
        Funeral::bury(&mut self.pools, waiting);
        Ok(())
    }

    /// Lets every entity die and empties every pool. Resources stay.
    ///
    /// Old ids stay dead; new entities get the same indices again, lowest first. Everything is
    /// gone before the first value is dropped. Pools keep their memory.
    pub fn clear(&mut self) {
        let living = self.announce_clear();
        // All copies before anything is changed: one of them may unwind.
        let drafts: Vec<_> =
            (0..self.pools.len()).map(|id| self.pools.at_mut(id).draft_all()).collect();
        self.note_lost(&living);
        self.pools.groups.clear_members();
        for (id, draft) in drafts.into_iter().enumerate() {
            self.pools.at_mut(id).journal_all(draft);
        }
        for id in 0..self.pools.len() {
            self.pools.at_mut(id).forget_entities();
        }
        self.pools.homes = Homes::default();
        self.entities.clear();
        self.note_despawned(&living);
        Funeral::drop_all(&mut self.pools);
        self.deliver();
    }

    /// Makes room for `additional` more entities.
    pub fn reserve(&mut self, additional: usize) {
        self.entities.reserve_slots(additional);
    }
}
