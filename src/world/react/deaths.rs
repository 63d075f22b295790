//! Entities that die while somebody wants to know.

use std::sync::PoisonError;

use super::reserved::Reserved;
use super::{Event, What};
use crate::entity::{Entity, NoSuchEntity};
use crate::sparse::SparseSet;
use crate::world::World;
use crate::world::pools::Pools;

impl World {
    /// Lets an entity die that somebody wants to hear of.
    #[cold]
    pub(in crate::world) fn despawn_with_care(
        &mut self,
        entity: Entity,
    ) -> Result<(), NoSuchEntity> {
        match self.despawn_all_with_care(vec![entity]) {
            0 => Err(NoSuchEntity { entity }),
            _ => Ok(()),
        }
    }

    /// Lets entities die that somebody wants to hear of: all are announced, then all go.
    #[cold]
    pub(in crate::world) fn despawn_all_with_care(&mut self, entities: Vec<Entity>) -> usize {
        if self.pools.hears_spawn {
            for &entity in &entities {
                self.entities.settle();
                self.note_if_reserved(entity);
            }
        }
        // What an operation that unwound has left comes first, too.
        self.deliver();
        let mut dying = SparseSet::new();
        for entity in entities {
            // Brings a reserved one to life, which must be before it can die.
            if self.gate(entity).is_ok() {
                dying.insert(entity);
            }
        }
        for entity in dying.iter() {
            self.announce_all(entity);
        }
        self.note_lost(dying.as_slice());
        let count = self.batched(|world| {
            world.note_despawned(dying.as_slice());
            world.detach_all(dying.iter())
        });
        debug_assert_eq!(count, dying.len());
        count
    }

    /// Tells the listeners that all entities are about to lose all components; returns the
    /// entities if somebody wants to hear of their death.
    pub(in crate::world) fn announce_clear(&mut self) -> Vec<Entity> {
        if !self.pools.death_needs_care {
            return Vec::new();
        }
        self.settle();
        let living: Vec<Entity> = self.entities().collect();
        if self.pools.hears_removal {
            for &entity in &living {
                self.announce_all(entity);
            }
        }
        living
    }

    /// Notes that entities lose the components that somebody wants to hear of.
    pub(in crate::world) fn note_lost(&mut self, entities: &[Entity]) {
        for &entity in entities {
            for id in self.held_ids(entity) {
                if self.pools.at(id.index()).tag().is_noted {
                    let component = id.index() as u32;
                    self.pools.notes.push(Event { what: What::Removed, component, entity });
                }
            }
        }
    }

    /// Notes that entities have died.
    pub(in crate::world) fn note_despawned(&mut self, entities: &[Entity]) {
        if self.pools.notes.signals.hears(What::Despawned, 0) {
            for &entity in entities {
                self.pools.notes.push(Event { what: What::Despawned, component: 0, entity });
            }
        }
    }

    /// Remembers an entity that was reserved.
    #[cold]
    pub(in crate::world) fn note_reserved(&self, entity: Entity) {
        self.react.reserved.lock().unwrap_or_else(PoisonError::into_inner).add(entity);
    }

    /// Tells that an entity is there whose id came from a stream.
    pub(super) fn welcome(&mut self, entity: Entity) {
        if self.is_alive(entity) {
            self.pools.note_spawn(entity);
            self.deliver();
        }
    }

    /// Brings a reserved entity to life, and delivers that; of others that come to life with it
    /// nobody hears yet. So listeners that spawn go down one by one, and the chain tells of them.
    pub(in crate::world) fn settle_one(&mut self, entity: Entity) {
        self.entities.settle();
        self.note_if_reserved(entity);
        self.deliver();
    }

    /// Takes an id back that was reserved, before anybody has heard of it.
    pub(super) fn take_back(&mut self, entity: Entity) {
        self.reserved().remove(entity);
        // Alone: it has no components yet, or somebody has given it some and it stays.
        if self.gate(entity).is_ok_and(|gate| *gate.word == 0) {
            _ = self.entities.release(entity);
            self.pools.homes.vacate(entity);
        }
    }

    /// The entities that were reserved and of which listeners have not been told.
    fn reserved(&mut self) -> &mut Reserved {
        self.react.reserved.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an entity has come to life, if it was reserved and that was not told yet.
    fn note_if_reserved(&mut self, entity: Entity) {
        if self.entities.is_alive(entity) && self.reserved().remove(entity) {
            self.pools.note_spawn(entity);
        }
    }

    /// Notes that an entity has come to life whose id was demanded. It may be one that was reserved before, and died
    /// before listeners were told.
    #[inline]
    pub(in crate::world) fn note_demanded(&mut self, entity: Entity) {
        if self.pools.hears_spawn {
            self.reserved().remove(entity);
            self.pools.note_spawn(entity);
        }
    }

    /// Puts in front of events that entities in them have come to life, if they were reserved.
    pub(super) fn tell_of_reserved(&mut self, events: &mut Vec<Event>) {
        if !self.pools.hears_spawn {
            return;
        }
        let heard_of = self.reserved().remove_all(events.iter().map(|event| event.entity));
        let spawned = |entity| Event { what: What::Spawned, component: 0, entity };
        events.splice(..0, heard_of.into_iter().map(spawned));
    }

    /// Notes that reserved entities have come to life.
    #[inline]
    pub(in crate::world) fn note_settled(&mut self) {
        if self.pools.hears_spawn {
            self.note_all_settled();
        }
    }

    #[cold]
    fn note_all_settled(&mut self) {
        for entity in self.reserved().take() {
            if self.entities.is_alive(entity) {
                self.pools.note_spawn(entity);
            }
        }
    }
}

impl Pools {
    /// Notes that an entity has come to life, if somebody wants to hear of it.
    #[inline(always)]
    pub(in crate::world) fn note_spawn(&mut self, entity: Entity) {
        if self.hears_spawn {
            self.notes.push(Event { what: What::Spawned, component: 0, entity });
        }
    }
}
