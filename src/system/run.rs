//! One run of a system.

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
