use esker::{Entity, With, World};

struct Health(u32);

fn main() {
    let world = World::new();
    world.query_filtered::<Entity, With<Health>>();
}
