use esker::SystemParam;
use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(SystemParam)]
struct Bodies<'a> {
    pool: Pool<'a, Health>,
}

fn main() {}
