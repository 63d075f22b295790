//! What lives in the world, and how a world begins.

use esker::prelude::*;
use fastrand::Rng;

use crate::grid::{GrazerGrid, Grid, HunterGrid};

/// A place on the torus, in units of one grid cell.
#[derive(Component, Clone, Copy)]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

/// Cells per step.
#[derive(Component, Clone, Copy)]
pub struct Velocity {
    pub x: f32,
    pub y: f32,
}

/// What living costs and eating gives; nobody lives below zero.
#[derive(Component, Clone, Copy)]
pub struct Energy(pub f32);

/// Eats grass.
#[derive(Component)]
pub struct Grazer;

/// Eats grazers.
#[derive(Component)]
pub struct Hunter;

/// Is looking for prey. Hunters come to it and lose it all the time.
#[derive(Component)]
pub struct Hungry;

/// Runs for its life, for so many more steps.
#[derive(Component)]
pub struct Fleeing(pub u8);

/// Everything a newborn has, but for what kind it is.
#[derive(Bundle)]
pub struct Body {
    pub position: Position,
    pub velocity: Velocity,
    pub energy: Energy,
}

/// Grass of each cell, from 0 to 1.
pub struct Grass {
    pub cells: Vec<f32>,
}

/// Counts, kept up to date by the steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Census {
    pub grazers: usize,
    pub hunters: usize,
    pub births: usize,
    pub starved: usize,
    pub eaten: usize,
}

impl Census {
    pub fn deaths(&self) -> usize {
        self.starved + self.eaten
    }
}

/// Entities per cell at the start.
const DENSITY: f32 = 2.5;

/// One entity in so many is a hunter at the start.
const HUNTERS: u32 = 50;

/// A world with this many entities, strewn evenly.
pub fn populate(entities: u32, seed: u64) -> World {
    let side = (entities as f32 / DENSITY).sqrt().ceil() as usize;
    let mut rng = Rng::with_seed(seed);
    let mut world = World::new();
    let hunters = entities / HUNTERS;
    world.spawn_batch((hunters..entities).map(|_| (strewn(side, &mut rng), Grazer)));
    world.spawn_batch((0..hunters).map(|_| (strewn(side, &mut rng), Hunter)));
    world.register::<Hungry>();
    world.register::<Fleeing>();

    let cells = (0..side * side).map(|_| rng.f32()).collect();
    world.insert_resource(Grass { cells });
    world.insert_resource(GrazerGrid(Grid::new(side)));
    world.insert_resource(HunterGrid(Grid::new(side)));
    world.insert_resource(Census::default());
    world.insert_resource(rng);
    world
}

fn strewn(side: usize, rng: &mut Rng) -> Body {
    let (x, y) = (rng.f32() * side as f32, rng.f32() * side as f32);
    let velocity = Velocity { x: rng.f32() - 0.5, y: rng.f32() - 0.5 };
    Body { position: Position { x, y }, velocity, energy: Energy(0.2 + 0.4 * rng.f32()) }
}

/// A number that two worlds share if they hold the same entities in the same state.
///
/// FNV-1a over ids and bits, in order of the ids, so it is the same on every machine.
pub fn state_hash(world: &World) -> u64 {
    let bodies = world.query::<(&Position, &Velocity, &Energy)>();
    let (hungry, fleeing) = (world.pool::<Hungry>(), world.pool::<Fleeing>());
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut mix = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
    for entity in world.entities() {
        mix(entity.to_bits());
        if let Some((position, velocity, energy)) = bodies.get(entity) {
            for part in [position.x, position.y, velocity.x, velocity.y, energy.0] {
                mix(part.to_bits().into());
            }
        }
        mix(hungry.contains(entity).into());
        mix(fleeing.get(entity).map_or(0, |fleeing| fleeing.0).into());
    }
    hash
}
