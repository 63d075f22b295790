//! What a query gains from groups, without asking for it.
//!
//! A group that owns the driver says of its first entities that they lie at the same positions in
//! all pools it owns: no look-up is needed there, and no comparison. A group whose condition is part
//! of the query's says in addition that no other entity can match.

use super::survey::{Needs, Wanted};
use crate::world::World;

/// The part of a pool that groups know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefix {
    /// The pool to walk, if no entity but the first `len` of it can match.
    pub(super) only: Option<Wanted>,
    /// Entities at its front that a group of just the query's condition has.
    pub(super) len: usize,
    /// Whether all of these match.
    pub(super) is_sure: bool,
    /// Whether all of these match and lie at the same positions in every pool of the query.
    pub(super) is_whole: bool,
    /// The pools in which they lie at the same positions, as bits.
    owned: u64,
}

impl Prefix {
    /// Whether they lie at the same positions in the pool of a component.
    #[inline]
    pub(super) fn owns(&self, component: u32) -> bool {
        component < u64::BITS && self.owned & 1 << component != 0
    }
}

/// The group whose members a query is among, if there is one: the smallest.
#[inline(never)]
pub(super) fn covering(world: &World, query: Needs) -> Option<Prefix> {
    let [needs, denies] = query.masks?;
    let mut best: Option<Prefix> = None;
    for (number, condition) in world.pools().groups.conditions() {
        let Some([need, deny, owned]) = condition.masks() else { continue };
        let is_wanted = query.wanted.is_none_or(|wanted| condition.owned.contains(&wanted.id));
        if owned == 0 || need & !needs != 0 || deny & !denies != 0 || !is_wanted {
            continue;
        }
        let Some(len) = world.group_size(number) else { continue };
        if best.is_none_or(|best| len <= best.len) {
            let first = condition.owned.first().map(|&id| Wanted { id, name: "" });
            let only = query.wanted.or(first);
            let is_sure = need == needs && deny == denies && !query.has_choice;
            let is_all = (needs | denies).count_ones() as usize == query.pools;
            let is_whole = is_sure && is_all && need & !owned == 0;
            best = Some(Prefix { only, len, is_sure, is_whole, owned });
        }
    }
    let is_shorter = |prefix: &Prefix| {
        query.wanted.is_some() || query.shortest.is_none_or(|shortest| prefix.len <= shortest)
    };
    best.filter(is_shorter)
}

/// How many entities of a pool, from the front, lie at the same positions in the driver.
#[inline(never)]
pub(super) fn aligned(world: &World, driver: Option<u32>, component: u32) -> usize {
    let Some(driver) = driver else { return 0 };
    let groups = world.pools().groups.conditions();
    let own_both = groups.filter(|(_, condition)| {
        condition.owned.contains(&driver) && condition.owned.contains(&component)
    });
    own_both.filter_map(|(number, _)| world.group_size(number)).max().unwrap_or(0)
}
