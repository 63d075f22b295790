//! What a plan depends on.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Words that fit without an allocation: two for each pool of a query.
const INLINE: usize = 24;

/// The shape of a query and the stamps of its pools, as a list of words.
///
/// Made at the start of every walk, so it does not allocate unless a query is very wide.
pub(crate) struct Key {
    inline: [u64; INLINE],
    len: usize,
    /// All words, if they are more than fit inline.
    spilled: Vec<u64>,
    hasher: FxHasher,
}

impl Default for Key {
    #[inline]
    fn default() -> Self {
        Self { inline: [0; INLINE], len: 0, spilled: Vec::new(), hasher: FxHasher::default() }
    }
}

impl Key {
    /// Adds a word of the shape.
    #[inline]
    pub(crate) fn shape(&mut self, word: u64) {
        self.hasher.write_u64(word);
        self.push(word);
    }

    /// Adds a stamp. Queries that differ only in stamps share one place in the cache.
    #[inline]
    pub(crate) fn stamp(&mut self, stamp: u64) {
        self.push(stamp);
    }

    #[inline]
    fn push(&mut self, word: u64) {
        match self.inline.get_mut(self.len) {
            Some(place) => {
                *place = word;
                self.len += 1;
            }
            None => self.spill(word),
        }
    }

    #[cold]
    fn spill(&mut self, word: u64) {
        if self.spilled.is_empty() {
            self.spilled.extend(self.inline);
        }
        self.spilled.push(word);
    }

    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        if self.spilled.is_empty() { &self.inline[..self.len] } else { &self.spilled }
    }

    /// A number that queries of the same shape share; never zero.
    #[inline]
    pub(crate) fn tag(&self) -> u64 {
        self.hasher.finish() | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(words: u64) -> Key {
        let mut key = Key::default();
        (0..words).for_each(|word| key.shape(word));
        key
    }

    #[test]
    fn a_key_keeps_all_words_however_many() {
        for len in [0, 1, INLINE as u64, INLINE as u64 + 1, 100] {
            assert_eq!(key(len).words(), (0..len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn stamps_change_the_words_and_not_the_tag() {
        let (mut a, mut b) = (key(3), key(3));
        a.stamp(1);
        b.stamp(2);

        assert_eq!(a.tag(), b.tag());
        assert_ne!(a.words(), b.words());
        assert_ne!(key(3).tag(), key(4).tag());
    }
}
