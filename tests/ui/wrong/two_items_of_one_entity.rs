use esker::{Component, World};

#[derive(Component)]
struct Health(u32);

fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(1));
    let mut query = world.query::<&mut Health>();
    let first = query.get_mut(e).unwrap();
    let second = query.get_mut(e).unwrap();
    std::mem::swap(first, second);
}
