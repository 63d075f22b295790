use esker::{Component, World};

#[derive(Component)]
struct Health(u32);

fn main() {
    let health = {
        let mut world = World::new();
        let e = world.spawn(Health(1));
        world.get::<Health>(e).unwrap()
    };
    println!("{}", health.0);
}
