//! The rows of the table.

use std::{fmt, str::FromStr};

use crate::{crowd, frame};

/// One thing that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Workload {
    /// A frame in which little changes, and eleven systems.
    FrameCalm,
    /// The same with twenty times as many changes.
    FrameBusy,
    /// The same; the dead come back as another kind.
    FrameDrift,
    /// As busy; besides, movers lose and get back their velocity.
    FrameFlip,
    /// Spawn entities without components.
    CreateEmpty,
    /// Spawn entities with two components, one at a time.
    Create2,
    /// Spawn entities with two components by the bulk interface.
    Create2Batch,
    /// Despawn entities that have two components.
    Destroy,
    /// Add a component to every entity, then remove it from every entity.
    AddRemove,
    /// The same with eight other components on each entity.
    AddRemoveWide,
    /// Add and remove through a handle on the one pool that changes.
    PoolEdit,
    /// Write one component.
    Iter1,
    /// Write one component from another; all entities have both.
    Iter2,
    /// The same by a plain `for` loop, entity by entity.
    For2,
    /// The same; every second entity has the second component.
    Iter2Half,
    /// The same; every 64th entity has the second component.
    Iter2Rare,
    /// The same; the second component was added in random order.
    Iter2Shuffled,
    /// Write one component that is spread over 26 combinations.
    IterFrag,
    /// Three required components, spread over 32 combinations.
    Iter3OfMany,
    /// Five components of 16 bytes, one written from four.
    Iter5Wide,
    /// Four components of 112 bytes in all, of which two are used.
    Heavy,
    /// Read one component by entity id, in random order.
    RandomGet,
    /// Read two components at once by entity id, in random order.
    Get2,
    /// A game-like frame: despawn, respawn, toggle a tag, move everything.
    Churn,
    /// Record structural changes for later, then carry them out.
    Commands,
    /// Two components, about 100 operations per entity, two threads.
    ParIter2,
    /// Three systems in the peer's own scheduler.
    Schedule,
    /// A whole world of two components to bytes.
    Serialize,
    /// And back into a fresh world.
    Deserialize,
    /// A second world like the first.
    Clone,
}

impl Workload {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 30] = [
        Self::FrameCalm,
        Self::FrameBusy,
        Self::FrameDrift,
        Self::FrameFlip,
        Self::CreateEmpty,
        Self::Create2,
        Self::Create2Batch,
        Self::Destroy,
        Self::AddRemove,
        Self::AddRemoveWide,
        Self::PoolEdit,
        Self::Iter1,
        Self::Iter2,
        Self::For2,
        Self::Iter2Half,
        Self::Iter2Rare,
        Self::Iter2Shuffled,
        Self::IterFrag,
        Self::Iter3OfMany,
        Self::Iter5Wide,
        Self::Heavy,
        Self::RandomGet,
        Self::Get2,
        Self::Churn,
        Self::Commands,
        Self::ParIter2,
        Self::Schedule,
        Self::Serialize,
        Self::Deserialize,
        Self::Clone,
    ];

    /// Its name in tables, files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FrameCalm => "frame_calm",
            Self::FrameBusy => "frame_busy",
            Self::FrameDrift => "frame_drift",
            Self::FrameFlip => "frame_flip",
            Self::CreateEmpty => "create_empty",
            Self::Create2 => "create_2",
            Self::Create2Batch => "create_2_batch",
            Self::Destroy => "destroy",
            Self::AddRemove => "add_remove",
            Self::AddRemoveWide => "add_remove_wide",
            Self::PoolEdit => "pool_edit",
            Self::Iter1 => "iter_1",
            Self::Iter2 => "iter_2",
            Self::For2 => "for_2",
            Self::Iter2Half => "iter_2_half",
            Self::Iter2Rare => "iter_2_rare",
            Self::Iter2Shuffled => "iter_2_shuffled",
            Self::IterFrag => "iter_frag",
            Self::Iter3OfMany => "iter_3_of_many",
            Self::Iter5Wide => "iter_5_wide",
            Self::Heavy => "heavy",
            Self::RandomGet => "random_get",
            Self::Get2 => "get_2",
            Self::Churn => "churn",
            Self::Commands => "commands",
            Self::ParIter2 => "par_iter_2",
            Self::Schedule => "schedule",
            Self::Serialize => "serialize",
            Self::Deserialize => "deserialize",
            Self::Clone => "clone",
        }
    }

    /// The rows that one measurement fills: the whole first, then its halves if they are timed.
    pub fn rows(self) -> Vec<String> {
        let halves: &[&str] = if self.is_frame() { &["", "_structure", "_queries"] } else { &[""] };
        halves.iter().map(|half| format!("{self}{half}")).collect()
    }

    /// Whether it is one of the `frame` rows.
    pub const fn is_frame(self) -> bool {
        matches!(self, Self::FrameCalm | Self::FrameBusy | Self::FrameDrift | Self::FrameFlip)
    }

    /// The sizes at which it is measured if none are named.
    pub const fn sizes(self) -> &'static [usize] {
        if self.is_frame() { &frame::SIZES } else { &[1000, 100_000, 1_000_000] }
    }

    /// What is timed, in a few words.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::FrameCalm => "0.1 % replaced, 0.15 % change status, then eleven systems",
            Self::FrameBusy => "2 % replaced, 3 % change status, then eleven systems",
            Self::FrameDrift => "as busy; the dead come back as another kind",
            Self::FrameFlip => "as busy; 5 % of the movers lose or get back their velocity",
            Self::CreateEmpty => "spawn N entities without components",
            Self::Create2 => "spawn N entities with two components, one at a time",
            Self::Create2Batch => "spawn N entities with two components by the bulk interface",
            Self::Destroy => "despawn N entities that have two components",
            Self::AddRemove => "add a component to each entity, then remove it from each",
            Self::AddRemoveWide => "the same with 8 other components on each entity",
            Self::PoolEdit => "add_remove through a handle on the one pool that changes",
            Self::Iter1 => "pos.x += 1 over all",
            Self::Iter2 => "pos += vel, all entities have both",
            Self::For2 => "the same by a plain `for` loop, entity by entity",
            Self::Iter2Half => "pos += vel, every 2nd entity has a velocity",
            Self::Iter2Rare => "pos += vel, every 64th entity has a velocity",
            Self::Iter2Shuffled => "pos += vel, velocities were added in random order",
            Self::IterFrag => "one component that is spread over 26 combinations",
            Self::Iter3OfMany => "three components that are spread over 32 combinations",
            Self::Iter5Wide => "five components of 16 bytes, one written from four",
            Self::Heavy => "112 bytes per entity, of which 32 are used",
            Self::RandomGet => "one component by entity id, N look-ups in random order",
            Self::Get2 => "two components at once by entity id, N look-ups in random order",
            Self::Churn => "5 % despawned and respawned, a tag toggled on 10 %, pos += vel",
            Self::Commands => "N/10 inserts, N/10 removes, N/100 spawns and despawns, deferred",
            Self::ParIter2 => "two components, about 100 flops per entity, two threads",
            Self::Schedule => "three systems over two components each, own scheduler",
            Self::Serialize => "a world of two components to bytes",
            Self::Deserialize => "bytes to a fresh world of two components",
            Self::Clone => "a second world of two components like the first",
        }
    }

    /// How many entities one run touches when the world has `n`, for `commands` how many of them
    /// it carries out; times are divided by it.
    pub const fn entities(self, n: usize) -> usize {
        match self {
            Self::Iter2Half => n.div_ceil(HALF),
            Self::Iter2Rare => n.div_ceil(RARE),
            Self::Commands => 2 * (crowd::edits(n) + crowd::guests(n)),
            _ => n,
        }
    }

    /// Whether a second run may follow the first without a reset between them.
    pub const fn repeats(self) -> bool {
        !matches!(
            self,
            Self::CreateEmpty
                | Self::Create2
                | Self::Create2Batch
                | Self::Destroy
                | Self::Deserialize
                | Self::Clone
        )
    }
}

/// Every how many entities have a velocity in `iter_2_half`.
pub const HALF: usize = 2;

/// Every how many entities have a velocity in `iter_2_rare`.
pub const RARE: usize = 64;

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|workload| workload.name() == name)
            .ok_or_else(|| format!("no workload is called `{name}`; `--list` shows them all"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for workload in Workload::ALL {
            assert_eq!(workload.name().parse(), Ok(workload));
        }
    }

    #[test]
    fn rare_counts_the_matching_entities() {
        assert_eq!(Workload::Iter2Rare.entities(257), 5);
        assert_eq!(Workload::Iter2Half.entities(257), 129);
        assert_eq!(Workload::Iter2.entities(257), 257);
    }

    #[test]
    fn commands_are_counted_one_by_one() {
        // 26 inserts, 26 removes, 3 spawns, 3 despawns.
        assert_eq!(Workload::Commands.entities(257), 58);
    }
}
