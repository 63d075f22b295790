use esker::prelude::*;

struct Total(u32);

fn sum() -> Total {
    Total(1)
}

fn main() {
    let mut schedule = Schedule::new();
    schedule.add_systems(sum);
}
