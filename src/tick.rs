//! The clock of changes.

use std::fmt;

/// A moment of a world: changes with a later tick came after it.
///
/// 64 bits: a world that ticks a billion times a second runs out after 500 years, so ticks are
/// compared as plain numbers and nothing is ever too old.
///
/// Keep one to ask later what has changed since:
///
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] #[component(track)] struct Health(u32);
/// let mut world = World::new();
/// let id = world.spawn(Health(5));
/// let seen = world.advance_tick();
/// world.get_mut::<Health>(id).unwrap().0 = 4;
/// world.refresh();
/// assert_eq!(world.query_filtered::<Entity, Changed<Health>>().since(seen).single(), Ok(id));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tick(u64);

impl Tick {
    /// Before everything.
    pub const ZERO: Self = Self(0);

    /// The tick with this number.
    #[inline]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The one after it.
    #[inline]
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.0)
    }
}

/// What somebody who looks at changes has seen, and the tick of what he does himself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Later changes are new.
    pub(crate) since: Tick,
    /// The tick of changes that are made now.
    pub(crate) now: Tick,
}
