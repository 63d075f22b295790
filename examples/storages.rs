//! Which storage when: `Packed`, `Hashed` and `Indexed`, and what each costs.
//!
//! ```sh
//! cargo run --release --example storages
//! ```
//!
//! | storage | values | choose it for |
//! |---|---|---|
//! | `Packed` | one array without gaps, look-up by a table | nearly everything; it is the default |
//! | `Hashed` | the same array, look-up by a hash map | components that few entities have |
//! | `Indexed` | each at the place of its entity's index, for good | values whose address must stay the same |

use std::ptr;

use esker::prelude::*;

/// Nearly everybody has it, and it is walked all the time.
#[derive(Component)]
struct Position(f32, f32);

/// A few entities of many. Only they take up memory.
#[derive(Component)]
#[component(storage = Hashed)]
struct Boss {
    name: &'static str,
}

/// The same for comparison, in the default storage.
#[derive(Component)]
struct PackedBoss;

/// Somebody outside keeps a pointer to it, so it must not move.
#[derive(Component)]
#[component(storage = Indexed)]
struct Texture([u8; 256]);

/// A tag: having it is all there is to know, so it takes no memory for values.
#[derive(Component)]
struct Selected;

fn main() {
    let mut world = World::new();
    let ids: Vec<Entity> =
        world.spawn_batch((0..100_000).map(|i| Position(i as f32, 0.0))).collect();
    for (name, &id) in ["Ymir", "Surtr", "Hel"].into_iter().zip(ids.iter().step_by(30_000)) {
        world.insert(id, (Boss { name }, PackedBoss)).unwrap();
    }
    for &id in &ids[..1000] {
        world.insert(id, (Texture([id.index() as u8; 256]), Selected)).unwrap();
    }
    println!("{}\n", world.memory_report());

    // Three bosses, far from each other: a hash map has three entries, a table has room for all
    // that lie close by.
    let memory = |name: &str| {
        let report = world.memory_report();
        let pool = report.pools.into_iter().find(|pool| pool.name.ends_with(name));
        pool.expect("the component is in use").memory
    };
    let (hashed, packed) = (memory("::Boss"), memory("::PackedBoss"));
    println!("to find three bosses: {} bytes hashed, {} packed", hashed.entities, packed.entities);
    assert!(hashed.entities < packed.entities);
    assert_eq!(memory("::Selected").values, 0);

    // Removing a packed value moves the last one into the gap. An indexed one stays.
    let (one, last) = (ids[1], ids[999]);
    let address = |world: &World| ptr::from_ref(world.pool::<Texture>().get(last).unwrap());
    let before = address(&world);
    world.despawn(one).unwrap();
    assert_eq!(address(&world), before);
    assert_eq!(world.pool::<Position>().entities()[1], ids[99_999]);
    println!("the last position has moved, the textures are where they were");

    // However values are kept, they are used alike.
    for (boss, position) in &world.query::<(&Boss, &Position)>() {
        println!("{} waits at {}, {}", boss.name, position.0, position.1);
    }
    let bytes: u32 = world.query::<&Texture>().iter().map(|texture| u32::from(texture.0[0])).sum();
    println!("the textures add up to {bytes}");
}
