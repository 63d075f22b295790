use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
struct Fighter<'w>(Entity, &'w Health);

fn main() {}
