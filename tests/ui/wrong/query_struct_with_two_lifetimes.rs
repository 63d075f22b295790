use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
struct Fighter<'a, 'b> {
    health: &'a Health,
    opponents: Option<&'b Health>,
}

fn main() {}
