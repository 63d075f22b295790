//! Ids: what they look like, how they are given out, taken back and reserved.
//!
//! [`Entities`] keeps one slot per index. A dead slot's index half names the next dead slot, so
//! the list of free ids costs no memory of its own; last freed, first reused, unless an index is asked for. (How it goes on is also
//! guessed, where many die or are born at once: `many.rs`.) Beside its id a slot
//! has one word that belongs to whoever owns the entities (the world keeps the signature there,
//! so that "is it alive" and "what does it have" are in one cache line).
//!
//! The indices that were given out make one row, the *near* slots. Demanded ids may lie anywhere
//! else, and so may those of streams that needed many; their *far* slots are in pages, and move into the
//! row when it grows up to them.
//!
//! # Invariants
//! - **E1** – slot `i` is live ⇔ the index half of its id is `i`.
//! - **E2** – the dead slots of the range that are not retired, near or far, form one list from `free`
//!   to the end mark, each exactly once. (A slot that was demanded out of the middle of the list stays threaded
//!   through its record in `demanded` until the list is read that far.)
//! - **E3** – a version changes when its id dies, and the ids given out by themselves never
//!   repeat one: a slot whose versions are used up is retired. So the version of a dead slot is
//!   above 0: version 0 is given out only with a slot that is made for it.
//! - **E4** – under `&self` only the reservation cursor moves, forward; [`Entities::settle`]
//!   commits it. While streams are open the cursor stands still behind what was reserved for them, so
//!   whatever changes the book closes them first.
//! - **E5** – as long as nothing is demanded, the word of a slot in the free list is the number of the one before it there, so a
//!   slot can be taken out of the middle.

mod check;
mod demand;
mod entities;
mod far_page;
mod field;
mod id;
mod late;
mod list;
mod live;
mod many;
#[cfg(all(test, esker_loom))]
mod models;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "snapshots use it"))]
mod record;
mod reserve;
#[cfg(feature = "serde")]
mod serial;
mod slot;
mod spawned;
mod stream;

pub use demand::SpawnAtError;
pub use entities::{Entities, NoSuchEntity, OutOfEntities};
pub use id::{Entity, ParseEntityError};
pub use live::LiveEntities;
pub use spawned::Spawned;

pub(crate) use entities::Limits;
#[cfg(feature = "serde")]
pub(crate) use record::{Record, bytes_of_far};
pub(crate) use spawned::{Newcomers, first_version};
#[doc(hidden)]
pub use stream::Stream;
