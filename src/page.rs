//! A table of pages addressed by number, most of which do not exist.
//!
//! Everything that is looked up by entity index (slots of ids, sparse maps, values that keep
//! their place) lives in pages behind one of these tables. Pages close to each other are held
//! in a *window*, a plain vector that one subtraction and one load reach. A page far away from
//! the others goes to an ordered map instead of stretching the window, so the memory of a table
//! follows the number of its pages and never the size of an index.
//!
//! # Invariants
//! **T0** – a page number is in the window or in `far`, never in both: every key of `far` lies
//! outside `base .. base + near.len()`.

use std::collections::BTreeMap;

/// Entity indices that share a page.
///
/// As fast as 4,096 for a thousand entities and for a million, within the noise, and a small pool
/// takes 8 KiB instead of 32.
pub(crate) const PAGE_LEN: usize = 1 << PAGE_BITS;
const PAGE_BITS: u32 = 10;

/// Window entries allowed beyond the number of pages that really exist.
///
/// The window may have `SPAN_BASE + SPAN_FACTOR × pages` entries of eight bytes: at most one
/// kibibyte and then less than a thousandth of the pages it points to.
const SPAN_BASE: usize = 128;
const SPAN_FACTOR: usize = 4;

/// Number of the page that holds `index`.
#[inline]
pub(crate) const fn page_of(index: u32) -> u32 {
    index >> PAGE_BITS
}

/// Place of `index` inside its page.
#[inline]
pub(crate) const fn place_in_page(index: u32) -> usize {
    index as usize % PAGE_LEN
}

/// Pages by number; see the [module](self).
#[derive(Debug, Clone)]
pub(crate) struct PageTable<P> {
    base: u32,
    near: Vec<Option<Box<P>>>,
    far: BTreeMap<u32, Box<P>>,
}

impl<P> Default for PageTable<P> {
    fn default() -> Self {
        Self { base: 0, near: Vec::new(), far: BTreeMap::new() }
    }
}

impl<P> PageTable<P> {
    #[inline]
    pub(crate) fn get(&self, page: u32) -> Option<&P> {
        match self.near.get(page.wrapping_sub(self.base) as usize) {
            Some(slot) => slot.as_deref(),
            None => self.far_get(page),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, page: u32) -> Option<&mut P> {
        match self.near.get_mut(page.wrapping_sub(self.base) as usize) {
            Some(slot) => slot.as_deref_mut(),
            None => far_get_mut(&mut self.far, page),
        }
    }

    /// The page with this number, made by `make` if it does not exist.
    #[inline]
    pub(crate) fn get_or_create(&mut self, page: u32, make: fn() -> Box<P>) -> &mut P {
        let at = page.wrapping_sub(self.base) as usize;
        // Asked twice because a borrow returned from one branch would last through the other.
        if self.near.get(at).is_some_and(Option::is_some) {
            return self.near[at].as_deref_mut().expect("tested on the line above");
        }
        self.create(page, make)
    }

    #[cold]
    fn far_get(&self, page: u32) -> Option<&P> {
        self.far.get(&page).map(|page| &**page)
    }

    #[cold]
    #[inline(never)]
    fn create(&mut self, page: u32, make: fn() -> Box<P>) -> &mut P {
        self.widen_window(page);
        let at = page.wrapping_sub(self.base) as usize;
        match self.near.get_mut(at) {
            Some(slot) => slot.get_or_insert_with(make),
            None => self.far.entry(page).or_insert_with(make),
        }
    }

    /// Stretches the window to `page` if it stays dense enough, and keeps T0.
    fn widen_window(&mut self, page: u32) {
        if self.near.is_empty() {
            self.base = page;
        }
        let end = self.base as usize + self.near.len();
        let first = self.base.min(page);
        let span = end.max(page as usize + 1) - first as usize;
        if span <= self.near.len() || span > SPAN_BASE + SPAN_FACTOR * (self.len() + 1) {
            return;
        }
        let in_front = (self.base - first) as usize;
        self.near.splice(0..0, std::iter::repeat_with(|| None).take(in_front));
        self.base = first;
        self.near.resize_with(span, || None);
        let last = (first as usize + span - 1) as u32;
        let swallowed: Vec<u32> = self.far.range(first..=last).map(|(&number, _)| number).collect();
        for number in swallowed {
            self.near[(number - first) as usize] = self.far.remove(&number);
        }
    }

    /// Number of pages that exist.
    ///
    /// # Complexity
    /// O(window).
    pub(crate) fn len(&self) -> usize {
        self.near.iter().flatten().count() + self.far.len()
    }

    /// Whether there are no pages, nor room for any.
    #[inline]
    pub(crate) fn is_unused(&self) -> bool {
        self.near.is_empty() && self.far.is_empty()
    }

    /// Takes a page out.
    pub(crate) fn take(&mut self, page: u32) -> Option<Box<P>> {
        match self.near.get_mut(page.wrapping_sub(self.base) as usize) {
            Some(slot) => slot.take(),
            None => self.far.remove(&page),
        }
    }

    /// Pages with their numbers, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &P)> {
        let below = self.far.range(..self.base).map(|(&number, page)| (number, &**page));
        let above = self.far.range(self.base..).map(|(&number, page)| (number, &**page));
        let near = (self.base..).zip(&self.near);
        let near = near.filter_map(|(number, page)| Some((number, page.as_deref()?)));
        below.chain(near).chain(above)
    }

    /// Numbers of the pages, in ascending order, apart from any borrow of the table.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.iter().map(|(number, _)| number).collect()
    }

    /// Lets go of every page that `keep` refuses, and of window entries that serve no page.
    ///
    /// The window only gets narrower, so T0 holds and nothing grows.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&P) -> bool) {
        for slot in &mut self.near {
            if slot.as_deref().is_some_and(|page| !keep(page)) {
                *slot = None;
            }
        }
        self.far.retain(|_, page| keep(page));
        let end = self.near.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        self.near.truncate(end);
        let start = self.near.iter().position(Option::is_some).unwrap_or(0);
        self.near.drain(..start);
        self.base += start as u32;
        self.near.shrink_to_fit();
    }

    /// Bytes of the table itself and of its pages' boxes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let window = self.near.capacity() * size_of::<Option<Box<P>>>();
        let far = self.far.len() * size_of::<(u32, Box<P>)>();
        window + far + self.len() * size_of::<P>()
    }
}

#[cold]
fn far_get_mut<P>(far: &mut BTreeMap<u32, Box<P>>, page: u32) -> Option<&mut P> {
    far.get_mut(&page).map(|page| &mut **page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(numbers: &[u32]) -> PageTable<u32> {
        let mut table = PageTable::default();
        for &number in numbers {
            *table.get_or_create(number, || Box::new(0)) = number;
        }
        table
    }

    #[test]
    fn one_far_page_costs_a_small_table() {
        let last = page_of(u32::MAX);
        let table = table(&[0, last]);

        assert!(table.heap_bytes() < 4096, "{} bytes", table.heap_bytes());
        assert_eq!(table.get(0), Some(&0));
        assert_eq!(table.get(last), Some(&last));
    }

    #[test]
    fn a_range_of_high_numbers_is_served_by_the_window() {
        let table = table(&(500_000..500_300).collect::<Vec<_>>());

        assert!(table.far.is_empty());
        assert_eq!(table.base, 500_000);
    }

    #[test]
    fn descending_numbers_widen_the_window_to_the_front() {
        let table = table(&(0..200).rev().collect::<Vec<_>>());

        assert!(table.far.is_empty());
        assert_eq!(table.numbers(), (0..200).collect::<Vec<_>>());
    }

    #[test]
    fn retained_pages_are_found_again() {
        let mut table = table(&[0, 1, 2, 700_000, 1_000_000]);

        table.retain(|&page| page % 2 == 0);

        assert_eq!(table.numbers(), [0, 2, 700_000, 1_000_000]);
        assert_eq!(table.get(1), None);
    }

    #[test]
    fn a_table_does_not_grow_when_it_lets_pages_go() {
        // Found by the long mode of the model test: pages entered anew made a wider window.
        let mut table = table(&[1000, 0, 130]);
        let before = table.heap_bytes();

        table.retain(|_| true);

        assert!(table.heap_bytes() <= before);
        assert_eq!(table.numbers(), [0, 130, 1000]);
        assert!(!table.is_unused());
    }

    proptest! {
        /// Whatever the numbers and their order, the table equals a plain map (T0 included).
        #[test]
        fn behaves_like_an_ordered_map(numbers in prop::collection::vec(
            prop_oneof![0..400u32, 60_000..60_400u32, 0..=1_048_575u32], 0..120)) {
            let table = table(&numbers);

            let model: std::collections::BTreeSet<u32> = numbers.into_iter().collect();
            prop_assert_eq!(table.len(), model.len());
            prop_assert!(table.iter().eq(model.iter().map(|n| (*n, n))));
            for &number in &model {
                prop_assert_eq!(table.get(number), Some(&number));
                prop_assert_eq!(table.get(number ^ 1).is_some(), model.contains(&(number ^ 1)));
            }
            let window = table.base as usize..table.base as usize + table.near.len();
            prop_assert!(table.far.keys().all(|&n| !window.contains(&(n as usize))));
        }
    }
}
