//! A map and a plain list that does the same, side by side.

use super::Specimen;
use super::places::check_places;
use crate::entity::Entity;
use crate::storage::{EntityMap, Storage};

/// The map under test and its model; every operation is done to both and compared.
pub(super) struct Twin<T: Specimen, S: Storage<T>> {
    pub(super) map: EntityMap<T, S>,
    /// Entities and the numbers of their values, in packed order.
    pub(super) model: Vec<(Entity, u32)>,
    next: u32,
}

/// The id with these halves.
pub(super) fn id(index: u32, version: u32) -> Entity {
    Entity::new(index, version).expect("the halves are in range")
}

impl<T: Specimen, S: Storage<T>> Twin<T, S> {
    pub(super) fn new() -> Self {
        Self { map: EntityMap::default(), model: Vec::new(), next: 1 }
    }

    /// A twin of the entities `0v0` to `(len - 1)v0`, in this order.
    pub(super) fn of_len(len: u32) -> Self {
        let mut twin = Self::new();
        for index in 0..len {
            twin.insert(id(index, 0));
        }
        twin
    }

    fn next_number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    #[track_caller]
    pub(super) fn insert(&mut self, entity: Entity) {
        let value = T::new(self.next_number());
        let number = value.number();
        // Another version of the index gives up its place and its value.
        let known = self.model.iter_mut().find(|(e, _)| e.index() == entity.index());
        let expected = match known {
            Some(known) => Some(std::mem::replace(known, (entity, number)).1),
            None => {
                self.model.push((entity, number));
                None
            }
        };

        let replaced = self.map.insert(entity, value).map(|value| value.number());

        assert_eq!(replaced, expected, "insert of {entity} replaced the wrong value");
    }

    #[track_caller]
    pub(super) fn remove(&mut self, entity: Entity) {
        let at = self.model.iter().position(|&(e, _)| e == entity);
        let expected = at.map(|at| self.model.swap_remove(at).1);

        let removed = self.map.remove(entity).map(|value| value.number());

        assert_eq!(removed, expected, "remove of {entity} gave the wrong value");
    }

    #[track_caller]
    pub(super) fn renumber(&mut self, entity: Entity) {
        let number = T::new(self.next_number()).number();
        let value = self.map.get_mut(entity);
        let known = self.model.iter_mut().find(|(e, _)| *e == entity);
        assert_eq!(value.is_some(), known.is_some(), "get_mut of {entity}");
        if let (Some(value), Some(known)) = (value, known) {
            value.renumber(number);
            known.1 = number;
        }
    }

    pub(super) fn renumber_all(&mut self) {
        let first = self.next_number();
        for ((at, (_, value)), known) in self.map.iter_mut().enumerate().zip(&mut self.model) {
            value.renumber(first + at as u32);
            known.1 = value.number();
        }
        self.next = first + self.model.len() as u32;
    }

    pub(super) fn swap(&mut self, a: usize, b: usize) {
        self.map.swap(a, b);
        self.model.swap(a, b);
    }

    pub(super) fn retain(&mut self, keep: impl Fn(Entity) -> bool) {
        self.map.retain(|entity, _| keep(entity));
        let mut at = 0;
        while at < self.model.len() {
            if keep(self.model[at].0) {
                at += 1;
            } else {
                self.model.swap_remove(at);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.map.clear();
        self.model.clear();
    }

    /// Compares everything that can be seen of the map with the model.
    #[track_caller]
    pub(super) fn agree(&self) {
        let entities: Vec<Entity> = self.model.iter().map(|&(entity, _)| entity).collect();
        assert_eq!(self.map.set().check(), Ok(()));
        assert_eq!(self.map.entities(), entities, "the packed order differs");
        assert_eq!(self.map.len(), entities.len());
        assert_eq!(self.map.is_empty(), entities.is_empty());
        check_places(&self.map);
        for &(entity, number) in &self.model {
            let found = self.map.get(entity).map(|value| value.number());
            assert_eq!(found, Some(number), "P1: {entity} has not its own value");
        }
        let walked = self.map.iter().map(|(entity, value)| (entity, value.number()));
        assert!(walked.eq(self.model.iter().copied()), "P1: iter and get differ");
    }
}
