//! Who goes where.

use esker::prelude::*;
use rayon::prelude::*;

use crate::life::*;
use crate::senses::{Danger, Drift, Herd};
use crate::torus::{Torus, square};

const CALM_SPEED: f32 = 0.09;
const FLIGHT_SPEED: f32 = 0.12;
const CHASE_SPEED: f32 = 0.25;

/// Steps that a grazer runs after it has smelt a hunter last.
const FLIGHT: u8 = 5;

/// Grazers at peace drift with the herd.
pub fn flock(
    mut calm: Query<(Entity, &Position, &mut Velocity), AtPeace>,
    drift: Output<Drift>,
    torus: Res<Torus>,
    dice: Res<Dice>,
) {
    calm.par_iter_mut().for_each(|(entity, &position, velocity)| {
        let (x, y) = drift.0[torus.cell(position)];
        let (jx, jy) = jitter(&dice, entity);
        velocity.x = 0.7 * velocity.x + x + jx;
        velocity.y = 0.7 * velocity.y + y + jy;
        limit(velocity, CALM_SPEED);
    });
}

/// Grazers that smell a hunter begin to run; the component is there from the next step on.
pub fn take_fright(
    mut calm: Query<(Entity, &Position), AtPeace>,
    danger: Output<Danger>,
    torus: Res<Torus>,
    mut commands: Commands,
) {
    calm.subtasks(PARTS).run(&mut commands, |part, commands| {
        for (entity, &position) in part {
            let (_, _, hunters) = danger.0[torus.cell(position)];
            if hunters > 0.0 {
                commands.insert(entity, Fleeing(FLIGHT));
            }
        }
    });
}

/// Those that run turn away from the hunters around, and calm down if there are none.
pub fn flee(
    mut fleeing: Query<(Entity, &Position, &mut Velocity, &mut Fleeing)>,
    danger: Output<Danger>,
    torus: Res<Torus>,
    mut commands: Commands,
) {
    fleeing.subtasks(PARTS).run(&mut commands, |part, commands| {
        for (entity, &position, velocity, fleeing) in part {
            let cell = torus.cell(position);
            let (x, y, hunters) = danger.0[cell];
            if hunters > 0.0 {
                let from_middle = torus.way(torus.middle(cell), position);
                velocity.x += 0.5 * (from_middle.0 - x / hunters);
                velocity.y += 0.5 * (from_middle.1 - y / hunters);
                limit(velocity, FLIGHT_SPEED);
                fleeing.0 = FLIGHT;
            } else if fleeing.0 > 0 {
                fleeing.0 -= 1;
            } else {
                commands.remove::<Fleeing>(entity);
            }
        }
    });
}

/// Hungry hunters turn to the nearest grazer; the others stroll.
pub fn chase(
    mut hunters: Query<(Entity, &Position, &mut Velocity, Has<Hungry>), With<Hunter>>,
    herd: Output<Herd>,
    dice: Res<Dice>,
) {
    hunters.par_iter_mut().for_each(|(entity, &position, velocity, is_hungry)| {
        let (jx, jy) = jitter(&dice, entity);
        let prey = is_hungry.then(|| herd.0.way_to_nearest(position)).flatten();
        let (x, y) = prey.unwrap_or((0.0, 0.0));
        (velocity.x, velocity.y) = (velocity.x + 0.3 * x + jx, velocity.y + 0.3 * y + jy);
        limit(velocity, if is_hungry { CHASE_SPEED } else { CALM_SPEED });
    });
}

pub fn travel(mut bodies: Query<(&mut Position, &Velocity)>, torus: Res<Torus>) {
    bodies.par_iter_mut().for_each(|(position, velocity)| {
        *position = torus.advance(*position, (velocity.x, velocity.y));
    });
}

fn limit(velocity: &mut Velocity, top: f32) {
    let speed = square((velocity.x, velocity.y)).sqrt();
    if speed > top {
        velocity.x *= top / speed;
        velocity.y *= top / speed;
    }
}

fn jitter(dice: &Dice, entity: Entity) -> (f32, f32) {
    let mut rng = dice.of(entity);
    ((rng.f32() - 0.5) * 0.04, (rng.f32() - 0.5) * 0.04)
}
