//! A simulation with steps of a fixed length, under frames of any length.
//!
//! ```sh
//! cargo run --example fixed_step
//! ```
//!
//! Frames take as long as they take. The world must not depend on that, so it advances in equal steps:
//! as many as are due, sometimes none. What is drawn lies between two steps.

use std::time::Duration;

use esker::prelude::*;
use esker::schedule::FixedStep;

#[derive(Component)]
struct Height(f64);

/// Where it was a step ago, for drawing in between.
#[derive(Component)]
struct Before(f64);

#[derive(Component)]
struct Speed(f64);

const STEP: Duration = Duration::from_millis(10);

fn fall(mut balls: Query<(&mut Height, &mut Before, &mut Speed)>) {
    for (height, before, speed) in &mut balls {
        before.0 = height.0;
        speed.0 -= 9.81 * STEP.as_secs_f64();
        height.0 += speed.0 * STEP.as_secs_f64();
        if height.0 < 0.0 {
            (height.0, speed.0) = (-height.0, -0.8 * speed.0);
        }
    }
}

/// Plays frames that take this many milliseconds; returns how high the ball is in the end.
fn play(name: &str, frames: &[u64]) -> f64 {
    let mut world = World::new();
    let ball = world.spawn((Height(2.0), Before(2.0), Speed(0.0)));
    let mut schedule = Schedule::new();
    schedule.add_systems(fall);
    // After a long pause the game goes on from where it was, instead of making up for all of it.
    let mut steps = FixedStep::new(STEP).at_most(20);

    println!("{name}:");
    for &frame in frames {
        steps.add(Duration::from_millis(frame)); // a real loop: `last.elapsed()`
        let mut made = 0;
        for _ in &mut steps {
            schedule.step(&mut world);
            made += 1;
        }
        let (height, before) =
            (world.get::<Height>(ball).unwrap().0, world.get::<Before>(ball).unwrap().0);
        let drawn = before + (height - before) * steps.fraction();
        println!("  {frame:>3} ms, {made} steps, drawn at {drawn:.3} m");
    }
    world.get::<Height>(ball).unwrap().0
}

fn main() {
    let smooth = play("a fast machine", &[16; 10]);
    let jerky = play("a slow one", &[45, 3, 61, 0, 9, 42]);
    assert_eq!(smooth, jerky, "160 ms are 160 ms, however they are cut");

    let pause = play("back from a pause", &[60_000]);
    let without = play("the same without it", &[200]);
    assert_eq!(pause, without);
}
