//! Lists that several readers read at a pace of their own, each entry once.
//!
//! A journal keeps an entry until all its readers have read it. Readers register, and count as long
//! as they exist. Who stays away for so long that more than `limit` entries wait is overtaken: the
//! oldest entries go, and he is told how many he missed. So a reader that never comes back costs a
//! bounded amount of memory.
//!
//! # Invariants
//! **J1** – entry `n` of all that were ever written lies at `n - first`; a reader's `next` never goes
//! back. So each reader is given each entry that it did not miss exactly once, in order.

use std::collections::VecDeque;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};

/// Entries that may wait for the slowest reader, unless somebody says otherwise.
pub(crate) const LIMIT: usize = 1 << 20;

/// A list of entries and their readers.
///
/// Each component type that has readers, and each type of messages, has one compiled for it. So what knows no type is
/// in [`Books`], and the deque is asked for little.
#[derive(Debug)]
pub(crate) struct Journal<T> {
    entries: VecDeque<T>,
    books: Books,
}

/// Which entries are kept, and for whom. How many there are is asked of the entries.
#[derive(Debug)]
struct Books {
    /// Number of the first entry that is kept.
    first: u64,
    readers: Vec<Weak<Place>>,
    limit: usize,
    /// Entries that went although somebody had not read them.
    overtaken: u64,
}

/// How far a reader has come.
#[derive(Debug)]
pub(crate) struct Place {
    /// Number of the entry it reads next. Written only by its reader, who has it to himself.
    next: AtomicU64,
    /// Number of the entry behind those that it was shown last.
    shown: AtomicU64,
}

impl Place {
    /// What the reader was shown last counts as read from now on.
    pub(crate) fn mark_read(&self) {
        self.next.store(self.shown.load(Relaxed), Relaxed);
    }
}

/// What a reader is given at a time: a range of entries, and how many it missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portion {
    /// Positions among the entries that are kept.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) missed: u64,
}

impl<T> Default for Journal<T> {
    fn default() -> Self {
        Self { entries: VecDeque::new(), books: Books::new() }
    }
}

impl<T> Journal<T> {
    /// Lets at most this many entries wait, and hands back those that are too many.
    pub(crate) fn set_limit(&mut self, limit: usize) -> Vec<T> {
        let many = self.books.set_limit(limit, self.len());
        self.take_first(many)
    }

    /// Registers a reader that is given what is written from now on.
    pub(crate) fn reader(&mut self) -> Arc<Place> {
        self.books.reader(self.len())
    }

    /// Writes an entry, if anybody is there to read it, and hands back those that had to go.
    ///
    /// They are the caller's to drop, when his books are right.
    pub(crate) fn push(&mut self, entry: T) -> Option<T> {
        match self.books.enter(self.entries.len()) {
            Entered::Nowhere => Some(entry),
            Entered::Last => {
                self.entries.push_back(entry);
                None
            }
            Entered::InsteadOfTheFirst => {
                self.entries.push_back(entry);
                self.entries.pop_front()
            }
        }
    }

    /// What a reader has not read yet; nothing for one of another journal. It counts as read after
    /// [`Place::mark_read`].
    pub(crate) fn show(&self, place: &Place) -> Portion {
        self.books.show(place, self.len())
    }

    /// Number of entries that a reader has not read.
    pub(crate) fn unread(&self, place: &Place) -> usize {
        self.books.unread(place, self.len())
    }

    /// Takes out what all readers have read; the caller drops it.
    pub(crate) fn trim(&mut self) -> Vec<T> {
        let count = self.books.trim(self.len());
        let gone = self.take_first(count);
        // A burst is over: what it needed is given back.
        if self.entries.capacity() > 64 && self.entries.capacity() / 8 > self.entries.len() {
            let mut fewer = VecDeque::with_capacity(2 * self.entries.len());
            while let Some(entry) = self.entries.pop_front() {
                fewer.push_back(entry);
            }
            self.entries = fewer;
        }
        gone
    }

    /// Takes out the oldest entries, which the books do not count any more.
    fn take_first(&mut self, count: usize) -> Vec<T> {
        let mut gone = Vec::with_capacity(count);
        for _ in 0..count {
            match self.entries.pop_front() {
                Some(entry) => gone.push(entry),
                None => break,
            }
        }
        gone
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.entries.get(at)
    }

    /// Whether anybody reads it.
    pub(crate) fn has_readers(&self) -> bool {
        self.books.has_readers()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entries that went although somebody had not read them.
    pub(crate) fn overtaken(&self) -> u64 {
        self.books.overtaken
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<T>() + self.books.heap_bytes()
    }
}

/// Where an entry goes that is written.
enum Entered {
    /// Nobody reads it.
    Nowhere,
    Last,
    /// Too many wait: the oldest one goes.
    InsteadOfTheFirst,
}

impl Books {
    fn new() -> Self {
        Self { first: 0, readers: Vec::new(), limit: LIMIT, overtaken: 0 }
    }

    /// Lets at most this many entries wait; returns how many of the oldest have to go.
    fn set_limit(&mut self, limit: usize, len: usize) -> usize {
        self.limit = limit.max(1);
        let many = len.saturating_sub(self.limit);
        let unread_from = self.slowest(len).max(self.first);
        self.overtaken += (self.first + many as u64).saturating_sub(unread_from);
        self.first += many as u64;
        many
    }

    fn reader(&mut self, len: usize) -> Arc<Place> {
        let end = self.end(len);
        let place = Arc::new(Place { next: AtomicU64::new(end), shown: AtomicU64::new(end) });
        // Before the list grows, so that readers which are gone never outnumber the others.
        if self.readers.len() == self.readers.capacity() {
            self.readers.retain(|reader| reader.strong_count() > 0);
        }
        self.readers.push(Arc::downgrade(&place));
        place
    }

    /// Says where an entry goes that is written behind these.
    fn enter(&mut self, len: usize) -> Entered {
        if self.readers.is_empty() {
            self.first += 1;
            return Entered::Nowhere;
        }
        if len < self.limit {
            return Entered::Last;
        }
        self.overtaken += u64::from(self.slowest(len + 1) <= self.first);
        self.first += 1;
        Entered::InsteadOfTheFirst
    }

    fn show(&self, place: &Place, len: usize) -> Portion {
        let next = place.next.load(Relaxed);
        if !self.knows(place) {
            place.shown.store(next, Relaxed);
            return Portion { start: 0, end: 0, missed: 0 };
        }
        place.shown.store(self.end(len), Relaxed);
        let missed = self.first.saturating_sub(next);
        let start = (next.max(self.first) - self.first) as usize;
        Portion { start, end: len, missed }
    }

    fn unread(&self, place: &Place, len: usize) -> usize {
        if !self.knows(place) {
            return 0;
        }
        (self.end(len) - place.next.load(Relaxed).max(self.first)) as usize
    }

    /// Counts what all readers have read as gone; returns how many that are.
    fn trim(&mut self, len: usize) -> usize {
        self.readers.retain(|reader| reader.strong_count() > 0);
        let count = self.slowest(len).saturating_sub(self.first) as usize;
        self.first += count as u64;
        count
    }

    fn has_readers(&self) -> bool {
        self.readers.iter().any(|reader| reader.strong_count() > 0)
    }

    fn heap_bytes(&self) -> usize {
        self.readers.capacity() * size_of::<Weak<Place>>()
    }

    /// Number of the entry that the slowest reader reads next.
    fn slowest(&self, len: usize) -> u64 {
        let places = self.readers.iter().filter_map(Weak::upgrade);
        places.map(|place| place.next.load(Relaxed)).min().unwrap_or(self.end(len))
    }

    /// Whether a reader is one of this journal.
    fn knows(&self, place: &Place) -> bool {
        self.readers.iter().any(|reader| ptr::eq(reader.as_ptr(), place))
    }

    fn end(&self, len: usize) -> u64 {
        self.first + len as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(journal: &Journal<u32>, place: &Place) -> (Vec<u32>, u64) {
        let Portion { start, end, missed } = journal.show(place);
        place.mark_read();
        ((start..end).map(|at| *journal.get(at).unwrap()).collect(), missed)
    }

    #[test]
    fn each_reader_is_given_each_entry_once_at_any_rate() {
        let mut journal = Journal::default();
        assert_eq!(journal.push(0), Some(0), "nobody reads it");
        let (fast, slow) = (journal.reader(), journal.reader());
        let mut slow_read = Vec::new();

        for n in 1..=1000 {
            journal.push(n);
            assert_eq!(read(&journal, &fast), (vec![n], 0));
            if n % 100 == 0 {
                slow_read.extend(read(&journal, &slow).0);
            }
            journal.trim();
            assert!(journal.len() <= 100);
        }

        assert_eq!(slow_read, (1..=1000).collect::<Vec<_>>());
        assert_eq!(read(&journal, &slow), (vec![], 0));
    }

    #[test]
    fn who_stays_away_is_overtaken_and_told_so() {
        let mut journal = Journal::default();
        assert!(journal.set_limit(10).is_empty());
        let place = journal.reader();

        for n in 0..25 {
            journal.push(n);
        }

        assert_eq!((journal.len(), journal.overtaken()), (10, 15));
        assert_eq!(journal.unread(&place), 10);
        assert_eq!(read(&journal, &place), ((15..25).collect(), 15));
        assert_eq!(read(&journal, &place), (vec![], 0));
    }

    #[test]
    fn what_was_shown_is_shown_again_until_it_counts_as_read() {
        let mut journal = Journal::default();
        let place = journal.reader();
        journal.push(1);
        let shown = |journal: &Journal<u32>| {
            let Portion { start, end, .. } = journal.show(&place);
            (start..end).map(|at| *journal.get(at).unwrap()).collect::<Vec<_>>()
        };

        assert_eq!(shown(&journal), [1]);
        assert!(journal.trim().is_empty());
        journal.push(2);
        assert_eq!(shown(&journal), [1, 2]);
        journal.push(3);
        place.mark_read();

        assert_eq!(journal.trim(), [1, 2]);
        assert_eq!(read(&journal, &place), (vec![3], 0));
    }

    #[test]
    fn a_reader_that_is_gone_holds_nothing_back() {
        let mut journal = Journal::default();
        let (stays, goes) = (journal.reader(), journal.reader());
        (0..10).for_each(|n| _ = journal.push(n));
        read(&journal, &stays);
        journal.trim();
        assert_eq!(journal.len(), 10);

        drop(goes);
        journal.trim();

        assert_eq!(journal.len(), 0);
        drop(stays);
        journal.trim();
        assert!(!journal.has_readers());
        assert_eq!(journal.push(1), Some(1));
    }
}
