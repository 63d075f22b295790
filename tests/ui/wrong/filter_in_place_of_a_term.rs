//! A filter fetches nothing.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Poisoned;

fn main() {
    let world = World::new();
    world.query::<(&Health, With<Poisoned>)>();
}
