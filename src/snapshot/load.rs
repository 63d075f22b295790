//! Loads snapshots.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde::Deserializer;

use super::error::{SnapshotError, What};
use super::merge::{self, Merged};
use super::state::{State, Stray};
use super::types::SnapshotTypes;
use super::{native, text};
use crate::entity::Entity;
use crate::world::World;

/// Loads snapshots into worlds; made by [`SnapshotTypes::load`].
///
/// Whatever goes wrong, the world is as it was: a snapshot is read and checked as a whole before
/// the world is touched. Bytes that were damaged, or made to do damage, are an error and never a
/// panic, and take no more than four times their size and one MiB of memory, unless
/// [`memory_limit`](Self::memory_limit) allows more.
///
/// # Examples
/// ```
/// # use esker::{Component, World, snapshot::{Snapshot, SnapshotTypes, SnapshotError}};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Component, Snapshot, Serialize, Deserialize)] struct Level(u32);
/// # let types = SnapshotTypes::new().component::<Level>();
/// # let mut world = World::new();
/// # let e = world.spawn(Level(7));
/// let bytes = types.save().to_bytes(&world)?;
///
/// // In place of what is there: the same ids.
/// world.despawn(e).unwrap();
/// types.load().replace(&mut world, &bytes)?;
/// assert_eq!(world.get::<Level>(e).unwrap().0, 7);
///
/// // Beside what is there: new ids.
/// let merged = types.load().merge(&mut world, &bytes)?;
/// let twin = merged.get(e).unwrap();
/// assert!(twin != e && world.get::<Level>(twin).unwrap().0 == 7);
///
/// // Something that is no snapshot.
/// assert!(types.load().replace(&mut world, b"hello").is_err());
/// assert_eq!(world.len(), 2);
/// # Ok::<(), SnapshotError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Loader<'a> {
    types: &'a SnapshotTypes,
    unknown: Unknown,
    dangling: Option<Dangling>,
    memory_limit: Option<usize>,
}

/// What to do with components and resources of a snapshot that are not registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Unknown {
    /// Refuse the snapshot.
    #[default]
    Refuse,
    /// Load the rest; the report names what was left out.
    Skip,
    /// Keep the bytes of components with the world, so that the next snapshot has them again.
    ///
    /// In the native format; the ids inside such bytes are not mapped. Resources are skipped.
    Keep,
}

/// What to do with ids inside values that are not those of entities in the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dangling {
    /// Refuse the snapshot.
    Refuse,
    /// Let them go: see [`MapEntities`](super::MapEntities).
    Clear,
}

/// What loading has left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LoadReport {
    /// Names of components and resources that are not registered.
    pub skipped: Vec<String>,
    /// References that lead nowhere: the component or resource, the entity that has it, and the
    /// entity that is not there.
    pub dangling: Vec<(&'static str, Option<Entity>, Entity)>,
}

impl SnapshotTypes {
    /// Loads snapshots of these types.
    pub fn load(&self) -> Loader<'_> {
        Loader { types: self, unknown: Unknown::default(), dangling: None, memory_limit: None }
    }
}

impl Loader<'_> {
    /// What to do with components and resources that are not registered.
    #[must_use]
    pub fn unknown(mut self, rule: Unknown) -> Self {
        self.unknown = rule;
        self
    }

    /// What to do with ids inside values that are not those of entities in the snapshot.
    ///
    /// Unless told, they stay as they are where ids stay the same, because they lead nowhere there
    /// either, and are let go where entities get new ids.
    #[must_use]
    pub fn dangling(mut self, rule: Dangling) -> Self {
        self.dangling = Some(rule);
        self
    }

    /// Allows a snapshot to take this many bytes of memory.
    ///
    /// Unless it is said, that is four times its size and one MiB in the native format. Documents of other formats do
    /// not say how long they are: for what they are turned into, 64 bytes for each number of the book and each
    /// value are allowed, and 16 MiB.
    ///
    /// For snapshots that you trust. Few entities with ids far apart take many times their size, and
    /// so do long lists of large values that take few bytes, as `None` does.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// A new world from a snapshot in the native format.
    ///
    /// Ids and the order of all pools are those of the world that was saved, and so is the next id
    /// that will be given out. Pools also stay in the order in which that world would keep them, unless it had
    /// components that were not saved, groups, or pools that were sorted.
    ///
    /// # Errors
    /// [`SnapshotError`], with the place and the reason.
    pub fn to_world(&self, bytes: &[u8]) -> Result<World, SnapshotError> {
        let mut world = World::new();
        self.replace(&mut world, bytes)?;
        Ok(world)
    }

    /// Replaces everything that lives in `world`, and the registered resources.
    ///
    /// What was there is gone as by [`World::clear`]; listeners hear of that and of what came.
    /// Groups stay and are filled; resources that are not registered stay.
    ///
    /// # Errors
    /// As [`to_world`](Self::to_world); the world is as it was then.
    pub fn replace(&self, world: &mut World, bytes: &[u8]) -> Result<LoadReport, SnapshotError> {
        self.put(world, native::read(bytes, self)?)
    }

    /// As [`replace`](Self::replace), from whatever can be read.
    ///
    /// # Errors
    /// As [`to_world`](Self::to_world), and [`SnapshotError::Io`].
    pub fn replace_from(
        &self,
        world: &mut World,
        mut reader: impl Read,
    ) -> Result<LoadReport, SnapshotError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        self.replace(world, &bytes)
    }

    /// As [`replace`](Self::replace), from a file.
    ///
    /// # Errors
    /// As [`to_world`](Self::to_world), and [`SnapshotError::Io`].
    pub fn replace_from_file(
        &self,
        world: &mut World,
        path: impl AsRef<Path>,
    ) -> Result<LoadReport, SnapshotError> {
        self.replace(world, &fs::read(path)?)
    }

    /// Adds the entities of a snapshot to those of `world`, with new ids.
    ///
    /// Ids inside values follow. Resources of the snapshot replace those of the world.
    ///
    /// # Errors
    /// As [`to_world`](Self::to_world), and if the world has too few ids left.
    pub fn merge(&self, world: &mut World, bytes: &[u8]) -> Result<Merged, SnapshotError> {
        merge::merge(self, world, native::read(bytes, self)?)
    }

    /// A new world from any format of serde.
    ///
    /// The parts must come in the order in which they were written. What follows the document is left to the
    /// deserializer: call its `end`, if it has one.
    ///
    /// # Errors
    /// What the deserializer says, and what [`to_world`](Self::to_world) would.
    pub fn deserialize<'de, D: Deserializer<'de>>(&self, from: D) -> Result<World, D::Error> {
        let mut world = World::new();
        self.deserialize_into(&mut world, from)?;
        Ok(world)
    }

    /// As [`replace`](Self::replace), from any format of serde.
    ///
    /// # Errors
    /// As [`deserialize`](Self::deserialize); the world is as it was then.
    pub fn deserialize_into<'de, D: Deserializer<'de>>(
        &self,
        world: &mut World,
        from: D,
    ) -> Result<LoadReport, D::Error> {
        let state = text::deserialize(self, from)?;
        self.put(world, state).map_err(serde::de::Error::custom)
    }

    /// As [`merge`](Self::merge), from any format of serde.
    ///
    /// # Errors
    /// As [`deserialize`](Self::deserialize).
    pub fn deserialize_merge<'de, D: Deserializer<'de>>(
        &self,
        world: &mut World,
        from: D,
    ) -> Result<Merged, D::Error> {
        let state = text::deserialize(self, from)?;
        merge::merge(self, world, state).map_err(serde::de::Error::custom)
    }

    /// Puts a state with the same ids into a world.
    fn put(&self, world: &mut World, mut state: State) -> Result<LoadReport, SnapshotError> {
        let mut dangling = Vec::new();
        if let Some(rule) = self.dangling {
            let living = state.book.copy();
            dangling = state.map_references(|entity| living.is_alive(entity).then_some(entity));
            refuse_strays(rule, &dangling)?;
        }
        let skipped = std::mem::take(&mut state.skipped);
        state.replace(world, self.types);
        Ok(LoadReport { skipped, dangling })
    }

    pub(super) fn types(&self) -> &SnapshotTypes {
        self.types
    }

    pub(super) fn unknown_rule(&self) -> Unknown {
        self.unknown
    }

    pub(super) fn dangling_rule(&self) -> Option<Dangling> {
        self.dangling
    }

    /// The limit, if one was said.
    pub(super) fn memory_limit_said(&self) -> Option<usize> {
        self.memory_limit
    }

    pub(super) fn limit_for(&self, input: usize) -> usize {
        self.memory_limit.unwrap_or(input.saturating_mul(4).saturating_add(1 << 20))
    }

    /// Refuses what is unknown, if that is the rule.
    pub(super) fn refuse_unknown(
        &self,
        what: What,
        name: &str,
        version: u32,
    ) -> Result<(), SnapshotError> {
        match self.unknown {
            Unknown::Refuse => {
                let known = self.types.known_versions(what, name);
                Err(SnapshotError::Unknown { what, name: name.to_owned(), version, known })
            }
            Unknown::Skip | Unknown::Keep => Ok(()),
        }
    }
}

/// Refuses references that lead nowhere, if that is the rule.
pub(super) fn refuse_strays(rule: Dangling, strays: &[Stray]) -> Result<(), SnapshotError> {
    match (rule, strays.first()) {
        (Dangling::Refuse, Some(&(name, owner, target))) => {
            Err(SnapshotError::Dangling { name: name.to_owned(), owner, target })
        }
        _ => Ok(()),
    }
}
