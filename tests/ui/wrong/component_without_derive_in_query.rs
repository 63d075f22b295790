use esker::World;

struct Health(u32);

fn main() {
    let world = World::new();
    world.query::<&Health>();
}
