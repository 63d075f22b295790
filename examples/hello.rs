//! The program of the README: two kinds of entities, one step of movement, one component less.

use esker::prelude::*;

#[derive(Component)]
struct Position(f32);
#[derive(Component)]
struct Velocity(f32);

fn main() {
    let mut world = World::new();
    world.spawn_batch((0..1000).map(|i| Position(i as f32))); // rocks
    let boat = world.spawn((Position(0.0), Velocity(1.5)));

    for (position, velocity) in &mut world.query::<(&mut Position, &Velocity)>() {
        position.0 += velocity.0;
    }
    world.remove::<Velocity>(boat).unwrap(); // drops anchor
    assert_eq!(world.get::<Position>(boat).unwrap().0, 1.5);
    println!("entity {boat} of {} has dropped anchor", world.len());
}
