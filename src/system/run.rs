//! One run of a system.

use super::ParamError;
use crate::component::Component;
use crate::entity::Entity;
use crate::query::{Query, QueryData, QueryFilter};
use crate::tick::{Span, Tick};
use crate::world::{Pool, PoolMut, Res, ResMut, World};

/// The world as a system is given it for one run.
#[derive(Debug)]
pub(crate) enum Lent<'w> {
    /// Others may have it, too.
    Shared(&'w World),
    /// Nobody else has it.
    Sole(&'w mut World),
}

impl<'w> Lent<'w> {
    /// The tick of what is done through the world itself.
    #[inline]
    pub(super) fn tick(&self) -> Tick {
        match self {
            Self::Shared(world) => world.tick(),
            Self::Sole(world) => world.tick(),
        }
    }

    #[inline]
    pub(super) fn share(self) -> &'w World {
        match self {
            Self::Shared(world) => world,
            Self::Sole(world) => world,
        }
    }
}

/// What the parameters of a system are made from when it runs.
///
/// The guards that it gives belong to the run: what is changed through them has the tick of the system, and what
/// is new to them came after the last run. A [`SystemParam`](super::SystemParam) of your own may take them when it is made, or keep
/// the `Run` and take them later; its `init` says which.
///
/// It does not give the world. Systems that run at once share a world but no tick, so a change made through `&World` would
/// be new to others twice. A parameter that needs all of the world is made of the parameter `&World`, whose `init` says so:
///
/// ```
/// # use esker::prelude::*;
/// # use esker::system::{ParamError, Run, SystemParam};
/// # use esker::AccessSet;
/// struct Census<'w>(&'w World);
///
/// impl SystemParam for Census<'_> {
///     type State = ();
///     type Item<'w, 's> = Census<'w>;
///
///     fn init(world: &mut World, access: &mut AccessSet) {
///         <&World as SystemParam>::init(world, access);
///     }
///
///     fn get<'w>((): &mut (), run: Run<'w>) -> Result<Census<'w>, ParamError> {
///         Ok(Census(<&World as SystemParam>::get(&mut (), run)?))
///     }
/// }
///
/// # let mut world = World::new();
/// # world.spawn(());
/// world.run_system(|census: Census| assert_eq!(census.0.len(), 1));
/// ```
///
/// # Examples
/// A parameter that takes a guard itself:
/// ```
/// # use esker::prelude::*;
/// # use esker::system::{ParamError, Run, SystemParam};
/// # use esker::{AccessSet, Key, Usage};
/// # #[derive(Component)] struct Rank(u32);
/// struct Highest(u32);
///
/// impl SystemParam for Highest {
///     type State = ();
///     type Item<'w, 's> = Highest;
///
///     fn init(_: &mut World, access: &mut AccessSet) {
///         access.add(Key::of::<Rank>(), Usage::Read);
///     }
///
///     fn get<'w>((): &mut (), run: Run<'w>) -> Result<Highest, ParamError> {
///         let ranks = run.pool::<Rank>()?;
///         Ok(Highest(ranks.as_slice().iter().map(|rank| rank.0).max().unwrap_or(0)))
///     }
/// }
///
/// # let mut world = World::new();
/// # world.spawn(Rank(3));
/// world.run_system(|highest: Highest| assert_eq!(highest.0, 3));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Run<'w> {
    world: &'w World,
    span: Span,
}

impl<'w> Run<'w> {
    pub(crate) fn new(world: &'w World, span: Span) -> Self {
        Self { world, span }
    }

    /// The tick of what the system does.
    #[inline]
    pub fn tick(self) -> Tick {
        self.span.now
    }

    /// The tick of the last run: later changes are new to the system.
    #[inline]
    pub fn since(self) -> Tick {
        self.span.since
    }

    /// Whether an entity is alive.
    pub fn is_alive(self, entity: Entity) -> bool {
        self.world.is_alive(entity)
    }

    /// Like [`World::try_query`], with the ticks of the system.
    ///
    /// # Errors
    /// If a component is borrowed in a way that excludes this.
    #[inline]
    #[track_caller]
    pub fn query<D: QueryData, F: QueryFilter>(self) -> Result<Query<'w, D, F>, ParamError> {
        Query::open_at(self.world, self.span).map_err(ParamError::new)
    }

    /// Like [`World::try_pool`].
    ///
    /// # Errors
    /// If the pool is borrowed for writing.
    #[inline]
    #[track_caller]
    pub fn pool<T: Component>(self) -> Result<Pool<'w, T>, ParamError> {
        self.world.try_pool().map_err(ParamError::new)
    }

    /// Like [`World::try_pool_mut`], with the tick of the system.
    ///
    /// # Errors
    /// If the pool is borrowed, or the world does not know the component: `init` calls [`World::register`].
    #[inline]
    #[track_caller]
    pub fn pool_mut<T: Component>(self) -> Result<PoolMut<'w, T>, ParamError> {
        self.world.try_pool_mut_at(self.span.now).map_err(ParamError::new)
    }

    /// Like [`World::try_resource`].
    ///
    /// # Errors
    /// If there is no such resource, or it is borrowed for writing.
    #[inline]
    #[track_caller]
    pub fn resource<R: Send + Sync + 'static>(self) -> Result<Res<'w, R>, ParamError> {
        self.world.try_resource().map_err(ParamError::new)
    }

    /// Like [`World::try_resource_mut`].
    ///
    /// # Errors
    /// If there is no such resource, or it is borrowed.
    #[inline]
    #[track_caller]
    pub fn resource_mut<R: Send + Sync + 'static>(self) -> Result<ResMut<'w, R>, ParamError> {
        self.world.try_resource_mut().map_err(ParamError::new)
    }

    /// The world, for parameters that take no guard with a tick from it.
    #[inline]
    pub(crate) fn world(self) -> &'w World {
        self.world
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
