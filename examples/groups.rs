//! What a group does for a query: the same entities, as slices instead of look-ups.
//!
//! ```sh
//! cargo run --release --example groups
//! ```

use std::error::Error;

use esker::prelude::*;

#[derive(Component)]
struct Position(f32);

#[derive(Component)]
struct Velocity(f32);

#[derive(Component)]
struct Asleep;

const BODIES: usize = 30_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::new();

    // Every third body moves, and these came to it in an order of their own. So the two pools do
    // not lie in the same order, and a query has to look each velocity's position up.
    let ids: Vec<Entity> = world.spawn_batch((0..BODIES).map(|i| Position(i as f32))).collect();
    for at in (0..BODIES).step_by(3) {
        world.insert(ids[at * 7919 % BODIES], Velocity(1.0))?;
    }
    let before = world.query::<(&mut Position, &Velocity)>().explain();
    println!("before:\n{before}\n");
    assert!(before.runs > 1000);

    // A group brings those that have both to the front of both pools, in one order, and keeps them
    // there. Queries use it by themselves.
    let moving = world.group::<(Position, Velocity)>().build()?;
    let after = world.query::<(&mut Position, &Velocity)>().explain();
    println!("grouped:\n{after}\n");
    assert!(after.is_grouped);
    assert_eq!((after.matches, after.runs), (before.matches, 1));

    // The members of a group are slices, for loops that the compiler turns into vector code.
    let mut members = world.grouped::<(&mut Position, &Velocity)>(moving)?;
    let (positions, velocities) = members.slices_mut().expect("both components are owned");
    positions.iter_mut().zip(velocities).for_each(|(position, velocity)| position.0 += velocity.0);
    drop(members);

    // A narrower group may own the same pools; its members come first among the wider one's.
    let awake = world.group::<(Position, Velocity)>().exclude::<Asleep>().build()?;
    for &id in ids.iter().step_by(2) {
        world.insert(id, Asleep)?;
    }
    let query = world.query_filtered::<(&mut Position, &Velocity), Without<Asleep>>();
    println!("awake:\n{}\n", query.explain());
    assert_eq!(query.explain().runs, 1);
    drop(query);

    let count = |group| world.group_len(group).unwrap_or(0);
    println!("{} of {BODIES} move, {} of them awake", count(moving), count(awake));
    assert!(count(awake) < count(moving));
    Ok(())
}
