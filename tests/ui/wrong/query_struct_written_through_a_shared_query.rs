use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
struct Fighter<'w> {
    health: &'w mut Health,
}

fn main() {
    let world = World::new();
    let query = world.query::<Fighter>();
    for fighter in &query {
        fighter.health.0 += 1;
    }
}
