//! The gate: the one place where components enter and leave pools.
//!
//! The way from `spawn`, `insert` and `remove` to here is inlined whole. A small bundle that is
//! passed on in memory is stored in pieces and loaded at once, and the wait for that costs more
//! than the insert itself.
//!
//! # Invariants
//! - **W1** – the order at the gate. Insert: value, signature, groups, note. Remove: journal, groups
//!   that it leaves, value, signature, groups that it enters, note. Listeners to a removal are
//!   called before, all others when the operation is done. A storage of the user's that unwinds leaves the signature saying "maybe" at worst,
//!   never "no" for a value that is there.
//! - **W2** – no pool holds a dead entity: whoever calls the gate has looked up the entity's word,
//!   which only a living one has.

use std::sync::atomic::{AtomicU64, Ordering};

use super::pool_box::Map;
use super::pools::{Pools, Tag};
use super::react::{Event, What};
use crate::component::Component;
use crate::entity::{Entities, Entity};

/// The signature of a living entity, alone with it or shared.
pub(super) trait Word {
    fn add(self, bit: u64);

    fn keep(self, mask: u64);
}

impl Word for &mut u64 {
    #[inline]
    fn add(self, bit: u64) {
        *self |= bit;
    }

    #[inline]
    fn keep(self, mask: u64) {
        *self &= mask;
    }
}

// Relaxed: a bit belongs to a pool, and whoever writes it holds the guard of that pool, which
// orders it for the next one.
impl Word for &AtomicU64 {
    #[inline]
    fn add(self, bit: u64) {
        self.fetch_or(bit, Ordering::Relaxed);
    }

    #[inline]
    fn keep(self, mask: u64) {
        self.fetch_and(mask, Ordering::Relaxed);
    }
}

/// Lets a value in; returns the one it replaces.
#[inline(always)]
pub(super) fn admit<T: Component>(
    (map, tag): (&mut Map<T>, &Tag),
    entity: Entity,
    word: impl Word,
    value: T,
) -> Option<T> {
    let replaced = map.insert(entity, value);
    if replaced.is_none() {
        word.add(tag.bit);
    }
    replaced
}

/// Lets a value out, if there is one.
#[inline(always)]
pub(super) fn release<T: Component>(
    (map, tag): (&mut Map<T>, &Tag),
    entity: Entity,
    word: impl Word,
) -> Option<T> {
    let value = map.remove(entity)?;
    word.keep(tag.keep);
    Some(value)
}

/// Lets out those values that `keep` refuses, and drops them one by one.
pub(super) fn retain<T: Component>(
    (map, tag): (&mut Map<T>, &Tag),
    entities: &Entities,
    mut keep: impl FnMut(Entity, &mut T) -> bool,
) {
    map.retain(|entity, value| {
        let stays = keep(entity, value);
        if !stays {
            sign_out(entities, entity, tag);
        }
        stays
    });
}

/// Lets all values out, then drops them.
pub(super) fn clear<T: Component>((map, tag): (&mut Map<T>, &Tag), entities: &Entities) {
    for &entity in map.entities() {
        sign_out(entities, entity, tag);
    }
    map.clear();
}

/// Lets all entities out and returns them; their values stay for `drop_values`.
pub(super) fn sign_all_out<T: Component>(
    (map, tag): (&mut Map<T>, &Tag),
    entities: &Entities,
) -> Vec<Entity> {
    let lost = map.entities().to_vec();
    for &entity in &lost {
        sign_out(entities, entity, tag);
    }
    map.forget_entities();
    lost
}

/// Takes the mark of a pool off an entity that is in it.
fn sign_out(entities: &Entities, entity: Entity, tag: &Tag) {
    entities.word(entity).expect("W2: who is in a pool is alive").keep(tag.keep);
}

/// The gate, opened for one living entity by somebody who has the world to himself.
///
/// Bundles pass through it; it has no public methods.
#[derive(Debug)]
pub struct Gate<'w> {
    pub(super) pools: &'w mut Pools,
    pub(super) word: &'w mut u64,
    pub(super) entity: Entity,
}

impl Gate<'_> {
    /// The same gate, to be passed on. By value, because a gate whose address is taken lies in memory,
    /// also where nobody cares.
    #[inline(always)]
    fn again(&mut self) -> Gate<'_> {
        Gate { pools: &mut *self.pools, word: &mut *self.word, entity: self.entity }
    }

    #[inline(always)]
    pub(crate) fn insert<T: Component>(&mut self, value: T) -> Option<T> {
        let now = self.pools.clock.now;
        let pool = self.pools.get_or_create::<T>();
        if pool.tag.needs_care {
            return match pool.tag.is_watched() {
                true => self.again().insert_with_care(value),
                false => self.again().insert_grouped(value),
            };
        }
        admit(pool.parts(now), self.entity, &mut *self.word, value)
    }

    /// As `insert`, for a component that somebody watches.
    #[cold]
    #[inline(never)]
    fn insert_with_care<T: Component>(mut self, value: T) -> Option<T> {
        let (entity, now) = (self.entity, self.pools.clock.now);
        let pool = self.pools.get_mut::<T>()?;
        let tag = pool.tag;
        let replaced = match tag.is_grouped {
            true => self.again().insert_grouped(value),
            false => admit(pool.parts(now), entity, &mut *self.word, value),
        };
        if tag.is_noted {
            let what = if replaced.is_some() { What::Changed } else { What::Added };
            self.pools.notes.push(Event { what, component: tag.id.index() as u32, entity });
        }
        replaced
    }

    /// As `remove`, for a component that somebody watches.
    #[cold]
    #[inline(never)]
    fn remove_with_care<T: Component>(mut self) -> Option<T> {
        let (entity, now) = (self.entity, self.pools.clock.now);
        let pool = self.pools.get_mut::<T>()?;
        let tag = pool.tag;
        if tag.is_journaled {
            pool.note_removal(entity);
        }
        let value = match tag.is_grouped {
            true => self.again().remove_grouped(),
            false => release(pool.parts(now), entity, &mut *self.word),
        };
        if tag.is_noted && value.is_some() {
            let component = tag.id.index() as u32;
            self.pools.notes.push(Event { what: What::Removed, component, entity });
        }
        if tag.is_journaled && self.pools.get_mut::<T>()?.has_overtaken() {
            self.pools.notes.overtaken.push(tag.id.index() as u32);
            self.pools.notes.is_pending = true;
        }
        value
    }

    /// As `insert`, for a component that a group names.
    #[inline(never)]
    fn insert_grouped<T: Component>(self, value: T) -> Option<T> {
        let (entity, word, now) = (self.entity, &mut *self.word, self.pools.clock.now);
        let (groups, mut family) = self.pools.split();
        let pool = family.get_mut::<T>()?;
        let (bit, component) = (pool.tag.bit, pool.tag.id.index() as u32);
        // The common case at once: it has no such value, and goes straight to its place.
        if *word & bit == 0
            && let Some(number) = pool.tag.sole_owner
            && let Some(group) = groups.get_mut(number)
            && let Some(enters) = group.condition.decide(*word | bit)
        {
            if enters {
                pool.parts(now).0.insert_at(entity, value, group.len());
                word.add(bit);
                group.enter_beside(component, entity, &mut family);
            } else {
                admit(pool.parts(now), entity, word, value);
            }
            return None;
        }
        let replaced = admit(pool.parts(now), entity, &mut *word, value);
        if replaced.is_none() {
            self.pools.added(component, (entity, *self.word));
        }
        replaced
    }

    #[inline(always)]
    pub(crate) fn remove<T: Component>(&mut self) -> Option<T> {
        let now = self.pools.clock.now;
        let pool = self.pools.get_mut::<T>()?;
        if pool.tag.needs_care {
            return match pool.tag.is_watched() {
                true => self.again().remove_with_care(),
                false => self.again().remove_grouped(),
            };
        }
        release(pool.parts(now), self.entity, &mut *self.word)
    }

    #[inline(never)]
    fn remove_grouped<T: Component>(self) -> Option<T> {
        let (entity, word, now) = (self.entity, &mut *self.word, self.pools.clock.now);
        let (groups, mut family) = self.pools.split();
        let pool = family.get_mut::<T>()?;
        let (bit, is_exact) = pool.tag.bit();
        let has = *word & bit != 0 && (is_exact || pool.cell.get_mut().contains(entity));
        if !has {
            return None;
        }
        let component = pool.tag.id.index() as u32;
        if let Some(number) = pool.tag.sole_owner
            && let Some(group) = groups.get_mut(number)
            && let Some(leaves) = group.condition.decide(*word)
        {
            if !leaves {
                return release(pool.parts(now), entity, word);
            }
            let end = group.leave_beside(component, entity, &mut family);
            let (map, tag) = family.get_mut::<T>()?.parts(now);
            let value = map.remove_through(entity, end);
            word.keep(tag.keep);
            return value;
        }
        self.pools.removing(component, (self.entity, *self.word));
        let value = release(self.pools.get_mut::<T>()?.parts(now), self.entity, &mut *self.word);
        self.pools.removed(component, (self.entity, *self.word));
        value
    }
}
