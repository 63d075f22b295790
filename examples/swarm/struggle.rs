//! Who eats whom, who starves, who is born.

use esker::prelude::*;
use esker::sparse::SparseSet;

use crate::life::*;
use crate::senses::Herd;
use crate::torus::{Torus, square};

const GRASS_GROWS: f32 = 0.03;
const BITE: f32 = 0.05;
/// What a grazer is worth to a hunter.
const MEAL: f32 = 0.2;
const REACH: f32 = 0.45;
const HUNGRY_BELOW: f32 = 0.9;
/// Grass that grows at once where somebody has died.
const COMPOST: f32 = 0.2;

/// A message: somebody has died here.
pub struct Death {
    pub place: Position,
    pub cause: Cause,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Eaten,
    Starved,
}

/// Grazers that were eaten in this step.
pub struct Eaten(pub SparseSet);
impl SystemOutput for Eaten {}

pub fn grow(mut grass: ResMut<Grass>) {
    for cell in &mut grass.0 {
        *cell = (*cell + GRASS_GROWS).min(1.0);
    }
}

pub fn graze(
    mut calm: Query<(&Position, &mut Energy), AtPeace>,
    mut grass: ResMut<Grass>,
    torus: Res<Torus>,
) {
    for (&position, energy) in &mut calm {
        let cell = &mut grass.0[torus.cell(position)];
        let bite = cell.min(BITE);
        *cell -= bite;
        energy.0 += bite;
    }
}

/// Hungry hunters eat a grazer that is in reach.
pub fn feed(
    mut hungry: Query<(&Position, &mut Energy), With<Hungry>>,
    herd: Output<Herd>,
    torus: Res<Torus>,
    mut deaths: MessageWriter<Death>,
    mut commands: Commands,
) -> Eaten {
    let mut eaten = SparseSet::new();
    for (&position, energy) in &mut hungry {
        // The first to come gets it: `insert` is false for one who is eaten already.
        let prey = herd.0.near(position).find(|prey| {
            square(torus.way(position, prey.position)) < REACH * REACH && eaten.insert(prey.entity)
        });
        if let Some(prey) = prey {
            energy.0 += MEAL;
            commands.despawn(prey.entity);
            deaths.send(Death { place: prey.position, cause: Cause::Eaten });
        }
    }
    Eaten(eaten)
}

/// Living costs; who cannot pay dies.
pub fn tire<K: Kind>(
    mut bodies: Query<(Entity, &Position, &mut Energy), K::All>,
    eaten: Output<Eaten>,
    mut deaths: MessageWriter<Death>,
    mut commands: Commands,
) {
    let starved = bodies.subtasks(PARTS).run(&mut commands, |part, commands| {
        let mut places = Vec::new();
        for (entity, &place, energy) in part {
            energy.0 -= K::COST;
            if energy.0 < 0.0 && !eaten.0.contains(entity) {
                commands.despawn(entity);
                places.push(place);
            }
        }
        places
    });
    for place in starved.into_iter().flatten() {
        deaths.send(Death { place, cause: Cause::Starved });
    }
}

/// Who has enough for two becomes two.
pub fn breed<K: Kind>(
    mut parents: Query<(&Position, &Velocity, &mut Energy), K::All>,
    mut commands: Commands,
) {
    parents.subtasks(PARTS).run(&mut commands, |part, commands| {
        for (&position, &Velocity { x, y }, energy) in part {
            if energy.0 > K::BIRTH {
                energy.0 /= 2.0;
                let velocity = Velocity { x: -x, y: -y };
                commands.spawn((Body { position, velocity, energy: *energy }, K::new()));
            }
        }
    });
}

/// Hunters become hungry and sated.
pub fn get_hungry(
    hunters: Query<(Entity, &Energy, Has<Hungry>), With<Hunter>>,
    mut commands: Commands,
) {
    for (entity, energy, is_hungry) in &hunters {
        match energy.0 < HUNGRY_BELOW {
            // Who is below zero will not live to see it.
            true if !is_hungry && energy.0 >= 0.0 => commands.insert(entity, Hungry),
            false if is_hungry => commands.remove::<Hungry>(entity),
            _ => {}
        }
    }
}

/// Grass grows where somebody has died.
pub fn rot(deaths: MessageReader<Death>, mut grass: ResMut<Grass>, torus: Res<Torus>) {
    for death in deaths.read() {
        let cell = &mut grass.0[torus.cell(death.place)];
        *cell = (*cell + COMPOST).min(1.0);
    }
}
