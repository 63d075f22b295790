//! What bounds a `for` loop over a query: the same loop over plain vectors that come in two pieces, in
//! turns and in one process.
//!
//! A query is a walk from stretch to stretch, so its `for` loop has two levels, and the compiler vectorises
//! none of that kind. Vectors in two pieces are the least that has two levels.
//!
//! Run it with `RUSTFLAGS="-C llvm-args=-align-loops=64" cargo run --release -p esker-bench --bin loops`.

use std::hint::black_box;
use std::time::Instant;

use ::esker::World;
use clap::Parser;

use esker_bench::components::{Position, Velocity};
use esker_bench::{kernel, setting, stats};

/// Measures a `for` loop over a query against `for` loops over plain vectors.
#[derive(Debug, Parser)]
#[command(name = "loops")]
struct Cli {
    /// Entities.
    #[arg(short, long, default_values_t = [1_000, 100_000])]
    n: Vec<usize>,

    /// How often each takes its turn.
    #[arg(short, long, default_value_t = 201)]
    rounds: usize,
}

struct Scene {
    positions: Vec<Position>,
    velocities: Vec<Velocity>,
    world: World,
}

type Work = fn(&mut Scene);

const WAYS: [(&str, Work); 4] = [
    ("vectors, `for`", in_one),
    ("vectors in two pieces, `for`", in_two),
    ("query, `for`", query_for),
    ("query, `for_each`", query_for_each),
];

#[inline(never)]
fn in_one(scene: &mut Scene) {
    for (position, velocity) in scene.positions.iter_mut().zip(&scene.velocities) {
        kernel::step(position, velocity);
    }
}

#[inline(never)]
fn in_two(scene: &mut Scene) {
    let half = scene.positions.len() / 2;
    let (first, second) = scene.positions.split_at_mut(half);
    let (velocities, others) = scene.velocities.split_at(half);
    let pieces = first.iter_mut().zip(velocities).chain(second.iter_mut().zip(others));
    for (position, velocity) in pieces {
        kernel::step(position, velocity);
    }
}

#[inline(never)]
fn query_for(scene: &mut Scene) {
    for (position, velocity) in &mut scene.world.query_mut::<(&mut Position, &Velocity)>() {
        kernel::step(position, velocity);
    }
}

#[inline(never)]
fn query_for_each(scene: &mut Scene) {
    let mut query = scene.world.query_mut::<(&mut Position, &Velocity)>();
    query.iter_mut().for_each(|(position, velocity)| kernel::step(position, velocity));
}

fn main() {
    let cli = Cli::parse();
    println!("{}\n", setting::cpu());
    println!("| N | loop | ns an entity | by vectors |\n|--:|---|--:|--:|");
    for n in cli.n {
        let mut world = World::new();
        for i in 0..n {
            world.spawn((kernel::position(i), kernel::velocity(i)));
        }
        let positions = (0..n).map(kernel::position).collect();
        let velocities = (0..n).map(kernel::velocity).collect();
        let mut scene = Scene { positions, velocities, world };
        let repeats = (1_000_000 / n).max(1);
        let mut times = vec![Vec::new(); WAYS.len()];
        for _ in 0..cli.rounds {
            for ((_, work), times) in WAYS.iter().zip(&mut times) {
                let start = Instant::now();
                for _ in 0..repeats {
                    work(black_box(&mut scene));
                }
                times.push(start.elapsed().as_secs_f64() * 1e9 / (n * repeats) as f64);
            }
        }
        for ((name, _), own) in WAYS.iter().zip(&times) {
            let (ns, ratio) = (stats::median(own), stats::median_ratio(own, &times[0]));
            println!("| {n} | {name} | {ns:.2} | {ratio:.2} |");
        }
    }
}
