use esker::Component;

#[derive(Component)]
#[component(storage = "Hashed")]
struct Health(u32);

fn main() {}
