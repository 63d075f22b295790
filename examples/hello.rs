//! The program of the README: two kinds of entities, one step of movement, one entity less.

use esker::prelude::*;

#[derive(Component)]
struct Position(f32, f32);

#[derive(Component)]
struct Velocity(f32, f32);

fn main() {
    let mut world = World::new();
    world.spawn_batch((0..1000).map(|i| Position(i as f32, 0.0))); // rocks
    let boat = world.spawn((Position(0.0, 0.0), Velocity(1.0, 0.5)));

    for (position, velocity) in &mut world.query::<(&mut Position, &Velocity)>() {
        position.0 += velocity.0;
        position.1 += velocity.1;
    }
    world.remove::<Velocity>(boat).unwrap(); // drops anchor

    assert_eq!(world.pool::<Velocity>().len(), 0);
    let Position(x, y) = *world.get(boat).unwrap();
    println!("entity {boat} of {} is at {x}, {y}", world.len());
}
