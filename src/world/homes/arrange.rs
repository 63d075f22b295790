//! Brings the pools of a world into the order of its archetypes.

use rustc_hash::FxHashMap;

use super::super::World;
use super::super::codes::BITS;
use super::super::pools::Pools;
use super::Home;
use super::rehouse::{LEAST, bits};
use crate::entity::Entity;
use crate::sparse::Band;

impl World {
    /// Brings entities of the same archetype together, in the same order in all their pools.
    ///
    /// # Complexity
    /// O(living entities and their components); a value is moved if it is not at its place.
    pub(super) fn arrange(&mut self) {
        self.pools.choose();
        let able = self.pools.able();
        let living = self.parts(able);
        self.pools.lay_out(&living, able);
    }
}

impl Pools {
    fn lay_out(&mut self, living: &[(Entity, u64)], able: u64) {
        let old = std::mem::take(&mut self.homes);
        let homes = &mut self.homes;
        homes.chosen = old.chosen;
        homes.bound(able, living.len());
        // Ascending.
        let near = living.partition_point(|(entity, _)| entity.index() < homes.reach);
        let living = &living[..near];
        let last = living.last().map_or(0, |(entity, _)| entity.index() as usize + 1);
        homes.restless = old.restless;
        homes.usual = usual(living, old.restless);
        homes.idle = homes.find_idle();
        homes.is_active = true;
        homes.register.reserve(last);
        // By what they have in their homes, in the order of their indices; not by numbers of components, which a world
        // that was loaded gives out anew.
        let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
        let mut kinds: Vec<(u64, Vec<Entity>)> = Vec::new();
        for &(entity, signature) in living {
            let key = homes.key(signature);
            let at = *numbers.entry(key).or_insert(kinds.len());
            if at == kinds.len() {
                kinds.push((key, Vec::new()));
            }
            kinds[at].1.push(entity);
        }
        kinds.retain(|&(key, _)| key != 0);
        for (mask, entities) in &mut kinds {
            let number = homes.archetype_of(*mask);
            if entities.len() < LEAST {
                let waiting = std::mem::take(entities);
                waiting
                    .iter()
                    .for_each(|e| homes.register.assign(e.index(), Home::waiting(number)));
                homes.archetypes[number as usize].waiting = waiting;
                continue;
            }
            homes.open_blocks(number, entities);
        }
        let mut bands = Vec::new();
        for id in 0..self.len() {
            bands.clear();
            let mut start = 0;
            if let Some(bit) = self.homes.chosen.bit_of(id) {
                let has_it = |block: &(u32, u32, u64)| block.2 >> bit & 1 == 1;
                for (block, rows, _) in self.homes.all_blocks().filter(has_it) {
                    bands.push(Band { start, len: rows, block });
                    start += rows;
                }
            }
            let (homes, pool) = self.homes_and(id);
            pool.line_up(&bands, &homes.register);
        }
        self.find_heritable();
    }
}

/// By core: the restless components that more than half of its entities have.
fn usual(living: &[(Entity, u64)], restless: u64) -> FxHashMap<u64, u64> {
    let mut counts: FxHashMap<u64, (usize, [u32; BITS])> = FxHashMap::default();
    if restless == 0 {
        return FxHashMap::default();
    }
    for &(_, signature) in living.iter().filter(|(_, signature)| *signature != 0) {
        let (all, each) = counts.entry(signature & !restless).or_insert((0, [0; BITS]));
        *all += 1;
        bits(signature & restless).for_each(|id| each[id] += 1);
    }
    let most = |(all, each): (usize, [u32; BITS])| {
        bits(restless)
            .filter(|&id| each[id] as usize * 2 > all)
            .fold(0, |usual, id| usual | 1 << id)
    };
    counts.into_iter().map(|(core, counted)| (core, most(counted))).collect()
}
