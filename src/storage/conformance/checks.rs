//! The promises of a storage, one function each.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::ledger::{self, audit};
use super::twin::{Twin, id};
use super::{Specimen, Storage};
use crate::entity::Entity;
use crate::storage::{AnyMap, EntityMap};

/// A value is found by its entity, and by no other version of it.
///
/// # Panics
/// If the storage breaks this promise.
pub fn insert_and_get<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut twin = Twin::<T, S>::new();
        twin.agree();
        for index in [3, 0, 2, 1, 70, 64, 63] {
            twin.insert(id(index, 1));
            twin.agree();
        }
        for stranger in [id(3, 0), id(3, 2), id(4, 1)] {
            assert!(twin.map.get(stranger).is_none(), "{stranger} was never inserted");
            assert!(twin.map.get_mut(stranger).is_none(), "{stranger} was never inserted");
        }
        twin.renumber(id(2, 1));
        twin.agree();
    });
}

/// A second insert gives the first value back; another version gives up its place.
///
/// # Panics
/// If the storage breaks this promise.
pub fn replace<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut twin = Twin::<T, S>::of_len(5);
        twin.insert(id(2, 0));
        twin.agree();
        twin.insert(id(2, 7));
        twin.agree();
        assert!(!twin.map.contains(id(2, 0)), "the older version is gone");
    });
}

/// Removing gives the value up, from any position, and leaves all others with their entities.
///
/// # Panics
/// If the storage breaks this promise.
pub fn remove<T: Specimen, S: Storage<T>>() {
    audit(|| {
        for victim in [0, 3, 6] {
            let mut twin = Twin::<T, S>::of_len(7);
            twin.remove(id(victim, 0));
            twin.agree();
            twin.remove(id(victim, 0));
            twin.remove(id(1, 9));
            twin.insert(id(victim, 1));
            twin.agree();
            for index in 0..7 {
                twin.remove(id(index, u32::from(index == victim)));
                twin.agree();
            }
            assert!(twin.map.is_empty());
        }
    });
}

/// Swapped positions take their values along.
///
/// # Panics
/// If the storage breaks this promise.
pub fn swap<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut twin = Twin::<T, S>::of_len(5);
        for (a, b) in [(0, 4), (4, 0), (1, 2), (3, 3), (2, 4)] {
            twin.swap(a, b);
            twin.agree();
        }
        let beyond = catch_unwind(AssertUnwindSafe(|| twin.map.swap(0, 5)));
        assert!(beyond.is_err(), "a swap with a position out of bounds must panic");
        twin.agree();
        twin.remove(id(3, 0));
        twin.agree();
    });
}

/// `retain` asks for each value once and drops those that are refused.
///
/// # Panics
/// If the storage breaks this promise.
pub fn retain<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut twin = Twin::<T, S>::of_len(20);
        let mut asked = Vec::new();
        twin.map.retain(|entity, value| {
            asked.push((entity, value.number()));
            true
        });
        asked.sort_unstable();
        assert!(asked == twin.model, "retain asks for each value once");
        twin.retain(|entity| entity.index() % 3 == 1);
        twin.agree();
        twin.retain(|_| false);
        twin.agree();
    });
}

/// Both walks meet each value once, in packed order, and writes stay.
///
/// # Panics
/// If the storage breaks this promise.
pub fn iterate<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut twin = Twin::<T, S>::of_len(10);
        twin.remove(id(4, 0));
        twin.swap(0, 8);
        twin.renumber_all();
        twin.agree();
        assert_eq!(twin.map.iter().len(), 9);
        // All at once: the suite under Miri sees whether these may exist together.
        let mut all: Vec<(Entity, &mut T)> = twin.map.iter_mut().collect();
        for (_, value) in &mut all {
            let number = value.number();
            value.renumber(number);
        }
        twin.agree();
    });
}

/// `clear` drops all values, and the map can be filled again.
///
/// # Panics
/// If the storage breaks this promise.
pub fn clear<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut twin = Twin::<T, S>::of_len(10);
        for _ in 0..3 {
            twin.clear();
            twin.agree();
            for index in (0..12).rev() {
                twin.insert(id(index, 1));
            }
            twin.agree();
        }
        twin.clear();
        twin.clear();
        twin.agree();
    });
}

/// A `clear` that a panicking drop cuts short keeps nothing and drops nothing twice.
///
/// For shapes whose drop cannot panic this is the same as a clear.
///
/// # Panics
/// If the storage breaks this promise.
pub fn clear_that_unwinds<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut map = EntityMap::<T, S>::default();
        for index in 0..8 {
            map.insert(id(index, 0), T::new(index));
        }

        ledger::arm();
        let unwound = catch_unwind(AssertUnwindSafe(|| map.clear())).is_err();

        assert_eq!(unwound, ledger::has_fired(), "a panic of a drop must not be swallowed");
        assert!(map.is_empty(), "the entities are gone, whatever the drop did");
        let dropped = ledger::drops();
        map.shrink_to_fit();
        map.insert(id(1, 0), T::new(99));
        assert_eq!(map.get(id(1, 0)).map(T::number), Some(T::new(99).number()));
        drop(map.remove(id(1, 0)));
        // The value of this entity, and the one made for comparing.
        let own = if ledger::drops() == dropped { 0 } else { 2 };
        drop(map);
        assert!(ledger::drops() == dropped + own, "a value was kept by a clear that unwound");
        ledger::forgive_leaks();
    });
}

/// Making room and giving it back changes no value.
///
/// # Panics
/// If the storage breaks this promise.
pub fn reserve_and_shrink<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut twin = Twin::<T, S>::new();
        twin.map.reserve(0);
        twin.map.reserve(100);
        twin.agree();
        for index in 0..200 {
            twin.insert(id(index, 0));
        }
        twin.map.reserve(1000);
        twin.agree();
        twin.retain(|entity| entity.index() < 10);
        let before = twin.map.storage().heap_bytes();
        twin.map.shrink_to_fit();
        let after = twin.map.storage().heap_bytes();
        assert!(after <= before, "shrinking took memory: {before} bytes before, {after} after");
        twin.agree();
        twin.insert(id(150, 1));
        twin.agree();
        twin.clear();
        twin.map.shrink_to_fit();
        twin.agree();
        twin.insert(id(0, 0));
        twin.agree();
    });
}

/// Indices far apart cost no more than a place each.
///
/// # Panics
/// If the storage breaks this promise.
pub fn far_indices<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut twin = Twin::<T, S>::new();
        let last = Entity::MAX_INDEX;
        for index in [last, 0, 4_000_000_000, 4095, 4096, 1 << 20, last - 1, 1 << 31] {
            twin.insert(id(index, Entity::MAX_VERSION));
            twin.agree();
        }
        let bytes = twin.map.storage().heap_bytes();
        // Eight pages of at least 64 values, with a generous margin.
        let limit = (64 << 10) + 8 * 128 * size_of::<T>().max(256);
        assert!(bytes < limit, "eight values occupy {bytes} bytes");
        twin.remove(id(4_000_000_000, Entity::MAX_VERSION));
        twin.remove(id(last, Entity::MAX_VERSION));
        twin.agree();
    });
}

/// The face without a type does what the typed one does.
///
/// # Panics
/// If the storage breaks this promise.
pub fn erased_face<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut twin = Twin::<T, S>::of_len(6);
        let face: &mut dyn AnyMap = &mut twin.map;
        assert_eq!(face.type_name(), std::any::type_name::<T>());
        assert_eq!(face.entities(), twin.model.iter().map(|pair| pair.0).collect::<Vec<_>>());
        for &(entity, number) in &twin.model {
            let value = face.value(entity).and_then(|value| value.downcast_ref::<T>());
            assert_eq!(value.map(T::number), Some(number), "value of {entity}");
        }
        assert!(face.contains(id(1, 0)) && !face.contains(id(1, 1)));
        assert!(face.value(id(1, 1)).is_none() && !face.discard(id(1, 1)));
        assert!(face.discard(id(1, 0)) && !face.discard(id(1, 0)));
        face.swap(0, 2);
        face.reserve(10);
        face.shrink_to_fit();
        assert_eq!(face.check(), Ok(()));
        assert_eq!(face.memory().total(), face.memory().entities + face.memory().values);
        twin.model.swap_remove(1);
        twin.model.swap(0, 2);
        twin.agree();

        let face: &mut dyn AnyMap = &mut twin.map;
        face.clear();
        assert!(face.entities().is_empty() && face.value(id(0, 0)).is_none());
        twin.model.clear();
        twin.agree();
    });
}

/// A map can be moved and exchanged as a whole.
///
/// # Panics
/// If the storage breaks this promise.
pub fn move_of_the_map<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let mut few = Box::new(Twin::<T, S>::of_len(3));
        let mut many = Twin::<T, S>::of_len(30);
        std::mem::swap(&mut *few, &mut many);
        few.agree();
        many.agree();
        assert_eq!(std::mem::take(&mut many.map).len(), 3);
        many.model.clear();
        many.agree();
    });
}

/// Values left in the map are dropped with it.
///
/// # Panics
/// If the storage breaks this promise.
pub fn drop_of_the_map<T: Specimen, S: Storage<T>>() {
    audit(|| drop(EntityMap::<T, S>::default()));
    audit(|| {
        let mut twin = Twin::<T, S>::of_len(100);
        twin.insert(id(4_000_000_000, 0));
        twin.remove(id(50, 0));
        drop(twin);
    });
}
