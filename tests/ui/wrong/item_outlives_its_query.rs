use esker::{Component, World};

#[derive(Component)]
struct Health(u32);

fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(1));

    let health = {
        let mut query = world.query::<&mut Health>();
        query.get_mut(e).unwrap()
    };
    health.0 += 1;
}
