//! The binary format of the peers that serialise through serde.

use bincode::Options;

/// bincode with integers of fixed width: no branch per number, the fastest it offers.
pub(super) fn options() -> impl Options {
    bincode::DefaultOptions::new().with_fixint_encoding()
}
