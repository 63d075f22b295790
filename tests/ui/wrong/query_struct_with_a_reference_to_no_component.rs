use esker::prelude::*;

struct Health(u32);

#[derive(QueryData)]
struct Fighter<'w> {
    id: Entity,
    health: &'w Health,
}

fn main() {
    let world = World::new();
    world.query::<Fighter>();
}
