use esker::{Component, World};

#[derive(Component)]
struct Health(u32);

fn main() {
    let world = World::new();
    world.query::<Health>();
}
