use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
struct Fighter {
    health: &Health,
}

fn main() {
    let world = World::new();
    world.query::<Fighter>();
}
