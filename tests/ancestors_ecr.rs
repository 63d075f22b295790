//! What ECR's own tests pin, asked of Esker: behaviours 1–33, 54 and 55 of its list.
//!
//! A number in a comment (`// ECR 6`) names the behaviour. What falls away or is decided
//! otherwise:
//!
//! | numbers | why |
//! |---|---|
//! | 2 (first version is 1) | versions count from 0 |
//! | 8, 13 and 14 (null) | a null id cannot be written; `Option<Entity>` takes its place |
//! | 9, 12 (65,534 keys) | the same with limits that a test can reach: there are four billion indices |
//! | 13 (plain integers) | an integer is no `Entity`; `try_from_bits` refuses what no world gives out |
//! | 15, 16 (max → 1) | versions never start again: a spent index is retired |
//! | 17, 24 (constructors of a component type) | the value, or the closure that makes it, is given at the call |
//! | 17, 19, 24 (constructors or functions that yield nothing) | a closure of type `FnOnce() -> T` yields a `T` |
//! | 28 (error on invalid id) | questions answer `false` for the dead |
//! | 30 | copying one component type to another needs them to be of one type, which here they are not; map the values and insert them |
//! | 54 (same object, collectable) | handles are borrows, not objects |
//! | 55 (context entity) | resources belong to the world and not to an entity: no query counts them and `clear` leaves them |

#![cfg(feature = "derive")]

use std::collections::HashSet;

use esker::entity::{NoSuchEntity, SpawnAtError};
use esker::prelude::*;
use esker::world::ComponentError;

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct A(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct B(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Tag;

fn id(index: u32, version: u32) -> Entity {
    Entity::new(index, version).unwrap()
}

fn spawn_n(world: &mut World, n: usize) -> Vec<Entity> {
    (0..n).map(|_| world.spawn(())).collect()
}

/// A fixed permutation of `0..n`; `n` and `step` have no common divisor.
fn shuffled(n: usize, step: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |i| (i * step + 3) % n)
}

mod ids {
    use super::*;

    #[test]
    fn no_id_is_given_out_twice() {
        // ECR 1, 2.
        let mut world = World::new();
        let mut seen = HashSet::new();

        for cycle in 0..20 {
            let ids = spawn_n(&mut world, 500);
            assert!(ids.iter().all(|&e| seen.insert(e)));
            assert!(ids.iter().all(|e| e.version() == cycle));
            for at in shuffled(500, 7) {
                world.despawn(ids[at]).unwrap();
            }
        }

        assert_eq!(seen.len(), 10_000);
    }

    #[test]
    fn the_version_advances_at_death() {
        // ECR 2: seen from the id that is reserved, not yet spawned.
        let mut world = World::new();
        let e = world.spawn(());
        world.despawn(e).unwrap();

        assert_eq!(world.reserve_entity(), Ok(id(0, 1)));
    }

    #[test]
    fn ids_of_another_world_can_all_be_demanded_in_any_order() {
        // ECR 3.
        let mut source = World::new();
        let first = spawn_n(&mut source, 1000);
        for at in (0..1000).step_by(3) {
            source.despawn(first[at]).unwrap();
        }
        spawn_n(&mut source, 100);
        let ids: Vec<Entity> = source.entities().collect();

        let mut copy = World::new();
        for at in shuffled(ids.len(), 11) {
            copy.spawn_at(ids[at], ()).unwrap();
        }

        assert_eq!(copy.entities().collect::<Vec<_>>(), ids);
        copy.verify().unwrap();
    }

    #[test]
    fn free_ids_step_over_demanded_ones() {
        // ECR 4.
        let mut world = World::new();
        world.spawn_at(id(2, 0), ()).unwrap();

        assert_eq!(spawn_n(&mut world, 3), [id(0, 0), id(1, 0), id(3, 0)]);
    }

    #[test]
    fn a_dead_id_can_be_demanded_again_with_its_old_version() {
        // ECR 5.
        let mut world = World::new();
        let e = spawn_n(&mut world, 2);
        world.despawn(e[0]).unwrap();

        world.spawn_at(e[0], A(1)).unwrap();

        assert_eq!(world.get::<A>(e[0]).unwrap().0, 1);
        world.verify().unwrap();
        world.despawn(e[0]).unwrap();
        assert_eq!(world.spawn(()), id(0, 1), "what is given out stays ahead");
    }

    #[test]
    fn demands_from_head_middle_and_tail_leave_the_free_list_sound() {
        // ECR 6.
        for demanded in [vec![4], vec![2], vec![0], vec![0, 4], vec![1, 2, 3], vec![4, 3]] {
            let mut world = World::new();
            for e in spawn_n(&mut world, 5) {
                world.despawn(e).unwrap();
            }

            for &index in &demanded {
                world.spawn_at(id(index, 1), ()).unwrap();
                world.verify().unwrap();
            }
            let rest = spawn_n(&mut world, 5 - demanded.len());

            let expected: Vec<Entity> =
                (0..5).rev().filter(|index| !demanded.contains(index)).map(|i| id(i, 1)).collect();
            assert_eq!(rest, expected, "demanded {demanded:?}");
            world.verify().unwrap();
        }
    }

    #[test]
    fn a_demand_for_an_index_in_use_says_who_lives_there() {
        // ECR 7.
        let mut world = World::new();
        let e = world.spawn(());

        let same = world.spawn_at(e, ()).unwrap_err();
        let other = world.spawn_at(id(0, 5), ()).unwrap_err();

        assert_eq!(other, SpawnAtError::Taken { demanded: id(0, 5), living: e });
        assert!(same.to_string().starts_with("entity 0v0 is alive already"), "{same}");
        assert!(other.to_string().contains("0v0 lives at its index"), "{other}");
        assert_eq!(world.len(), 1);
    }

    #[test]
    fn after_the_last_index_the_next_spawn_is_an_error() {
        // ECR 9.
        let mut world = World::builder().entity_limit(500).build();
        let e = spawn_n(&mut world, 500);

        let error = world.try_spawn(()).unwrap_err();

        assert!(error.to_string().contains("500"), "{error}");
        world.despawn(e[250]).unwrap();
        assert_eq!(world.try_spawn(()), Ok(id(250, 1)));
    }

    #[test]
    fn ranges_that_do_not_overlap_share_no_index() {
        // ECR 10.
        let mut server = World::builder().entity_range(0..50).build();
        let mut client = World::builder().entity_range(50..80).build();

        let ours: HashSet<u32> = spawn_n(&mut server, 50).iter().map(|e| e.index()).collect();
        let theirs: HashSet<u32> = spawn_n(&mut client, 30).iter().map(|e| e.index()).collect();

        assert!(ours.is_disjoint(&theirs));
        assert!(server.try_spawn(()).is_err() && client.try_spawn(()).is_err());
    }

    #[test]
    fn a_foreign_id_can_be_demanded_and_its_death_frees_nothing() {
        // ECR 11.
        let mut client = World::builder().entity_range(10..11).build();
        let own = client.spawn(());
        client.spawn_at(id(3, 0), Tag).unwrap();
        client.spawn_at(id(500_000, 9), Tag).unwrap();

        client.despawn(id(3, 0)).unwrap();

        assert!(client.try_spawn(()).is_err());
        assert!(client.spawn_at(id(3, 0), ()).is_ok());
        client.despawn(own).unwrap();
        assert_eq!(client.spawn(()), id(10, 1));
        client.verify().unwrap();
    }

    #[test]
    fn a_range_of_one_index_works_and_one_of_none_gives_nothing() {
        // ECR 12.
        let mut one = World::builder().entity_range(7..8).build();
        let mut none = World::builder().entity_range(7..7).build();

        assert_eq!(one.try_spawn(()), Ok(id(7, 0)));
        assert!(one.try_spawn(()).is_err());
        assert!(none.try_spawn(()).is_err());
    }

    #[test]
    #[should_panic(expected = "ends before it starts")]
    #[expect(clippy::reversed_empty_ranges, reason = "that is the point")]
    fn a_range_that_ends_before_it_starts_is_refused() {
        // ECR 12.
        World::builder().entity_range(8..7).build();
    }

    #[test]
    fn alive_are_those_spawned_and_not_yet_dead() {
        // ECR 13, 14.
        let mut world = World::new();
        let e = world.spawn(());
        assert!(world.is_alive(e));

        world.despawn(e).unwrap();
        assert!(!world.is_alive(e));
        let recycled = world.spawn(());
        assert!(world.is_alive(recycled) && !world.is_alive(e));
        for never in [id(5, 0), id(0, 9), id(Entity::MAX_INDEX, 0)] {
            assert!(!world.is_alive(never));
            assert_eq!(world.despawn(never), Err(NoSuchEntity { entity: never }));
        }
    }

    #[test]
    fn spent_versions_retire_the_index() {
        // ECR 15, 16.
        let mut world = World::builder().entity_limit(2).last_version(2).build();
        for version in 0..=2 {
            let e = world.spawn(());
            assert_eq!(e, id(0, version));
            world.despawn(e).unwrap();
        }

        assert_eq!(world.spawn(()), id(1, 0));
        assert!(world.try_spawn(()).is_err());
        world.verify().unwrap();
    }

    #[test]
    fn clear_advances_the_version_of_every_living_index_by_one() {
        // ECR 16.
        let mut world = World::new();
        let e = spawn_n(&mut world, 3);
        world.despawn(e[1]).unwrap();

        world.clear();

        assert!(e.iter().all(|&entity| !world.is_alive(entity)));
        assert_eq!(spawn_n(&mut world, 3), [id(0, 1), id(1, 1), id(2, 1)]);
    }
}

mod components {
    use super::*;

    #[test]
    fn a_value_is_made_once_and_kept() {
        // ECR 17.
        let mut world = World::new();
        let e = world.spawn(());
        let mut made = 0;

        for _ in 0..3 {
            world
                .get_or_insert_with(e, || {
                    made += 1;
                    A(made)
                })
                .unwrap();
        }

        assert_eq!((made, world.get::<A>(e).unwrap().0), (1, 1));
    }

    /// What every call that changes an entity answers to a stale id.
    #[track_caller]
    fn all_changes_are_refused(world: &mut World, stale: Entity) {
        assert_eq!(world.insert(stale, A(9)), Err(NoSuchEntity { entity: stale }));
        assert!(matches!(world.try_add(stale, A(9)), Err(ComponentError::Dead(_))));
        assert!(matches!(world.replace(stale, A(9)), Err(ComponentError::Dead(_))));
        let patched = world.patch(stale, |_: &mut A| unreachable!("nobody to patch"));
        assert!(matches!(patched, Err(ComponentError::Dead(_))));
        assert!(
            world.get_or_insert_with::<A>(stale, || unreachable!("nobody to give it")).is_err()
        );
        assert!(world.remove::<A>(stale).is_err() && world.take::<A>(stale).is_err());
        assert!(world.entity_mut(stale).is_err());
        world.register::<A>();
        assert!(world.pool_mut::<A>().insert(stale, A(9)).is_err());
        assert_eq!(world.pool_mut::<A>().remove(stale), None);
        assert!(world.locked::<A>().insert(stale, A(9)).is_err());
        world.verify().unwrap();
    }

    #[test]
    fn changes_through_a_stale_id_are_refused_whoever_has_its_index() {
        // ECR 18, 25.
        let mut world = World::new();
        let stale = world.spawn(A(1));
        world.despawn(stale).unwrap();
        all_changes_are_refused(&mut world, stale);

        let successor = world.spawn(());
        all_changes_are_refused(&mut world, stale);
        assert!(world.is_orphan(successor));

        world.insert(successor, A(2)).unwrap();
        all_changes_are_refused(&mut world, stale);
        assert_eq!(world.get::<A>(successor).unwrap().0, 2);
    }

    #[test]
    fn insert_adds_and_then_changes() {
        // ECR 19.
        let mut world = World::new();
        let e = world.spawn(Tag);

        world.insert(e, A(1)).unwrap();
        world.insert(e, (A(2), Tag)).unwrap();

        assert_eq!(world.get::<A>(e).unwrap().0, 2);
        assert_eq!((world.pool::<A>().len(), world.pool::<Tag>().len()), (1, 1));
    }

    #[test]
    fn several_values_are_had_together_or_not_at_all() {
        // ECR 20, 21, 22.
        let mut world = World::new();
        let both = world.spawn((A(1), B(2)));
        let one = world.spawn(A(3));
        let stale = world.spawn((A(4), B(5)));
        world.despawn(stale).unwrap();
        let successor = world.spawn((A(6), B(7)));

        let query = world.query::<(&A, &B)>();
        assert_eq!(query.get(both), Some((&A(1), &B(2))));
        assert_eq!(query.get(one), None);
        assert_eq!(query.get(stale), None);
        assert_eq!(query.get(successor), Some((&A(6), &B(7))));
        drop(query);

        assert!(world.get::<A>(stale).is_none() && world.get_mut::<A>(stale).is_none());
        assert!(world.has::<(A, B)>(both) && !world.has::<(A, B)>(one));
        assert!(!world.has::<A>(stale) && !world.has_any::<(A, B)>(stale));
    }

    #[test]
    fn a_list_component_is_made_with_its_first_element() {
        // ECR 23.
        #[derive(Component, Default)]
        struct List(Vec<u32>);
        let mut world = World::new();
        let e = world.spawn(());

        for n in 1..=3 {
            world.get_or_insert_with(e, List::default).unwrap().0.push(n);
        }

        assert_eq!(world.get::<List>(e).unwrap().0, [1, 2, 3]);
    }

    #[test]
    fn patch_changes_what_is_there_and_returns_what_the_closure_returns() {
        // ECR 24.
        let mut world = World::new();
        let e = world.spawn(A(1));

        assert_eq!(
            world.patch(e, |a: &mut A| {
                a.0 += 1;
                a.0
            }),
            Ok(2)
        );
        let missing = world.patch(e, |_: &mut B| ()).unwrap_err();

        assert!(missing.to_string().contains("0v0 has no `"), "{missing}");
        assert!(!world.has::<B>(e));
    }

    #[test]
    fn removing_leaves_all_others_with_their_values() {
        // ECR 25.
        let mut world = World::new();
        let e: Vec<Entity> = world.spawn_batch((0..100).map(|n| (A(n), B(n)))).collect();

        for at in shuffled(100, 7).take(60) {
            let (a, b) = world.remove::<(A, B)>(e[at]).unwrap();
            assert_eq!((a, b), (Some(A(at as u32)), Some(B(at as u32))));
        }

        assert_eq!(world.pool::<A>().len(), 40);
        for (entity, a, b) in world.query::<(Entity, &A, &B)>().iter() {
            assert_eq!([a.0, b.0], [entity.index(); 2]);
        }
    }

    #[test]
    fn an_entity_is_found_by_its_value() {
        // ECR 26.
        let mut world = World::new();
        let e: Vec<Entity> = world.spawn_batch([A(1), A(2), A(2)]).collect();
        let find = |world: &World, value: A| {
            let pool = world.pool::<A>();
            pool.iter().find(|(_, a)| **a == value).map(|(entity, _)| entity)
        };

        assert_eq!(find(&world, A(2)), Some(e[1]));
        assert_eq!(find(&world, A(7)), None);
        world.clear_pool::<A>();
        assert_eq!(find(&world, A(2)), None);
    }

    #[test]
    fn clearing_pools_lets_the_entities_live_on() {
        // ECR 27.
        let mut world = World::new();
        let e: Vec<Entity> = world.spawn_batch((0..10).map(|n| (A(n), B(n), Tag))).collect();

        world.clear_pool::<A>();
        assert!(e.iter().all(|&entity| !world.has::<A>(entity) && world.has::<(B, Tag)>(entity)));
        world.clear_pool::<B>();
        world.clear_pool::<Tag>();

        assert!(e.iter().all(|&entity| world.is_orphan(entity)));
        world.verify().unwrap();
    }

    #[test]
    fn whoever_has_nothing_is_an_orphan() {
        // ECR 28.
        let mut world = World::new();
        let e = world.spawn(());
        assert!(world.is_orphan(e));

        world.insert(e, (A(1), B(1))).unwrap();
        world.remove::<A>(e).unwrap();
        assert!(!world.is_orphan(e));
        world.remove::<B>(e).unwrap();
        assert!(world.is_orphan(e));
        world.despawn(e).unwrap();
        assert!(!world.is_orphan(e));
    }

    #[test]
    fn death_takes_all_components() {
        // ECR 29.
        let mut world = World::new();
        let e = world.spawn((A(1), B(2), Tag));
        let other = world.spawn((A(3), B(4), Tag));

        world.despawn(e).unwrap();

        assert_eq!(world.pool::<A>().entities(), [other]);
        assert_eq!(world.pool::<B>().entities(), [other]);
        assert_eq!(world.pool::<Tag>().entities(), [other]);
    }

    #[test]
    fn entities_and_values_of_a_pool_are_in_one_order() {
        // ECR 31.
        let mut world = World::new();
        let e: Vec<Entity> = world.spawn_batch((0..50).map(A)).collect();
        world.spawn(B(1));
        world.despawn_batch([e[3], e[49], e[0]]);

        let pool = world.pool::<A>();
        assert!(pool.entities().iter().zip(pool.as_slice()).all(|(e, a)| e.index() == a.0));
        let report = world.memory_report();
        assert_eq!(report.pools.iter().map(|pool| pool.len).collect::<Vec<_>>(), [47, 1]);
    }

    #[test]
    fn component_ids_are_unique_and_names_are_in_messages() {
        // ECR 32.
        let mut world = World::new();
        let (a, b) = (world.register::<A>(), world.register::<B>());
        assert_ne!(a, b);
        assert_eq!((world.register::<A>(), world.component_id::<B>()), (a, Some(b)));

        let e = world.spawn(A(1));
        let twice = world.try_add(e, A(2)).unwrap_err().to_string();
        let guard = world.pool_mut::<A>();
        let conflict = world.try_get::<A>(e).unwrap_err().to_string();
        drop(guard);

        assert_eq!(world.component_ids(e).collect::<Vec<_>>(), [a]);
        let name = std::any::type_name::<A>();
        assert_eq!(world.component_names(e).collect::<Vec<_>>(), [name]);
        assert!(twice.contains(name) && twice.contains("0v0"), "{twice}");
        assert!(conflict.contains(name), "{conflict}");
    }

    #[test]
    fn tags_mix_with_values_at_any_place() {
        // ECR 33.
        let mut world = World::new();
        let e = world.spawn((Tag, A(1)));
        world.spawn((A(2), B(3), Tag));
        world.spawn((A(4), B(5)));

        assert!(world.has::<Tag>(e));
        let middle: Vec<(u32, u32)> =
            world.query::<(&A, &Tag, &B)>().iter().map(|(a, _, b)| (a.0, b.0)).collect();
        let front: Vec<u32> = world.query::<(&Tag, &A)>().iter().map(|(_, a)| a.0).collect();

        assert_eq!((middle, front), (vec![(2, 3)], vec![1, 2]));
        assert_eq!(world.remove::<Tag>(e), Ok(Some(Tag)));
        assert!(!world.has::<Tag>(e));
    }
}

mod handles_and_context {
    use super::*;

    #[test]
    fn a_handle_is_an_entity_with_its_world() {
        // ECR 54.
        let mut world = World::new();
        let e = world.spawn_empty();

        let mut handle = world.entity_mut(e).unwrap();
        handle.insert(A(1)).insert(Tag).get_mut::<A>().unwrap().0 = 5;

        assert_eq!(handle.id(), e);
        assert!(handle.as_ref().has::<(A, Tag)>());
        assert_eq!(handle.take::<A>(), Some(A(5)));
        assert_eq!(handle.into_world().len(), 1);
    }

    #[test]
    fn resources_stand_beside_the_entities() {
        // ECR 55.
        let mut world = World::new();
        assert!(!world.has_resource::<A>() && world.get_resource::<A>().is_none());

        world.insert_resource(A(1));
        let e = world.spawn(A(2));
        assert_eq!(world.query::<&A>().count(), 1);
        assert_eq!((world.resource::<A>().0, world.get::<A>(e).unwrap().0), (1, 2));
        world.clear();

        assert!(world.is_empty());
        assert_eq!(world.resource::<A>().0, 1);
    }
}
