//! A sparse-set entity component system: cheap add and remove, iteration over plain slices.
//!
//! Start with [`World`]. It gives out entities, keeps their components in pools, and lends them
//! under guards:
//!
//! ```
//! use esker::prelude::*;
//!
//! #[derive(Component)]
//! struct Position { x: f32, y: f32 }
//!
//! #[derive(Component)]
//! struct Velocity { x: f32, y: f32 }
//!
//! let mut world = World::new();
//! let boat = world.spawn((Position { x: 0.0, y: 0.0 }, Velocity { x: 1.0, y: 0.5 }));
//! world.spawn(Position { x: 5.0, y: 5.0 }); // a rock
//!
//! for (position, velocity) in &mut world.query::<(&mut Position, &Velocity)>() {
//!     position.x += velocity.x;
//!     position.y += velocity.y;
//! }
//! assert_eq!(world.get::<Position>(boat).unwrap().x, 1.0);
//! ```
//!
//! | you want | take |
//! |---|---|
//! | to keep entities and their components | [`World`], [`Component`], [`Bundle`] |
//! | several components of all entities that have them | [`Query`], by [`World::query`] |
//! | one pool: its slices, its order, who is in | [`Pool`], [`PoolMut`] |
//! | a value of which there is one | [`Res`], [`ResMut`], by [`World::insert_resource`] |
//! | functions that run at once where they may | [`Schedule`], [`Commands`], [`Local`], [`Output`] |
//! | to know what changed | [`Added`], [`Changed`], [`Mut`], [`Ref`], [`Removed`], [`World::on_add`] |
//! | to tell others something | [`MessageWriter`], [`MessageReader`], [`World::trigger`] |
//! | queries at the speed of slices, always | [`World::group`], [`World::align`] |
//! | to save, load, clone, roll back | `snapshot` (feature `serde`) |
//!
//! The guide, in the folder `guide` of the repository, explains how these fit together and what they cost.
//!
//! # Modules
//!
//! | module | what it has |
//! |---|---|
//! | [`entity`] | ids, and the book that gives them out |
//! | [`sparse`] | sparse sets, useful alone |
//! | [`storage`] | how values are kept; storages of your own |
//! | [`component`] | what makes a type a component |
//! | [`world`] | the world: spawn, insert, remove, resources, pools |
//! | [`query`] | many components at once |
//! | [`system`] | functions over the world, and what they may ask for |
//! | [`schedule`] | which systems run, in which order |
//! | `snapshot` | worlds saved, loaded, cloned and rolled back (feature `serde`) |
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `derive` | yes | the derives of `Component`, `Bundle`, `QueryData` and `SystemParam` |
//! | `parallel` | yes | schedules that use several threads, and rayon's iterators over queries; without it both run on one |
//! | `serde` | no | the module `snapshot`, and `Serialize` and `Deserialize` for [`Entity`] |
//! | `tracing` | no | a span of the crate `tracing` for each run of a system |
//! | `example-window` | no | nothing: the example `window` needs it |
//!
//! Features add and change nothing else: a program means the same with all of them on. The oldest supported compiler is
//! the `rust-version` of the manifest; the standard library is needed.

#![cfg_attr(docsrs, feature(doc_cfg))]

// So that the derives, which say `::esker`, work in this crate's own tests.
extern crate self as esker;

mod access;
mod cell;
pub mod component;
pub mod entity;
mod group;
mod growth;
mod heap;
mod journal;
mod page;
mod prefetch;
pub mod query;
pub mod schedule;
#[cfg(feature = "serde")]
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
pub mod snapshot;
pub mod sparse;
pub mod storage;
mod sync;
pub mod system;
mod tick;
mod tuples;
pub mod world;

pub use access::{AccessSet, Key, Usage};
pub use cell::{Access, Conflict, Read, Write};
pub use component::Component;
pub use entity::{Entity, NoSuchEntity};
pub use query::{Added, AnyOf, Changed, Has, Or, Query, QueryData, Reacted, With, Without};
pub use schedule::{IntoConfigs, Schedule};
pub use storage::{Mut, Ref};
pub use system::{Local, MessageReader, Output, Removed, SystemOutput, SystemParam};
pub use tick::Tick;
pub use world::{
    Bundle, Commands, EntityMut, EntityRef, MessageWriter, Pool, PoolMut, Res, ResMut, World,
};

#[cfg(feature = "derive")]
pub use esker_macros::{Bundle, Component, QueryData, SystemParam};

/// What most programs need: `use esker::prelude::*;`.
pub mod prelude {
    pub use crate::{
        Added, AnyOf, Bundle, Changed, Commands, Component, Entity, EntityRef, Has, IntoConfigs,
        Local, MessageReader, MessageWriter, Mut, Or, Output, Pool, PoolMut, Query, QueryData,
        Reacted, Ref, Removed, Res, ResMut, Schedule, SystemOutput, Tick, With, Without, World,
    };
}

/// The programs of the README and of the guide, as tests.
#[cfg(doctest)]
mod documents {
    macro_rules! documents {
        ($($(#[$attribute:meta])* $name:ident = $file:literal;)*) => {$(
            $(#[$attribute])*
            #[doc = include_str!($file)]
            pub struct $name;
        )*};
    }

    documents! {
        Readme = "../README.md";
        GettingStarted = "../guide/src/getting-started.md";
        Entities = "../guide/src/entities.md";
        Storages = "../guide/src/storages.md";
        Queries = "../guide/src/queries.md";
        Groups = "../guide/src/groups.md";
        Changes = "../guide/src/changes.md";
        Systems = "../guide/src/systems.md";
        Parallelism = "../guide/src/parallelism.md";
        #[cfg(feature = "serde")]
        Snapshots = "../guide/src/snapshots.md";
        Performance = "../guide/src/performance.md";
        Errors = "../guide/src/errors.md";
    }
}
