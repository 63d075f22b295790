use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

fn heal(health: &mut Health) {
    health.0 += 1;
}

fn main() {
    let mut schedule = Schedule::new();
    schedule.add_systems(heal);
}
