//! Pools that one group owns and nobody else cares for: values go straight to their place.

#![cfg(feature = "derive")]

mod common;

use common::{Rng, SeedReport};
use esker::prelude::*;
use esker::world::GroupId;

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct A(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct B(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = Hashed)]
struct C(u32);

/// How many the group should have, by asking everybody.
fn count<X: Bundle>(world: &World) -> usize {
    world.entities().filter(|&entity| world.has::<X>(entity)).count()
}

/// Gives an entity a value through its pool, and looks for it.
fn edit<T: Component + Copy + PartialEq + std::fmt::Debug>(
    mut pool: PoolMut<'_, T>,
    entity: Entity,
    value: T,
) {
    let before = pool.get(entity).copied();
    assert_eq!(pool.insert(entity, value), Ok(before));
    assert_eq!(pool.get(entity), Some(&value));
}

/// Takes a value through its pool, and looks whether it was the one.
fn assert_removed<T: Component + Copy + PartialEq + std::fmt::Debug>(
    mut pool: PoolMut<'_, T>,
    entity: Entity,
) {
    let before = pool.get(entity).copied();
    assert_eq!(pool.remove(entity), before);
    assert!(!pool.contains(entity));
}

/// Gives and takes components at random, through the world and through pools, and compares the group with what everybody has.
fn operate<X: Bundle>(world: &mut World, group: GroupId, ids: &[Entity], rng: &mut Rng) {
    for step in 0..100 {
        let entity = ids[rng.below(ids.len())];
        match rng.below(18) {
            0 => world.insert(entity, A(step)).unwrap(),
            1 => world.insert(entity, B(step)).unwrap(),
            2 => world.insert(entity, C(step)).unwrap(),
            3 => _ = world.remove::<A>(entity).unwrap(),
            4 => _ = world.remove::<B>(entity).unwrap(),
            5 => _ = world.remove::<C>(entity).unwrap(),
            6 => edit(world.pool_mut(), entity, A(step)),
            7 => edit(world.pool_mut(), entity, B(step)),
            8 => edit(world.pool_mut(), entity, C(step)),
            9 => assert_removed::<A>(world.pool_mut(), entity),
            10 => assert_removed::<B>(world.pool_mut(), entity),
            11 => assert_removed::<C>(world.pool_mut(), entity),
            12 => edit(world.edit_pool(), entity, A(step)),
            13 => edit(world.edit_pool(), entity, B(step)),
            14 => edit(world.edit_pool(), entity, C(step)),
            15 => assert_removed::<A>(world.edit_pool(), entity),
            16 => assert_removed::<B>(world.edit_pool(), entity),
            _ => assert_removed::<C>(world.edit_pool(), entity),
        }
        world.verify().unwrap();
        assert_eq!(world.group_len(group), Some(count::<X>(world)));
    }
}

/// Some entities side by side, and some whose slots lie in pages of their own.
fn near_and_far(world: &mut World) -> Vec<Entity> {
    let mut ids: Vec<Entity> = (0..8).map(|_| world.spawn(())).collect();
    for n in 1..6 {
        let entity = Entity::new(n * 50_000_000, 0).unwrap();
        world.spawn_at(entity, ()).unwrap();
        ids.push(entity);
    }
    ids
}

#[test]
fn entities_near_and_far_enter_and_leave_wherever_their_slots_lie() {
    for seed in 0..4 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test sole_owners" };
        let mut rng = Rng::new(seed);

        let mut world = World::new();
        world.register::<C>();
        let pair = world.group::<(A, B)>().build().unwrap();
        let ids = near_and_far(&mut world);
        operate::<(A, B)>(&mut world, pair, &ids, &mut rng);

        let mut world = World::new();
        let three = world.group::<(A, B, C)>().build().unwrap();
        let ids = near_and_far(&mut world);
        operate::<(A, B, C)>(&mut world, three, &ids, &mut rng);
    }
}

#[test]
fn who_watches_a_group_from_now_on_hears_of_everybody() {
    let mut world = World::new();
    let group = world.group::<(A, B)>().build().unwrap();
    let [early, late] = [world.spawn((A(0), B(0))), world.spawn(A(1))];
    world.watch(group);
    world.refresh();

    world.insert(late, B(1)).unwrap();
    world.remove::<B>(early).unwrap();
    world.refresh();

    let crossings = world.crossings(group).unwrap();
    assert_eq!((&crossings.entered[..], &crossings.left[..]), (&[late][..], &[early][..]));
}

/// Components that only take up numbers.
macro_rules! fillers {
    ($($name:ident)+) => {
        $(#[derive(Component)] struct $name;)+
        const FILLERS: &[fn(&mut World)] = &[$(|world| _ = world.register::<$name>()),+];
    };
}

fillers!(
    F0 F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24 F25
    F26 F27 F28 F29 F30 F31 F32 F33 F34 F35 F36 F37 F38 F39 F40 F41 F42 F43 F44 F45 F46 F47 F48 F49
    F50 F51 F52 F53 F54 F55 F56 F57 F58 F59 F60 F61 F62
);

#[test]
fn a_bit_that_comes_to_be_shared_no_longer_decides() {
    let mut world = World::new();
    let [first, rest] = [&FILLERS[..16], &FILLERS[16..]];
    first.iter().for_each(|register| register(&mut world));
    let group = world.group::<(A, B)>().build().unwrap();
    world.spawn((A(0), B(0)));
    // The last one shares the bits of `A` and `B`, at places 16 and 17.
    rest.iter().for_each(|register| register(&mut world));

    let stranger = world.spawn((F62, B(1)));
    assert_eq!(world.remove::<B>(stranger), Ok(Some(B(1))));
    world.verify().unwrap();
    world.insert(stranger, B(2)).unwrap();
    assert_eq!(world.pool_mut::<B>().remove(stranger), Some(B(2)));
    world.verify().unwrap();
    assert_eq!(world.pool_mut::<B>().insert(stranger, B(3)), Ok(None));
    assert_eq!(world.pool_mut::<A>().remove(stranger), None);

    world.verify().unwrap();
    assert_eq!(world.group_len(group), Some(1));
}
