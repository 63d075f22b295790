//! The walk over the living.

use std::fmt;
use std::iter::FusedIterator;

use super::slot::SlotPage;
use super::{Entities, Entity};
use crate::page::{PAGE_LEN, PageTable};

/// Walks the living entities; see [`Entities::iter`].
pub struct LiveEntities<'a> {
    pages: Box<dyn Iterator<Item = (u32, &'a SlotPage)> + 'a>,
    page: Option<(u32, &'a SlotPage, usize)>,
    left: usize,
}

impl<'a> LiveEntities<'a> {
    pub(super) fn new(slots: &'a PageTable<SlotPage>, left: usize) -> Self {
        Self { pages: Box::new(slots.iter()), page: None, left }
    }
}

impl Iterator for LiveEntities<'_> {
    type Item = Entity;

    #[inline]
    fn next(&mut self) -> Option<Entity> {
        if self.left == 0 {
            return None;
        }
        loop {
            if let Some((number, page, from)) = &mut self.page {
                let first = *number * PAGE_LEN as u32;
                while *from < PAGE_LEN {
                    let place = *from;
                    *from += 1;
                    let index = first + place as u32;
                    if page[place].is_live(index) {
                        self.left -= 1;
                        return Entity::new(index, page[place].version());
                    }
                }
            }
            let (number, page) = self.pages.next()?;
            self.page = Some((number, page, 0));
        }
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
