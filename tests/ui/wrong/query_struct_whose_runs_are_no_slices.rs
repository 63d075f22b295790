use esker::prelude::*;

#[derive(QueryData)]
struct Anybody<'w> {
    entity: EntityRef<'w>,
}

fn main() {
    let world = World::new();
    world.query::<Anybody>().runs();
}
