//! Snapshots: whole worlds saved, loaded, cloned, compared and rolled back.
//!
//! [`SnapshotTypes`] says what is kept: components and resources with names and versions, which
//! they have by [`derive(Snapshot)`](Snapshot). From there on:
//!
//! | to … | use |
//! |---|---|
//! | save | [`SnapshotTypes::save`]: bytes, a file, or any format of serde |
//! | load in place of what is there | [`Loader::replace`], [`Loader::to_world`] |
//! | load beside what is there | [`Loader::merge`] |
//! | follow another world | [`Mirror`], and [`Delta`] for what has changed |
//! | clone, hash | [`World::try_clone`](crate::World::try_clone), [`World::state_hash`](crate::World::state_hash) |
//! | go back | [`Rollback`] |
//! | compare | [`SnapshotTypes::diff`] |
//!
//! # Invariant
//! **N1** – what is loaded in place of a world is the world that was saved: the same ids, the same
//! order of every pool, the same next id. It is read into a state that is complete and sound
//! before the world is touched, so a failure leaves the world as it was.

mod budget;
mod codec;
mod column;
mod delta;
mod describe;
mod diff;
mod error;
mod file;
mod form;
mod gather;
mod kept;
mod load;
mod merge;
mod mirror;
mod moment;
mod native;
mod raw;
mod references;
mod rollback;
mod save;
mod single;
mod state;
mod text;
mod together;
mod types;
mod whole;

pub use delta::Delta;
pub use diff::{Diff, Difference};
pub use error::{SnapshotError, What};
#[cfg(feature = "derive")]
pub use esker_macros::{MapEntities, Snapshot};
pub use form::{Cloning, Form, References, Snapshot};
pub use load::{Dangling, LoadReport, Loader, Unknown};
pub use merge::Merged;
pub use mirror::Mirror;
pub use references::{EntityMapper, MapEntities, NOBODY};
pub use rollback::Rollback;
pub use save::{Progress, Saver};
pub use types::SnapshotTypes;
