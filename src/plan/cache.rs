//! The plans of a world.
//!
//! Plans are found through `&World` by any number of threads. Nobody ever waits: who does not get
//! the place of a plan does without one.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::Plan;
use super::key::{Comparison, Key, Spelling, Tag};
use crate::cell::{Cell, Read, Write};

/// Queries of different shape that can have a plan at a time.
const PLACES: usize = 128;

/// Places in which a query may find its plan.
const WAYS: usize = 4;

/// Bytes that all plans of a world may take, unless its builder says otherwise.
const BUDGET: usize = 64 << 20;

/// A query, as far as its plan depends on it.
pub(crate) trait Asked {
    /// Spells the key out.
    fn spell(&self, to: &mut impl Spelling);

    /// Whether these are the words of the key.
    #[inline(always)]
    fn is_spelled(&self, words: &[u64]) -> bool {
        let mut comparison = Comparison::with(words);
        self.spell(&mut comparison);
        comparison.is_equal()
    }
}

#[inline(always)]
fn tag_of(query: &impl Asked) -> u64 {
    let mut tag = Tag::default();
    query.spell(&mut tag);
    tag.get()
}

/// What is known of a query at the start of a walk.
#[derive(Debug)]
pub(crate) enum Finding<'a> {
    /// Its plan.
    Plan(Read<'a, Plan>),
    /// It was walked before, and no pool has changed since: a plan is worth making.
    Unchanged,
    /// It was not walked before, or a pool has changed since.
    New,
    /// Its plan would take too much memory.
    TooBig,
}

/// The plans of a world, by the shape of their queries.
pub(crate) struct Plans {
    /// Made at the first walk of a query with more than one pool.
    places: OnceLock<Box<[Place]>>,
    budget: usize,
    /// Bytes of all plans.
    bytes: AtomicUsize,
    /// Counts plans that are made; says which one was used last.
    clock: AtomicU32,
}

#[derive(Default)]
struct Place {
    /// The tag of the key, so that a place of another query need not be opened.
    tag: AtomicU64,
    used: AtomicU32,
    entry: Cell<Entry>,
}

/// A query that was asked for, and its plan.
#[derive(Default)]
pub(crate) struct Entry {
    key: Key,
    plan: Option<Plan>,
    too_big: bool,
}

impl Default for Plans {
    fn default() -> Self {
        Self {
            places: OnceLock::new(),
            budget: BUDGET,
            bytes: AtomicUsize::new(0),
            clock: AtomicU32::new(0),
        }
    }
}

impl Plans {
    /// No plans, with the same budget.
    #[cfg(feature = "serde")]
    pub(crate) fn alike(&self) -> Self {
        Self::with_budget(self.budget)
    }

    pub(crate) fn with_budget(budget: usize) -> Self {
        Self { budget, ..Self::default() }
    }

    /// Looks a query up.
    #[inline]
    pub(crate) fn find(&self, query: &impl Asked) -> Finding<'_> {
        self.find_by(query, |cell| cell.try_read().ok())
    }

    /// As `find`, by one who says how to open the place of a plan.
    #[inline(always)]
    pub(crate) fn find_by<'a>(
        &'a self,
        query: &impl Asked,
        open: impl FnOnce(&'a Cell<Entry>) -> Option<Read<'a, Entry>>,
    ) -> Finding<'a> {
        if let Some(place) = self.place_of(tag_of(query))
            && let Some(entry) = open(&place.entry)
            && query.is_spelled(&entry.key.0)
        {
            place.used.store(self.clock.load(Ordering::Relaxed), Ordering::Relaxed);
            if entry.too_big {
                return Finding::TooBig;
            }
            return match entry.filter_map(|entry| entry.plan.as_ref()) {
                Some(plan) => Finding::Plan(plan),
                None => Finding::Unchanged,
            };
        }
        Finding::New
    }

    /// Keeps a plan, if its place can be had and it fits, and gives it back to be used.
    pub(crate) fn keep(&self, query: &impl Asked, plan: Plan) -> Option<Read<'_, Plan>> {
        self.keep_for(tag_of(query), &|words| query.is_spelled(words), plan)
    }

    /// As `keep`, for the query with this tag that knows its words; compiled once, not for each query.
    fn keep_for(
        &self,
        tag: u64,
        is_spelled: &dyn Fn(&[u64]) -> bool,
        plan: Plan,
    ) -> Option<Read<'_, Plan>> {
        let place = self.place_of(tag)?;
        let bytes = plan.heap_bytes();
        let too_big = bytes > self.budget;
        if !too_big {
            self.make_room(bytes, place);
        }
        {
            let mut entry = place.entry.try_write().ok()?;
            if !is_spelled(&entry.key.0) {
                return None;
            }
            self.release(entry.plan.take());
            entry.too_big = too_big;
            if too_big {
                return None;
            }
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            entry.plan = Some(plan);
        }
        let entry = place.entry.try_read().ok()?;
        // Another thread may have been here meanwhile.
        if !is_spelled(&entry.key.0) {
            return None;
        }
        entry.filter_map(|entry| entry.plan.as_ref())
    }

    /// The place whose tag this is.
    #[inline(always)]
    fn place_of(&self, tag: u64) -> Option<&Place> {
        let places = self.places.get()?;
        ways(places, tag).iter().find(|place| place.tag.load(Ordering::Relaxed) == tag)
    }

    /// Remembers that a query was asked for. If need be it gets the place of the one that was not
    /// used for longest.
    #[cold]
    #[inline(never)]
    pub(crate) fn note(&self, query: &impl Asked) {
        if let Some(mut entry) = self.give_place(tag_of(query)) {
            query.spell(&mut entry.key);
        }
    }

    /// A place for the query with this tag, if one can be had; the words of its key are to come.
    fn give_place(&self, tag: u64) -> Option<Write<'_, Entry>> {
        let places = self.places.get_or_init(|| (0..PLACES).map(|_| Place::default()).collect());
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        let place =
            ways(places, tag).iter().max_by_key(|place| match place.tag.load(Ordering::Relaxed) {
                own if own == tag => (2, 0),
                0 => (1, 0),
                _ => (0, now.wrapping_sub(place.used.load(Ordering::Relaxed))),
            });
        let place = place?;
        let mut entry = place.entry.try_write().ok()?;
        self.release(entry.plan.take());
        entry.too_big = false;
        entry.key.0.clear();
        place.tag.store(tag, Ordering::Relaxed);
        place.used.store(now, Ordering::Relaxed);
        Some(entry)
    }

    /// Drops plans that were not used for long, until there is room for `bytes` more.
    fn make_room(&self, bytes: usize, except: &Place) {
        let fits = || self.bytes.load(Ordering::Relaxed) + bytes <= self.budget;
        if fits() {
            return;
        }
        let now = self.clock.load(Ordering::Relaxed);
        let mut others: Vec<&Place> =
            self.places.get().into_iter().flatten().filter(|p| !std::ptr::eq(*p, except)).collect();
        others.sort_by_key(|place| now.wrapping_sub(place.used.load(Ordering::Relaxed)));
        while !fits() {
            let Some(oldest) = others.pop() else { return };
            if let Ok(mut entry) = oldest.entry.try_write() {
                self.release(entry.plan.take());
            }
        }
    }

    fn release(&self, plan: Option<Plan>) {
        let bytes = plan.map_or(0, |plan| plan.heap_bytes());
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Forgets all plans.
    pub(crate) fn clear(&mut self) {
        *self = Self::with_budget(self.budget);
    }

    /// Bytes of heap memory in use.
    pub(crate) fn heap_bytes(&self) -> usize {
        let places = self.places.get().map_or(0, |places| places.len() * size_of::<Place>());
        places + self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) -> usize {
        let places = self.places.get().into_iter().flatten();
        places.filter(|p| p.entry.try_read().is_ok_and(|entry| entry.plan.is_some())).count()
    }
}

/// The places in which the query of a tag may be.
#[inline]
fn ways(places: &[Place], tag: u64) -> &[Place] {
    let set = (tag >> 32) as usize % (PLACES / WAYS);
    &places[set * WAYS..][..WAYS]
}

impl fmt::Debug for Plans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plans").field("count", &self.count()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Recorder;

    /// A query of one pool.
    struct Query(u64, u64);

    impl Asked for Query {
        fn spell(&self, to: &mut impl Spelling) {
            to.shape(self.0);
            to.stamp(self.1);
        }
    }

    fn key(shape: u64, stamp: u64) -> Query {
        Query(shape, stamp)
    }

    /// Looks a query up and remembers it, as a walk does.
    fn find<'a>(plans: &'a Plans, query: &Query) -> Finding<'a> {
        let found = plans.find(query);
        if let Finding::New = found {
            plans.note(query);
        }
        found
    }

    fn plan(runs: usize) -> Plan {
        let mut recorder = Recorder::new(1);
        (0..runs).for_each(|run| recorder.run(run * 10, 10, |places| places.push(0)));
        recorder.finish(|_, _, _| unreachable!("the runs are long"))
    }

    #[test]
    fn a_query_is_new_then_unchanged_then_planned_until_a_stamp_changes() {
        let plans = Plans::default();

        assert!(matches!(find(&plans, &key(1, 1)), Finding::New));
        assert!(matches!(find(&plans, &key(1, 1)), Finding::Unchanged));
        assert_eq!(plans.keep(&key(1, 1), plan(3)).unwrap().matches(), 30);
        assert!(matches!(find(&plans, &key(1, 1)), Finding::Plan(_)));
        assert!(matches!(find(&plans, &key(1, 2)), Finding::New));
        assert!(matches!(find(&plans, &key(1, 1)), Finding::New));
        assert_eq!((plans.count(), plans.bytes.into_inner()), (0, 0));
    }

    #[test]
    fn a_plan_that_is_in_use_stays_and_the_other_query_does_without() {
        let plans = Plans::default();
        find(&plans, &key(1, 1));
        let in_use = plans.keep(&key(1, 1), plan(3)).unwrap();

        assert!(matches!(find(&plans, &key(1, 2)), Finding::New));
        assert!(plans.keep(&key(1, 2), plan(4)).is_none());

        assert_eq!(in_use.matches(), 30);
        assert!(matches!(find(&plans, &key(1, 1)), Finding::Plan(_)));
    }

    #[test]
    fn plans_take_no_more_than_their_budget() {
        let plans = Plans::with_budget(1000);

        for shape in 0..50 {
            find(&plans, &key(shape, 1));
            plans.keep(&key(shape, 1), plan(10));
            assert!(plans.bytes.load(Ordering::Relaxed) <= 1000);
        }
        assert!(plans.count() > 1);
        find(&plans, &key(99, 1));
        assert!(plans.keep(&key(99, 1), plan(1000)).is_none());
        assert!(matches!(find(&plans, &key(99, 1)), Finding::TooBig));
    }

    #[test]
    fn more_queries_than_places_displace_each_other() {
        let plans = Plans::default();

        for shape in 0..10 * PLACES as u64 {
            find(&plans, &key(shape, 1));
            assert!(plans.keep(&key(shape, 1), plan(1)).is_some());
        }

        assert!(plans.count() <= PLACES && plans.count() > PLACES / 2);
    }
}
