//! The right way to do what some of the programs in `wrong` do wrongly.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Name(&'static str);

#[derive(Bundle)]
struct Player {
    health: Health,
    name: Name,
}

fn main() {
    let mut world = World::new();
    let e = world.spawn(Player { health: Health(1), name: Name("Ann") });

    for health in &mut world.query::<&mut Health>() {
        health.0 += 1;
    }

    let total: u32 = world.pool::<Health>().as_slice().iter().map(|health| health.0).sum();
    assert_eq!(total, 2);
    assert_eq!(world.get::<Name>(e).unwrap().0, "Ann");
}
