//! One run of a system.

use crate::tick::Span;
use crate::world::World;

/// The world as a system is given it for one run.
#[derive(Debug)]
pub(crate) enum Lent<'w> {
    /// Others may have it, too.
    Shared(&'w World),
    /// Nobody else has it.
    Sole(&'w mut World),
}

impl<'w> Lent<'w> {
    #[inline]
    pub(super) fn share(self) -> &'w World {
        match self {
            Self::Shared(world) => world,
            Self::Sole(world) => world,
        }
    }
}

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

/// As [`Run`], of a system that nobody else shares the world with while it runs.
#[derive(Debug)]
pub struct SoleRun<'w> {
    world: &'w mut World,
    span: Span,
}

impl<'w> SoleRun<'w> {
    pub(crate) fn new(world: &'w mut World, span: Span) -> Self {
        Self { world, span }
    }

    /// As a run that shares the world.
    #[inline]
    pub fn share(self) -> Run<'w> {
        Run { world: self.world, span: self.span }
    }

    #[inline]
    pub(crate) fn into_parts(self) -> (&'w mut World, Span) {
        (self.world, self.span)
    }
}
