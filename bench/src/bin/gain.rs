//! What a schedule gains from a second thread: two systems with heavy bodies over a million entities,
//! against the same loops over plain vectors, one after the other and side by side.

use std::time::Instant;

use ::esker::prelude::*;
use esker_bench::components::{Position, Velocity};
use esker_bench::{kernel, threads};

const VALUES: usize = 1_000_000;
const ROUNDS: usize = 15;

/// The second system has a position of its own, so that both can run at once.
#[derive(Component, Clone, Copy)]
struct Shadow(Position);

fn orbit(mut query: Query<(&mut Position, &Velocity)>) {
    query.iter_mut().for_each(|(position, velocity)| kernel::orbit(position, velocity));
}

fn shade(mut query: Query<(&mut Shadow, &Velocity)>) {
    query.iter_mut().for_each(|(shadow, velocity)| kernel::orbit(&mut shadow.0, velocity));
}

fn plain(positions: &mut [Position], velocities: &[Velocity]) {
    for (position, velocity) in positions.iter_mut().zip(velocities) {
        kernel::orbit(position, velocity);
    }
}

fn main() {
    threads::inside(measure);
}

fn measure() {
    let (positions, velocities) = (kernel::position, kernel::velocity);
    let mut world = World::new();
    let body = |i| (positions(i), velocities(i), Shadow(positions(i)));
    world.spawn_batch((0..VALUES).map(body));
    let mut schedules = [Schedule::new(), Schedule::new()];
    for schedule in &mut schedules {
        schedule.add_systems((orbit, shade));
    }
    schedules[0].set_serial(true);
    let speeds: Vec<Velocity> = (0..VALUES).map(velocities).collect();
    let mut first: Vec<Position> = (0..VALUES).map(positions).collect();
    let mut second = first.clone();

    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        let [serial, parallel] = &mut schedules;
        let mut time = |at: usize, work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            times[at].push(start.elapsed().as_secs_f64());
        };
        time(0, &mut || {
            plain(&mut first, &speeds);
            plain(&mut second, &speeds);
        });
        time(1, &mut || {
            _ = rayon::join(|| plain(&mut first, &speeds), || plain(&mut second, &speeds));
        });
        time(2, &mut || _ = serial.step(&mut world));
        time(3, &mut || _ = parallel.step(&mut world));
    }
    let [raw, raw_2, serial, parallel] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2] * 1e3
    });
    println!("two heavy loops over {VALUES} entities; medians of {ROUNDS} interleaved rounds");
    println!("plain loops  {raw:>8.2} ms, on two threads {raw_2:>8.2} ms: {:.2} ×", raw / raw_2);
    println!(
        "two systems  {serial:>8.2} ms, on two threads {parallel:>8.2} ms: {:.2} ×",
        serial / parallel
    );
    println!("share of the gain: {:.2}", (serial / parallel) / (raw / raw_2));
}
