//! Groups: after every operation their members are those that fit, and queries answer as without.

#![cfg(feature = "derive")]

mod common;

use common::{Rng, SeedReport, panic_message};
use esker::prelude::*;
use esker::query::GroupError;
use esker::world::{ComponentId, GroupConflict, GroupId};

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct A(u32);

#[derive(Component, Debug, Clone, PartialEq)]
struct B(String);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct C(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = Hashed)]
struct D(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = Indexed)]
struct E(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Tag;

/// Makes one of the groups that can be, or is refused.
fn random_group(world: &mut World, rng: &mut Rng) -> Result<GroupId, GroupConflict> {
    match rng.below(13) {
        0 => world.group::<(A, B)>().build(),
        1 => world.group::<(A, B, C)>().build(),
        2 => world.group::<(A, B)>().exclude::<D>().build(),
        3 => world.group::<(A, B, C)>().exclude::<D>().build(),
        4 => world.group::<A>().observe::<E>().build(),
        5 => world.group::<()>().observe::<(A, C)>().build(),
        6 => world.group::<()>().observe::<(E, Tag)>().exclude::<B>().build(),
        7 => world.group::<C>().observe::<D>().exclude::<Tag>().build(),
        8 => world.group::<(C, D)>().build(),
        9 => world.group::<(Tag, D)>().exclude::<(A, E)>().build(),
        10 => world.group::<A>().build(),
        11 => world.group::<(A, B, C)>().observe::<(D, Tag)>().build(),
        _ => world.group::<Tag>().exclude::<E>().build(),
    }
}

/// One operation, on a world and on its twin, which has no groups.
fn operate(worlds: [&mut World; 2], rng: &mut Rng) {
    let kind = rng.below(17);
    let number = rng.index_below(50);
    let seed = rng.next();
    for world in worlds {
        let mut rng = Rng::new(seed);
        let living: Vec<Entity> = world.entities().collect();
        let pick = |rng: &mut Rng| match living.is_empty() {
            true => common::id(7, 7),
            false => rng.pick(&living),
        };
        let entity = pick(&mut rng);
        match kind {
            0 => _ = world.spawn((A(number), B(number.to_string()))),
            1 => _ = world.spawn((A(number), C(number), Tag, E(number))),
            2 => world
                .spawn_batch((0..number % 7).map(|n| (A(n), B(n.to_string()), C(n))))
                .for_each(drop),
            3 => {
                let columns = (vec![C(number); 3], vec![D(number); 3], vec![Tag; 3]);
                _ = world.spawn_columns(columns).unwrap();
            }
            4 => _ = world.insert(entity, A(number)),
            5 => _ = world.insert(entity, (B(number.to_string()), C(number))),
            6 => _ = world.insert(entity, D(number)),
            7 => _ = world.insert(entity, (E(number), Tag)),
            8 => _ = world.remove::<A>(entity),
            9 => _ = world.remove::<(B, D)>(entity),
            10 => _ = world.remove::<(C, E, Tag)>(entity),
            11 => _ = world.despawn(entity),
            12 => {
                let doomed: Vec<Entity> =
                    living.iter().copied().filter(|_| rng.one_in(4)).collect();
                _ = world.despawn_batch(doomed);
            }
            13 => {
                // With the whole family, beside others or alone.
                let is_alone = rng.one_in(2);
                let mut pool = if is_alone { world.edit_pool() } else { world.pool_mut::<A>() };
                _ = pool.insert(entity, A(number));
                _ = pool.remove(pick(&mut rng));
                pool.retain(|e, _| !(e.index() + number).is_multiple_of(5));
            }
            14 => {
                let is_alone = rng.one_in(2);
                let mut pool = if is_alone { world.edit_pool() } else { world.pool_mut::<D>() };
                _ = pool.insert(entity, D(number));
                if rng.one_in(4) {
                    pool.clear();
                }
            }
            15 if rng.one_in(6) => world.clear_pool::<C>(),
            16 if rng.one_in(40) => world.clear(),
            _ => {}
        }
    }
}

/// A world that knows the components that are edited through `&World`.
fn new_world() -> World {
    let mut world = World::new();
    world.register::<A>();
    world.register::<D>();
    world
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort();
    items
}

/// Compares queries over both worlds.
fn compare([grouped, plain]: [&World; 2]) {
    macro_rules! same {
        ($data:ty, $filter:ty, $item:pat => $value:expr) => {{
            let (a, b) = (
                grouped.query_filtered::<$data, $filter>(),
                plain.query_filtered::<$data, $filter>(),
            );
            let expected = sorted(b.iter().map(|$item| $value));
            assert_eq!(sorted(a.iter().map(|$item| $value)), expected);
            let mut folded = Vec::new();
            a.iter().for_each(|$item| folded.push($value));
            assert_eq!(sorted(folded.into_iter()), expected);
            assert_eq!((a.count(), a.is_empty()), (expected.len(), expected.is_empty()));
            for entity in plain.entities() {
                assert_eq!(a.get(entity).map(|$item| $value), b.get(entity).map(|$item| $value));
            }
        }};
    }
    same!((Entity, &A, &B), (), (e, a, b) => (e, a.0, b.0.clone()));
    same!((Entity, &A, &B), Without<D>, (e, a, b) => (e, a.0, b.0.clone()));
    same!((Entity, &A, &B, &C), Without<D>, (e, a, b, c) => (e, a.0, b.0.clone(), c.0));
    same!((Entity, &B, &C, &A), (), (e, b, c, a) => (e, a.0, b.0.clone(), c.0));
    same!((Entity, &C, Option<&D>), With<A>, (e, c, d) => (e, c.0, d.map(|d| d.0)));
    same!((Entity, &A, &E), (), (e, a, x) => (e, a.0, x.0));
    same!((Entity, &D, &C), (), (e, d, c) => (e, d.0, c.0));
    same!((Entity, &D, Has<A>), (With<Tag>, Without<E>), (e, d, has) => (e, d.0, has));
    same!(Entity, (With<Tag>, Without<E>), e => e);
    same!((Entity, &A), Or<(With<Tag>, Without<B>)>, (e, a) => (e, a.0));
}

#[test]
fn random_groups_over_random_operations_keep_their_members_and_change_no_answer() {
    for seed in 0..60 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test groups" };
        let mut rng = Rng::new(seed);
        let (mut grouped, mut plain) = (new_world(), new_world());
        let mut groups = Vec::new();

        for _ in 0..120 {
            if rng.one_in(12) {
                groups.extend(random_group(&mut grouped, &mut rng));
            }
            if rng.one_in(40) && !groups.is_empty() {
                grouped.ungroup(groups.swap_remove(rng.below(groups.len())));
            }
            operate([&mut grouped, &mut plain], &mut rng);

            grouped.verify().unwrap();
            assert!(grouped.entities().eq(plain.entities()));
            compare([&grouped, &plain]);
        }
    }
}

#[test]
fn sorting_a_group_sorts_all_its_pools_and_leaves_every_value_at_its_entity() {
    // EnTT 149–151.
    for seed in 0..60 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test groups" };
        let mut rng = Rng::new(seed);
        let (mut world, mut plain) = (new_world(), new_world());
        let wide = world.group::<(A, B)>().build().unwrap();
        let narrow = world.group::<(A, B, C)>().exclude::<D>().build().unwrap();
        let list = world.group::<()>().observe::<(A, C)>().build().unwrap();
        for _ in 0..80 {
            operate([&mut world, &mut plain], &mut rng);
        }
        let outside = world.pool::<A>().entities()[world.group_len(wide).unwrap()..].to_vec();

        world.sort_group_by::<&A>(narrow, |a, b| b.0.cmp(&a.0)).unwrap();
        world.sort_group_by::<(Entity, &C)>(list, |a, b| b.0.cmp(&a.0)).unwrap();
        {
            let members = world.grouped::<(&A, &C)>(narrow).unwrap();
            assert!(members.iter().is_sorted_by(|a, b| a.0.0 >= b.0.0));
            let listed = world.grouped::<Entity>(list).unwrap();
            assert!(listed.iter().is_sorted_by(|a, b| a > b));
        }
        world.sort_group_by::<(&B, &A)>(wide, |a, b| a.0.0.cmp(&b.0.0)).unwrap();

        let (inner, len) = (world.group_len(narrow).unwrap(), world.group_len(wide).unwrap());
        let names: Vec<String> =
            world.pool::<B>().as_slice()[..len].iter().map(|b| b.0.clone()).collect();
        assert!(names[..inner].is_sorted() && names[inner..].is_sorted());
        assert_eq!(world.pool::<A>().entities()[len..], outside);
        world.verify().unwrap();
        compare([&world, &plain]);
    }
}

#[test]
fn of_two_groups_with_the_same_members_the_one_that_owns_more_pools_is_the_narrower() {
    for order in [[true, false], [false, true]] {
        let mut world = World::new();
        let groups = order.map(|owns_both| match owns_both {
            true => world.group::<(A, C)>().exclude::<D>().build().unwrap(),
            false => world.group::<A>().observe::<C>().exclude::<D>().build().unwrap(),
        });
        for n in [3, 1, 4, 1, 5, 9, 2, 6] {
            let entity = world.spawn((A(n), C(n)));
            world.spawn(A(n));
            if n == 5 {
                world.insert(entity, D(n)).unwrap();
            }
        }

        for group in groups {
            world.sort_group_by::<&A>(group, |a, b| b.0.cmp(&a.0)).unwrap();
            world.verify().unwrap();
            assert_eq!(world.pool::<C>().as_slice()[..7], [9, 6, 4, 3, 2, 1, 1].map(C));
            assert!(world.query::<(&A, &C)>().iter().all(|(a, c)| a.0 == c.0));
            world.sort_group_by::<&A>(group, |a, b| a.0.cmp(&b.0)).unwrap();
            world.verify().unwrap();
        }
    }
}

#[test]
fn members_are_had_as_one_slice_of_each_owned_component() {
    let mut world = World::new();
    world.spawn_batch((0..10).map(|n| (A(n), C(n))));
    world.spawn_batch((10..20).map(A));
    let group = world.group::<(A, C)>().exclude::<Tag>().build().unwrap();
    let first = world.pool::<A>().entities()[0];
    world.insert(first, Tag).unwrap();

    let mut members = world.grouped::<(Entity, &mut A, &C)>(group).unwrap();
    assert_eq!((members.len(), members.contains(first)), (9, false));
    let (ids, a, c) = members.slices_mut().unwrap();
    assert_eq!((ids.len(), a.len(), c.len()), (9, 9, 9));
    a.iter_mut().zip(c).for_each(|(a, c)| {
        assert_eq!(a.0, c.0);
        a.0 += 100;
    });
    assert!(members.iter().all(|(_, a, c)| a.0 == c.0 + 100));
    drop(members);

    assert_eq!(world.get::<A>(first).unwrap().0, 0);
    world.clear();
    assert!(world.grouped::<(&A, &C)>(group).unwrap().slices().is_none());
}

#[test]
fn a_query_walks_the_prefix_of_the_group_that_covers_it() {
    let mut world = World::new();
    let group = world.group::<(A, B)>().build().unwrap();
    for n in 0..100 {
        world.spawn(A(n));
        world.spawn(B(n.to_string()));
        if n % 3 == 0 {
            world.spawn((B(n.to_string()), A(n)));
        }
    }

    let query = world.query::<(&A, &B)>();
    assert_eq!(query.iter().size_hint(), (34, Some(34)));
    let explained = query.explain();
    assert_eq!((explained.driver_len, explained.matches, explained.runs), (34, 34, 1));
    assert!(explained.to_string().contains("group"), "{explained}");
    drop(query);
    assert_eq!(world.query_filtered::<(&A, &B), Without<C>>().explain().driver_len, 34);

    world.ungroup(group);
    assert_eq!(world.query::<(&A, &B)>().explain().driver_len, 134);
}

#[test]
fn equal_members_keep_their_order_when_a_group_is_sorted() {
    let mut world = World::new();
    let owning = world.group::<(A, C)>().build().unwrap();
    let list = world.group::<()>().observe::<(A, C)>().build().unwrap();
    world.spawn_batch((0..60).map(|n| (A(n % 3), C(n))));

    for group in [owning, list] {
        world.sort_group_by::<&A>(group, |a, b| b.0.cmp(&a.0)).unwrap();
        let members = world.grouped::<(&A, &C)>(group).unwrap();
        let sorted: Vec<(u32, u32)> = members.iter().map(|(a, c)| (a.0, c.0)).collect();
        assert!(sorted.is_sorted_by(|x, y| x.0 > y.0 || x.0 == y.0 && x.1 < y.1), "{sorted:?}");
    }
}

#[test]
fn a_group_knows_its_members_one_by_one() {
    let mut world = World::new();
    let groups = [
        world.group::<(A, C)>().exclude::<Tag>().build().unwrap(),
        world.group::<()>().observe::<(A, C)>().exclude::<Tag>().build().unwrap(),
    ];
    for n in 0..30 {
        let entity = world.spawn((A(n), C(n)));
        match n % 5 {
            0 => world.insert(entity, Tag).unwrap(),
            1 => _ = world.remove::<A>(entity).unwrap(),
            _ => {}
        }
        world.spawn(A(n));
    }
    let dead = world.spawn((A(0), C(0)));
    world.despawn(dead).unwrap();

    for group in groups {
        let members = world.grouped::<Entity>(group).unwrap();
        assert!(!members.is_empty() && !members.contains(dead));
        for entity in world.entities() {
            let fits = world.has::<(A, C)>(entity) && !world.has::<Tag>(entity);
            assert_eq!(members.contains(entity), fits, "{entity}");
        }
    }
}

#[test]
fn slices_of_a_component_in_an_order_of_its_own_are_refused() {
    let mut world = World::new();
    let group = world.group::<A>().observe::<C>().build().unwrap();
    world.spawn_batch((0..4).map(|n| (A(n), C(n))));
    world.pool_mut::<C>().swap(1, 3).unwrap();

    assert_eq!(world.grouped::<&A>(group).unwrap().slices().unwrap().len(), 4);
    let mut members = world.grouped::<(&A, &C)>(group).unwrap();
    assert!(panic_message(|| members.slices().is_some()).contains("ask for owned components"));
    assert!(panic_message(|| members.slices_mut().is_some()).contains("ask for owned components"));
    assert!(members.iter().all(|(a, c)| a.0 == c.0));
}

#[test]
fn a_query_that_is_driven_by_a_component_keeps_its_order_beside_groups() {
    let mut world = World::new();
    world.group::<(A, B)>().build().unwrap();
    let mut rng = Rng::new(1);
    let ids: Vec<Entity> = (0..90).map(|_| world.spawn(())).collect();
    for _ in 0..300 {
        let (id, n) = (rng.pick(&ids), rng.index_below(9));
        // More have the component that drives than are in the group.
        _ = match rng.below(5) {
            0 => world.insert(id, A(n)),
            1 => world.insert(id, B(n.to_string())),
            _ => world.insert(id, C(n)),
        };
    }
    world.pool_mut::<C>().sort_pairs_by(|a, b| b.0.cmp(&a.0)).unwrap();

    // Thrice: the later walks may know more.
    for _ in 0..3 {
        let query = world.query::<(Entity, &A, &B, &C)>().drive_by::<C>();
        let order: Vec<Entity> = query.iter().map(|item| item.0).collect();
        let all = ids.iter().rev().copied().filter(|&id| world.has::<(A, B, C)>(id));
        assert_eq!(order, all.collect::<Vec<_>>());
        let query = world.query::<(Entity, &A, &B, &C)>().drive_by::<B>();
        let order: Vec<Entity> = query.iter().map(|item| item.0).collect();
        let pool = world.pool::<B>();
        assert!(order.is_sorted_by_key(|id| pool.entities().iter().position(|other| other == id)));
    }
}

#[test]
fn of_the_groups_that_cover_a_query_the_smallest_is_walked() {
    for narrow_first in [false, true] {
        let mut world = World::new();
        if narrow_first {
            world.group::<(A, B, C)>().build().unwrap();
        }
        world.group::<(A, B)>().build().unwrap();
        world.group::<(A, B, C)>().build().unwrap();
        for n in 0..50 {
            let entity = world.spawn((A(n), B(n.to_string())));
            world.spawn(C(n));
            if n % 10 == 0 {
                world.insert(entity, C(n)).unwrap();
            }
        }

        assert_eq!(world.query::<(&A, &B, &C)>().explain().driver_len, 5);
        assert_eq!(world.query::<(&A, &B)>().explain().driver_len, 50);
        assert_eq!(world.query_filtered::<(&A, &B), Without<C>>().explain().matches, 45);
    }
}

#[test]
fn a_group_is_made_once_and_refused_beside_one_that_is_no_chain() {
    let mut world = World::new();
    let group = world.group::<(A, B)>().exclude::<D>().build().unwrap();

    assert_eq!(world.group::<(B, A)>().exclude::<D>().build(), Ok(group));
    let narrower = world.group::<(A, B, C)>().exclude::<D>().build().unwrap();
    assert_ne!(narrower, group);
    let refused = world.group::<(A, C)>().build().unwrap_err();
    let text = refused.to_string();
    for part in ["group of (A, C)", "group of (A, B) excluding (D)", "A`"] {
        assert!(text.contains(part), "{text}");
    }
    // The same owned pools, but one wants D and the other does not.
    assert!(world.group::<(A, B)>().observe::<D>().build().is_err());
    assert!(matches!(world.group::<(A, A)>().build(), Err(GroupConflict::Repeated { .. })));
    assert!(matches!(
        world.group::<A>().exclude::<A>().build(),
        Err(GroupConflict::Repeated { .. })
    ));
    assert_eq!(world.group::<()>().exclude::<A>().build(), Err(GroupConflict::Empty));

    assert!(world.ungroup(group) && !world.ungroup(group));
    assert_eq!(world.group_len(group), None);
    assert_eq!(world.grouped::<&A>(group).unwrap_err(), GroupError::NoSuchGroup);
}

#[test]
fn a_pool_of_a_group_keeps_its_order() {
    // EnTT 152.
    let mut world = World::new();
    world.spawn_batch((0..10).map(|n| (A(9 - n), C(n))));
    let group = world.group::<A>().observe::<C>().build().unwrap();

    let refused = world.pool_mut::<A>().sort_by_key(|a| a.0).unwrap_err();
    assert!(refused.to_string().contains("sort the group"), "{refused}");
    assert!(world.pool_mut::<A>().swap(0, 1).is_err());
    assert!(world.align::<(A, C)>().is_err());
    world.pool_mut::<C>().sort_by_key(|c| c.0).unwrap();

    world.ungroup(group);
    world.pool_mut::<A>().sort_by_key(|a| a.0).unwrap();
    assert_eq!(world.pool::<A>().as_slice()[0], A(0));
}

#[test]
fn a_pool_of_a_group_is_edited_with_its_whole_family() {
    let mut world = World::new();
    world.group::<(A, B)>().observe::<C>().build().unwrap();
    let entity = world.spawn((A(1), B("b".into())));

    let held = world.query::<&B>();
    let text = panic_message(|| world.pool_mut::<C>().insert(entity, C(1)));
    assert!(text.contains("B`: wanted to write, but it is borrowed to read"), "{text}");
    drop(held);
    world.pool_mut::<C>().insert(entity, C(1)).unwrap();

    assert_eq!(world.query::<(&A, &B, &C)>().count(), 1);
    world.verify().unwrap();
}

macro_rules! fillers {
    ($($name:ident)*) => {
        $(
            #[derive(Component)]
            struct $name;
        )*
        /// Components that share bits of the signature with others, when there are enough of them.
        const FILLERS: &[fn(&mut World) -> ComponentId] = &[$(World::register::<$name>),*];
    };
}

fillers!(
    F0 F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24 F25
    F26 F27 F28 F29 F30 F31 F32 F33 F34 F35 F36 F37 F38 F39 F40 F41 F42 F43 F44 F45 F46 F47 F48 F49
    F50 F51 F52 F53 F54 F55 F56 F57 F58 F59 F60 F61 F62 F63 F64 F65 F66 F67 F68
);

fn register_all(world: &mut World) {
    FILLERS.iter().for_each(|register| _ = register(world));
}

/// Gives `A` to `E` places whose bits the 65th to 70th type share (see `world/codes.rs`).
fn register_where_bits_are_shared(world: &mut World) {
    let mut fillers = FILLERS.iter();
    for place in 0..30 {
        _ = match place {
            16 => world.register::<A>(),
            17 => world.register::<B>(),
            20 => world.register::<C>(),
            26 => world.register::<D>(),
            29 => world.register::<E>(),
            _ => fillers.next().expect("there are more")(world),
        };
    }
}

#[test]
fn a_group_of_which_one_component_shares_its_bit_is_still_exact() {
    for shared in 0..3 {
        let mut world = World::new();
        // The first one shares its bit, that of place 16, with the last filler, and the others have
        // theirs alone.
        let mut first = [World::register::<A>, World::register::<C>, World::register::<D>];
        first.rotate_left(shared);
        let before = FILLERS[..16].iter().chain(&first[..1]).chain(&FILLERS[16..17]);
        before.chain(&first[1..]).for_each(|register| _ = register(&mut world));
        let groups = [
            world.group::<(A, C)>().exclude::<D>().build().unwrap(),
            world.group::<()>().observe::<(A, C)>().exclude::<D>().build().unwrap(),
        ];
        FILLERS[..62].iter().for_each(|register| _ = register(&mut world));
        let late = world.group::<()>().observe::<A>().exclude::<(C, D)>().build().unwrap();

        // Each gets the filler before or after, and the others through the world or a pool.
        let lens = |world: &World| groups.map(|group| world.group_len(group).unwrap());
        for n in 0..4 {
            let member = world.spawn(());
            let filled = |world: &mut World, when| {
                if n % 2 == when {
                    world.insert(member, F61).unwrap();
                    world.verify().unwrap();
                }
            };
            filled(&mut world, 0);
            world.insert(member, A(1)).unwrap();
            assert_eq!(world.group_len(late), Some(1));
            filled(&mut world, 1);
            match n / 2 {
                0 => world.insert(member, C(1)).unwrap(),
                _ => _ = world.pool_mut::<C>().insert(member, C(1)).unwrap(),
            }
            assert_eq!((lens(&world), world.group_len(late)), ([1; 2], Some(0)));
            match n / 2 {
                0 => world.insert(member, D(1)).unwrap(),
                _ => _ = world.pool_mut::<D>().insert(member, D(1)).unwrap(),
            }
            assert_eq!(lens(&world), [0; 2]);
            match n / 2 {
                0 => _ = world.remove::<D>(member).unwrap(),
                _ => _ = world.pool_mut::<D>().remove(member),
            }
            assert_eq!(lens(&world), [1; 2]);
            world.verify().unwrap();
            world.despawn(member).unwrap();
            assert_eq!((lens(&world), world.group_len(late)), ([0; 2], Some(0)));
        }
    }
}

#[test]
fn a_group_of_the_first_component_beyond_the_bits_covers_no_query_of_the_very_first() {
    let mut world = World::new();
    register_all(&mut world);
    _ = world.group::<F64>().build().unwrap();
    let first = world.spawn(F0);
    _ = world.spawn(F64);

    let query = world.query::<(Entity, &F0)>();

    assert_eq!(query.iter().map(|(entity, _)| entity).collect::<Vec<_>>(), [first]);
}

#[test]
fn with_more_components_than_bits_groups_are_still_exact() {
    for seed in 0..10 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test groups" };
        let mut rng = Rng::new(seed);
        let (mut grouped, mut plain) = (World::new(), new_world());
        register_where_bits_are_shared(&mut grouped);
        // Some bits are shared before the group is made, some come to be shared after.
        if rng.one_in(2) {
            register_all(&mut grouped);
        }
        _ = random_group(&mut grouped, &mut rng);
        _ = random_group(&mut grouped, &mut rng);
        register_all(&mut grouped);
        for _ in 0..80 {
            operate([&mut grouped, &mut plain], &mut rng);
            let living: Vec<Entity> = grouped.entities().collect();
            if !living.is_empty() {
                // These share bits with A to E.
                let entity = rng.pick(&living);
                _ = grouped.insert(entity, (F58, F59, F60, F61, F62, F63, F64));
                _ = grouped.remove::<(F59, F61, F63)>(entity);
            }
            grouped.verify().unwrap();
            compare([&grouped, &plain]);
        }
    }
}
