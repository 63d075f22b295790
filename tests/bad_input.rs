//! Ids that name nobody, in every call that takes an id: refused, never a panic, never another
//! entity's value, nothing made, and no memory that grows with the number in the id.

#![cfg(feature = "derive")]
#![allow(unreachable_pub, reason = "modules of one test crate")]

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::{Ledger, Rng, SeedReport, id, later};
use counting::bytes_asked;
use esker::entity::{Entities, SpawnAtError};
use esker::sparse::{HashedMap, PagedMap, SparseMap, SparseSet};
use esker::storage::{AnyMap, EntityMap, Hashed, Indexed, Packed, Storage};
use esker::world::ComponentError;
use esker::{Component, Entity, With, Without, World};

#[derive(Component, Debug, PartialEq)]
struct InPacked(u64);

#[derive(Component, Debug, PartialEq)]
#[component(storage = Indexed)]
struct InIndexed(u64);

#[derive(Component, Debug, PartialEq)]
#[component(storage = Hashed)]
struct InHashed(u64);

#[derive(Component, Debug, PartialEq)]
struct Tag;

/// One nobody has had yet.
#[derive(Component, Debug, PartialEq)]
struct Unknown(u64);

/// A component with a number in it.
trait Valued: Component + PartialEq + std::fmt::Debug {
    fn new(value: u64) -> Self;
}

impl Valued for InPacked {
    fn new(value: u64) -> Self {
        Self(value)
    }
}

impl Valued for InIndexed {
    fn new(value: u64) -> Self {
        Self(value)
    }
}

impl Valued for InHashed {
    fn new(value: u64) -> Self {
        Self(value)
    }
}

const VALUE: u64 = 4711;

/// A world whose index 0 is in its third life and index 2 is dead; what lives has everything.
fn world() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let everything = || (InPacked(VALUE), InIndexed(VALUE), InHashed(VALUE), Tag);
    for _ in 0..2 {
        let first = world.spawn(everything());
        world.despawn(first).unwrap();
    }
    let living: Vec<Entity> = (0..3).map(|_| world.spawn(everything())).collect();
    world.despawn(living[2]).unwrap();
    (world, vec![living[0], living[1]])
}

/// Ids of all kinds that name nobody in that world.
fn strangers(living: &[Entity]) -> Vec<Entity> {
    let mut ids = vec![
        // Stale: the index has a successor, or none.
        id(0, 0),
        id(0, 1),
        id(2, 0),
        // Of the future.
        later(living[0], 1),
        later(living[1], 1),
        id(2, 1),
        id(2, 2),
        id(3, 0),
        // Borders of pages, of numbers and of what an id can be.
        id(4095, 0),
        id(4096, 0),
        id(4_000_000_000, 0),
        id(Entity::MAX_INDEX, 0),
        id(0, Entity::MAX_VERSION),
        id(Entity::MAX_INDEX, Entity::MAX_VERSION),
    ];
    // Of another world.
    let mut other = World::new();
    other.spawn_batch([(); 50]);
    ids.extend(other.entities().filter(|entity| entity.index() >= 2));
    // Made up.
    let mut rng = Rng::new(5);
    ids.extend((0..200).filter_map(|_| Entity::try_from_bits(rng.next())));
    ids.retain(|entity| !living.contains(entity));
    ids
}

/// Runs `ask` for every stranger and checks that the world is as it was, every time.
fn for_strangers(mut ask: impl FnMut(&mut World, Entity)) {
    let (mut world, living) = world();
    for stranger in strangers(&living) {
        // The id is all there is to repeat.
        let _report = SeedReport { seed: stranger.to_bits(), how_to_repeat: "it is the id's bits" };

        ask(&mut world, stranger);

        assert!(world.entities().eq(living.iter().copied()), "{stranger}");
        for &entity in &living {
            assert_eq!(*world.get::<InPacked>(entity).unwrap(), InPacked(VALUE));
            assert_eq!(*world.get::<InIndexed>(entity).unwrap(), InIndexed(VALUE));
            assert_eq!(*world.get::<InHashed>(entity).unwrap(), InHashed(VALUE));
            assert!(world.has::<Tag>(entity));
        }
        assert!(world.component_id::<Unknown>().is_none(), "{stranger}: a pool was made");
        assert_eq!(world.len(), 2);
    }
    assert_eq!(world.pool::<InPacked>().len(), 2);
    assert_eq!(world.verify(), Ok(()));
}

#[test]
fn the_world_answers_no_when_asked() {
    for_strangers(|world, stranger| {
        assert!(!world.is_alive(stranger));
        assert!(world.get::<InPacked>(stranger).is_none());
        assert!(world.get::<InIndexed>(stranger).is_none());
        assert!(world.get::<InHashed>(stranger).is_none());
        assert!(world.get::<Unknown>(stranger).is_none());
        assert!(world.try_get::<InIndexed>(stranger).unwrap().is_none());
        assert!(world.get_mut::<InPacked>(stranger).is_none());
        assert!(world.get_mut::<InIndexed>(stranger).is_none());
        assert!(world.get_mut::<InHashed>(stranger).is_none());
        assert!(!world.has::<Tag>(stranger) && !world.has::<()>(stranger));
        assert!(!world.has_any::<(Tag, InPacked)>(stranger));
        assert!(!world.is_orphan(stranger));
        assert_eq!(world.component_names(stranger).count(), 0);
        assert_eq!(world.component_ids(stranger).count(), 0);
        assert_ne!(world.entity_at(stranger.index()), Some(stranger));
        assert_eq!(world.entity(stranger).unwrap_err().entity, stranger);
    });
}

#[test]
fn the_world_refuses_to_change() {
    for_strangers(|world, stranger| {
        let dead = |result: Result<(), ComponentError>| {
            assert!(matches!(result, Err(ComponentError::Dead(_))), "{stranger}: {result:?}");
        };
        assert_eq!(world.insert(stranger, InPacked(1)).unwrap_err().entity, stranger);
        assert!(world.insert(stranger, (InIndexed(1), InHashed(1), Tag, Unknown(1))).is_err());
        assert!(world.insert(stranger, ()).is_err());
        dead(world.try_add(stranger, Unknown(1)));
        dead(world.try_add(stranger, InIndexed(1)));
        dead(world.replace(stranger, InPacked(1)).map(drop));
        dead(world.replace(stranger, Unknown(1)).map(drop));
        dead(world.patch(stranger, |_: &mut InHashed| panic!("called for a stranger")));
        assert!(world.remove::<InPacked>(stranger).is_err());
        assert!(world.remove::<(InIndexed, Unknown)>(stranger).is_err());
        assert!(world.take::<(InPacked, InHashed)>(stranger).is_err());
        let made = world.get_or_insert_with(stranger, || -> Unknown { panic!("called") });
        assert!(made.is_err());
        assert!(world.entity_mut(stranger).is_err());
        assert_eq!(world.despawn(stranger).unwrap_err().entity, stranger);
        assert_eq!(world.despawn_batch([stranger, stranger]), 0);
    });
}

#[test]
fn an_id_whose_index_is_taken_cannot_be_demanded() {
    let (mut world, living) = world();

    for version in [0, 1, 3, Entity::MAX_VERSION] {
        let demanded = id(0, version);
        let taken = SpawnAtError::Taken { demanded, living: living[0] };
        assert_eq!(world.spawn_at(demanded, (InPacked(1), Unknown(1))), Err(taken));
    }

    assert_eq!(*world.get::<InPacked>(living[0]).unwrap(), InPacked(VALUE));
    assert!(world.component_id::<Unknown>().is_none());
    assert_eq!(world.verify(), Ok(()));
}

#[test]
fn pools_and_locked_pools_refuse() {
    fn of<V: Valued>(world: &World, stranger: Entity) {
        let pool = world.pool::<V>();
        assert!(!pool.contains(stranger) && pool.get(stranger).is_none());
        drop(pool);
        let mut pool = world.pool_mut::<V>();
        assert!(!pool.contains(stranger) && pool.get(stranger).is_none());
        assert!(pool.get_mut(stranger).is_none());
        assert_eq!(pool.insert(stranger, V::new(1)).unwrap_err().entity, stranger);
        assert_eq!(pool.remove(stranger), None);
        drop(pool);
        let locked = world.locked::<V>();
        assert!(!locked.contains(stranger));
        assert!(locked.insert(stranger, V::new(1)).is_err());
        assert_eq!(locked.remove(stranger), None);
        assert_eq!(locked.patch(stranger, |_| panic!("called for a stranger")), None::<()>);
    }
    for_strangers(|world, stranger| {
        of::<InPacked>(world, stranger);
        of::<InIndexed>(world, stranger);
        of::<InHashed>(world, stranger);
    });
}

#[test]
fn queries_refuse() {
    for_strangers(|world, stranger| {
        let all = world.query::<(Entity, &InPacked, &InIndexed, Option<&InHashed>)>();
        assert!(!all.contains(stranger) && all.get(stranger).is_none());
        drop(all);
        let mut writing = world.query::<(&mut InIndexed, Option<&mut InHashed>)>();
        assert!(!writing.contains(stranger) && writing.get_mut(stranger).is_none());
        drop(writing);
        // Terms and filters that ask for nothing.
        let anyone = world.query::<Entity>();
        assert!(!anyone.contains(stranger) && anyone.get(stranger).is_none());
        let maybe = world.query::<Option<&InPacked>>();
        assert!(!maybe.contains(stranger) && maybe.get(stranger).is_none());
        let without = world.query_filtered::<(), Without<Unknown>>();
        assert!(!without.contains(stranger) && without.get(stranger).is_none());
        let with = world.query_filtered::<Entity, With<Tag>>();
        assert!(!with.contains(stranger) && with.get(stranger).is_none());
    });
}

#[test]
fn the_book_of_ids_refuses() {
    let mut ids = Entities::new();
    for _ in 0..2 {
        let first = ids.spawn();
        ids.despawn(first).unwrap();
    }
    let living = [ids.spawn(), ids.spawn()];

    for stranger in strangers(&living) {
        assert!(!ids.is_alive(stranger));
        assert_ne!(ids.at(stranger.index()), Some(stranger));
        assert_eq!(ids.despawn(stranger).unwrap_err().entity, stranger);
        assert!(ids.iter().eq(living));
    }
    assert_eq!(ids.at(u32::MAX), None);
    assert_eq!(ids.check(), Ok(()));
}

#[test]
fn sets_and_maps_refuse() {
    fn set<M: SparseMap>() {
        let living = [id(0, 2), id(1, 0)];
        let mut set: SparseSet<M> = living.into_iter().collect();

        for stranger in strangers(&living) {
            assert!(!set.contains(stranger));
            assert_eq!(set.position(stranger), None);
            assert_eq!(set.remove(stranger), None);
        }

        assert_eq!(set.as_slice(), living);
        assert_eq!(set.check(), Ok(()));
    }
    fn map<S: Storage<u64>>() {
        let living = [id(0, 2), id(1, 0)];
        let mut map: EntityMap<u64, S> = EntityMap::default();
        living.iter().for_each(|&entity| _ = map.insert(entity, VALUE));

        for stranger in strangers(&living) {
            assert!(!map.contains(stranger) && map.get(stranger).is_none());
            assert!(map.get_mut(stranger).is_none());
            assert_eq!(map.remove(stranger), None);
            let erased: &mut dyn AnyMap = &mut map;
            assert!(!erased.contains(stranger) && erased.value(stranger).is_none());
            assert!(!erased.discard(stranger));
        }

        assert_eq!(map.entities(), living);
        assert_eq!(AnyMap::check(&map), Ok(()));
    }
    set::<PagedMap>();
    set::<HashedMap>();
    map::<Packed<u64>>();
    map::<Indexed<u64>>();
    map::<Hashed<u64>>();
}

#[test]
fn ids_kept_across_a_clear_stay_dead() {
    let (mut world, living) = world();
    world.clear();
    let reborn: Vec<Entity> = (0..3).map(|_| world.spawn(InPacked(1))).collect();

    for &old in &living {
        assert!(!reborn.contains(&old) && !world.is_alive(old));
        assert!(world.get::<InPacked>(old).is_none());
        assert!(world.insert(old, InPacked(2)).is_err());
        assert!(world.despawn(old).is_err());
    }
    assert_eq!(world.pool::<InPacked>().len(), 3);
    assert_eq!(world.verify(), Ok(()));
}

#[test]
fn an_id_of_another_world_that_lives_here_names_the_one_that_lives_here() {
    // Documented: ids of different worlds are not told apart.
    let (mut here, mut there) = (World::new(), World::new());
    let ours = here.spawn(InPacked(1));
    let theirs = there.spawn(InPacked(2));

    assert_eq!(ours, theirs);
    assert_eq!(*here.get::<InPacked>(theirs).unwrap(), InPacked(1));
}

#[test]
fn values_refused_with_the_id_are_dropped_once() {
    #[derive(Component, Debug)]
    struct Owned(#[expect(dead_code, reason = "kept for its drop")] common::Counted);
    let (mut world, ledger) = (World::new(), Ledger::new());
    let gone = world.spawn(Owned(ledger.make(0)));
    world.despawn(gone).unwrap();

    assert!(world.insert(gone, Owned(ledger.make(1))).is_err());
    assert!(world.try_add(gone, Owned(ledger.make(2))).is_err());
    assert!(world.replace(gone, Owned(ledger.make(3))).is_err());
    assert!(world.pool_mut::<Owned>().insert(gone, Owned(ledger.make(4))).is_err());
    assert!(world.locked::<Owned>().insert(gone, Owned(ledger.make(5))).is_err());

    ledger.assert_all_dropped();
}

const FAR: u32 = 4_000_000_000;
/// What a page of ids, a page of a sparse map, a page of values and small tables may take.
const A_FEW_PAGES: usize = 256 * 1024;

#[test]
fn asking_about_a_far_id_allocates_next_to_nothing() {
    let (mut world, _) = world();

    for index in [5000, 1_000_000, FAR, Entity::MAX_INDEX] {
        let far = id(index, 3);
        let asked = bytes_asked(|| {
            assert!(!world.is_alive(far) && !world.has::<(InPacked, Tag)>(far));
            assert!(world.get::<InIndexed>(far).is_none());
            assert!(world.get_mut::<InHashed>(far).is_none());
            assert!(world.insert(far, (InPacked(1), InIndexed(1), InHashed(1))).is_err());
            assert!(world.try_add(far, InIndexed(1)).is_err());
            assert!(world.remove::<InIndexed>(far).is_err());
            assert!(world.take::<InHashed>(far).is_err());
            assert!(world.get_or_insert_with(far, || InIndexed(1)).is_err());
            assert!(world.despawn(far).is_err());
            assert_eq!(world.despawn_batch([far]), 0);
            assert_eq!(world.entity_at(index), None);
            assert!(world.pool_mut::<InIndexed>().insert(far, InIndexed(1)).is_err());
            assert!(world.pool_mut::<InPacked>().remove(far).is_none());
            assert!(world.locked::<InHashed>().insert(far, InHashed(1)).is_err());
            assert!(world.query::<(Entity, &InPacked)>().get(far).is_none());
        });

        assert!(asked < 4096, "{asked} bytes for {far}");
    }
}

#[test]
fn a_demanded_far_id_with_components_costs_a_few_pages() {
    for index in [5000, 1_000_000, FAR, Entity::MAX_INDEX] {
        let far = id(index, 3);
        let (mut empty, (mut used, living)) = (World::new(), world());

        for world in [&mut empty, &mut used] {
            let asked = bytes_asked(|| {
                world.spawn_at(far, (InPacked(1), InIndexed(1), InHashed(1), Tag)).unwrap();
            });

            assert!(asked < A_FEW_PAGES, "{asked} bytes for {far}");
            assert!(world.is_alive(far));
            assert_eq!(*world.get::<InIndexed>(far).unwrap(), InIndexed(1));
            let asked = bytes_asked(|| {
                assert_eq!(world.query::<(Entity, &Tag)>().iter().last().unwrap().0, far)
            });
            assert!(asked < 4096, "{asked} bytes to iterate");
            let asked = bytes_asked(|| assert_eq!(world.entities().last(), Some(far)));
            assert!(asked < 4096, "{asked} bytes to walk the living");
        }
        assert_eq!(used.len(), living.len() + 1);
        used.despawn(far).unwrap();
        assert!(used.entities().eq(living));
        assert_eq!(used.verify(), Ok(()));
    }
}

// Defect 14: they were counted one by one, to four billion.
#[test]
fn more_entities_than_there_are_ids_are_refused_at_once() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..100).map(InPacked)).collect();
    world.despawn_batch(ids[20..40].iter().copied());
    world.spawn_at(id(7_000_000, 3), ()).unwrap();
    world.spawn_at(id(25, 0), ()).unwrap();
    let left = Entity::MAX_INDEX as usize - world.len();

    for count in [left + 1, u32::MAX as usize, usize::MAX] {
        let refused = world.spawn_empty_batch(count).unwrap_err();
        assert_eq!(refused.limit, Entity::MAX_INDEX);
    }
    let mut small = World::builder().entity_limit(10).build();
    assert!(small.spawn_empty_batch(11).is_err());
    assert_eq!(small.spawn_empty_batch(10).unwrap().len(), 10);
    world.verify().unwrap();
}

/// Says that this many come, and gives fewer.
struct Liar<I>(I, usize);

impl<I: Iterator> Iterator for Liar<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, None)
    }
}

#[derive(Component)]
struct Tile(#[allow(dead_code, reason = "it is large")] [u64; 4096]);

#[derive(Component)]
#[component(storage = Indexed)]
struct PinnedTile(#[allow(dead_code, reason = "it is large")] [u64; 4096]);

#[derive(Component)]
#[component(track, storage = Hashed)]
struct TrackedTile(#[allow(dead_code, reason = "it is large")] [u64; 4096]);

/// What a size hint may cost beyond what comes.
const TRUSTED_BYTES: usize = 300 << 20;

// Defect 28: a million rows were believed, whatever a row takes.
#[test]
fn a_size_hint_that_lies_takes_no_more_than_a_fixed_amount() {
    fn attempt<B: esker::Bundle>(rows: usize, make: impl Fn() -> B) {
        for promised in [rows, 100_000, 1 << 40, usize::MAX] {
            let mut world = World::new();
            let bundles = || std::iter::repeat_with(&make).take(rows);
            let asked = bytes_asked(|| drop(world.spawn_batch(Liar(bundles(), promised))));
            assert!(asked < TRUSTED_BYTES, "{asked} bytes for {rows} rows, {promised} promised");
            assert_eq!(world.len(), rows);
            world.verify().unwrap();
        }
    }
    attempt(3, || Tile([7; 4096]));
    attempt(3, || (Tile([7; 4096]), PinnedTile([7; 4096]), InPacked(7)));
    attempt(3, || TrackedTile([7; 4096]));
    attempt(3, || Tag);
    attempt(3, || ());
    attempt(3, || (InPacked(1), InIndexed(2), InHashed(3)));
}

#[test]
fn other_calls_survive_a_size_hint_that_lies() {
    for has_listeners in [false, true] {
        let mut world = World::new();
        let ids: Vec<Entity> = world.spawn_batch((0..50).map(InPacked)).collect();
        if has_listeners {
            _ = world.on_remove::<InPacked>(|_: &World, _, _: &mut esker::Commands<'_, '_>| ());
            _ = world.on_despawn(|_: &World, _, _: &mut esker::Commands<'_, '_>| ());
        }
        fn lie(ids: &[Entity]) -> Liar<impl Iterator<Item = Entity>> {
            Liar(ids.iter().copied(), usize::MAX)
        }
        let asked = bytes_asked(|| {
            let pairs = Liar(ids.iter().map(|&id| (id, InHashed(1))), usize::MAX);
            assert_eq!(world.insert_batch(pairs), 50);
            assert_eq!(world.remove_batch::<InPacked>(lie(&ids[..9])), 9);
            assert_eq!(world.query::<&InHashed>().iter_many(lie(&ids)).count(), 50);
            assert_eq!(world.despawn_batch(lie(&ids[..30])), 30);
        });
        assert!(asked < 40 << 20, "{asked}");
        world.verify().unwrap();
    }
}

#[test]
fn the_highest_index_of_all_is_an_ordinary_one() {
    let mut world = World::new();
    let last = id(Entity::MAX_INDEX, 0);

    world.spawn_at(last, InIndexed(1)).unwrap();

    assert_eq!(world.entity_at(u32::MAX), None);
    assert_eq!(world.entity_at(Entity::MAX_INDEX), Some(last));
    assert!(world.entities().eq([last]));
    assert_eq!(world.verify(), Ok(()));
    world.clear();
    assert!(!world.is_alive(last) && world.is_empty());
    assert_eq!(world.verify(), Ok(()));
    assert_eq!(world.spawn(()), id(0, 0));
}

#[test]
fn a_far_id_in_a_map_alone_costs_a_page() {
    fn map<S: Storage<u64>>() -> usize {
        let mut map: EntityMap<u64, S> = EntityMap::default();
        map.insert(id(0, 0), 1);
        bytes_asked(|| assert_eq!(map.insert(id(FAR, 0), 1), None))
    }
    fn set<M: SparseMap>() -> usize {
        let mut set: SparseSet<M> = SparseSet::default();
        set.insert(id(0, 0));
        bytes_asked(|| assert!(set.insert(id(FAR, 0))))
    }

    for asked in [map::<Packed<u64>>(), map::<Indexed<u64>>(), set::<PagedMap>()] {
        assert!(asked < A_FEW_PAGES / 2, "{asked} bytes");
    }
    for asked in [map::<Hashed<u64>>(), set::<HashedMap>()] {
        assert!(asked < 1024, "{asked} bytes");
    }
}
