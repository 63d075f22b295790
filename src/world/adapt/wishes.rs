//! Which pools are walked together, how often, and who gets his wish.

use std::collections::BTreeMap;

use super::super::pools::Pools;
use super::sweep::Sweep;

/// Entities that were walked, by the components that the walk required, in ascending order.
#[derive(Debug, Default)]
pub(super) struct Walks(BTreeMap<Box<[u32]>, u64>);

impl Walks {
    pub(super) fn count(&mut self, components: &[u32], entities: usize) {
        match self.0.get_mut(components) {
            Some(count) => *count += entities as u64,
            None => _ = self.0.insert(components.into(), entities as u64),
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Components that queries require together, and how far their pools are in order.
#[derive(Debug, Clone)]
struct Wish {
    /// In ascending order.
    ids: Box<[u32]>,
    /// Entities that were walked, the last refreshes counting most.
    heat: u64,
    sweep: Sweep,
    /// Whether somebody else has moved what the pass had seen.
    is_disturbed: bool,
    /// The stamps of the pools when the pass paused or ended; none if it has to begin.
    stamps: Vec<u64>,
    /// Whether all was in order then.
    is_done: bool,
}

/// Walks of a shorter pool are not worth a move.
const SMALL: usize = 16;

/// The share of its heat that a wish loses with each refresh.
const COOLING: u64 = 8;

/// A wish overtakes another one when it is this many times as hot: if it took less, two that are equally hot would
/// undo each other's order again and again.
const LEAD: u64 = 2;

/// All wishes, the most urgent first.
#[derive(Debug, Default)]
pub(super) struct Wishes(Vec<Wish>);

impl Wishes {
    /// Takes in what was walked since the last refresh.
    pub(super) fn learn(&mut self, mut walks: Walks) {
        for wish in &mut self.0 {
            let walked = walks.0.remove(&wish.ids).unwrap_or(0);
            wish.heat = wish.heat - wish.heat.div_ceil(COOLING) + walked;
        }
        self.0.retain(|wish| wish.heat > 0);
        let mut new: Vec<Wish> = walks.0.into_iter().map(Wish::new).collect();
        // Stable, so those that are equally hot stay in the order of their components.
        new.sort_by_key(|wish| std::cmp::Reverse(wish.heat));
        self.0.extend(new);
        for nth in 1..self.0.len() {
            let mut at = nth;
            while at > 0 && self.0[at].heat > LEAD.saturating_mul(self.0[at - 1].heat) {
                self.0.swap(at, at - 1);
                at -= 1;
            }
        }
    }

    /// Moves values as those wish who get theirs; about as many as the budget says.
    pub(super) fn fulfil(&mut self, pools: &mut Pools, mut budget: usize) {
        let mut granted: Vec<usize> = Vec::new();
        for (nth, wish) in self.0.iter().enumerate() {
            let goes_with = |&other: &usize| wish.goes_with(&self.0[other]);
            if wish.can_be_granted(pools) && granted.iter().all(goes_with) {
                granted.push(nth);
            }
        }
        // From wide to narrow: who is in all pools of a narrow wish is in those of a wide one, too, and changes places
        // in all of them alike if these are in order already. If they are not, nothing is left of the budget.
        granted.sort_by_key(|&nth| self.0[nth].ids.len());
        for nth in granted {
            self.0[nth].work(pools, &mut budget);
        }
    }
}

impl Wish {
    fn new((ids, heat): (Box<[u32]>, u64)) -> Self {
        let sweep = Sweep::default();
        Self { ids, heat, sweep, is_disturbed: false, stamps: Vec::new(), is_done: false }
    }

    /// Whether both can be had: they have no pool in common, or one wishes for all pools of the other (G2).
    fn goes_with(&self, other: &Self) -> bool {
        let is_apart = !self.ids.iter().any(|id| other.ids.binary_search(id).is_ok());
        is_apart || is_part(&self.ids, &other.ids) || is_part(&other.ids, &self.ids)
    }

    /// Whether nobody else keeps the order of a pool, and there is something to order.
    fn can_be_granted(&self, pools: &mut Pools) -> bool {
        self.ids.iter().all(|&id| {
            let pool = pools.at_mut(id as usize);
            !pool.tag().is_owned && !pool.is_sorted() && pool.map_mut().entities().len() >= SMALL
        })
    }

    /// Goes on with putting the pools in order.
    fn work(&mut self, pools: &mut Pools, budget: &mut usize) {
        if self.stamps != stamps(pools, &self.ids) {
            self.notice_change();
        }
        if self.is_done {
            return;
        }
        if self.stamps.is_empty() {
            self.begin(pools);
        }
        while self.sweep.run(pools, &self.ids, budget) {
            if !self.is_disturbed {
                self.is_done = true;
                break;
            }
            self.begin(pools);
        }
        self.stamps = stamps(pools, &self.ids);
    }

    /// Somebody has changed the pools since the last pass paused or ended.
    fn notice_change(&mut self) {
        if self.is_done {
            // A new one begins.
            (self.is_done, self.stamps) = (false, Vec::new());
        }
        self.is_disturbed = true;
    }

    fn begin(&mut self, pools: &mut Pools) {
        (self.sweep, self.is_disturbed) = (Sweep::begin(pools, &self.ids), false);
    }
}

fn stamps(pools: &mut Pools, ids: &[u32]) -> Vec<u64> {
    ids.iter().map(|&id| pools.at_mut(id as usize).map_mut().stamp()).collect()
}

/// Whether all of these are among those, both being in ascending order.
fn is_part(these: &[u32], those: &[u32]) -> bool {
    these.iter().all(|id| those.binary_search(id).is_ok())
}

/// What a world has learnt of its walks, to be known again when its pools are as they are now.
#[cfg(feature = "serde")]
#[derive(Debug, Clone, Default)]
pub(crate) struct Learnt {
    /// The number of the world.
    pub(super) of: Option<u64>,
    /// Without stamps, which mean nothing elsewhere: who has some is given those of the pools.
    wishes: Vec<Wish>,
}

#[cfg(feature = "serde")]
impl Wishes {
    pub(super) fn record(&self, pools: &Pools, of: u64) -> Learnt {
        let stamp = |&id: &u32| pools.at(id as usize).look().ok().map(|map| map.stamp());
        let mut wishes = self.0.clone();
        for wish in &mut wishes {
            let stamps: Option<Vec<u64>> = wish.ids.iter().map(stamp).collect();
            if stamps.is_none_or(|stamps| stamps != wish.stamps) {
                wish.notice_change();
            }
        }
        Learnt { of: Some(of), wishes }
    }

    pub(super) fn of(learnt: &Learnt, pools: &mut Pools) -> Self {
        let mut wishes = learnt.wishes.clone();
        for wish in wishes.iter_mut().filter(|wish| !wish.stamps.is_empty()) {
            wish.stamps = stamps(pools, &wish.ids);
        }
        Self(wishes)
    }
}
