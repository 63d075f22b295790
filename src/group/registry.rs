//! The groups of a world.

use super::{Condition, Group, GroupList};
use crate::cell::Cell;

/// Number of a group in its world; given out once.
pub(crate) type GroupNumber = u32;

/// All groups.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// By number; `None` for one that is no more.
    list: Vec<Option<Entry>>,
    /// Numbers of all groups, from wide to narrow.
    order: Vec<GroupNumber>,
    /// For each component the groups that name it.
    by_component: Vec<Named>,
    /// Counts groups that were made or dissolved, or whose members signatures no longer decide.
    changes: u64,
}

/// The groups that name a component, from wide to narrow.
#[derive(Debug, Default)]
struct Named {
    needing: Vec<GroupNumber>,
    excluding: Vec<GroupNumber>,
}

/// A group, and its condition, which changes only with the whole world in hand and can be read
/// while the group is being edited.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) condition: Condition,
    pub(crate) group: Cell<Group>,
}

/// The one group that names a component and owns it, with what decides who is a member.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SoleOwner {
    pub(crate) number: GroupNumber,
    /// Signature bits of what its members have, and of all that it names.
    need: u64,
    named: u64,
    /// The other component that it owns, if it owns two.
    pub(crate) partner: Option<u32>,
}

impl SoleOwner {
    /// Whether an entity with this signature is a member, or is to be one.
    #[inline]
    pub(crate) fn has(self, signature: u64) -> bool {
        signature & self.named == self.need
    }
}

impl Groups {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The group with this number.
    pub(crate) fn get(&self, number: GroupNumber) -> Option<&Entry> {
        self.list.get(number as usize)?.as_ref()
    }

    pub(crate) fn entry_mut(&mut self, number: GroupNumber) -> Option<&mut Entry> {
        self.list.get_mut(number as usize)?.as_mut()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: GroupNumber) -> Option<&mut Group> {
        Some(self.entry_mut(number)?.group.get_mut())
    }

    /// The group that owns a component, if no other one names it, signatures decide, and nobody
    /// watches who comes and goes.
    pub(crate) fn sole_owner(&mut self, component: u32) -> Option<SoleOwner> {
        let [&[number], []] = self.of(component) else { return None };
        let group = self.get_mut(number).filter(|group| !group.is_watched())?;
        let condition = &group.condition;
        let (need, named) = condition.decisive()?;
        let partner = match condition.owned[..] {
            [first, second] if first == component => Some(second),
            [first, second] if second == component => Some(first),
            _ => None,
        };
        let is_owner = condition.owned.contains(&component);
        is_owner.then_some(SoleOwner { number, need, named, partner })
    }

    /// Numbers of all groups, from wide to narrow.
    pub(crate) fn numbers(&self) -> &[GroupNumber] {
        &self.order
    }

    /// Numbers of the groups that need a component, from wide to narrow, and of those that exclude
    /// it.
    #[inline]
    pub(crate) fn of(&self, component: u32) -> [&[GroupNumber]; 2] {
        match self.by_component.get(component as usize) {
            Some(named) => [&named.needing, &named.excluding],
            None => [&[], &[]],
        }
    }

    /// All groups, from wide to narrow.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.order.iter().filter_map(|&number| self.get(number))
    }

    /// Numbers and conditions of all groups, from wide to narrow.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = (GroupNumber, &Condition)> {
        self.order.iter().filter_map(|&number| Some((number, &self.get(number)?.condition)))
    }

    /// Whether a group owns a component.
    pub(crate) fn is_owned(&self, component: u32) -> bool {
        self.conditions().any(|(_, condition)| condition.owned.contains(&component))
    }

    /// The group with just this condition.
    pub(crate) fn find(&self, condition: &Condition) -> Option<GroupNumber> {
        self.conditions().find(|(_, other)| *other == condition).map(|(number, _)| number)
    }

    /// The group that a new one cannot stand beside, and a component that both own.
    pub(crate) fn clash(&self, condition: &Condition) -> Option<(&Condition, u32)> {
        self.conditions().find_map(|(_, other)| Some((other, condition.clash(other)?)))
    }

    /// Takes in a group without members.
    pub(crate) fn add(&mut self, condition: Condition) -> GroupNumber {
        let number = self.list.len() as GroupNumber;
        let group = Cell::new(Group::new(condition.clone()));
        self.list.push(Some(Entry { condition, group }));
        self.sort();
        number
    }

    /// The conditions by number; `None` for a group that is no more.
    #[cfg(feature = "serde")]
    pub(crate) fn by_number(&self) -> impl Iterator<Item = Option<&Condition>> {
        self.list.iter().map(|entry| entry.as_ref().map(|entry| &entry.condition))
    }

    /// Takes in a group, or leaves its number out.
    #[cfg(feature = "serde")]
    pub(crate) fn add_or_skip(&mut self, condition: Option<&Condition>) {
        match condition {
            Some(condition) => _ = self.add(condition.clone()),
            None => self.list.push(None),
        }
    }

    /// Forgets a group; `false` if there is none with this number.
    pub(crate) fn remove(&mut self, number: GroupNumber) -> bool {
        let removed = self.list.get_mut(number as usize).and_then(Option::take).is_some();
        self.sort();
        removed
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Makes the lists of numbers anew.
    fn sort(&mut self) {
        self.changes += 1;
        let existing = (0..).zip(&self.list).filter_map(|(number, entry)| {
            entry.as_ref().map(|entry| (entry.condition.strictness(), number))
        });
        let mut order: Vec<((usize, usize), GroupNumber)> = existing.collect();
        order.sort_unstable();
        self.order = order.into_iter().map(|(_, number)| number).collect();
        let conditions = || self.conditions().map(|(_, condition)| condition);
        let highest = conditions().flat_map(Condition::named).max();
        let mut by_component: Vec<Named> = Vec::new();
        by_component.resize_with(highest.map_or(0, |id| id as usize + 1), Named::default);
        for (number, condition) in self.conditions() {
            for component in condition.needed() {
                by_component[component as usize].needing.push(number);
            }
            for &component in &condition.excluded {
                by_component[component as usize].excluding.push(number);
            }
        }
        self.by_component = by_component;
    }

    /// Lets all members of all groups out: the world is being emptied.
    pub(crate) fn clear_members(&mut self) {
        for entry in self.list.iter_mut().flatten() {
            entry.group.get_mut().clear();
        }
    }

    /// Reads the signature bits of all conditions again.
    pub(crate) fn read_bits(&mut self, bit: impl Fn(u32) -> (u64, bool)) {
        for entry in self.list.iter_mut().flatten() {
            let was_exact = entry.condition.is_exact();
            entry.condition.read_bits(&bit);
            entry.group.get_mut().condition.read_bits(&bit);
            // From now on an edit of one of its pools asks others.
            self.changes += u64::from(was_exact != entry.condition.is_exact());
        }
    }
}

/// The groups that name a component, looked up once for a change of it.
#[derive(Debug)]
pub(crate) struct OfComponent<'a> {
    list: &'a mut [Option<Entry>],
    needing: &'a [GroupNumber],
    excluding: &'a [GroupNumber],
}

impl<'a> OfComponent<'a> {
    #[inline]
    pub(crate) fn new(groups: &'a mut Groups, component: u32) -> Self {
        let Groups { list, by_component, .. } = groups;
        match by_component.get(component as usize) {
            Some(Named { needing, excluding }) => Self { list, needing, excluding },
            None => Self { list, needing: &[], excluding: &[] },
        }
    }

    #[inline]
    fn group(list: &mut [Option<Entry>], number: GroupNumber) -> &mut Group {
        list[number as usize].as_mut().expect("a listed group exists").group.get_mut()
    }
}

impl GroupList for OfComponent<'_> {
    #[inline]
    fn needing(&self) -> usize {
        self.needing.len()
    }

    #[inline]
    fn excluding(&self) -> usize {
        self.excluding.len()
    }

    #[inline]
    fn needing_at(&mut self, nth: usize) -> &mut Group {
        Self::group(self.list, self.needing[nth])
    }

    #[inline]
    fn excluding_at(&mut self, nth: usize) -> &mut Group {
        Self::group(self.list, self.excluding[nth])
    }
}
