//! An item is lent by its query, with names or without.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
struct Fighter<'w> {
    health: &'w mut Health,
}

fn main() {
    let world = World::new();
    let fighters: Vec<FighterItem> = world.query::<Fighter>().iter_mut().collect();
    fighters.len();
}
