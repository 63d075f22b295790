use esker::{Component, World};

#[derive(Component)]
struct Health(u32);

fn main() {
    let world = World::new();
    let slice = world.pool::<Health>().as_slice();
    println!("{}", slice.len());
}
