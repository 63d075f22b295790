//! Components are borrowed, not taken.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

fn main() {
    let world = World::new();
    world.query::<(Entity, Health)>();
}
