use esker::{Component, World};

#[derive(Component)]
struct Health(u32);

fn main() {
    let mut world = World::new();
    let pool = world.pool::<Health>();
    let slice = pool.as_slice();
    world.spawn(Health(1));
    println!("{}", slice.len());
}
