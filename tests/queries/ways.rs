//! Which way a walk goes, and that it sees whatever has changed since the last one.

use esker::query::WalkKind;
use esker::{AnyOf, Entity, Has, Query, With, Without, World};

use crate::kinds::{A, B, C, Kind, Rare, Tag};
use crate::terms::{Condition, Term};

const COUNT: u64 = 100;

/// A hundred entities with `A` and `B`, whose pools lie alike.
fn aligned(world: &mut World) -> Vec<Entity> {
    world.spawn_batch((0..COUNT).map(|n| (A(n), B(n + 1000)))).collect()
}

/// Like `aligned`, but only every second one has a `B`.
fn every_second(world: &mut World) -> Vec<Entity> {
    let ids: Vec<Entity> = world.spawn_batch((0..COUNT).map(A)).collect();
    world.insert_batch((0..).zip(&ids).step_by(2).map(|(n, &id)| (id, B(n + 1000))));
    ids
}

/// The numbers of `A` and `B`, walked once by a query of its own.
fn walk(world: &World) -> Vec<(u64, u64)> {
    world.query::<(&A, &B)>().iter().map(|(a, b)| (a.0, b.0)).collect()
}

fn way(world: &World) -> WalkKind {
    world.query::<(&A, &B)>().explain().way
}

/// What `walk` must give, from the order of the shorter pool.
fn expected(world: &World) -> Vec<(u64, u64)> {
    let (a, b) = (world.pool::<A>(), world.pool::<B>());
    let order = if a.len() <= b.len() { a.entities() } else { b.entities() };
    order.iter().filter_map(|&e| Some((a.get(e)?.0, b.get(e)?.0))).collect()
}

#[test]
fn a_view_of_pools_in_one_order_finds_whom_the_query_finds_and_no_one_else() {
    let mut world = World::new();
    let mut ids = aligned(&mut world);
    let look = |world: &World, ids: &[Entity]| {
        let query = world.query::<(&A, Entity, &B)>();
        let view = query.view();
        for &id in ids {
            let numbers = |(a, entity, b): (&A, Entity, &B)| (a.0, entity, b.0);
            assert_eq!(view.get(id).map(numbers), query.get(id).map(numbers), "{id}");
        }
    };
    let changes: [fn(&mut World, &mut Vec<Entity>); 6] = [
        |_, _| {},
        // Alike in both pools, so that they stay in one order.
        |world, ids| _ = world.despawn(ids[3]),
        // An old id, and another version at its index.
        |world, ids| ids.push(world.spawn((A(7), B(8)))),
        // Ids that no slot is for.
        |world, ids| {
            for id in [200, 5_000_000].map(|index| Entity::new(index, 1).unwrap()) {
                world.spawn_at(id, ()).unwrap();
                ids.push(id);
            }
        },
        // In one pool alone: no longer in one order.
        |world, ids| _ = world.remove::<B>(ids[10]).unwrap(),
        |world, ids| world.insert(ids[10], B(1)).unwrap(),
    ];
    for (nth, change) in changes.into_iter().enumerate() {
        change(&mut world, &mut ids);
        for view in 0..4 {
            // The fourth changes none of them.
            let is_known = nth < 3 && view > 1 || nth == 3;
            assert_eq!(way(&world) == WalkKind::OneRun, is_known, "change {nth}, view {view}");
            look(&world, &ids);
        }
    }
}

#[test]
fn the_second_walk_since_a_change_finds_pools_in_one_order() {
    let mut world = World::new();
    let ids = aligned(&mut world);
    let ways = |world: &World| {
        [(); 3].map(|()| {
            let found = [(); 2].map(|()| way(world));
            assert_eq!(found[0], found[1], "to explain a query is not to walk it");
            assert_eq!(walk(world), expected(world));
            found[0]
        })
    };
    let finds = [WalkKind::Direct, WalkKind::Direct, WalkKind::OneRun];

    assert_eq!(ways(&world), finds);
    world.despawn(ids[50]).unwrap();
    assert_eq!(ways(&world), finds);
    world.spawn((C::make(1), Tag));
    world.insert(ids[3], (A(500), B(501))).unwrap();
    assert_eq!(ways(&world), [WalkKind::OneRun; 3], "these pools have not changed");
    world.pool_mut::<A>().swap(0, 98).unwrap();
    assert_eq!(ways(&world), [WalkKind::Direct; 3]);
    world.pool_mut::<A>().swap(0, 98).unwrap();
    assert_eq!(ways(&world), finds);
    world.verify().unwrap();
}

#[test]
fn pools_known_to_be_in_one_order_are_so_for_every_query() {
    let mut world = World::new();
    world.spawn_batch((0..100).map(|n| (A(n), B(n), C::make(n))));
    for _ in 0..2 {
        walk(&world);
        world.query::<(&B, &C)>().iter().for_each(drop);
    }

    let ways = [
        way(&world),
        world.query::<(&mut C, &A)>().explain().way,
        world.query_filtered::<&B, (With<A>, With<C>)>().explain().way,
    ];
    assert_eq!(ways, [WalkKind::OneRun; 3], "the last two were never walked");
    // Who only may have a component is not known.
    assert_eq!(world.query::<(&A, Option<&B>)>().explain().way, WalkKind::Direct);
    assert_eq!(world.query_filtered::<&A, Without<B>>().explain().way, WalkKind::Direct);
    world.shrink_to_fit();
    assert_eq!(way(&world), WalkKind::OneRun);
    world.verify().unwrap();
}

#[test]
fn what_one_query_has_learnt_of_a_pool_another_one_does_not_undo() {
    let mut world = World::new();
    world.spawn_batch((0..100).map(|n| (A(n), B(n), C::make(n), Rare::make(n))));
    let ids = world.pool::<A>().entities().to_vec();
    // As many, in another order.
    ids.iter().rev().for_each(|&id| world.insert(id, Tag).unwrap());
    for _ in 0..3 {
        assert_eq!(world.query::<(&A, &C)>().iter().count(), 100);
        assert_eq!(world.query::<(&B, &Tag)>().iter().count(), 100);
        assert_eq!(world.query::<(&B, &C)>().iter().count(), 100);
        assert_eq!(world.query::<(&Rare, &Tag, &C)>().iter().count(), 100);
    }

    let ways = [
        world.query::<(&A, &C)>().explain().way,
        world.query::<(&B, &C)>().explain().way,
        world.query::<(&Rare, &C)>().explain().way,
        world.query::<(&B, &Tag)>().explain().way,
    ];
    use WalkKind::{Direct, OneRun};
    assert_eq!(ways, [OneRun, OneRun, OneRun, Direct]);
    world.verify().unwrap();
}

#[test]
fn a_walk_sees_every_change_of_one_of_its_pools() {
    let changes: &[fn(&mut World, &[Entity])] = &[
        |world, _| _ = world.spawn((A(500), B(501))),
        |world, _| _ = world.spawn(A(500)),
        |world, _| drop(world.spawn_batch([(A(500), B(501))])),
        |world, _| drop(world.spawn_columns((vec![A(500), A(502)], vec![B(501), B(503)])).unwrap()),
        |world, ids| world.despawn(ids[50]).unwrap(),
        |world, ids| assert_eq!(world.despawn_batch([ids[99]]), 1),
        |world, ids| _ = world.remove::<B>(ids[99]).unwrap(),
        |world, ids| _ = world.take::<A>(ids[0]).unwrap(),
        |world, ids| world.pool_mut::<A>().swap(ids.len() - 1, 3).unwrap(),
        |world, _| world.pool_mut::<A>().sort_by(|a, b| b.0.cmp(&a.0)).unwrap(),
        |world, _| world.pool_mut::<B>().retain(|_, b| b.0 % 10 != 0),
        |world, ids| _ = world.pool_mut::<B>().remove(ids[7]),
        |world, ids| {
            // As many as before, and the same entities.
            world.remove::<A>(ids[20]).unwrap();
            world.insert(ids[20], A(520)).unwrap();
        },
        |world, ids| {
            let dead = ids[30];
            world.despawn(dead).unwrap();
            assert_eq!(world.spawn((B(530), A(531))).index(), dead.index());
        },
        |world, _| {
            world.clear_pool::<A>();
            aligned(world);
        },
        |world, _| {
            world.clear();
            every_second(world);
        },
        // Values, and pools of others.
        |world, ids| world.insert(ids[3], (A(500), B(501))).unwrap(),
        |world, ids| world.get_mut::<B>(ids[50]).unwrap().0 = 7,
        |world, ids| world.insert(ids[3], (Tag, Rare::make(1))).unwrap(),
    ];
    for change in changes {
        for is_same in [true, false] {
            let mut world = World::new();
            let ids = aligned(&mut world);
            if !is_same {
                world.spawn(A(900));
            }
            _ = [(); 3].map(|()| walk(&world));

            change(&mut world, &ids);

            assert_eq!([(); 3].map(|()| walk(&world)), [(); 3].map(|()| expected(&world)));
            world.verify().unwrap();
        }
    }
}

#[test]
fn the_members_of_a_group_are_one_run_as_long_as_it_has_all_of_its_pools_and_before() {
    let mut world = World::new();
    let ids = every_second(&mut world);
    world.group::<(A, B)>().build().unwrap();
    let look = |world: &World| {
        let found = [(); 3].map(|()| walk(world));
        assert_eq!(found, [(); 3].map(|()| expected(world)));
        let explanation = world.query::<(&A, &B)>().explain();
        assert_eq!((explanation.way, explanation.runs), (WalkKind::OneRun, 1));
        assert!(explanation.is_grouped);
    };
    assert!(world.pool::<B>().len() < world.pool::<A>().len());
    look(&world);

    world.pool_mut::<A>().retain(|_, a| a.0 % 2 == 0);
    look(&world);
    world.remove::<B>(ids[0]).unwrap();
    look(&world);
    world.verify().unwrap();
}

#[test]
fn a_component_that_comes_to_be_known_is_seen() {
    let mut world = World::new();
    let ids = aligned(&mut world);
    let tagged = |world: &World| {
        let query = world.query::<(&A, Has<Tag>, Option<&Rare>)>();
        query.iter().filter(|(_, tag, rare)| *tag || rare.is_some()).count()
    };
    assert_eq!([(); 3].map(|()| tagged(&world)), [0, 0, 0]);

    world.insert(ids[3], Tag).unwrap();
    assert_eq!([(); 3].map(|()| tagged(&world)), [1, 1, 1]);

    world.insert(ids[4], Rare::make(1)).unwrap();
    assert_eq!([(); 3].map(|()| tagged(&world)), [2, 2, 2]);
}

#[test]
fn pools_that_lie_alike_are_one_run() {
    let mut world = World::new();
    aligned(&mut world);

    let query = world.query::<(&A, &B)>();

    assert_eq!((query.explain().matches, query.explain().runs), (100, 1));
    assert_eq!(query.runs().map(|(a, b)| (a.len(), b.len())).collect::<Vec<_>>(), [(100, 100)]);
}

#[test]
fn a_pool_that_differs_at_any_position_parts_the_runs_there_and_nowhere_else() {
    for count in [1, 63, 64, 65, 128, 300, 400] {
        for odd in (0..count).step_by(7).chain([count - 1]) {
            let mut world = World::new();
            let ids: Vec<_> = world.spawn_batch((0..count).map(|n| (A(n), B(n), Tag))).collect();
            world.remove::<Tag>(ids[odd as usize]).unwrap();
            let behind = world.pool::<Tag>().len() - odd as usize;

            let query = world.query::<(&A, &B, Has<Tag>)>();
            let all: Vec<(u64, u64, bool)> = query.iter().map(|(a, b, t)| (a.0, b.0, t)).collect();
            let mut one_by_one = Vec::new();
            for (a, b, tag) in &query {
                one_by_one.push((a.0, b.0, tag));
            }
            let want: Vec<_> = (0..count).map(|n| (n, n, n != odd)).collect();
            assert_eq!((&all, &one_by_one), (&want, &want), "{count} {odd}");

            drop(query);

            // A filter that refuses one in the middle of a stretch.
            world.insert(ids[odd as usize], C::make(1)).unwrap();
            let query = world.query_filtered::<(&A, &B), Without<C>>();
            let all: Vec<u64> = query.iter().map(|(a, _)| a.0).collect();
            assert_eq!(all, (0..count).filter(|&n| n != odd).collect::<Vec<_>>());

            // The last one of `Tag` has taken the place of the one that went.
            let runs: Vec<usize> =
                world.query::<(&A, &B, &Tag)>().runs().map(|run| run.2.len()).collect();
            let parts =
                if behind == 0 { vec![odd as usize] } else { vec![odd as usize, 1, behind - 1] };
            let parts: Vec<usize> = parts.into_iter().filter(|&len| len > 0).collect();
            assert_eq!(runs, parts, "{count} {odd}");
        }
    }
}

#[test]
fn many_entities_in_different_orders_are_all_found() {
    let count = if cfg!(miri) { 200 } else { 40_000 };
    let mut world = World::new();
    let ids: Vec<_> = world.spawn_batch((0..count).map(A)).collect();
    // An odd step visits all of them; every third is left out.
    for n in (0..count).filter(|n| n % 3 != 0) {
        let at = n * 12_347 % count;
        world.insert(ids[at as usize], B(at + 1)).unwrap();
    }

    let query = world.query::<(&A, &B)>();
    let found: Vec<_> = query.iter().map(|(a, b)| (a.0, b.0)).collect();

    assert_eq!(query.explain().way, WalkKind::Direct);
    assert_eq!(found, expected(&world));
    assert!(found.iter().all(|&(a, b)| b == a + 1));
}

#[test]
fn matches_that_lie_apart_are_looked_up() {
    let mut world = World::new();
    every_second(&mut world);

    let explanation = world.query::<(&A, &B)>().explain();

    assert_eq!(explanation.way, WalkKind::Direct);
    assert_eq!((explanation.matches, explanation.runs), (50, 50));
    assert_eq!(walk(&world), expected(&world));
}

#[test]
fn queries_that_name_the_same_pools_in_other_roles_find_others() {
    let mut world = World::new();
    let ids = every_second(&mut world);
    world.insert_batch(ids.iter().step_by(3).map(|&id| (id, Tag)));
    fn count<D: Term, F: Condition>(world: &World) -> usize {
        let query: Query<'_, D, F> = world.query_filtered();
        query.iter().map(|_| 1).sum()
    }

    // Every second has `B`, every third `Tag`, every sixth both.
    for _ in 0..4 {
        assert_eq!(count::<(&A, &B), ()>(&world), 50);
        assert_eq!(count::<(&A, Option<&B>), ()>(&world), 100);
        assert_eq!(count::<(&A, Has<B>), ()>(&world), 100);
        assert_eq!(count::<&A, With<B>>(&world), 50);
        assert_eq!(count::<&A, Without<B>>(&world), 50);
        assert_eq!(count::<(&A, &B, &Tag), ()>(&world), 17);
        assert_eq!(count::<(&A, Option<(&B, &Tag)>), ()>(&world), 100);
        assert_eq!(count::<(&A, AnyOf<(&B, &Tag)>), ()>(&world), 67);
        assert_eq!(count::<&A, (With<B>, Without<Tag>)>(&world), 33);
        assert_eq!(count::<&A, (Without<B>, With<Tag>)>(&world), 17);
    }
}

#[test]
fn threads_that_walk_the_same_query_at_once_get_the_same_answer() {
    for make in [aligned, every_second] {
        let mut world = World::new();
        make(&mut world);
        for _ in 0..50 {
            let expected = expected(&world);
            let query = world.query::<(&A, &B)>();
            let barrier = std::sync::Barrier::new(2);
            let work = || {
                barrier.wait();
                for _ in 0..4 {
                    let shared: Vec<_> = query.iter().map(|(a, b)| (a.0, b.0)).collect();
                    assert_eq!(shared, expected);
                    assert_eq!(walk(&world), expected);
                }
            };
            std::thread::scope(|scope| {
                scope.spawn(work);
                work();
            });
            drop(query);
            let last = world.pool::<A>().len() - 1;
            world.pool_mut::<A>().swap(0, last).unwrap();
        }
    }
}

#[test]
fn an_explanation_says_in_words_how_the_walk_goes() {
    let mut world = World::new();
    every_second(&mut world);

    let found = world.query::<(&A, &B)>().explain().to_string();
    assert!(found.contains("by look-ups"), "{found}");
    assert!(found.contains("50 entities that have `queries::kinds::B`"), "{found}");
    assert!(found.contains("50 match, in 50 runs of 1.0"), "{found}");
    let one = world.query::<(Entity, &B)>().explain().to_string();
    assert!(one.contains("as one run"), "{one}");
    let all = world.query::<(Entity, Option<&A>)>().explain().to_string();
    assert!(all.contains("all 100 living entities") && all.contains("in one run"), "{all}");
    let none = world.query::<(&A, &Tag)>().explain().to_string();
    assert!(none.contains("none of them matches"), "{none}");
    let of_c = world.query_filtered::<&C, With<A>>().explain().to_string();
    assert!(of_c.contains("0 entities"), "{of_c}");
}
