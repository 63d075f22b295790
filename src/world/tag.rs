//! What a pool says of itself: its number, its bit, and who cares for it.

use std::fmt;

use crate::group::SoleOwner;

/// Number of a component in one world, in the order in which the world came to know them.
///
/// Two worlds with the same history number alike, whatever else the process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(u32);

impl ComponentId {
    pub(super) fn new(number: u32) -> Self {
        Self(number)
    }

    /// The number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a pool does to the signature of an entity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tag {
    pub(crate) id: ComponentId,
    /// Set when a value comes in: a bit, or the two of a code (see `codes.rs`).
    pub(crate) bit: u64,
    /// What stays when a value goes: all but `bit`, or everything if other pools share it.
    pub(crate) keep: u64,
    /// Whether a value that comes or goes needs more than the pool and the signature.
    pub(crate) needs_care: bool,
    /// Whether a group names the component, and whether one owns it.
    pub(crate) is_grouped: bool,
    pub(crate) is_owned: bool,
    /// Whether somebody wants to know when a value comes, changes or goes.
    pub(crate) is_noted: bool,
    /// Whether somebody reads who has lost a value.
    pub(crate) is_journaled: bool,
    /// The group that owns the component, if nobody else cares for it.
    pub(crate) sole_owner: Option<SoleOwner>,
}

impl Tag {
    pub(super) fn new(id: ComponentId, bit: u64, keep: u64) -> Self {
        Self {
            id,
            bit,
            keep,
            needs_care: false,
            is_grouped: false,
            is_owned: false,
            is_noted: false,
            is_journaled: false,
            sole_owner: None,
        }
    }

    /// Whether the pool holds an entity with this signature; `None` if its bits are shared and the pool must be asked.
    #[inline]
    pub(super) fn says(&self, signature: u64) -> Option<bool> {
        let is_signed = signature & self.bit == self.bit;
        if is_signed && self.keep == u64::MAX { None } else { Some(is_signed) }
    }

    /// The signature bit, and whether no other pool has it.
    pub(crate) fn bit(&self) -> (u64, bool) {
        (self.bit, self.keep != u64::MAX)
    }
}

impl fmt::Display for ComponentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "component {}", self.0)
    }
}
