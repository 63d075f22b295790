use std::rc::Rc;

use esker::World;

fn main() {
    let mut world = World::new();
    world.insert_resource(Rc::new(1));
}
