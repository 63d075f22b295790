//! What an id is: an index that is used again, and a version that is not.
//!
//! ```sh
//! cargo run --example ids
//! ```

use std::error::Error;
use std::thread;

use esker::prelude::*;

#[derive(Component)]
struct Name(&'static str);

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::new();

    // An id outlives its entity, and never means another one.
    let alice = world.spawn(Name("Alice"));
    world.despawn(alice)?;
    let bob = world.spawn(Name("Bob"));
    println!("Alice was {alice}, Bob is {bob}");
    assert_eq!(alice.index(), bob.index());
    assert!(!world.is_alive(alice) && world.get::<Name>(alice).is_none());
    println!("asked for Alice: {}", world.insert(alice, Name("Alice")).unwrap_err());

    // As text, as a number, and as an option that takes no more room.
    assert_eq!(bob.to_string().parse::<Entity>()?, bob);
    assert_eq!(Entity::try_from_bits(bob.to_bits()), Some(bob));
    assert_eq!(size_of::<Option<Entity>>(), 8);

    // Many threads can take ids of a world that they share; the entities come to life together.
    let shared = &world;
    let ids = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| shared.reserve_entity())).collect();
        let ids = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        ids.collect::<Result<Vec<Entity>, _>>()
    })?;
    world.settle();
    println!("reserved by four threads: {ids:?}");
    assert!(ids.iter().all(|&id| world.is_alive(id)));

    // A replica repeats the ids that its server has given out. Its own come from a range apart.
    let mut replica = World::builder().entity_range(1_000_000..2_000_000).build();
    replica.spawn_at(bob, Name("Bob"))?;
    let ghost = replica.spawn(Name("a ghost that the server does not know"));
    println!(
        "on the replica, {bob} is {} and {ghost} is {}",
        replica.get::<Name>(bob).unwrap().0,
        replica.get::<Name>(ghost).unwrap().0
    );
    assert_eq!(ghost.index(), 1_000_000);
    Ok(())
}
