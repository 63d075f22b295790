//! What may name an entity twice lends one item at a time.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

fn main() {
    let mut world = World::new();
    let hero = world.spawn(Health(1));
    let mut query = world.query::<&mut Health>();
    let mut heroes = query.iter_many_mut([hero, hero]);
    let first = heroes.fetch_next();
    let second = heroes.fetch_next();
    drop((first, second));
}
