//! A naive book of ids: what [`esker::entity::Entities`] promises, in maps and vectors.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use esker::Entity;
use esker::entity::SpawnAtError;

use crate::common::id;

/// Which ids exist, which come next.
#[derive(Debug, Clone)]
pub struct Ids {
    range: Range<u32>,
    fixed: bool,
    last_version: u64,
    slots: BTreeMap<u32, Slot>,
    /// Freed indices, the last one freed at the end; may name slots that were demanded since.
    free: Vec<u32>,
    /// Indices from here on that were never used are given out in ascending order.
    fresh: u32,
    /// Every id that was ever alive.
    seen: BTreeSet<Entity>,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    living: Option<u32>,
    /// The lowest version this index may still give out by itself.
    next: u64,
    listed: bool,
}

impl Ids {
    /// Ids without limits.
    pub fn unlimited() -> Self {
        Self::new(0..Entity::MAX_INDEX, false, Entity::MAX_VERSION)
    }

    pub fn new(range: Range<u32>, fixed: bool, last_version: u32) -> Self {
        let (fresh, last_version) = (range.start, u64::from(last_version));
        let (slots, seen) = (BTreeMap::new(), BTreeSet::new());
        Self { range, fixed, last_version, slots, free: Vec::new(), fresh, seen }
    }

    pub fn is_alive(&self, entity: Entity) -> bool {
        self.at(entity.index()) == Some(entity)
    }

    pub fn at(&self, index: u32) -> Option<Entity> {
        Some(id(index, self.slots.get(&index)?.living?))
    }

    pub fn seen(&self) -> &BTreeSet<Entity> {
        &self.seen
    }

    /// The id that a spawn would give.
    pub fn peek(&self) -> Option<Entity> {
        let index = self.vacant().next()?;
        Some(id(index, self.slots.get(&index).map_or(0, |slot| slot.next as u32)))
    }

    /// How many spawns would succeed one after the other, counted up to `limit`.
    pub fn room(&self, limit: usize) -> usize {
        self.vacant().take(limit).count()
    }

    /// Indices that may be given out, in the order in which they will be.
    fn vacant(&self) -> impl Iterator<Item = u32> {
        let free = self.free.iter().rev().copied();
        let free = free.filter(|index| self.slots[index].living.is_none());
        let fresh = self.fresh..self.range.end;
        free.chain(fresh.filter(|index| !self.slots.contains_key(index)))
    }

    pub fn spawn(&mut self) -> Option<Entity> {
        let entity = self.peek();
        // Indices that were passed over are in nobody's list; they come back when they die.
        while let Some(index) = self.free.pop() {
            self.slots.get_mut(&index).expect("it was freed").listed = false;
            if entity.is_some_and(|entity| index == entity.index()) {
                return self.enter(entity);
            }
        }
        self.fresh = entity.map_or(self.range.end, |entity| entity.index() + 1);
        self.enter(entity)
    }

    /// A newborn may take over the index of a dead entity whose row it gets: then it has the id that this index gives next.
    pub fn take_over(&mut self, entity: Entity) {
        let slot = self.slots.get_mut(&entity.index()).expect("model: the index was never used");
        assert!(slot.listed && slot.living.is_none(), "model: {entity} is not free");
        assert_eq!(slot.next, u64::from(entity.version()), "model: {entity} is not the next one");
        slot.listed = false;
        self.free.retain(|&index| index != entity.index());
        self.enter(Some(entity));
    }

    /// The id that a reservation gives; if there is none, nothing is passed over.
    pub fn reserve(&mut self) -> Option<Entity> {
        self.peek().and_then(|_| self.spawn())
    }

    fn enter(&mut self, entity: Option<Entity>) -> Option<Entity> {
        let entity = entity?;
        assert!(self.seen.insert(entity), "model: {entity} would be given out twice");
        self.slots.entry(entity.index()).or_default().living = Some(entity.version());
        Some(entity)
    }

    pub fn spawn_at(&mut self, demanded: Entity) -> Result<(), SpawnAtError> {
        if let Some(living) = self.at(demanded.index()) {
            return Err(SpawnAtError::Taken { demanded, living });
        }
        if self.fixed && !self.range.contains(&demanded.index()) {
            return Err(SpawnAtError::BeyondLimit { demanded, limit: self.range.len() as u32 });
        }
        self.slots.entry(demanded.index()).or_default().living = Some(demanded.version());
        self.seen.insert(demanded);
        Ok(())
    }

    pub fn despawn(&mut self, entity: Entity) -> bool {
        if !self.is_alive(entity) {
            return false;
        }
        let is_in_range = self.range.contains(&entity.index());
        let slot = self.slots.get_mut(&entity.index()).expect("it is alive");
        slot.living = None;
        slot.next = slot.next.max(u64::from(entity.version()) + 1);
        if slot.next > self.last_version {
            slot.listed = false;
            self.free.retain(|&index| index != entity.index());
        } else if is_in_range && !slot.listed {
            slot.listed = true;
            self.free.push(entity.index());
        }
        true
    }

    pub fn clear(&mut self) {
        let living: Vec<Entity> = self.slots.keys().filter_map(|&index| self.at(index)).collect();
        for entity in living {
            self.despawn(entity);
        }
        self.free.clear();
        for (&index, slot) in self.slots.iter_mut().rev() {
            slot.listed = self.range.contains(&index) && slot.next <= self.last_version;
            if slot.listed {
                self.free.push(index);
            }
        }
    }
}
