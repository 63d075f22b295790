use esker::{Component, World};

#[derive(Component)]
#[component(storage = Indexed)]
struct Health(u32);

fn main() {
    let world = World::new();
    println!("{}", world.pool::<Health>().as_slice().len());
}
