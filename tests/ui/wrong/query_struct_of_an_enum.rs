use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
enum Fighter<'w> {
    Alive { health: &'w Health },
    Dead,
}

fn main() {}
