//! Sets of entities: a packed array and a sparse map that leads into it.
//!
//! [`SparseSet`] answers "is this entity in, and where" with one load, because a slot of the
//! sparse map holds position and version together. It iterates as a plain slice. The map is
//! [`PagedMap`] for speed or [`HashedMap`] for few entities with scattered indices.
//!
//! # Invariants
//! - **S1** – the slot of `e` holds position `i` ⇔ `i < packed.len()` and `packed[i] == e`,
//!   version included.
//! - **S2** – no entity index occurs twice in `packed`.
//! - **S3** – a page is absent or complete; a vacant slot never equals a valid one, because its
//!   version is one that no entity has.
//! - **S4** – the window of a [`PagedMap`] begins and ends at page borders, and no page of its own
//!   lies in it.
//! - **S5** – as long as the stamp of a set is the same, so is its packed array.

mod hashed;
mod map;
mod set;
mod slot;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "snapshots use it"))]
mod whole;

pub use hashed::HashedMap;
pub use map::{PagedMap, PagedView, SparseMap};
pub(crate) use set::Finder;
pub use set::{Entry, SparseSet, VacantEntry};
pub use slot::Slot;
pub(crate) use whole::{EntityList, Foreseen};
