//! What the tests of R-Type ECS and of ECST pin, asked of Esker: RTE 1–17 and 24, ECST 18.
//!
//! A number in a comment (`// RTE 6`) names the behaviour. What falls away or is decided
//! otherwise:
//!
//! | numbers | why |
//! |---|---|
//! | RTE 1 and 5 (truncation, null) | halves that do not fit make no id; `Option<Entity>` is the null |
//! | RTE 1 (order by raw value) | ids are ordered by index, then version |
//! | RTE 3 (no-op) | killing the dead is `Err(NoSuchEntity)`, which may be ignored |
//! | RTE 8, 10, 13 and 24 (throws) | an error or `None`; `resource` panics, `try_resource` does not |
//! | RTE 8 (arguments) | values are built by the caller |

#![cfg(feature = "derive")]

use std::collections::HashSet;
use std::sync::Arc;

use esker::prelude::*;
use esker::sparse::{HashedMap, SparseMap, SparseSet};
use esker::storage::EntityMap;
use esker::world::{ComponentError, ResourceError};

#[derive(Component, Debug, Clone, PartialEq, Default)]
struct Name(String);

#[derive(Component, Debug, Clone, Copy, PartialEq, Default)]
struct Health(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq, Default)]
struct Tag;

fn id(index: u32, version: u32) -> Entity {
    Entity::new(index, version).unwrap()
}

mod ids {
    use super::*;

    #[test]
    fn an_id_packs_two_halves_has_an_order_and_is_a_key() {
        // RTE 1.
        let e = id(5, 2);
        assert_eq!(e.to_bits(), 2 << 32 | 5);
        assert_eq!(Entity::try_from_bits(u64::MAX), None);
        assert!(Entity::try_from_bits(0).is_some());

        let mut sorted = [id(1, 0), id(0, 9), id(1, 1), id(0, 0)];
        sorted.sort();

        assert_eq!(sorted, [id(0, 0), id(0, 9), id(1, 0), id(1, 1)]);
        assert_eq!(sorted.into_iter().chain(sorted).collect::<HashSet<_>>().len(), 4);
    }

    #[test]
    fn spawned_indices_are_consecutive_and_reserving_room_does_not_change_them() {
        // RTE 2.
        let mut plain = World::new();
        let mut roomy = World::new();
        roomy.reserve(10_000);

        for index in 0..5000 {
            assert_eq!(plain.spawn(()), id(index, 0));
            assert_eq!(roomy.spawn(()), id(index, 0));
        }
    }

    #[test]
    fn killing_twice_or_a_stranger_changes_nothing() {
        // RTE 3, 5.
        let mut world = World::new();
        let e = world.spawn(Tag);
        let other = world.spawn(Tag);
        world.despawn(e).unwrap();

        for stranger in [e, id(0, 7), id(99, 0), id(Entity::MAX_INDEX, Entity::MAX_VERSION)] {
            assert!(world.despawn(stranger).is_err());
            assert!(!world.is_alive(stranger));
        }

        assert_eq!(world.entities().collect::<Vec<_>>(), [other]);
        world.verify().unwrap();
    }

    #[test]
    fn versions_rise_over_many_lives_of_one_index() {
        // RTE 4.
        let mut world = World::new();
        let mut old = Vec::new();

        for version in 0..1000 {
            let e = world.spawn(());
            assert_eq!(e, id(0, version));
            world.despawn(e).unwrap();
            old.push(e);
        }

        let last = world.spawn(());
        assert_eq!(last.version(), 1000);
        assert!(old.iter().all(|&e| !world.is_alive(e)));
    }

    #[test]
    fn exactly_those_that_meet_a_condition_die_and_are_counted() {
        // RTE 6.
        let mut world = World::new();
        world.spawn_batch((0..10).map(Health));

        let weak: Vec<Entity> = {
            let query = world.query::<(Entity, &Health)>();
            query.iter().filter(|(_, health)| health.0 < 4).map(|(e, _)| e).collect()
        };
        assert_eq!(world.despawn_batch(weak), 4);

        assert_eq!(world.len(), 6);
        assert!(world.pool::<Health>().as_slice().iter().all(|health| health.0 >= 4));
    }

    #[test]
    fn ids_reserved_by_several_threads_are_unique_and_come_to_life() {
        // RTE 7.
        let mut world = World::new();
        let first: Vec<Entity> = (0..100).map(|_| world.spawn(())).collect();
        world.despawn_batch(first.iter().copied().step_by(2));

        let reserved: Vec<Entity> = std::thread::scope(|scope| {
            let reserve = || (0..250).map(|_| world.reserve_entity().unwrap()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(reserve)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });

        assert_eq!(reserved.iter().collect::<HashSet<_>>().len(), 1000);
        assert!(reserved.iter().all(|&e| !world.is_alive(e)));
        world.settle();
        assert!(reserved.iter().all(|&e| world.is_alive(e)));
        assert_eq!(world.len(), 1050);
        world.verify().unwrap();
    }
}

mod components {
    use super::*;

    #[test]
    fn values_of_every_kind_are_inserted_and_a_second_one_replaces() {
        // RTE 8.
        let mut world = World::new();
        let e = world.spawn((Health::default(), Name("Ann".into()), Tag));

        world.insert(e, Name("Bob".into())).unwrap();

        assert_eq!(world.get::<Name>(e).unwrap().0, "Bob");
        assert_eq!(world.pool::<Name>().len(), 1);
        world.despawn(e).unwrap();
        assert!(world.insert(e, Tag).is_err());
    }

    #[test]
    fn get_or_insert_with_makes_once_and_then_returns_the_same_value() {
        // RTE 9.
        let mut world = World::new();
        let e = world.spawn(());

        let first = std::ptr::from_mut(world.get_or_insert_with(e, || Health(1)).unwrap());
        let again = world.get_or_insert_with(e, || Health(2)).unwrap();

        assert_eq!(*again, Health(1));
        assert!(std::ptr::eq(first, again));
    }

    #[test]
    fn missing_and_dead_give_nothing() {
        // RTE 10.
        let mut world = World::new();
        let bare = world.spawn(());
        let dead = world.spawn(Health(3));
        let alive = world.spawn(Health(4));
        world.despawn(dead).unwrap();

        for e in [bare, dead] {
            assert!(!world.has::<Health>(e));
            assert!(world.get::<Health>(e).is_none());
            assert!(world.get_mut::<Health>(e).is_none());
        }
        let shared: &World = &world;
        assert_eq!(*shared.get::<Health>(alive).unwrap(), Health(4));
    }

    #[test]
    fn removing_what_is_missing_is_harmless_and_what_is_there_is_dropped() {
        // RTE 11.
        #[derive(Component)]
        struct Shared(#[expect(dead_code, reason = "counts itself by being alive")] Arc<()>);
        let count = Arc::new(());
        let mut world = World::new();
        let e = world.spawn((Shared(Arc::clone(&count)), Health(1)));
        let bare = world.spawn(Health(2));

        assert!(world.remove::<Shared>(bare).unwrap().is_none());
        drop(world.remove::<Shared>(e).unwrap());

        assert_eq!(Arc::strong_count(&count), 1);
        assert_eq!(world.pool::<Health>().as_slice(), [Health(1), Health(2)]);
    }

    #[test]
    fn clearing_a_pool_concerns_one_type_and_all_entities() {
        // RTE 12.
        let mut world = World::new();
        world.clear_pool::<Health>();
        world.spawn_batch((0..5).map(|n| (Health(n), Tag)));
        assert_eq!(world.pool::<Health>().len(), 5);

        world.clear_pool::<Health>();

        assert_eq!((world.pool::<Health>().len(), world.pool::<Tag>().len()), (0, 5));
        world.clear_pool::<Health>();
        let e = world.spawn(Health(1));
        assert_eq!(world.pool::<Health>().len(), 1);
        world.remove::<Health>(e).unwrap();
        assert!(world.pool::<Health>().is_empty());
    }

    #[test]
    fn patch_changes_and_is_refused_for_missing_and_dead() {
        // RTE 13.
        let mut world = World::new();
        let e = world.spawn(Health(1));
        let bare = world.spawn(());

        world.patch(e, |health: &mut Health| health.0 += 1).unwrap();
        assert_eq!(*world.get::<Health>(e).unwrap(), Health(2));
        let missing = world.patch(bare, |_: &mut Health| ());
        world.despawn(e).unwrap();
        let dead = world.patch(e, |_: &mut Health| ());

        assert!(matches!(missing, Err(ComponentError::Missing { .. })));
        assert!(matches!(dead, Err(ComponentError::Dead(_))));
    }

    #[test]
    fn an_entity_names_its_components() {
        // RTE 14.
        let mut world = World::new();
        let e = world.spawn((Tag, Health(1)));
        let bare = world.spawn(());

        assert_eq!(world.component_names(e).count(), 2);
        assert!(world.component_names(e).any(|name| name.ends_with("::Health")));
        assert_eq!(world.component_names(bare).count(), 0);
        world.despawn(e).unwrap();
        assert_eq!(world.component_names(e).count(), 0);
    }

    #[test]
    fn death_empties_all_pools_of_the_entity() {
        // RTE 15.
        let mut world = World::new();
        let e = world.spawn((Tag, Health(1), Name::default()));

        world.despawn(e).unwrap();

        assert!(world.memory_report().pools.iter().all(|pool| pool.len == 0));
        world.verify().unwrap();
    }
}

mod pools {
    use super::*;

    #[test]
    fn pairs_stay_pairs_under_stress_and_far_indices() {
        // RTE 16.
        let mut map: EntityMap<u64> = EntityMap::default();
        let far = |n: u32| id(n.wrapping_mul(2_654_435_761).min(Entity::MAX_INDEX), n % 3);

        for n in 0..300 {
            map.insert(far(n), far(n).to_bits());
        }
        for n in (0..300).filter(|n| n % 3 != 0) {
            assert_eq!(map.remove(far(n)), Some(far(n).to_bits()));
        }

        assert_eq!(map.len(), 100);
        assert!(map.iter().all(|(entity, value)| *value == entity.to_bits()));
        assert_eq!(map.set().check(), Ok(()));
    }

    #[test]
    fn addresses_are_stable_up_to_the_reserved_count() {
        // RTE 17.
        let mut world = World::new();
        world.register::<Health>();
        world.pool_mut::<Health>().reserve(1000);
        let first = world.spawn(Health(7));
        let address = |world: &World| std::ptr::from_ref(&world.pool::<Health>().as_slice()[0]);
        let before = address(&world);

        world.spawn_batch((1..1000).map(Health));

        assert_eq!(address(&world), before);
        assert_eq!(world.get::<Health>(first).unwrap().0, 7);
    }

    #[test]
    fn a_set_takes_each_entity_once() {
        // ECST 18.
        fn check<M: SparseMap>() {
            let mut set = SparseSet::<M>::default();
            assert!(set.is_empty());

            assert!(set.insert(id(10, 0)));
            assert!(!set.insert(id(10, 0)));
            assert!(set.insert(id(1_000_000, 0)));

            assert_eq!(set.len(), 2);
            assert!(set.contains(id(10, 0)) && set.contains(id(1_000_000, 0)));
            assert!(!set.contains(id(11, 0)) && !set.is_empty());
        }

        check::<esker::sparse::PagedMap>();
        check::<HashedMap>();
    }
}

mod resources {
    use super::*;

    #[test]
    fn a_resource_is_set_replaced_read_and_taken() {
        // RTE 24.
        #[derive(Debug, PartialEq)]
        struct Gravity(u32);
        let mut world = World::new();

        assert!(!world.has_resource::<Gravity>());
        assert!(matches!(world.try_resource::<Gravity>(), Err(ResourceError::Absent { .. })));
        assert_eq!(world.insert_resource(Gravity(1)), None);
        assert_eq!(world.insert_resource(Gravity(2)), Some(Gravity(1)));
        world.resource_mut::<Gravity>().0 += 1;

        let e = world.spawn(Tag);
        world.despawn(e).unwrap();
        assert_eq!(*world.resource::<Gravity>(), Gravity(3));
        assert_eq!(world.remove_resource::<Gravity>(), Some(Gravity(3)));
        assert!(!world.has_resource::<Gravity>());
    }

    #[test]
    #[should_panic(expected = "there is no resource")]
    fn a_missing_resource_is_a_panic_that_says_the_remedy() {
        // RTE 24.
        World::new().resource::<String>();
    }
}
