use esker::Component;

#[derive(Component)]
#[component(storag = Hashed)]
struct Health(u32);

fn main() {}
