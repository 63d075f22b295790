//! Worlds with limits.

use std::ops::Range;

use super::World;
use crate::entity::{Entities, Entity, Limits};

/// Says which ids a new [`World`] may give out.
///
/// # Examples
/// ```
/// # use esker::World;
/// // A client whose own ids never meet those of the server.
/// let mut client = World::builder().entity_range(1_000_000..2_000_000).build();
/// assert_eq!(client.spawn(()).index(), 1_000_000);
///
/// // Memory for ids is allocated once.
/// let mut small = World::builder().entity_limit(1).build();
/// small.spawn(());
/// assert!(small.try_spawn(()).is_err());
/// ```
#[derive(Debug, Clone, Default)]
pub struct WorldBuilder {
    range: Option<Range<u32>>,
    limit: Option<u32>,
    last_version: Option<u32>,
}

impl WorldBuilder {
    /// Gives out only indices of this range by itself.
    ///
    /// Ids outside can still be demanded with [`World::spawn_at`], and are not reused after they
    /// died: they belong to whoever demanded them. Indices above [`Entity::MAX_INDEX`] − 1 are
    /// never given out.
    #[doc(alias = "partition")]
    #[doc(alias = "start_from")]
    pub fn entity_range(mut self, range: Range<u32>) -> Self {
        self.range = Some(range);
        self
    }

    /// Lets at most `limit` entities live at a time; room for their ids is allocated at once.
    ///
    /// Spawning more is an error, and so is demanding an index beyond the limit.
    pub fn entity_limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Retires an index after this version instead of [`Entity::MAX_VERSION`].
    ///
    /// For tests: it makes ids run out within reach.
    pub fn last_version(mut self, version: u32) -> Self {
        self.last_version = Some(version);
        self
    }

    /// Builds the world.
    ///
    /// # Panics
    /// If the range of entities ends before it starts.
    #[track_caller]
    pub fn build(self) -> World {
        let mut limits = Limits::default();
        if let Some(range) = self.range {
            let (start, end) = (range.start, range.end);
            assert!(start <= end, "entity_range({start}..{end}) ends before it starts");
            limits.range = start.min(limits.range.end)..end.min(limits.range.end);
        }
        if let Some(limit) = self.limit {
            limits.range.end = limits.range.end.min(limits.range.start.saturating_add(limit));
            limits.fixed = true;
        }
        if let Some(version) = self.last_version {
            limits.last_version = version.min(Entity::MAX_VERSION);
        }
        World { entities: Entities::with_limits(limits), ..World::default() }
    }
}
