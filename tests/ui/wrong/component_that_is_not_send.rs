use std::rc::Rc;

use esker::Component;

#[derive(Component)]
struct Shared(Rc<u32>);

fn main() {}
