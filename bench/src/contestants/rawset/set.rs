//! The sparse set itself.
//!
//! # Invariants
//! **S1** – `packed` and `values` have the same length, and for each place `at` the slot of
//! `packed[at]` holds `at`. Every other slot holds [`EMPTY`].

/// Slots per page; pages appear up to the highest id that has had a value.
const PAGE: usize = 4096;

/// What the slot of an id without a value holds.
const EMPTY: u64 = u64::MAX;

/// Values of one type, packed, found by id through pages of slots.
pub(super) struct Set<T> {
    pages: Vec<Box<[u64; PAGE]>>,
    packed: Vec<u64>,
    values: Vec<T>,
}

impl<T> Default for Set<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), packed: Vec::new(), values: Vec::new() }
    }
}

impl<T> Set<T> {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    pub(super) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.packed.iter().copied().zip(&self.values)
    }

    #[inline(always)]
    pub(super) fn get(&self, id: u64) -> Option<&T> {
        // An empty slot is an index no vector reaches: one comparison answers both.
        self.values.get(self.place(id) as usize)
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        let at = self.place(id) as usize;
        self.values.get_mut(at)
    }

    /// Calls `f` for each id that is in both sets, walking the shorter one.
    #[inline(always)]
    pub(super) fn join_mut<U>(&self, other: &mut Set<U>, mut f: impl FnMut(&T, &mut U)) {
        if self.len() <= other.len() {
            for (id, value) in self.iter() {
                match other.get_mut(id) {
                    Some(theirs) => f(value, theirs),
                    None => missed(),
                }
            }
        } else {
            for (&id, theirs) in other.packed.iter().zip(&mut other.values) {
                match self.get(id) {
                    Some(value) => f(value, theirs),
                    None => missed(),
                }
            }
        }
    }

    /// Adds a value for an id that has none.
    #[inline]
    pub(super) fn insert(&mut self, id: u64, value: T) {
        let at = self.packed.len() as u64;
        *self.slot(id) = at;
        self.packed.push(id);
        self.values.push(value);
    }

    /// Adds values for ids that have none, page by page.
    pub(super) fn extend(&mut self, ids: std::ops::Range<u64>, values: impl Iterator<Item = T>) {
        let mut at = self.packed.len() as u64;
        let mut id = ids.start;
        while id < ids.end {
            let end = ids.end.min((id / PAGE as u64 + 1) * PAGE as u64);
            let from = id as usize % PAGE;
            for slot in &mut self.page(id)[from..from + (end - id) as usize] {
                *slot = at;
                at += 1;
            }
            id = end;
        }
        self.packed.extend(ids);
        self.values.extend(values);
    }

    /// Takes the value of an id; the last value moves into its place.
    #[inline]
    pub(super) fn remove(&mut self, id: u64) -> Option<T> {
        let at = self.place(id);
        if at == EMPTY {
            return None;
        }
        // The last id may be the one that goes: then its slot is written twice, without a branch.
        let last = self.packed[self.packed.len() - 1];
        *self.old_slot(last) = at;
        *self.old_slot(id) = EMPTY;
        self.packed.swap_remove(at as usize);
        Some(self.values.swap_remove(at as usize))
    }

    #[inline(always)]
    fn place(&self, id: u64) -> u64 {
        match self.pages.get(id as usize / PAGE) {
            Some(page) => page[id as usize % PAGE],
            None => {
                missed();
                EMPTY
            }
        }
    }

    /// The slot of an id that has a value, whose page is therefore there (S1).
    #[inline(always)]
    fn old_slot(&mut self, id: u64) -> &mut u64 {
        &mut self.pages[id as usize / PAGE][id as usize % PAGE]
    }

    #[inline(always)]
    fn slot(&mut self, id: u64) -> &mut u64 {
        &mut self.page(id)[id as usize % PAGE]
    }

    #[inline(always)]
    fn page(&mut self, id: u64) -> &mut [u64; PAGE] {
        let at = id as usize / PAGE;
        if at >= self.pages.len() {
            self.grow(at + 1);
        }
        &mut self.pages[at]
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, pages: usize) {
        self.pages.resize_with(pages, || Box::new([EMPTY; PAGE]));
    }
}

/// Tells the compiler to lay loops out for ids that are found.
#[cold]
fn missed() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removal_keeps_slots_beside_their_values() {
        let mut set = Set::default();
        (0..5000_u64).for_each(|id| set.insert(id * 3, id));

        let removed = (0..5000_u64).step_by(7).filter_map(|id| set.remove(id * 3)).count();

        assert_eq!(removed, 715);
        for id in 0..5000_u64 {
            let expected = (!id.is_multiple_of(7)).then_some(&id);
            assert_eq!(set.get(id * 3), expected);
        }
    }

    #[test]
    fn extend_is_many_inserts() {
        let mut set = Set::default();
        set.extend(100..9000, 100..9000_u64);

        assert_eq!(set.len(), 8900);
        assert!((100..9000).all(|id| set.get(id) == Some(&id)));
        assert_eq!(set.get(99), None);
    }
}
