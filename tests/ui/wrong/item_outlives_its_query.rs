//! An item is lent by its query.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

fn main() {
    let world = World::new();
    let healths: Vec<&mut Health> = world.query::<&mut Health>().iter_mut().collect();
    healths.len();
}
