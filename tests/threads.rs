//! One world and several threads: reservation, guards, locked pools, values that stay at home.

#![cfg(feature = "derive")]

mod common;

use std::collections::BTreeSet;
use std::mem;
use std::rc::Rc;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::{Ledger, Rng, id, panic_message};
use esker::entity::{Entities, LiveEntities, NoSuchEntity};
use esker::sparse::{HashedMap, SparseSet};
use esker::storage::{EntityMap, Hashed, Indexed, Packed};
use esker::world::{BorrowConflict, Locked, PoolError, ResourceError, SpawnBatch};
use esker::{
    Access, Component, Entity, EntityMut, EntityRef, Pool, PoolMut, Query, Read, Res, ResMut,
    Without, World, Write,
};

#[derive(Component, Debug, PartialEq)]
struct Position(u64);

#[derive(Component, Debug, PartialEq)]
#[component(storage = Indexed)]
struct Velocity(u64);

#[derive(Component, Debug)]
struct Owned(#[expect(dead_code, reason = "kept for its drop")] common::Counted);

/// A world with a past: a free list, demanded ids in it and ahead of it.
fn world_with_a_past(seed: u64) -> World {
    let mut world = World::new();
    let mut rng = Rng::new(seed);
    let mut living: Vec<Entity> = (0..200).map(|_| world.spawn(())).collect();
    for _ in 0..120 {
        world.despawn(living.swap_remove(rng.below(living.len()))).unwrap();
    }
    for index in [3, 17, 18, 19, 150, 203, 204, 260, 1000] {
        // Those that live refuse.
        _ = world.spawn_at(id(index, 5), ());
    }
    world
}

/// Reserves `each` ids on each of `threads` threads.
fn reserve(world: &World, threads: usize, each: usize) -> Vec<Vec<Entity>> {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        let reserving: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    (0..each).map(|_| world.reserve_entity().unwrap()).collect()
                })
            })
            .collect();
        reserving.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn reserved_ids_are_those_that_spawning_would_have_given() {
    for (threads, each) in [(1, 300), (4, 100), (8, 100)] {
        let (mut world, mut twin) = (world_with_a_past(9), world_with_a_past(9));
        let before = world.len();

        let reserved = reserve(&world, threads, each);

        let all: BTreeSet<Entity> = reserved.iter().flatten().copied().collect();
        assert_eq!(all.len(), threads * each, "an id was reserved twice");
        assert_eq!(world.len(), before, "reserved ids are not alive");
        assert!(all.iter().all(|&entity| !world.is_alive(entity)));
        let spawned: BTreeSet<Entity> = (0..threads * each).map(|_| twin.spawn(())).collect();
        assert_eq!(all, spawned);

        world.settle();

        assert_eq!(world.len(), before + threads * each);
        assert!(all.iter().all(|&entity| world.is_orphan(entity)));
        assert!(world.entities().eq(twin.entities()));
        assert_eq!(world.verify(), Ok(()));
        assert_eq!(world.spawn(()), twin.spawn(()), "what comes next");
    }
}

#[test]
fn reservation_stops_at_the_limit_and_gives_every_id_once() {
    let mut world = World::builder().entity_limit(100).build();
    let given = AtomicUsize::new(0);

    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while world.reserve_entity().is_ok() {
                    given.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });

    assert_eq!(given.into_inner(), 100);
    assert!(world.reserve_entity().is_err());
    world.settle();
    assert_eq!(world.len(), 100);
    assert_eq!(world.verify(), Ok(()));
}

#[test]
fn a_million_reserved_ids_go_with_an_unsettled_world() {
    let world = World::new();

    let reserved = reserve(&world, 4, 250_000);

    let mut all: Vec<Entity> = reserved.into_iter().flatten().collect();
    all.sort_unstable();
    assert!(all.iter().map(|entity| entity.index()).eq(0..1_000_000));
    drop(world);
}

#[test]
fn a_reserved_id_is_brought_to_life_by_what_is_done_with_it() {
    let mut world = World::new();
    let other = world.spawn(Position(0));
    type Deed = fn(&mut World, Entity, Entity);
    let deeds: [Deed; 6] = [
        |world, reserved, _| world.insert(reserved, Position(1)).unwrap(),
        |world, reserved, _| _ = world.entity_mut(reserved).unwrap().insert(Position(1)),
        |world, _, _| _ = world.spawn(()),
        |world, _, _| assert!(world.despawn(id(77, 7)).is_err()),
        |world, _, _| assert_eq!(world.despawn_batch([id(77, 7)]), 0),
        |world, _, _| world.settle(),
    ];

    for deed in deeds {
        let reserved = world.reserve_entity().unwrap();
        assert!(!world.is_alive(reserved));

        deed(&mut world, reserved, other);

        assert!(world.is_alive(reserved));
        world.despawn(reserved).unwrap();
        assert_eq!(world.verify(), Ok(()));
    }
}

#[test]
fn a_reserved_id_is_not_brought_to_life_by_an_insert_for_somebody_else() {
    let mut world = World::new();
    let other = world.spawn(());
    let reserved = world.reserve_entity().unwrap();

    world.insert(other, Position(1)).unwrap();

    assert!(!world.is_alive(reserved));
    assert!(world.insert(reserved, Position(2)).is_ok());
}

fn send<T: Send>() {}

fn sync<T: Sync>() {}

/// Whether a type is `Send` and `Sync`: the inherent constant is preferred where it applies.
struct Is<T: ?Sized>(std::marker::PhantomData<T>);

trait Not {
    const SEND: bool = false;
    const SYNC: bool = false;
}

impl<T: ?Sized> Not for Is<T> {}

impl<T: ?Sized + Send> Is<T> {
    const SEND: bool = true;
}

impl<T: ?Sized + Sync> Is<T> {
    const SYNC: bool = true;
}

macro_rules! traits {
    ($type:ty) => {
        (<Is<$type>>::SEND, <Is<$type>>::SYNC)
    };
}

type Shared = std::cell::Cell<u32>;

/// `Sync`, but not `Send`.
type StaysHome = std::sync::MutexGuard<'static, u32>;

#[test]
fn worlds_and_guards_cross_threads_exactly_where_that_is_sound() {
    send::<World>();
    sync::<World>();
    send::<Entities>();
    sync::<Entities>();
    send::<Entity>();
    sync::<NoSuchEntity>();
    const BOTH: (bool, bool) = (true, true);
    assert_eq!(traits!(Pool<'static, Position>), BOTH);
    assert_eq!(traits!(PoolMut<'static, Position>), BOTH);
    assert_eq!(traits!(Locked<'static, Velocity>), BOTH);
    assert_eq!(traits!(Query<'static, (Entity, &Position, &mut Velocity)>), BOTH);
    assert_eq!(traits!(Query<'static, &mut Position, Without<Velocity>>), BOTH);
    assert_eq!(traits!(EntityRef<'static>), BOTH);
    assert_eq!(traits!(EntityMut<'static>), BOTH);
    assert_eq!(traits!(LiveEntities<'static>), BOTH);
    assert_eq!(traits!(SpawnBatch<'static, std::vec::IntoIter<Position>>), BOTH);
    assert_eq!(traits!(SparseSet<HashedMap>), BOTH);
    assert_eq!(traits!(Read<'static, u32>), BOTH);
    assert_eq!(traits!(Write<'static, u32>), BOTH);
    assert_eq!(traits!(Res<'static, u32>), BOTH);
    assert_eq!(traits!(ResMut<'static, u32>), BOTH);
    assert_eq!(traits!(BorrowConflict), BOTH);
    // Values that may move but not be shared.
    assert_eq!(traits!(Read<'static, Shared>), (false, false));
    assert_eq!(traits!(Write<'static, Shared>), (true, false));
    assert_eq!(traits!(Res<'static, Shared>), (false, false));
    assert_eq!(traits!(ResMut<'static, Shared>), (true, false));
    // Values that may be shared but not move.
    assert_eq!(traits!(Res<'static, StaysHome>), BOTH);
    assert_eq!(traits!(ResMut<'static, StaysHome>), (false, true));
    // Values that may do neither.
    assert_eq!(traits!(Res<'static, Rc<u32>>), (false, false));
    assert_eq!(traits!(ResMut<'static, Rc<u32>>), (false, false));
    // Maps are what their values are.
    assert_eq!(traits!(EntityMap<u32>), BOTH);
    assert_eq!(traits!(EntityMap<Shared, Packed<Shared>>), (true, false));
    assert_eq!(traits!(EntityMap<Shared, Hashed<Shared>>), (true, false));
    assert_eq!(traits!(EntityMap<Shared, Indexed<Shared>>), (true, false));
    assert_eq!(traits!(EntityMap<Rc<u32>, Packed<Rc<u32>>>), (false, false));
    assert_eq!(traits!(EntityMap<Rc<u32>, Indexed<Rc<u32>>>), (false, false));
    assert_eq!(traits!(EntityMap<StaysHome, Indexed<StaysHome>>), (false, true));
}

#[test]
fn two_threads_write_different_components_at_once() {
    let mut world = World::new();
    let entities: Vec<Entity> =
        world.spawn_batch((0..1000).map(|n| (Position(n), Velocity(n)))).collect();
    // Both hold their query before one of them lets go.
    let both = Barrier::new(2);

    thread::scope(|scope| {
        scope.spawn(|| {
            let mut query = world.query::<&mut Position>();
            both.wait();
            query.iter_mut().for_each(|position| position.0 += 1);
            both.wait();
        });
        scope.spawn(|| {
            let mut query = world.query::<(Entity, &mut Velocity)>();
            both.wait();
            query.iter_mut().for_each(|(_, velocity)| velocity.0 += 2);
            both.wait();
        });
    });

    for (n, &entity) in entities.iter().enumerate() {
        assert_eq!(*world.get::<Position>(entity).unwrap(), Position(n as u64 + 1));
        assert_eq!(*world.get::<Velocity>(entity).unwrap(), Velocity(n as u64 + 2));
    }
    assert_eq!(world.verify(), Ok(()));
}

#[test]
fn two_threads_add_different_components_to_the_same_entities_at_once() {
    // The signatures of the entities are shared by both.
    let mut world = World::new();
    world.register::<Position>();
    world.register::<Velocity>();
    let entities: Vec<Entity> = (0..2000).map(|_| world.spawn(())).collect();
    let both = Barrier::new(2);

    thread::scope(|scope| {
        scope.spawn(|| {
            let mut pool = world.pool_mut::<Position>();
            both.wait();
            for (n, &entity) in entities.iter().enumerate() {
                pool.insert(entity, Position(n as u64)).unwrap();
                if n % 3 == 0 {
                    pool.remove(entity);
                }
            }
        });
        scope.spawn(|| {
            let mut pool = world.pool_mut::<Velocity>();
            both.wait();
            for (n, &entity) in entities.iter().enumerate() {
                pool.insert(entity, Velocity(n as u64)).unwrap();
                if n % 5 == 0 {
                    pool.remove(entity);
                }
            }
        });
    });

    for (n, &entity) in entities.iter().enumerate() {
        assert_eq!(world.has::<Position>(entity), n % 3 != 0);
        assert_eq!(world.has::<Velocity>(entity), n % 5 != 0);
    }
    assert_eq!(world.verify(), Ok(()));
}

#[test]
fn no_change_of_a_signature_is_lost_where_two_threads_edit_different_pools() {
    let mut world = World::new();
    world.register::<Position>();
    world.register::<Velocity>();
    let entity = world.spawn(());
    let both = Barrier::new(2);

    thread::scope(|scope| {
        scope.spawn(|| toggle::<_, Velocity>(&world, entity, &both, || Position(1)));
        scope.spawn(|| toggle::<_, Position>(&world, entity, &both, || Velocity(1)));
    });

    assert_eq!(world.verify(), Ok(()));
}

/// Gives an entity a value and takes it again, and asks each time for the signature, which says whether it has one; until
/// it was seen often enough that another thread does so with its own.
fn toggle<T: Component, Other: Component>(
    world: &World,
    entity: Entity,
    both: &Barrier,
    make: fn() -> T,
) {
    let (enough, most) = if cfg!(miri) { (5, 100) } else { (20_000, 1_000_000) };
    let (mut seen, mut other) = (0, false);
    let mut pool = world.pool_mut();
    both.wait();
    for _ in 0..most {
        pool.insert(entity, make()).unwrap();
        assert!(world.has::<T>(entity));
        pool.remove(entity).unwrap();
        assert!(!world.has::<T>(entity));
        let now = world.has::<Other>(entity);
        seen += u32::from(mem::replace(&mut other, now) != now);
        if seen >= enough {
            break;
        }
    }
}

#[test]
fn eight_threads_edit_one_locked_pool() {
    let (mut world, ledger) = (World::new(), Ledger::new());
    world.register::<Owned>();
    let entities: Vec<Entity> = (0..400).map(|_| world.spawn(())).collect();

    let locked = world.locked::<Owned>();
    thread::scope(|scope| {
        for part in 0..8_usize {
            let (locked, entities, ledger) = (&locked, &entities, &ledger);
            scope.spawn(move || {
                for &entity in entities.iter().skip(part).step_by(8) {
                    assert!(locked.insert(entity, Owned(ledger.make(0))).unwrap().is_none());
                    // The first hundred may be gone again: a faster thread takes them out.
                    assert!(locked.contains(entity) || entities[..100].contains(&entity));
                }
                // Everybody's entities: exactly one thread gets each value.
                for &entity in &entities[..100] {
                    drop(locked.remove(entity));
                }
                // Several operations that belong together.
                let mut pool = locked.lock();
                let len = pool.len();
                let entity = entities[200 + part];
                let old = pool.insert(entity, Owned(ledger.make(1))).unwrap();
                assert_eq!(pool.len(), len + usize::from(old.is_none()));
            });
        }
    });
    // A slower thread may have put in what a faster one had looked for.
    entities[..100].iter().for_each(|&entity| drop(locked.remove(entity)));

    assert_eq!(locked.len(), 300);
    drop(locked);
    assert_eq!(ledger.living(), 300);
    assert!(entities[..100].iter().all(|&entity| !world.has::<Owned>(entity)));
    assert_eq!(world.verify(), Ok(()));
    drop(world);
    ledger.assert_all_dropped();
}

#[test]
fn a_thread_that_panics_with_the_lock_does_not_spoil_it() {
    let mut world = World::new();
    let entity = world.spawn(Position(1));
    let locked = world.locked::<Position>();

    let panicked = common::panics_as_planned(|| {
        let _pool = locked.lock();
        common::planned_panic()
    });

    assert!(panicked);
    assert_eq!(locked.patch(entity, |position| position.0), Some(1));
    drop(locked);
    assert!(world.try_pool_mut::<Position>().is_ok());
}

#[test]
fn a_value_that_stays_in_its_thread_is_refused_to_others_by_name() {
    let mut world = World::new();
    world.insert_non_send(Rc::new(5_u32));

    thread::scope(|scope| {
        scope.spawn(|| {
            let read = world.non_send::<Rc<u32>>().unwrap_err();
            let written = world.non_send_mut::<Rc<u32>>().unwrap_err();
            for error in [read, written] {
                assert!(matches!(error, ResourceError::WrongThread { .. }), "{error}");
                assert!(error.to_string().contains("Rc<u32>"), "{error}");
            }
            assert!(world.has_resource::<Rc<u32>>());
        });
    });

    assert_eq!(**world.non_send::<Rc<u32>>().unwrap(), 5);
    assert_eq!(*world.remove_non_send::<Rc<u32>>().unwrap(), 5);
}

#[test]
fn a_value_that_stays_in_its_thread_is_neither_taken_nor_replaced_by_others() {
    let mut world = World::new();
    world.insert_non_send(Rc::new(5_u32));

    thread::scope(|scope| {
        let world = &mut world;
        scope.spawn(move || {
            let text = panic_message(|| world.remove_non_send::<Rc<u32>>());
            assert!(text.contains("Rc<u32>"), "{text}");
            let text = panic_message(|| world.insert_non_send(Rc::new(6_u32)));
            assert!(text.contains("Rc<u32>"), "{text}");
        });
    });

    assert_eq!(**world.non_send::<Rc<u32>>().unwrap(), 5);
}

#[test]
fn a_world_dropped_elsewhere_leaks_what_belongs_to_its_thread() {
    let (mut world, ledger) = (World::new(), Ledger::new());
    let kept = Rc::new(());
    world.insert_non_send((Rc::clone(&kept), ledger.make(1)));
    world.insert_resource(ledger.make(2));
    world.spawn(Owned(ledger.make(3)));

    thread::spawn(move || drop(world)).join().unwrap();

    assert_eq!(ledger.living(), 1, "all but the one that stays in this thread");
    assert!(!ledger.is_dropped(0));
    assert_eq!(Rc::strong_count(&kept), 2);
}

#[test]
fn a_world_dropped_at_home_drops_what_belongs_to_its_thread() {
    let (mut world, ledger) = (World::new(), Ledger::new());
    world.insert_non_send((Rc::new(()), ledger.make(1)));

    drop(world);

    ledger.assert_all_dropped();
}

#[track_caller]
fn assert_conflict(conflict: BorrowConflict, name: &str, wanted: Access, held: Access) {
    assert!(conflict.name.ends_with(name), "{conflict}");
    assert_eq!((conflict.conflict.wanted, conflict.conflict.held), (wanted, held), "{conflict}");
    let text = conflict.to_string();
    assert!(text.contains(name), "{text}");
    assert!(text.contains(&format!("wanted to {wanted}")), "{text}");
    assert!(text.contains(&format!("borrowed to {held}")), "{text}");
    assert_eq!(conflict.conflict.holder.is_some(), cfg!(debug_assertions));
}

#[test]
fn a_refused_borrow_of_a_component_names_it_and_both_accesses() {
    let mut world = World::new();
    let entity = world.spawn((Position(1), Velocity(1)));
    let (read, write) = (Access::Read, Access::Write);

    let held = world.pool_mut::<Position>();
    assert_conflict(world.try_get::<Position>(entity).unwrap_err(), "Position", read, write);
    assert_conflict(world.try_pool::<Position>().unwrap_err(), "Position", read, write);
    let error = world.try_query::<(&Velocity, &Position), ()>().unwrap_err();
    assert_conflict(error, "Position", read, write);
    let error = world.try_query::<Entity, Without<Position>>().unwrap_err();
    assert_conflict(error, "Position", Access::Filter, write);
    let PoolError::Borrowed(error) = world.try_pool_mut::<Position>().unwrap_err() else {
        panic!("not borrowed");
    };
    assert_conflict(error, "Position", write, write);
    // A refused query has given back what it had taken.
    assert!(world.try_pool_mut::<Velocity>().is_ok());
    drop(held);

    let held = world.get::<Velocity>(entity).unwrap();
    assert_conflict(world.try_query::<&mut Velocity, ()>().unwrap_err(), "Velocity", write, read);
    let PoolError::Borrowed(error) = world.try_locked::<Velocity>().unwrap_err() else {
        panic!("not borrowed");
    };
    assert_conflict(error, "Velocity", write, read);
    assert!(world.try_get::<Velocity>(entity).is_ok());
    drop(held);

    // A query against itself.
    let error = world.try_query::<(&Position, &mut Position), ()>().unwrap_err();
    assert_eq!((error.conflict.wanted, error.conflict.held), (write, read));
    let text = error.to_string();
    assert!(
        text.contains("Position`: the query asks for it twice, to read and to write"),
        "{text}"
    );
    assert!(world.try_pool_mut::<Position>().is_ok());
}

#[test]
fn the_calls_without_try_panic_with_the_same_words() {
    let mut world = World::new();
    let entity = world.spawn(Position(1));
    let _held = world.pool_mut::<Position>();

    let texts = [
        panic_message(|| world.get::<Position>(entity).is_some()),
        panic_message(|| world.pool::<Position>().len()),
        panic_message(|| world.pool_mut::<Position>().len()),
        panic_message(|| world.locked::<Position>().len()),
        panic_message(|| world.query::<&Position>().count()),
        panic_message(|| world.entity(entity).unwrap().get::<Position>().is_some()),
        panic_message(|| world.memory_report()),
    ];

    for text in texts {
        assert!(text.contains("Position") && text.contains("borrowed to write"), "{text}");
    }
    let text = panic_message(|| world.pool_mut::<Velocity>().len());
    assert!(text.contains("register::<Velocity>()"), "{text}");
}

#[test]
fn a_refused_borrow_of_a_resource_names_it_and_both_accesses() {
    #[derive(Debug)]
    struct Gravity;
    let mut world = World::new();
    world.insert_resource(Gravity);
    world.insert_non_send(Rc::new(1_u32));
    let borrowed = |error: ResourceError| match error {
        ResourceError::Borrowed(conflict) => conflict,
        error => panic!("{error}"),
    };

    let held = world.resource::<Gravity>();
    let error = borrowed(world.try_resource_mut::<Gravity>().unwrap_err());
    assert_conflict(error, "Gravity", Access::Write, Access::Read);
    drop(held);
    let held = world.resource_mut::<Gravity>();
    let error = borrowed(world.try_resource::<Gravity>().unwrap_err());
    assert_conflict(error, "Gravity", Access::Read, Access::Write);
    let text = panic_message(|| drop(world.resource_mut::<Gravity>()));
    assert!(text.contains("Gravity") && text.contains("wanted to write"), "{text}");
    drop(held);

    let held = world.non_send::<Rc<u32>>().unwrap();
    let error = borrowed(world.non_send_mut::<Rc<u32>>().unwrap_err());
    assert_conflict(error, "Rc<u32>", Access::Write, Access::Read);
    drop(held);
    assert!(matches!(world.try_resource::<u8>(), Err(ResourceError::Absent { .. })));
}

#[test]
fn a_refused_write_of_a_value_that_stays_at_home_says_that_it_wanted_to_write() {
    let mut world = World::new();
    world.insert_non_send(Rc::new(1_u32));
    let _held = world.non_send_mut::<Rc<u32>>().unwrap();

    let Err(ResourceError::Borrowed(error)) = world.non_send_mut::<Rc<u32>>() else {
        panic!("not borrowed");
    };

    assert_conflict(error, "Rc<u32>", Access::Write, Access::Write);
}
