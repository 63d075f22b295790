//! Three ways to react to changes, with the counters of a user interface.
//!
//! ```sh
//! cargo run --example counters
//! ```

use esker::prelude::*;

/// A value that people click up. Tracked: it knows when it was changed.
#[derive(Component)]
#[component(track)]
struct Count(u32);

/// What the counter shows.
#[derive(Component)]
struct Label(String);

/// The counter is shown in red.
#[derive(Component)]
struct Alarm;

/// Names the reactive set of counters that must be saved.
struct Unsaved;

fn main() {
    let mut world = World::new();

    // 1. A listener acts at once. It reads the world, and what it records is done right after the
    // operation that it has heard of.
    world.on_change::<Count>(|world, id, commands| {
        if world.get::<Count>(id).is_some_and(|count| count.0 >= 3) {
            commands.insert(id, Alarm);
        }
    });

    // 2. A reactive set collects entities until somebody has time for them.
    world.reactive::<Unsaved>().added::<Count>().changed::<Count>().build();

    let counters: Vec<Entity> =
        world.spawn_batch((0..1000).map(|_| (Count(0), Label("0".into())))).collect();
    assert_eq!(world.drain_reacted::<Unsaved>().len(), 1000);
    world.refresh(); // what was done so far is no longer new

    let [first, second] = [counters[7], counters[42]];
    for (id, clicks) in [(first, 1), (second, 3)] {
        for _ in 0..clicks {
            // `patch` is heard by listeners and reactive sets.
            world.patch(id, |count: &mut Count| count.0 += 1).unwrap();
        }
    }
    assert!(!world.has::<Alarm>(first) && world.has::<Alarm>(second));
    println!("in alarm: {:?}", world.pool::<Alarm>().entities());

    // 3. `Changed` finds what was written since the last refresh, however it was written. The cost
    // follows what has changed, not the thousand that are there.
    world.get_mut::<Count>(counters[99]).unwrap().0 = 2;
    let mut drawn = Vec::new();
    for (id, count, label) in
        &mut world.query_filtered::<(Entity, &Count, &mut Label), Changed<Count>>()
    {
        label.0 = count.0.to_string();
        drawn.push(id);
    }
    println!("drawn again: {drawn:?}");
    assert_eq!(drawn, [first, second, counters[99]]);

    // The set has each entity once, though one was clicked three times. It has not heard of the one
    // that was written through a reference: that is what tracking is for.
    let unsaved = world.drain_reacted::<Unsaved>();
    println!("to be saved: {unsaved:?}");
    assert_eq!(unsaved, [first, second]);

    // After the next refresh all is quiet.
    world.refresh();
    assert!(world.query_filtered::<Entity, Changed<Count>>().is_empty());
    assert_eq!(world.get::<Label>(second).unwrap().0, "3");
}
