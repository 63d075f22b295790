//! Worlds with so few ids that all of them are used up.

use std::collections::BTreeSet;

use esker::entity::OutOfEntities;
use esker::{Entity, World};

use crate::common::{Rng, id, panic_message};
use crate::for_seeds;
use crate::ids::Ids;
use crate::run::Run;

fn tiny() -> World {
    World::builder().entity_limit(16).last_version(3).build()
}

#[test]
fn every_id_is_given_out_once_and_then_none() {
    for_seeds(0..100, |seed| {
        let mut rng = Rng::new(seed);
        let mut world = tiny();
        let (mut living, mut seen) = (Vec::new(), BTreeSet::new());
        while seen.len() < 16 * 4 || !living.is_empty() {
            match rng.below(5) {
                0..3 => match world.try_spawn(()) {
                    Ok(entity) => {
                        assert!(seen.insert(entity), "{entity} is valid twice");
                        living.push(entity);
                    }
                    Err(OutOfEntities { limit }) => {
                        // Every index is alive or retired.
                        let spent = seen.iter().filter(|entity| entity.version() == 3);
                        let retired = spent.filter(|entity| !living.contains(entity)).count();
                        assert_eq!((limit as usize, living.len() + retired), (16, 16));
                    }
                },
                3 => {
                    if let Ok(entity) = world.reserve_entity() {
                        assert!(seen.insert(entity), "{entity} is valid twice");
                        world.settle();
                        living.push(entity);
                    }
                }
                _ if !living.is_empty() => {
                    let entity = living.swap_remove(rng.below(living.len()));
                    world.despawn(entity).unwrap();
                }
                _ => {}
            }
            let alive = seen.iter().filter(|&&entity| world.is_alive(entity)).count();
            assert_eq!((alive, world.len()), (living.len(), living.len()));
        }

        // All are retired.
        let every_id = (0..16).flat_map(|index| (0..4).map(move |version| id(index, version)));
        assert!(seen.into_iter().eq(every_id));
        assert_eq!(world.try_spawn(()), Err(OutOfEntities { limit: 16 }));
        assert_eq!(world.reserve_entity(), Err(OutOfEntities { limit: 16 }));
        let text = panic_message(|| world.spawn_empty());
        assert!(text.contains("no entity id is left of the 16"), "{text}");
        world.clear();
        assert_eq!(world.try_spawn(()), Err(OutOfEntities { limit: 16 }));
        assert!(world.is_empty());
        assert_eq!(world.verify(), Ok(()));
    });
}

#[test]
fn a_full_world_is_unchanged_by_a_spawn_that_fails() {
    use crate::kinds::{Kind, Owned, Plain};
    let (mut world, ledger) =
        (World::builder().entity_limit(3).build(), crate::common::Ledger::new());
    let entities: Vec<Entity> = (0..3).map(|n| world.spawn(Owned::make(&ledger, n))).collect();

    assert!(world.try_spawn((Owned::make(&ledger, 9), Plain::make(&ledger, 9))).is_err());
    assert!(world.spawn_at(id(3, 0), Owned::make(&ledger, 9)).is_err());
    assert!(world.spawn_at(entities[0], Owned::make(&ledger, 9)).is_err());

    assert!(world.entities().eq(entities.iter().copied()));
    assert!(world.component_id::<Plain>().is_none());
    for (n, &entity) in entities.iter().enumerate() {
        assert_eq!(world.get::<Owned>(entity).unwrap().value(), n as u64);
    }
    assert_eq!(ledger.living(), 3);
    assert_eq!(world.verify(), Ok(()));
}

/// Worlds of few ids with their models.
fn limited(choice: u64) -> (World, Ids) {
    let builder = World::builder();
    match choice % 5 {
        0 => (tiny(), Ids::new(0..16, true, 3)),
        1 => (builder.entity_limit(1).last_version(0).build(), Ids::new(0..1, true, 0)),
        2 => (
            builder.entity_range(4090..4100).last_version(1).build(),
            Ids::new(4090..4100, false, 1),
        ),
        3 => (
            builder.entity_range(100..200).entity_limit(4).last_version(2).build(),
            Ids::new(100..104, true, 2),
        ),
        _ => (builder.last_version(1).build(), Ids::new(0..Entity::MAX_INDEX, false, 1)),
    }
}

#[test]
fn a_limited_world_agrees_with_the_model_also_when_ids_are_demanded() {
    for_seeds(0..300, |seed| {
        let (world, ids) = limited(seed);
        let mut run = Run::new(Rng::new(seed ^ 0x717), 12, world, ids);
        for step in 0..150 {
            run.step();
            if step % 10 == 0 {
                run.compare();
                run.verify();
            }
        }
        run.finish();
    });
}

/// What can be done to ids.
#[derive(Debug, Clone, Copy)]
enum Act {
    Spawn,
    Reserve,
    Despawn(u32),
    Demand(u32, u32),
    Clear,
}

const ACTS: [Act; 8] = [
    Act::Spawn,
    Act::Reserve,
    Act::Despawn(0),
    Act::Despawn(1),
    Act::Demand(0, 0),
    Act::Demand(0, 1),
    Act::Demand(1, 1),
    Act::Clear,
];

#[test]
fn every_short_history_of_two_indices_agrees_with_the_model() {
    let depth = if cfg!(debug_assertions) { 4 } else { 6 };
    let histories = 8_u64.pow(depth);
    // A history that frees both indices first, so that demands meet the middle of the free list.
    for_seeds(0..2 * histories, |number| {
        let (mut digits, prefix) = (number % histories, number >= histories);
        let mut world = World::builder().entity_limit(2).last_version(2).build();
        let mut ids = Ids::new(0..2, true, 2);
        let mut history = Vec::new();
        if prefix {
            history.extend([Act::Spawn, Act::Spawn, Act::Despawn(0), Act::Despawn(1)]);
        }
        for _ in 0..depth {
            history.push(ACTS[(digits % 8) as usize]);
            digits /= 8;
        }
        for &act in &history {
            follow(act, &mut world, &mut ids, &history);
        }
        assert_eq!(world.verify(), Ok(()), "{history:?}");
    });
}

fn follow(act: Act, world: &mut World, ids: &mut Ids, history: &[Act]) {
    match act {
        Act::Spawn => assert_eq!(world.try_spawn(()).ok(), ids.spawn(), "{history:?}"),
        Act::Reserve => {
            assert_eq!(world.reserve_entity().ok(), ids.reserve(), "{history:?}");
            world.settle();
        }
        Act::Despawn(index) => {
            let living = ids.at(index);
            assert_eq!(world.entity_at(index), living, "{history:?}");
            if let Some(entity) = living {
                assert!(world.despawn(entity).is_ok() && ids.despawn(entity), "{history:?}");
            }
        }
        Act::Demand(index, version) => {
            let demanded = id(index, version);
            assert_eq!(world.spawn_at(demanded, ()), ids.spawn_at(demanded), "{history:?}");
        }
        Act::Clear => {
            world.clear();
            ids.clear();
        }
    }
    for &entity in ids.seen() {
        assert_eq!(world.is_alive(entity), ids.is_alive(entity), "{entity} after {history:?}");
    }
}
