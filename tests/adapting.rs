//! Worlds that put their pools in order by themselves: what comes out, who gets his order, and that nothing
//! else changes.

#![cfg(feature = "derive")]

mod common;

use common::Rng;
use esker::prelude::*;

#[derive(Component, Clone, Debug, PartialEq)]
struct A(u32);
#[derive(Component, Clone, Debug, PartialEq)]
struct B(u32);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(track)]
struct C(u32);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = Indexed)]
struct D(u32);
#[derive(Component)]
struct Tag;
#[derive(Component)]
struct Other;

/// Enough moves for everything.
const ANY: usize = usize::MAX;

/// `n` entities, of which each has a component by chance, in an order of its own.
fn scattered(seed: u64, n: usize, one_in: [usize; 4]) -> World {
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let mut world = World::new();
    let ids: Vec<Entity> = (0..n).map(|_| world.spawn(())).collect();
    let order = |rng: &mut Rng| {
        let mut ids = ids.clone();
        (1..n).for_each(|at| ids.swap(at, rng.below(at + 1)));
        ids
    };
    for (kind, one_in) in one_in.into_iter().enumerate() {
        for id in order(&mut rng).into_iter().filter(|_| rng.one_in(one_in)).collect::<Vec<_>>() {
            let value = id.index();
            match kind {
                0 => _ = world.insert(id, A(value)),
                1 => _ = world.insert(id, B(value)),
                2 => _ = world.insert(id, C(value)),
                _ => _ = world.insert(id, D(value)),
            }
        }
    }
    world
}

type Values = (Entity, Option<A>, Option<B>, Option<C>, Option<D>);

/// What there is, whatever its order.
fn values(world: &World) -> Vec<Values> {
    let query = world.query::<(Entity, Option<&A>, Option<&B>, Option<&C>, Option<&D>)>();
    let rows = query.iter();
    let mut rows: Vec<_> =
        rows.map(|(id, a, b, c, d)| (id, a.cloned(), b.cloned(), c.cloned(), d.cloned())).collect();
    rows.sort_by_key(|row| row.0);
    rows
}

type Orders = [Vec<Entity>; 4];

fn orders(world: &World) -> Orders {
    [
        world.pool::<A>().entities().to_vec(),
        world.pool::<B>().entities().to_vec(),
        world.pool::<C>().entities().to_vec(),
        world.pool::<D>().entities().to_vec(),
    ]
}

fn runs<Q: esker::QueryData>(world: &World) -> usize {
    world.query::<Q>().explain().runs
}

/// Walks a query and says how many matches it had.
fn walk<Q: esker::QueryData>(world: &World) -> usize {
    world.query::<Q>().iter().count()
}

#[test]
fn pools_that_are_walked_together_come_to_lie_in_one_order() {
    let mut world = scattered(1, 2000, [1, 2, 1, 1]);
    world.adapt(ANY);
    let (before, matches) = (values(&world), walk::<(&A, &B)>(&world));
    assert!(runs::<(&A, &B)>(&world) > matches / 2);

    world.refresh();

    assert_eq!((runs::<(&A, &B)>(&world), walk::<(&A, &B)>(&world)), (1, matches));
    assert_eq!(values(&world), before);
    assert_eq!(world.pool::<A>().entities()[..matches], *world.pool::<B>().entities());
    world.verify().unwrap();
}

#[test]
fn a_world_that_nobody_has_asked_to_adapt_leaves_its_pools_alone() {
    let mut world = scattered(2, 200, [1; 4]);
    let before = orders(&world);

    walk::<(&A, &B)>(&world);
    world.refresh();
    assert_eq!(orders(&world), before);

    world.adapt(ANY);
    walk::<(&A, &B)>(&world);
    world.adapt(0);
    world.refresh();
    assert_eq!(orders(&world), before);
    // Nor does it remember what it had heard, as it does when it may move more or less.
    world.adapt(ANY);
    world.refresh();
    assert_eq!(orders(&world), before);
    walk::<(&A, &B)>(&world);
    world.adapt(1000);
    world.refresh();
    assert_eq!(runs::<(&A, &B)>(&world), 1);
}

#[test]
fn a_refresh_moves_no_more_than_it_may_and_all_is_in_order_in_the_end() {
    for (one_in, budget) in [([1, 1, 1, 1], 10), ([3, 4, 1, 1], 7), ([2, 2, 2, 2], 1)] {
        let mut world = scattered(3, 600, one_in);
        world.adapt(budget);
        let mut refreshes = 0;

        while runs::<(&A, &B)>(&world) > 1 {
            let before = orders(&world);
            walk::<(&A, &B)>(&world);
            world.refresh();
            refreshes += 1;
            let differ = |(old, new): (&Vec<Entity>, &Vec<Entity>)| {
                old.iter().zip(new).filter(|(old, new)| old != new).count()
            };
            // A move is an exchange of two, and the last entity is brought to its place in all pools.
            let moved: usize = before.iter().zip(&orders(&world)).map(differ).sum();
            assert!(moved <= 2 * (budget + 1), "{moved} at {refreshes}");
            assert!(refreshes < 5000, "{} runs", runs::<(&A, &B)>(&world));
        }

        assert!(refreshes > 5);
        world.verify().unwrap();
    }
}

#[test]
fn entities_that_few_pools_share_are_found_with_few_moves_at_a_time() {
    // A pass that is interrupted goes on where it was: it would never come to them otherwise.
    let mut world = World::new();
    world.spawn_batch((0..500).map(A));
    world.spawn_batch((0..500).map(B));
    let both: Vec<_> = (0..20).map(|n| world.spawn((A(n), B(n)))).collect();
    world.pool_mut::<A>().clear();
    world.spawn_batch((0..400).map(A));
    both.iter().rev().for_each(|&id| _ = world.insert(id, A(1)));
    world.adapt(3);

    for _ in 0..400 {
        walk::<(&A, &B)>(&world);
        world.refresh();
    }

    assert_eq!(runs::<(&A, &B)>(&world), 1);
}

#[test]
fn what_is_disturbed_behind_an_interrupted_pass_is_mended_by_the_next() {
    let mut world = scattered(12, 600, [1; 4]);
    world.adapt(50);
    let step = |world: &mut World| {
        walk::<(&A, &B)>(world);
        world.refresh();
    };
    (0..4).for_each(|_| step(&mut world));
    let front = world.pool::<B>().entities()[..40].to_vec();

    front.iter().for_each(|&id| _ = world.remove::<(A, B)>(id));
    (0..40).for_each(|_| step(&mut world));

    assert_eq!(runs::<(&A, &B)>(&world), 1);
}

#[test]
fn queries_of_which_one_includes_the_other_both_get_their_order() {
    for budget in [ANY, 50] {
        let mut world = scattered(4, 1000, [1, 2, 2, 3]);
        world.adapt(budget);

        for _ in 0..300 {
            walk::<(&A, &B)>(&world);
            walk::<(&A, &B, &C)>(&world);
            walk::<(&A, &B, &C, &D)>(&world);
            world.refresh();
        }

        assert_eq!(runs::<(&A, &B)>(&world), 1);
        assert_eq!(runs::<(&A, &B, &C)>(&world), 1);
        assert_eq!(runs::<(&A, &B, &C, &D)>(&world), 1);
        world.verify().unwrap();
    }
}

#[test]
fn of_two_queries_that_want_different_orders_the_one_that_walks_more_gets_it() {
    for (often, seldom) in [(5, 1), (1, 5)] {
        let mut world = scattered(5, 1000, [2, 2, 2, 1]);
        world.adapt(ANY);

        for _ in 0..10 {
            (0..often).for_each(|_| _ = walk::<(&A, &B)>(&world));
            (0..seldom).for_each(|_| _ = walk::<(&B, &C)>(&world));
            world.refresh();
        }

        let is_in_order = [runs::<(&A, &B)>(&world) == 1, runs::<(&B, &C)>(&world) == 1];
        assert_eq!(is_in_order, [often > seldom, seldom > often]);
    }
}

#[test]
fn whoever_stands_between_two_rivals_does_not_keep_the_hotter_one_waiting() {
    let mut world = scattered(13, 400, [2, 2, 2, 2]);
    let ids: Vec<_> = world.entities().collect();
    ids.iter().rev().take(170).for_each(|&id| _ = world.insert(id, (Tag, Other)));
    world.adapt(ANY);

    for step in 0..40 {
        walk::<(&A, &B)>(&world);
        // Comes later, is not quite twice as hot, and has nothing to do with the others.
        (0..2 * usize::from(step > 3)).for_each(|_| _ = walk::<(&Tag, &Other)>(&world));
        (0..3 * usize::from(step > 6)).for_each(|_| _ = walk::<(&B, &C)>(&world));
        world.refresh();
    }

    assert_eq!(runs::<(&B, &C)>(&world), 1);
}

#[test]
fn one_that_is_never_done_leaves_a_share_of_the_moves_to_the_others() {
    let mut world = World::new();
    world.spawn_batch((0..3000).map(A));
    world.spawn_batch((0..3000).map(B));
    world.spawn((A(0), B(0)));
    let ids: Vec<_> = (0..300).map(|n| world.spawn(C(n))).collect();
    ids.iter().rev().for_each(|&id| _ = world.insert(id, D(1)));
    world.adapt(40);

    for n in 0..100 {
        walk::<(&A, &B)>(&world);
        walk::<(&C, &D)>(&world);
        // The pass through those who have one of the two begins again and again.
        world.spawn(A(n));
        world.refresh();
    }

    assert_eq!(runs::<(&C, &D)>(&world), 1);
}

#[test]
fn queries_that_take_turns_do_not_undo_each_others_order() {
    let mut world = scattered(6, 500, [2, 2, 2, 1]);
    world.adapt(ANY);
    let turn = |world: &mut World, nth: usize| {
        match nth % 2 {
            0 => walk::<(&A, &B)>(world),
            _ => walk::<(&B, &C)>(world),
        };
        world.refresh();
    };
    (0..10).for_each(|nth| turn(&mut world, nth));

    let before = orders(&world);
    (0..10).for_each(|nth| turn(&mut world, nth));

    assert_eq!(orders(&world), before);
    assert_eq!(runs::<(&A, &B)>(&world), 1, "the first one that was heard");
}

#[test]
fn what_is_no_longer_walked_gives_way() {
    let mut world = scattered(7, 500, [2, 2, 2, 1]);
    world.adapt(ANY);
    for _ in 0..3 {
        (0..50).for_each(|_| _ = walk::<(&A, &B)>(&world));
        world.refresh();
    }
    for _ in 0..60 {
        walk::<(&B, &C)>(&world);
        world.refresh();
    }

    assert_eq!(runs::<(&B, &C)>(&world), 1);
}

#[test]
fn filters_and_optional_terms_count_as_what_they_require() {
    let mut world = scattered(8, 500, [1, 1, 2, 2]);
    let ids: Vec<_> = world.entities().collect();
    ids.iter().rev().step_by(3).for_each(|&id| _ = world.insert(id, Tag));
    world.adapt(ANY);

    for _ in 0..2 {
        _ = world.query_filtered::<(&A, Option<&D>), (With<Tag>, Without<C>)>().iter().count();
        world.refresh();
    }

    assert_eq!(world.query_filtered::<&A, With<Tag>>().explain().runs, 1);
    assert!(runs::<(&A, &D)>(&world) > 1, "nobody requires it");
}

#[test]
fn pools_that_a_group_owns_or_somebody_has_sorted_are_left_alone() {
    let mut world = scattered(9, 400, [1, 1, 1, 2]);
    world.adapt(ANY);
    world.pool_mut::<B>().sort_by_key(|b| b.0).unwrap();
    _ = world.group::<C>().observe::<A>().build().unwrap();
    let before = orders(&world);

    for _ in 0..3 {
        walk::<(&A, &B)>(&world);
        walk::<(&C, &D)>(&world);
        world.refresh();
    }
    assert_eq!(orders(&world), before);

    walk::<(&A, &D)>(&world);
    world.refresh();
    assert_eq!(runs::<(&A, &D)>(&world), 1);
    assert_eq!(world.pool::<B>().entities(), before[1]);
    world.verify().unwrap();
}

#[test]
fn ticks_and_values_go_where_their_entities_go() {
    let mut world = scattered(10, 300, [1, 1, 1, 1]);
    world.adapt(ANY);
    world.refresh();
    let ids: Vec<Entity> = world.entities().step_by(7).collect();
    ids.iter().for_each(|&id| world.get_mut::<C>(id).unwrap().0 += 1);
    let seen = world.advance_tick();

    walk::<(&A, &C, &D)>(&world);
    let before = world.pool::<C>().entities().to_vec();
    let tick = world.tick();
    world.refresh();

    assert_ne!(world.pool::<C>().entities(), before);
    let changed = |world: &World| {
        let query =
            world.query_filtered::<Entity, Changed<C>>().since(esker::Tick::new(tick.get() - 2));
        let mut found: Vec<Entity> = query.iter().collect();
        found.sort();
        found
    };
    assert_eq!(changed(&world), ids);
    assert_eq!(world.query_filtered::<Entity, Changed<C>>().since(seen).iter().count(), 0);
    for (id, c, d) in &world.query::<(Entity, &C, &D)>() {
        let expected = id.index() + u32::from(ids.contains(&id));
        assert_eq!((c.0, d.0), (expected, id.index()));
    }
}

#[test]
fn a_changing_world_stays_sound_and_mostly_in_order() {
    let seed = 11;
    let mut world = scattered(seed, 3000, [1, 2, 3, 4]);
    let mut rng = Rng::new(seed);
    world.adapt(400);

    for step in 0..200 {
        walk::<(&A, &B)>(&world);
        if step % 3 == 0 {
            walk::<(&A, &B, &C)>(&world);
        }
        let ids: Vec<Entity> = world.entities().collect();
        for _ in 0..20 {
            let id = rng.pick(&ids);
            match rng.below(5) {
                0 => _ = world.despawn(id),
                1 => _ = world.insert(id, B(id.index())),
                2 => _ = world.remove::<B>(id),
                3 => _ = world.insert(id, C(id.index())),
                _ => _ = world.spawn((A(0), B(0))),
            }
        }
        let before = values(&world);
        world.refresh();
        assert_eq!(values(&world), before, "{step}");
    }

    world.verify().unwrap();
    let explained = world.query::<(&A, &B)>().explain();
    assert!(explained.matches / explained.runs > 100, "{explained}");
}

mod repeated {
    use esker::snapshot::{Rollback, Snapshot, SnapshotTypes};
    use serde::{Deserialize, Serialize};

    use super::*;

    macro_rules! kept {
        ($($name:ident)*) => {$(
            #[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug, PartialEq)]
            #[snapshot(clone)]
            struct $name(u32);
        )*};
    }
    kept!(X Y Z);

    /// How many steps there were.
    #[derive(Snapshot, Serialize, Deserialize, Clone)]
    #[snapshot(clone)]
    struct Steps(u32);

    fn types() -> SnapshotTypes {
        let types = SnapshotTypes::new().component::<X>().component::<Y>().component::<Z>();
        types.resource::<Steps>()
    }

    fn world(moves: usize) -> World {
        let mut world = World::new();
        world.insert_resource(Steps(0));
        let ids: Vec<_> = (0..300).map(|n| world.spawn(X(n))).collect();
        ids.iter().rev().step_by(2).for_each(|&id| _ = world.insert(id, Y(7)));
        ids.iter().rev().step_by(3).for_each(|&id| _ = world.insert(id, Z(7)));
        world.adapt(moves);
        world
    }

    /// Walks, and changes who has what; from the tenth step on another order is wanted.
    fn schedule() -> Schedule {
        let mut schedule = Schedule::new();
        let play = |mut both: Query<(Entity, &mut X, &Y)>, mut commands: Commands| {
            for (id, x, y) in &mut both {
                x.0 = x.0.wrapping_mul(3).wrapping_add(y.0);
                if x.0 % 97 == 5 {
                    commands.remove::<Y>(id);
                }
            }
        };
        let look = |both: Query<(&Y, &Z)>, mut steps: ResMut<Steps>| {
            steps.0 += 1;
            (10..steps.0).for_each(|_| _ = both.iter().count());
        };
        let give = |all: Query<(Entity, &X)>, mut commands: Commands| {
            for (id, _) in all.iter().filter(|(_, x)| x.0 % 89 == 3) {
                commands.insert(id, Y(1));
            }
        };
        let sort = |mut z: PoolMut<Z>, steps: Res<Steps>| {
            if steps.0 == 22 {
                z.sort_pairs_by(|(a, _), (b, _)| a.cmp(&b)).unwrap();
            }
        };
        schedule.add_systems((play, look, give, sort));
        schedule
    }

    fn orders(world: &World) -> [Vec<Entity>; 3] {
        [
            world.pool::<X>().entities().to_vec(),
            world.pool::<Y>().entities().to_vec(),
            world.pool::<Z>().entities().to_vec(),
        ]
    }

    #[test]
    fn steps_that_are_repeated_come_to_the_same_order() {
        for moves in [ANY, 9] {
            let (mut world, mut schedule) = (world(moves), schedule());
            let mut past = Rollback::new(types(), 40);
            let mut states = Vec::new();
            for _ in 0..30 {
                past.keep(&world).unwrap();
                schedule.step(&mut world);
                states.push(orders(&world));
                // What a program looks at between its steps is not counted, however often it does.
                (0..50).for_each(|_| _ = world.query::<(&X, &Z)>().iter().count());
            }
            assert_ne!(states[8], states[29]);
            for back in [25, 7] {
                past.take_back(&mut world, back).unwrap();
                for expected in &states[29 - back..] {
                    past.keep(&world).unwrap();
                    schedule.step(&mut world);
                    assert_eq!(orders(&world), *expected);
                }
            }
            world.verify().unwrap();
        }
    }

    #[test]
    fn a_clone_goes_on_as_its_original() {
        let (mut world, mut schedule) = (world(9), schedule());
        for _ in 0..12 {
            schedule.step(&mut world);
        }
        let mut clone = types().clone_world(&world).unwrap();
        let mut again = self::schedule();

        for step in 0..15 {
            schedule.step(&mut world);
            again.step(&mut clone);
            assert_eq!(orders(&clone), orders(&world), "{step}");
        }
    }

    #[test]
    fn what_is_loaded_twice_goes_on_alike() {
        let (mut world, mut schedule) = (world(9), schedule());
        for _ in 0..12 {
            schedule.step(&mut world);
        }
        let bytes = types().save().to_bytes(&world).unwrap();
        let mut play = |world: &mut World| {
            types().load().replace(world, &bytes).unwrap();
            (0..5)
                .map(|_| {
                    schedule.step(world);
                    orders(world)
                })
                .collect::<Vec<_>>()
        };

        let first = play(&mut world);
        assert_eq!(play(&mut world), first);
    }
}
