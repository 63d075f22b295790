//! How ids are given out, taken back, demanded, limited and retired, step by step.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use esker::entity::{Entities, OutOfEntities, SpawnAtError};
use esker::prelude::*;

fn id(index: u32, version: u32) -> Entity {
    Entity::new(index, version).unwrap()
}

/// Spawns `n` entities and writes their ids down as text.
fn spawn_text(world: &mut World, n: usize) -> Vec<String> {
    (0..n).map(|_| world.spawn(()).to_string()).collect()
}

/// A world in which the indices 0 to `n - 1` are free; the highest comes first.
fn world_of_the_dead(n: u32) -> World {
    let mut world = World::new();
    let entities: Vec<Entity> = (0..n).map(|_| world.spawn(())).collect();
    world.despawn_batch(entities);
    world
}

mod the_walk {
    use super::*;

    #[test]
    fn the_free_list_runs_through_the_slots_last_freed_first_reused() {
        let mut world = World::new();
        assert_eq!(spawn_text(&mut world, 3), ["0v0", "1v0", "2v0"]);

        world.despawn(id(1, 0)).unwrap();
        assert_eq!(spawn_text(&mut world, 1), ["1v1"]);

        for dying in [id(1, 1), id(0, 0), id(2, 0)] {
            world.despawn(dying).unwrap();
            world.verify().unwrap();
        }
        assert_eq!(spawn_text(&mut world, 4), ["2v1", "0v1", "1v2", "3v0"]);
        world.verify().unwrap();
    }

    #[test]
    fn the_same_walk_through_reservations_gives_the_same_ids() {
        let mut world = World::new();
        for expected in [id(0, 0), id(1, 0), id(2, 0)] {
            assert_eq!(world.reserve_entity(), Ok(expected));
        }
        for dying in [id(1, 0), id(0, 0), id(2, 0)] {
            world.despawn(dying).unwrap();
        }

        for expected in [id(2, 1), id(0, 1), id(1, 1), id(3, 0)] {
            assert_eq!(world.reserve_entity(), Ok(expected));
        }
        world.settle();

        assert_eq!(world.len(), 4);
        world.verify().unwrap();
    }

    #[test]
    fn the_book_of_ids_alone_walks_the_same_way() {
        let mut ids = Entities::new();
        let e: Vec<Entity> = (0..3).map(|_| ids.spawn()).collect();
        for dying in [e[1], e[0], e[2]] {
            ids.despawn(dying).unwrap();
        }

        let again: Vec<Entity> = (0..4).map(|_| ids.spawn()).collect();

        assert_eq!(again, [id(2, 1), id(0, 1), id(1, 1), id(3, 0)]);
        assert_eq!(ids.check(), Ok(()));
    }
}

mod retirement {
    use super::*;

    #[test]
    fn an_index_is_never_used_again_after_its_last_version() {
        let mut world = World::builder().last_version(2).build();
        for version in 0..=2 {
            let e = world.spawn(());
            assert_eq!(e, id(0, version));
            world.despawn(e).unwrap();
            world.verify().unwrap();
        }

        assert_eq!(spawn_text(&mut world, 2), ["1v0", "2v0"]);
        assert!((0..=2).all(|version| !world.is_alive(id(0, version))));
        assert_eq!(world.entity_at(0), None);
    }

    #[test]
    fn with_one_version_each_index_lives_once() {
        let mut world = World::builder().last_version(0).build();

        for index in 0..5000 {
            let e = world.spawn(());
            assert_eq!(e, id(index, 0));
            world.despawn(e).unwrap();
        }

        world.verify().unwrap();
    }

    #[test]
    fn a_limited_world_runs_out_when_all_its_indices_are_retired() {
        let mut world = World::builder().entity_limit(3).last_version(1).build();
        let mut seen = HashSet::new();

        while let Ok(e) = world.try_spawn(()) {
            assert!(seen.insert(e));
            world.despawn(e).unwrap();
        }

        assert_eq!(seen.len(), 6);
        assert_eq!(world.try_spawn(()), Err(OutOfEntities { limit: 3 }));
        assert_eq!(world.reserve_entity(), Err(OutOfEntities { limit: 3 }));
        world.verify().unwrap();
    }

    #[test]
    fn clear_retires_too() {
        let mut world = World::builder().entity_limit(2).last_version(1).build();
        for version in 0..=1 {
            assert_eq!(world.spawn(()), id(0, version));
            world.clear();
            world.verify().unwrap();
        }

        assert_eq!(world.spawn(()), id(1, 0), "index 1 was not used before");
        world.clear();
        assert_eq!(world.spawn(()), id(1, 1));
        world.clear();
        assert!(world.try_spawn(()).is_err());
        world.verify().unwrap();
    }

    #[test]
    fn the_highest_version_of_all_dies_and_is_retired() {
        let mut world = World::new();
        let last = id(0, Entity::MAX_VERSION);
        world.spawn_at(last, ()).unwrap();

        world.despawn(last).unwrap();

        assert_eq!(world.spawn(()), id(1, 0));
        world.verify().unwrap();
    }

    #[test]
    fn a_retired_index_can_be_demanded_and_stays_retired() {
        let mut world = World::builder().last_version(0).build();
        let e = world.spawn(());
        world.despawn(e).unwrap();

        for version in [0, 5, 0] {
            world.spawn_at(id(0, version), ()).unwrap();
            world.verify().unwrap();
            world.despawn(id(0, version)).unwrap();
            world.verify().unwrap();
        }

        assert_eq!(world.spawn(()), id(1, 0));
    }

    #[test]
    fn an_index_demanded_out_of_the_free_list_may_die_for_the_last_time_there() {
        // The list 4, 3, 2, 1, 0 loses its head, middle and tail while it runs through them.
        for demanded in [[4, 2, 0], [3, 2, 1], [0, 1, 2], [4, 3, 2]] {
            let mut world = World::builder().last_version(3).build();
            let entities: Vec<Entity> = (0..5).map(|_| world.spawn(())).collect();
            world.despawn_batch(entities);

            for index in demanded {
                world.spawn_at(id(index, 3), ()).unwrap();
            }
            for index in demanded {
                world.despawn(id(index, 3)).unwrap();
                world.verify().unwrap();
            }

            let left: Vec<Entity> =
                (0..5).rev().filter(|index| !demanded.contains(index)).map(|i| id(i, 1)).collect();
            assert_eq!([world.spawn(()), world.spawn(())], left[..], "demanded {demanded:?}");
            assert_eq!(world.spawn(()), id(5, 0));
            world.verify().unwrap();
        }
    }
}

mod ranges_and_limits {
    use super::*;

    #[test]
    fn a_range_is_used_up_and_then_recycled() {
        let mut world = World::builder().entity_range(10..13).build();
        assert_eq!(spawn_text(&mut world, 3), ["10v0", "11v0", "12v0"]);
        assert_eq!(world.try_spawn(()), Err(OutOfEntities { limit: 3 }));

        world.despawn(id(11, 0)).unwrap();

        assert_eq!(spawn_text(&mut world, 1), ["11v1"]);
        assert!(world.try_spawn(()).is_err());
        world.verify().unwrap();
    }

    #[test]
    fn a_limit_inside_a_range_counts_from_its_start() {
        let mut world = World::builder().entity_range(100..200).entity_limit(2).build();

        assert_eq!(spawn_text(&mut world, 2), ["100v0", "101v0"]);
        assert!(world.try_spawn(()).is_err());
        world.verify().unwrap();
    }

    #[test]
    fn a_limit_of_none_lets_nobody_live() {
        let mut world = World::builder().entity_limit(0).build();

        assert!(world.try_spawn(()).is_err() && world.reserve_entity().is_err());
        assert!(world.spawn_at(id(0, 0), ()).is_err());
        world.verify().unwrap();
    }

    #[test]
    fn a_fixed_limit_allocates_its_slots_at_once() {
        let mut world = World::builder().entity_limit(10_000).build();
        let before = world.memory_report().entities;

        for _ in 0..10_000 {
            world.spawn(());
        }

        assert_eq!(world.memory_report().entities, before);
        assert!(before >= 10_000 * 8, "{before} bytes");
    }

    #[test]
    fn reservations_stop_at_the_limit_and_those_made_come_to_life() {
        let mut world = World::builder().entity_limit(3).build();
        world.spawn(());

        assert!(world.reserve_entity().is_ok() && world.reserve_entity().is_ok());
        assert_eq!(world.reserve_entity(), Err(OutOfEntities { limit: 3 }));
        assert!(world.try_spawn(()).is_err(), "reserved ids count");

        assert_eq!(world.len(), 3);
        world.verify().unwrap();
    }

    #[test]
    fn the_top_of_the_index_space_can_be_used() {
        let mut world = World::builder().entity_range(Entity::MAX_INDEX - 2..u32::MAX).build();

        let entities: Vec<Entity> = std::iter::from_fn(|| world.try_spawn(()).ok()).collect();

        assert_eq!(entities, [id(Entity::MAX_INDEX - 2, 0), id(Entity::MAX_INDEX - 1, 0)]);
        assert_eq!(world.entities().collect::<Vec<_>>(), entities);
    }

    #[test]
    fn a_world_with_the_highest_index_can_be_verified_walked_and_cleared() {
        let mut world = World::new();
        let highest = id(Entity::MAX_INDEX, 0);
        world.spawn_at(highest, ()).unwrap();
        world.spawn(());

        assert_eq!(world.entities().collect::<Vec<_>>(), [id(0, 0), highest]);
        world.verify().unwrap();
        world.clear();
        world.verify().unwrap();
        assert!(world.is_empty());
    }

    #[test]
    fn nobody_lives_at_the_index_that_no_id_has() {
        let mut world = World::new();
        assert_eq!(world.entity_at(u32::MAX), None);

        world.spawn_at(id(Entity::MAX_INDEX, 0), ()).unwrap();

        assert_eq!(world.entity_at(u32::MAX), None);
    }

    #[test]
    fn a_batch_beyond_the_limit_keeps_those_that_found_room() {
        let mut world = World::builder().entity_limit(2).build();

        let spawned = catch_unwind(AssertUnwindSafe(|| drop(world.spawn_batch([(); 5]))));

        assert!(spawned.is_err());
        assert_eq!(world.len(), 2);
        world.verify().unwrap();
    }
}

mod demands {
    use super::*;

    #[test]
    fn from_the_head_of_the_free_list() {
        let mut world = world_of_the_dead(4);

        world.spawn_at(id(3, 1), ()).unwrap();

        assert_eq!(spawn_text(&mut world, 4), ["2v1", "1v1", "0v1", "4v0"]);
        world.verify().unwrap();
    }

    #[test]
    fn from_the_middle_of_the_free_list() {
        let mut world = world_of_the_dead(4);

        world.spawn_at(id(1, 1), ()).unwrap();
        world.spawn_at(id(2, 1), ()).unwrap();

        assert_eq!(spawn_text(&mut world, 3), ["3v1", "0v1", "4v0"]);
        world.verify().unwrap();
    }

    #[test]
    fn from_the_tail_of_the_free_list() {
        let mut world = world_of_the_dead(4);

        world.spawn_at(id(0, 1), ()).unwrap();
        world.verify().unwrap();

        assert_eq!(spawn_text(&mut world, 4), ["3v1", "2v1", "1v1", "4v0"]);
        world.verify().unwrap();
    }

    #[test]
    fn of_everything_in_the_free_list() {
        let mut world = world_of_the_dead(3);

        for index in [1, 2, 0] {
            world.spawn_at(id(index, 1), ()).unwrap();
        }

        assert_eq!(world.try_spawn(()), Ok(id(3, 0)), "new indices are left");
        assert_eq!(world.reserve_entity(), Ok(id(4, 0)));
        world.verify().unwrap();
    }

    #[test]
    fn of_the_only_dead_one_by_its_old_id() {
        let mut world = world_of_the_dead(1);

        world.spawn_at(id(0, 0), ()).unwrap();

        assert_eq!(world.try_spawn(()), Ok(id(1, 0)));
    }

    #[test]
    fn reservations_pass_over_the_demanded() {
        let mut world = world_of_the_dead(4);
        world.spawn_at(id(3, 1), ()).unwrap();
        world.spawn_at(id(1, 1), ()).unwrap();

        let reserved: Vec<Entity> = (0..4).map(|_| world.reserve_entity().unwrap()).collect();
        world.settle();

        assert_eq!(reserved, [id(2, 1), id(0, 1), id(4, 0), id(5, 0)]);
        assert_eq!(world.len(), 6);
        world.verify().unwrap();
    }

    #[test]
    fn a_reserved_id_is_taken() {
        let mut world = World::new();
        let reserved = world.reserve_entity().unwrap();

        let demanded = world.spawn_at(id(0, 3), ());

        assert_eq!(demanded, Err(SpawnAtError::Taken { demanded: id(0, 3), living: reserved }));
        assert!(world.is_alive(reserved));
    }

    #[test]
    fn a_demanded_id_that_dies_before_the_list_is_read_that_far_is_free_once() {
        let mut world = world_of_the_dead(3);
        world.spawn_at(id(1, 1), ()).unwrap();

        world.despawn(id(1, 1)).unwrap();
        world.verify().unwrap();

        let mut again = spawn_text(&mut world, 4);
        again.sort();
        assert_eq!(again, ["0v1", "1v2", "2v1", "3v0"]);
        world.verify().unwrap();
    }

    #[test]
    fn of_a_living_index_is_refused_and_drops_the_bundle_only() {
        let mut world = World::new();
        let living = world.spawn(());

        assert!(world.spawn_at(living, ()).is_err());
        assert!(world.spawn_at(id(0, 8), ()).is_err());

        assert_eq!(world.entities().collect::<Vec<_>>(), [living]);
        world.verify().unwrap();
    }

    #[test]
    fn outside_the_range_are_accepted_and_not_given_out_again() {
        let mut world = World::builder().entity_range(10..12).build();
        for stranger in [id(3, 4), id(50_000, 0), id(4_000_000_000, 1)] {
            world.spawn_at(stranger, ()).unwrap();
            world.verify().unwrap();
            world.despawn(stranger).unwrap();
            world.verify().unwrap();
        }

        assert_eq!(spawn_text(&mut world, 2), ["10v0", "11v0"]);
        assert!(world.try_spawn(()).is_err());
        world.spawn_at(id(3, 4), ()).unwrap();
        assert_eq!(world.entities().next(), Some(id(3, 4)));
    }

    #[test]
    fn beyond_a_fixed_limit_are_refused() {
        let mut world = World::builder().entity_limit(10).build();

        let refused = world.spawn_at(id(10, 0), ()).unwrap_err();
        world.spawn_at(id(9, 0), ()).unwrap();

        assert_eq!(refused, SpawnAtError::BeyondLimit { demanded: id(10, 0), limit: 10 });
        assert!(refused.to_string().contains("limit of 10"), "{refused}");
        assert_eq!(world.len(), 1);
    }

    #[test]
    fn of_past_versions_do_not_bring_those_after_them_back() {
        let mut world = World::new();
        for _ in 0..5 {
            let e = world.spawn(());
            world.despawn(e).unwrap();
        }

        for past in [0, 3, 1] {
            world.spawn_at(id(0, past), ()).unwrap();
            world.despawn(id(0, past)).unwrap();
            world.verify().unwrap();
        }

        assert_eq!(world.spawn(()), id(0, 5));
    }

    #[test]
    fn of_future_versions_are_overtaken() {
        let mut world = World::new();
        world.spawn_at(id(0, 10), ()).unwrap();
        world.despawn(id(0, 10)).unwrap();
        world.spawn_at(id(0, 4), ()).unwrap();
        world.despawn(id(0, 4)).unwrap();

        assert_eq!(world.spawn(()), id(0, 11));
        world.verify().unwrap();
    }

    #[test]
    fn far_away_cost_a_page_and_not_the_way_there() {
        let mut world = World::new();
        world.spawn_at(id(4_000_000_000, 0), ()).unwrap();

        let bytes = world.memory_report().entities;

        assert!(bytes < 200_000, "{bytes} bytes");
        assert_eq!(world.spawn(()), id(0, 0));
    }
}

mod clearing {
    use super::*;

    #[test]
    fn an_index_is_free_once_after_it_when_others_were_demanded_beside_it() {
        let mut world = World::new();
        world.spawn(());
        world.spawn_at(id(2, 0), ()).unwrap();

        world.clear();
        world.verify().unwrap();

        let mut again = spawn_text(&mut world, 3);
        again.sort();
        assert_eq!(again, ["0v1", "1v0", "2v1"]);
    }

    #[test]
    fn the_same_indices_come_back_lowest_first_with_the_next_version() {
        let mut world = World::new();
        for version in 0..5 {
            let cycle: Vec<Entity> = (0..5000).map(|_| world.spawn(())).collect();
            assert!(cycle.iter().zip(0..).all(|(&e, index)| e == id(index, version)));
            world.clear();
            assert!(world.is_empty() && cycle.iter().all(|&e| !world.is_alive(e)));
            world.verify().unwrap();
        }
    }

    #[test]
    fn the_dead_do_not_age_by_it() {
        let mut world = World::new();
        let e: Vec<Entity> = (0..3).map(|_| world.spawn(())).collect();
        world.despawn(e[1]).unwrap();

        world.clear();
        world.clear();

        assert_eq!(spawn_text(&mut world, 4), ["0v1", "1v1", "2v1", "3v0"]);
    }

    #[test]
    fn demanded_ids_die_with_all_others_and_are_overtaken() {
        let mut world = World::builder().entity_range(0..100).build();
        for _ in 0..4 {
            let e = world.spawn(());
            world.despawn(e).unwrap();
        }
        world.spawn_at(id(0, 1), ()).unwrap();
        world.spawn_at(id(2, 7), ()).unwrap();
        world.spawn_at(id(500, 0), ()).unwrap();

        world.clear();
        world.verify().unwrap();

        let mut again = spawn_text(&mut world, 3);
        again.sort();
        assert_eq!(again, ["0v4", "1v0", "2v8"]);
        assert!(!world.is_alive(id(500, 0)));
        world.verify().unwrap();
    }

    #[test]
    fn reserved_ids_die_too() {
        let mut world = World::new();
        let reserved = world.reserve_entity().unwrap();

        world.clear();
        world.settle();

        assert!(!world.is_alive(reserved) && world.is_empty());
        assert_eq!(world.spawn(()), id(0, 1));
    }
}

/// The splitmix64 generator.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % u64::from(end)) as u32
    }
}

/// Random demands, spawns, reservations and deaths: what is given out by itself lies ahead of
/// every id that was ever alive at its index, and the book stays sound.
#[test]
fn ids_given_out_by_themselves_lie_ahead_of_all_before_them() {
    for seed in 0..if cfg!(miri) { 3 } else { 150 } {
        println!("seed {seed}");
        let mut random = SplitMix(seed);
        let mut world = World::builder().entity_range(0..8).last_version(9).build();
        let mut alive: HashSet<Entity> = HashSet::new();
        let mut highest: HashMap<u32, u32> = HashMap::new();
        let mut retired = 0;

        for step in 0..100 {
            match random.below(8) {
                0..3 => {
                    let given = match random.below(3) {
                        0 => world.reserve_entity(),
                        _ => world.try_spawn(()),
                    };
                    world.settle();
                    let in_use = alive.iter().filter(|e| e.index() < 8).count();
                    let Ok(e) = given else {
                        assert!(in_use + retired >= 8, "an index is left: {alive:?}");
                        continue;
                    };
                    assert!(e.index() < 8 && e.version() <= 9, "{e} is outside the limits");
                    let before = highest.insert(e.index(), e.version());
                    assert!(
                        before.is_none_or(|before| before < e.version()),
                        "{e} after {before:?}"
                    );
                    assert!(alive.insert(e));
                }
                3 | 4 => {
                    let demanded = id(random.below(10), random.below(5));
                    let taken = alive.iter().any(|e| e.index() == demanded.index());
                    assert_eq!(world.spawn_at(demanded, ()).is_err(), taken, "{demanded}");
                    if !taken {
                        alive.insert(demanded);
                        let highest = highest.entry(demanded.index()).or_default();
                        *highest = demanded.version().max(*highest);
                    }
                }
                5..7 => {
                    let Some(&e) = alive.iter().min_by_key(|e| e.to_bits() ^ seed) else {
                        continue;
                    };
                    alive.remove(&e);
                    world.despawn(e).unwrap();
                }
                _ if random.below(10) == 0 => {
                    alive.clear();
                    world.clear();
                }
                _ => {}
            }
            let spent = |index: &u32| highest.get(index) == Some(&9);
            let living = |index: &u32| alive.iter().any(|e| e.index() == *index);
            retired = (0..8).filter(|index| spent(index) && !living(index)).count();
            assert_eq!(world.entities().collect::<HashSet<_>>(), alive);
            if step % 20 == 19 {
                world.verify().unwrap();
            }
        }
    }
}

#[test]
fn the_living_are_counted_before_they_are_walked() {
    let mut world = World::new();
    let ids = [(); 5].map(|()| world.spawn(()));
    world.despawn(ids[2]).unwrap();

    let mut living = world.entities();

    assert_eq!((living.len(), living.size_hint()), (4, (4, Some(4))));
    assert_eq!(living.next(), Some(ids[0]));
    assert_eq!(living.len(), 3);
}
