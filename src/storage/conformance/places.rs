//! Where values lie: aligned, apart from each other, and where the contract says.

#![allow(unsafe_code, reason = "asks a storage for pointers, which it does not follow")]

use super::ledger::audit;
use super::twin::{Twin, id};
use super::{Specimen, Storage};
use crate::entity::Entity;
use crate::storage::EntityMap;

/// Values stay where they are from insert to remove (P3).
///
/// Not part of [`check`](super::check): only for storages that promise it.
///
/// # Panics
/// If a value has moved.
pub fn addresses_stay<T: Specimen, S: Storage<T>>() {
    audit(|| {
        let Twin { mut map, .. } = Twin::<T, S>::of_len(100);
        let kept: Vec<Entity> = (0..100).step_by(3).map(|index| id(index, 0)).collect();
        let before = addresses(&map, &kept);
        let numbers = |map: &EntityMap<T, S>| {
            kept.iter().map(|&e| map.get(e).map(T::number)).collect::<Vec<_>>()
        };
        let numbers_before = numbers(&map);

        map.retain(|entity, _| kept.contains(&entity));
        for index in 100..5000 {
            map.insert(id(index, 0), T::new(index));
        }
        for index in (100..5000).rev().step_by(2) {
            map.remove(id(index, 0));
        }
        map.swap(0, 30);
        map.swap(1, map.len() - 1);
        map.reserve(1000);
        map.shrink_to_fit();

        assert_eq!(addresses(&map, &kept), before, "P3: a value has moved");
        assert_eq!(numbers(&map), numbers_before, "P1: a value has changed");
    });
}

fn addresses<T, S: Storage<T>>(map: &EntityMap<T, S>, of: &[Entity]) -> Vec<usize> {
    let address = |&e: &Entity| map.get(e).map(|value| std::ptr::from_ref(value).addr());
    of.iter().map(|e| address(e).expect("it was not removed")).collect()
}

/// Checks alignment, P2, and the place of each value if the storage is contiguous.
#[track_caller]
pub(super) fn check_places<T, S: Storage<T>>(map: &EntityMap<T, S>) {
    let mut places = Vec::with_capacity(map.len());
    for (at, &entity) in map.entities().iter().enumerate() {
        // SAFETY: `entity` is at position `at` of the map that the storage belongs to.
        let place = unsafe { map.storage().ptr(at, entity) };
        assert!(!place.is_null(), "the value of {entity} lies nowhere");
        assert!(
            place.is_aligned(),
            "the value of {entity} lies at {place:?}, which is not aligned"
        );
        if S::CONTIGUOUS {
            let expected = map.storage().base().wrapping_add(at);
            assert_eq!(place, expected, "position {at} is not where `base` says");
        }
        places.push(place.addr());
    }
    if size_of::<T>() > 0 {
        places.sort_unstable();
        let apart = places.windows(2).all(|pair| pair[1] - pair[0] >= size_of::<T>());
        assert!(apart, "P2: two values share memory");
    }
}
