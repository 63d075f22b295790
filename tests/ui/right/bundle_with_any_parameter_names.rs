//! What the derive needs for itself does not collide with the names of parameters.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Name(&'static str);

#[derive(Bundle)]
struct Keyed<K, V> {
    key: K,
    value: V,
}

fn main() {
    let mut world = World::new();
    let e = world.spawn(Keyed { key: Health(1), value: Name("Ann") });
    assert_eq!(world.get::<Health>(e).unwrap().0, 1);
    assert_eq!(world.get::<Name>(e).unwrap().0, "Ann");
}
