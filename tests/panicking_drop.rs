//! A `Drop` that panics at the k-th drop, for every k, in every operation that drops.
//!
//! After each: the invariants hold, no value was dropped twice, nothing of a dead entity is left,
//! and the world works on. Values that were waiting for their drop when the panic came are dropped
//! while unwinding. A second panic at that moment would abort the process, by the rule of the
//! language, so each case lets exactly one drop panic.

#![cfg(feature = "derive")]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use common::{Counted, Ledger, id, panics_as_planned, planned_panic};
use esker::sparse::PagedMap;
use esker::storage::{AnyMap, EntityMap, Hashed, Indexed, Packed, Storage, Untracked};
use esker::{Component, Entity, World};

#[derive(Component, Debug)]
struct InPacked(Counted);

#[derive(Component, Debug)]
#[component(storage = Indexed)]
struct InIndexed(Counted);

#[derive(Component, Debug)]
#[component(storage = Hashed)]
struct InHashed(Counted);

/// A component beside them that has no drop.
#[derive(Component, Debug, PartialEq)]
struct Bystander(u32);

type All = (InPacked, InIndexed, (InHashed, Bystander));

fn all(ledger: &Arc<Ledger>, value: u64) -> All {
    let make = || ledger.make(value);
    (InPacked(make()), InIndexed(make()), (InHashed(make()), Bystander(value as u32 % 100)))
}

/// A component of the matrix.
trait Bomb: Component {
    fn new(counted: Counted) -> Self;

    fn counted(&self) -> &Counted;
}

macro_rules! bomb {
    ($($name:ident)*) => {
        $(impl Bomb for $name {
            fn new(counted: Counted) -> Self {
                Self(counted)
            }

            fn counted(&self) -> &Counted {
                &self.0
            }
        })*
    };
}

bomb!(InPacked InIndexed InHashed);

/// Entities of each world at the start.
const ENTITIES: usize = 6;

/// A world in which everyone has everything.
struct Scene {
    world: World,
    ledger: Arc<Ledger>,
    entities: Vec<Entity>,
}

impl Scene {
    fn new() -> Self {
        let (mut world, ledger) = (World::new(), Ledger::new());
        let entities = (0..ENTITIES as u64).map(|n| world.spawn(all(&ledger, n))).collect();
        Self { world, ledger, entities }
    }

    /// Every value that is in the world is one that was not dropped, and the other way round.
    #[track_caller]
    fn check(&mut self) {
        self.ledger.assert_none_dropped_twice();
        self.world.verify().unwrap_or_else(|violation| panic!("{violation}"));
        let mut stored = 0;
        stored += self.check_pool::<InPacked>();
        stored += self.check_pool::<InIndexed>();
        stored += self.check_pool::<InHashed>();
        assert_eq!(self.ledger.living(), stored, "values neither stored nor dropped");
        for (entity, bystander) in self.world.pool::<Bystander>().iter() {
            let at = self.entities.iter().position(|&other| other == entity);
            assert!(at.is_none_or(|at| at as u32 == bystander.0), "mixed up");
        }
    }

    #[track_caller]
    fn check_pool<B: Bomb>(&self) -> usize {
        let pool = self.world.pool::<B>();
        for (entity, value) in pool.iter() {
            let counted = value.counted();
            assert!(self.world.is_alive(entity), "{entity} is dead and has a value");
            assert!(!self.ledger.is_dropped(counted.number), "{entity} has a dropped value");
            // Values say who they belong to, in the hundreds who wrote them.
            let at = self.entities.iter().position(|&other| other == entity);
            assert!(at.is_none_or(|at| at as u64 == counted.value % 100), "mixed up");
        }
        pool.len()
    }

    /// The world takes in, gives out and dies as if nothing had been; all values are dropped.
    fn finish(mut self) {
        self.ledger.defuse();
        let entity = self.world.spawn(all(&self.ledger, 77));
        assert!(self.world.has::<All>(entity));
        self.check();
        assert!(self.world.take::<All>(entity).unwrap().is_some());
        self.world.insert(entity, all(&self.ledger, 78)).unwrap();
        self.world.despawn(entity).unwrap();
        self.check();
        drop(self.world);
        self.ledger.assert_all_dropped();
    }
}

/// Lets the k-th drop of `act` panic, for every k until no drop is left to panic.
///
/// Returns the number of drops in the whole act.
fn for_every_drop(act: impl Fn(&mut Scene), after: impl Fn(&mut Scene)) -> usize {
    for k in 0.. {
        let mut scene = Scene::new();
        scene.ledger.panic_at_drop(k);

        let panicked = panics_as_planned(|| act(&mut scene));

        assert_ne!(panicked, scene.ledger.defuse(), "the panic of a drop was lost");
        scene.check();
        after(&mut scene);
        scene.finish();
        if !panicked {
            return k;
        }
    }
    unreachable!("the acts drop a finite number of values")
}

/// Runs a test for each of the three storages.
macro_rules! each_storage {
    ($($(#[$note:meta])* fn $name:ident<$bomb:ident>() $body:block)*) => {
        $(
            $(#[$note])*
            #[test]
            fn $name() {
                fn of<$bomb: Bomb>() $body
                of::<InPacked>();
                of::<InIndexed>();
                of::<InHashed>();
            }
        )*
    };
}

each_storage! {
    fn insert_over_a_value_puts_the_new_one_in<B>() {
        let drops = for_every_drop(
            |scene| {
                let value = B::new(scene.ledger.make(102));
                scene.world.insert(scene.entities[2], value).unwrap();
            },
            |scene| assert_eq!(scene.world.get::<B>(scene.entities[2]).unwrap().counted().value, 102),
        );

        assert_eq!(drops, 1);
    }

    fn a_value_that_is_refused_is_dropped_and_changes_nothing<B>() {
        let drops = for_every_drop(
            |scene| {
                let dead = id(2, 9);
                assert!(scene.world.insert(dead, B::new(scene.ledger.make(0))).is_err());
                let value = B::new(scene.ledger.make(0));
                assert!(scene.world.try_add(scene.entities[2], value).is_err());
                assert!(scene.world.replace(dead, B::new(scene.ledger.make(0))).is_err());
                let taken = scene.entities[0];
                assert!(scene.world.spawn_at(taken, B::new(scene.ledger.make(0))).is_err());
            },
            |scene| assert_eq!(scene.world.pool::<B>().len(), ENTITIES),
        );

        assert_eq!(drops, 4);
    }

    fn a_value_removed_through_the_entity_is_gone<B>() {
        let drops = for_every_drop(
            |scene| _ = scene.world.entity_mut(scene.entities[1]).unwrap().remove::<B>(),
            |scene| assert!(!scene.world.has::<B>(scene.entities[1])),
        );

        assert_eq!(drops, 1);
    }

    fn clear_pool_takes_the_component_from_everyone<B>() {
        let drops = for_every_drop(
            |scene| scene.world.clear_pool::<B>(),
            |scene| assert!(scene.entities.iter().all(|&e| !scene.world.has::<B>(e))),
        );

        assert_eq!(drops, ENTITIES);
    }

    fn clear_through_the_pool_takes_the_component_from_everyone<B>() {
        let drops = for_every_drop(
            |scene| scene.world.pool_mut::<B>().clear(),
            |scene| {
                assert!(scene.world.pool::<B>().is_empty());
                assert!(scene.entities.iter().all(|&e| !scene.world.has::<B>(e)));
            },
        );

        assert_eq!(drops, ENTITIES);
    }

    fn retain_keeps_what_it_has_not_visited<B>() {
        let drops = for_every_drop(
            |scene| scene.world.pool_mut::<B>().retain(|entity, _| entity.index() % 2 == 0),
            |scene| {
                for &entity in &scene.entities {
                    let has = scene.world.has::<B>(entity);
                    assert!(has || entity.index() % 2 == 1, "{entity} was to stay");
                    assert_eq!(scene.world.get::<B>(entity).is_some(), has);
                }
            },
        );

        assert_eq!(drops, ENTITIES / 2);
    }

    fn a_predicate_that_panics_leaves_the_rest<B>() {
        for k in 0..ENTITIES {
            let mut scene = Scene::new();
            let mut calls = 0;

            let panicked = panics_as_planned(|| {
                scene.world.pool_mut::<B>().retain(|_, _| {
                    if calls == k {
                        planned_panic();
                    }
                    calls += 1;
                    calls % 2 == 0
                });
            });

            assert!(panicked);
            assert_eq!(scene.world.pool::<B>().len(), ENTITIES - k.div_ceil(2));
            scene.check();
            scene.finish();
        }
    }

    fn the_value_handed_over_by_locked_and_pools_is_the_callers<B>() {
        let drops = for_every_drop(
            |scene| {
                let value = B::new(scene.ledger.make(101));
                drop(scene.world.pool_mut::<B>().insert(scene.entities[1], value));
                let value = B::new(scene.ledger.make(202));
                drop(scene.world.locked::<B>().insert(scene.entities[2], value));
                drop(scene.world.locked::<B>().remove(scene.entities[3]));
            },
            |_| {},
        );

        assert_eq!(drops, 3);
    }

    fn a_panic_in_patch_leaves_the_value<B>() {
        let mut scene = Scene::new();
        let entity = scene.entities[3];

        assert!(panics_as_planned(|| scene.world.patch(entity, |_: &mut B| planned_panic())));
        assert!(panics_as_planned(|| {
            scene.world.locked::<B>().patch(entity, |_| planned_panic())
        }));

        assert_eq!(scene.world.get::<B>(entity).unwrap().counted().value, 3);
        scene.check();
        scene.finish();
    }

    fn a_panic_in_make_leaves_no_value<B>() {
        let mut scene = Scene::new();
        let empty = scene.world.spawn(());

        assert!(panics_as_planned(|| {
            scene.world.get_or_insert_with::<B>(empty, || planned_panic()).is_ok()
        }));

        assert!(!scene.world.has::<B>(empty) && scene.world.is_orphan(empty));
        scene.check();
        scene.finish();
    }

    fn the_values_of_a_world_are_all_dropped_with_it<B>() {
        for k in 0..ENTITIES {
            let (mut world, ledger) = (World::new(), Ledger::new());
            for n in 0..ENTITIES {
                world.spawn((B::new(ledger.make(n as u64)), Bystander(0)));
            }
            ledger.panic_at_drop(k);

            assert!(panics_as_planned(|| drop(world)));

            ledger.assert_all_dropped();
        }
    }
}

#[test]
fn despawn_leaves_nothing_of_the_entity() {
    for victim in [0, 2, ENTITIES - 1] {
        let drops = for_every_drop(
            |scene| scene.world.despawn(scene.entities[victim]).unwrap(),
            |scene| {
                assert!(!scene.world.is_alive(scene.entities[victim]));
                assert_eq!(scene.world.len(), ENTITIES - 1);
                assert_eq!(scene.world.pool::<InIndexed>().len(), ENTITIES - 1);
                assert_eq!(scene.world.pool::<Bystander>().len(), ENTITIES - 1);
            },
        );

        assert_eq!(drops, 3);
    }
}

#[test]
fn despawn_through_the_entity_leaves_nothing_of_it() {
    let drops = for_every_drop(
        |scene| scene.world.entity_mut(scene.entities[1]).unwrap().despawn(),
        |scene| assert!(!scene.world.is_alive(scene.entities[1])),
    );

    assert_eq!(drops, 3);
}

#[test]
fn despawn_batch_lets_all_of_them_die() {
    let drops = for_every_drop(
        |scene| {
            let [a, b, c] = [0, 3, 5].map(|at| scene.entities[at]);
            assert_eq!(scene.world.despawn_batch([a, b, a, id(1, 7), c]), 3);
        },
        |scene| assert_eq!(scene.world.len(), ENTITIES - 3),
    );

    assert_eq!(drops, 9);
}

#[test]
fn remove_batch_takes_from_all_before_it_drops_anything() {
    let drops = for_every_drop(
        |scene| {
            let [a, b, c] = [0, 3, 5].map(|at| scene.entities[at]);
            let batch = [a, b, a, id(1, 7), c];
            assert_eq!(scene.world.remove_batch::<(InPacked, InHashed)>(batch), 4);
        },
        |scene| {
            assert_eq!(scene.world.pool::<InPacked>().len(), ENTITIES - 3);
            assert_eq!(scene.world.pool::<InHashed>().len(), ENTITIES - 3);
        },
    );

    assert_eq!(drops, 6);
}

/// Entities, and a panic in place of the `k`th.
fn breaking_off(entities: &[Entity], k: usize) -> impl Iterator<Item = Entity> {
    entities.iter().enumerate().map(move |(at, &entity)| {
        if at == k {
            planned_panic();
        }
        entity
    })
}

#[test]
fn remove_batch_takes_from_those_before_the_panic_of_its_iterator() {
    for k in 0..ENTITIES {
        let mut scene = Scene::new();
        let entities = scene.entities.clone();

        let panicked =
            panics_as_planned(|| scene.world.remove_batch::<InIndexed>(breaking_off(&entities, k)));

        assert!(panicked);
        assert_eq!(scene.world.pool::<InIndexed>().len(), ENTITIES - k);
        scene.check();
        scene.finish();
    }
}

#[test]
fn despawn_batch_buries_those_before_the_panic_of_its_iterator() {
    for k in 0..ENTITIES {
        let mut scene = Scene::new();
        let entities = scene.entities.clone();

        let panicked = panics_as_planned(|| scene.world.despawn_batch(breaking_off(&entities, k)));

        assert!(panicked);
        assert_eq!(scene.world.len(), ENTITIES - k);
        scene.check();
        scene.finish();
    }
}

#[test]
fn clear_lets_everyone_die() {
    let drops = for_every_drop(
        |scene| scene.world.clear(),
        |scene| {
            assert!(scene.world.is_empty());
            assert!(scene.world.pool::<InIndexed>().is_empty());
            assert!(scene.world.pool::<Bystander>().is_empty());
            assert!(scene.entities.iter().all(|&entity| !scene.world.is_alive(entity)));
        },
    );

    assert_eq!(drops, 3 * ENTITIES);
}

#[test]
fn a_bundle_that_replaces_several_values_is_in_when_they_drop() {
    let drops = for_every_drop(
        |scene| scene.world.insert(scene.entities[4], all(&scene.ledger, 104)).unwrap(),
        |scene| {
            let entity = scene.entities[4];
            assert_eq!(scene.world.get::<InPacked>(entity).unwrap().0.value, 104);
            assert_eq!(scene.world.get::<InIndexed>(entity).unwrap().0.value, 104);
            assert_eq!(scene.world.get::<InHashed>(entity).unwrap().0.value, 104);
        },
    );

    assert_eq!(drops, 3);
}

#[test]
fn a_bundle_that_names_a_component_twice_keeps_the_last() {
    let drops = for_every_drop(
        |scene| {
            let (a, b) = (InPacked(scene.ledger.make(900)), InPacked(scene.ledger.make(901)));
            scene.world.spawn((a, Bystander(1), b));
        },
        |scene| {
            let values = scene.world.pool::<InPacked>().as_slice().last().unwrap().0.value;
            assert_eq!(values, 901);
        },
    );

    assert_eq!(drops, 1);
}

#[test]
fn several_components_removed_through_the_entity_are_all_gone() {
    let drops = for_every_drop(
        |scene| _ = scene.world.entity_mut(scene.entities[2]).unwrap().remove::<All>(),
        |scene| assert!(scene.world.is_orphan(scene.entities[2])),
    );

    assert_eq!(drops, 3);
}

#[test]
fn spawn_batch_keeps_those_before_the_panic_of_its_iterator() {
    for k in 0..4 {
        for walk in [true, false] {
            let mut scene = Scene::new();
            let ledger = Arc::clone(&scene.ledger);
            let bundles = (0..4).map(|n| {
                if n == k {
                    planned_panic();
                }
                (InIndexed(ledger.make(500)), InPacked(ledger.make(500)))
            });

            let panicked = panics_as_planned(|| {
                let batch = scene.world.spawn_batch(bundles);
                if walk {
                    batch.for_each(drop);
                }
            });

            assert!(panicked);
            assert_eq!(scene.world.len(), ENTITIES + k);
            scene.check();
            scene.finish();
        }
    }
}

#[test]
fn spawn_batch_keeps_those_before_the_panic_of_whoever_is_told_of_them() {
    // On both sides of the border of a block of rows.
    for k in [0, 1, 511, 512, 513] {
        let mut scene = Scene::new();
        let ledger = Arc::clone(&scene.ledger);
        let bundles = (0..600).map(|_| (InIndexed(ledger.make(500)), InPacked(ledger.make(500))));
        let mut told = Vec::new();

        let panicked = panics_as_planned(|| {
            scene.world.spawn_batch(bundles).for_each(|entity| {
                told.push(entity);
                if told.len() == k + 1 {
                    planned_panic();
                }
            });
        });

        assert!(panicked);
        assert_eq!(scene.world.len(), ENTITIES + told.len());
        assert!(told.iter().all(|&entity| scene.world.has::<(InIndexed, InPacked)>(entity)));
        scene.check();
        scene.finish();
    }
}

#[test]
fn spawn_batch_of_bundles_whose_drop_panics_ends_there() {
    let drops = for_every_drop(
        |scene| {
            let ledger = Arc::clone(&scene.ledger);
            let twice = |n: u64| (InPacked(ledger.make(900 + n)), InPacked(ledger.make(950 + n)));
            scene.world.spawn_batch((0..3).map(twice)).for_each(drop);
        },
        // The one whose bundle replaced a value of its own is alive, those behind it never came.
        |scene| assert!((ENTITIES + 1..=ENTITIES + 3).contains(&scene.world.len())),
    );

    assert_eq!(drops, 3);
}

#[derive(Debug)]
struct Resource(#[expect(dead_code, reason = "kept for its drop")] Counted);

#[test]
fn a_replaced_resource_is_out_when_it_drops() {
    let (mut world, ledger) = (World::new(), Ledger::new());
    world.insert_resource(Resource(ledger.make(1)));
    ledger.panic_at_drop(0);

    assert!(panics_as_planned(|| drop(world.insert_resource(Resource(ledger.make(2))))));

    assert_eq!(ledger.living(), 1);
    assert!(world.has_resource::<Resource>());
    ledger.panic_at_drop(0);
    assert!(panics_as_planned(|| drop(world.insert_non_send(Resource(ledger.make(3))))));
    assert!(world.non_send::<Resource>().is_ok());
    ledger.panic_at_drop(0);
    assert!(panics_as_planned(|| drop(world.insert_resource(Resource(ledger.make(4))))));
    assert!(world.try_resource::<Resource>().is_ok());
    drop(world);
    ledger.assert_all_dropped();
}

#[test]
fn a_resource_whose_making_panics_is_absent() {
    let mut world = World::new();

    assert!(panics_as_planned(|| {
        world.resource_or_insert_with::<u32>(|| planned_panic());
    }));

    assert!(!world.has_resource::<u32>());
    assert_eq!(*world.resource_or_insert_with(|| 7_u32), 7);
}

#[test]
fn components_resources_and_those_in_limbo_are_all_dropped_with_the_world() {
    for k in 0..3 * ENTITIES + 2 {
        let mut scene = Scene::new();
        scene.world.insert_resource(Resource(scene.ledger.make(0)));
        scene.world.insert_non_send(scene.ledger.make(0));
        scene.ledger.panic_at_drop(k);

        assert!(panics_as_planned(|| drop(std::mem::take(&mut scene.world))));

        scene.ledger.assert_all_dropped();
    }
}

/// Runs a change of a map for every k, on its own and without a world.
fn for_every_drop_of_a_map<S: Storage<Counted>>(
    act: impl Fn(&mut EntityMap<Counted, S>),
    after: impl Fn(&EntityMap<Counted, S>),
) -> usize {
    for k in 0.. {
        let ledger = Ledger::new();
        let mut map: EntityMap<Counted, S> = EntityMap::default();
        for n in 0..5 {
            map.insert(id(n * 2000, n), ledger.make(u64::from(n)));
        }
        ledger.panic_at_drop(k);

        let panicked = panics_as_planned(|| act(&mut map));

        ledger.defuse();
        ledger.assert_none_dropped_twice();
        assert_eq!(AnyMap::check(&map), Ok(()));
        assert_eq!(ledger.living(), map.len());
        for (entity, value) in &map {
            assert_eq!(
                (u64::from(entity.version()), false),
                (value.value, ledger.is_dropped(value.number))
            );
        }
        after(&map);
        map.insert(id(1, 99), ledger.make(99));
        assert_eq!(map.remove(id(1, 99)).unwrap().value, 99);
        drop(map);
        ledger.assert_all_dropped();
        if !panicked {
            return k;
        }
    }
    unreachable!("a map has a finite number of values")
}

fn maps_survive<S: Storage<Counted>>() {
    let clear = for_every_drop_of_a_map::<S>(|map| map.clear(), |map| assert!(map.is_empty()));
    let erased = for_every_drop_of_a_map::<S>(
        |map| (map as &mut dyn AnyMap).clear(),
        |map| assert!(map.is_empty()),
    );
    let discard = for_every_drop_of_a_map::<S>(
        |map| assert!(AnyMap::discard(map, id(4000, 2))),
        |map| assert!(!map.contains(id(4000, 2)) && map.len() == 4),
    );
    let retain = for_every_drop_of_a_map::<S>(
        |map| map.retain(|entity, _| entity.version() == 3),
        |map| assert!(map.contains(id(6000, 3))),
    );
    let over = for_every_drop_of_a_map::<S>(|map| drop(map.remove(id(0, 0))), |_| {});

    assert_eq!((clear, erased, discard, retain, over), (5, 5, 1, 4, 1));
    for k in 0..5 {
        let ledger = Ledger::new();
        let mut map: EntityMap<Counted, S> = EntityMap::default();
        for n in 0..5 {
            map.insert(id(n, 0), ledger.make(0));
        }
        ledger.panic_at_drop(k);

        assert!(panics_as_planned(|| drop(map)));

        ledger.assert_all_dropped();
    }
}

#[test]
fn maps_alone_survive_clear_retain_discard_and_drop() {
    maps_survive::<Packed<Counted>>();
    maps_survive::<Indexed<Counted>>();
    maps_survive::<Hashed<Counted>>();
}

/// A storage as a user would write it, around one of ours; its `push` panics on the value 666,
/// and its `reserve` on 13.
#[derive(Default)]
struct Fussy(Packed<Picky>);

#[allow(unsafe_code, reason = "implements the unsafe trait as a user would")]
// SAFETY: all calls are passed on to a storage that keeps the promises; one panics before that.
unsafe impl Storage<Picky> for Fussy {
    type Map = PagedMap;
    type Tracking = Untracked;

    const CONTIGUOUS: bool = true;

    fn push(&mut self, entity: Entity, value: Picky) {
        if value.0.value == 666 {
            planned_panic();
        }
        self.0.push(entity, value);
    }

    fn swap_remove(&mut self, at: usize, entity: Entity) -> Picky {
        self.0.swap_remove(at, entity)
    }

    fn swap(&mut self, a: usize, b: usize) {
        Storage::swap(&mut self.0, a, b);
    }

    unsafe fn ptr(&self, at: usize, entity: Entity) -> *mut Picky {
        // SAFETY: promised by the caller.
        unsafe { self.0.ptr(at, entity) }
    }

    fn base(&self) -> *mut Picky {
        self.0.base()
    }

    fn clear(&mut self) {
        Storage::clear(&mut self.0);
    }

    fn reserve(&mut self, additional: usize) {
        if additional == 13 {
            planned_panic();
        }
        Storage::reserve(&mut self.0, additional);
    }

    fn shrink_to_fit(&mut self) {
        Storage::shrink_to_fit(&mut self.0);
    }

    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

#[derive(Debug)]
struct Picky(Counted);

impl Component for Picky {
    type Storage = Fussy;
}

#[test]
fn a_storage_that_panics_in_push_leaves_the_pool_as_it_was() {
    let mut scene = Scene::new();
    let entities = scene.entities.clone();
    scene.world.insert(entities[0], Picky(scene.ledger.make(1))).unwrap();

    // Alone, between two others of a bundle, on the way to life, and through the pool.
    let bad = |scene: &Scene| Picky(scene.ledger.make(666));
    let value = bad(&scene);
    assert!(panics_as_planned(|| scene.world.insert(entities[1], value)));
    let bundle = (Bystander(2), bad(&scene), InPacked(scene.ledger.make(2)));
    assert!(panics_as_planned(|| scene.world.insert(entities[2], bundle)));
    let bundle = (Bystander(9), bad(&scene));
    assert!(panics_as_planned(|| scene.world.spawn(bundle)));
    let value = bad(&scene);
    assert!(panics_as_planned(|| scene.world.pool_mut::<Picky>().insert(entities[3], value)));
    let value = bad(&scene);
    assert!(panics_as_planned(|| _ = scene.world.get_or_insert_with(entities[4], || value)));

    assert_eq!(scene.world.pool::<Picky>().entities(), [entities[0]]);
    assert_eq!(scene.world.pool::<Picky>().as_slice()[0].0.value, 1);
    assert!(entities[1..].iter().all(|&entity| !scene.world.has::<Picky>(entity)));
    assert_eq!(scene.world.verify(), Ok(()));
    scene.world.insert(entities[1], Picky(scene.ledger.make(2))).unwrap();
    assert_eq!(scene.world.pool::<Picky>().len(), 2);
    let (world, ledger) = (scene.world, scene.ledger);
    drop(world);
    ledger.assert_all_dropped();
}

#[test]
fn a_storage_that_panics_in_push_ends_a_batch_at_that_row() {
    for k in [0, 1, 511, 512, 513] {
        for walk in [true, false] {
            let mut scene = Scene::new();
            let ledger = Arc::clone(&scene.ledger);
            let bundles = (0..600).map(|n| {
                let value = if n == k { 666 } else { 500 };
                let picky = Picky(ledger.make(value));
                (InIndexed(ledger.make(500)), picky, InPacked(ledger.make(500)))
            });

            let panicked = panics_as_planned(|| {
                let batch = scene.world.spawn_batch(bundles);
                if walk {
                    batch.for_each(drop);
                }
            });

            assert!(panicked);
            assert_eq!(scene.world.pool::<Picky>().len(), k);
            assert_eq!(scene.world.verify(), Ok(()));
            for entity in scene.world.entities().skip(ENTITIES).take(k) {
                assert!(scene.world.has::<(InIndexed, Picky, InPacked)>(entity), "{entity}");
            }
            // The one that failed has at most what came before.
            if let Some(last) = scene.world.entities().nth(ENTITIES + k) {
                assert!(!scene.world.has_any::<(Picky, InPacked)>(last));
            }
            assert!(scene.world.len() <= ENTITIES + k + 1);
            let (world, ledger) = (scene.world, scene.ledger);
            ledger.assert_none_dropped_twice();
            drop(world);
            ledger.assert_all_dropped();
        }
    }
}

#[test]
fn a_storage_that_panics_in_reserve_leaves_the_world_as_it_was() {
    for walk in [true, false] {
        let mut scene = Scene::new();
        scene.world.insert(scene.entities[0], Picky(scene.ledger.make(1))).unwrap();
        let ledger = Arc::clone(&scene.ledger);
        let bundles: Vec<_> = (0..13)
            .map(|_| {
                (InIndexed(ledger.make(500)), Picky(ledger.make(500)), InPacked(ledger.make(500)))
            })
            .collect();

        let panicked = panics_as_planned(|| {
            let batch = scene.world.spawn_batch(bundles);
            if walk {
                batch.for_each(drop);
            }
        });

        assert!(panicked);
        assert_eq!(scene.world.verify(), Ok(()));
        assert_eq!(scene.world.pool::<Picky>().entities(), [scene.entities[0]]);
        assert_eq!(scene.world.pool::<InIndexed>().len(), scene.world.pool::<InHashed>().len());
        assert!(scene.entities.iter().all(|&entity| scene.world.has::<All>(entity)));
        let (world, ledger) = (scene.world, scene.ledger);
        drop(world);
        ledger.assert_all_dropped();
    }
}

/// Whether a test of this file, run alone in a process of its own with `ESKER_CHILD` set, ends
/// by itself (and does not abort).
fn ends_by_itself(test: &str) -> bool {
    let binary = std::env::current_exe().expect("the test runs from a file");
    let child = std::process::Command::new(binary)
        .args(["--exact", test, "--nocapture"])
        .env("ESKER_CHILD", "1")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    child.expect("the test can run itself").success()
}

#[test]
fn a_batch_that_runs_out_of_ids_panics_once_and_does_not_abort() {
    if std::env::var_os("ESKER_CHILD").is_none() {
        let name = "a_batch_that_runs_out_of_ids_panics_once_and_does_not_abort";
        assert!(ends_by_itself(name), "the process aborted: two panics at once");
        return;
    }
    type Walk = fn(esker::world::SpawnBatch<'_, std::vec::IntoIter<Bystander>>);
    let walks: [Walk; 3] = [
        |batch| drop(batch),
        |batch| batch.for_each(drop),
        |batch| {
            _ = batch.collect::<Vec<_>>();
        },
    ];
    for walk in walks {
        let mut world = World::builder().entity_limit(2).build();

        let bundles: Vec<Bystander> = (0..5).map(Bystander).collect();
        let result = catch_unwind(AssertUnwindSafe(|| walk(world.spawn_batch(bundles))));

        assert!(result.is_err());
        assert_eq!(world.len(), 2);
        assert_eq!(world.pool::<Bystander>().len(), 2);
        assert_eq!(world.verify(), Ok(()));
    }
}
