//! Cells with a borrow flag: what memory safety rests on.
//!
//! Every pool and every resource lives in a [`Cell`]. Readers and the writer hold guards, and a
//! guard that cannot be had is an error with a name, for one thread and for many. No scheduler
//! has to be right for this to be sound.
//!
//! # Invariants
//! **B1** – at any time a cell is owned by one guard, or n guards look at its structure while
//! either m guards read its values or one writes them.

mod flag;
mod guard;
mod holder;
#[cfg(all(test, esker_loom))]
mod models;
mod thread_bound;

pub(crate) use guard::{Cell, Edit, Look};
pub(crate) use thread_bound::ThreadBound;

pub use flag::{Access, Conflict};
pub use guard::{Read, Write};
