//! One script has one result: in every build, on any number of threads, in every run.
//!
//! Other tests compare two runs with each other. This one compares each with a number that was written down
//! once, so that debug and release builds, builds without threads, and other machines are compared, too.

#![cfg(all(feature = "derive", feature = "serde"))]

mod common;

use std::time::Duration;

use common::{Rng, mix};
use esker::prelude::*;
use esker::query::Split;
use esker::snapshot::{Snapshot, SnapshotTypes};
use serde::{Deserialize, Serialize};

/// What comes of the script. Another number is another result for everybody who repeats a simulation: a
/// change that brings one about is a line in the changelog.
const RESULT: u64 = 0xA01D_6BC4_BC2F_BF72;

/// Operations between steps of the schedule, and how many of both.
const OPERATIONS: usize = 5_000;
const STEPS: usize = 200;

#[derive(Component, Snapshot, Serialize, Deserialize)]
#[component(track)]
struct Count(u64);

/// Sums and products of floats are the same everywhere.
#[derive(Component, Snapshot, Serialize, Deserialize)]
struct Drift(f32);

#[derive(Component, Snapshot, Serialize, Deserialize)]
#[component(storage = Hashed)]
struct Name(String);

#[derive(Component, Snapshot, Serialize, Deserialize)]
#[component(storage = Indexed, track)]
struct Place(u32);

#[derive(Component, Snapshot, Serialize, Deserialize)]
struct Tag;

fn drift(mut all: Query<(Entity, &mut Drift, &Count)>, mut commands: Commands) {
    all.subtasks(Split::every(64)).run(&mut commands, |part, commands| {
        for (id, drift, count) in part {
            drift.0 = drift.0 * 0.75 + (count.0 % 1024) as f32;
            if drift.0 > 3500.0 {
                commands.spawn(Count(u64::from(id.index())));
                commands.despawn(id);
            }
        }
    });
}

fn count(mut all: Query<&mut Count, Without<Tag>>) {
    all.iter_mut().for_each(|mut count| count.0 = mix(count.0));
}

fn split(all: Query<(Entity, &Place), Changed<Place>>, mut commands: Commands) {
    for (id, place) in all.iter().filter(|(_, place)| place.0.is_multiple_of(16)) {
        let child = commands.spawn((Place(place.0 / 2 + 1), Drift(1.5)));
        commands.insert(child, Name(format!("{child} of {id}")));
    }
}

fn forget(lost: Removed<Name>, mut commands: Commands) {
    lost.entities().for_each(|id| commands.remove::<Place>(id));
}

fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add_systems((drift, count, split, forget));
    schedule.set_task_threshold(Duration::ZERO);
    schedule
}

/// One operation of the script; `living` are ids that were spawned, dead ones among them.
fn operate(world: &mut World, rng: &mut Rng, living: &mut Vec<Entity>) {
    let number = rng.next();
    if living.len() < 64 || (rng.one_in(5) && world.len() < 4_000) {
        living.push(match number % 3 {
            0 => world.spawn((Count(number), Drift(0.5))),
            1 => world.spawn((Count(number), Place(number as u32), Tag)),
            _ => world.spawn((Name(format!("{number:x}")), Drift(2.0))),
        });
        return;
    }
    let at = rng.below(living.len());
    let id = living[at];
    _ = match number % 9 {
        0 => world.insert(id, Count(number)).is_ok(),
        1 => world.insert(id, (Drift(0.25), Place(number as u32))).is_ok(),
        2 => world.insert(id, Tag).is_ok(),
        3 => world.remove::<Tag>(id).is_ok(),
        4 => world.remove::<(Name, Drift)>(id).is_ok(),
        5 => world.remove::<Count>(id).is_ok(),
        6 => world.insert(id, Name(format!("{number:x}"))).is_ok(),
        7 => world.patch(id, |place: &mut Place| place.0 ^= 5).is_ok(),
        _ => world.despawn(living.swap_remove(at)).is_ok(),
    };
}

/// Runs the script and makes one number of what is left, where it lies, and which ids come next.
fn result() -> u64 {
    let types = SnapshotTypes::new();
    let types = types.component::<Count>().component::<Drift>().component::<Name>();
    let types = types.component::<Place>().component::<Tag>();
    let (mut world, mut schedule, mut rng) = (World::new(), schedule(), Rng::new(2026));
    let mut living = Vec::new();
    let mut sum = 0;
    for step in 0..STEPS {
        (0..OPERATIONS).for_each(|_| operate(&mut world, &mut rng, &mut living));
        schedule.step(&mut world);
        match step {
            40 => _ = world.group::<(Count, Drift)>().build().unwrap(),
            80 => world.pool_mut::<Place>().sort_by_key(|place| place.0 % 100).unwrap(),
            120 => _ = world.align::<(Place, Tag)>().unwrap(),
            160 => world.shrink_to_fit(),
            _ => {}
        }
        if step % 20 == 19 {
            let bytes = types.save().to_bytes(&world).unwrap();
            let words = bytes
                .chunks(8)
                .map(|word| word.iter().fold(0, |all, &byte| all << 8 | u64::from(byte)));
            sum = words.fold(sum, |sum, word| mix(sum ^ word));
        }
    }
    world.verify().unwrap();
    assert!(world.len() > 1_000, "{} entities are left: the script says little", world.len());
    sum
}

#[cfg(feature = "parallel")]
#[test]
fn a_script_of_a_million_operations_has_one_result_on_any_number_of_threads() {
    for threads in [1, 2, 4, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(result), RESULT, "{threads} threads");
    }
}

#[cfg(not(feature = "parallel"))]
#[test]
fn a_script_of_a_million_operations_has_one_result_without_threads() {
    assert_eq!(result(), RESULT);
}
