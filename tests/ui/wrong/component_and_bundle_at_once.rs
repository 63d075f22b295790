use esker::{Bundle, Component};

#[derive(Component)]
struct Health(u32);

#[derive(Bundle, Component)]
struct Player {
    health: Health,
}

fn main() {}
