//! What can go wrong, with the place and the remedy.

use std::error::Error;
use std::{fmt, io};

use crate::world::BorrowConflict;

/// A snapshot that cannot be taken or loaded. The world is as it was.
#[derive(Debug)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The world has a component or resource that the [types](super::SnapshotTypes) do not know.
    Unregistered {
        /// What it is, and its type.
        what: What,
        /// Name of the type.
        name: &'static str,
    },
    /// A component or resource does not say how it is cloned.
    NotClonable {
        /// What it is.
        what: What,
        /// Name of the type.
        name: &'static str,
    },
    /// It is borrowed in a way that excludes reading it.
    Borrowed(BorrowConflict),
    /// A value cannot be written.
    Unwritable {
        /// Name of the component or resource in the snapshot.
        name: String,
        /// Why not.
        why: String,
    },
    /// These bytes are not a snapshot, or not one any more.
    Corrupt {
        /// The first byte that is wrong, where that is known.
        at: Option<u64>,
        /// The part of the snapshot it belongs to.
        part: String,
        /// What is wrong.
        why: String,
    },
    /// It was written in a newer format than this library knows.
    NewerFormat {
        /// The format of the snapshot.
        found: u32,
        /// The newest one that is known.
        known: u32,
    },
    /// It has a component or resource, or a version of one, that the types do not know.
    Unknown {
        /// What it is.
        what: What,
        /// Its name in the snapshot.
        name: String,
        /// Its version there.
        version: u32,
        /// The versions that are known, if the name is.
        known: Option<String>,
    },
    /// A value refers to an entity that is not in the snapshot, and the rule is to refuse that.
    Dangling {
        /// Name of the component or resource.
        name: String,
        /// The entity that has it.
        owner: Option<crate::Entity>,
        /// The entity that is not there.
        target: crate::Entity,
    },
    /// It would take more memory than is allowed.
    TooLarge {
        /// What it would take, about.
        needed: usize,
        /// What is allowed.
        limit: usize,
    },
    /// Changes are not known that far back.
    TooOld {
        /// The tick that was asked for.
        asked: crate::Tick,
        /// The earliest that can be.
        earliest: crate::Tick,
    },
    /// There is no state that far back.
    NoState {
        /// How many steps were asked for.
        asked: usize,
        /// How many states there are.
        kept: usize,
    },
    /// There is no registry where one was looked for: among the resources of the world.
    NoTypes,
    /// The world has too few ids left.
    Out(crate::entity::OutOfEntities),
    /// An entity of a delta cannot be had.
    Taken(crate::entity::SpawnAtError),
    /// Reading or writing a file failed.
    Io(io::Error),
}

/// What a snapshot speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A component.
    Component,
    /// A resource.
    Resource,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Component => "component",
            Self::Resource => "resource",
        })
    }
}

impl SnapshotError {
    pub(super) fn unregistered(what: What, name: &'static str) -> Self {
        Self::Unregistered { what, name }
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unregistered { what, name } => {
                let (add, leave) = match what {
                    What::Component => ("component", "ignore"),
                    What::Resource => ("resource", "ignore_resource"),
                };
                write!(
                    f,
                    "{what} `{name}` is not registered for snapshots; add it to the \
                     `SnapshotTypes` with `.{add}::<…>()`, or leave it out with `.{leave}::<…>()`"
                )
            }
            Self::NotClonable { what, name } => write!(
                f,
                "{what} `{name}` does not say how it is cloned; add `clone` to its \
                 `#[snapshot(…)]`, or leave it out with `.ignore::<…>()` instead of registering it"
            ),
            Self::Borrowed(conflict) => conflict.fmt(f),
            Self::Unwritable { name, why } => write!(f, "`{name}` cannot be written: {why}"),
            Self::Corrupt { at, part, why } => {
                f.write_str("the snapshot is damaged")?;
                if let Some(at) = at {
                    write!(f, " at byte {at}")?;
                }
                write!(f, ", in {part}: {why}")
            }
            Self::NewerFormat { found, known } => write!(
                f,
                "unsupported format {found}: the snapshot was written by a newer version of esker; \
                 this one reads up to format {known}"
            ),
            Self::Unknown { what, name, version, known: None } => write!(
                f,
                "{what} `{name}` (version {version}) of the snapshot is not registered; register \
                 its type, or say `.unknown(Unknown::Skip)` or `.unknown(Unknown::Keep)`"
            ),
            Self::Unknown { what, name, version, known: Some(known) } => write!(
                f,
                "{what} `{name}` of the snapshot has version {version}, and what is registered \
                 reads version {known}; register a function with `.migrate(…)`"
            ),
            Self::Dangling { name, owner, target } => {
                write!(f, "`{name}`")?;
                if let Some(owner) = owner {
                    write!(f, " of {owner}")?;
                }
                write!(f, " refers to {target}, which is not in the snapshot; say ")?;
                f.write_str("`.dangling(Dangling::Clear)` to let such references go")
            }
            Self::TooLarge { needed, limit } => write!(
                f,
                "loading would take about {needed} bytes, more than the {limit} that are allowed \
                 for its size; if you trust the snapshot, say `.memory_limit(…)`"
            ),
            Self::TooOld { asked, earliest } => write!(
                f,
                "what has gone since {asked} is not known, only since {earliest}; send a whole \
                 snapshot, or let `keep_departures` remember more"
            ),
            Self::NoState { asked, kept } => {
                write!(f, "there is no state {asked} steps back: {kept} are kept")
            }
            Self::NoTypes => {
                f.write_str("the world has no `SnapshotTypes`; put them in with `insert_resource`")
            }
            Self::Out(error) => error.fmt(f),
            Self::Taken(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl Error for SnapshotError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Borrowed(error) => Some(error),
            Self::Out(error) => Some(error),
            Self::Taken(error) => Some(error),
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<BorrowConflict> for SnapshotError {
    fn from(conflict: BorrowConflict) -> Self {
        Self::Borrowed(conflict)
    }
}

impl From<io::Error> for SnapshotError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
