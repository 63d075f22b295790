use esker::World;

struct Health(u32);

fn main() {
    let mut world = World::new();
    world.spawn(Health(1));
}
