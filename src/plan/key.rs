//! What a plan depends on.
//!
//! A key is a list of words: the shape of a query, and the stamps of its pools. The query spells it
//! out, word by word, and it is heard by one of three: [`Tag`] makes a number of the shape,
//! [`Comparison`] compares with a key that is kept, and [`Key`] keeps it. The first two are needed
//! at the start of every walk and touch no memory of their own.

/// Hears the words of a key.
pub(crate) trait Spelling {
    /// A word of the shape.
    fn shape(&mut self, word: u64);

    /// A stamp. Queries that differ only in stamps have the same tag.
    fn stamp(&mut self, stamp: u64);
}

/// A number that queries of the same shape share.
#[derive(Default)]
pub(crate) struct Tag(u64);

impl Tag {
    /// The number; never zero.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        // The words are mixed at the end, and not one by one: each of them would wait for the one
        // before. Tags need not be good, as keys are compared; only the upper half says where to look.
        self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
    }
}

impl Spelling for Tag {
    #[inline]
    fn shape(&mut self, word: u64) {
        self.0 = self.0.rotate_left(19).wrapping_add(word);
    }

    #[inline]
    fn stamp(&mut self, _: u64) {}
}

/// Compares what is spelled with a key.
pub(crate) struct Comparison<'a> {
    left: std::slice::Iter<'a, u64>,
    is_equal: bool,
}

impl<'a> Comparison<'a> {
    #[inline]
    pub(crate) fn with(words: &'a [u64]) -> Self {
        Self { left: words.iter(), is_equal: true }
    }

    /// Whether all words were equal, and none is left.
    #[inline]
    pub(crate) fn is_equal(&self) -> bool {
        self.is_equal && self.left.len() == 0
    }

    #[inline]
    fn hear(&mut self, word: u64) {
        self.is_equal &= self.left.next() == Some(&word);
    }
}

impl Spelling for Comparison<'_> {
    #[inline]
    fn shape(&mut self, word: u64) {
        self.hear(word);
    }

    #[inline]
    fn stamp(&mut self, stamp: u64) {
        self.hear(stamp);
    }
}

/// The words of a key.
#[derive(Debug, Default)]
pub(crate) struct Key(pub(super) Vec<u64>);

impl Spelling for Key {
    fn shape(&mut self, word: u64) {
        self.0.push(word);
    }

    fn stamp(&mut self, stamp: u64) {
        self.0.push(stamp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell<S: Spelling>(mut to: S, shape: &[u64], stamp: u64) -> S {
        shape.iter().for_each(|&word| to.shape(word));
        to.stamp(stamp);
        to
    }

    #[test]
    fn a_key_equals_what_spells_the_same() {
        let key = spell(Key::default(), &[1, 2], 3);
        let is_equal =
            |shape: &[u64], stamp| spell(Comparison::with(&key.0), shape, stamp).is_equal();

        assert!(is_equal(&[1, 2], 3));
        for (shape, stamp) in [(&[1, 2][..], 4), (&[1, 3], 3), (&[1], 2), (&[1, 2, 3], 3), (&[], 1)]
        {
            assert!(!is_equal(shape, stamp), "{shape:?} {stamp}");
        }
    }

    #[test]
    fn the_tag_is_that_of_the_shape() {
        let tag = |shape: &[u64], stamp| spell(Tag::default(), shape, stamp).get();

        assert_eq!(tag(&[1, 2], 3), tag(&[1, 2], 4));
        assert_ne!(tag(&[1, 2], 3), tag(&[1, 3], 3));
        assert_ne!(tag(&[], 0), 0);
    }
}
