//! Tells an adaptive world which pools a walk requires.

use super::filter::QueryFilter;
use super::held::Held;
use super::survey::{Column, Part, Role, Surveyor, UNKNOWN};
use super::term::QueryData;
use crate::world::World;

/// A query that requires more components than this is not counted.
const MOST: usize = 16;

impl<D: QueryData, F: QueryFilter> Held<'_, D, F> {
    /// Counts a walk of a driver of this length that is about to begin.
    #[cold]
    #[inline(never)]
    pub(super) fn count_walk(&self, entities: usize) {
        let mut required = Required { ids: [UNKNOWN; MOST], len: 0, is_known: true, depth: 0 };
        self.show(&mut required);
        required.tell(self.opening.world, entities);
    }
}

/// Collects the components that a query requires.
struct Required {
    ids: [u32; MOST],
    len: usize,
    /// Whether the world knows all of them, and there are not too many.
    is_known: bool,
    /// Optional parts that are open.
    depth: usize,
}

impl Required {
    fn tell(&mut self, world: &World, entities: usize) {
        let ids = &mut self.ids[..self.len];
        ids.sort_unstable();
        // A component may be asked for twice: fetched, and in a filter.
        let mut distinct = usize::from(!ids.is_empty());
        for at in 1..ids.len() {
            if ids[at] != ids[distinct - 1] {
                ids[distinct] = ids[at];
                distinct += 1;
            }
        }
        if self.is_known && distinct > 1 {
            world.count_walk(&ids[..distinct], entities);
        }
    }
}

impl<'a> Surveyor<'a> for Required {
    fn column(&mut self, column: Column<'a>) {
        if self.depth > 0 || !matches!(column.role, Role::Fetched | Role::With) {
            return;
        }
        match self.ids.get_mut(self.len) {
            Some(id) if column.id != UNKNOWN => {
                *id = column.id;
                self.len += 1;
            }
            _ => self.is_known = false,
        }
    }

    fn begin(&mut self, _: Part) {
        self.depth += 1;
    }

    fn end(&mut self) {
        self.depth -= 1;
    }
}
