use esker::SystemParam;
use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(SystemParam)]
enum Either<'w> {
    All(Pool<'w, Health>),
    None,
}

fn main() {}
