//! What lives in the world, and how a world begins.

use esker::prelude::*;
use esker::query::{QueryFilter, Split};
use esker::snapshot::Snapshot;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::torus::Torus;

/// A place on the torus, in units of one cell.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Copy)]
#[snapshot(clone)]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

/// Cells per step.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Copy)]
#[snapshot(clone)]
pub struct Velocity {
    pub x: f32,
    pub y: f32,
}

/// What living costs and eating gives; nobody lives below zero.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Copy)]
#[snapshot(clone)]
pub struct Energy(pub f32);

/// Eats grass. Tracked, so that the newborn can be found.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[component(track)]
#[snapshot(clone)]
pub struct Grazer;

/// Eats grazers.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[component(track)]
#[snapshot(clone)]
pub struct Hunter;

/// Is looking for prey. Hunters come to it and lose it all the time.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
pub struct Hungry;

/// Runs for its life, for so many more steps.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
pub struct Fleeing(pub u8);

/// Everything a newborn has, but for what kind it is.
#[derive(Bundle)]
pub struct Body {
    pub position: Position,
    pub velocity: Velocity,
    pub energy: Energy,
}

/// Filters for all grazers. They say just what the group of grazers requires, so queries with them
/// walk the group: see `herd.rs`.
pub type InHerd = (With<Grazer>, With<Position>, With<Velocity>, With<Energy>);

/// Grazers at peace, which are a group of their own within the herd.
pub type AtPeace = (InHerd, Without<Fleeing>);

/// What the two kinds have in common, in different measure.
pub trait Kind: Component {
    /// Finds all of this kind.
    type All: QueryFilter + 'static;
    /// Energy that a step costs.
    const COST: f32;
    /// Energy that is enough for two.
    const BIRTH: f32;

    fn new() -> Self;
}

impl Kind for Grazer {
    type All = InHerd;
    const COST: f32 = 0.007;
    const BIRTH: f32 = 0.7;

    fn new() -> Self {
        Self
    }
}

impl Kind for Hunter {
    type All = With<Hunter>;
    const COST: f32 = 0.04;
    const BIRTH: f32 = 1.0;

    fn new() -> Self {
        Self
    }
}

/// Grass of each cell, from 0 to 1.
#[derive(Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
pub struct Grass(pub Vec<f32>);

/// Chance without a state: what it gives depends on the seed, the step and the entity alone, so it
/// does not matter who asks first.
#[derive(Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
pub struct Dice {
    pub seed: u64,
    pub step: u64,
}

impl Dice {
    /// The generator of one entity for this step.
    pub fn of(&self, entity: Entity) -> Rng {
        let step = self.seed.wrapping_add(self.step).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Rng::with_seed(step ^ entity.to_bits().wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }
}

/// Rolls the dice for a new step.
pub fn roll(mut dice: ResMut<Dice>) {
    dice.step += 1;
}

/// Parts in which big walks are cut. They are the same on any number of threads, and so is the result.
pub const PARTS: Split = Split::every(8192);

/// Entities per cell at the start.
const DENSITY: f32 = 1.4;

/// One entity in so many is a hunter at the start.
const HUNTERS: u32 = 14;

/// A world with this many entities, strewn evenly.
pub fn populate(entities: u32, seed: u64) -> World {
    let torus = Torus { side: (entities as f32 / DENSITY).sqrt().ceil() as usize };
    let mut rng = Rng::with_seed(seed);
    let mut world = World::new();

    let hunters = entities / HUNTERS;
    world.spawn_batch((hunters..entities).map(|_| (strewn(torus, &mut rng), Grazer)));
    world.spawn_batch((0..hunters).map(|_| (strewn(torus, &mut rng), Hunter)));

    world.insert_resource(Grass((0..torus.cells()).map(|_| rng.f32()).collect()));
    world.insert_resource(Dice { seed, step: 0 });
    world.insert_resource(torus);
    world
}

fn strewn(torus: Torus, rng: &mut Rng) -> Body {
    let mut along = || rng.f32() * torus.side as f32;
    let position = Position { x: along(), y: along() };
    let velocity = Velocity { x: rng.f32() - 0.5, y: rng.f32() - 0.5 };
    Body { position, velocity, energy: Energy(0.2 + 0.4 * rng.f32()) }
}
