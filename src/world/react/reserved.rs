//! Reserved entities of which listeners to spawns have not been told.

use std::mem;

use rustc_hash::FxHashMap;

use crate::entity::Entity;

/// A set of entities that keeps the order in which they came. Adding and removing one takes constant time, however
/// many there are: a listener may reserve any number, and each is told on its own.
#[derive(Debug, Default)]
pub(super) struct Reserved {
    /// The turn of each; later ones have higher numbers.
    turns: FxHashMap<Entity, u64>,
    next: u64,
}

impl Reserved {
    pub(super) fn add(&mut self, entity: Entity) {
        self.turns.entry(entity).or_insert(self.next);
        self.next += 1;
    }

    /// Takes an entity out; `false` if it is not in.
    pub(super) fn remove(&mut self, entity: Entity) -> bool {
        self.turns.remove(&entity).is_some()
    }

    /// Takes those of these entities out that are in, in the order in which they came.
    pub(super) fn remove_all(&mut self, entities: impl Iterator<Item = Entity>) -> Vec<Entity> {
        if self.turns.is_empty() {
            return Vec::new();
        }
        in_turn(entities.filter_map(|entity| Some((entity, self.turns.remove(&entity)?))).collect())
    }

    /// Takes all out, in the order in which they came.
    pub(super) fn take(&mut self) -> Vec<Entity> {
        in_turn(mem::take(&mut self.turns).into_iter().collect())
    }
}

fn in_turn(mut entities: Vec<(Entity, u64)>) -> Vec<Entity> {
    entities.sort_unstable_by_key(|&(_, turn)| turn);
    entities.into_iter().map(|(entity, _)| entity).collect()
}
