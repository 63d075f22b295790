use esker::prelude::*;

#[derive(Component)]
struct Armour(u32);

#[derive(Component)]
#[component(require(Armour = || 5))]
struct Health(u32);

fn main() {}
