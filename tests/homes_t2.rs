//! Worlds whose pools are arranged go on the same way after a rollback and as copies: the same order at each step.

#![cfg(all(feature = "derive", feature = "serde"))]

mod common;

use common::Rng;
use esker::prelude::*;
use esker::query::NoBlocks;
use esker::snapshot::{Rollback, Snapshot, SnapshotTypes};
use serde::{Deserialize, Serialize};

macro_rules! components {
    ($($(#[$more:meta])* $name:ident),*) => {$(
        #[derive(Component, Snapshot, Serialize, Deserialize, Debug, Clone, PartialEq)]
        #[snapshot(clone)]
        $(#[$more])*
        struct $name(u64);
    )*};
}

components!(
    A,
    B,
    #[component(track)]
    C,
    D,
    Status,
    Rare
);

/// Calls a macro with seventy more components: with them, types share bits of signatures.
macro_rules! with_crowd {
    ($call:ident $($first:tt)*) => {
        $call! {
            $($first)*
            E00 E01 E02 E03 E04 E05 E06 E07 E08 E09 E10 E11 E12 E13
            E14 E15 E16 E17 E18 E19 E20 E21 E22 E23 E24 E25 E26 E27
            E28 E29 E30 E31 E32 E33 E34 E35 E36 E37 E38 E39 E40 E41
            E42 E43 E44 E45 E46 E47 E48 E49 E50 E51 E52 E53 E54 E55
            E56 E57 E58 E59 E60 E61 E62 E63 E64 E65 E66 E67 E68 E69
        }
    };
}
macro_rules! crowd {
    ($($name:ident)*) => { components!($($name),*); };
}
with_crowd!(crowd);

/// Makes all of them known.
fn register_crowd(world: &mut World) {
    macro_rules! register {
        ($($name:ident)*) => { $(world.register::<$name>();)* };
    }
    with_crowd!(register);
}

/// Not kept in snapshots.
#[derive(Component, Debug, Clone, PartialEq)]
struct Shade(u64);

fn types() -> SnapshotTypes {
    let types = SnapshotTypes::new().component::<A>().component::<B>().component::<C>();
    types.component::<D>().component::<Status>().component::<Rare>()
}

/// With the crowd, too.
fn all_types() -> SnapshotTypes {
    macro_rules! all {
        ($($name:ident)*) => { types()$(.component::<$name>())* };
    }
    with_crowd!(all)
}

/// What decides what is done next, and to whom.
#[derive(Clone)]
struct Fate {
    rng: Rng,
    ids: Vec<Entity>,
    /// Whether there are more types than a signature has bits.
    is_crowded: bool,
}

impl Fate {
    fn spawn(&mut self, world: &mut World) -> Entity {
        let n = self.rng.next();
        match self.rng.below(8) {
            0 => world.spawn((A(n), B(n))),
            1 => world.spawn((A(n), B(n), C(n))),
            2 => world.spawn((A(n), C(n), D(n))),
            3 => world.spawn((B(n), D(n))),
            4 => world.spawn((A(n), B(n), C(n), D(n))),
            5 => world.spawn((A(n), B(n), Rare(n))),
            6 => world.spawn((C(n), D(n))),
            _ => world.spawn((A(n), B(n), Status(n))),
        }
    }

    /// A world of some hundred entities that is laid out.
    fn begin(seed: u64) -> (World, Self) {
        Self::begin_in(World::new(), seed)
    }

    /// As `begin`, in a world of 76 types. The crowd comes first, or after the first layout; then many get one of them.
    fn begin_crowded(seed: u64) -> (World, Self) {
        let mut world = World::new();
        if seed.is_multiple_of(2) {
            register_crowd(&mut world);
        }
        let (mut world, mut fate) = Self::begin_in(world, seed);
        register_crowd(&mut world);
        fate.is_crowded = true;
        for (&id, n) in fate.ids.iter().take(400).zip(0..) {
            world.insert(id, E69(n)).unwrap();
        }
        (world, fate)
    }

    fn begin_in(mut world: World, seed: u64) -> (World, Self) {
        let mut fate = Self { rng: Rng::new(seed), ids: Vec::new(), is_crowded: false };
        for _ in 0..600 + fate.rng.below(500) {
            let id = fate.spawn(&mut world);
            fate.ids.push(id);
        }
        world.refresh();
        (world, fate)
    }

    fn step(&mut self, world: &mut World) {
        for _ in 0..self.rng.below(90) {
            let (n, at) = (self.rng.next(), self.rng.below(self.ids.len()));
            let id = self.ids[at];
            if self.is_crowded {
                self.crowd(world, id, n);
            }
            match self.rng.below(12) {
                0..=2 => {
                    world.despawn(id).unwrap();
                    self.ids[at] = self.spawn(world);
                }
                3 if self.ids.len() > 500 => {
                    world.despawn(id).unwrap();
                    self.ids.swap_remove(at);
                }
                3 | 4 => {
                    let id = self.spawn(world);
                    self.ids.push(id);
                }
                5 | 6 => world.insert(id, Status(n)).unwrap(),
                7 | 8 => _ = world.remove::<Status>(id).unwrap(),
                9 => _ = world.remove::<B>(id).unwrap(),
                10 => world.insert(id, (B(n), C(n))).unwrap(),
                _ if n.is_multiple_of(2) => _ = world.pool_mut::<D>().remove(id),
                _ => _ = world.pool_mut::<D>().insert(id, D(n)).unwrap(),
            }
        }
        match self.rng.below(6) {
            0 | 1 => world.refresh(),
            2 | 3 => world.query_mut::<(&mut A, &B)>().iter_mut().for_each(|(a, b)| a.0 ^= b.0),
            _ => {}
        }
    }
}

impl Fate {
    /// Gives or takes components that share bits of signatures with others.
    fn crowd(&mut self, world: &mut World, id: Entity, n: u64) {
        match self.rng.below(9) {
            0 => world.insert(id, (E03(n), E68(n))).unwrap(),
            1 => _ = world.remove::<(E03, E68)>(id).unwrap(),
            2 => world.insert(id, E69(n)).unwrap(),
            3 => _ = world.remove::<E69>(id).unwrap(),
            4 => world.insert(id, A(n)).unwrap(),
            5 => world.insert(id, (E20(n), E40(n), E60(n))).unwrap(),
            _ => {}
        }
    }
}

/// The order of pools and walks.
fn orders(world: &World) -> Vec<Vec<(Entity, u64)>> {
    macro_rules! pool {
        ($component:ty) => {{
            let pool = world.pool::<$component>();
            pool.iter().map(|(entity, value)| (entity, value.0)).collect()
        }};
    }
    let walk = |all: &mut dyn Iterator<Item = (Entity, u64)>| all.collect::<Vec<_>>();
    vec![
        pool!(A),
        pool!(B),
        pool!(C),
        pool!(D),
        pool!(Status),
        pool!(Rare),
        pool!(E69),
        walk(&mut world.query::<(Entity, &A, &B)>().iter().map(|(id, a, b)| (id, a.0 ^ b.0))),
        walk(&mut world.query::<(Entity, &B, &D)>().iter().map(|(id, b, d)| (id, b.0 ^ d.0))),
        walk(
            &mut world.query::<(Entity, &A, &C, &D)>().iter().map(|(id, a, _, d)| (id, a.0 ^ d.0)),
        ),
        walk(&mut world.query::<(Entity, &Status, &A)>().iter().map(|(id, s, a)| (id, s.0 ^ a.0))),
        walk(
            &mut world
                .query_filtered::<(Entity, &A, &B), Without<Status>>()
                .iter()
                .map(|(id, a, b)| (id, a.0 ^ b.0)),
        ),
    ]
}

/// One of several worlds: up to 8 of few types, from 9 on of many.
fn one_of(seed: u64) -> (World, Fate, SnapshotTypes) {
    println!("seed {seed}");
    let (world, fate) = if seed <= 8 { Fate::begin(seed) } else { Fate::begin_crowded(seed) };
    (world, fate, if seed <= 8 { types() } else { all_types() })
}

/// Checks all walks against what the entities say one by one.
#[track_caller]
fn check_walks(world: &mut World) {
    world.verify().unwrap();
    let mut walked: Vec<Entity> = world.query::<(Entity, &A, &B)>().iter().map(|i| i.0).collect();
    walked.sort_unstable();
    let mut fit: Vec<Entity> = world.entities().filter(|&e| world.has::<(A, B)>(e)).collect();
    fit.sort_unstable();
    assert_eq!(walked, fit);
    let query = world.query_filtered::<(Entity, &A, &B), Without<Status>>();
    let mut walked: Vec<Entity> = query.iter().map(|item| item.0).collect();
    walked.sort_unstable();
    fit.retain(|&entity| !world.has::<Status>(entity));
    assert_eq!(walked, fit);
}

#[test]
fn a_clone_goes_on_in_the_order_of_its_original() {
    for seed in 1..=16 {
        let (mut world, mut fate, types) = one_of(seed);
        for _ in 0..6 {
            for _ in 0..fate.rng.below(9) {
                fate.step(&mut world);
            }
            let mut clone = types.clone_world(&world).unwrap();
            let mut other = fate.clone();
            for step in 0..15 {
                assert!(orders(&world) == orders(&clone), "step {step}");
                check_walks(&mut clone);
                fate.step(&mut world);
                other.step(&mut clone);
            }
            assert!(orders(&world) == orders(&clone));
        }
    }
}

#[test]
fn steps_after_a_rollback_come_out_in_the_same_order() {
    for seed in 1..=16 {
        let (mut world, mut fate, types) = one_of(seed);
        let mut past = Rollback::new(types, 12);
        for round in 0..8 {
            let (mut fates, mut seen) = (Vec::new(), Vec::new());
            for _ in 0..12 {
                past.keep(&world).unwrap();
                fates.push(fate.clone());
                seen.push(orders(&world));
                fate.step(&mut world);
            }
            seen.push(orders(&world));
            let steps = fate.rng.below(12);
            let at = 11 - steps;
            if round % 2 == 0 {
                past.back(&mut world, steps).unwrap();
            } else {
                past.take_back(&mut world, steps).unwrap();
            }
            fate = fates[at].clone();
            for (step, seen) in seen.iter().enumerate().take(12).skip(at) {
                assert!(orders(&world) == *seen, "round {round}, step {step}");
                check_walks(&mut world);
                fate.step(&mut world);
            }
            assert!(orders(&world) == seen[12], "round {round}");
        }
    }
}

#[test]
fn a_state_that_is_put_into_another_world_leaves_no_homes_there() {
    for seed in 1..=4 {
        let (mut world, mut fate) = Fate::begin(seed);
        let mut past = Rollback::new(types(), 4);
        (0..5).for_each(|_| fate.step(&mut world));
        past.keep(&world).unwrap();
        // Knows the components in another order, and is laid out.
        let mut other = World::new();
        other.spawn_batch((0..400).map(|n| (Rare(n), D(n), C(n))));
        other.spawn_batch((0..400).map(|n| (Status(n), B(n), A(n))));
        other.refresh();

        past.back(&mut other, 0).unwrap();

        assert!(orders(&other) == orders(&world));
        for _ in 0..15 {
            check_walks(&mut other);
            fate.step(&mut other);
        }
    }
}

#[test]
fn components_that_are_left_out_leave_no_homes_behind() {
    for seed in 1..=4 {
        let (mut world, mut fate) = Fate::begin(seed);
        let types = types().ignore::<Shade>();
        for at in (0..fate.ids.len()).step_by(2) {
            world.insert(fate.ids[at], Shade(at as u64)).unwrap();
        }
        world.refresh();
        let mut past = Rollback::new(types.clone(), 2);
        past.keep(&world).unwrap();
        let (mut clone, kept) = (types.clone_world(&world).unwrap(), fate.clone());
        (0..5).for_each(|_| fate.step(&mut world));
        past.back(&mut world, 0).unwrap();
        assert!(orders(&clone) == orders(&world));
        let (mut fate, mut other) = (kept.clone(), kept);
        for _ in 0..15 {
            check_walks(&mut world);
            check_walks(&mut clone);
            fate.step(&mut world);
            other.step(&mut clone);
            assert!(orders(&clone) == orders(&world));
        }
    }
}

#[test]
fn a_group_that_was_made_since_keeps_its_pools_after_a_rollback() {
    for seed in 1..=4 {
        let (mut world, mut fate) = Fate::begin(seed);
        let mut past = Rollback::new(types(), 2);
        past.keep(&world).unwrap();
        let kept = fate.clone();
        world.group::<(A, B)>().build().unwrap();
        for _ in 0..2 {
            (0..9).for_each(|_| {
                fate.step(&mut world);
                check_walks(&mut world);
            });
            past.back(&mut world, 0).unwrap();
            fate = kept.clone();
        }
    }
}

#[test]
fn what_is_loaded_into_a_world_that_is_laid_out_is_walked_right() {
    for seed in 1..=4 {
        let (world, mut fate) = Fate::begin(seed);
        let (mut target, _) = Fate::begin(seed + 100);
        let types = types();
        let bytes = types.save().to_bytes(&world).unwrap();

        types.load().merge(&mut target, &bytes).unwrap();
        for _ in 0..3 {
            check_walks(&mut target);
            target.refresh();
        }
        types.load().replace(&mut target, &bytes).unwrap();

        assert!(orders(&target) == orders(&world));
        for _ in 0..15 {
            check_walks(&mut target);
            fate.step(&mut target);
        }
    }
}

#[test]
fn a_world_that_is_loaded_goes_on_in_the_order_of_the_one_that_was_saved() {
    for seed in 1..=16 {
        let (mut world, mut fate, types) = one_of(seed);
        for _ in 0..6 {
            for _ in 0..fate.rng.below(9) {
                fate.step(&mut world);
            }
            let bytes = types.save().to_bytes(&world).unwrap();
            let mut loaded = types.load().to_world(&bytes).unwrap();
            assert!(types.save().to_bytes(&loaded).unwrap() == bytes);
            let mut other = fate.clone();
            for step in 0..15 {
                assert!(orders(&world) == orders(&loaded), "step {step}");
                check_walks(&mut loaded);
                fate.step(&mut world);
                other.step(&mut loaded);
            }
            assert!(orders(&world) == orders(&loaded));
        }
    }
}

/// Where the homes of a snapshot begin, which are its last part: their count, and the numbers.
fn homes_of(bytes: &[u8]) -> usize {
    assert_eq!(bytes[8..12], 2_u32.to_le_bytes(), "it has homes");
    let is_count = |at: &usize| {
        let count = u64::from_le_bytes(bytes[*at..*at + 8].try_into().unwrap());
        count as usize == (bytes.len() - at) / 8 - 2
    };
    (12..bytes.len() - 16).filter(|at| (bytes.len() - at).is_multiple_of(8)).find(is_count).unwrap()
}

fn sign(bytes: &mut [u8]) {
    let end = bytes.len() - 8;
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn a_snapshot_without_homes_is_loaded_and_laid_out_anew() {
    let (mut world, mut fate) = Fate::begin(1);
    (0..5).for_each(|_| fate.step(&mut world));
    let types = types();
    let mut bytes = types.save().to_bytes(&world).unwrap();
    let at = homes_of(&bytes);
    bytes.drain(at..bytes.len() - 8);
    bytes[8] = 1;
    sign(&mut bytes);

    let mut loaded = types.load().to_world(&bytes).unwrap();

    assert!(orders(&loaded) == orders(&world));
    for _ in 0..9 {
        check_walks(&mut loaded);
        fate.step(&mut loaded);
    }
}

#[test]
fn homes_that_were_forged_are_refused_or_sound() {
    let (mut refused, mut loaded) = (0, 0);
    for seed in [1, 2, 3, 12] {
        let (mut world, mut fate, types) = one_of(seed);
        (0..3 * seed).for_each(|_| fate.step(&mut world));
        let bytes = types.save().to_bytes(&world).unwrap();
        let at = homes_of(&bytes);
        let numbers = (bytes.len() - 16 - at) / 8;
        // Bands are at the end, masks and archetypes at the front.
        for nth in 0..400 {
            let mut forged = bytes.clone();
            let place = match nth % 3 {
                0 => fate.rng.below(200),
                1 => numbers - 1 - fate.rng.below(120),
                _ => fate.rng.below(numbers),
            };
            let place = at + 8 + 8 * place.min(numbers - 1);
            let old = u64::from_le_bytes(forged[place..place + 8].try_into().unwrap());
            let new = match fate.rng.below(6) {
                0 => old.wrapping_add(1),
                1 => old.wrapping_sub(1),
                2 => fate.rng.below(40) as u64,
                3 => u64::MAX >> fate.rng.below(64),
                4 => old ^ 1 << fate.rng.below(64),
                _ => fate.rng.next(),
            };
            forged[place..place + 8].copy_from_slice(&new.to_le_bytes());
            sign(&mut forged);
            match types.load().to_world(&forged) {
                Err(error) => {
                    refused += 1;
                    // Or a band so far out that its marks would take too much.
                    let error = error.to_string();
                    assert!(error.contains("homes") || error.contains("memory_limit"), "{error}");
                }
                Ok(mut world) => {
                    loaded += 1;
                    let mut fate = fate.clone();
                    for _ in 0..3 {
                        check_walks(&mut world);
                        fate.step(&mut world);
                        world.refresh();
                    }
                    check_walks(&mut world);
                }
            }
        }
    }
    assert!(refused > 300 && loaded > 100, "{refused} refused, {loaded} loaded");
}

#[test]
fn a_world_that_goes_back_knows_which_pools_were_sorted_then() {
    let (mut world, fate) = Fate::begin(1);
    let types = types();
    let [mut before, mut after] = [(); 2].map(|()| Rollback::new(types.clone(), 1));
    let entities = |world: &World| world.pool::<C>().entities().to_vec();
    let no_blocks = |world: &World| world.query::<(&A, &C, &D)>().explain().no_blocks;
    before.keep(&world).unwrap();
    assert_eq!(no_blocks(&world), None);

    world.pool_mut::<C>().sort_by_key(|c| c.0).unwrap();
    world.refresh();
    after.keep(&world).unwrap();
    let sorted = entities(&world);
    assert!(matches!(no_blocks(&world), Some(NoBlocks::Kept { .. })));

    // Then it was nobody's.
    before.back(&mut world, 0).unwrap();
    world.refresh();
    world.verify().unwrap();
    assert_eq!(no_blocks(&world), None);

    // A world that was loaded does not know, and is laid out with that pool.
    let bytes = types.save().to_bytes(&world).unwrap();
    types.load().replace(&mut world, &bytes).unwrap();
    world.refresh();
    assert!(entities(&world) != sorted);

    // Then it was sorted, and so it is in a copy.
    after.back(&mut world, 0).unwrap();
    let mut clone = types.clone_world(&world).unwrap();
    for world in [&mut world, &mut clone] {
        world.refresh();
        world.verify().unwrap();
        assert!(entities(world) == sorted);
        assert!(matches!(no_blocks(world), Some(NoBlocks::Kept { .. })));
        fate.clone().step(world);
        world.refresh();
        check_walks(world);
    }
}

#[test]
fn steps_after_a_rollback_over_a_sort_come_out_in_the_same_order() {
    for seed in 1..=8 {
        let (mut world, mut fate) = Fate::begin(seed);
        let mut past = Rollback::new(types(), 24);
        let (mut fates, mut seen) = (Vec::new(), Vec::new());
        let step = |at: usize, fate: &mut Fate, world: &mut World| {
            if at == 12 {
                world.pool_mut::<C>().sort_by_key(|c| c.0).unwrap();
            }
            fate.step(world);
        };
        for at in 0..24 {
            past.keep(&world).unwrap();
            fates.push(fate.clone());
            seen.push(orders(&world));
            step(at, &mut fate, &mut world);
        }
        seen.push(orders(&world));
        let back = 23 - seed as usize;
        past.take_back(&mut world, back).unwrap();
        let from = 23 - back;
        fate = fates[from].clone();
        for (at, seen) in seen.iter().enumerate().take(24).skip(from) {
            assert!(orders(&world) == *seen, "seed {seed}, step {at}, from {from}");
            check_walks(&mut world);
            step(at, &mut fate, &mut world);
        }
        assert!(orders(&world) == seen[24]);
    }
}

#[test]
fn a_clone_of_a_world_with_a_sorted_pool_goes_on_in_its_order() {
    for seed in 1..=8 {
        let (mut world, mut fate) = Fate::begin(seed);
        world.pool_mut::<C>().sort_by_key(|c| c.0).unwrap();
        (0..9).for_each(|_| fate.step(&mut world));
        let mut clone = types().clone_world(&world).unwrap();
        let mut other = fate.clone();
        for step in 0..15 {
            assert!(orders(&world) == orders(&clone), "seed {seed} step {step}");
            check_walks(&mut clone);
            fate.step(&mut world);
            other.step(&mut clone);
        }
        assert!(orders(&world) == orders(&clone));
    }
}
