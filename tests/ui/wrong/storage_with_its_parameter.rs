use esker::Component;
use esker::storage::Packed;

#[derive(Component)]
#[component(storage = Packed<Health>)]
struct Health(u32);

fn main() {}
