//! Groups: entities that have several components, kept together at the front of their pools.
//!
//! A group *owns* some pools, *observes* others and *excludes* others. Its members have all owned
//! and observed components and none of the excluded ones. They are the first entities of each
//! owned pool, in the same order. The module knows no component type; it is told of every change
//! by the gate, and swaps through the erased faces of the pools.
//!
//! # Invariants
//! - **G1** – the first `len` entities of all pools owned by a group are equal, in equal order, and
//!   are exactly its members.
//! - **G2** – groups that own a common pool form a chain: each one's condition includes the next
//!   wider one's, and so do its owned pools.
//! - **G3** – an entity enters groups from wide to narrow after the value is in, and leaves them from
//!   narrow to wide before the value goes.

mod condition;
mod registry;

pub(crate) use condition::{Clash, Condition};
pub(crate) use registry::{All, GroupNumber, Groups, OfComponent};

use crate::entity::Entity;
use crate::sparse::SparseSet;
use crate::storage::AnyMap;

/// The pools that a group may have to touch.
pub(crate) trait Family {
    /// The map of an owned component.
    fn map(&mut self, component: u32) -> &mut dyn AnyMap;

    /// Whether an entity has a component, when its signature does not say so for certain.
    fn has(&mut self, component: u32, entity: Entity) -> bool;
}

/// A group.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) condition: Condition,
    /// Number of members, if it owns a pool.
    len: usize,
    /// The members, if it owns none.
    members: SparseSet,
}

impl Group {
    pub(crate) fn new(condition: Condition) -> Self {
        Self { condition, len: 0, members: SparseSet::new() }
    }

    /// Number of members.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        if self.owns_none() { self.members.len() } else { self.len }
    }

    /// Whether it keeps its members in a list of its own.
    #[inline]
    pub(crate) fn owns_none(&self) -> bool {
        self.condition.owned.is_empty()
    }

    /// The members of a group that owns no pool.
    pub(crate) fn members(&self) -> &[Entity] {
        self.members.as_slice()
    }

    pub(crate) fn members_mut(&mut self) -> &mut SparseSet {
        &mut self.members
    }

    /// Whether an entity is a member.
    #[inline]
    fn holds(&self, entity: Entity, family: &mut impl Family) -> bool {
        match self.condition.owned.first() {
            None => self.members.contains(entity),
            Some(&lead) => family.map(lead).position(entity).is_some_and(|at| at < self.len),
        }
    }

    /// Whether an entity is on the list of a group that owns no pool.
    pub(crate) fn holds_itself(&self, entity: Entity) -> bool {
        self.members.contains(entity)
    }

    /// Lets an entity in that fits and is not in.
    #[inline]
    pub(crate) fn enter(&mut self, entity: Entity, family: &mut impl Family) {
        if self.owns_none() {
            self.members.insert(entity);
            return;
        }
        for &owned in &self.condition.owned {
            family.map(owned).bring(entity, self.len);
        }
        self.len += 1;
    }

    /// Lets a member out.
    #[inline]
    fn leave(&mut self, entity: Entity, family: &mut impl Family) {
        if self.owns_none() {
            self.members.remove(entity);
            return;
        }
        self.len -= 1;
        for &owned in &self.condition.owned {
            family.map(owned).bring(entity, self.len);
        }
    }

    /// Lets in what lies behind the members already, in every owned pool.
    pub(crate) fn grow(&mut self, count: usize) {
        debug_assert!(!self.owns_none());
        self.len += count;
    }

    /// Lets all members out; their pools are being emptied.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.members.clear();
    }
}

/// Some groups, from wide to narrow.
pub(crate) trait GroupList {
    fn len(&self) -> usize;

    fn at(&mut self, nth: usize) -> &mut Group;
}

/// Tells the groups of a component that an entity has got it.
///
/// Within a chain a component is needed by some groups or excluded by some, never both, so it does
/// not matter who goes first.
#[inline]
pub(crate) fn added(
    groups: &mut impl GroupList,
    (component, entity, signature): (u32, Entity, u64),
    family: &mut impl Family,
) {
    for nth in 0..groups.len() {
        let group = groups.at(nth);
        let enters = !group.condition.excludes(component)
            && group.condition.fits(entity, signature, family)
            && !group.holds(entity, family);
        if enters {
            group.enter(entity, family);
        }
    }
    for nth in (0..groups.len()).rev() {
        let group = groups.at(nth);
        if group.condition.excludes(component) && group.holds(entity, family) {
            group.leave(entity, family);
        }
    }
}

/// Tells the groups of a component that an entity is about to lose it.
#[inline]
pub(crate) fn removing(
    groups: &mut impl GroupList,
    (component, entity): (u32, Entity),
    family: &mut impl Family,
) {
    for nth in (0..groups.len()).rev() {
        let group = groups.at(nth);
        if !group.condition.excludes(component) && group.holds(entity, family) {
            group.leave(entity, family);
        }
    }
}

/// Tells the groups of a component that an entity has lost it.
#[inline]
pub(crate) fn removed(
    groups: &mut impl GroupList,
    (component, entity, signature): (u32, Entity, u64),
    family: &mut impl Family,
) {
    for nth in 0..groups.len() {
        let group = groups.at(nth);
        if group.condition.excludes(component) && group.condition.fits(entity, signature, family) {
            group.enter(entity, family);
        }
    }
}

/// Tells groups that an entity is about to die.
pub(crate) fn dying(
    groups: &mut impl GroupList,
    (entity, signature): (Entity, u64),
    family: &mut impl Family,
) {
    for nth in (0..groups.len()).rev() {
        let group = groups.at(nth);
        if group.condition.may_fit(signature) && group.holds(entity, family) {
            group.leave(entity, family);
        }
    }
}

/// Tells the groups of a component that nobody has it any more: the pool is being emptied.
pub(crate) fn emptied(groups: &mut impl GroupList, component: u32) {
    for nth in 0..groups.len() {
        let group = groups.at(nth);
        if !group.condition.excludes(component) {
            group.clear();
        }
    }
}
