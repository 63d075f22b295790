//! Whole sets: made of a list of entities at once, or copied.

use super::{HashedMap, PagedMap, Slot, SparseMap, SparseSet};
use crate::entity::Entity;
use crate::page::{PAGE_LEN, page_of};

/// Entities in some order, of which it is known whether their indices follow each other.
#[derive(Debug, Default)]
pub struct EntityList {
    entities: Vec<Entity>,
    is_consecutive: bool,
}

impl EntityList {
    /// Entities whose indices follow each other.
    pub(crate) fn consecutive(entities: Vec<Entity>) -> Self {
        debug_assert!(follow_each_other(&entities));
        Self { entities, is_consecutive: true }
    }

    pub(crate) fn as_slice(&self) -> &[Entity] {
        &self.entities
    }

    pub(crate) fn len(&self) -> usize {
        self.entities.len()
    }

    /// The first index, and the one behind the last, at page borders.
    fn span(&self) -> Option<(u64, u64)> {
        match (self.is_consecutive, &*self.entities) {
            (true, [first, .., last]) => span(&[*first, *last]),
            (_, entities) => span(entities),
        }
    }
}

impl From<Vec<Entity>> for EntityList {
    fn from(entities: Vec<Entity>) -> Self {
        Self { is_consecutive: follow_each_other(&entities), entities }
    }
}

fn follow_each_other(entities: &[Entity]) -> bool {
    entities.windows(2).all(|pair| pair[0].index() + 1 == pair[1].index())
}

impl<M: SparseMap> SparseSet<M> {
    /// The set of these entities, in this order.
    ///
    /// # Errors
    /// An entity whose index occurs twice (S2).
    pub(crate) fn try_from_list(list: EntityList) -> Result<Self, Entity> {
        let EntityList { entities, is_consecutive } = list;
        let mut map = M::default();
        if is_consecutive {
            map.set_consecutive(&entities, 0);
            return Ok(Self::of_parts(map, entities));
        }
        map.prepare(&entities);
        for (at, &entity) in entities.iter().enumerate() {
            let slot = map.slot_mut(entity.index(), entities.len());
            if !slot.is_vacant() {
                return Err(entity);
            }
            *slot = Slot::new(at, entity);
        }
        Ok(Self::of_parts(map, entities))
    }
}

impl<M: SparseMap> SparseSet<M> {
    /// Becomes the set of these entities, in this order, of which none has the index of another; what it
    /// had before comes out. Returns the new stamp.
    ///
    /// # Complexity
    /// O(n) to compare; slots are touched only where the two differ, unless they differ nearly everywhere.
    pub(crate) fn exchange(&mut self, entities: &mut Vec<Entity>) -> u64 {
        let (map, packed) = self.parts_mut();
        let blocks = packed.chunks(BLOCK).zip(entities.chunks(BLOCK));
        let differing = blocks.filter(|(block, other)| block != other).count();
        if differing > packed.len() / BLOCK / 4 {
            renew(map, packed, entities);
        } else {
            mend(map, packed, entities);
        }
        std::mem::swap(packed, entities);
        self.renew_stamp()
    }
}

/// Turns the map of one list into that of another, where the two are nearly the same.
fn mend<M: SparseMap>(map: &mut M, old: &[Entity], new: &[Entity]) {
    for at in differences(new, old) {
        *map.slot_mut(new[at].index(), old.len()) = Slot::new(at, new[at]);
    }
    for at in differences(old, new) {
        // Who has moved is found at another place by now.
        if map.get(old[at].index()).position_of(old[at]) == Some(at) {
            map.vacate(old[at]);
        }
    }
}

/// Turns the map of one list into that of another: all slots are emptied and filled again.
fn renew<M: SparseMap>(map: &mut M, old: &[Entity], new: &[Entity]) {
    let (first, row) = map.row();
    row.fill(Slot::VACANT);
    let place = |entity: Entity| entity.index().wrapping_sub(first) as usize;
    let end = row.len();
    for (at, &entity) in new.iter().enumerate() {
        if let Some(slot) = row.get_mut(place(entity)) {
            *slot = Slot::new(at, entity);
        }
    }
    for &entity in old.iter().filter(|&&entity| place(entity) >= end) {
        map.vacate(entity);
    }
    for (at, &entity) in new.iter().enumerate().filter(|&(_, &entity)| place(entity) >= end) {
        *map.slot_mut(entity.index(), new.len()) = Slot::new(at, entity);
    }
}

/// Entities that are compared at once.
const BLOCK: usize = 16;

/// The places of a list at which another list has something else, or nothing.
fn differences<'a>(list: &'a [Entity], other: &'a [Entity]) -> impl Iterator<Item = usize> + 'a {
    let blocks = list.chunks(BLOCK).zip(other.chunks(BLOCK).chain(std::iter::repeat(&[][..])));
    let differ = blocks.enumerate().filter(|(_, (block, other))| block != other);
    differ.flat_map(|(nth, (block, other))| {
        let places = block.iter().enumerate();
        let differ = places.filter(move |&(at, entity)| other.get(at) != Some(entity));
        differ.map(move |(at, _)| nth * BLOCK + at)
    })
}

/// What a map of these entities would take on the heap; not less.
pub trait Foreseen {
    /// In bytes.
    fn bytes_for(entities: &EntityList) -> usize;
}

impl Foreseen for PagedMap {
    fn bytes_for(list: &EntityList) -> usize {
        let Some((first, end)) = list.span() else { return 0 };
        let entities = list.as_slice();
        let slots = match end - first {
            span if span <= Self::allowed(entities.len()) => span as usize,
            _ => {
                let pages = entities.iter().map(|entity| page_of(entity.index()));
                let pages: rustc_hash::FxHashSet<u32> = pages.collect();
                // The window, whatever it covers, and pages for all the others.
                (pages.len() * PAGE_LEN).saturating_mul(2)
            }
        };
        slots * size_of::<Slot>()
    }
}

impl Foreseen for HashedMap {
    fn bytes_for(entities: &EntityList) -> usize {
        // Buckets are a power of two, of which an eighth stays empty.
        (entities.len() * 8 / 7 + 4).next_power_of_two() * (size_of::<(u32, Slot)>() + 1)
    }
}

/// The indices of some entities: the first, and the one behind the last, at page borders.
pub(super) fn span(entities: &[Entity]) -> Option<(u64, u64)> {
    let (mut first, mut last) = (u32::MAX, 0);
    for entity in entities {
        first = first.min(entity.index());
        last = last.max(entity.index());
    }
    let pages = (u64::from(page_of(first)), u64::from(page_of(last)));
    let len = PAGE_LEN as u64;
    (!entities.is_empty()).then_some((pages.0 * len, (pages.1 + 1) * len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(indices: impl IntoIterator<Item = u32>) -> Vec<Entity> {
        indices.into_iter().map(|index| Entity::new(index, index % 3).unwrap()).collect()
    }

    fn made_at_once<M: SparseMap>(entities: &[Entity]) {
        let set = SparseSet::<M>::try_from_list(entities.to_vec().into()).unwrap();
        set.check().unwrap();
        assert_eq!(set.as_slice(), entities);
        let one_by_one: SparseSet<M> = entities.iter().copied().collect();
        assert_eq!(one_by_one.as_slice(), set.as_slice());
        let (taken, foreseen) =
            (set.heap_bytes() - entities.len() * 8, M::bytes_for(&entities.to_vec().into()));
        assert!(taken <= foreseen + 1024, "{taken} {foreseen} for {}", entities.len());
    }

    #[test]
    fn a_set_made_at_once_is_that_made_one_by_one() {
        for list in [
            ids([]),
            ids([7]),
            ids(0..5000),
            ids(3000..3100),
            ids([5, 3, 9]),
            ids((0..9000).rev()),
            ids((0..300).map(|nth| nth * 977 % 65_536)),
            ids((0..200).map(|nth| nth * 20_000_003)),
            ids([0, 4_000_000_000]),
        ] {
            made_at_once::<PagedMap>(&list);
            made_at_once::<HashedMap>(&list);
        }
    }

    #[test]
    fn a_set_becomes_any_other_and_its_list_comes_out() {
        fn becomes<M: SparseMap>(from: &[Entity], to: &[Entity]) {
            let mut set = SparseSet::<M>::try_from_list(from.to_vec().into()).unwrap();
            let (mut list, stamp) = (to.to_vec(), set.stamp());

            let new_stamp = set.exchange(&mut list);

            set.check().unwrap();
            assert_eq!((set.as_slice(), &list[..]), (to, from));
            assert!(new_stamp > stamp && new_stamp == set.stamp());
        }
        let mut moved = ids(0..3000);
        moved.swap(4, 2000);
        moved.swap_remove(17);
        let renewed: Vec<Entity> = (0..3000).map(|index| Entity::new(index, 5).unwrap()).collect();
        let lists =
            [ids([]), ids([7]), ids(0..3000), moved, renewed, ids(40..90), ids([0, 4_000_000_000])];
        for from in &lists {
            for to in &lists {
                becomes::<PagedMap>(from, to);
                becomes::<HashedMap>(from, to);
            }
        }
    }

    #[test]
    fn an_index_that_occurs_twice_is_refused() {
        let twice = vec![Entity::new(4, 0).unwrap(), Entity::new(9, 1).unwrap()];
        let again = [twice.clone(), vec![Entity::new(4, 7).unwrap()]].concat();

        assert!(SparseSet::<PagedMap>::try_from_list(twice.into()).is_ok());
        assert_eq!(
            SparseSet::<PagedMap>::try_from_list(again.clone().into()).unwrap_err(),
            again[2]
        );
        assert_eq!(
            SparseSet::<HashedMap>::try_from_list(again.clone().into()).unwrap_err(),
            again[2]
        );
    }
}
