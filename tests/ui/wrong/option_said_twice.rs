use esker::prelude::*;

#[derive(Component)]
#[component(storage = Hashed)]
#[component(track, storage = Indexed)]
struct Health(u32);

fn main() {}
