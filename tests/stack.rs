//! How much stack a big component needs where nothing is optimised: values are passed on by value, and each function on the
//! way has room for one or two.

#![cfg(feature = "derive")]

use esker::prelude::*;

const SIZE: usize = 1 << 16;

#[derive(Component)]
struct Big([u8; SIZE]);

#[derive(Component)]
struct Small;

/// Runs something in a thread whose stack holds this many of the components; one that overflows ends the process.
#[track_caller]
fn within<R: Send + 'static>(values: usize, run: impl FnOnce() -> R + Send + 'static) -> R {
    // What else a thread needs.
    let rest = 1 << 17;
    let thread = std::thread::Builder::new().stack_size(values * SIZE + rest).spawn(run);
    thread.unwrap().join().unwrap()
}

#[inline(never)]
fn spawn(world: &mut World) -> Entity {
    world.spawn(Big([1; SIZE]))
}

/// A world with such an entity, made with room enough.
fn filled() -> (World, Entity) {
    within(64, || {
        let mut world = World::new();
        let id = spawn(&mut world);
        (world, id)
    })
}

#[test]
fn spawning_takes_the_stack_of_thirteen_values() {
    within(13, || {
        let mut world = World::new();
        let id = spawn(&mut world);
        assert_eq!(world.get::<Big>(id).unwrap().0[SIZE - 1], 1);
    });
}

#[test]
fn inserting_takes_the_stack_of_thirteen_values_and_replacing_no_more() {
    #[inline(never)]
    fn insert(world: &mut World, id: Entity) {
        world.insert(id, Big([2; SIZE])).unwrap();
    }

    within(13, || {
        let mut world = World::new();
        let id = world.spawn(Small);
        insert(&mut world, id);
        insert(&mut world, id);
    });
}

#[test]
fn a_batch_takes_the_stack_of_ten_values() {
    within(10, || {
        let mut world = World::new();
        world.spawn_batch((0..3).map(|nth| Big([nth; SIZE])));
        assert_eq!(world.len(), 3);
    });
}

#[test]
fn a_component_of_a_group_takes_the_stack_of_twenty_one_values() {
    within(21, || {
        let mut world = World::new();
        world.group::<(Big, Small)>().build().unwrap();
        spawn(&mut world);
    });
}

#[test]
fn removing_takes_the_stack_of_eight_values() {
    let (mut world, id) = filled();
    within(8, move || _ = world.remove::<Big>(id));
}

#[test]
fn a_death_takes_the_stack_of_seven_values() {
    let (mut world, id) = filled();
    within(7, move || world.despawn(id).unwrap());
}
