//! Plans: when a query has one, when it is forgotten, and what it takes.

use esker::query::WalkKind;
use esker::{AnyOf, Entity, Has, Query, With, Without, World};

use crate::kinds::{A, B, C, Kind, Rare, Tag};
use crate::terms::{Condition, Term};

const COUNT: u64 = 100;

/// A hundred entities with `A` and `B`, whose pools lie alike.
fn aligned(world: &mut World) -> Vec<Entity> {
    world.spawn_batch((0..COUNT).map(|n| (A(n), B(n + 1000)))).collect()
}

/// As `aligned`, but only every second one has a `B`.
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
            assert_eq!(way(&world) == WalkKind::Runs, is_known, "change {nth}, view {view}");
            look(&world, &ids);
        }
    }
}

#[test]
fn a_view_is_no_walk_so_the_first_walk_behind_it_makes_no_plan() {
    let mut world = World::new();
    let ids = every_second(&mut world);
    for _ in 0..4 {
        let query = world.query::<(&A, &B)>();
        assert_eq!(query.view().get(ids[0]).map(|(a, b)| (a.0, b.0)), Some((0, 1000)));
    }

    walk(&world);
    assert_eq!(way(&world), WalkKind::Changed);
    walk(&world);
    assert_eq!(way(&world), WalkKind::List);
}

#[test]
fn the_second_walk_of_an_unchanged_world_makes_a_plan() {
    let mut world = World::new();
    aligned(&mut world);
    let expected = expected(&world);

    assert_eq!(way(&world), WalkKind::Changed);
    assert_eq!(walk(&world), expected);
    assert_eq!(way(&world), WalkKind::Changed);
    assert_eq!(walk(&world), expected);
    assert_eq!(way(&world), WalkKind::Runs);
    assert_eq!(walk(&world), expected);
}

#[test]
fn walks_of_one_query_count_as_those_of_several() {
    let mut world = World::new();
    aligned(&mut world);
    let query = world.query::<(&A, &B)>();

    assert_eq!((query.count(), query.explain().way), (100, WalkKind::Changed));
    assert_eq!((query.count(), query.explain().way), (100, WalkKind::Runs));
    assert_eq!((query.count(), query.explain().way), (100, WalkKind::Runs));
}

#[test]
fn explaining_a_query_is_not_walking_it() {
    let mut world = World::new();
    aligned(&mut world);

    for _ in 0..5 {
        assert_eq!(way(&world), WalkKind::Changed);
    }
}

/// Makes the plan, makes one change, and expects the plan to be kept or to be forgotten. Once the pools are
/// known to be in the same order, once there is a plan of one run.
fn after(change: impl Fn(&mut World, &[Entity]), keeps_the_plan: bool) {
    for is_same in [true, false] {
        after_in(is_same, &change, keeps_the_plan);
    }
}

fn after_in(is_same: bool, change: impl Fn(&mut World, &[Entity]), keeps_the_plan: bool) {
    let mut world = World::new();
    let ids = aligned(&mut world);
    if !is_same {
        world.spawn(A(900));
    }
    walk(&world);
    walk(&world);
    assert_eq!(way(&world), WalkKind::Runs);

    change(&mut world, &ids);

    let expected_way = if keeps_the_plan { WalkKind::Runs } else { WalkKind::Changed };
    assert_eq!(way(&world), expected_way);
    let expected = expected(&world);
    for _ in 0..3 {
        assert_eq!(walk(&world), expected);
    }
    assert_ne!(way(&world), WalkKind::Changed);
}

#[test]
fn a_plan_is_forgotten_when_one_of_its_pools_changes() {
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
    ];
    for &change in changes {
        after(change, false);
    }
}

#[test]
fn a_plan_stays_when_values_change_in_place() {
    let changes: &[fn(&mut World, &[Entity])] = &[
        |world, ids| world.insert(ids[3], (A(500), B(501))).unwrap(),
        |world, ids| _ = world.replace(ids[99], A(500)).unwrap(),
        |world, ids| world.get_mut::<B>(ids[50]).unwrap().0 = 7,
        |world, ids| _ = world.pool_mut::<A>().insert(ids[0], A(500)).unwrap(),
        |world, _| world.query::<&mut A>().iter_mut().for_each(|a| a.0 += 1),
    ];
    for &change in changes {
        after(change, true);
    }
}

#[test]
fn a_plan_stays_when_other_pools_change() {
    after(|world, ids| world.insert(ids[3], (Tag, Rare::make(1))).unwrap(), true);
    after(|world, _| _ = world.spawn((C::make(1), Tag)), true);
    after(|world, _| _ = world.spawn(()), true);
}

#[test]
fn pools_known_to_be_in_the_same_order_need_no_plan_in_any_query() {
    let mut world = World::new();
    world.spawn_batch((0..100).map(|n| (A(n), B(n), C::make(n))));
    let plans = |world: &World| world.memory_report().plans;
    walk(&world);
    let with_places = plans(&world);
    walk(&world);
    world.query::<(&B, &C)>().count();
    world.query::<(&B, &C)>().count();

    let ways = [
        way(&world),
        world.query::<(&mut C, &A)>().explain().way,
        world.query_filtered::<&B, (With<A>, With<C>)>().explain().way,
    ];
    assert_eq!(ways, [WalkKind::Runs; 3], "the last two were never walked");
    assert_eq!(plans(&world), with_places);
    // Who only may have a component is not known.
    assert_eq!(world.query::<(&A, Option<&B>)>().explain().way, WalkKind::Changed);
    assert_eq!(world.query_filtered::<&A, Without<B>>().explain().way, WalkKind::Changed);
    world.shrink_to_fit();
    assert_eq!((way(&world), plans(&world)), (WalkKind::Runs, 0));
    world.verify().unwrap();
}

#[test]
fn what_one_query_has_learnt_of_a_pool_another_one_does_not_undo() {
    let mut world = World::new();
    world.spawn_batch((0..100).map(|n| (A(n), B(n), C::make(n), Rare::make(n))));
    for _ in 0..3 {
        assert_eq!(world.query::<(&A, &C)>().count(), 100);
        assert_eq!(world.query::<(&B, &C)>().count(), 100);
        assert_eq!(world.query::<(&Rare, &C)>().count(), 100);
    }

    let ways = [
        world.query::<(&A, &C)>().explain().way,
        world.query::<(&B, &C)>().explain().way,
        world.query::<(&Rare, &C)>().explain().way,
    ];
    assert_eq!(ways, [WalkKind::Runs; 3]);
    world.verify().unwrap();
}

#[test]
fn members_of_a_group_that_has_all_of_its_pools_are_known_to_be_in_the_same_order() {
    let mut world = World::new();
    let ids = every_second(&mut world);
    world.group::<(A, B)>().build().unwrap();
    let (whole, part) = (world.pool::<A>().len(), world.pool::<B>().len());
    assert!(part < whole);
    walk(&world);
    assert_eq!(world.query::<(&A, &B)>().explain().way, WalkKind::Simple);

    world.pool_mut::<A>().retain(|_, a| a.0 % 2 == 0);
    let found = [(); 3].map(|()| walk(&world));

    let explanation = world.query::<(&A, &B)>().explain();
    assert_eq!((explanation.way, explanation.runs), (WalkKind::Runs, 1));
    assert!(explanation.is_grouped);
    assert_eq!(found, [(); 3].map(|()| expected(&world)));
    world.verify().unwrap();
    world.remove::<B>(ids[0]).unwrap();
    assert_eq!(world.query::<(&A, &B)>().explain().way, WalkKind::Simple);
    assert_eq!(walk(&world), expected(&world));
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
fn matches_that_lie_apart_are_listed() {
    let mut world = World::new();
    every_second(&mut world);
    walk(&world);
    walk(&world);

    let explanation = world.query::<(&A, &B)>().explain();

    assert_eq!(explanation.way, WalkKind::List);
    assert_eq!((explanation.matches, explanation.runs), (50, 50));
    assert_eq!(walk(&world), expected(&world));
}

#[test]
fn a_query_of_one_pool_or_of_few_entities_needs_no_plan() {
    let mut world = World::new();
    world.spawn_batch((0..15).map(|n| (A(n), B(n))));
    fn ways<D: Term, F: Condition>(world: &World) -> [WalkKind; 2] {
        [(); 2].map(|()| {
            let query: Query<'_, D, F> = world.query_filtered();
            assert_eq!(query.count(), query.count());
            query.explain().way
        })
    }

    assert_eq!(ways::<(&A, &B), ()>(&world), [WalkKind::Simple; 2]);
    world.spawn_batch((15..16).map(|n| (A(n), B(n))));
    assert_eq!(ways::<(&A, &B), ()>(&world), [WalkKind::Runs; 2]);
    assert_eq!(ways::<(Entity, &mut A), ()>(&world), [WalkKind::Simple; 2]);
    assert_eq!(ways::<Entity, With<A>>(&world), [WalkKind::Simple; 2]);
    assert_eq!(ways::<(Option<&A>, Option<&B>), ()>(&world), [WalkKind::Simple; 2]);
}

#[test]
fn without_memory_for_a_plan_there_is_none_and_the_answer_is_the_same() {
    for bytes in [0, 1, 399] {
        // A list of fifty matches in two pools is 600 bytes.
        let mut world = World::builder().plan_memory(bytes).build();
        every_second(&mut world);
        let places = || world.memory_report().plans;

        walk(&world);
        let without = places();
        for _ in 0..3 {
            assert_eq!(walk(&world), expected(&world));
            assert_eq!(way(&world), WalkKind::TooBig);
        }
        assert_eq!(places(), without);
    }
}

#[test]
fn a_change_gives_a_query_that_was_too_big_another_chance() {
    let mut world = World::builder().plan_memory(100).build();
    every_second(&mut world);
    walk(&world);
    walk(&world);
    assert_eq!(way(&world), WalkKind::TooBig);

    world.clear();
    aligned(&mut world);
    walk(&world);
    walk(&world);

    assert_eq!(way(&world), WalkKind::Runs);
}

#[test]
fn memory_of_plans_is_reported_and_given_back() {
    let mut world = World::new();
    every_second(&mut world);
    walk(&world);
    let before = world.memory_report().plans;

    walk(&world);
    let with_plan = world.memory_report().plans;
    // Fifty matches, each with a number for the driver and one for each pool.
    assert_eq!(with_plan, before + 50 * 3 * 4);

    world.shrink_to_fit();
    assert_eq!(world.memory_report().plans, 0);
    assert_eq!(walk(&world), expected(&world));
}

#[test]
fn a_plan_that_is_forgotten_gives_its_memory_back() {
    let mut world = World::new();
    let ids = every_second(&mut world);
    walk(&world);
    let before = world.memory_report().plans;
    walk(&world);

    world.remove::<B>(ids[0]).unwrap();
    walk(&world);

    assert_eq!(world.memory_report().plans, before);
}

#[test]
fn queries_that_name_the_same_pools_in_other_roles_have_plans_of_their_own() {
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
            // A walk of two threads at once makes a plan anew each time.
            let last = world.pool::<A>().len() - 1;
            world.pool_mut::<A>().swap(0, last).unwrap();
        }
    }
}

#[test]
fn an_explanation_says_in_words_how_the_walk_goes() {
    let mut world = World::new();
    every_second(&mut world);
    let text = |world: &World| world.query::<(&A, &B)>().explain().to_string();

    assert!(text(&world).contains("changed"), "{}", text(&world));
    walk(&world);
    walk(&world);
    let found = text(&world);
    assert!(found.contains("lists every match"), "{found}");
    assert!(found.contains("50 entities that have `queries::kinds::B`"), "{found}");
    assert!(found.contains("50 match, in 50 runs of 1.0"), "{found}");
    let all = world.query::<(Entity, Option<&A>)>().explain().to_string();
    assert!(all.contains("all 100 living entities") && all.contains("in one run"), "{all}");
    let none = world.query::<(&A, &Tag)>().explain().to_string();
    assert!(none.contains("none of them matches"), "{none}");
}

#[test]
fn queries_that_begin_with_the_first_component_of_the_world_have_plans_of_their_own() {
    let mut world = World::new();
    world.register::<C>(); // number 0
    for (n, id) in (0..).zip(every_second(&mut world)).step_by(3) {
        world.insert(id, C::make(n)).unwrap();
    }
    let walk_both = |world: &World| {
        let one = world.query::<(&A, &B)>().iter().count();
        let other = world.query::<(&C, &A, &B)>().iter().count();
        (one, other)
    };

    let walked: Vec<_> = (0..3).map(|_| walk_both(&world)).collect();

    assert_eq!(walked, [(50, 17); 3]);
    assert_eq!(world.query::<(&A, &B)>().explain().way, WalkKind::List);
    assert_eq!(world.query::<(&C, &A, &B)>().explain().way, WalkKind::List);
}
