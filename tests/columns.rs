//! Columns: a world filled by `spawn_columns` is the one that spawning row by row gives.

#![cfg(feature = "derive")]

mod common;

use common::{Ledger, Rng, SeedReport, panics_as_planned, planned_panic};
use esker::entity::Entity;
use esker::sparse::PagedMap;
use esker::storage::{Packed, Storage, Untracked};
use esker::world::ColumnsError;
use esker::{Component, World};

#[derive(Component, Debug, Clone, PartialEq)]
struct Name(String);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = Indexed)]
struct Place(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = Hashed)]
struct Odd(u64);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Mark;

#[derive(Component)]
struct Plain(#[expect(dead_code, reason = "only where it lies counts")] u64);

/// A world in which entities have lived and died, or just filled some pages.
fn used_world(rng: &mut Rng) -> World {
    let mut world = World::new();
    if rng.one_in(4) {
        world.spawn_batch((0..1024 * rng.below(3)).map(|n| (Name(n.to_string()), Mark)));
        return world;
    }
    for n in 0..rng.below(3000) {
        world.spawn((Name(n.to_string()), Mark));
    }
    let dying: Vec<Entity> = world.entities().filter(|_| rng.one_in(5)).collect();
    world.despawn_batch(dying);
    if rng.one_in(3) {
        let far = common::id(3000 + rng.index_below(3000), 2);
        world.spawn_at(far, Mark).unwrap();
    }
    world
}

#[test]
fn columns_give_the_world_that_rows_give() {
    for seed in 0..60 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test columns" };
        let mut rng = Rng::new(seed);
        let [mut by_columns, mut by_rows] = [0; 2].map(|_| used_world(&mut Rng::new(seed)));
        let rows: Vec<_> = (0..rng.below(5000) as u32)
            .map(|n| (Name(n.to_string()), Place(n), Odd(n.into()), Mark))
            .collect();

        let columns = (
            rows.iter().map(|row| row.0.clone()).collect::<Vec<_>>(),
            (rows.iter().map(|row| row.1).collect::<Vec<_>>(), vec![Mark; rows.len()]),
            rows.iter().map(|row| row.2).collect::<Vec<_>>(),
        );
        let ids: Vec<_> = by_columns.spawn_columns(columns).unwrap().collect();
        let expected: Vec<Entity> = rows.into_iter().map(|row| by_rows.spawn(row)).collect();

        assert_eq!(ids, expected);
        assert_eq!(by_columns.pool::<Name>().entities(), by_rows.pool::<Name>().entities());
        assert_eq!(by_columns.pool::<Mark>().entities(), by_rows.pool::<Mark>().entities());
        assert_eq!(by_columns.pool::<Name>().as_slice(), by_rows.pool::<Name>().as_slice());
        for &id in &ids {
            assert_eq!(by_columns.get::<Place>(id).as_deref(), by_rows.get::<Place>(id).as_deref());
            assert_eq!(by_columns.get::<Odd>(id).as_deref(), by_rows.get::<Odd>(id).as_deref());
        }
        by_columns.verify().unwrap();
        assert_eq!(by_columns.spawn(()), by_rows.spawn(()));
    }
}

#[test]
fn columns_that_make_no_rows_are_refused_and_dropped() {
    let mut world = World::builder().entity_limit(3).build();
    let before = world.spawn(Name("first".into()));

    let unequal = world.spawn_columns((vec![Place(1)], vec![Mark, Mark]));
    let repeated = world.spawn_columns((vec![Mark], vec![Mark]));
    let too_many = world.spawn_columns(vec![Place(1), Place(2), Place(3)]);

    let message = unequal.unwrap_err().to_string();
    assert!(message.contains("Place` has 1") && message.contains("Mark` has 2"), "{message}");
    assert!(
        matches!(repeated, Err(ColumnsError::Repeated { component }) if component.contains("Mark"))
    );
    assert!(matches!(too_many, Err(ColumnsError::Out(_))));
    assert_eq!(world.entities().collect::<Vec<_>>(), [before]);
    assert_eq!(world.spawn_columns(vec![Place(1), Place(2)]).unwrap().len(), 2);
    world.verify().unwrap();
}

#[test]
fn empty_entities_at_once_are_those_that_come_one_by_one() {
    for seed in 0..30 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test columns" };
        let [mut at_once, mut one_by_one] = [0; 2].map(|_| used_world(&mut Rng::new(seed)));

        let ids: Vec<_> = at_once.spawn_empty_batch(700).unwrap().collect();

        let expected: Vec<Entity> = (0..700).map(|_| one_by_one.spawn_empty()).collect();
        assert_eq!(ids, expected);
        at_once.verify().unwrap();
    }
    let mut small = World::builder().entity_limit(5).build();
    assert!(small.spawn_empty_batch(6).is_err() && small.is_empty());
    assert_eq!(small.spawn_empty_batch(5).unwrap().len(), 5);
}

#[test]
fn the_first_column_is_taken_over_where_it_lies_unless_there_is_room_for_it() {
    let mut world = World::new();
    let values: Vec<Plain> = (0..1000).map(Plain).collect();
    let at = values.as_ptr();

    world.spawn_columns(values).unwrap();
    assert_eq!(world.pool::<Plain>().as_slice().as_ptr(), at);

    // What was reserved stays.
    world.clear();
    let room = world.pool::<Plain>().as_slice().as_ptr();
    world.spawn_columns((0..10).map(Plain).collect::<Vec<_>>()).unwrap();
    assert_eq!(world.pool::<Plain>().as_slice().as_ptr(), room);
}

#[test]
fn columns_without_rows_spawn_nothing() {
    let mut world = World::new();

    assert_eq!(world.spawn_columns(()).unwrap().len(), 0);
    assert_eq!(world.spawn_columns(Vec::<Mark>::new()).unwrap().len(), 0);

    assert!(world.is_empty());
}

/// Has no `append`, and refuses the third value it is given.
struct Weary<T>(Packed<T>, usize);

impl<T> Default for Weary<T> {
    fn default() -> Self {
        Self(Packed::default(), 0)
    }
}

// SAFETY: all is left to `Packed`; a push that unwinds has taken nothing in.
#[expect(unsafe_code, reason = "a storage as a user would write it")]
unsafe impl<T> Storage<T> for Weary<T> {
    type Map = PagedMap;
    type Tracking = Untracked;
    const CONTIGUOUS: bool = true;

    fn push(&mut self, entity: Entity, value: T) {
        self.1 += 1;
        if self.1 == 3 {
            planned_panic();
        }
        self.0.push(entity, value);
    }

    fn swap_remove(&mut self, at: usize, entity: Entity) -> T {
        self.0.swap_remove(at, entity)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.0.swap(a, b);
    }

    unsafe fn ptr(&self, at: usize, entity: Entity) -> *mut T {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.ptr(at, entity) }
    }

    fn base(&self) -> *mut T {
        self.0.base()
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn reserve(&mut self, additional: usize) {
        self.0.reserve(additional);
    }

    fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

#[derive(Debug)]
struct Heavy(#[expect(dead_code, reason = "only its drop counts")] common::Counted);

impl Component for Heavy {
    type Storage = Weary<Self>;
}

#[test]
fn a_storage_that_unwinds_leaves_rows_that_sign_for_what_they_have() {
    let ledger = Ledger::new();
    let mut world = World::new();
    let heavy: Vec<Heavy> = (0..5).map(|n| Heavy(ledger.make(n))).collect();
    let columns = (vec![Mark; 5], heavy, vec![Place(7); 5]);

    assert!(panics_as_planned(|| world.spawn_columns(columns)));

    world.verify().unwrap();
    let ids: Vec<Entity> = world.entities().collect();
    assert_eq!(ids.len(), 5);
    assert!(ids.iter().all(|&id| world.has::<Mark>(id) && !world.has::<Place>(id)));
    assert_eq!(ids.iter().filter(|&&id| world.has::<Heavy>(id)).count(), 2);
    drop(world);
    ledger.assert_all_dropped();
}
