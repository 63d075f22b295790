//! What a world occupies, and giving it back.

use std::fmt;

use super::World;
use crate::storage::MapMemory;

/// Heap memory of a [`World`], in bytes; prints as a table.
///
/// Counts what the world itself has allocated; what values and resources own is theirs.
///
/// # Examples
/// ```
/// # use esker::{Component, World};
/// # #[derive(Component)] struct Position([f32; 2]);
/// let mut world = World::new();
/// world.spawn_batch((0..1000).map(|_| Position([0.0; 2])));
/// let report = world.memory_report();
/// assert!(report.pools[0].memory.values >= 8_000);
/// println!("{report}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryReport {
    /// Slots of ids and signatures.
    pub entities: usize,
    /// Where entities belong that lie side by side in all their pools.
    pub homes: usize,
    /// The pools, in the order in which the world came to know the components.
    pub pools: Vec<PoolMemory>,
    /// Commands that listeners have recorded.
    pub commands: usize,
    /// Number of resources.
    pub resources: usize,
}

/// Heap memory of one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolMemory {
    /// Name of the component type.
    pub name: &'static str,
    /// Number of values.
    pub len: usize,
    /// Bytes.
    pub memory: MapMemory,
    /// Removals that wait to be read.
    pub journal: JournalMemory,
}

/// Removals of a component that wait for readers; see [`World::removed`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalMemory {
    /// Removals that not all readers have read.
    pub waiting: usize,
    /// Removals that went although a reader had not read them.
    pub overtaken: u64,
    /// Bytes.
    pub bytes: usize,
}

impl MemoryReport {
    /// All of it, in bytes.
    pub fn total(&self) -> usize {
        self.entities
            + self.homes
            + self.commands
            + self.pools.iter().map(|p| p.memory.total() + p.journal.bytes).sum::<usize>()
    }
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>12} {:>12} {:>10}  pool", "values", "look-up", "entities")?;
        for pool in &self.pools {
            let MapMemory { entities, values } = pool.memory;
            writeln!(f, "{values:>12} {entities:>12} {:>10}  {}", pool.len, pool.name)?;
        }
        for pool in self.pools.iter().filter(|pool| pool.journal.bytes > 0) {
            let JournalMemory { waiting, overtaken, bytes } = pool.journal;
            write!(f, "{bytes:>12} {:>12} {waiting:>10}  (removals of {}", "", pool.name)?;
            match overtaken {
                0 => writeln!(f, ")")?,
                _ => writeln!(f, "; {overtaken} went unread)")?,
            }
        }
        writeln!(f, "{:>12} {:>12} {:>10}  (ids and signatures)", "", self.entities, "")?;
        writeln!(f, "{:>12} {:>12} {:>10}  (homes of entities)", "", self.homes, "")?;
        write!(f, "{} bytes in all, and {} resources", self.total(), self.resources)
    }
}

impl World {
    /// Says what the world occupies.
    ///
    /// # Panics
    /// If a component is borrowed for writing.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// #[derive(Component)]
    /// struct Tag;
    ///
    /// let mut world = World::new();
    /// world.spawn(Tag);
    /// let report = world.memory_report();
    /// assert_eq!((report.pools[0].len, report.pools[0].memory.values), (1, 0));
    /// println!("{report}");
    /// ```
    #[track_caller]
    pub fn memory_report(&self) -> MemoryReport {
        let pools = self.pools.iter().map(|pool| {
            let map = pool.read().unwrap_or_else(|conflict| {
                panic!("{}", super::BorrowConflict::new(pool.name(), conflict))
            });
            let (waiting, overtaken, bytes) = pool.journal_size();
            let journal = JournalMemory { waiting, overtaken, bytes };
            let len = map.entities().len();
            PoolMemory { name: pool.name(), len, memory: map.memory(), journal }
        });
        MemoryReport {
            entities: self.entities.heap_bytes(),
            homes: self.pools.homes.heap_bytes() + self.pools.remains_bytes(),
            pools: pools.collect(),
            commands: self.queue_bytes(),
            resources: self.resources.len(),
        }
    }

    /// Gives back memory that serves nothing: after a peak, after a level.
    ///
    /// Slots of dead ids stay, because their versions must be remembered.
    #[doc(alias = "compact")]
    pub fn shrink_to_fit(&mut self) {
        self.entities.shrink_to_fit();
        for id in 0..self.pools.len() {
            self.pools.at_mut(id).map_mut().shrink_to_fit();
        }
        self.entities.forget_guesses();
        self.pools.homes.shrink_to_fit();
        self.pools.forget_remains();
    }
}
