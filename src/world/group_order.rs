//! The order of the members of a group.

use std::ops::Range;

use super::pools::Pools;
use crate::entity::Entity;
use crate::group::{Family, GroupNumber};

/// Members of a group that may change places among each other, and the pools that must follow.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) range: Range<usize>,
    owned: Vec<u32>,
}

impl Pools {
    /// The members of a group in parts: those of each narrower group of its chain, which have to
    /// stay in front, and the rest. `None` if there is no such group.
    pub(crate) fn parts_of(&mut self, number: GroupNumber) -> Option<Vec<Part>> {
        let condition = self.groups.get(number)?.condition.clone();
        let len = self.groups.get_mut(number)?.len();
        if condition.owned.is_empty() {
            return Some(vec![Part { range: 0..len, owned: vec![] }]);
        }
        // From the narrowest: the chain is in order, and so are its lengths.
        let chain = self.groups.conditions().filter(|(_, other)| {
            other.owned.iter().any(|id| condition.owned.contains(id))
                && other.strictness() >= condition.strictness()
        });
        let mut chain: Vec<(GroupNumber, Vec<u32>)> =
            chain.map(|(number, other)| (number, other.owned.clone())).collect();
        chain.reverse();
        let mut parts = Vec::new();
        let mut start = 0;
        for (number, owned) in chain {
            let end = self.groups.get_mut(number)?.len();
            parts.push(Part { range: start..end, owned });
            start = end;
        }
        Some(parts)
    }

    /// Brings these members of a part into this order, at the places that they have now.
    pub(crate) fn arrange(&mut self, number: GroupNumber, part: &Part, order: &[Entity]) {
        let (groups, mut family) = self.split();
        let Some(group) = groups.get_mut(number) else { return };
        if group.owns_none() {
            let members = group.members_mut();
            let places: Vec<usize> = order.iter().filter_map(|&e| members.position(e)).collect();
            return bring_all(places, order, |entity, to| {
                if let Some(at) = members.position(entity) {
                    members.swap(at, to);
                }
            });
        }
        let Some(&lead) = part.owned.first() else { return };
        let lead = family.map(lead);
        let places: Vec<usize> = order.iter().filter_map(|&e| lead.position(e)).collect();
        bring_all(places, order, |entity, to| {
            for &id in &part.owned {
                family.map(id).bring(entity, to);
            }
        });
    }
}

/// Calls `bring` with each entity of `order` and the place that is to be its own, ascending.
fn bring_all(mut places: Vec<usize>, order: &[Entity], mut bring: impl FnMut(Entity, usize)) {
    places.sort_unstable();
    for (&entity, to) in order.iter().zip(places) {
        bring(entity, to);
    }
}
