use esker::{Component, Entity, World};

#[derive(Component)]
struct Health(u32);

struct Name(String);

fn main() {
    let world = World::new();
    for (_, _, _) in &mut world.query::<(Entity, &mut Health, &Name)>() {}
}
