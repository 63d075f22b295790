//! The walk over the living.

use std::fmt;
use std::iter::FusedIterator;

use super::slot::Slot;
use super::{Entities, Entity};

/// Walks the living entities; see [`Entities::iter`].
pub struct LiveEntities<'a> {
    /// Slots in a row, with the index of the first, in ascending order.
    rows: Box<dyn Iterator<Item = (u32, &'a [Slot])> + Send + Sync + 'a>,
    /// The row being walked, and the index of its first slot.
    row: std::iter::Enumerate<std::slice::Iter<'a, Slot>>,
    first: u32,
    left: usize,
}

impl<'a> LiveEntities<'a> {
    pub(super) fn new(entities: &'a Entities) -> Self {
        let first = entities.limits.range.start;
        // A page may lie on both sides of the first index of the range.
        let far = |below: bool| {
            let rows = entities.far.iter().flat_map(|(page, slots)| slots.rows(page));
            rows.map(move |(index, row)| {
                let split = (first.saturating_sub(index) as usize).min(row.len());
                let (low, high) = row.split_at(split);
                if below { (index, low) } else { (index + split as u32, high) }
            })
        };
        let near = std::iter::once((first, &entities.near[..]));
        let rows = Box::new(far(true).chain(near).chain(far(false)));
        Self { rows, row: [].iter().enumerate(), first: 0, left: entities.len() }
    }
}

impl Iterator for LiveEntities<'_> {
    type Item = Entity;

    #[inline]
    fn next(&mut self) -> Option<Entity> {
        while self.left > 0 {
            let first = self.first;
            if let Some((_, slot)) = self.row.find(|(at, slot)| slot.is_live(first + *at as u32)) {
                self.left -= 1;
                return Some(slot.live_entity());
            }
            let (first, row) = self.rows.next()?;
            self.first = first;
            self.row = row.iter().enumerate();
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for LiveEntities<'_> {}

impl FusedIterator for LiveEntities<'_> {}

impl fmt::Debug for LiveEntities<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveEntities").field("left", &self.left).finish()
    }
}

impl<'a> IntoIterator for &'a Entities {
    type Item = Entity;
    type IntoIter = LiveEntities<'a>;

    fn into_iter(self) -> LiveEntities<'a> {
        self.iter()
    }
}
