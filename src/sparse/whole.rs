//! Whole sets: made of a list of entities at once, or copied.

use std::mem;

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
            map.set_consecutive(entities.iter().copied(), 0);
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
    /// Becomes the set of these entities, in this order, of which none has the index of another. Returns
    /// the new stamp.
    ///
    /// # Complexity
    /// O(n) to compare; slots are touched only where the two differ, unless they differ nearly everywhere.
    pub(crate) fn follow(&mut self, entities: &[Entity]) -> u64 {
        let (map, packed) = self.parts_mut();
        if differ_mostly(packed, entities) {
            renew(map, packed, entities);
            packed.clear();
            packed.extend_from_slice(entities);
        } else {
            mend(map, packed, entities);
        }
        self.renew_stamp()
    }
}

/// Whether most places of two lists seem to differ, as far as some of them tell.
fn differ_mostly(old: &[Entity], new: &[Entity]) -> bool {
    const SAMPLES: usize = 64;
    const SAMPLE: usize = 16;
    let apart = (old.len() / (SAMPLES * SAMPLE)).max(1);
    let blocks = old.chunks(SAMPLE).zip(new.chunks(SAMPLE)).step_by(apart);
    let differing = |(old, new): (&[Entity], &[Entity])| {
        (old.iter().zip(new).filter(|(old, new)| old != new).count(), old.len())
    };
    let sum = |sum: (usize, usize), seen: (usize, usize)| (sum.0 + seen.0, sum.1 + seen.1);
    let (differing, all) = blocks.map(differing).fold((0, 0), sum);
    differing > all / 2
}

/// Turns a list and its map into another, where the two are nearly the same.
///
/// It does not matter which place is done first: who moves from one to another is found at the new one
/// in the end, whether its slot was emptied before or not. But an entity that goes lets the last take its
/// place, so on the way back most move to the rear: from there, few slots are emptied for nothing.
fn mend<M: SparseMap>(map: &mut M, packed: &mut Vec<Entity>, new: &[Entity]) {
    let (before, common) = (packed.len(), packed.len().min(new.len()));
    for (at, &entity) in new.iter().enumerate().skip(common) {
        *map.slot_mut(entity.index(), before) = Slot::new(at, entity);
    }
    for entity in packed.drain(common..) {
        // Who moves to the front is found there later.
        map.vacate(entity);
    }
    let blocks = packed.chunks_mut(BLOCK).zip(new[..common].chunks(BLOCK)).enumerate();
    let (mut differing, mut slots) = ([0; BLOCK], [Slot::VACANT; BLOCK]);
    for (nth, (block, new)) in blocks.rev() {
        let places =
            differences(block, new, &mut differing).iter().map(|&place| usize::from(place));
        for place in places.clone() {
            let entity = new[place];
            *map.slot_mut(entity.index(), before) = Slot::new(nth * BLOCK + place, entity);
        }
        // All are read before any is looked at, or one would wait for the other: they are far apart.
        for (slot, place) in slots.iter_mut().zip(places.clone()) {
            *slot = map.get(block[place].index());
        }
        for (slot, place) in slots.iter().zip(places) {
            let old = mem::replace(&mut block[place], new[place]);
            if slot.position_of(old) == Some(nth * BLOCK + place) {
                map.vacate(old);
            }
        }
    }
    packed.extend_from_slice(&new[common..]);
}

/// The places at which two blocks differ.
fn differences<'a>(old: &[Entity], new: &[Entity], places: &'a mut [u16; BLOCK]) -> &'a [u16] {
    // Written down without a jump: which places differ cannot be foreseen.
    let mut count = 0;
    for (at, (old, new)) in old.iter().zip(new).enumerate() {
        places[count % BLOCK] = at as u16;
        count += usize::from(old != new);
    }
    &places[..count]
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

/// Entities that are compared before any of them is looked up. From block to block it goes backwards, and
/// memory is fetched ahead only within one: so they are not small.
const BLOCK: usize = 1024;

/// What a map of these entities would take on the heap; not less.
///
/// # Soundness
/// Nothing rests on it: a figure about memory. What has a use for it is sealed.
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
                // The window, which is no longer than this, and pages for all that lie outside.
                let slots = pages.len() * PAGE_LEN;
                slots.saturating_add(slots.min(Self::allowed(entities.len()) as usize))
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

    fn becomes<M: SparseMap>(from: &[Entity], to: &[Entity]) {
        let mut set = SparseSet::<M>::try_from_list(from.to_vec().into()).unwrap();
        let stamp = set.stamp();

        let new_stamp = set.follow(to);

        set.check().unwrap();
        assert_eq!(set.as_slice(), to);
        assert!(new_stamp > stamp && new_stamp == set.stamp());
    }

    #[test]
    fn a_set_becomes_any_other() {
        let mut moved = ids(0..3000);
        moved.swap(4, 2000);
        moved.swap_remove(17);
        let renewed: Vec<Entity> = (0..3000).map(|index| Entity::new(index, 5).unwrap()).collect();
        // Some here and there, by others that were not in.
        let replaced = ids((0..3000).map(|index| index + 5000 * u32::from(index % 10 == 3)));
        let lists = [
            ids([]),
            ids([7]),
            ids(0..3000),
            moved,
            renewed,
            replaced,
            ids(40..90),
            ids([0, 4_000_000_000]),
        ];
        for from in &lists {
            for to in &lists {
                becomes::<PagedMap>(from, to);
                becomes::<HashedMap>(from, to);
            }
        }
    }

    /// As a world changes them: some go, some come, some are another version, some change places.
    #[test]
    fn a_set_becomes_what_a_world_has_made_of_it() {
        for seed in 1..=60_u32 {
            let mut state = seed;
            let mut below = |end: usize| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as usize % end
            };
            let from = ids(0..(1 + below(3000)) as u32);
            let mut to = from.clone();
            // From hardly any change to more than places.
            for nth in 0..[3, 100, 1000, 5000][seed as usize % 4] {
                let at = below(to.len());
                match below(4) {
                    0 if to.len() > 1 => _ = to.swap_remove(at),
                    1 => to.push(Entity::new(10_000 + nth, 1).unwrap()),
                    2 => to[at] = Entity::new(to[at].index(), to[at].version() + 3).unwrap(),
                    _ => {
                        let other = below(to.len());
                        to.swap(at, other);
                    }
                }
            }
            println!("seed {seed}");
            for (from, to) in [(&from, &to), (&to, &from)] {
                becomes::<PagedMap>(from, to);
                becomes::<HashedMap>(from, to);
            }
        }
    }

    #[test]
    fn lists_differ_mostly_where_more_than_half_of_their_places_do() {
        let old = ids(0..30_000);
        let with = |changed: &dyn Fn(usize) -> bool| -> Vec<Entity> {
            let renewed = |(at, &entity): (usize, &Entity)| match changed(at) {
                true => Entity::new(entity.index(), 7).unwrap(),
                false => entity,
            };
            old.iter().enumerate().map(renewed).collect()
        };
        let scattered = |at: usize| at * 7919 % 100;

        assert!(!differ_mostly(&old, &old));
        assert!(differ_mostly(&old, &with(&|_| true)));
        assert!(!differ_mostly(&old, &with(&|at| scattered(at) < 40)));
        assert!(differ_mostly(&old, &with(&|at| scattered(at) < 60)));
        assert!(!differ_mostly(&old, &with(&|at| at < 9000)));
        assert!(differ_mostly(&old, &with(&|at| at > 9000)));
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
        // One beside the other, as indices that follow each other lie.
        let beside = vec![again[0], again[2]];
        assert_eq!(SparseSet::<PagedMap>::try_from_list(beside.into()).unwrap_err(), again[2]);
    }
}
