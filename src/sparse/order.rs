//! When a set changes, and which sets are known to be in the same order.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::entity::Entity;

/// Counts the changes of a set, and has the number of its order.
#[derive(Debug, Default)]
pub(super) struct Stamp {
    count: u64,
    order: Order,
}

impl Stamp {
    /// For a set that is new and not empty.
    pub(super) fn first() -> Self {
        Self { count: 1, ..Self::default() }
    }

    #[inline(always)]
    pub(super) fn get(&self) -> u64 {
        self.count
    }

    #[inline(always)]
    pub(super) fn order(&self) -> &Order {
        &self.order
    }

    /// The packed array has changed, or is about to.
    #[inline(always)]
    pub(super) fn raise(&mut self) {
        self.count += 1;
        *self.order.0.get_mut() = CHANGED;
    }

    /// The set takes the place of another one, so that both their stamps are of the past.
    #[cfg(feature = "serde")]
    pub(super) fn raise_above(&mut self, other: &Self) {
        self.count = self.count.max(other.count);
        self.raise();
    }
}

impl Clone for Stamp {
    fn clone(&self) -> Self {
        // A copy of a set is in the same order.
        let order = AtomicU64::new(self.order.0.load(Ordering::Relaxed));
        Self { count: self.count, order: Order(order) }
    }
}

/// The number of an order of entities, if it has one.
///
/// A number means one packed array and no other, for ever, whatever world it is in; so sets of the same number
/// are equal (S6). A set loses its number with the next change. Numbers that differ mean nothing: that the sets were
/// compared, or that each was compared with others, and is not again until it changes. One word, written
/// only after a comparison: it does not matter which of several threads is first.
#[derive(Debug, Default)]
pub struct Order(AtomicU64);

/// The word of a set that has changed, and of one that a query has asked for since; a number is one less than its word.
const CHANGED: u64 = 0;
const ASKED: u64 = 1;

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Order {
    /// That of a set that does not exist.
    pub(crate) const fn nobodys() -> Self {
        Self(AtomicU64::new(CHANGED))
    }

    /// The number; zero if there is none.
    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed).saturating_sub(ASKED)
    }

    /// Asks for the number. Returns whether that is the first time since the set has changed.
    pub(crate) fn is_first_question(&self) -> bool {
        self.0.compare_exchange(CHANGED, ASKED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The number, which the order gets if it has none.
    pub(crate) fn number(&self) -> u64 {
        let has_none = |word| (word <= ASKED).then(|| ASKED + NEXT.fetch_add(1, Ordering::Relaxed));
        _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_none);
        self.get()
    }

    /// Says that it is the order of that number: the two sets have been compared.
    pub(crate) fn is_that_of(&self, number: u64) {
        self.0.store(ASKED + number, Ordering::Relaxed);
    }
}

/// Entities that are compared at once: few enough to be cheap when they differ, enough for the
/// comparison to be done in wide registers.
const BLOCK: usize = 16;

/// How many entities two slices have in common from the start.
// Not inlined: it is a loop of its own, and every query has several of them.
pub(crate) fn common_prefix(a: &[Entity], b: &[Entity]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    // The driver against itself.
    if std::ptr::eq(a, b) {
        return len;
    }
    let differs = |a: &[Entity], b: &[Entity]| {
        let folded = a.iter().zip(b).fold(0, |bits, (a, b)| bits | (a.raw() ^ b.raw()));
        folded != 0
    };
    let mut at = 0;
    while at + BLOCK <= len && !differs(&a[at..at + BLOCK], &b[at..at + BLOCK]) {
        at += BLOCK;
    }
    while at < len && a[at] == b[at] {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::common_prefix;
    use crate::entity::Entity;
    use crate::sparse::SparseSet;

    #[test]
    fn a_copy_has_the_order_of_its_original_until_one_of_them_changes() {
        let ids = [3, 1, 2].map(|index| Entity::new(index, 0).unwrap());
        let set: SparseSet = ids.into_iter().collect();
        assert_eq!(set.order().get(), 0, "nobody has asked for it");

        let number = set.order().number();
        let mut copy = set.clone();

        assert_eq!((copy.order().get(), set.order().number()), (number, number));
        copy.remove(ids[0]);
        assert_eq!((copy.order().get(), set.order().get()), (0, number));
        assert_ne!(copy.order().number(), number);
    }

    #[test]
    fn the_common_prefix_ends_where_the_first_entities_differ() {
        let row = |len: u32| (0..len).map(|i| Entity::new(i, 0).unwrap()).collect::<Vec<_>>();
        let a = row(100);

        for at in 0..100 {
            let mut b = row(100);
            b[at] = Entity::new(500, 0).unwrap();
            assert_eq!(common_prefix(&a, &b), at);
            assert_eq!(common_prefix(&a, &row(at as u32)), at);
        }
        assert_eq!(common_prefix(&a, &row(100)), 100);
        assert_eq!(common_prefix(&a, &a), 100);
    }
}
