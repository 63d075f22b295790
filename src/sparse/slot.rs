//! One slot of a sparse map: position and version in one word.

use std::fmt;

use crate::entity::Entity;

/// Where an entity index is in the packed array, and which version of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Slot(u64);

/// The half of an [`Entity`], and of a slot, in which the version is.
const VERSION: u64 = (u32::MAX as u64) << 32;

impl Slot {
    /// A slot that leads nowhere.
    ///
    /// Its version is `u32::MAX`, which no [`Entity`] has (S3).
    pub const VACANT: Self = Self(u64::MAX);

    /// The slot of `entity` at `position`.
    ///
    /// The position fits because there are fewer entity indices than 32-bit numbers (S2).
    #[inline(always)]
    pub fn new(position: usize, entity: Entity) -> Self {
        debug_assert!(position <= u32::MAX as usize);
        Self(u64::from(entity.version()) << 32 | position as u64)
    }

    /// Whether the slot leads nowhere.
    #[inline(always)]
    pub fn is_vacant(self) -> bool {
        self.0 == Self::VACANT.0
    }

    /// The position of `entity`, if the slot is that of this very version.
    #[inline(always)]
    pub fn position_of(self, entity: Entity) -> Option<usize> {
        if self.is_of(entity) { Some(self.position()) } else { None }
    }

    /// Returns whether the slot is that of this very version of an entity.
    #[inline(always)]
    pub(crate) fn is_of(self, entity: Entity) -> bool {
        (self.0 >> 32) as u32 == entity.version()
    }

    /// As [`position_of`](Self::position_of), for one who knows how many positions there are: one
    /// comparison tells both that it is this version and that it is a position.
    #[inline(always)]
    pub(crate) fn position_below(self, len: usize, entity: Entity) -> Option<usize> {
        // What is left of another version is in the upper half, beyond every position (S1, S3).
        let at = self.0 ^ (entity.raw() & VERSION);
        if at < len as u64 { Some(at as usize) } else { None }
    }

    /// The position, whatever the version; meaningless in a vacant slot.
    #[inline(always)]
    pub fn position(self) -> usize {
        self.0 as u32 as usize
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_vacant() {
            return f.write_str("vacant");
        }
        write!(f, "{}@v{}", self.position(), self.0 >> 32)
    }
}
