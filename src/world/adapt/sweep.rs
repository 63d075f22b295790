//! Brings the entities that have all of some components to the front of their pools, a few at a time.

use super::super::pools::Pools;
use crate::entity::Entity;
use crate::sparse::common_prefix;

/// Where a pass through some pools is.
///
/// Entities in front of `at` are the same in all pools, and from `tail` on the lead has none that is in all: if
/// nobody else has moved any since the pass began.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sweep {
    /// The pool that is walked: the shortest.
    lead: usize,
    at: usize,
    tail: usize,
}

impl Sweep {
    /// A pass from the front on, through at least one pool.
    pub(super) fn begin(pools: &mut Pools, ids: &[u32]) -> Self {
        let lead = lead(pools, ids);
        Self { lead, at: 0, tail: members(pools, lead).len() }
    }

    /// Goes on until all is in order, or the budget is used up; says which.
    pub(super) fn run(&mut self, pools: &mut Pools, ids: &[u32], budget: &mut usize) -> bool {
        // The one that is walked must be the shortest: all others have a place there.
        if self.lead != lead(pools, ids) {
            *self = Self::begin(pools, ids);
        }
        self.tail = self.tail.min(members(pools, self.lead).len());
        let mut places = Vec::with_capacity(ids.len());
        while self.at < self.tail {
            if *budget == 0 {
                return false;
            }
            let here = members(pools, self.lead)[self.at];
            if !find(pools, ids, here, &mut places) {
                *budget -= 1;
                match self.find_last(pools, ids, budget, &mut places) {
                    Last::Found => {}
                    Last::Nobody => return true,
                    Last::TooFar => return false,
                }
            }
            let moved = bring(pools, ids, &places, self.at);
            *budget = budget.saturating_sub(moved);
            self.at += 1;
            if moved == 0 {
                self.at += alike(pools, ids, self.lead, self.at);
            }
        }
        true
    }

    /// Finds the last entity of the lead that is in all pools. It is to change places with one that is not, so the
    /// number of moves is that of those who stand in the way, and not of all behind them.
    fn find_last(
        &mut self,
        pools: &mut Pools,
        ids: &[u32],
        budget: &mut usize,
        places: &mut Vec<usize>,
    ) -> Last {
        while self.at + 1 < self.tail {
            self.tail -= 1;
            let candidate = members(pools, self.lead)[self.tail];
            if find(pools, ids, candidate, places) {
                return Last::Found;
            }
            // Only now: however small the budget is, there is some progress.
            if *budget == 0 {
                return Last::TooFar;
            }
            *budget -= 1;
        }
        Last::Nobody
    }
}

enum Last {
    Found,
    Nobody,
    /// The budget was used up before.
    TooFar,
}

/// The shortest pool; of several, the one that the world knew first.
fn lead(pools: &mut Pools, ids: &[u32]) -> usize {
    let len = |&id: &usize| (members(pools, id).len(), id);
    ids.iter().map(|&id| id as usize).min_by_key(len).expect("a wish names components")
}

fn members(pools: &mut Pools, id: usize) -> &[Entity] {
    pools.at_mut(id).map_mut().entities()
}

/// Looks for an entity in all pools; says whether it is in all, and where.
fn find(pools: &mut Pools, ids: &[u32], entity: Entity, places: &mut Vec<usize>) -> bool {
    places.clear();
    let found = ids.iter().map_while(|&id| pools.at_mut(id as usize).map_mut().position(entity));
    places.extend(found);
    places.len() == ids.len()
}

/// Brings what is at these places to one position; says how many were elsewhere.
fn bring(pools: &mut Pools, ids: &[u32], places: &[usize], to: usize) -> usize {
    let mut moved = 0;
    for (&id, &from) in ids.iter().zip(places) {
        if from != to {
            pools.at_mut(id as usize).map_mut().swap(from, to);
            moved += 1;
        }
    }
    moved
}

/// How many entities are the same in all pools from a position on.
fn alike(pools: &Pools, ids: &[u32], lead: usize, at: usize) -> usize {
    // Who cannot be looked at has leaked a guard; then they are compared one by one.
    let Ok(lead) = pools.at(lead).look() else { return 0 };
    let Some(rest) = lead.entities().get(at..) else { return 0 };
    let with_lead = |&id: &u32| match pools.at(id as usize).look() {
        Ok(other) => other.entities().get(at..).map_or(0, |other| common_prefix(rest, other)),
        Err(_) => 0,
    };
    ids.iter().map(with_lead).min().unwrap_or(0)
}
