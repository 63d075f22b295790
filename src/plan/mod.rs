//! Plans: where the matches of a query lie, remembered while nothing moves.
//!
//! Finding out which entities match a query, and where their values lie in each pool, costs look-
//! ups. The answer depends on nothing but the packed arrays of the pools that the query names, and
//! each of these has a stamp that grows when it changes. A [`Plan`] is the answer, kept under a
//! key that holds the shape of the query and the stamps. It knows no component type.
//!
//! # Invariants
//! **Q2** – a plan is used only under the key it was made for: the same shape, and the same stamp
//! of every pool.

mod cache;
mod key;
mod rows;

pub(crate) use cache::{Asked, Finding, Plans};
pub(crate) use key::Spelling;
pub(crate) use rows::{Kind, Plan, Recorder};
