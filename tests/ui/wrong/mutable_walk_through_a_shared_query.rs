use esker::{Component, World};

#[derive(Component)]
struct Health(u32);

fn main() {
    let world = World::new();
    let query = world.query::<&mut Health>();
    for health in &query {
        health.0 += 1;
    }
    for health in query.iter() {
        health.0 += 1;
    }
}
