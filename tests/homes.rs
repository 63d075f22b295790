//! Worlds whose pools are arranged by archetype, beside a model.

#![cfg(feature = "derive")]

mod common;

use std::collections::BTreeMap;

use common::{Extra as N, Rng, register_crowd};
use esker::prelude::*;
use esker::query::{NoBlocks, WalkKind};
use esker::world::GroupId;

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct A(u64);
#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct B(u64);
#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(track)]
struct C(u64);
#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct D(u64);
#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Status(u64);

type Model = BTreeMap<Entity, [Option<u64>; 5]>;

/// Calls a function for each of the types of a crowd.
macro_rules! for_crowd {
    ($call:ident($($with:expr),*)) => {
        for_crowd!(@ $call, ($($with),*):
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34
            35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69)
    };
    (@ $call:ident, $with:tt: $($k:literal)*) => { $(for_crowd!(@@ $call, $k, $with);)* };
    (@@ $call:ident, $k:literal, ($($with:expr),*)) => { $call::<$k>($($with),*) };
}

fn give<const K: usize>(world: &mut World, id: Entity) {
    world.insert(id, N::<K>(K as u64)).unwrap();
}

fn spawn(world: &mut World, model: &mut Model, kind: usize, n: u64) -> Entity {
    let (id, row) = match kind {
        0 => (world.spawn((A(n), B(n))), [Some(n), Some(n), None, None, None]),
        1 => (world.spawn((A(n), B(n), C(n))), [Some(n), Some(n), Some(n), None, None]),
        2 => (world.spawn((A(n), C(n), D(n))), [Some(n), None, Some(n), Some(n), None]),
        3 => (world.spawn((B(n), D(n))), [None, Some(n), None, Some(n), None]),
        _ => (world.spawn((A(n), B(n), C(n), D(n))), [Some(n), Some(n), Some(n), Some(n), None]),
    };
    model.insert(id, row);
    id
}

#[track_caller]
fn compare(world: &mut World, model: &Model, with_mut: bool) {
    fn sorted<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
        let mut all: Vec<T> = all.collect();
        all.sort_unstable();
        all
    }
    macro_rules! check {
        ($query:expr, $pattern:pat => $item:expr, $expected:expr) => {{
            let query = $query;
            let found = sorted(query.iter().map(|$pattern| $item));
            let expected = sorted(model.iter().filter_map($expected));
            assert_eq!(found, expected);
        }};
    }
    if with_mut {
        let mut query = world.query_mut::<(Entity, &mut A, &B)>();
        let found = sorted(query.iter_mut().map(|(id, a, b)| (id, a.0, b.0)));
        let expected = sorted(model.iter().filter_map(|(id, r)| Some((*id, r[0]?, r[1]?))));
        assert_eq!(found, expected);
    }
    check!(world.query::<(Entity, &A, &B)>(), (id, a, b) => (id, a.0, b.0), |(id, r)| Some((*id, r[0]?, r[1]?)));
    check!(world.query::<(Entity, &B, &D)>(), (id, a, b) => (id, a.0, b.0), |(id, r)| Some((*id, r[1]?, r[3]?)));
    check!(world.query::<(Entity, &C, &A, &D)>(), (id, c, a, d) => (id, c.0, a.0, d.0), |(id, r)| Some((*id, r[2]?, r[0]?, r[3]?)));
    check!(world.query_filtered::<(Entity, &A, &B), Without<Status>>(), (id, a, b) => (id, a.0, b.0), |(id, r)| if r[4].is_some() { None } else { Some((*id, r[0]?, r[1]?)) });
    check!(world.query_filtered::<(Entity, &A), (With<B>, Without<C>)>(), (id, a) => (id, a.0), |(id, r)| if r[2].is_some() { None } else { r[1]?; Some((*id, r[0]?)) });
    check!(world.query::<(Entity, &Status, &A)>(), (id, s, a) => (id, s.0, a.0), |(id, r)| Some((*id, r[4]?, r[0]?)));
    check!(world.query::<(Entity, &A, Option<&Status>)>(), (id, a, s) => (id, a.0, s.map(|s| s.0)), |(id, r)| Some((*id, r[0]?, r[4])));
    check!(world.query::<(Entity, &A, Option<(&B, &C)>)>(), (id, a, p) => (id, a.0, p.map(|(b, c)| (b.0, c.0))), |(id, r)| Some((*id, r[0]?, r[1].zip(r[2]))));
    check!(world.query::<(Entity, &A, Has<D>, Option<&Status>)>(), (id, a, d, s) => (id, a.0, d, s.map(|s| s.0)), |(id, r)| Some((*id, r[0]?, r[3].is_some(), r[4])));
    check!(world.query_filtered::<(Entity, &A, AnyOf<(&D, &Status)>, Has<B>), Without<C>>(),
        (id, a, (d, s), b) => (id, a.0, d.map(|d| d.0), s.map(|s| s.0), b),
        |(id, r)| if r[2].is_some() || r[3].or(r[4]).is_none() { None } else { Some((*id, r[0]?, r[3], r[4], r[1].is_some())) });
    // By `next`, stretch by stretch.
    let mut found = Vec::new();
    for (id, a, b, s) in &world.query::<(Entity, &A, Option<&B>, AnyOf<(&C, &Status)>)>() {
        found.push((id, a.0, b.map(|b| b.0), s.0.map(|c| c.0), s.1.map(|s| s.0)));
    }
    let expected = model.iter().filter(|(_, r)| r[2].or(r[4]).is_some());
    let expected = expected.filter_map(|(id, r)| Some((*id, r[0]?, r[1], r[2], r[4])));
    assert_eq!(sorted(found.into_iter()), sorted(expected));
}

/// Takes an entity out, as the world does.
fn bury(model: &mut Model, ids: &mut Vec<Entity>, dead: &[Entity]) {
    dead.iter().for_each(|id| _ = model.remove(id));
    ids.retain(|id| !dead.contains(id));
}

/// Does something to many entities at once.
fn change_many(world: &mut World, model: &mut Model, ids: &mut Vec<Entity>, rng: &mut Rng) {
    let some: Vec<Entity> = ids.iter().copied().filter(|_| rng.below(8) == 0).collect();
    let count = rng.below(60) as u64;
    match rng.below(10) {
        0 => {
            let new: Vec<_> = world.spawn_batch((0..count).map(|n| (A(n), C(n), D(n)))).collect();
            for (&id, n) in new.iter().zip(0..) {
                model.insert(id, [Some(n), None, Some(n), Some(n), None]);
            }
            ids.extend(new);
        }
        1 => {
            let columns = ((0..count).map(A).collect(), (0..count).map(B).collect());
            let new: Vec<_> = world.spawn_columns::<(Vec<A>, Vec<B>)>(columns).unwrap().collect();
            for (&id, n) in new.iter().zip(0..) {
                model.insert(id, [Some(n), Some(n), None, None, None]);
            }
            ids.extend(new);
        }
        2 if ids.len() > 400 => {
            assert_eq!(world.despawn_batch(some.iter().copied()), some.len());
            bury(model, ids, &some);
        }
        3 => {
            world.insert_batch(some.iter().map(|&id| (id, (C(7), D(8)))));
            for id in &some {
                let row = model.get_mut(id).unwrap();
                (row[2], row[3]) = (Some(7), Some(8));
            }
        }
        4 => {
            world.remove_batch::<(A, C)>(some.iter().copied());
            for id in &some {
                let row = model.get_mut(id).unwrap();
                (row[0], row[2]) = (None, None);
            }
        }
        5 => {
            let mut pool = world.edit_pool::<B>();
            for (&id, n) in some.iter().zip(0..) {
                match pool.remove(id) {
                    Some(_) => model.get_mut(&id).unwrap()[1] = None,
                    None => {
                        pool.insert(id, B(n)).unwrap();
                        model.get_mut(&id).unwrap()[1] = Some(n);
                    }
                }
            }
        }
        6 => {
            let locked = world.locked::<D>();
            for (&id, n) in some.iter().zip(0..) {
                locked.insert(id, D(n)).unwrap();
                model.get_mut(&id).unwrap()[3] = Some(n);
            }
        }
        7 => {
            for &id in &some {
                let taken = world.take::<A>(id).unwrap();
                assert_eq!(taken.map(|a| a.0), model.get_mut(&id).unwrap()[0].take());
            }
        }
        8 => {
            for &id in &some {
                let row = model.get_mut(&id).unwrap();
                let value = row[1].unwrap_or(9);
                assert_eq!(world.get_or_insert_with(id, || B(9)).unwrap().0, value);
                row[1] = Some(value);
            }
        }
        _ => {
            world.clear_pool::<Status>();
            model.values_mut().for_each(|row| row[4] = None);
        }
    }
}

/// Somebody wants the order of a pool for himself.
fn change_order(world: &mut World, rng: &mut Rng, groups: &mut Vec<GroupId>) {
    match rng.below(5) {
        0 => world.pool_mut::<C>().sort_by_key(|c| c.0).unwrap(),
        1 => groups.drain(..).for_each(|group| _ = world.ungroup(group)),
        2 => groups.push(world.group::<(A, B)>().build().unwrap()),
        3 => groups.push(world.group::<D>().exclude::<Status>().build().unwrap()),
        // Or it is owned.
        _ => _ = world.align::<(A, B)>(),
    }
    world.verify().unwrap();
}

#[test]
fn walks_of_an_arranged_world_are_those_of_a_model() {
    for seed in 1..=18_u64 {
        println!("seed {seed}");
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (mut world, mut model, mut ids) = (World::new(), Model::new(), Vec::new());
        let mut groups: Vec<GroupId> = Vec::new();
        // Half of them change orders, which some pools keep from then on.
        let has_orders = seed % 2 == 0;
        // The last ones have many types: before all others, or from some step on.
        let is_crowded = seed > 12;
        if is_crowded && seed % 3 != 0 {
            register_crowd(&mut world);
        }
        for n in 0..400 + rng.below(600) as u64 {
            let kind = rng.below(5);
            ids.push(spawn(&mut world, &mut model, kind, n));
        }
        for step in 0..60 {
            if is_crowded && step == 20 {
                register_crowd(&mut world);
            }
            if is_crowded && step % 8 == 1 {
                // Other components come to have the most members.
                world.clear_pool::<N<3>>();
                ids.iter().take(350).for_each(|&id| give::<3>(&mut world, id));
                ids.iter().step_by(9).for_each(|&id| give::<68>(&mut world, id));
                ids.iter().step_by(5).for_each(|&id| _ = world.remove::<N<68>>(id).unwrap());
            }
            for _ in 0..rng.below(120) {
                let n = rng.next();
                let at = rng.below(ids.len());
                let id = ids[at];
                match rng.below(12) {
                    0..=2 => {
                        world.despawn(id).unwrap();
                        model.remove(&id);
                        let kind = rng.below(5);
                        ids[at] = spawn(&mut world, &mut model, kind, n);
                    }
                    3 if ids.len() > 200 => {
                        world.despawn(id).unwrap();
                        model.remove(&id);
                        ids.swap_remove(at);
                    }
                    4 => {
                        let kind = rng.below(5);
                        ids.push(spawn(&mut world, &mut model, kind, n));
                    }
                    5 | 6 => {
                        world.insert(id, Status(n)).unwrap();
                        model.get_mut(&id).unwrap()[4] = Some(n);
                    }
                    7 | 8 => {
                        _ = world.remove::<Status>(id).unwrap();
                        model.get_mut(&id).unwrap()[4] = None;
                    }
                    9 => {
                        _ = world.remove::<B>(id).unwrap();
                        model.get_mut(&id).unwrap()[1] = None;
                    }
                    10 => {
                        world.insert(id, (B(n), C(n))).unwrap();
                        let row = model.get_mut(&id).unwrap();
                        (row[1], row[2]) = (Some(n), Some(n));
                    }
                    _ => {
                        let mut pool = world.pool_mut::<D>();
                        if rng.below(2) == 0 {
                            pool.remove(id);
                            model.get_mut(&id).unwrap()[3] = None;
                        } else {
                            pool.insert(id, D(n)).unwrap();
                            model.get_mut(&id).unwrap()[3] = Some(n);
                        }
                    }
                }
            }
            world.verify().unwrap();
            change_many(&mut world, &mut model, &mut ids, &mut rng);
            if has_orders && step % 10 == 5 {
                change_order(&mut world, &mut rng, &mut groups);
            }
            if step % 7 == 3 {
                world.refresh();
            }
            if step == 45 {
                world.clear();
                (model, ids) = (Model::new(), Vec::new());
                for n in 0..500 {
                    let kind = rng.below(5);
                    ids.push(spawn(&mut world, &mut model, kind, n));
                }
            }
            world.verify().unwrap();
            compare(&mut world, &model, step % 3 == 0);
            world.verify().unwrap();
        }
    }
}

/// A world of two kinds whose pools are arranged.
fn arranged(count: u64) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let mut ids: Vec<_> = world.spawn_batch((0..count).map(|n| (A(n), B(n)))).collect();
    ids.extend(world.spawn_batch((0..count).map(|n| (A(n), C(n)))));
    world.refresh();
    (world, ids)
}

/// How a walk goes, with how many blocks and how many that are looked up.
fn way(world: &World) -> (WalkKind, usize, usize) {
    let found = world.query::<(&A, &B)>().explain();
    (found.way, found.blocks, found.loose)
}

#[test]
fn whoever_comes_in_a_batch_gets_a_home() {
    let (mut world, _) = arranged(300);
    assert_eq!(way(&world), (WalkKind::Blocks, 1, 0));

    world.spawn_batch((0..50).map(|n| (A(n), B(n))));
    assert_eq!(way(&world), (WalkKind::Blocks, 1, 50), "not before the next refresh");
    world.refresh();
    assert_eq!(way(&world), (WalkKind::Blocks, 2, 0));
    let columns: (Vec<A>, Vec<B>) = ((0..50).map(A).collect(), (0..50).map(B).collect());
    let new: Vec<_> = world.spawn_columns(columns).unwrap().collect();
    world.refresh();
    assert_eq!(way(&world), (WalkKind::Blocks, 3, 0));

    // Their rows are taken by others.
    world.despawn_batch(new);
    world.spawn_batch((0..50).map(|n| (A(n), B(n))));
    world.refresh();
    assert_eq!(way(&world), (WalkKind::Blocks, 3, 0));
    world.verify().unwrap();
}

#[test]
fn whoever_is_changed_in_a_batch_moves() {
    let (mut world, ids) = arranged(300);

    world.remove_batch::<B>(ids[..250].iter().copied());
    world.insert_batch(ids[300..550].iter().map(|&id| (id, B(1))));
    world.refresh();
    world.verify().unwrap();
    world.refresh();

    world.verify().unwrap();
    let (way, blocks, loose) = way(&world);
    assert_eq!((way, blocks), (WalkKind::Blocks, 2));
    assert!(loose <= 2, "one row is kept for a newborn; {loose} are loose");
}

#[test]
fn a_refresh_moves_what_has_changed_and_a_part_of_the_rest() {
    let (mut world, mut ids) = arranged(20_000);
    let mut rng = Rng::new(5);
    let mut before: Vec<Entity> = world.pool::<A>().entities().to_vec();
    let mut most = 0;
    for frame in 0..300 {
        // `C` turns out to be restless, then comes to rest; one kind dwindles, and another one grows.
        for _ in 0..200 {
            let id = ids[rng.below(ids.len())];
            match world.has::<C>(id) {
                _ if frame >= 40 => {}
                true => _ = world.remove::<C>(id).unwrap(),
                false => world.insert(id, C(0)).unwrap(),
            }
        }
        for _ in 0..40 {
            let at = rng.below(ids.len() / 2);
            world.despawn(ids.remove(at)).unwrap();
            ids.push(world.spawn((A(0), D(0))));
        }
        world.refresh();

        let after = world.pool::<A>().entities().to_vec();
        let moved = before.iter().zip(&after).filter(|(old, new)| old != new).count();
        most = most.max(moved);
        before = after;
        if frame % 8 == 0 {
            world.verify().unwrap();
        }
    }
    world.verify().unwrap();
    // A change or a death moves a few, and the part is 4096 rows, each of which trades places.
    assert!(most < 2 * 4096 + 240 * 8, "{most} of {} have moved in one refresh", before.len());
    assert!(most > 1000, "{most}: gaps were never closed");
}

#[test]
fn pools_that_are_sorted_or_owned_stay_as_they_are() {
    let (mut world, ids) = arranged(300);
    world.pool_mut::<B>().sort_by_key(|b| u64::MAX - b.0).unwrap();
    let sorted = world.pool::<B>().entities().to_vec();
    let kept = |world: &World| world.query::<(&A, &B)>().explain().no_blocks;
    assert!(matches!(kept(&world), Some(NoBlocks::Kept { component }) if component.ends_with("B")));

    // Something happens, and the world is laid out without that pool.
    world.despawn(ids[500]).unwrap();
    world.spawn((A(1), C(1)));
    world.refresh();
    world.verify().unwrap();
    assert_eq!(world.pool::<B>().entities(), sorted);
    let others = world.query::<(&A, &C)>().explain();
    assert_eq!((others.way, others.loose), (WalkKind::Blocks, 0), "{others}");

    let group = world.group::<(A, C)>().build().unwrap();
    let owned = world.pool::<A>().entities().to_vec();
    world.refresh();
    world.verify().unwrap();
    assert_eq!(world.pool::<A>().entities(), owned);
    assert_eq!(world.query::<(&A, &C)>().explain().blocks, 0);

    world.ungroup(group);
    world.refresh();
    world.verify().unwrap();
    let free = world.query::<(&A, &C)>().explain();
    assert!(free.blocks > 0 || free.way == WalkKind::OneRun, "{free}");
}

#[test]
fn an_explanation_says_how_blocks_are_walked_or_why_not() {
    let text = |world: &World| world.query::<(&A, &B)>().explain().to_string();
    let mut world = World::new();
    world.spawn_batch((0..300).map(|n| (A(n), C(n))));
    let ids: Vec<_> = world.spawn_batch((0..300).map(|n| (A(n), B(n)))).collect();
    assert!(text(&world).ends_with("not along blocks: `homes::A` has none"), "{}", text(&world));

    world.refresh();
    assert!(text(&world).ends_with("along 1 block; 0 entities are looked up"), "{}", text(&world));
    world.pool_mut::<B>().remove(ids[0]);
    // The last one has taken its place.
    assert!(text(&world).ends_with("along 1 block; 1 entities are looked up"), "{}", text(&world));

    let optional = world.query::<(&A, Option<&B>)>().explain();
    assert!(optional.to_string().contains("along 2 blocks; 2 entities"), "{optional}");
    let choice = world.query_filtered::<&A, Or<(With<B>, With<C>)>>().explain();
    assert_eq!(choice.no_blocks, Some(NoBlocks::Form));
    assert!(choice.to_string().contains("not along blocks: the form"), "{choice}");
    assert_eq!(world.query::<&A>().explain().no_blocks, Some(NoBlocks::NotNeeded));
    for &id in &ids[1..200] {
        let mut pool = world.pool_mut::<B>();
        let value = pool.remove(id).unwrap();
        pool.insert(id, value).unwrap();
    }
    assert!(text(&world).contains("too much has changed in `homes::"), "{}", text(&world));
    world.pool_mut::<B>().sort_by_key(|b| b.0).unwrap();
    assert!(text(&world).contains("`homes::B` is owned by a group, or was"), "{}", text(&world));
}

#[test]
fn long_blocks_are_one_stretch_as_far_as_they_touch_in_all_pools() {
    for has_others in [false, true] {
        let mut world = World::new();
        world.spawn_batch((0..9000).map(|n| (A(n), B(n))));
        if has_others {
            // They lie between the blocks of the two kinds in the pool of `A` only.
            world.spawn_batch((0..3000).map(A));
        }
        let ids: Vec<Entity> = world.spawn_batch((0..3000).map(|n| (A(n), B(n), D(n)))).collect();
        world.refresh();
        let last = ids[2999];
        if !has_others {
            // One that is loose ends a stretch.
            let mut pool = world.pool_mut::<B>();
            let value = pool.remove(ids[1500]).unwrap();
            pool.insert(ids[1500], value).unwrap();
        }
        let query = world.query::<(Entity, &A, &B)>();
        let runs: Vec<usize> = query.runs().map(|(ids, ..)| ids.len()).collect();
        let in_two: &[usize] = if has_others { &[9000, 3000] } else { &[10_500] };
        assert_eq!(runs[..in_two.len()], *in_two, "{}", query.explain());
        let mut found: Vec<Entity> = Vec::new();
        for (id, a, b) in &query {
            assert_eq!(a.0, b.0);
            found.push(id);
        }
        let mut folded: Vec<Entity> = Vec::new();
        query.iter().for_each(|(id, a, b)| {
            assert_eq!(a.0, b.0);
            folded.push(id);
        });
        assert!(found == folded && found.len() == 12_000 && found.contains(&last));
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 12_000);
    }
}

#[test]
fn a_pool_that_is_sorted_and_was_in_order_is_found_all_the_same() {
    let (world, ids) = arranged(300);
    let both = |world: &World| {
        let optional = world.query::<(&A, Option<&B>)>();
        let refused = world.query_filtered::<&A, Without<B>>();
        let required = world.query::<(&A, &C, &B)>();
        let has_b = optional.iter().filter(|(_, b)| b.is_some()).count();
        (has_b, refused.count(), required.count())
    };
    for &id in &ids[..2] {
        // One is out of place, so that it is known who is.
        let mut pool = world.pool_mut::<B>();
        let value = pool.remove(id).unwrap();
        pool.insert(id, value).unwrap();
    }
    let before = both(&world);

    world.pool_mut::<B>().sort_by_key(|_| 0).unwrap();

    assert_eq!(both(&world), before);
}

#[test]
fn the_65th_component_leaves_homes_as_they_are() {
    let (mut world, ids) = arranged(300);
    let id = ids[0];
    let all = |world: &World| world.query::<(&A, &B)>().iter().map(|(a, b)| a.0 + b.0).sum::<u64>();
    let expected = all(&world);
    for_crowd!(give(&mut world, id));
    assert_eq!((all(&world), way(&world).0), (expected, WalkKind::Blocks));
    give::<69>(&mut world, ids[5]);
    let others = world.query_filtered::<(Entity, &A, &B), Without<N<69>>>();
    assert!(others.iter().all(|(other, ..)| other != id && other != ids[5]));
    assert_eq!(others.iter().count(), 298);
    drop(others);
    world.verify().unwrap();
    // Deaths and births, with bits that mean several components.
    for (&dead, n) in ids[400..450].iter().zip(0..) {
        world.despawn(dead).unwrap();
        world.spawn((A(n), N::<69>(n), N::<66>(n)));
    }
    assert_eq!(world.remove::<N<65>>(id).unwrap().unwrap().0, 65);
    world.verify().unwrap();
    for _ in 0..3 {
        world.query_mut::<(&mut A, &B)>().iter_mut().for_each(drop);
        world.refresh();
        world.verify().unwrap();
        assert_eq!((all(&world), way(&world).0), (expected, WalkKind::Blocks));
    }
}

#[test]
fn components_with_many_members_have_homes_whatever_their_number() {
    let mut world = World::new();
    register_crowd(&mut world);
    // All of these come after the 64th. At first others have more members.
    let few: Vec<Entity> = (0..300).map(|n| world.spawn((N::<1>(n), N::<2>(n)))).collect();
    world.refresh();
    let ids: Vec<Entity> = (0..900).map(|n| world.spawn((A(n), B(n), C(n)))).collect();
    let blocks = |world: &World| world.query::<(&A, &B, &C)>().explain().blocks;
    assert_eq!(blocks(&world), 0);
    for &id in &few[..8] {
        // What is still to be done needs changes to be noticed.
        world.remove::<N<2>>(id).unwrap();
        world.refresh();
        world.verify().unwrap();
    }
    assert!(blocks(&world) > 0, "{}", world.query::<(&A, &B, &C)>().explain());
    // The dead leave their rows to newborns here, too.
    let order = world.pool::<A>().entities().to_vec();
    for &id in &ids[100..120] {
        world.despawn(id).unwrap();
        world.spawn((A(1), B(1), C(1)));
    }
    let now = world.pool::<A>().entities().to_vec();
    let moved = order.iter().zip(&now).filter(|(old, new)| old.index() != new.index()).count();
    assert_eq!((moved, now.len()), (0, order.len()));
    world.verify().unwrap();
}

/// Some get a component whose bit says "maybe" already, while it is also among what is left of a dead entity with their index.
fn take_over<const K: usize>() {
    if K >= 64 {
        return;
    }
    let late = |n| (A(n), N::<64>(n), N::<65>(n), N::<66>(n), N::<67>(n), N::<68>(n), N::<69>(n));
    let mut world = World::new();
    register_crowd(&mut world);
    let ids: Vec<Entity> = (0..300).map(|n| world.spawn(late(n))).collect();
    let mut other = world.spawn((A(0), N::<K>(0)));
    world.spawn_batch((0..300).map(|n| (A(n), N::<K>(n))));
    world.refresh();
    for &id in &ids[..9] {
        world.insert(id, N::<K>(1)).unwrap();
    }
    for &id in &ids[..9] {
        world.despawn(id).unwrap();
    }
    for n in 0..9 {
        let born = world.spawn(late(n));
        assert!(ids[..9].iter().any(|dead| dead.index() == born.index()));
        world.insert(born, N::<K>(2)).unwrap();
    }
    // Until unused rows are gone.
    for _ in 0..40 {
        world.refresh();
        world.despawn(other).unwrap();
        other = world.spawn((A(0), N::<K>(0)));
    }
    world.verify().unwrap();
    let explanation = world.query::<(&N<69>, &N<K>)>().explain();
    assert_eq!((explanation.matches, explanation.loose), (9, 0), "{K}: {explanation}");
}

#[test]
fn whoever_gets_a_component_that_a_dead_one_had_moves_in_worlds_of_many_types() {
    for_crowd!(take_over());
}

#[test]
fn whoever_loses_a_component_leaves_its_row_in_worlds_of_many_types() {
    let mut world = World::new();
    register_crowd(&mut world);
    world.spawn_batch((0..300).map(|n| (A(n), B(n))));
    let ids: Vec<Entity> = (0..600).map(|n| world.spawn((A(n), B(n), N::<20>(n)))).collect();
    world.refresh();
    for &id in &ids[100..109] {
        world.remove::<N<20>>(id).unwrap().unwrap();
    }
    world.refresh();
    world.verify().unwrap();
    let explanation = world.query::<(&A, &N<20>)>().explain();
    assert_eq!((explanation.matches, explanation.loose), (591, 0), "{explanation}");
}

#[test]
fn a_component_that_comes_and_goes_moves_nothing_in_worlds_of_many_types() {
    let mut world = World::new();
    register_crowd(&mut world);
    let ids: Vec<Entity> = (0..900).map(|n| world.spawn((A(n), B(n)))).collect();
    let round = |world: &mut World, n: usize| {
        for id in ids.iter().skip(n % 8).step_by(8) {
            match n / 8 % 2 {
                0 => give::<20>(world, *id),
                _ => _ = world.remove::<N<20>>(*id).unwrap(),
            }
        }
        let order = world.pool::<A>().entities().to_vec();
        world.refresh();
        world.pool::<A>().entities() != order
    };
    (0..40).for_each(|n| _ = round(&mut world, n));
    // With a new choice, other bits stand for the same components.
    ids.iter().for_each(|id| give::<9>(&mut world, *id));
    let moved = (40..110).filter(|&n| round(&mut world, n)).count();
    assert_eq!(moved, 0, "rounds in which an entity has moved");
    world.verify().unwrap();
    assert!(world.query::<(&A, &B, &N<9>)>().explain().blocks > 0);
}

#[test]
fn values_that_are_replaced_move_nobody_in_worlds_of_many_types() {
    let mut world = World::new();
    register_crowd(&mut world);
    let ids: Vec<Entity> = (0..600).map(|n| world.spawn((A(n), B(n)))).collect();
    world.refresh();
    let order = world.pool::<A>().entities().to_vec();
    for _ in 0..5 {
        for &id in &ids {
            world.insert(id, (A(1), B(2))).unwrap();
        }
        world.refresh();
    }
    assert_eq!(world.pool::<A>().entities(), order);
    assert!(world.query::<(&A, &B)>().explain().blocks > 0);
}

#[test]
fn an_id_from_far_away_takes_no_room_for_those_before_it() {
    let (mut world, _) = arranged(300);
    let far = Entity::new(3_000_000_000, 0).unwrap();
    world.spawn_at(far, (A(1), B(2))).unwrap();
    world.refresh();
    world.clear_pool::<C>();
    for _ in 0..600 {
        world.spawn((A(1), B(1)));
    }
    world.refresh();
    world.verify().unwrap();
    assert!(world.memory_report().homes < 1_000_000);
    assert!(world.query::<(Entity, &A, &B)>().iter().any(|(id, ..)| id == far));
}

#[test]
fn homes_are_given_back_by_a_clear() {
    let (mut world, _) = arranged(300);
    assert!(world.memory_report().homes > 0);
    world.clear();
    assert_eq!(world.memory_report().homes, 0);
    world.verify().unwrap();
}

#[test]
fn whoever_dies_before_listeners_leaves_its_row() {
    let (mut world, ids) = arranged(300);
    world.on_remove::<A>(|_: &World, _, _: &mut Commands<'_, '_>| ());
    for round in 0..4 {
        let dead = &ids[round * 20..(round + 1) * 20];
        assert_eq!(world.despawn_batch(dead.iter().copied()), 20);
        world.verify().unwrap();
        // The indices of some who had homes.
        world.spawn_batch((0..15).map(|n| (B(n), C(n))));
        world.refresh();
        world.verify().unwrap();
    }
}

#[cfg(feature = "serde")]
mod kept {
    use super::*;
    use esker::snapshot::{Rollback, Snapshot, SnapshotTypes};
    use serde::{Deserialize, Serialize};

    #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug, PartialEq)]
    #[snapshot(clone)]
    struct Here(u64);
    #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug, PartialEq)]
    #[snapshot(clone)]
    struct There(u64);
    #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug, PartialEq)]
    #[snapshot(clone)]
    struct Rare(u64);

    fn types() -> SnapshotTypes {
        SnapshotTypes::new().component::<Here>().component::<There>().component::<Rare>()
    }

    fn sum(world: &World) -> u64 {
        let query = world.query::<(Entity, &Here, &There)>();
        assert!(query.iter().all(|(_, here, there)| here.0 == there.0));
        query.iter().map(|(_, here, _)| here.0).sum()
    }

    #[test]
    fn a_world_that_goes_back_has_no_homes_of_later() {
        let mut world = World::new();
        let ids: Vec<_> = world.spawn_batch((0..600).map(|n| (Here(n), There(n)))).collect();
        let mut past = Rollback::new(types(), 4);
        world.refresh();
        past.keep(&world).unwrap();
        let before = sum(&world);

        for round in 0..3 {
            world.despawn_batch(ids[round * 50..][..30].iter().copied());
            let more = world.spawn_batch((0..40).map(|n| (Here(n), There(n), Rare(n))));
            let more: Vec<_> = more.collect();
            world.refresh();
            world.verify().unwrap();
            past.keep(&world).unwrap();
            world.remove_batch::<There>(more);
            world.refresh();
            past.back(&mut world, 1).unwrap();
            world.verify().unwrap();
            assert_eq!(sum(&world), before);
            // What follows is not what was before.
            world.despawn_batch(ids[300..320].iter().copied());
            world.spawn_batch((0..40).map(|n| (There(n), Rare(n))));
            world.refresh();
            world.verify().unwrap();
            sum(&world);
            past.back(&mut world, 0).unwrap();
            world.refresh();
            world.verify().unwrap();
            assert_eq!(sum(&world), before);
        }
        // A copy knows nothing of the homes of its original.
        let mut copy = types().clone_world(&world).unwrap();
        copy.verify().unwrap();
        copy.despawn_batch(ids[..100].iter().copied());
        copy.refresh();
        copy.verify().unwrap();
        sum(&copy);

        // A group that came since owns a pool that had homes then: they are found anew.
        world.spawn_batch((0..40).map(|n| (Here(n), There(n), Rare(n))));
        world.refresh();
        world.group::<There>().build().unwrap();
        past.back(&mut world, 0).unwrap();
        world.verify().unwrap();
        world.refresh();
        world.verify().unwrap();
        assert_eq!(sum(&world), before);
    }

    #[test]
    fn what_is_played_again_comes_out_in_the_same_order() {
        let play = |world: &mut World, frame: u64| {
            let mut rng = Rng::new((frame + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let ids: Vec<Entity> = world.entities().collect();
            for _ in 0..40 {
                let id = ids[rng.below(ids.len())];
                match rng.below(4) {
                    0 => _ = world.despawn(id),
                    1 => _ = world.remove::<There>(id),
                    2 => _ = world.insert(id, (There(frame), Rare(frame))),
                    _ => _ = world.spawn((Here(frame), There(frame), Rare(frame))),
                }
            }
            world.refresh();
            world.verify().unwrap();
            let order = |entities: &[Entity]| entities.to_vec();
            [
                order(world.pool::<Here>().entities()),
                order(world.pool::<There>().entities()),
                order(world.pool::<Rare>().entities()),
            ]
        };
        let mut world = World::new();
        world.spawn_batch((0..600).map(|n| (Here(n), There(n))));
        world.spawn_batch((0..50).map(Rare));
        world.refresh();
        let mut past = Rollback::new(types(), 64);
        let mut orders = Vec::new();
        for frame in 0..40 {
            past.keep(&world).unwrap();
            orders.push(play(&mut world, frame));
        }
        for first in [37_u64, 30, 11, 3] {
            past.take_back(&mut world, past.len() - 1 - first as usize).unwrap();
            world.verify().unwrap();
            let mut copy = types().clone_world(&world).unwrap();
            copy.verify().unwrap();
            for frame in first..40 {
                past.keep(&world).unwrap();
                assert_eq!(play(&mut world, frame), orders[frame as usize], "{first}, {frame}");
                assert_eq!(play(&mut copy, frame), orders[frame as usize], "a copy, {frame}");
            }
        }
    }
}
