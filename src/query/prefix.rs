//! What a query gains from groups, without asking for it.
//!
//! A group that owns the driver says of its first entities that they lie at the same positions in
//! all pools it owns: no look-up is needed there, and no comparison. A group whose condition is part
//! of the query's says in addition that no other entity can match.

use super::opening::Opening;
use super::survey::{Needs, Wanted};
use crate::group::Entry;

/// The part of a pool that groups know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefix {
    /// The pool to walk: no entity but the first `len` of it can match.
    pub(super) only: Wanted,
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
        has(self.owned, component)
    }
}

/// Whether a component is among those of a mask.
#[inline]
fn has(mask: u64, component: u32) -> bool {
    component < u64::BITS && mask & 1 << component != 0
}

/// The group whose members a query is among, if there is one: the smallest.
#[inline(never)]
pub(super) fn covering(opening: Opening<'_>, query: Needs) -> Option<Prefix> {
    let [needs, denies] = query.masks?;
    let mut best: Option<(usize, [u64; 3])> = None;
    for entry in opening.world.pools().groups.entries() {
        let Some(masks @ [need, deny, owned]) = entry.condition.masks() else { continue };
        let is_wanted = query.wanted.is_none_or(|wanted| has(owned, wanted.id()));
        if owned == 0 || need & !needs != 0 || deny & !denies != 0 || !is_wanted {
            continue;
        }
        let Some(len) = size(opening, entry) else { continue };
        if best.is_none_or(|(least, _)| len <= least) {
            best = Some((len, masks));
        }
    }
    let (len, [need, deny, owned]) = best?;
    let is_longer = query.shortest.is_some_and(|(_, shortest)| shortest < len);
    if query.wanted.is_none() && is_longer {
        return None;
    }
    // The shortest pool, if it is one of them: then it need not be looked for again.
    let shortest = query.shortest.map(|(id, _)| id).filter(|&id| has(owned, id));
    let id = shortest.unwrap_or_else(|| owned.trailing_zeros());
    let only = query.wanted.unwrap_or(Wanted::Known(id));
    let is_sure = need == needs && deny == denies && !query.has_choice;
    let is_all = (needs | denies).count_ones() as usize == query.pools;
    let is_whole = is_sure && is_all && need & !owned == 0;
    Some(Prefix { only, len, is_sure, is_whole, owned })
}

/// How many entities of a pool, from the front, lie at the same positions in the driver.
#[inline(never)]
pub(super) fn aligned(opening: Opening<'_>, driver: Option<u32>, component: u32) -> usize {
    let Some(driver) = driver else { return 0 };
    let groups = opening.world.pools().groups.entries();
    let own_both = groups.filter(|Entry { condition, .. }| {
        condition.owned.contains(&driver) && condition.owned.contains(&component)
    });
    own_both.filter_map(|entry| size(opening, entry)).max().unwrap_or(0)
}

/// Number of members of a group of which the query has borrowed an owned pool, so that nobody can be
/// changing it.
#[inline]
fn size(opening: Opening<'_>, entry: &Entry) -> Option<usize> {
    Some(opening.read(&entry.group).ok()?.len())
}
