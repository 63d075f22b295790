//! The rows of the table.

use std::{fmt, str::FromStr};

use crate::{crowd, frame};

/// Defines the workloads: the variant, its name, and what is timed in a few words.
macro_rules! workloads {
    ($($(#[$doc:meta])* $variant:ident $name:ident: $timed:literal,)*) => {
        /// One thing that is measured.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Workload {
            $($(#[$doc])* $variant,)*
        }

        impl Workload {
            /// All of them, in the order of the table.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// Its name in tables, files and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name)),* }
            }

            /// What is timed, in a few words.
            pub const fn describe(self) -> &'static str {
                match self { $(Self::$variant => $timed),* }
            }
        }
    };
}

workloads! {
    /// A frame in which little changes, and eleven systems.
    FrameCalm frame_calm: "0.1 % replaced, 0.15 % change status, then eleven systems",
    /// The same with twenty times as many changes.
    FrameBusy frame_busy: "2 % replaced, 3 % change status, then eleven systems",
    /// The same; the dead come back as another kind.
    FrameDrift frame_drift: "as busy; the dead come back as another kind",
    /// As busy; besides, movers lose and get back their velocity.
    FrameFlip frame_flip: "as busy; 5 % of the movers lose or get back their velocity",
    /// Spawn entities without components, one at a time.
    CreateEmpty create_empty: "spawn N entities without components, one at a time",
    /// Spawn entities without components by the bulk interface.
    CreateEmptyBatch create_empty_batch: "spawn N entities without components by the bulk interface",
    /// Spawn entities with two components, one at a time.
    Create2 create_2: "spawn N entities with two components, one at a time",
    /// Spawn entities with two components by the bulk interface.
    Create2Batch create_2_batch: "spawn N entities with two components by the bulk interface",
    /// Despawn entities that have two components, one at a time.
    Destroy destroy: "despawn N entities that have two components, one at a time",
    /// Despawn entities that have two components by the bulk interface.
    DestroyBatch destroy_batch: "despawn N entities that have two components by the bulk interface",
    /// Add a component to every entity, then remove it from every entity.
    AddRemove add_remove: "add a component to each entity, then remove it from each",
    /// The same with eight other components on each entity.
    AddRemoveWide add_remove_wide: "the same with 8 other components on each entity",
    /// Add and remove through a handle on the one pool that changes.
    PoolEdit pool_edit: "add_remove through a handle on the one pool that changes",
    /// Write one component.
    Iter1 iter_1: "pos.x += 1 over all",
    /// Write one component from another; all entities have both.
    Iter2 iter_2: "pos += vel, all entities have both",
    /// The same by a plain `for` loop, entity by entity.
    For2 for_2: "the same by a plain `for` loop, entity by entity",
    /// The same; every second entity has the second component.
    Iter2Half iter_2_half: "pos += vel, every 2nd entity has a velocity",
    /// The same; every 64th entity has the second component.
    Iter2Rare iter_2_rare: "pos += vel, every 64th entity has a velocity",
    /// The same; the second component was added in random order.
    Iter2Shuffled iter_2_shuffled: "pos += vel, velocities were added in random order",
    /// Write one component that is spread over 26 combinations.
    IterFrag iter_frag: "one component that is spread over 26 combinations",
    /// The same by a plain `for` loop, entity by entity.
    ForFrag for_frag: "the same by a plain `for` loop, entity by entity",
    /// Three required components, spread over 32 combinations.
    Iter3OfMany iter_3_of_many: "three components that are spread over 32 combinations",
    /// Five components of 16 bytes, one written from four.
    Iter5Wide iter_5_wide: "five components of 16 bytes, one written from four",
    /// Four components of 112 bytes in all, of which two are used.
    Heavy heavy: "112 bytes per entity, of which 32 are used",
    /// Read one component by entity id, in random order.
    RandomGet random_get: "one component by entity id, N look-ups in random order",
    /// Read two components at once by entity id, in random order.
    Get2 get_2: "two components at once by entity id, N look-ups in random order",
    /// Despawn, respawn, toggle a tag, one call each, and move everything.
    Churn churn: "5 % despawned and respawned, a tag toggled on 10 %, pos += vel",
    /// Record structural changes for later, then carry them out.
    Commands commands: "N/10 inserts, N/10 removes, N/100 spawns and despawns, deferred",
    /// Two components, about 100 operations per entity, two threads.
    ParIter2 par_iter_2: "two components, about 100 flops per entity, two threads",
    /// Three systems in the own scheduler of each library, as ecs_bench_suite has them.
    Schedule schedule: "A/B, C/D and C/E swapped by three systems, own scheduler",
    /// The same by plain `for` loops, entity by entity.
    ForSchedule for_schedule: "the same by plain `for` loops, entity by entity",
    /// A whole world of two components to bytes.
    Serialize serialize: "a world of two components to bytes",
    /// And back into a fresh world.
    Deserialize deserialize: "bytes to a fresh world of two components",
    /// A second world like the first.
    Clone clone: "a second world of two components like the first",
}

impl Workload {
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
        match self {
            _ if self.is_frame() => &frame::SIZES,
            // 26 combinations of 20 entities, as in ecs_bench_suite, and more.
            Self::IterFrag | Self::ForFrag => &[520, 1000, 100_000, 1_000_000],
            _ => &[1000, 100_000, 1_000_000],
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
                | Self::CreateEmptyBatch
                | Self::Create2
                | Self::Create2Batch
                | Self::Destroy
                | Self::DestroyBatch
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
