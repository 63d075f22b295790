use esker::{Bundle, Component};

#[derive(Component)]
struct Health(u32);

#[derive(Bundle)]
enum Either {
    Alive(Health),
    Dead,
}

fn main() {}
