//! The native format.
//!
//! ```text
//! magic            8 bytes   "ESKER" 0x1A 0x01 0x02 (the last two: which end of a number is first)
//! format           u32       1, or 2 if it has homes
//! kind             u32       0 all ids, 1 chosen entities, 2 a delta
//! schema           u32 n     then n × { component or resource u8, name, version u32, form u8, size u32 }
//! book             the slots of ids as one block, the free list, far and demanded ids;
//!                  or the chosen ids as one block
//! columns          for each component of the schema: count u64, ids (listed, as the living, or as an
//!                  earlier column), length u64, values (one block, or each with its length)
//! singles          for each resource of the schema: length u64, value
//! homes            count u64, numbers u64 (`world/homes/record.rs`); not in format 1
//! checksum         u64       XXH3 of everything before
//! ```
//!
//! Numbers have their little end first. A *name* is a length in two bytes and UTF-8. Lists of ids
//! are left out only where the values beside them are large enough for a reader to see from the
//! size of the file how much memory it will take.

mod bytes;
mod read;
mod write;

pub(super) use bytes::{Bytes, Sink};
pub(super) use read::{begin as read_header, read, read_columns, read_schema};
pub(super) use write::{begin as write_header, write, write_columns, write_schema};

/// What a file begins with.
pub(super) const MAGIC: [u8; 8] = *b"ESKER\x1A\x01\x02";

/// The format of what has no homes: worlds that were not laid out, parts of worlds, deltas, and documents.
pub(super) const FORMAT: u32 = 1;

/// The newest format: that of worlds that were laid out.
const FORMAT_WITH_HOMES: u32 = 2;

/// What a file is of.
pub(super) mod kind {
    pub(crate) const WHOLE: u32 = 0;
    pub(crate) const CHOSEN: u32 = 1;
    pub(crate) const DELTA: u32 = 2;
}

/// How the ids of a column are given.
mod ids {
    pub(super) const LISTED: u8 = 0;
    pub(super) const LIVING: u8 = 1;
    pub(super) const EARLIER: u8 = 2;
}

/// Bytes that a plain value has at least if the ids beside it are left out.
const LEAST_TO_OMIT: u32 = 6;

/// What an entry of the schema is of.
mod entry {
    pub(super) const COMPONENT: u8 = 0;
    pub(super) const RESOURCE: u8 = 1;
}

/// How the values of a column are written.
mod form {
    pub(super) const EACH: u8 = 0;
    pub(super) const BLOCK: u8 = 1;
}
