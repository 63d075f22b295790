//! What a pool of a group needs to be edited through `&World`: the rest of the family.

use std::collections::BTreeSet;

use super::gate;
use super::pool_box::Map;
use super::pools::Pools;
use super::tag::Tag;
use super::word::{PoolWord, Word};
use super::{BorrowConflict, ComponentId, World};
use crate::access::{Key, Usage};
use crate::cell::{Read, Write};
use crate::component::Component;
use crate::entity::Entity;
use crate::group::{self, Family, Group, GroupList, SoleOwner, Subject};
use crate::storage::{AnyMap, SharedMap};

/// Guards on the groups that name a component, and on the pools they may have to touch.
///
/// Found once, for all edits: the way from an edit to them is that of the gate, see
/// [`gate`](super::gate).
pub(super) struct Lease<'w> {
    component: u32,
    /// The only group, if it is all that cares for the component; `owned` are its other pools then.
    sole_owner: Option<SoleOwner>,
    groups: LeasedGroups<'w>,
    /// Owned pools, without the component's own.
    owned: Vec<(u32, Write<'w, SharedMap>)>,
    /// Other pools of a condition that signatures do not decide.
    asked: Vec<(u32, Read<'w, SharedMap>)>,
}

impl World {
    /// What an edit of the pool of a component uses beside the pool, because of the groups that name it: what
    /// [`Pools::lease`] takes a guard on, each once.
    pub(crate) fn family(&self, id: ComponentId) -> Vec<(Key, Usage)> {
        let component = id.index() as u32;
        let groups = &self.pools.groups;
        let numbers = || groups.of(component).into_iter().flatten().copied();
        let conditions = || numbers().filter_map(|number| Some(&groups.get(number)?.condition));
        let owned = conditions().flat_map(|condition| &condition.owned).copied();
        let owned: BTreeSet<u32> = owned.filter(|&owned| owned != component).collect();
        let asked = conditions().filter(|condition| !condition.is_exact());
        let asked: BTreeSet<u32> = asked.flat_map(|condition| condition.named()).collect();
        let key = |component: u32| {
            let pool = self.pools.at(component as usize);
            Key::new(pool.component_type(), pool.name())
        };
        let mut family: Vec<(Key, Usage)> =
            numbers().map(|number| (Key::group(number), Usage::Own)).collect();
        family.extend(owned.iter().map(|&owned| (key(owned), Usage::Own)));
        let asked = asked.iter().filter(|&&asked| asked != component && !owned.contains(&asked));
        family.extend(asked.map(|&asked| (key(asked), Usage::Read)));
        family
    }
}

impl Pools {
    /// Forgets guards that were leaked on what [`lease`](Self::lease) will ask for.
    pub(super) fn unmark_family(&mut self, id: ComponentId) {
        let numbers = self.groups.of(id.index() as u32).concat();
        for number in numbers {
            let Some(entry) = self.groups.entry_mut(number) else { continue };
            entry.group.unmark();
            for component in entry.condition.named().collect::<Vec<_>>() {
                self.at_mut(component as usize).unmark();
            }
        }
    }

    /// Forgets all guards on components and groups that were leaked.
    pub(crate) fn unmark_all(&mut self) {
        for id in 0..self.len() {
            self.at_mut(id).unmark();
            self.unmark_family(self.at(id).tag().id);
        }
    }

    /// Takes the guards for a component that groups name.
    #[track_caller]
    pub(super) fn lease(&self, tag: &Tag) -> Result<Lease<'_>, BorrowConflict> {
        let (component, sole_owner) = (tag.id.index() as u32, tag.sole_owner);
        let groups = LeasedGroups { needing: vec![], excluding: vec![] };
        let mut lease = Lease { component, sole_owner, groups, owned: vec![], asked: vec![] };
        let conflict = |name| move |conflict| BorrowConflict::new(name, conflict);
        let [needing, excluding] = self.groups.of(component);
        let of = |numbers: &'_ [_]| {
            let entries = numbers.iter().filter_map(|&number| self.groups.get(number));
            entries.collect::<Vec<_>>()
        };
        let [needing, excluding] = [of(needing), of(excluding)];
        let entries = || needing.iter().chain(&excluding);
        // Pools before groups: who has a pool may rely on the groups that own it.
        for id in entries().flat_map(|entry| &entry.condition.owned).copied() {
            if id != component && !lease.owned.iter().any(|(known, _)| *known == id) {
                let pool = self.at(id as usize);
                lease.owned.push((id, pool.write().map_err(conflict(pool.name()))?));
            }
        }
        for condition in entries().map(|entry| &entry.condition).filter(|c| !c.is_exact()) {
            for id in condition.named() {
                let is_known = id == component
                    || lease.owned.iter().any(|(known, _)| *known == id)
                    || lease.asked.iter().any(|(known, _)| *known == id);
                if !is_known {
                    let pool = self.at(id as usize);
                    lease.asked.push((id, pool.read().map_err(conflict(pool.name()))?));
                }
            }
        }
        for entry in needing {
            lease.groups.needing.push(entry.group.try_write().map_err(conflict("a group"))?);
        }
        for entry in excluding {
            lease.groups.excluding.push(entry.group.try_write().map_err(conflict("a group"))?);
        }
        Ok(lease)
    }
}

impl<'w> Lease<'w> {
    /// Lets a value into the pool and its entity into the groups; returns the one it replaces.
    #[inline(always)]
    pub(super) fn admit<T: Component>(
        &mut self,
        (map, tag): (&mut Map<T>, &Tag),
        entity: Entity,
        word: PoolWord<'_>,
        value: T,
    ) -> Option<T> {
        let bits = word.bits();
        if let Some(owner) = self.sole_owner
            && bits & tag.bit == 0
        {
            if !owner.has(bits | tag.bit) {
                return gate::admit((map, tag), entity, word, value);
            }
            let group = self.meet(entity);
            gate::admit_member((map, tag), group, entity, word, value);
            return None;
        }
        self.admit_and_tell((map, tag), entity, word, value)
    }

    /// As `admit`, however many groups there are.
    #[inline(never)]
    fn admit_and_tell<T: Component>(
        &mut self,
        (map, tag): (&mut Map<T>, &Tag),
        entity: Entity,
        word: PoolWord<'_>,
        value: T,
    ) -> Option<T> {
        let replaced = gate::admit((map, tag), entity, word, value);
        if replaced.is_none() {
            let (component, groups, mut family) = self.split(map);
            group::added(groups, component, (entity, word.bits()), &mut family);
        }
        replaced
    }

    /// Lets a value, if there is one, out of the pool and its entity out of the groups.
    #[inline(always)]
    pub(super) fn release<T: Component>(
        &mut self,
        (map, tag): (&mut Map<T>, &Tag),
        entity: Entity,
        word: PoolWord<'_>,
    ) -> Option<T> {
        let bits = word.bits();
        if let Some(owner) = self.sole_owner {
            if !owner.has(bits) {
                return gate::release((map, tag), entity, word);
            }
            self.groups.needing[0].shorten();
            let group = self.meet(entity);
            return gate::release_member((map, tag), group, entity, word);
        }
        self.release_and_tell((map, tag), entity, word)
    }

    /// As `release`, however many groups there are.
    #[inline(never)]
    fn release_and_tell<T: Component>(
        &mut self,
        (map, tag): (&mut Map<T>, &Tag),
        entity: Entity,
        word: PoolWord<'_>,
    ) -> Option<T> {
        // Asked before the groups are told: a signature may say "maybe".
        if !map.contains(entity) {
            return None;
        }
        let (_, groups, mut family) = self.split(map);
        group::removing(groups, (entity, word.bits()), &mut family);
        let value = gate::release((&mut *map, tag), entity, word);
        self.removed(map, (entity, word.bits()));
        value
    }

    /// Brings an entity to the end of the members in all other pools of the only group.
    #[inline(always)]
    fn meet(&mut self, entity: Entity) -> &mut Group {
        let group = &mut *self.groups.needing[0];
        for (_, map) in &mut self.owned {
            map.bring(entity, group.end());
        }
        group
    }

    /// Tells the groups that an entity has lost the component.
    pub(super) fn removed(&mut self, own: &mut dyn AnyMap, subject: Subject) {
        let (_, groups, mut family) = self.split(own);
        group::removed(groups, subject, &mut family);
    }

    /// Tells the groups that nobody has the component any more.
    pub(super) fn emptied(&mut self) {
        group::emptied(&mut self.groups);
    }

    /// The component, its groups, and the family with `own` in it.
    fn split<'a>(
        &'a mut self,
        own: &'a mut dyn AnyMap,
    ) -> (u32, &'a mut LeasedGroups<'w>, Leased<'a, 'w>) {
        let Self { component, groups, owned, asked, .. } = self;
        (*component, groups, Leased { own: (*component, own), owned, asked })
    }
}

/// The groups of a lease, from wide to narrow.
struct LeasedGroups<'w> {
    needing: Vec<Write<'w, Group>>,
    excluding: Vec<Write<'w, Group>>,
}

impl GroupList for LeasedGroups<'_> {
    fn needing(&self) -> usize {
        self.needing.len()
    }

    fn excluding(&self) -> usize {
        self.excluding.len()
    }

    fn needing_at(&mut self, nth: usize) -> &mut Group {
        &mut self.needing[nth]
    }

    fn excluding_at(&mut self, nth: usize) -> &mut Group {
        &mut self.excluding[nth]
    }
}

/// The pools of a lease.
struct Leased<'a, 'w> {
    own: (u32, &'a mut dyn AnyMap),
    owned: &'a mut [(u32, Write<'w, SharedMap>)],
    asked: &'a [(u32, Read<'w, SharedMap>)],
}

impl Family for Leased<'_, '_> {
    fn map(&mut self, component: u32) -> &mut dyn AnyMap {
        if self.own.0 == component {
            return &mut *self.own.1;
        }
        let owned = self.owned.iter_mut().find(|(id, _)| *id == component);
        let (_, map) = owned.expect("a lease has all owned pools");
        &mut **map
    }

    fn has(&mut self, component: u32, entity: Entity) -> bool {
        match self.asked.iter().find(|(id, _)| *id == component) {
            Some((_, map)) => map.contains(entity),
            None => self.map(component).contains(entity),
        }
    }
}

impl Pools {
    /// Tells the groups of a component that an entity has got it.
    #[inline(never)]
    pub(super) fn added(&mut self, component: u32, subject: Subject) {
        let (groups, mut family) = self.split();
        let mut groups = group::OfComponent::new(groups, component);
        group::added(&mut groups, component, subject, &mut family);
    }

    /// Tells the groups of a component that an entity is about to lose it.
    #[inline(never)]
    pub(super) fn removing(&mut self, component: u32, subject: Subject) {
        let (groups, mut family) = self.split();
        group::removing(&mut group::OfComponent::new(groups, component), subject, &mut family);
    }

    /// Tells the groups of a component that an entity has lost it.
    #[inline(never)]
    pub(super) fn removed(&mut self, component: u32, subject: Subject) {
        let (groups, mut family) = self.split();
        group::removed(&mut group::OfComponent::new(groups, component), subject, &mut family);
    }

    /// Tells the groups of a component that nobody has it any more.
    pub(super) fn emptied(&mut self, component: u32) {
        group::emptied(&mut group::OfComponent::new(&mut self.groups, component));
    }

    /// Tells all groups of new entities, which have just these components and are the last of their
    /// pools, in the same order.
    pub(super) fn born(&mut self, entities: &[Entity], signature: u64) {
        let (groups, mut family) = self.split();
        for number in groups.numbers().to_vec() {
            let group = groups.get_mut(number).expect("a listed group exists");
            let Some(&first) = entities.first() else { return };
            // They are all alike.
            if !group.condition.fits(first, signature, None, &mut family) {
                continue;
            }
            let len = group.len();
            let lie_behind = |family: &mut super::pools::PoolFamily<'_>| {
                let owned = &group.condition.owned;
                owned.iter().all(|&id| family.map(id).entities().len() == len + entities.len())
            };
            if !group.owns_none() && lie_behind(&mut family) {
                group.grow(entities.len());
            } else {
                entities.iter().for_each(|&entity| group.enter(entity, &mut family));
            }
        }
    }
}
