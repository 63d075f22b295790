//! What EnTT's own tests pin, asked of Esker: behaviours 1–110 and 174–183 of its list.
//!
//! A number in a comment (`// EnTT 16`) names the behaviour. Those that are not tested here:
//!
//! | numbers | why |
//! |---|---|
//! | 6–8, 13 and 25 (null, tombstone) | such ids cannot be written: `Entity::new` refuses the reserved halves and `Option<Entity>` takes the place of null |
//! | 10, 11 | an id always has 32 bits of index and 32 of version, none to spare |
//! | 17, 77 | there is no look-up of the version of a dead index; `entity_at` and `position` answer `None` |
//! | 18, 19, 20 | versions are not chosen at death and never wrap: a spent index is retired. `spawn_at` chooses a version at birth |
//! | 23, 110 | a demanded id that is taken is an error, not another id |
//! | 29 | signals come later |
//! | 37 | releasing an id without emptying pools would break W2 |
//! | 39, 94 | copying entities, and values by type-erased pointers, belong to snapshots |
//! | 42 | values are built by the caller |
//! | 44 (one value for a range) | inserting into a range of entities comes later; spawning in bulk is tested |
//! | 62 | a pool is found by its type; a wrong one cannot be asked for |
//! | 63 | pools are never taken away from a world |
//! | 54 (by pool) | predicates run over values (`retain`), not over pools |
//! | 70–72, 82, 83, 88 | no storage leaves holes: `Indexed` keeps values in place while its packed order stays dense, and dead ids live in `Entities`, not behind a boundary in a set |
//! | 86–89, and sorting in 96 and 109 | sorting comes later; the living are always in order of their index |
//! | 91 | a promise of `Indexed` only; `storage_conformance!(…, stable)` tests it |
//! | 92 | values of `Packed` are one slice, not pages, so that there is something to loop over |
//! | 97, 98 | code inside `drop` or inside a constructor has no way to the world, which is borrowed |
//! | 100, 101 | moving a value cannot fail and every type can be moved |
//! | 104 | a type without size has no instances worth switching on |
//! | 107 | the boundary between living and dead is not for users to move |
//! | 174 | an `EntityRef` exists only for a living entity |
//! | 178 | no handle is restricted to some components |
//! | 182 | a resource is owned; share it by `Arc` if two must have it |

#![cfg(feature = "derive")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use esker::entity::{Entities, NoSuchEntity, OutOfEntities, SpawnAtError};
use esker::prelude::*;
use esker::sparse::SparseSet;
use esker::storage::{AnyMap, EntityMap, Indexed, Packed, Storage};
use esker::world::{ComponentError, PoolError};

#[derive(Component, Debug, Clone, Copy, PartialEq, Default)]
struct Number(i32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Letter(char);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Tag;

fn id(index: u32, version: u32) -> Entity {
    Entity::new(index, version).unwrap()
}

fn halves(entity: Entity) -> (u32, u32) {
    (entity.index(), entity.version())
}

/// A world of `n` entities with `Number(0)`, `Number(1)`, …
fn numbered(n: i32) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let entities = world.spawn_batch((0..n).map(Number)).collect();
    (world, entities)
}

mod ids {
    use super::*;

    #[test]
    fn halves_make_an_id_and_come_back() {
        // EnTT 1, 3 (combine), 9.
        let a = id(3, 4);
        let b = id(5, 6);

        assert_eq!(halves(a), (3, 4));
        assert_eq!(halves(id(a.index(), b.version())), (3, 6));
        assert_eq!(Entity::try_from_bits(0), Some(id(0, 0)));
    }

    #[test]
    fn halves_that_do_not_fit_are_refused_and_not_cut_down() {
        // EnTT 2; 6, 7 and 8 fall away with it.
        assert_eq!(Entity::new(u32::MAX, 0), None);
        assert_eq!(Entity::new(0, u32::MAX), None);
        assert_eq!(size_of::<Option<Entity>>(), size_of::<Entity>());
    }

    #[test]
    fn the_next_life_keeps_the_index_and_adds_one_to_the_version() {
        // EnTT 4.
        let mut ids = Entities::new();
        ids.spawn();
        let old = ids.spawn();
        ids.despawn(old).unwrap();

        assert_eq!(halves(ids.spawn()), (old.index(), old.version() + 1));
    }

    #[test]
    fn after_the_last_version_an_index_is_retired() {
        // EnTT 5, 19 and 20: EnTT starts again from version 0, Esker never does.
        let mut world = World::builder().last_version(1).build();
        for version in 0..=1 {
            let e = world.spawn(());
            assert_eq!(halves(e), (0, version));
            world.despawn(e).unwrap();
        }

        assert_eq!(halves(world.spawn(())), (1, 0));
        world.verify().unwrap();
    }
}

mod creation_and_destruction {
    use super::*;

    #[test]
    fn the_first_entity_is_0v0_and_the_following_count_up() {
        // EnTT 12, 13.
        let mut world = World::new();

        let entities: Vec<Entity> = (0..5).map(|_| world.spawn(())).collect();

        assert_eq!(entities, (0..5).map(|index| id(index, 0)).collect::<Vec<_>>());
        assert!(entities.iter().all(|&e| world.is_alive(e)));
    }

    #[test]
    fn death_takes_the_id_and_one_from_the_count() {
        // EnTT 14, 17.
        let (mut world, e) = numbered(3);

        world.despawn(e[1]).unwrap();

        assert!(!world.is_alive(e[1]));
        assert_eq!(world.len(), 2);
        assert_eq!(world.entity_at(1), None);
        assert_eq!(world.entity_at(77), None);
        assert_eq!(world.spawn(()).version(), e[1].version() + 1);
    }

    #[test]
    fn a_recycled_index_has_a_higher_version_and_the_old_id_stays_dead() {
        // EnTT 15.
        let mut world = World::new();
        let old = world.spawn(());
        world.despawn(old).unwrap();

        let new = world.spawn(());

        assert_eq!(halves(new), (0, 1));
        assert!(world.is_alive(new) && !world.is_alive(old));
    }

    #[test]
    fn the_slot_freed_last_is_reused_first() {
        // EnTT 16.
        let (mut world, e) = numbered(3);
        world.despawn(e[0]).unwrap();
        world.despawn(e[2]).unwrap();

        assert_eq!(halves(world.spawn(())), (2, 1));
        assert_eq!(halves(world.spawn(())), (0, 1));
        assert_eq!(halves(world.spawn(())), (3, 0));
    }

    #[test]
    fn a_version_chosen_at_birth_is_followed_by_the_next_one() {
        // EnTT 18: there the version is chosen at death.
        let mut world = World::new();
        world.spawn_at(id(0, 7), ()).unwrap();
        world.despawn(id(0, 7)).unwrap();

        assert_eq!(halves(world.spawn(())), (0, 8));
    }

    #[test]
    fn the_dead_cannot_die_again() {
        // EnTT 21.
        let (mut world, e) = numbered(1);
        world.despawn(e[0]).unwrap();

        assert_eq!(world.despawn(e[0]), Err(NoSuchEntity { entity: e[0] }));
        let successor = world.spawn(());
        assert!(world.despawn(e[0]).is_err());
        assert!(world.is_alive(successor));
    }

    #[test]
    fn a_demanded_id_is_given_exactly_or_refused() {
        // EnTT 22, 23, 24, 110.
        let mut world = World::new();
        world.spawn_at(id(4, 2), ()).unwrap();
        assert_eq!(world.entities().collect::<Vec<_>>(), [id(4, 2)]);

        let refused = world.spawn_at(id(4, 3), Tag);
        let taken = SpawnAtError::Taken { demanded: id(4, 3), living: id(4, 2) };
        assert_eq!(refused, Err(taken));
        assert_eq!((world.len(), world.has::<Tag>(id(4, 2))), (1, false));

        world.despawn(id(4, 2)).unwrap();
        world.spawn_at(id(4, 0), ()).unwrap();
        assert!(world.is_alive(id(4, 0)));
        world.verify().unwrap();
    }

    #[test]
    fn indices_skipped_by_a_demand_are_filled_from_the_lowest() {
        // EnTT 26, 27.
        let mut world = World::new();
        world.spawn_at(id(3, 0), ()).unwrap();
        assert!((0..3).all(|index| world.entity_at(index).is_none()));

        let fresh: Vec<u32> = (0..4).map(|_| world.spawn(()).index()).collect();

        assert_eq!(fresh, [0, 1, 2, 4]);
    }

    #[test]
    fn spawning_in_bulk_recycles_first() {
        // EnTT 28.
        let (mut world, e) = numbered(3);
        world.despawn_batch([e[2], e[0]]);

        let spawned: Vec<Entity> = world.spawn_batch([Tag; 4]).collect();

        assert_eq!(spawned, [id(0, 1), id(2, 1), id(3, 0), id(4, 0)]);
    }

    #[test]
    fn one_entity_too_many_is_an_error() {
        // EnTT 30.
        let mut world = World::builder().entity_limit(2).build();
        let first = world.spawn(());
        world.spawn(());

        assert_eq!(world.try_spawn(Tag), Err(OutOfEntities { limit: 2 }));

        assert_eq!(world.len(), 2);
        assert!(world.pool::<Tag>().is_empty());
        world.despawn(first).unwrap();
        assert_eq!(world.try_spawn(()).map(halves), Ok((0, 1)));
    }

    #[test]
    fn fresh_indices_start_where_the_range_starts() {
        // EnTT 31.
        let mut world = World::builder().entity_range(100..200).build();

        assert_eq!(halves(world.spawn(())), (100, 0));
        assert_eq!(world.entity_at(99), None);
        world.spawn_at(id(5, 0), ()).unwrap();
        assert!(world.is_alive(id(5, 0)));
        assert_eq!(halves(world.spawn(())), (101, 0));
    }

    #[test]
    fn exactly_the_matches_of_a_query_die() {
        // EnTT 32, 34.
        let (mut world, e) = numbered(10);
        for &entity in e.iter().step_by(3) {
            world.insert(entity, Letter('x')).unwrap();
        }
        let matches: Vec<Entity> = world.query::<(Entity, &Letter)>().iter().map(|m| m.0).collect();

        assert_eq!(world.despawn_batch(matches.iter().copied()), 4);

        assert!(e.iter().all(|entity| world.is_alive(*entity) != matches.contains(entity)));
        assert_eq!(world.pool::<Number>().len(), 6);
        assert!(world.pool::<Letter>().is_empty());
        assert!(matches.iter().all(|&entity| !world.pool::<Number>().contains(entity)));
        world.verify().unwrap();
    }

    #[test]
    fn batches_of_the_dying_come_from_anywhere() {
        // EnTT 33.
        let (mut world, e) = numbered(6);
        let foreign: SparseSet = [e[4], e[5], id(900, 0)].into_iter().collect();

        assert_eq!(world.despawn_batch([e[0], e[1]]), 2);
        assert_eq!(world.despawn_batch(std::iter::empty()), 0);
        assert_eq!(world.despawn_batch(foreign.as_slice().iter().rev().copied()), 2);

        assert_eq!(world.entities().collect::<Vec<_>>(), [e[2], e[3]]);
    }

    #[test]
    fn clear_lets_everything_die_and_moves_versions_on() {
        // EnTT 35.
        let (mut world, e) = numbered(3);

        world.clear();

        assert!(world.is_empty() && world.pool::<Number>().is_empty());
        assert!(e.iter().all(|&entity| !world.is_alive(entity)));
        assert_eq!(
            (0..3).map(|_| world.spawn(())).collect::<Vec<_>>(),
            [id(0, 1), id(1, 1), id(2, 1)]
        );
    }

    #[test]
    fn cycles_of_clear_give_the_same_indices_with_rising_versions() {
        // EnTT 36.
        let mut world = World::new();
        for version in 0..10 {
            let cycle: Vec<Entity> = (0..5).map(|_| world.spawn(Tag)).collect();
            assert_eq!(cycle, (0..5).map(|index| id(index, version)).collect::<Vec<_>>());
            world.clear();
        }
    }

    #[test]
    fn an_orphan_is_alive_and_has_nothing() {
        // EnTT 38.
        let mut world = World::new();
        let e = world.spawn(());
        assert!(world.is_orphan(e));

        world.insert(e, Tag).unwrap();
        assert!(!world.is_orphan(e));
        world.remove::<Tag>(e).unwrap();
        assert!(world.is_orphan(e));
        world.despawn(e).unwrap();
        assert!(!world.is_orphan(e));
    }
}

mod components {
    use super::*;

    #[test]
    fn an_inserted_value_is_there_and_can_be_changed() {
        // EnTT 40.
        let mut world = World::new();
        let e = world.spawn(());

        world.get_or_insert_with(e, || Number(1)).unwrap().0 += 1;

        assert!(world.has::<Number>(e));
        assert_eq!(world.get::<Number>(e).unwrap().0, 2);
    }

    #[test]
    fn adding_to_the_dead_or_twice_is_refused() {
        // EnTT 41.
        let (mut world, e) = numbered(2);
        world.despawn(e[1]).unwrap();

        assert_eq!(world.insert(e[1], Tag), Err(NoSuchEntity { entity: e[1] }));
        assert!(matches!(world.try_add(e[1], Tag), Err(ComponentError::Dead(_))));
        let twice = world.try_add(e[0], Number(9));
        assert!(matches!(twice, Err(ComponentError::Present { entity, .. }) if entity == e[0]));

        assert_eq!(world.get::<Number>(e[0]).unwrap().0, 0);
        assert_eq!(world.component_id::<Tag>(), None, "a refused insert makes no pool");
    }

    #[test]
    fn types_that_can_only_be_moved_are_components() {
        // EnTT 43.
        #[derive(Component)]
        struct MoveOnly(Box<i32>);
        let mut world = World::new();

        let e = world.spawn(MoveOnly(Box::new(5)));

        assert_eq!(*world.take::<MoveOnly>(e).unwrap().unwrap().0, 5);
    }

    #[test]
    fn values_of_a_batch_go_to_their_entities_in_order() {
        // EnTT 44.
        let (world, e) = numbered(50);

        let pool = world.pool::<Number>();
        assert_eq!(pool.entities(), e);
        assert!(pool.as_slice().iter().map(|number| number.0).eq(0..50));
    }

    #[test]
    fn a_component_that_a_query_excludes_cannot_be_added_under_it() {
        // EnTT 45: the guards forbid it; collecting first visits each entity once.
        let (mut world, e) = numbered(5);
        world.insert(e[2], Tag).unwrap();

        let query = world.query_filtered::<Entity, (With<Number>, Without<Tag>)>();
        assert!(matches!(world.try_pool_mut::<Tag>(), Err(PoolError::Borrowed(_))));
        let without: Vec<Entity> = query.iter().collect();
        drop(query);
        for &entity in &without {
            world.try_add(entity, Tag).unwrap();
        }

        assert_eq!(without, [e[0], e[1], e[3], e[4]]);
        assert_eq!(world.pool::<Tag>().len(), 5);
    }

    #[test]
    fn insert_adds_when_absent_and_overwrites_in_place_when_present() {
        // EnTT 46, 47.
        let (mut world, e) = numbered(3);
        let address = |world: &World| std::ptr::from_ref(&world.pool::<Number>().as_slice()[1]);
        let before = address(&world);

        world.insert(e[1], Number(10)).unwrap();
        world.insert(e[1], Tag).unwrap();
        world.insert(e[1], Tag).unwrap();

        assert_eq!(address(&world), before);
        assert_eq!(world.get::<Number>(e[1]).unwrap().0, 10);
        assert_eq!((world.pool::<Number>().len(), world.pool::<Tag>().len()), (3, 1));
    }

    #[test]
    fn replace_overwrites_and_returns_the_old_value() {
        // EnTT 48, 51.
        let (mut world, e) = numbered(2);
        world.remove::<Number>(e[1]).unwrap();

        assert_eq!(world.replace(e[0], Number(7)), Ok(Number(0)));
        assert_eq!(world.replace(e[0], Number::default()), Ok(Number(7)));
        let missing = world.replace(e[1], Number(7));

        assert!(matches!(missing, Err(ComponentError::Missing { entity, .. }) if entity == e[1]));
        assert!(!world.has::<Number>(e[1]));
    }

    #[test]
    fn patches_apply_in_the_order_of_their_calls() {
        // EnTT 49.
        let (mut world, e) = numbered(2);

        world.patch(e[1], |_: &mut Number| ()).unwrap();
        assert_eq!(world.get::<Number>(e[1]).unwrap().0, 1);
        let mut entity = world.entity_mut(e[1]).unwrap();
        entity.patch(|n: &mut Number| n.0 += 1).unwrap().patch(|n: &mut Number| n.0 *= 10).unwrap();

        assert_eq!(world.get::<Number>(e[1]).unwrap().0, 20);
    }

    #[test]
    fn removing_says_of_each_component_whether_it_was_there() {
        // EnTT 50, 51.
        let (mut world, e) = numbered(1);
        world.insert(e[0], Letter('a')).unwrap();

        assert_eq!(world.remove::<Tag>(e[0]), Ok(None));
        let removed = world.remove::<(Number, Tag, Letter)>(e[0]);
        assert_eq!(removed, Ok((Some(Number(0)), None, Some(Letter('a')))));
        assert_eq!(world.remove::<(Number, Letter)>(e[0]), Ok((None, None)));
        assert_eq!(world.take::<Number>(e[0]), Ok(None));

        assert!(world.is_alive(e[0]));
    }

    #[test]
    fn everything_can_be_removed_from_the_entities_of_a_pool() {
        // EnTT 52, 53.
        let (mut world, e) = numbered(10);
        for &entity in &e[..5] {
            world.insert(entity, Letter('a')).unwrap();
        }
        let all = world.pool::<Number>().entities().to_vec();

        for round in 0..2 {
            for &entity in &all {
                let (number, _) = world.remove::<(Number, Letter)>(entity).unwrap();
                assert_eq!(number.is_some(), round == 0);
            }
        }

        assert!(world.pool::<Number>().is_empty() && world.pool::<Letter>().is_empty());
        assert!(e.iter().all(|&entity| world.is_orphan(entity)));
    }

    #[test]
    fn retain_that_refuses_nothing_changes_nothing() {
        // EnTT 54.
        let (mut world, e) = numbered(6);

        world.pool_mut::<Number>().retain(|_, _| true);
        assert_eq!(world.pool::<Number>().entities(), e);
        world.pool_mut::<Number>().retain(|_, number| number.0 % 2 == 0);

        assert!(e.iter().all(|&entity| world.has::<Number>(entity) == (entity.index() % 2 == 0)));
        world.verify().unwrap();
    }

    #[test]
    fn an_entity_has_all_of_nothing_and_any_of_nothing_not() {
        // EnTT 55.
        let (mut world, e) = numbered(1);

        assert!(world.has::<()>(e[0]) && !world.has_any::<()>(e[0]));
        assert!(!world.has::<(Number, Tag)>(e[0]) && world.has_any::<(Number, Tag)>(e[0]));
        world.despawn(e[0]).unwrap();
        assert!(!world.has::<()>(e[0]));
    }

    #[test]
    fn several_components_of_one_entity_are_written_through_together() {
        // EnTT 56.
        let mut world = World::new();
        let e = world.spawn((Number(1), Letter('a')));

        let mut query = world.query::<(&mut Number, &mut Letter)>();
        let (number, letter) = query.get_mut(e).unwrap();
        (number.0, letter.0) = (2, 'b');
        drop(query);

        assert_eq!(world.take::<(Number, Letter)>(e), Ok(Some((Number(2), Letter('b')))));
    }

    #[test]
    fn reading_what_is_absent_gives_nothing_and_makes_no_pool() {
        // EnTT 57, 65.
        let (mut world, e) = numbered(1);

        assert!(world.get::<Letter>(e[0]).is_none());
        assert!(world.get_mut::<Letter>(e[0]).is_none());
        assert!(!world.has::<Letter>(e[0]));
        assert!(world.pool::<Letter>().is_empty());
        assert_eq!(world.query::<&Letter>().count(), 0);
        assert!(matches!(world.try_pool_mut::<Letter>(), Err(PoolError::Unknown { .. })));
        assert_eq!(world.remove::<Letter>(e[0]), Ok(None));
        world.clear_pool::<Letter>();

        assert_eq!(world.component_id::<Letter>(), None);
        assert_eq!(world.memory_report().pools.len(), 1);
    }

    #[test]
    fn get_or_insert_with_makes_a_value_only_when_there_is_none() {
        // EnTT 58.
        let (mut world, e) = numbered(1);

        assert_eq!(*world.get_or_insert_with(e[0], || Number(99)).unwrap(), Number(0));
        assert_eq!(*world.get_or_insert_with(e[0], || Letter('z')).unwrap(), Letter('z'));
        assert_eq!(*world.get_or_insert_with(e[0], || Tag).unwrap(), Tag);

        assert_eq!(world.component_names(e[0]).count(), 3);
    }

    #[test]
    fn clearing_one_pool_leaves_the_others_and_the_entities() {
        // EnTT 59.
        let mut world = World::new();
        let e = world.spawn((Number(1), Letter('a')));

        world.clear_pool::<Number>();

        assert!(world.is_alive(e) && world.has::<Letter>(e) && !world.has::<Number>(e));
        world.verify().unwrap();
    }

    #[test]
    fn shrinking_one_pool_leaves_the_others_and_shrinking_the_world_does_all() {
        // EnTT 60.
        let mut world = World::new();
        world.spawn_batch((0..1000).map(|n| (Number(n), Letter('a'))));
        world.clear();
        let bytes = |world: &World, pool: usize| world.memory_report().pools[pool].memory.total();
        let letters = bytes(&world, 1);

        world.pool_mut::<Number>().shrink_to_fit();
        assert_eq!((bytes(&world, 0), bytes(&world, 1)), (0, letters));
        world.shrink_to_fit();
        assert_eq!(bytes(&world, 1), 0);
    }

    #[test]
    fn two_types_around_one_are_two_pools() {
        // EnTT 61: instead of two named pools of one type.
        #[derive(Component)]
        struct Left(Number);
        #[derive(Component)]
        struct Right(Number);
        let mut world = World::new();
        let e = world.spawn((Left(Number(1)), Right(Number(2))));

        assert_eq!(world.get::<Left>(e).unwrap().0, Number(1));
        assert_eq!(world.get::<Right>(e).unwrap().0, Number(2));
        world.despawn(e).unwrap();
        assert!(world.pool::<Left>().is_empty() && world.pool::<Right>().is_empty());
    }

    #[test]
    fn the_report_lists_each_pool_once_and_not_the_entities() {
        // EnTT 64.
        let mut world = World::new();
        world.spawn((Number(1), Tag));
        world.spawn((Tag, Letter('a')));

        let report = world.memory_report();
        let lens: Vec<(&str, usize)> = report
            .pools
            .iter()
            .map(|pool| (pool.name.rsplit("::").next().unwrap(), pool.len))
            .collect();

        assert_eq!(lens, [("Number", 1), ("Tag", 2), ("Letter", 1)]);
    }

    #[test]
    fn a_moved_world_keeps_everything() {
        // EnTT 66 (listeners come later).
        let (mut a, e) = numbered(3);
        a.insert_resource(String::from("a"));
        let mut b = World::new();

        std::mem::swap(&mut a, &mut b);
        let mut b = std::thread::spawn(move || b).join().unwrap();

        assert!(a.is_empty() && !a.has_resource::<String>());
        assert_eq!(b.get::<Number>(e[2]).unwrap().0, 2);
        assert_eq!(*b.resource::<String>(), "a");
        assert_eq!(std::mem::take(&mut b).len(), 3);
        assert!(b.is_empty());
    }
}

mod sparse_sets {
    use super::*;

    /// A set of `0v0` to `(n - 1)v0`.
    fn set_of(n: u32) -> SparseSet {
        (0..n).map(|index| id(index, 0)).collect()
    }

    #[test]
    fn membership_is_exact_to_the_version() {
        // EnTT 67, 77, 78.
        let set: SparseSet = [id(3, 1)].into_iter().collect();

        assert!(set.contains(id(3, 1)));
        for stranger in [id(3, 0), id(3, 2), id(2, 1), id(4_000_000_000, 1)] {
            assert!(!set.contains(stranger));
            assert_eq!(set.position(stranger), None);
        }
    }

    #[test]
    fn an_entity_is_in_once() {
        // EnTT 68: a second push is refused by `false`.
        let mut set = set_of(3);

        assert!(!set.insert(id(1, 0)));
        set.extend([id(0, 0), id(1, 0), id(2, 0)]);

        assert_eq!(set.as_slice(), [id(0, 0), id(1, 0), id(2, 0)]);
    }

    #[test]
    fn the_last_moves_to_the_place_of_the_removed_one() {
        // EnTT 69, 77.
        let mut set = set_of(4);

        assert_eq!(set.remove(id(1, 0)), Some(1));

        assert_eq!(set.as_slice(), [id(0, 0), id(3, 0), id(2, 0)]);
        assert_eq!((set.position(id(1, 0)), set.position(id(3, 0))), (None, Some(1)));
        assert_eq!(set.check(), Ok(()));
    }

    #[test]
    fn a_cleared_set_is_empty_and_keeps_its_memory() {
        // EnTT 73.
        let mut set = set_of(100);
        let (capacity, bytes) = (set.capacity(), set.heap_bytes());

        set.clear();

        assert!(set.is_empty() && !set.contains(id(5, 0)));
        assert_eq!((set.capacity(), set.heap_bytes()), (capacity, bytes));
        assert!(set.insert(id(5, 1)));
        assert_eq!(set.check(), Ok(()));
    }

    #[test]
    fn entities_are_removed_by_any_list_and_those_present_are_counted() {
        // EnTT 74, 75.
        let mut set = set_of(6);
        let other: SparseSet = [id(1, 0), id(3, 0), id(9, 0)].into_iter().collect();

        let removed = other.iter().filter(|&entity| set.remove(entity).is_some()).count();
        assert_eq!((removed, set.len()), (2, 4));
        for entity in set.as_slice().to_vec() {
            set.remove(entity).unwrap();
        }

        assert!(set.is_empty());
    }

    #[test]
    fn the_version_of_a_member_can_be_changed_also_downwards() {
        // EnTT 76.
        let mut set: SparseSet = [id(0, 0), id(7, 5)].into_iter().collect();

        set.rename(1, id(7, 2));
        assert!(set.contains(id(7, 2)) && !set.contains(id(7, 5)));
        assert!(set.insert(id(7, 9)), "another version takes the place");

        assert_eq!(set.as_slice(), [id(0, 0), id(7, 9)]);
        assert!(catch_unwind(AssertUnwindSafe(|| set.rename(0, id(7, 1)))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| set.rename(2, id(2, 0)))).is_err());
        assert_eq!(set.check(), Ok(()));
    }

    #[test]
    fn positions_out_of_bounds_panic_and_change_nothing() {
        // EnTT 78.
        let mut set = set_of(2);

        assert!(catch_unwind(AssertUnwindSafe(|| set.remove_at(2))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| set.swap(0, 2))).is_err());

        assert_eq!(set.as_slice(), [id(0, 0), id(1, 0)]);
        assert_eq!(set.check(), Ok(()));
    }

    #[test]
    fn pages_exist_where_they_are_used_and_are_given_back() {
        // EnTT 79, 80.
        const PAGE: usize = 1024 * 8;
        let mut set = SparseSet::new();

        set.extend([id(0, 0), id(4_000_000_000, 0)]);
        assert!((2 * PAGE..3 * PAGE).contains(&set.heap_bytes()), "{}", set.heap_bytes());
        assert!(!set.contains(id(2_000_000_000, 0)));
        set.remove(id(4_000_000_000, 0));
        set.shrink_to_fit();

        assert!((PAGE..2 * PAGE).contains(&set.heap_bytes()), "{}", set.heap_bytes());
        assert!(set.contains(id(0, 0)));
        set.clear();
        set.shrink_to_fit();
        assert_eq!(set.heap_bytes(), 0);
    }

    #[test]
    fn reserving_never_shrinks() {
        // EnTT 81.
        let mut set = SparseSet::new();
        set.reserve(100);
        let capacity = set.capacity();
        set.extend((0..100).map(|index| id(index, 0)));

        set.reserve(0);

        assert!(capacity >= 100);
        assert_eq!(set.capacity(), capacity);
    }

    #[test]
    fn swapping_exchanges_positions() {
        // EnTT 84.
        let mut set = set_of(3);

        set.swap(0, 2);

        assert_eq!(set.as_slice(), [id(2, 0), id(1, 0), id(0, 0)]);
        assert_eq!(set.position(id(2, 0)), Some(0));
        assert_eq!(set.check(), Ok(()));
    }

    #[test]
    fn walks_go_from_the_oldest_to_the_newest() {
        // EnTT 85, decided the other way round: packed order, front to back.
        let set = set_of(3);

        assert_eq!(set.iter().collect::<Vec<_>>(), [id(0, 0), id(1, 0), id(2, 0)]);
        assert_eq!(set.iter().next_back(), Some(id(2, 0)));
        assert_eq!(set.iter().len(), 3);
    }

    #[test]
    fn a_set_that_was_taken_away_is_empty() {
        // EnTT 90.
        let mut a = set_of(3);
        let mut b = set_of(1);

        std::mem::swap(&mut a, &mut b);
        let taken = std::mem::take(&mut b);

        assert_eq!((a.len(), b.len(), taken.len()), (1, 0, 3));
        assert_eq!((b.check(), taken.check()), (Ok(()), Ok(())));
    }
}

mod storages {
    use super::*;

    fn map_of<S: Storage<String>>(n: u32) -> EntityMap<String, S> {
        let mut map = EntityMap::default();
        for index in 0..n {
            map.insert(id(index, 0), index.to_string());
        }
        map
    }

    #[test]
    fn the_erased_face_shows_the_same_value() {
        // EnTT 93.
        let map = map_of::<Packed<String>>(3);
        let face: &dyn AnyMap = &map;

        let seen = face.value(id(1, 0)).unwrap().downcast_ref::<String>().unwrap();

        assert!(std::ptr::eq(seen, map.get(id(1, 0)).unwrap()));
        assert!(face.value(id(9, 0)).is_none());
    }

    #[test]
    fn entities_keep_their_values_when_others_go_or_change_places() {
        // EnTT 95, 96.
        fn check<S: Storage<String>>() {
            let mut map = map_of::<S>(20);
            for index in [0, 19, 7, 3] {
                assert_eq!(map.remove(id(index, 0)), Some(index.to_string()));
            }
            map.swap(0, 10);
            map.swap(5, 15);

            assert_eq!(map.len(), 16);
            assert!(map.iter().all(|(entity, value)| *value == entity.index().to_string()));
        }

        check::<Packed<String>>();
        check::<Indexed<String>>();
    }

    #[test]
    fn a_constructor_that_panics_leaves_the_pool_as_it_was() {
        // EnTT 99.
        let (mut world, e) = numbered(2);

        let made = catch_unwind(AssertUnwindSafe(|| {
            world.get_or_insert_with::<Letter>(e[0], || panic!("no letter today")).is_ok()
        }));
        assert!(made.is_err() && !world.has::<Letter>(e[0]));

        let batch = catch_unwind(AssertUnwindSafe(|| {
            world.spawn_batch((0..5).map(|n| if n < 3 { Letter('a') } else { panic!("enough") }));
        }));
        assert!(batch.is_err());
        assert_eq!((world.len(), world.pool::<Letter>().len()), (5, 3));
        world.verify().unwrap();
    }

    #[test]
    fn walks_give_entity_and_value_and_write_through() {
        // EnTT 102.
        let (world, e) = numbered(4);

        let mut pool = world.pool_mut::<Number>();
        for (entity, number) in pool.iter_mut() {
            number.0 += 10 * entity.index() as i32;
        }

        let seen: Vec<(Entity, i32)> = pool.iter().map(|(entity, n)| (entity, n.0)).collect();
        assert_eq!(seen, [(e[0], 0), (e[1], 11), (e[2], 22), (e[3], 33)]);
        let reversed: Vec<i32> = pool.as_slice().iter().rev().map(|n| n.0).collect();
        assert_eq!(reversed, [33, 22, 11, 0]);
    }

    #[test]
    fn tags_are_components_like_others_without_values_to_keep() {
        // EnTT 103.
        let mut world = World::new();
        let e = world.spawn((Tag, Number(1)));

        assert_eq!(world.patch(e, |_: &mut Tag| 5), Ok(5));
        let seen: Vec<Entity> = world.query::<(Entity, &Tag)>().iter().map(|(e, _)| e).collect();

        assert_eq!(seen, [e]);
        assert_eq!(world.pool::<Tag>().as_slice(), [Tag]);
        assert_eq!(world.memory_report().pools[0].memory.values, 0);
    }

    #[test]
    fn every_component_is_dropped_exactly_once() {
        // EnTT 105.
        #[derive(Component)]
        struct Counted(#[expect(dead_code, reason = "counts itself by being alive")] Arc<()>);
        let ledger = Arc::new(());
        let alive = || Arc::strong_count(&ledger) - 1;
        let mut world = World::new();
        let batch = (0..10).map(|_| Counted(Arc::clone(&ledger)));
        let e: Vec<Entity> = world.spawn_batch(batch).collect();

        drop(world.remove::<Counted>(e[0]).unwrap());
        assert_eq!(alive(), 9);
        world.despawn(e[1]).unwrap();
        assert_eq!(alive(), 8);
        world.insert(e[2], Counted(Arc::clone(&ledger))).unwrap();
        assert_eq!(alive(), 8);
        world.pool_mut::<Counted>().retain(|entity, _| entity != e[3]);
        assert_eq!(alive(), 7);
        world.clear_pool::<Counted>();
        assert_eq!(alive(), 0);
        world.insert(e[4], Counted(Arc::clone(&ledger))).unwrap();
        world.clear();
        assert_eq!(alive(), 0);
        world.spawn(Counted(Arc::clone(&ledger)));
        drop(world);
        assert_eq!(alive(), 0);
    }
}

mod entity_lists {
    use super::*;

    #[test]
    fn only_the_living_are_listed() {
        // EnTT 106, 109.
        let (mut world, e) = numbered(4);
        world.despawn(e[0]).unwrap();
        world.despawn(e[2]).unwrap();

        let living = world.entities();
        assert_eq!(living.len(), 2);
        assert_eq!(living.collect::<Vec<_>>(), [e[1], e[3]]);
        assert!(world.get::<Number>(e[0]).is_none());
        assert!(world.entity(e[0]).is_err());
    }

    #[test]
    fn a_query_for_entities_alone_meets_all_the_living() {
        // EnTT 108.
        let (mut world, e) = numbered(4);
        world.remove::<Number>(e[3]).unwrap();
        world.despawn(e[1]).unwrap();

        let query = world.query::<Entity>();

        assert_eq!(query.count(), 3);
        assert!(query.contains(e[3]) && !query.contains(e[1]));
        assert_eq!(query.iter().collect::<Vec<_>>(), [e[0], e[2], e[3]]);
    }
}

mod handles_and_context {
    use super::*;

    #[test]
    fn despawning_through_a_handle_ends_the_handle() {
        // EnTT 175.
        let (mut world, e) = numbered(1);

        world.entity_mut(e[0]).unwrap().despawn();

        assert!(!world.is_alive(e[0]));
        assert!(world.entity_mut(e[0]).is_err());
    }

    #[test]
    fn handles_of_two_worlds_tell_equal_ids_apart_by_their_world() {
        // EnTT 176.
        let (a, ids_of_a) = numbered(1);
        let (b, ids_of_b) = numbered(1);

        let (in_a, in_b) = (a.entity(ids_of_a[0]).unwrap(), b.entity(ids_of_b[0]).unwrap());

        assert_eq!(in_a.id(), in_b.id());
        assert!(!std::ptr::eq(in_a.world(), in_b.world()));
    }

    #[test]
    fn a_handle_lists_exactly_what_the_entity_has() {
        // EnTT 177.
        let mut world = World::new();
        world.spawn(Letter('x'));
        let e = world.spawn((Tag, Number(1)));

        let names: Vec<&str> = world.entity(e).unwrap().component_names().collect();

        assert_eq!(names.len(), 2);
        assert!(names[0].ends_with("Tag") && names[1].ends_with("Number"), "{names:?}");
    }

    #[test]
    fn dropping_a_handle_does_nothing() {
        // EnTT 179.
        let (mut world, e) = numbered(1);

        let _ = world.entity(e[0]).unwrap();
        let _ = world.entity_mut(e[0]).unwrap();

        assert!(world.has::<Number>(e[0]));
    }

    #[test]
    fn the_owner_of_a_value_is_at_the_same_position() {
        // EnTT 180.
        let (mut world, e) = numbered(5000);
        world.despawn(e[17]).unwrap();
        let pool = world.pool::<Number>();

        let at = pool.as_slice().iter().position(|number| number.0 == 4711).unwrap();
        assert_eq!(pool.entities()[at], e[4711]);
        assert!(pool.as_slice().iter().all(|number| number.0 != 17));
        assert_eq!(pool.iter().filter(|(entity, n)| entity.index() as i32 == n.0).count(), 4999);
    }

    #[test]
    fn a_resource_is_kept_or_overwritten_as_asked() {
        // EnTT 181: names become types of their own.
        struct Other(u32);
        let mut world = World::new();

        *world.resource_or_insert_with(|| 1_u32) += 1;
        assert_eq!(*world.resource_or_insert_with(|| 100_u32), 2);
        assert_eq!(world.insert_resource(5_u32), Some(2));
        world.insert_resource(Other(6));

        assert!(world.has_resource::<u32>() && !world.has_resource::<i32>());
        assert_eq!(world.remove_resource::<u32>(), Some(5));
        assert_eq!(world.remove_resource::<u32>(), None);
        assert!(world.get_resource::<u32>().is_none());
        assert_eq!(world.resource::<Other>().0, 6);
    }

    #[test]
    fn resources_are_still_there_while_components_are_dropped() {
        // EnTT 183.
        struct Noted(&'static str, Arc<Mutex<Vec<&'static str>>>);
        impl Drop for Noted {
            fn drop(&mut self) {
                self.1.lock().unwrap().push(self.0);
            }
        }
        #[derive(Component)]
        struct Part(#[expect(dead_code, reason = "its drop is what counts")] Noted);
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut world = World::new();
        world.insert_resource(Noted("resource", Arc::clone(&log)));
        world.spawn(Part(Noted("component", Arc::clone(&log))));

        drop(world);

        assert_eq!(*log.lock().unwrap(), ["component", "resource"]);
    }
}
