//! The components of every workload, defined once for all contestants.
//!
//! Each contestant asks for something on a component type (a derive, an associated
//! storage). All of it is written in the one macro below, so that a new contestant adds a
//! line here and nobody measures a different struct.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use crate::quad::Quad;

/// Defines plain components and gives them what each contestant needs.
///
/// specs recommends `VecStorage` for small components that most entities have; a list may name
/// another storage for it.
macro_rules! components {
    (in $storage:ident; $($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable, Serialize, Deserialize)]
        #[derive(esker::Component, bevy_ecs::component::Component, shipyard::Component)]
        #[cfg_attr(feature = "flecs", derive(flecs_ecs::prelude::Component))]
        #[repr(C)]
        pub struct $name {
            $(#[doc = concat!("The field `", stringify!($field), "`.")] pub $field: $type),*
        }

        impl specs::Component for $name {
            type Storage = specs::$storage<Self>;
        }
    )*};
    ($($list:tt)*) => { $crate::components::components! { in VecStorage; $($list)* } };
}
pub(crate) use components;

components! {
    /// Where an entity is.
    Position { x: f32, y: f32 }
    /// How far it moves in one step.
    Velocity { x: f32, y: f32 }
    /// How much its velocity changes in one step.
    Force { x: f32, y: f32 }
    /// What `iter_frag` iterates.
    Data { value: f32 }
    /// First component of `schedule`; `add_remove` has it on every entity.
    A { value: f32 }
    /// Second component of `schedule`; `add_remove` adds and removes it.
    B { value: f32 }
    /// The component that two systems of `schedule` write.
    C { value: f32 }
    /// Swapped with C by the second system of `schedule`.
    D { value: f32 }
    /// Swapped with C by the third system of `schedule`.
    E { value: f32 }
    /// One of the five wide components; the only one that is written.
    Lane0 { quad: Quad }
    /// One of the five wide components.
    Lane1 { quad: Quad }
    /// One of the five wide components.
    Lane2 { quad: Quad }
    /// One of the five wide components.
    Lane3 { quad: Quad }
    /// One of the five wide components.
    Lane4 { quad: Quad }
    /// A 4×4 matrix that `heavy` carries along and never touches.
    Transform { rows: [Quad; 4] }
    /// A position for `heavy`.
    Place { quad: Quad }
    /// A rotation that `heavy` carries along and never touches.
    Rotation { quad: Quad }
    /// A velocity for `heavy`.
    Motion { quad: Quad }
}

const _: () = assert!(size_of::<Transform>() == 64 && size_of::<Position>() == 8);

/// A component without data, toggled by `churn`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Serialize,
    Deserialize,
    esker::Component,
    bevy_ecs::component::Component,
    shipyard::Component,
)]
#[cfg_attr(feature = "flecs", derive(flecs_ecs::prelude::Component))]
pub struct Tag;

// specs recommends NullStorage for components without data.
impl specs::Component for Tag {
    type Storage = specs::NullStorage<Self>;
}

/// Defines the numbered components and the macro that hands their names on.
macro_rules! numbered {
    ($doc:literal $with:ident: $($name:ident $number:literal)*) => {
        components! { $(#[doc = $doc] $name { x: f32, y: f32 })* }

        // Calls a macro with each of them and its number: `$call!(Name 0, …)`.
        macro_rules! $with { ($call:ident) => { $call!($($name $number),*) } }
        pub(crate) use $with;
    };
}

numbered! {
    "One of 26 components of which each entity of `iter_frag` has one."
    with_markers:
    M0 0 M1 1 M2 2 M3 3 M4 4 M5 5 M6 6 M7 7 M8 8 M9 9 M10 10 M11 11 M12 12
    M13 13 M14 14 M15 15 M16 16 M17 17 M18 18 M19 19 M20 20 M21 21 M22 22 M23 23 M24 24 M25 25
}

numbered! {
    "One of eight components that only make an entity wider."
    with_fillers:
    W0 0 W1 1 W2 2 W3 3 W4 4 W5 5 W6 6 W7 7
}

numbered! {
    "One of five components that spread `iter_3_of_many` over 32 combinations."
    with_spreaders:
    S0 0 S1 1 S2 2 S3 3 S4 4
}
