//! Values that are kept by index make no slices.

use esker::prelude::*;

#[derive(Component)]
#[component(storage = Indexed)]
struct Anchor(u32);

fn main() {
    let world = World::new();
    world.query::<&Anchor>().runs().count();
}
