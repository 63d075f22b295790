//! How values are kept beside the entities they belong to.
//!
//! An [`EntityMap`] is a sparse set and a *storage*, side by side: the set knows who is in and in
//! which order, the storage keeps the values and is told of every move. So membership, order and
//! version checks are written once, for all storages, and know no component type.
//!
//! | storage | look-up | value | good for |
//! |---|---|---|---|
//! | [`Packed`] | page | in a slice, moves when others are removed | nearly everything; tags cost nothing |
//! | [`Hashed`] | hash map | in a slice, likewise | few entities, scattered ids: no pages |
//! | [`Indexed`] | page | at the place of the entity's index, never moves | addresses handed to others; big values |
//! | [`Tracked`] | as the one inside | as the one inside, with ticks | `Added`, `Changed`, `Mut`, `Ref` |
//!
//! A storage of your own implements [`Storage`]; [`storage_conformance!`](crate::storage_conformance)
//! tests it as ours are tested.
//!
//! # Invariants
//! - **P1** – mirror rule: value `i` belongs to `packed[i]`. Whatever moves the one moves the
//!   other in the same function of [`EntityMap`], also when user code panics in between.
//! - **P2** – distinct positions are distinct memory.
//! - **K1** – the tick of a summary is not below that of any change in it.
//! - **P3** – a storage that promises stable addresses never moves a value between insert and
//!   remove.

#[cfg(feature = "serde")]
mod columns;
pub mod conformance;
mod contract;
mod erased;
mod indexed;
mod insert;
mod lookup;
mod map;
mod order;
mod packed;
mod rehouse;
mod ticks;
mod tracked;
mod tracking;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "snapshots use it"))]
mod whole;

pub use contract::{Fill, Storage};
pub(crate) use erased::SharedMap;
pub use erased::{AnyMap, MapMemory};
pub use indexed::Indexed;
pub(crate) use insert::Seat;
pub(crate) use lookup::Lookup;
pub use map::{EntityMap, Iter, IterMut};
pub use packed::{Hashed, Packed};
pub use ticks::Ticks;
pub use tracked::Tracked;
pub use tracking::{Mut, Ref, Tracking, Untracked, WithTicks};
#[cfg(feature = "serde")]
pub(crate) use {columns::Columns, whole::Copying};
