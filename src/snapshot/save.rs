//! Takes snapshots.

use std::fmt;
use std::io::Write;
use std::path::Path;

use super::error::SnapshotError;
use super::gather::Gathered;
use super::types::SnapshotTypes;
use super::{file, native, text};
use crate::entity::Entity;
use crate::world::World;

/// Takes snapshots of worlds; made by [`SnapshotTypes::save`].
///
/// # Examples
/// ```
/// # use esker::{Component, World, snapshot::{Snapshot, SnapshotTypes, SnapshotError}};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Component, Snapshot, Serialize, Deserialize)] struct Level(u32);
/// # let types = SnapshotTypes::new().component::<Level>();
/// let mut world = World::new();
/// let ids: Vec<_> = world.spawn_columns(vec![Level(1), Level(9)]).unwrap().collect();
///
/// // Only some entities, and in a format of serde's.
/// let high = |entity| world.get::<Level>(entity).is_some_and(|level| level.0 > 5);
/// let mut json = Vec::new();
/// types.save().only_entities(high).serialize(&world, &mut serde_json::Serializer::new(&mut json))?;
///
/// let loaded = types.load().deserialize(&mut serde_json::Deserializer::from_slice(&json))?;
/// assert_eq!(loaded.entities().collect::<Vec<_>>(), [ids[1]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Saver<'a> {
    types: &'a SnapshotTypes,
    entities: Option<Box<dyn Fn(Entity) -> bool + 'a>>,
    only: Option<Vec<String>>,
    without: Vec<String>,
    progress: Option<Report<'a>>,
    trusts_format: bool,
}

/// How far a long save has come.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The component or resource that is being written.
    pub name: &'a str,
    /// Values written so far, of all components.
    pub done: u64,
    /// Values to be written in all.
    pub total: u64,
}

/// Who is told how far it has come.
type Report<'a> = Box<dyn FnMut(Progress<'_>) + 'a>;

impl SnapshotTypes {
    /// Takes snapshots of these types.
    pub fn save(&self) -> Saver<'_> {
        let (only, without) = (None, Vec::new());
        Saver { types: self, entities: None, only, without, progress: None, trusts_format: false }
    }
}

impl<'a> Saver<'a> {
    /// Keeps only some entities.
    ///
    /// The snapshot knows nothing of the others then, nor of the order in which ids come back.
    #[must_use]
    pub fn only_entities(mut self, filter: impl Fn(Entity) -> bool + 'a) -> Self {
        self.entities = Some(Box::new(filter));
        self
    }

    /// Keeps only the components and resources with these names.
    #[must_use]
    pub fn only<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.only = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Leaves out the components and resources with these names.
    #[must_use]
    pub fn without<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.without.extend(names.into_iter().map(Into::into));
        self
    }

    /// Is told how far it has come: at each component, and every few thousand values.
    #[must_use]
    pub fn progress(mut self, report: impl FnMut(Progress<'_>) + 'a) -> Self {
        self.progress = Some(Box::new(report));
        self
    }

    /// Writes the native format.
    ///
    /// # Errors
    /// [`SnapshotError`] if something is not registered, borrowed for writing, or cannot be written.
    #[track_caller]
    pub fn to_bytes(self, world: &World) -> Result<Vec<u8>, SnapshotError> {
        let mut bytes = Vec::new();
        self.to_writer(world, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes the native format, piece by piece.
    ///
    /// # Errors
    /// As [`to_bytes`](Self::to_bytes), and [`SnapshotError::Io`] if the writer fails.
    #[track_caller]
    pub fn to_writer(mut self, world: &World, writer: impl Write) -> Result<(), SnapshotError> {
        let gathered = Gathered::of(world, &self)?;
        native::write(&gathered, writer, &mut Reporter::new(&gathered, self.progress.take()))
    }

    /// Writes a file in the native format: all of it, or none.
    ///
    /// It is written under another name beside `path`, and renamed when it is complete; a file
    /// that was there before stays as it was if anything fails.
    ///
    /// # Errors
    /// As [`to_writer`](Self::to_writer).
    #[track_caller]
    pub fn to_file(self, world: &World, path: impl AsRef<Path>) -> Result<(), SnapshotError> {
        file::replace(path.as_ref(), |file| self.to_writer(world, file))
    }

    /// Lets [`serialize`](Self::serialize) write values that some formats lose.
    ///
    /// For formats that keep them:
    ///
    /// | value | refused in | kept by |
    /// |---|---|---|
    /// | NaN and infinities | text formats | RON, YAML, TOML, not by JSON |
    /// | `Some(None)`, `Some(())`, `Some` of a struct without fields | all formats | RON, postcard, bincode, not by JSON or CBOR |
    /// | fields that `skip_serializing_if` leaves out; types with `tag`, `untagged` or `flatten` | binary formats | CBOR, MessagePack with names, not by postcard or bincode |
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World, snapshot::{Snapshot, SnapshotTypes}};
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Component, Snapshot, Serialize, Deserialize)]
    /// struct Speed { along: f32 }
    ///
    /// let types = SnapshotTypes::new().component::<Speed>();
    /// let mut world = World::new();
    /// world.spawn(Speed { along: f32::NAN });
    ///
    /// // JSON would write `null`, and that could not be loaded.
    /// let error = types.save().serialize(&world, serde_json::value::Serializer).unwrap_err();
    /// assert!(error.to_string().starts_with("in component `Speed` of 0v0, at `along`: NaN"));
    /// ```
    #[must_use]
    pub fn trust_format(mut self) -> Self {
        self.trusts_format = true;
        self
    }

    /// Writes any format of serde, value by value.
    ///
    /// What is written can be loaded, and is the same value then. So values that formats of the kind are known to lose
    /// are refused, unless [`trust_format`](Self::trust_format) is said.
    ///
    /// # Errors
    /// What the serializer says, and what [`to_bytes`](Self::to_bytes) would; with the component or resource, the
    /// entity, and the field. Values that were written before stay written.
    #[track_caller]
    pub fn serialize<S: serde::Serializer>(
        mut self,
        world: &World,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let gathered = Gathered::of(world, &self).map_err(serde::ser::Error::custom)?;
        let reporter = Reporter::new(&gathered, self.progress.take());
        text::serialize(&gathered, reporter, self.trusts_format, serializer)
    }

    pub(super) fn types(&self) -> &SnapshotTypes {
        self.types
    }

    pub(super) fn entity_filter(&self) -> Option<&dyn Fn(Entity) -> bool> {
        Some(&**self.entities.as_ref()?)
    }

    /// Whether names were chosen one by one.
    pub(super) fn chooses_names(&self) -> bool {
        self.only.is_some()
    }

    pub(super) fn wants(&self, name: &str) -> bool {
        let is_chosen = |names: &Vec<String>| names.iter().any(|chosen| chosen == name);
        self.only.as_ref().is_none_or(is_chosen) && !is_chosen(&self.without)
    }
}

impl fmt::Debug for Saver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Saver").field("types", self.types).finish_non_exhaustive()
    }
}

/// Counts what is written, and reports it now and then.
pub(super) struct Reporter<'a> {
    report: Option<Report<'a>>,
    done: u64,
    total: u64,
}

/// Values between two reports.
const PACE: u64 = 1 << 14;

impl<'a> Reporter<'a> {
    fn new(gathered: &Gathered<'_>, report: Option<Report<'a>>) -> Self {
        let values = gathered.columns.iter().map(|column| column.entities().len() as u64);
        Self { report, done: 0, total: values.sum::<u64>() + gathered.singles.len() as u64 }
    }

    /// Reports to nobody.
    pub(super) fn silent() -> Self {
        Self { report: None, done: 0, total: 0 }
    }

    /// Says that some values were written.
    pub(super) fn written(&mut self, name: &str, count: usize) {
        let before = self.done / PACE;
        self.done += count as u64;
        if let Some(report) = &mut self.report
            && (count != 1 || self.done / PACE != before)
        {
            report(Progress { name, done: self.done, total: self.total });
        }
    }
}
