use esker::{Component, World};

#[derive(Component)]
struct Health(u32);

fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(1));
    for health in world.query::<&Health>().iter() {
        if health.0 == 0 {
            world.despawn(e).unwrap();
        }
    }
}
