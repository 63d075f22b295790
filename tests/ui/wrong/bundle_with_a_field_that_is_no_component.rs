use esker::{Bundle, Component};

#[derive(Component)]
struct Health(u32);

#[derive(Bundle)]
struct Player {
    health: Health,
    name: String,
}

fn main() {}
