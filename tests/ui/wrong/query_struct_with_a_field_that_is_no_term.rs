//! Components are borrowed, not taken.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
struct Fighter {
    id: Entity,
    health: Health,
}

fn main() {
    let world = World::new();
    world.query::<Fighter>();
}
