//! Many worlds at once: how often does an epidemic die out by itself?
//!
//! ```sh
//! cargo run --release --example monte_carlo
//! ```
//!
//! Each world is a town of its own with its own seed. They run on all cores, one world to a thread,
//! and the answer is the same on any number of them.

use esker::prelude::*;
use fastrand::Rng;
use rayon::prelude::*;

/// Falls ill for so many days. People come to this component and lose it.
#[derive(Component)]
struct Ill(u8);

#[derive(Component)]
struct Immune;

const TOWNS: u64 = 2_000;
const PEOPLE: usize = 300;
const MEETINGS: usize = 2;
const CONTAGIOUS: f32 = 0.16;
const DAYS_ILL: u8 = 5;

/// Lets one case come to a town; returns how many have had it in the end.
fn epidemic(seed: u64) -> usize {
    let mut rng = Rng::with_seed(seed);
    let mut world = World::new();
    let people: Vec<_> = world.spawn_empty_batch(PEOPLE).expect("there are ids enough").collect();
    world.insert(people[0], Ill(DAYS_ILL)).unwrap();
    while !world.pool::<Ill>().is_empty() {
        spend_day(&mut world, &people, &mut rng);
    }
    world.pool::<Immune>().len()
}

fn spend_day(world: &mut World, people: &[Entity], rng: &mut Rng) {
    let mut met = Vec::new();
    let mut recovered = Vec::new();
    for (id, ill) in &mut world.query::<(Entity, &mut Ill)>() {
        met.extend((0..MEETINGS).map(|_| people[rng.usize(..people.len())]));
        ill.0 -= 1;
        if ill.0 == 0 {
            recovered.push(id);
        }
    }
    met.retain(|&id| rng.f32() < CONTAGIOUS && !world.has_any::<(Ill, Immune)>(id));
    for id in met {
        world.insert(id, Ill(DAYS_ILL)).unwrap();
    }
    for id in recovered {
        world.remove::<Ill>(id).unwrap();
        world.insert(id, Immune).unwrap();
    }
}

/// The outcome of all towns, in the order of their seeds.
fn all_towns(threads: usize) -> Vec<usize> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| (0..TOWNS).into_par_iter().map(epidemic).collect())
}

fn main() {
    let outcomes = all_towns(0); // as many threads as there are cores
    assert_eq!(outcomes, all_towns(1));
    assert_eq!(outcomes, all_towns(3));

    println!("people of {PEOPLE} who fell ill, in {TOWNS} towns:");
    for part in 0..10 {
        let (from, to) = (PEOPLE * part / 10, PEOPLE * (part + 1) / 10);
        let towns = outcomes.iter().filter(|&&ill| from < ill && ill <= to).count();
        println!("{:>3}–{to:<3} {towns:>5} {}", from + 1, "#".repeat(towns * 60 / TOWNS as usize));
    }
    let small = outcomes.iter().filter(|&&ill| ill <= PEOPLE / 10).count();
    println!("it dies out early in {:.1} % of them", 100.0 * small as f64 / TOWNS as f64);
    assert!(small > 0 && small < outcomes.len());
}
