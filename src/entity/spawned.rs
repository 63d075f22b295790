//! Entities that come to life together.
//!
//! Where nobody has died, indices that follow each other are given out, in their first version. Such a row is two
//! numbers: whoever needs the ids makes them as it goes, and nothing has to be written down and read again.

use std::iter::FusedIterator;
use std::ops::Range;
use std::vec;

use super::Entity;

/// The ids of entities that have come to life together, in the order in which they were asked for.
///
/// An iterator: `collect` makes a list of it.
#[derive(Debug, Clone)]
pub struct Spawned(Ids);

#[derive(Debug, Clone)]
enum Ids {
    /// In their first version.
    Fresh(Range<u32>),
    Listed(vec::IntoIter<Entity>),
}

/// Entities that have just come to life, for who takes them in.
#[derive(Debug, Clone)]
pub(crate) enum Newcomers<'a> {
    /// In their first version.
    Fresh(Range<u32>),
    Listed {
        entities: &'a [Entity],
        /// Whether their indices follow each other.
        are_consecutive: bool,
    },
}

impl Spawned {
    pub(crate) fn fresh(indices: Range<u32>) -> Self {
        Self(Ids::Fresh(indices))
    }

    pub(crate) fn listed(entities: Vec<Entity>) -> Self {
        Self(Ids::Listed(entities.into_iter()))
    }

    /// Those that the iterator has not come to.
    pub(crate) fn newcomers(&self) -> Newcomers<'_> {
        match &self.0 {
            Ids::Fresh(indices) => Newcomers::Fresh(indices.clone()),
            Ids::Listed(left) => {
                Newcomers::Listed { entities: left.as_slice(), are_consecutive: false }
            }
        }
    }
}

impl Newcomers<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fresh(indices) => indices.len(),
            Self::Listed { entities, .. } => entities.len(),
        }
    }
}

/// The entity with this index in its first version.
#[inline(always)]
pub(crate) fn first_version(index: u32) -> Entity {
    Entity::of(index, 0)
}

impl Iterator for Spawned {
    type Item = Entity;

    #[inline]
    fn next(&mut self) -> Option<Entity> {
        match &mut self.0 {
            Ids::Fresh(indices) => indices.next().map(first_version),
            Ids::Listed(left) => left.next(),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Ids::Fresh(indices) => indices.size_hint(),
            Ids::Listed(left) => left.size_hint(),
        }
    }

    #[inline]
    fn nth(&mut self, nth: usize) -> Option<Entity> {
        match &mut self.0 {
            Ids::Fresh(indices) => indices.nth(nth).map(first_version),
            Ids::Listed(left) => left.nth(nth),
        }
    }

    fn fold<A, F: FnMut(A, Entity) -> A>(self, start: A, step: F) -> A {
        match self.0 {
            Ids::Fresh(indices) => indices.map(first_version).fold(start, step),
            Ids::Listed(left) => left.fold(start, step),
        }
    }
}

impl DoubleEndedIterator for Spawned {
    #[inline]
    fn next_back(&mut self) -> Option<Entity> {
        match &mut self.0 {
            Ids::Fresh(indices) => indices.next_back().map(first_version),
            Ids::Listed(left) => left.next_back(),
        }
    }
}

impl ExactSizeIterator for Spawned {}

impl FusedIterator for Spawned {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_whether_they_are_made_or_listed() {
        let fresh = Spawned::fresh(5..9);
        let listed = Spawned::listed((5..9).map(first_version).collect());

        for spawned in [fresh, listed] {
            let ids = |spawned: Spawned| spawned.map(Entity::index).collect::<Vec<_>>();
            let mut rest = spawned.clone();
            assert_eq!(
                (rest.next().map(Entity::index), rest.next_back().map(Entity::index)),
                (Some(5), Some(8))
            );
            assert_eq!((rest.len(), ids(rest.clone())), (2, vec![6, 7]));
            assert_eq!(rest.nth(1).map(Entity::index), Some(7));
            assert_eq!((rest.next(), rest.len()), (None, 0));
            assert_eq!(ids(spawned), [5, 6, 7, 8]);
        }
    }
}
