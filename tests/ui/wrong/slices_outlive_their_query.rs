//! The slices of a run are lent by their query.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

fn main() {
    let world = World::new();
    let mut query = world.query::<&mut Health>();
    let first = query.runs_mut().next();
    drop(query);
    first.map(|healths| healths.len());
}
