use esker::prelude::*;

#[derive(Component, Default)]
struct Armour;

#[derive(Component)]
#[component(require(Armour =))]
struct Health(u32);

fn main() {}
