use esker::Component;

#[derive(Component)]
#[component(storage = Vec)]
struct Health(u32);

fn main() {}
