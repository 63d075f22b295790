//! Ids: what they look like, how they are given out, taken back and reserved.
//!
//! [`Entities`] keeps one slot per index, in pages. A dead slot's index half names the next dead
//! slot, so the list of free ids costs no memory of its own; last freed, first reused. Beside its
//! id a slot has one word that belongs to whoever owns the entities (the world keeps the
//! signature there, so that "is it alive" and "what does it have" are in one cache line).
//!
//! # Invariants
//! - **E1** – slot `i` is live ⇔ the index half of its id is `i`.
//! - **E2** – the dead slots that may be reused form one list from `free` to the end mark, each
//!   exactly once. (A slot that was demanded out of the middle of the list stays threaded
//!   through its record in `demanded` until the list is read that far.)
//! - **E3** – a version changes when its id dies, and the ids given out by themselves never
//!   repeat one: a slot whose versions are used up is retired.
//! - **E4** – under `&self` only the reservation cursor moves, forward; [`Entities::settle`]
//!   commits it.

mod check;
mod demand;
mod entities;
mod id;
mod live;
mod reserve;
mod slot;

pub use demand::SpawnAtError;
pub use entities::{Entities, NoSuchEntity, OutOfEntities};
pub use id::{Entity, ParseEntityError};
pub use live::LiveEntities;

pub(crate) use entities::Limits;
