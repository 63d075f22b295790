//! Order of pools: sorting and aligning move values with their entities, and lose nothing.

#![cfg(feature = "derive")]

mod common;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use common::{Rng, SeedReport, panics_as_planned, planned_panic};
use esker::prelude::*;
use esker::storage::EntityMap;

#[derive(Component, Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name(String);

#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[component(storage = Indexed)]
struct Place(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[component(storage = Hashed)]
struct Rank(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Weight(u32);

/// Some entities, each with some of the components, which came in a random order.
fn random_world(rng: &mut Rng) -> World {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..rng.below(200)).map(|_| world.spawn(())).collect();
    for _ in 0..4 * ids.len() {
        let id = rng.pick(&ids);
        let number = rng.index_below(20);
        match rng.below(5) {
            0 => world.insert(id, Name(number.to_string())),
            1 => world.insert(id, Place(number)),
            2 => world.insert(id, Rank(number)),
            3 => world.insert(id, Weight(number)),
            _ => world.remove::<(Name, Weight)>(id).map(drop),
        }
        .unwrap();
    }
    world
}

fn values<T: Component + Clone>(world: &World) -> BTreeMap<Entity, T> {
    world.pool::<T>().iter().map(|(entity, value)| (entity, value.clone())).collect()
}

/// Sorts the pool of `T` in all ways and checks each.
fn check_sorting<T: Component + Clone + Ord + std::fmt::Debug>(world: &mut World, rng: &mut Rng) {
    if world.component_id::<T>().is_none() {
        return;
    }
    let before = values::<T>(world);
    let in_pool = |world: &World| -> Vec<(Entity, T)> {
        world.pool::<T>().iter().map(|(entity, value)| (entity, value.clone())).collect()
    };

    let mut stable = in_pool(world);
    stable.sort_by(|a, b| a.1.cmp(&b.1));
    match rng.below(3) {
        0 => world.pool_mut::<T>().sort_by(|a, b| a.cmp(b)).unwrap(),
        1 => world.pool_mut::<T>().sort_by_key(|value| value.clone()).unwrap(),
        _ => world.pool_mut::<T>().sort_nearly_by(|a, b| a.cmp(b)).unwrap(),
    }
    assert_eq!(in_pool(world), stable);

    world.pool_mut::<T>().sort_pairs_by(|a, b| b.0.cmp(&a.0)).unwrap();
    assert!(world.pool::<T>().entities().is_sorted_by(|a, b| a > b));

    world.pool_mut::<T>().sort_unstable_by(|a, b| b.cmp(a)).unwrap();
    assert!(in_pool(world).is_sorted_by(|a, b| a.1 >= b.1));
    assert_eq!(values::<T>(world), before);
    world.verify().unwrap();
}

#[test]
fn a_sorted_pool_is_in_order_and_every_value_is_at_its_entity() {
    for seed in 0..60 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test order" };
        let mut rng = Rng::new(seed);
        let mut world = random_world(&mut rng);

        check_sorting::<Name>(&mut world, &mut rng);
        check_sorting::<Place>(&mut world, &mut rng);
        check_sorting::<Rank>(&mut world, &mut rng);
        check_sorting::<Weight>(&mut world, &mut rng);
    }
}

#[test]
fn a_pool_takes_the_order_of_another_as_far_as_they_share_entities() {
    // EnTT 89.
    for seed in 0..60 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test order" };
        let mut world = random_world(&mut Rng::new(seed));
        if world.component_id::<Name>().is_none() {
            continue;
        }
        let before = values::<Name>(&world);

        let shared = world.pool_mut::<Name>().sort_as(&world.pool::<Rank>()).unwrap();

        let expected: Vec<Entity> = world
            .pool::<Rank>()
            .entities()
            .iter()
            .copied()
            .filter(|e| before.contains_key(e))
            .collect();
        assert_eq!(world.pool::<Name>().entities()[..shared], expected);
        assert_eq!(values::<Name>(&world), before);
        world.verify().unwrap();
    }
}

#[test]
fn a_map_takes_the_order_of_a_list_that_names_strangers_and_names_twice() {
    let mut world = World::new();
    let [a, b, c, stranger] = [(); 4].map(|()| world.spawn(()));
    let mut map: EntityMap<u32> = EntityMap::default();
    for (entity, value) in [(a, 1), (b, 2), (c, 3)] {
        map.insert(entity, value);
    }

    assert_eq!(map.sort_as([c, stranger, c, common::later(b, 1), a]), 2);

    assert_eq!(map.entities(), [c, a, b]);
    assert_eq!(map.as_slice(), [3, 1, 2]);
}

#[test]
fn a_comparison_that_panics_leaves_the_pool_as_it_was() {
    let mut world = World::new();
    world.spawn_batch((0..100_u32).rev().map(|n| (Weight(n), Place(n))));
    let before: Vec<Entity> = world.pool::<Weight>().entities().to_vec();

    for at in [0, 5, 90] {
        let mut calls = 0;
        let mut compare = |a: &Weight, b: &Weight| {
            calls += 1;
            if calls > at { planned_panic() } else { a.cmp(b) }
        };
        assert!(panics_as_planned(|| world.pool_mut::<Weight>().sort_by(&mut compare)));
        assert_eq!(world.pool::<Weight>().entities(), before);
    }

    // The variant for nearly sorted pools sorts as it goes: what is there is still all there.
    let mut calls = 0;
    let compare = |a: &Place, b: &Place| {
        calls += 1;
        if calls > 50 { planned_panic() } else { a.cmp(b) }
    };
    assert!(panics_as_planned(|| world.pool_mut::<Place>().sort_nearly_by(compare)));
    let mut places: Vec<u32> = world.pool::<Place>().iter().map(|(_, place)| place.0).collect();
    places.sort_unstable();
    assert!(places.into_iter().eq(0..100));
    world.verify().unwrap();
}

#[test]
fn a_comparison_that_contradicts_itself_loses_nothing() {
    for seed in 0..30 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test order" };
        let mut rng = Rng::new(seed);
        let mut world = World::new();
        world.spawn_batch((0..200_u32).map(|n| (Weight(n), Name(n.to_string()))));
        let (weights, names) = (values::<Weight>(&world), values::<Name>(&world));
        let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater];

        // The sort may notice and panic, or not.
        _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            world.pool_mut::<Weight>().sort_by(|_, _| rng.pick(&orders)).unwrap();
        }));
        _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            world.pool_mut::<Name>().sort_unstable_by(|_, _| rng.pick(&orders)).unwrap();
        }));
        world.pool_mut::<Weight>().sort_nearly_by(|_, _| rng.pick(&orders)).unwrap();

        assert_eq!((values::<Weight>(&world), values::<Name>(&world)), (weights, names));
        world.verify().unwrap();
    }
}

#[test]
fn aligned_pools_begin_with_their_shared_entities_in_one_order() {
    for seed in 0..100 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test order" };
        let mut world = random_world(&mut Rng::new(seed));
        let names = values::<Name>(&world);
        let mut shared: Vec<Entity> =
            world.query::<(Entity, &Name, &Place, &Rank)>().iter().map(|item| item.0).collect();

        let aligned = world.align::<(Name, (Place, Rank))>().unwrap();

        assert_eq!(aligned, shared.len());
        let front = world.pool::<Name>().entities()[..aligned].to_vec();
        assert_eq!(front, world.pool::<Place>().entities()[..aligned]);
        assert_eq!(front, world.pool::<Rank>().entities()[..aligned]);
        shared.sort_unstable();
        let mut sorted = front;
        sorted.sort_unstable();
        assert_eq!(sorted, shared);
        assert_eq!(values::<Name>(&world), names);
        assert!(world.query::<(&Name, &Place, &Rank)>().explain().runs <= 1);
        assert_eq!(world.align::<(Name, (Place, Rank))>(), Ok(aligned));
        world.verify().unwrap();
    }
}

#[test]
fn aligning_with_a_component_nobody_has_does_nothing() {
    #[derive(Component)]
    struct Nobody;
    let mut world = World::new();
    world.spawn(Weight(1));

    assert_eq!(world.align::<(Weight, Nobody)>(), Ok(0));
    assert_eq!(world.align::<()>(), Ok(0));
    assert_eq!(world.align::<(Weight, Weight)>(), Ok(1));

    assert_eq!(world.component_id::<Nobody>(), None);
}
