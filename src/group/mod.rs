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
pub(crate) use registry::{Entry, GroupNumber, Groups, OfComponent, SoleOwner};

use crate::entity::Entity;
use crate::sparse::SparseSet;
use crate::storage::AnyMap;

/// The pools that a group may have to touch.
pub(crate) trait Family {
    /// The map of an owned component.
    fn map(&mut self, component: u32) -> &mut dyn AnyMap;

    /// Exchanges the position of an entity in an owned pool with another one.
    fn bring(&mut self, component: u32, entity: Entity, to: usize) {
        self.map(component).bring(entity, to);
    }

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
    /// Who has come or gone, if somebody wants to know.
    touched: Option<Touched>,
}

/// Entities that have entered or left a group.
#[derive(Debug, Default)]
struct Touched {
    entities: SparseSet,
    /// Whether it may be anybody.
    is_anybody: bool,
}

impl Group {
    pub(crate) fn new(condition: Condition) -> Self {
        Self { condition, len: 0, members: SparseSet::new(), touched: None }
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

    /// Says how many entities at the front of its pools are members: G1 is the caller's to know.
    #[cfg(feature = "serde")]
    pub(crate) fn restore_len(&mut self, len: usize) {
        debug_assert!(!self.owns_none());
        self.len = len;
    }

    /// The members of a group that owns no pool.
    pub(crate) fn members(&self) -> &[Entity] {
        self.members.as_slice()
    }

    pub(crate) fn members_mut(&mut self) -> &mut SparseSet {
        &mut self.members
    }

    /// Whether an entity is on the list of a group that owns no pool.
    pub(crate) fn holds_itself(&self, entity: Entity) -> bool {
        self.members.contains(entity)
    }

    /// Lets an entity in that fits and is not in.
    #[inline]
    pub(crate) fn enter(&mut self, entity: Entity, family: &mut impl Family) {
        self.touch(entity);
        if self.owns_none() {
            self.members.insert(entity);
            return;
        }
        for &owned in &self.condition.owned {
            family.bring(owned, entity, self.len);
        }
        self.len += 1;
    }

    /// The position behind the last member, in a group that owns a pool.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.len
    }

    /// Brings an entity to the end of the members in all owned pools but that of `component`, of
    /// which this group is the sole owner.
    #[inline(always)]
    pub(crate) fn meet(
        &self,
        owner: SoleOwner,
        component: u32,
        entity: Entity,
        mut family: impl Family,
    ) {
        debug_assert!(self.touched.is_none());
        match owner.partner {
            Some(partner) => family.bring(partner, entity, self.len),
            None => self.bring_beside(component, entity, family),
        }
    }

    /// Counts an entity as a member that has come to its place in all owned pools.
    #[inline(always)]
    pub(crate) fn lengthen(&mut self) {
        self.len += 1;
    }

    /// Takes one off the count. Positions below it are used unchecked, so it must not wrap.
    #[inline(always)]
    pub(crate) fn shorten(&mut self) {
        self.len = self.len.checked_sub(1).expect("G1: who leaves a group is a member");
    }

    /// Brings an entity to the end of the members, in all owned pools but one.
    #[inline(never)]
    fn bring_beside(&self, component: u32, entity: Entity, mut family: impl Family) {
        for &owned in &self.condition.owned {
            if owned != component {
                family.bring(owned, entity, self.len);
            }
        }
    }

    /// Lets a member out.
    #[inline]
    fn leave(&mut self, entity: Entity, family: &mut impl Family) {
        self.touch(entity);
        if self.owns_none() {
            self.members.remove(entity);
            return;
        }
        self.shorten();
        for &owned in &self.condition.owned {
            family.bring(owned, entity, self.len);
        }
    }

    /// Lets in what lies behind the members already, in every owned pool.
    pub(crate) fn grow(&mut self, count: usize) {
        debug_assert!(!self.owns_none());
        self.len += count;
        self.touch_anybody();
    }

    /// Lets all members out; their pools are being emptied.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.members.clear();
        self.touch_anybody();
    }
}

/// Who has come and gone.
impl Group {
    /// Remembers from now on who comes and goes; those who are there have come.
    pub(crate) fn watch(&mut self) {
        self.touched.get_or_insert_with(|| Touched { is_anybody: true, ..Touched::default() });
    }

    /// Whether somebody wants to know who comes and goes.
    pub(crate) fn is_watched(&self) -> bool {
        self.touched.is_some()
    }

    #[inline]
    fn touch(&mut self, entity: Entity) {
        if let Some(touched) = &mut self.touched {
            touched.entities.insert(entity);
        }
    }

    fn touch_anybody(&mut self) {
        if let Some(touched) = &mut self.touched {
            touched.is_anybody = true;
        }
    }

    /// Entities among which all are that have come or gone since the last call; `known` are the
    /// members of that time.
    pub(crate) fn take_touched(
        &mut self,
        known: &SparseSet,
        family: &mut impl Family,
    ) -> Vec<Entity> {
        let Some(touched) = &mut self.touched else { return Vec::new() };
        let is_anybody = std::mem::take(&mut touched.is_anybody);
        // Not as a set, which would have room for one version of an index only.
        let mut found = std::mem::take(&mut touched.entities).as_slice().to_vec();
        if is_anybody {
            found.extend(known.iter());
            match self.condition.owned.first() {
                Some(&owned) => {
                    found.extend(family.map(owned).entities()[..self.len].iter().copied())
                }
                None => found.extend(self.members.iter()),
            }
        }
        found
    }

    /// Whether an entity is a member.
    pub(crate) fn has(&self, entity: Entity, family: &mut impl Family) -> bool {
        match self.condition.owned.first() {
            Some(&owned) => family.map(owned).position(entity).is_some_and(|at| at < self.len),
            None => self.members.contains(entity),
        }
    }
}

/// The groups that care about a component, from wide to narrow.
pub(crate) trait GroupList {
    /// Number of groups whose members must have it.
    fn needing(&self) -> usize;

    /// Number of groups whose members must not have it.
    fn excluding(&self) -> usize;

    fn needing_at(&mut self, nth: usize) -> &mut Group;

    fn excluding_at(&mut self, nth: usize) -> &mut Group;
}

/// An entity, its signature, and what is to be known of the other components.
pub(crate) type Subject = (Entity, u64);

/// Tells the groups of a component that an entity has got it; the signature says so.
///
/// Within a chain a component is needed by some groups or excluded by some, never both, so it does
/// not matter who goes first.
#[inline]
pub(crate) fn added(
    groups: &mut impl GroupList,
    component: u32,
    (entity, signature): Subject,
    family: &mut impl Family,
) {
    for nth in 0..groups.needing() {
        let group = groups.needing_at(nth);
        // Not a member so far, because it did not have the component.
        if group.condition.fits(entity, signature, None, family) {
            group.enter(entity, family);
        }
    }
    for nth in (0..groups.excluding()).rev() {
        let group = groups.excluding_at(nth);
        // A member so far, if it fits but for the component.
        if group.condition.fits(entity, signature, Some(component), family) {
            group.leave(entity, family);
        }
    }
}

/// Tells the groups of a component that an entity is about to lose it; the signature still says
/// that it has it.
#[inline]
pub(crate) fn removing(
    groups: &mut impl GroupList,
    (entity, signature): Subject,
    family: &mut impl Family,
) {
    for nth in (0..groups.needing()).rev() {
        let group = groups.needing_at(nth);
        if group.condition.fits(entity, signature, None, family) {
            group.leave(entity, family);
        }
    }
}

/// Tells the groups of a component that an entity has lost it.
#[inline]
pub(crate) fn removed(
    groups: &mut impl GroupList,
    (entity, signature): Subject,
    family: &mut impl Family,
) {
    for nth in 0..groups.excluding() {
        let group = groups.excluding_at(nth);
        if group.condition.fits(entity, signature, None, family) {
            group.enter(entity, family);
        }
    }
}

/// Tells all groups that an entity is about to die.
pub(crate) fn dying(groups: &mut Groups, (entity, signature): Subject, family: &mut impl Family) {
    for nth in (0..groups.numbers().len()).rev() {
        let number = groups.numbers()[nth];
        let Some(group) = groups.get_mut(number) else { continue };
        if group.condition.fits(entity, signature, None, family) {
            group.leave(entity, family);
        }
    }
}

/// Tells the groups of a component that nobody has it any more: the pool is being emptied.
pub(crate) fn emptied(groups: &mut impl GroupList) {
    for nth in 0..groups.needing() {
        groups.needing_at(nth).clear();
    }
}
