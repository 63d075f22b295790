use esker::World;

struct Health(u32);

fn main() {
    let mut world = World::new();
    let e = world.spawn(());
    world.get::<Health>(e);
}
