//! The fifteen components of the `frame` rows, the nine kinds of entities that have them, and the
//! values with which an entity starts.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use crate::components::components;

components! {
    /// Where an entity is.
    Position { x: f32, y: f32 }
    /// How far it moves in one frame.
    Velocity { x: f32, y: f32 }
    /// Which way it faces.
    Rotation { x: f32, y: f32, z: f32, w: f32 }
    /// How much it can take.
    Health { now: f32, max: f32, gain: f32 }
    /// How much harm it does.
    Damage { amount: f32, piercing: u32 }
    /// How many frames it has left.
    Lifetime { left: u32 }
    /// How it is drawn.
    Sprite { sheet: u32, image: u32, tint: u32, layer: u32 }
    /// What it collides with, and its extent in the world.
    Collider { half: f32, min: f32, max: f32, mask: u32 }
    /// What it wants.
    Ai { goal: [f32; 2], speed: f32, state: u32, memory: [u32; 4] }
    /// Which side it is on.
    Team { side: i32 }
    /// What it aims at.
    Target { x: f32, y: f32, dx: f32, dy: f32 }
}

components! {
    in DenseVecStorage;
    /// What it carries; no system reads it.
    Inventory { slots: [u32; 8] }
    /// What happens where it stands; no system reads it.
    Zone { radius: f32, fired: u32 }
    /// A status: it loses health.
    Burning { heat: f32, turns: u32 }
    /// A status: it neither steers nor aims nor moves its limbs.
    Stunned { turns: u32 }
}

/// Calls a macro with every component of the `frame` rows: `$call!(Position, …)`.
macro_rules! with_parts {
    ($call:ident) => {
        $call! {
            Position, Velocity, Rotation, Health, Damage, Lifetime, Sprite, Collider, Ai, Team,
            Target, Inventory, Zone, Burning, Stunned
        }
    };
}
pub(crate) use with_parts;

/// Calls a macro with every component with which some kind is born.
macro_rules! with_birth_parts {
    ($call:ident) => {
        $call! {
            Position, Velocity, Rotation, Health, Damage, Lifetime, Sprite, Collider, Ai, Team,
            Target, Inventory, Zone
        }
    };
}
pub(crate) use with_birth_parts;

/// Calls a macro with every kind, its share in percent and its components.
macro_rules! with_kinds {
    ($call:ident) => {
        $call! {
            Projectile 15: Position Velocity Damage Lifetime Collider Team;
            Enemy 12: Position Velocity Rotation Health Damage Sprite Collider Ai Team Target;
            Npc 6: Position Velocity Rotation Health Sprite Collider Ai Team Inventory;
            Turret 4: Position Rotation Health Damage Sprite Collider Team Target;
            Prop 14: Position Rotation Health Sprite Collider;
            Particle 25: Position Velocity Lifetime Sprite;
            Pickup 5: Position Rotation Sprite Collider Inventory;
            Trigger 3: Position Collider Zone;
            Scenery 16: Position Rotation Sprite;
        }
    };
}
pub(crate) use with_kinds;

macro_rules! kinds {
    ($($kind:ident $share:literal: $($component:ident)*;)*) => {
        /// What an entity is; decides with which components it is spawned.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $(#[doc = concat!($share, " % of all entities.")] $kind),*
        }

        impl Kind {
            /// All of them.
            pub const ALL: [Self; 9] = [$(Self::$kind),*];

            /// Its share of all entities, in percent.
            pub const fn share(self) -> u64 {
                match self { $(Self::$kind => $share),* }
            }
        }
    };
}
with_kinds!(kinds);

impl Kind {
    /// Whether it can burn: it has health.
    pub const fn burns(self) -> bool {
        matches!(self, Self::Enemy | Self::Npc | Self::Turret | Self::Prop)
    }

    /// Whether it can be stunned: it has aims.
    pub const fn has_aims(self) -> bool {
        matches!(self, Self::Enemy | Self::Npc | Self::Turret)
    }

    /// Whether it is spawned with a velocity.
    pub const fn moves(self) -> bool {
        matches!(self, Self::Projectile | Self::Enemy | Self::Npc | Self::Particle)
    }
}

/// A component that knows with which value entity number `i` gets it.
pub trait Start {
    /// That value.
    fn start(i: u32) -> Self;
}

/// A number from 0 to 255 that differs between neighbours.
#[inline(always)]
fn small(i: u32) -> f32 {
    (i & 255) as f32
}

macro_rules! start {
    ($($name:ident($i:ident) { $($field:ident: $value:expr),* })*) => {$(
        impl Start for $name {
            #[inline(always)]
            fn start($i: u32) -> Self {
                Self { $($field: $value),* }
            }
        }
    )*};
}

start! {
    Position(i) { x: small(i), y: 1.0 }
    Velocity(i) { x: (i & 15) as f32 - 7.5, y: 0.5 }
    Rotation(i) { x: 0.0, y: 0.0, z: small(i), w: 1.0 }
    Health(i) { now: 50.0, max: 100.0 + small(i), gain: 0.25 }
    Damage(i) { amount: 0.5, piercing: i & 3 }
    Lifetime(i) { left: 1000 + (i & 255) }
    Sprite(i) { sheet: i & 7, image: 0, tint: i, layer: i & 31 }
    Collider(i) { half: 0.5, min: 0.0, max: 0.0, mask: i & 3 }
    Ai(i) { goal: [100.0 + small(i), 50.0], speed: 1.0 + (i & 3) as f32, state: i, memory: [i; 4] }
    Team(i) { side: (i & 1) as i32 + 1 }
    Target(i) { x: small(i), y: 2.0, dx: 0.0, dy: 0.0 }
    Inventory(i) { slots: [i; 8] }
    Zone(i) { radius: small(i), fired: 0 }
    Burning(i) { heat: 0.5 + (i & 1) as f32, turns: 0 }
    Stunned(i) { turns: i & 15 }
}
