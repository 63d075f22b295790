//! One run of a system.

use std::error::Error;
use std::fmt;

use crate::tick::Span;
use crate::world::World;

/// What the parameters of a system are made from when it runs.
#[derive(Debug, Clone, Copy)]
pub struct Run<'w> {
    world: &'w World,
    span: Span,
}

impl<'w> Run<'w> {
    pub(crate) fn new(world: &'w World, span: Span) -> Self {
        Self { world, span }
    }

    /// The world.
    #[inline]
    pub fn world(self) -> &'w World {
        self.world
    }

    /// What is new to the system, and the tick of what it does.
    #[inline]
    pub(crate) fn span(self) -> Span {
        self.span
    }
}

/// What a system returned as an error, or could not get.
#[derive(Debug)]
pub struct SystemError {
    /// Name of the system.
    pub system: String,
    /// What went wrong.
    pub error: Box<dyn Error + Send + Sync>,
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "system `{}`: {}", self.system, self.error)
    }
}

impl Error for SystemError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}
