//! A view lends values for reading: as long as one of them is in use, nobody writes through the query.

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(1));
    let mut query = world.query::<&mut Health>();
    let seen = query.view().get(e).unwrap();
    query.get_mut(e).unwrap().0 += 1;
    assert_eq!(seen.0, 1);
}
