//! A term filters nothing.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Poisoned;

fn main() {
    let world = World::new();
    world.query_filtered::<&Health, &Poisoned>();
}
