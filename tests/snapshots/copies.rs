//! Worlds cloned, hashed, compared and rolled back.

use std::sync::Arc;

use esker::snapshot::{Difference, Rollback, Snapshot, SnapshotError, SnapshotTypes};
use esker::{Component, Entity, World};
use serde::{Deserialize, Serialize};

use crate::common::Rng;
use crate::for_seeds;
use crate::kinds::*;

#[test]
fn a_clone_is_the_same_and_lives_on_the_same() {
    for_seeds(8, |seed| {
        let mut world = eventful(seed, 350);
        let mut clone = world.try_clone().unwrap();
        world.settle();
        clone.verify().unwrap();
        assert_eq!(bytes(&clone), bytes(&world));
        assert_eq!(clone.component_id::<Position>(), world.component_id::<Position>());
        assert_eq!(clone.component_id::<Link>(), world.component_id::<Link>());
        assert_eq!(clone.tick(), world.tick());
        assert_eq!(clone.state_hash().unwrap(), world.state_hash().unwrap());
        live_on(&mut world, &mut clone, seed, 400);
    });
}

#[test]
fn a_clone_walks_its_groups_in_the_same_order() {
    for_seeds(12, |seed| {
        let world = eventful(6 * seed, 300);
        let clone = world.try_clone().unwrap();
        let walk = |world: &World| -> Vec<Entity> {
            let mut ids = Vec::new();
            ids.extend(world.query::<(Entity, &Name, &Rare)>().iter().map(|item| item.0));
            ids.extend(world.query::<(Entity, &Position, &Velocity)>().iter().map(|item| item.0));
            ids
        };
        assert_eq!(walk(&clone), walk(&world));
    });
}

#[test]
fn a_group_that_owns_no_pool_keeps_its_order_in_a_clone() {
    let mut world = World::new();
    world.insert_resource(types());
    world.group::<()>().observe::<(Name, Rare)>().build().unwrap();
    let ids: Vec<Entity> = (0..9).map(|n| world.spawn((Name(n.to_string()), Rare(n)))).collect();
    // They enter again in another order than that of either pool.
    for nth in [4, 1, 7] {
        world.remove::<Rare>(ids[nth]).unwrap();
    }
    for nth in [7, 1, 4] {
        world.insert(ids[nth], Rare(100)).unwrap();
    }
    world.pool_mut::<Name>().sort_by_key(|name| name.0.clone()).unwrap();
    world.pool_mut::<Rare>().sort_by_key(|rare| rare.0 ^ 5).unwrap();
    let clone = world.try_clone().unwrap();
    let walk = |world: &World| -> Vec<Entity> {
        world.query::<(Entity, &Name, &Rare)>().iter().map(|item| item.0).collect()
    };
    assert_eq!(walk(&clone), walk(&world));
}

#[test]
fn changes_of_a_clone_are_counted_from_the_same_moment() {
    let mut world = World::new();
    world.insert_resource(types());
    let [_, new] = [world.spawn(Small(1)), world.spawn(Small(1))];
    let seen = world.advance_tick();
    world.get_mut::<Small>(new).unwrap().0 = 2;
    let clone = world.try_clone().unwrap();
    let changed = |world: &World| -> Vec<Entity> {
        let values = world.query::<(Entity, esker::Ref<Small>)>();
        values.iter().filter(|(_, small)| small.last_changed() > seen).map(|item| item.0).collect()
    };
    assert_eq!(changed(&clone), [new]);
}

#[derive(Component, Snapshot, Serialize, Deserialize, Debug)]
struct Unclonable(u8);

#[derive(Component, Debug)]
struct Stranger;

#[test]
fn what_cannot_be_cloned_is_refused_by_name() {
    let mut world = World::new();
    assert!(matches!(world.try_clone(), Err(SnapshotError::NoTypes)));
    let types = SnapshotTypes::new().component::<Unclonable>();
    world.insert_resource(types.clone());
    world.spawn(Unclonable(1));
    let error = world.try_clone().unwrap_err().to_string();
    assert!(error.contains("Unclonable") && error.contains("clone"), "{error}");
    assert!(Rollback::new(types.clone(), 2).keep(&world).is_err());

    let mut world = World::new();
    world.spawn(Stranger);
    let error = types.clone_world(&world).unwrap_err().to_string();
    assert!(error.contains("Stranger") && error.contains(".component::<"), "{error}");
    assert!(types.save().to_bytes(&world).is_err() && types.hash_world(&world).is_err());
    world.insert_resource(3_u8);
    let error = types.ignore::<Stranger>().clone_world(&world).unwrap_err().to_string();
    assert!(error.contains("u8") && error.contains("ignore_resource"), "{error}");
    let all = SnapshotTypes::new().registered_only();
    assert_eq!(all.clone_world(&world).unwrap().len(), 1);

    #[derive(Snapshot, Serialize, Deserialize)]
    struct Seal(u8);
    let mut world = World::new();
    world.insert_resource(Seal(1));
    let types = SnapshotTypes::new().resource::<Seal>();
    let error = types.clone_world(&world).unwrap_err().to_string();
    assert!(error.contains("resource `") && error.contains("Seal`"), "{error}");
}

#[test]
fn the_hash_does_not_depend_on_order_but_on_everything_else() {
    for_seeds(5, |seed| {
        let world = eventful(4 + 10 * seed, 200);
        let saved = bytes(&world);
        let load = || types().load().to_world(&saved).unwrap();
        let expected = hash(&world);
        let mut other = load();
        // Another order of a pool, another history of ids.
        if let Ok(mut pool) = other.try_pool_mut::<Rare>() {
            pool.sort_by_key(|rare| std::cmp::Reverse(rare.0)).unwrap();
        }
        let short_lived = other.spawn(Tag);
        assert_ne!(hash(&other), expected, "somebody more");
        other.despawn(short_lived).unwrap();
        assert_eq!(hash(&other), expected);
        let moved = std::thread::spawn(move || hash(&other)).join().unwrap();
        assert_eq!(moved, expected);

        let mut rng = Rng::new(seed);
        for _ in 0..20 {
            let mut other = load();
            let living: Vec<Entity> = other.entities().collect();
            let e = rng.pick(&living);
            let what = rng.below(6);
            match what {
                0 => _ = other.despawn(e),
                1 => _ = other.insert(e, Name("something else".into())),
                2 => _ = other.insert(e, Wide([rng.next(), 0, 0, 0])),
                3 => other.insert_resource(Score(rng.next())).map_or((), drop),
                4 if other.has::<Mark>(e) => _ = other.remove::<Mark>(e),
                4 => _ = other.insert(e, Mark),
                _ => _ = other.spawn(()),
            }
            assert_ne!(hash(&other), expected, "change {what} of {e}");
            assert!(!types().diff(&world_of(&saved), &other).unwrap().is_empty());
        }
    });
}

fn world_of(saved: &[u8]) -> World {
    types().load().to_world(saved).unwrap()
}

/// The same in every build: numbers that were written down.
#[test]
fn the_hash_is_the_one_that_was_written_down() {
    let mut world = World::new();
    assert_eq!(hash(&world), EMPTY, "{:#x}", hash(&world));
    world.spawn((Name("Ada".into()), Small(3), Wide([1, 2, 3, 4])));
    world.spawn(Tag);
    world.insert_resource(Score(9));
    assert_eq!(hash(&world), FEW, "{:#x}", hash(&world));
}

const EMPTY: u64 = 0xC77B_3ABB_6F87_ACD9;
const FEW: u64 = 0xD662_4F51_4004_EDD8;

#[test]
fn components_exchanged_between_entities_are_another_world() {
    let build = |swapped: bool| {
        let mut world = World::new();
        let [a, b] = [world.spawn(()), world.spawn(())];
        let (one, two) = if swapped { (b, a) } else { (a, b) };
        world.insert(one, Rare(1)).unwrap();
        world.insert(two, Rare(2)).unwrap();
        world
    };
    assert_ne!(hash(&build(false)), hash(&build(true)));
}

#[test]
fn a_diff_says_who_and_what() {
    let mut left = World::new();
    let [a, b, c] = [left.spawn(Small(1)), left.spawn(Name("x".into())), left.spawn(())];
    left.insert_resource(Score(1));
    let mut right = types().load().to_world(&bytes(&left)).unwrap();
    assert!(types().diff(&left, &right).unwrap().is_empty());
    right.insert(a, Small(2)).unwrap();
    right.remove::<Name>(b).unwrap();
    right.despawn(c).unwrap();
    right.insert_resource(Score(2));
    let d = right.spawn(());

    let diff = types().diff(&left, &right).unwrap();
    assert_eq!(diff.differences.len(), 5);
    assert!(diff.differences.contains(&Difference::OnlyLeft(c)));
    assert!(diff.differences.contains(&Difference::OnlyRight(d)));
    let text = diff.to_string();
    assert!(text.contains("0v0: Small is"), "{text}");
    assert!(text.contains("1v0: name is Name(\"x\") here and not there"), "{text}");
    assert!(text.ends_with("resource Score is Score(1) here and Score(2) there\n"), "{text}");
}

#[test]
fn a_diff_names_who_lives_on_one_side_only_once_whatever_it_has() {
    let mut left = World::new();
    let here = left.spawn((Small(1), Name("x".into())));
    let mut right = types().load().to_world(&bytes(&left)).unwrap();
    right.despawn(here).unwrap();
    let there = right.spawn((Small(2), Tag));

    let diff = types().diff(&left, &right).unwrap();

    let expected = [Difference::OnlyLeft(here), Difference::OnlyRight(there)];
    assert_eq!(diff.differences, expected, "{diff}");
}

#[test]
fn a_diff_goes_from_entity_to_entity_and_names_tags() {
    let mut left = World::new();
    let [a, b] = [left.spawn((Small(1), Name("x".into()))), left.spawn((Small(1), Tag))];
    let mut right = types().load().to_world(&bytes(&left)).unwrap();
    right.remove::<(Small, Name)>(a).unwrap();
    right.remove::<(Small, Tag)>(b).unwrap();

    let diff = types().diff(&left, &right).unwrap();

    let of = |difference: &Difference| match difference {
        Difference::Component { entity, .. } => *entity,
        other => panic!("{other}"),
    };
    assert_eq!(diff.differences.iter().map(of).collect::<Vec<_>>(), [a, a, b, b]);
    assert!(diff.to_string().contains("1v0: Tag is Tag here and not there"), "{diff}");
}

#[test]
fn a_resource_that_was_not_there_is_gone_after_going_back() {
    let mut world = World::new();
    let mut past = Rollback::new(types(), 2);
    past.keep(&world).unwrap();
    world.insert_resource(Score(1));

    past.back(&mut world, 0).unwrap();

    assert!(world.try_resource::<Score>().is_err());
}

#[test]
fn one_can_go_back_as_far_as_states_are_kept() {
    for_seeds(10, |seed| {
        let mut world = eventful(seed, 100);
        let mut rng = Rng::new(seed);
        let mut past = Rollback::new(types(), 5);
        let mut saved = Vec::new();
        for _ in 0..12 {
            world.settle();
            past.keep(&world).unwrap();
            saved.push(bytes(&world));
            (0..20).for_each(|_| _ = change(&mut world, &mut rng));
            if rng.one_in(3) {
                let steps = rng.below(past.len());
                past.back(&mut world, steps).unwrap();
                saved.truncate(saved.len() - steps);
                world.verify().unwrap();
                assert_eq!(&bytes(&world), saved.last().unwrap());
            }
        }
        assert!((1..=5).contains(&past.len()) && !past.is_empty());
        // Again to the same, and what comes after is the same.
        past.back(&mut world, 0).unwrap();
        let mut again = world_of(saved.last().unwrap());
        if seed % 2 == 1 && !seed.is_multiple_of(3) {
            live_on(&mut world, &mut again, seed, 200);
        }
        past.clear();
        assert!(past.is_empty() && past.capacity() == 5);
    });
}

/// As a game over a network does it: each frame is kept, and some are made again.
#[test]
fn a_state_that_is_taken_back_is_the_same_and_kept_no_more() {
    for_seeds(10, |seed| {
        let mut world = eventful(seed, 100);
        let mut rng = Rng::new(seed);
        let mut past = Rollback::new(types(), 5);
        let mut saved = Vec::new();
        for _ in 0..25 {
            world.settle();
            past.keep(&world).unwrap();
            saved.push(bytes(&world));
            let kept = past.len();
            (0..20).for_each(|_| _ = change(&mut world, &mut rng));
            if rng.one_in(3) {
                let steps = rng.below(kept);
                past.take_back(&mut world, steps).unwrap();
                saved.truncate(saved.len() - steps);
                world.verify().unwrap();
                assert_eq!(bytes(&world), saved.pop().unwrap());
                assert_eq!(past.len(), kept - steps - 1);
            }
        }
        // Those before it are untouched.
        while !past.is_empty() {
            past.take_back(&mut world, 0).unwrap();
            assert_eq!(bytes(&world), saved.pop().unwrap());
        }
        world.verify().unwrap();
        let error = past.take_back(&mut world, 0).unwrap_err();
        assert!(matches!(error, SnapshotError::NoState { asked: 0, kept: 0 }), "{error}");
    });
}

#[test]
fn there_is_nothing_behind_the_last_state() {
    let mut world = World::new();
    world.spawn(Small(1));
    let mut past = Rollback::new(types(), 0);
    past.keep(&world).unwrap();
    let before = bytes(&world);
    for steps in [1, 2, usize::MAX] {
        for error in [past.back(&mut world, steps), past.take_back(&mut world, steps)] {
            let error = error.unwrap_err();
            assert!(matches!(error, SnapshotError::NoState { kept: 1, .. }), "{error}");
        }
    }
    assert_eq!(bytes(&world), before);
    assert!(past.forget_last() && past.is_empty());
    assert!(!past.forget_last());
}

/// Otherwise groups would take in entities that are in no pool of theirs.
#[test]
fn what_is_not_copied_leaves_no_trace_in_a_clone_or_behind_a_rollback() {
    let types = types().ignore::<Stranger>();
    let mut world = World::new();
    let group = world.group::<(Stranger, Small)>().build().unwrap();
    let e = world.spawn((Stranger, Small(1)));
    let mut clone = types.clone_world(&world).unwrap();
    clone.verify().unwrap();
    assert!(clone.has::<Small>(e) && !clone.has::<Stranger>(e));

    let mut past = Rollback::new(types, 2);
    past.keep(&world).unwrap();
    past.back(&mut world, 0).unwrap();
    world.verify().unwrap();
    assert_eq!(world.group_len(group), Some(0));
    assert!(world.has::<Small>(e) && !world.has::<Stranger>(e));
}

/// A value that is counted as long as it lives.
#[derive(Component, Snapshot, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[snapshot(clone)]
struct Counted {
    #[serde(skip)]
    count: Arc<()>,
}

#[test]
fn values_that_nobody_keeps_any_more_are_dropped_at_once() {
    let types = SnapshotTypes::new().component::<Counted>();
    let (mut world, counted) = (World::new(), Arc::new(()));
    for _ in 0..10 {
        world.spawn(Counted { count: counted.clone() });
    }
    let mut past = Rollback::new(types, 2);
    let copies = || (Arc::strong_count(&counted) - 1) / 10;
    let mut expected = vec![];
    for _ in 0..4 {
        past.keep(&world).unwrap();
        expected.push(copies());
    }
    assert_eq!(expected, [2, 3, 3, 3], "the world and up to two states");

    past.back(&mut world, 1).unwrap();
    assert_eq!(copies(), 2);
    past.keep(&world).unwrap();
    past.back(&mut world, 0).unwrap();
    assert_eq!(copies(), 3);
    past.take_back(&mut world, 1).unwrap();
    assert_eq!(copies(), 1);
    past.keep(&world).unwrap();
    past.clear();
    assert_eq!(copies(), 1);
    world.verify().unwrap();
}

/// The memory of a state is used again for the next one, whatever has happened in between.
#[test]
fn a_state_in_the_memory_of_another_has_nothing_of_it() {
    for_seeds(10, |seed| {
        let mut rng = Rng::new(seed);
        let mut past = Rollback::new(types(), 1);
        let mut worlds = [eventful(seed, 150), eventful(seed + 1, 150)];
        for _ in 0..20 {
            // Of two worlds in turn: stamps of one say nothing of the other.
            let world = &mut worlds[rng.below(2)];
            world.settle();
            past.keep(world).unwrap();
            let kept = bytes(world);
            if rng.one_in(2) {
                (0..rng.below(30)).for_each(|_| _ = change(world, &mut rng));
            }
            (0..rng.below(3)).for_each(|_| past.back(world, 0).unwrap());
            past.back(world, 0).unwrap();
            world.verify().unwrap();
            assert_eq!(bytes(world), kept);
        }
    });
}
