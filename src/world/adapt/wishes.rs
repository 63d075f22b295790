//! Which pools are walked together, how often, and who gets his wish.

use std::collections::BTreeMap;

use super::super::pools::Pools;
use super::sweep::Sweep;

/// Entities that were walked, by the components that the walk required, in ascending order. Those that are walked in
/// every step keep their place, so that counting them allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Walks(BTreeMap<Box<[u32]>, u64>);

impl Walks {
    pub(super) fn count(&mut self, components: &[u32], entities: usize) {
        match self.0.get_mut(components) {
            Some(count) => *count += entities as u64,
            None => _ = self.0.insert(components.into(), entities as u64),
        }
    }

    /// Forgets what was counted.
    pub(super) fn clear(&mut self) {
        self.0.values_mut().for_each(|count| *count = 0);
    }

    /// What was counted for these components; from now on, nothing was.
    fn take(&mut self, components: &[u32]) -> u64 {
        self.0.get_mut(components).map_or(0, std::mem::take)
    }
}

/// Components that queries require together, and how far their pools are in order.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    /// In ascending order.
    ids: Box<[u32]>,
    /// Entities that were walked, the last refreshes counting most.
    heat: u64,
    /// Whether it was granted at the last refresh.
    is_granted: bool,
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

/// Components whose walks are counted beyond those of wishes, until their counts are forgotten.
const SPARE: usize = 64;

/// The share of its heat that a wish loses with each refresh.
const COOLING: u64 = 8;

/// Who is to take a pool from a wish that is granted must be this many times as hot: if it took less, two that are
/// equally hot would undo each other's order again and again.
const LEAD: u64 = 2;

/// All wishes, the most urgent first.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    list: Vec<Wish>,
    /// Which of them are granted; kept for its memory.
    granted: Vec<usize>,
}

impl Wishes {
    /// Takes in what was walked since the last refresh.
    pub(super) fn learn(&mut self, walks: &mut Walks) {
        let list = &mut self.list;
        for wish in &mut *list {
            wish.heat = wish.heat - wish.heat.div_ceil(COOLING) + walks.take(&wish.ids);
        }
        list.retain(|wish| wish.heat > 0);
        let new = walks.0.iter_mut().filter(|(_, count)| **count > 0);
        list.extend(new.map(|(ids, count)| Wish::new(ids, std::mem::take(count))));
        // Stable, so those that are equally urgent stay in the order in which they were heard of.
        list.sort_by_key(|wish| std::cmp::Reverse(wish.urgency()));
        if walks.0.len() > 2 * list.len() + SPARE {
            walks.0.clear();
        }
    }

    /// Moves values as those wish who get theirs; about as many as the budget says, of which each has a share.
    pub(super) fn fulfil(&mut self, pools: &mut Pools, mut budget: usize) {
        let Self { list, granted } = self;
        granted.clear();
        for nth in 0..list.len() {
            let wish = &list[nth];
            let goes_with = |&other: &usize| wish.goes_with(&list[other]);
            let is_granted = wish.can_be_granted(pools) && granted.iter().all(goes_with);
            list[nth].is_granted = is_granted;
            if is_granted {
                granted.push(nth);
            }
        }
        // From wide to narrow: who is in all pools of a narrow wish is in those of a wide one, too, and changes places
        // in all of them alike if these are in order already.
        granted.sort_by_key(|&nth| list[nth].ids.len());
        for (served, &nth) in granted.iter().enumerate() {
            // What one leaves is there for the next; none can use up what the others wait for.
            let mut share = budget.div_ceil(granted.len() - served);
            budget -= share;
            list[nth].work(pools, &mut share);
            budget += share;
        }
    }
}

impl Wish {
    fn new(ids: &[u32], heat: u64) -> Self {
        let (sweep, stamps) = (Sweep::default(), Vec::new());
        let (is_granted, is_disturbed, is_done) = (false, false, false);
        Self { ids: ids.into(), heat, is_granted, sweep, is_disturbed, stamps, is_done }
    }

    /// How much it is to be served before others.
    fn urgency(&self) -> u64 {
        if self.is_granted { self.heat.saturating_mul(LEAD) } else { self.heat }
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
        if !stamps(pools, &self.ids).eq(self.stamps.iter().copied()) {
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
        self.stamps = stamps(pools, &self.ids).collect();
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

fn stamps(pools: &mut Pools, ids: &[u32]) -> impl Iterator<Item = u64> {
    ids.iter().map(|&id| pools.at_mut(id as usize).map_mut().stamp())
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
    /// Values that a refresh may move.
    pub(super) budget: usize,
    /// Components whose pools somebody has sorted.
    pub(super) sorted: Vec<u32>,
    /// Without stamps, which mean nothing elsewhere: who has some is given those of the pools.
    pub(super) wishes: Vec<Wish>,
}

#[cfg(feature = "serde")]
impl Wishes {
    pub(super) fn record(&self, pools: &Pools) -> Vec<Wish> {
        let stamp = |&id: &u32| pools.at(id as usize).look().ok().map(|map| map.stamp());
        let mut wishes = self.list.clone();
        for wish in &mut wishes {
            let stamps: Option<Vec<u64>> = wish.ids.iter().map(stamp).collect();
            if stamps.is_none_or(|stamps| stamps != wish.stamps) {
                wish.notice_change();
            }
        }
        wishes
    }

    pub(super) fn of(learnt: &Learnt, pools: &mut Pools) -> Self {
        let mut wishes = learnt.wishes.clone();
        for wish in wishes.iter_mut().filter(|wish| !wish.stamps.is_empty()) {
            wish.stamps = stamps(pools, &wish.ids).collect();
        }
        Self { list: wishes, granted: Vec::new() }
    }
}
