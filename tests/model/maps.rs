//! Sparse sets and entity maps alone, with ids that no world has given out.

use std::collections::BTreeMap;

use esker::Entity;
use esker::sparse::{HashedMap, PagedMap, SparseMap, SparseSet};
use esker::storage::{AnyMap, EntityMap, Hashed, Indexed, Packed, Storage};
use proptest::prelude::*;

use crate::common::{Counted, Ledger, id, mix};

#[derive(Debug, Clone)]
enum Act {
    Insert(Entity),
    Remove(Entity),
    Discard(Entity),
    Change(Entity),
    Swap(usize, usize),
    Retain(u64),
    Clear,
    Reserve(usize),
    Shrink,
}

fn any_id() -> impl Strategy<Value = Entity> {
    let index = prop_oneof![
        6 => 0..8_u32,
        1 => prop::sample::select(vec![63, 64, 4095, 4096, 819_200, 4_000_000_000, Entity::MAX_INDEX]),
    ];
    let version = prop_oneof![4 => 0..3_u32, 1 => Just(Entity::MAX_VERSION)];
    (index, version).prop_map(|(index, version)| id(index, version))
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        8 => any_id().prop_map(Act::Insert),
        4 => any_id().prop_map(Act::Remove),
        1 => any_id().prop_map(Act::Discard),
        2 => any_id().prop_map(Act::Change),
        2 => (0..8_usize, 0..8_usize).prop_map(|(a, b)| Act::Swap(a, b)),
        1 => any::<u64>().prop_map(Act::Retain),
        1 => Just(Act::Clear),
        1 => (0..100_usize).prop_map(Act::Reserve),
        1 => Just(Act::Shrink),
    ];
    prop::collection::vec(act, 0..60)
}

/// A map and its model: index to version and value, and the packed order.
struct Twin<S: Storage<Counted>> {
    map: EntityMap<Counted, S>,
    model: BTreeMap<u32, (u32, u64)>,
    order: Vec<Entity>,
    ledger: std::sync::Arc<Ledger>,
    made: u64,
}

impl<S: Storage<Counted>> Twin<S> {
    fn new() -> Self {
        let (map, ledger) = (EntityMap::default(), Ledger::new());
        Self { map, model: BTreeMap::new(), order: Vec::new(), ledger, made: 0 }
    }

    fn expected(&self, entity: Entity) -> Option<u64> {
        let &(version, value) = self.model.get(&entity.index())?;
        (version == entity.version()).then_some(value)
    }

    fn forget(&mut self, entity: Entity) -> Option<u64> {
        let value = self.expected(entity)?;
        self.model.remove(&entity.index());
        let at = self.order.iter().position(|&other| other == entity).unwrap();
        self.order.swap_remove(at);
        Some(value)
    }

    fn act(&mut self, act: &Act) {
        self.made += 1;
        match *act {
            Act::Insert(entity) => {
                let value = mix(entity.to_bits() ^ mix(self.made));
                let old = self.map.insert(entity, self.ledger.make(value)).map(|old| old.value);

                let before = self.model.insert(entity.index(), (entity.version(), value));
                assert_eq!(old, before.map(|(_, value)| value));
                match before {
                    None => self.order.push(entity),
                    Some((version, _)) if version != entity.version() => {
                        // Where the newcomer goes has a test of its own.
                        let displaced = id(entity.index(), version);
                        self.order = self.map.entities().to_vec();
                        assert!(!self.order.contains(&displaced) && self.order.contains(&entity));
                    }
                    Some(_) => {}
                }
            }
            Act::Remove(entity) => {
                let removed = self.map.remove(entity).map(|value| value.value);
                assert_eq!(removed, self.forget(entity));
            }
            Act::Discard(entity) => {
                let map: &mut dyn AnyMap = &mut self.map;
                assert_eq!(map.discard(entity), self.forget(entity).is_some());
            }
            Act::Change(entity) => {
                let value = self.map.get_mut(entity);
                if let Some(value) = value {
                    value.value = self.made;
                    self.model.insert(entity.index(), (entity.version(), self.made));
                }
            }
            Act::Swap(a, b) if self.order.len() > a.max(b) => {
                self.map.swap(a, b);
                self.order.swap(a, b);
            }
            Act::Swap(..) => {}
            Act::Retain(salt) => {
                let keep = |entity: Entity| !mix(entity.to_bits() ^ salt).is_multiple_of(3);
                self.map.retain(|entity, _| keep(entity));
                let mut at = 0;
                while let Some(&entity) = self.order.get(at) {
                    if keep(entity) {
                        at += 1;
                    } else {
                        self.forget(entity);
                    }
                }
            }
            Act::Clear => {
                self.map.clear();
                self.model.clear();
                self.order.clear();
            }
            Act::Reserve(additional) => self.map.reserve(additional),
            Act::Shrink => self.map.shrink_to_fit(),
        }
    }

    fn compare(&mut self) {
        assert_eq!(self.map.entities(), self.order);
        assert_eq!(self.map.len(), self.model.len());
        assert_eq!(self.map.is_empty(), self.model.is_empty());
        for (&index, &(version, value)) in &self.model {
            let entity = id(index, version);
            assert_eq!(self.map.get(entity).map(|value| value.value), Some(value), "{entity}");
            let erased: &dyn AnyMap = &self.map;
            let found = erased.value(entity).and_then(|value| value.downcast_ref::<Counted>());
            assert_eq!(found.map(|value| value.value), Some(value));
            for other in 0..3 {
                let other = id(index, other);
                assert_eq!(self.map.contains(other), other == entity);
                assert_eq!(self.map.get(other).is_some(), other == entity);
            }
        }
        let walked: Vec<_> = self.map.iter().map(|(entity, value)| (entity, value.value)).collect();
        let expected: Vec<_> = self.order.iter().map(|&e| (e, self.expected(e).unwrap())).collect();
        assert_eq!(walked, expected);
        assert!(self.map.iter_mut().map(|(entity, value)| (entity, value.value)).eq(expected));
        assert_eq!(self.ledger.living(), self.model.len());
        AnyMap::check(&self.map).unwrap();
    }
}

fn map_agrees<S: Storage<Counted>>(acts: &[Act]) {
    let mut twin: Twin<S> = Twin::new();
    for act in acts {
        twin.act(act);
        twin.compare();
    }
    drop(twin.map);
    twin.ledger.assert_all_dropped();
}

fn set_agrees<M: SparseMap>(acts: &[Act]) {
    let mut set: SparseSet<M> = SparseSet::default();
    let mut order: Vec<Entity> = Vec::new();
    for act in acts {
        match *act {
            Act::Insert(entity) | Act::Change(entity) => {
                let known = order.contains(&entity);
                assert_eq!(set.insert(entity), !known);
                match order.iter_mut().find(|other| other.index() == entity.index()) {
                    // Another version gives up its place.
                    Some(place) => *place = entity,
                    None => order.push(entity),
                }
            }
            Act::Remove(entity) | Act::Discard(entity) => {
                let at = order.iter().position(|&other| other == entity);
                assert_eq!(set.remove(entity), at);
                at.map(|at| order.swap_remove(at));
            }
            Act::Swap(a, b) if order.len() > a.max(b) => {
                set.swap(a, b);
                order.swap(a, b);
            }
            Act::Swap(..) => {}
            Act::Retain(at) if !order.is_empty() => {
                let at = at as usize % order.len();
                let entity = order.swap_remove(at);
                assert_eq!(set.remove(entity), Some(at));
            }
            Act::Retain(_) | Act::Clear => {
                set.clear();
                order.clear();
            }
            Act::Reserve(additional) => {
                set.reserve(additional);
                assert!(set.capacity() >= order.len() + additional);
            }
            Act::Shrink => set.shrink_to_fit(),
        }
        assert_eq!(set.as_slice(), order);
        for (at, &entity) in order.iter().enumerate() {
            assert_eq!(set.position(entity), Some(at));
            let others = (0..3).map(|version| id(entity.index(), version));
            assert!(others.filter(|&other| other != entity).all(|other| !set.contains(other)));
        }
        assert_eq!(set.check(), Ok(()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_packed_map_agrees_with_an_ordered_one(acts in acts()) {
        map_agrees::<Packed<Counted>>(&acts);
    }

    #[test]
    fn an_indexed_map_agrees_with_an_ordered_one(acts in acts()) {
        map_agrees::<Indexed<Counted>>(&acts);
    }

    #[test]
    fn a_hashed_map_agrees_with_an_ordered_one(acts in acts()) {
        map_agrees::<Hashed<Counted>>(&acts);
    }

    #[test]
    fn a_paged_set_agrees_with_a_list(acts in acts()) {
        set_agrees::<PagedMap>(&acts);
    }

    #[test]
    fn a_hashed_set_agrees_with_a_list(acts in acts()) {
        set_agrees::<HashedMap>(&acts);
    }
}

#[test]
fn the_value_of_another_version_keeps_its_place_when_it_is_replaced() {
    fn of<S: Storage<u32>>() {
        let mut map: EntityMap<u32, S> = EntityMap::default();
        for index in 0..3 {
            map.insert(id(index, 0), index);
        }

        assert_eq!(map.insert(id(0, 1), 9), Some(0));

        assert_eq!(map.entities(), [id(0, 1), id(1, 0), id(2, 0)]);
        assert_eq!(map.get(id(0, 1)), Some(&9));
        assert_eq!(map.get(id(0, 0)), None);
    }
    of::<Packed<u32>>();
    of::<Hashed<u32>>();
    of::<Indexed<u32>>();
}

/// Goes through pages in this order, one entity of each, and looks all of them up again and again.
fn finds_all_again<S: Storage<u64>>(pages: &[u32]) {
    // The smallest page there is; others are met several times.
    const PAGE: u32 = 2048;
    let mut map: EntityMap<u64, S> = EntityMap::default();
    for (n, &page) in pages.iter().enumerate() {
        assert_eq!(map.insert(id(page * PAGE, page), u64::from(page)), None, "page {page}");
        if n % 16 == 0 || n + 1 == pages.len() {
            for &page in &pages[..=n] {
                assert_eq!(map.get(id(page * PAGE, page)), Some(&u64::from(page)));
            }
        }
    }
    AnyMap::check(&map).unwrap();
    map.retain(|entity, _| entity.version() % 3 == 0);
    map.shrink_to_fit();
    for &page in pages {
        let expected = page.is_multiple_of(3).then_some(u64::from(page));
        assert_eq!(map.get(id(page * PAGE, page)).copied(), expected);
    }
    AnyMap::check(&map).unwrap();
}

#[test]
fn pages_far_from_the_others_are_found_again_when_others_come_close() {
    let far = [0, 600, 601, 900, 100_000];
    let ascending: Vec<u32> =
        far.into_iter().chain((1..1000).filter(|p| !far.contains(p))).collect();
    let descending: Vec<u32> = [5000, 4400, 4399, 4100, 3, 1_000_000]
        .into_iter()
        .chain((4001..5000).rev().filter(|page| ![4400, 4399, 4100].contains(page)))
        .collect();

    for pages in [ascending, descending] {
        finds_all_again::<Packed<u64>>(&pages);
        finds_all_again::<Indexed<u64>>(&pages);
        finds_all_again::<Hashed<u64>>(&pages);
    }
}
