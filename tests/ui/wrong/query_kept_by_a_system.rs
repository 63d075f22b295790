use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

fn main() {
    let mut kept = None;
    let mut world = World::new();
    world.run_system(move |query: Query<&'static Health>| kept = Some(query));
}
