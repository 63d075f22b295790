use esker::{Component, World};

#[derive(Component)]
struct Health(u32);

struct Name(String);

fn main() {
    let mut world = World::new();
    world.spawn((Health(1), Name("Ann".into())));
}
