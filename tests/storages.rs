//! Storages: the conformance suite over ours and over one of a user's, and what sets them apart.

#![cfg(feature = "derive")]
#![allow(unsafe_code, reason = "implements the unsafe trait `Storage`, as a user would")]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use esker::prelude::*;
use esker::sparse::HashedMap;
use esker::storage::{AnyMap, EntityMap, Hashed, Indexed, Packed, Storage, Untracked};

mod packed {
    esker::storage_conformance!(esker::storage::Packed);
}

mod hashed {
    esker::storage_conformance!(esker::storage::Hashed);
}

mod indexed {
    esker::storage_conformance!(esker::storage::Indexed, stable);
}

mod boxed {
    use super::Boxed;

    esker::storage_conformance!(Boxed, stable);
}

/// A storage of the user's: every value in a box of its own, found by position.
#[derive(Debug)]
pub struct Boxed<T> {
    values: Vec<Box<UnsafeCell<T>>>,
}

impl<T> Default for Boxed<T> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

// SAFETY: shared access through the map only reads; whoever writes through `ptr` has made sure
// that nobody shares it.
unsafe impl<T: Sync> Sync for Boxed<T> {}

// SAFETY: box `i` holds the value of position `i`: push, swap_remove and swap do to the boxes
// what the map does to its entities. Boxes are distinct memory, in `UnsafeCell`s. `Vec::clear`
// gives up all of them even if it unwinds.
unsafe impl<T> Storage<T> for Boxed<T> {
    type Map = HashedMap;
    type Tracking = Untracked;

    const CONTIGUOUS: bool = false;

    fn push(&mut self, _: Entity, value: T) {
        self.values.push(Box::new(UnsafeCell::new(value)));
    }

    fn swap_remove(&mut self, at: usize, _: Entity) -> T {
        self.values.swap_remove(at).into_inner()
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.values.swap(a, b);
    }

    unsafe fn ptr(&self, at: usize, _: Entity) -> *mut T {
        self.values[at].get()
    }

    fn clear(&mut self) {
        self.values.clear();
    }

    fn reserve(&mut self, additional: usize) {
        self.values.reserve(additional);
    }

    fn shrink_to_fit(&mut self) {
        self.values.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<usize>() + self.values.len() * size_of::<T>()
    }
}

fn id(index: u32) -> Entity {
    Entity::new(index, 0).unwrap()
}

fn map_of<T, S: Storage<T>>(values: impl IntoIterator<Item = (u32, T)>) -> EntityMap<T, S> {
    let mut map = EntityMap::default();
    for (index, value) in values {
        map.insert(id(index), value);
    }
    map
}

#[test]
fn tags_take_no_memory_for_values() {
    let packed: EntityMap<(), Packed<()>> = map_of((0..10_000).map(|i| (i, ())));
    let hashed: EntityMap<(), Hashed<()>> = map_of((0..10_000).map(|i| (i, ())));

    assert_eq!(packed.memory().values, 0);
    assert_eq!(hashed.memory().values, 0);
    assert_eq!(packed.as_slice().len(), 10_000);
}

#[test]
fn a_far_index_costs_one_page_of_a_packed_storage_and_none_of_a_hashed_one() {
    let packed: EntityMap<u64, Packed<u64>> = map_of([(4_000_000_000, 1)]);
    let hashed: EntityMap<u64, Hashed<u64>> = map_of([(4_000_000_000, 1)]);

    let page = 1024 * 8;
    let packed = packed.memory().entities;
    assert!((page..2 * page).contains(&packed), "{packed} bytes");
    assert!(hashed.memory().total() < 512, "{} bytes", hashed.memory().total());
}

#[test]
fn memory_of_an_indexed_storage_follows_the_number_of_pages_and_not_the_index() {
    let near: EntityMap<u64, Indexed<u64>> = map_of([(0, 1)]);
    let far: EntityMap<u64, Indexed<u64>> = map_of([(Entity::MAX_INDEX, 1)]);

    assert!(far.memory().total() < near.memory().total() + 4096);
}

#[test]
fn values_of_an_indexed_storage_lie_in_the_order_of_their_indices() {
    let map: EntityMap<u64, Indexed<u64>> = map_of([(2, 20), (0, 0), (1, 10)]);

    let address = |index| std::ptr::from_ref(map.get(id(index)).unwrap()).addr();

    assert_eq!(address(1) - address(0), 8);
    assert_eq!(address(2) - address(1), 8);
    let walked: Vec<u64> = map.iter().map(|(_, &value)| value).collect();
    assert_eq!(walked, [20, 0, 10], "walks go in packed order");
}

#[test]
fn addresses_of_a_packed_storage_hold_while_the_room_lasts() {
    // RTE 17; EnTT 91 holds for `Indexed` only, see the suite.
    let mut map: EntityMap<u64, Packed<u64>> = EntityMap::default();
    map.reserve(1000);
    map.insert(id(0), 7);
    let address = |map: &EntityMap<u64, _>| std::ptr::from_ref(map.get(id(0)).unwrap()).addr();
    let before = address(&map);

    for index in 1..1000 {
        map.insert(id(index), 0);
    }

    assert_eq!(address(&map), before);
}

/// Has a size and needs no drop.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct Plain([u64; 4]);

#[test]
fn clear_of_values_that_need_no_drop_keeps_the_memory_and_does_not_touch_it() {
    fn check<S: Storage<Plain>>() {
        let mut map: EntityMap<Plain, S> = map_of((0..5000).map(|i| (i, Plain([7; 4]))));
        let bytes = map.memory();

        map.clear();

        assert_eq!(map.memory(), bytes, "clear keeps the memory");
        if S::CONTIGUOUS {
            // SAFETY: the memory of the first value is still allocated and initialised.
            assert_eq!(unsafe { map.storage().base().read() }, Plain([7; 4]));
        }
        map.insert(id(0), Plain([1; 4]));
        assert_eq!(map.get(id(0)), Some(&Plain([1; 4])));
        map.clear();
        map.shrink_to_fit();
        assert!(map.memory().total() < bytes.total() / 100, "{:?}", map.memory());
    }

    check::<Packed<Plain>>();
    check::<Hashed<Plain>>();
    check::<Indexed<Plain>>();
}

#[test]
fn a_map_without_values_owns_no_memory() {
    fn check<S: Storage<String>>() {
        let map: EntityMap<String, S> = EntityMap::default();
        assert_eq!(map.memory().total(), 0);
        assert!(map.get(id(3)).is_none());
    }

    check::<Packed<String>>();
    check::<Hashed<String>>();
    check::<Indexed<String>>();
    check::<Boxed<String>>();
}

static DROPS: AtomicUsize = AtomicUsize::new(0);

/// One component for each storage, by the same macro; each drop is counted.
macro_rules! components {
    ($($name:ident in $storage:path;)*) => {
        $(#[derive(Component, Debug, PartialEq)]
        #[component(storage = $storage)]
        struct $name(u32);

        impl Drop for $name {
            fn drop(&mut self) {
                DROPS.fetch_add(1, Ordering::Relaxed);
            }
        })*
    };
}

components! {
    InPacked in Packed;
    InIndexed in Indexed;
    InHashed in Hashed;
    InBoxed in crate::Boxed;
    ByPath in esker::storage::Hashed;
}

#[test]
fn components_of_every_storage_live_in_one_world() {
    let mut world = World::new();
    let entities: Vec<Entity> = (0..100)
        .map(|n| world.spawn((InPacked(n), InIndexed(n), InHashed(n), InBoxed(n), ByPath(n))))
        .collect();

    for &entity in entities.iter().step_by(2) {
        world.despawn(entity).unwrap();
    }
    world.remove::<(InIndexed, InBoxed)>(entities[1]).unwrap();
    world.insert(entities[3], (InIndexed(1003), InBoxed(1003))).unwrap();

    world.verify().unwrap();
    let mut query =
        world.query::<(Entity, &InPacked, &mut InIndexed, &InHashed, &mut InBoxed, &ByPath)>();
    assert_eq!(query.count(), 49);
    for (entity, packed, indexed, hashed, boxed, by_path) in &mut query {
        let number = if entity == entities[3] { 1003 } else { packed.0 };
        assert_eq!([indexed.0, hashed.0, boxed.0, by_path.0], [number, packed.0, number, packed.0]);
        indexed.0 += 1;
        boxed.0 += 1;
    }
    drop(query);
    assert_eq!(world.get::<InBoxed>(entities[3]).unwrap().0, 1004);
    world.clear();
    world.verify().unwrap();
    assert_eq!(DROPS.load(Ordering::Relaxed), 502, "each value once");
}

#[test]
fn a_pool_finds_near_and_far_entities_and_no_dead_ones_whatever_the_storage() {
    #[derive(Component)]
    struct Plainly(u32);
    #[derive(Component)]
    #[component(storage = Indexed)]
    struct ByIndex(u32);
    #[derive(Component)]
    #[component(storage = Hashed)]
    struct ByHash(u32);
    fn finds<T: Component>(make: fn(u32) -> T, number: fn(&T) -> u32) {
        let mut world = World::new();
        let mut ids: Vec<Entity> = (0..200).map(|nth| world.spawn(make(nth))).collect();
        let dead = ids.swap_remove(7);
        world.despawn(dead).unwrap();
        let heir = world.spawn(make(1000));
        let bare = world.spawn(());
        for far in [None, Some(1_000_000), Some(4_000_000_000)] {
            if let Some(index) = far {
                let id = Entity::new(index, 2).unwrap();
                world.spawn_at(id, make(index)).unwrap();
                ids.push(id);
            }
            let pool = world.pool::<T>();
            for (&id, nth) in ids.iter().zip((0..7).chain([199]).chain(8..199)) {
                assert_eq!(pool.get(id).map(number), Some(nth));
            }
            for &id in ids.iter().chain([&heir]) {
                assert_eq!(
                    pool.get(id).map(number),
                    world.get::<T>(id).map(|value| number(&value))
                );
                assert!(pool.get(Entity::new(id.index(), id.version() + 1).unwrap()).is_none());
            }
            assert_eq!(pool.get(heir).map(number), Some(1000));
            let beyond = Entity::new(3_000_000_000, 2).unwrap();
            assert!([dead, bare, beyond].iter().all(|&id| pool.get(id).is_none()));
        }
    }
    finds(Plainly, |value| value.0);
    finds(ByIndex, |value| value.0);
    finds(ByHash, |value| value.0);
    finds(ByValue, |value| value.0);
    assert!(World::new().pool::<Plainly>().get(id(0)).is_none());
}

#[test]
fn a_component_kept_in_an_indexed_storage_stays_at_its_address_in_the_world() {
    #[derive(Component)]
    #[component(storage = Indexed)]
    struct Fixed(u32);
    let mut world = World::new();
    let first = world.spawn(Fixed(1));
    let kept = world.spawn(Fixed(2));
    let address = |world: &World| std::ptr::from_ref(&*world.get::<Fixed>(kept).unwrap()).addr();
    let before = address(&world);

    world.despawn(first).unwrap();
    world.spawn_batch((0..10_000).map(Fixed));
    world.shrink_to_fit();

    assert_eq!(address(&world), before);
    assert_eq!(world.get::<Fixed>(kept).unwrap().0, 2);
}

#[test]
fn pools_of_storages_without_slices_are_walked_pair_by_pair() {
    let mut world = World::new();
    let a = world.spawn(ByValue(1));
    let b = world.spawn(ByValue(2));

    let mut pool = world.pool_mut::<ByValue>();
    pool.swap(0, 1).unwrap();
    for (_, value) in pool.iter_mut() {
        value.0 *= 10;
    }

    let seen: Vec<(Entity, u32)> = pool.iter().map(|(entity, value)| (entity, value.0)).collect();
    assert_eq!(seen, [(b, 20), (a, 10)]);
}

#[derive(Component)]
#[component(storage = crate::Boxed)]
struct ByValue(u32);

#[test]
fn a_map_lends_its_values_beside_their_entities_and_without_their_type() {
    let mut map = EntityMap::<u32, Packed<u32>>::default();
    let ids = [(3, 0), (1, 2)].map(|(index, version)| Entity::new(index, version).unwrap());
    ids.iter().zip([7, 8]).for_each(|(&id, value)| _ = map.insert(id, value));

    let (entities, values) = map.split_mut();
    assert_eq!((entities, &*values), (&ids[..], &[7, 8][..]));
    values[0] = 9;
    let any: &mut dyn AnyMap = &mut map;
    *any.value_mut(ids[1]).unwrap().downcast_mut::<u32>().unwrap() += 2;

    assert_eq!(map.as_slice(), [9, 10]);
}
