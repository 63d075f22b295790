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

/// A number that queries of the same shape share, and others do not: two shapes of one tag would take each other's
/// place for ever, and neither would have a plan.
pub(crate) struct Tag {
    sum: u64,
    /// What the next word is multiplied by; a constant where the query is compiled.
    factor: u64,
}

/// The ratio of the factors of two words in a row: odd, and with bits all over.
const RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

impl Default for Tag {
    #[inline]
    fn default() -> Self {
        Self { sum: 0, factor: RATIO }
    }
}

impl Tag {
    /// The number; never zero. The upper half says where to look.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.sum | 1
    }
}

impl Spelling for Tag {
    // A sum of products, of which none waits for the one before.
    #[inline]
    fn shape(&mut self, word: u64) {
        // A word may be zero, and counts all the same.
        self.sum = self.sum.wrapping_add((word + 1).wrapping_mul(self.factor));
        self.factor = self.factor.wrapping_mul(RATIO);
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
        // The first component of a world, fetched, is the word zero.
        assert_ne!(tag(&[0, 7], 0), tag(&[7], 0));
        assert_ne!(tag(&[0], 0), tag(&[0, 0], 0));
    }

    /// As queries spell them: the number of a component, and eight bits for its role.
    #[test]
    fn no_two_of_many_shapes_share_a_tag() {
        let mut state = 1_u64;
        let mut below = |end: u64| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (state >> 33) % end
        };
        let mut shapes = std::collections::BTreeSet::new();
        while shapes.len() < if cfg!(miri) { 300 } else { 50_000 } {
            let (len, components) = (1 + below(8), 1 + below(100));
            let word = |below: &mut dyn FnMut(u64) -> u64| below(components) << 8 | below(8);
            shapes.insert((0..len).map(|_| word(&mut below)).collect::<Vec<u64>>());
        }

        let tags = shapes.iter().map(|shape| spell(Tag::default(), shape, 0).get());

        assert_eq!(tags.collect::<std::collections::BTreeSet<u64>>().len(), shapes.len());
    }
}
