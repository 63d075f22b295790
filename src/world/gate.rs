//! The gate: the one place where components enter and leave pools.
//!
//! The way from `spawn`, `insert` and `remove` to here is inlined whole. A small bundle that is
//! passed on in memory is stored in pieces and loaded at once, and the wait for that costs more
//! than the insert itself.
//!
//! # Invariants
//! - **W1** – the order at the gate. Insert: value, signature, groups, note. Remove: journal, groups
//!   that it leaves, value, signature, groups that it enters, note. Listeners to a removal are
//!   called before, all others when the operation is done. Where one group owns the pool and nobody
//!   else cares, the other pools of the group move first, and it counts whom it lets in when the
//!   value is in. A storage of the user's that unwinds leaves the signature saying "maybe" at worst,
//!   never "no" for a value that is there.
//! - **W2** – no pool holds a dead entity, but for remains (`remains.rs`): whoever calls the gate has looked up the entity's word,
//!   which only a living one has.

use super::bundle::Bundle;
use super::homes::Kind;
use super::pool_box::Map;
use super::pools::{Found, Pools};
use super::react::{Event, What};
use super::tag::Tag;
use super::word::{Word, Words};
use crate::component::Component;
use crate::entity::Entity;
use crate::group::Group;
use crate::storage::Seat;

/// Lets a value in; returns the one it replaces.
///
/// In debug builds not forced into its callers: without optimisation each call that is inlined takes room on the stack for a value
/// or two, also where another branch is taken.
#[cfg_attr(debug_assertions, inline)]
#[cfg_attr(not(debug_assertions), inline(always))]
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
    let value = map.remove(entity);
    if value.is_some() {
        word.keep(tag.keep);
    }
    value
}

/// Lets a value in, behind the members of the group that owns the pool, and counts its entity as one
/// of them: the other pools of the group have brought it there.
#[cfg_attr(debug_assertions, inline)]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn admit_member<T: Component>(
    (map, tag): (&mut Map<T>, &Tag),
    group: &mut Group,
    entity: Entity,
    word: impl Word,
    value: T,
) {
    // It is no member yet: the value may unwind on its way in.
    map.insert_at(entity, value, group.end());
    word.add(tag.bit);
    group.lengthen();
}

/// Lets the value of one out who was a member of the group that owns the pool: the other pools of the
/// group have brought it behind those who stay.
#[inline(always)]
pub(super) fn release_member<T: Component>(
    (map, tag): (&mut Map<T>, &Tag),
    group: &Group,
    entity: Entity,
    word: impl Word,
) -> Option<T> {
    let value = map.remove_through(entity, group.end());
    word.keep(tag.keep);
    value
}

/// Lets out those values that `keep` refuses, and drops them one by one.
pub(super) fn retain<T: Component>(
    (map, tag): (&mut Map<T>, &Tag),
    words: Words<'_>,
    mut keep: impl FnMut(Entity, &mut T) -> bool,
) {
    map.retain(|entity, value| {
        let stays = keep(entity, value);
        if !stays {
            sign_out(words, entity, tag);
        }
        stays
    });
}

/// Lets all values out, then drops them.
pub(super) fn clear<T: Component>((map, tag): (&mut Map<T>, &Tag), words: Words<'_>) {
    for &entity in map.entities() {
        sign_out(words, entity, tag);
    }
    map.clear();
}

/// Lets all entities out and returns them; their values stay for `drop_values`.
pub(super) fn sign_all_out<T: Component>(
    (map, tag): (&mut Map<T>, &Tag),
    words: Words<'_>,
) -> Vec<Entity> {
    let lost = map.entities().to_vec();
    for &entity in &lost {
        sign_out(words, entity, tag);
    }
    map.forget_entities();
    lost
}

/// Takes the mark of a pool off an entity that is in it.
fn sign_out(words: Words<'_>, entity: Entity, tag: &Tag) {
    let word = words.find(entity).expect("W2: who is in a pool is alive");
    words.edit(word).keep(tag.keep);
}

/// The gate, opened for one living entity by somebody who has the world to himself.
///
/// Bundles pass through it; it has no public methods.
#[derive(Debug)]
pub struct Gate<'w> {
    pub(super) pools: &'w mut Pools,
    pub(super) word: &'w mut u64,
    pub(super) entity: Entity,
    /// The row of a newborn.
    seat: Seat,
    /// In a world of more types than a signature has bits: whether the entity belongs elsewhere now.
    is_changed: bool,
}

impl<'w> Gate<'w> {
    #[inline(always)]
    pub(super) fn new(pools: &'w mut Pools, word: &'w mut u64, entity: Entity) -> Self {
        Self { pools, word, entity, seat: Seat::NONE, is_changed: false }
    }

    /// Puts the components of a newborn into their pools.
    #[inline(always)]
    pub(super) fn give_birth<B: Bundle>(mut self, bundle: B) {
        if self.pools.homes.is_active() {
            let kind = self.pools.kind_of::<B>();
            self.move_in(kind);
        }
        self.fill(bundle);
    }

    /// Gives a newborn a row.
    #[inline(always)]
    pub(super) fn move_in(&mut self, kind: Kind) {
        self.seat.home = self.pools.homes.move_in(self.entity, kind);
        if self.seat.home.is_row() {
            self.seat.next = self.pools.homes.next_row(kind);
        }
    }

    /// Puts the components of a newborn, which has its row, into their pools.
    #[inline(always)]
    pub(super) fn fill<B: Bundle>(mut self, bundle: B) {
        bundle.insert(&mut self);
        if !self.seat.is_taken {
            self.pools.homes.note_unseated(self.entity);
        }
    }

    /// Notes that the entity had other components before.
    #[inline(always)]
    pub(super) fn note_change(&mut self, before: u64) {
        if self.pools.homes.is_active() {
            if !self.pools.has_codes() {
                self.pools.homes.note_change(self.entity, before, *self.word);
            } else if self.is_changed {
                self.pools.homes.note(self.entity);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn insert<T: Component>(&mut self, value: T) -> Option<T> {
        let now = self.pools.clock.now;
        let has_codes = self.pools.has_codes();
        let mut found = self.pools.found_or_created::<T>();
        let pool = found.pool();
        // Not by the word, which may not tell, and not by what is replaced, which may be of a dead entity (R2).
        if has_codes && !pool.cell.get_mut().contains(self.entity) {
            let id = pool.tag.id.index();
            self.is_changed |= found.pools_mut().homes.is_part(id);
        }
        let pool = found.pool();
        if pool.tag.needs_care {
            self.seat.is_taken &= !self.seat.home.is_row();
            return insert_with_care(found, self.entity, self.word, value);
        }
        let (map, tag) = pool.parts(now);
        let replaced = map.insert_in(self.entity, value, &mut self.seat);
        if replaced.is_none() || *self.word & tag.bit != tag.bit {
            // What is replaced is of a dead entity with the same index (R2).
            self.word.add(tag.bit);
            return None;
        }
        replaced
    }

    #[inline(always)]
    #[expect(clippy::question_mark, reason = "`?` is a call in debug builds")]
    pub(crate) fn remove<T: Component>(&mut self) -> Option<T> {
        let now = self.pools.clock.now;
        if self.pools.has_codes() {
            self.is_changed |= loses_part::<T>(self.pools, self.entity);
        }
        let Some(mut found) = self.pools.found::<T>() else { return None };
        let pool = found.pool();
        if pool.tag.needs_care {
            return remove_with_care(found, self.entity, self.word);
        }
        release(pool.parts(now), self.entity, &mut *self.word)
    }
}

// The rest takes the gate in pieces: one whose address is taken lies in memory, also where nobody
// cares.

/// Counts a component that an entity is about to lose; returns whether it says where it belongs.
#[inline(never)]
fn loses_part<T: Component>(pools: &mut Pools, entity: Entity) -> bool {
    let Some(mut found) = pools.found::<T>() else { return false };
    let pool = found.pool();
    let (id, has_it) = (pool.tag.id.index(), pool.cell.get_mut().contains(entity));
    let homes = &mut found.pools_mut().homes;
    if has_it {
        homes.note_lost(id);
    }
    has_it && homes.is_part(id)
}

/// As [`Gate::insert`], for a component that somebody cares for.
///
/// Does the common case itself: one group owns the pool, and the value goes straight to its place.
#[inline(never)]
fn insert_with_care<T: Component>(
    mut found: Found<'_, T>,
    entity: Entity,
    word: &mut u64,
    value: T,
) -> Option<T> {
    let now = found.now();
    let (pool, groups, others) = found.split();
    let Tag { bit, id, sole_owner, .. } = pool.tag;
    if let Some(owner) = sole_owner
        && *word & bit == 0
    {
        if !owner.has(*word | bit) {
            return admit(pool.parts(now), entity, word, value);
        }
        if let Some(group) = groups.get_mut(owner.number) {
            group.meet(owner, id.index() as u32, entity, others);
            admit_member(pool.parts(now), group, entity, word, value);
            return None;
        }
    }
    insert_and_tell(found, entity, word, value)
}

/// As [`insert_with_care`], whoever cares.
#[inline(never)]
fn insert_and_tell<T: Component>(
    mut found: Found<'_, T>,
    entity: Entity,
    word: &mut u64,
    value: T,
) -> Option<T> {
    let now = found.now();
    let pool = found.pool();
    let tag = pool.tag;
    let component = tag.id.index() as u32;
    let replaced = admit(pool.parts(now), entity, &mut *word, value);
    let pools = found.pools();
    if replaced.is_none() {
        pools.added(component, (entity, *word));
    }
    if tag.is_noted {
        let what = if replaced.is_some() { What::Changed } else { What::Added };
        pools.notes.push(Event { what, component, entity });
    }
    replaced
}

/// As [`Gate::remove`], for a component that somebody cares for; see [`insert_with_care`].
#[inline(never)]
fn remove_with_care<T: Component>(
    mut found: Found<'_, T>,
    entity: Entity,
    word: &mut u64,
) -> Option<T> {
    let now = found.now();
    let (pool, groups, others) = found.split();
    let Tag { bit, id, sole_owner, .. } = pool.tag;
    if let Some(owner) = sole_owner
        && *word & bit != 0
    {
        if !owner.has(*word) {
            return release(pool.parts(now), entity, word);
        }
        if let Some(group) = groups.get_mut(owner.number) {
            // Before the group is touched: the storage is told the time, and may unwind.
            let parts = pool.parts(now);
            group.shorten();
            group.meet(owner, id.index() as u32, entity, others);
            return release_member(parts, group, entity, word);
        }
    }
    remove_and_tell(found, entity, word)
}

/// As [`remove_with_care`], whoever cares.
#[inline(never)]
fn remove_and_tell<T: Component>(
    mut found: Found<'_, T>,
    entity: Entity,
    word: &mut u64,
) -> Option<T> {
    let now = found.now();
    let pool = found.pool();
    let tag = pool.tag;
    let component = tag.id.index() as u32;
    if *word & tag.bit == 0 || !pool.cell.get_mut().contains(entity) {
        return None;
    }
    if tag.is_journaled {
        pool.note_removal(entity);
    }
    let has_overtaken = pool.has_overtaken();
    pool.cell.get_mut().set_now(now);
    // From here to the end no code of the user's runs: the pool is not looked for again.
    found.pools_mut().removing(component, (entity, *word));
    let pool = found.pool();
    let value = release((pool.cell.get_mut(), &pool.tag), entity, &mut *word);
    let pools = found.pools();
    pools.removed(component, (entity, *word));
    if tag.is_noted {
        pools.notes.push(Event { what: What::Removed, component, entity });
    }
    if has_overtaken {
        pools.notes.overtaken.push(component);
        pools.notes.is_pending = true;
    }
    value
}
