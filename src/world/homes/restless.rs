//! Components that come and go all the time.
//!
//! A toggle of a component that belongs to homes moves an entity in all its pools. One that does not makes every walk
//! that asks for it find gaps. The second is cheaper unless a value stays for some hundred rounds.
//!
//! When a component is found to be restless, archetypes that differ in it only become one: the rows of both go on as they
//! are, under one number. When a component has come to rest, entities go to their new homes step by step.

use rustc_hash::FxHashMap;

use super::super::World;
use super::super::pools::Pools;
use super::rehouse::bits;
use super::shrink::BUDGET;
use super::{Home, Homes};
use crate::entity::Entity;

/// Indices whose homes are looked at in a round, at least, and the part of all.
const SWEPT: (usize, usize) = (1024, 128);

impl Pools {
    /// Finds out which components come and go all the time, and joins archetypes that differ in them only.
    pub(super) fn find_restless(&mut self, living: usize) {
        let (rounds, before) = (self.homes.rounds as usize, self.homes.restless);
        for bit in 0..self.homes.lost.len() {
            let id = self.homes.chosen.id_of(bit);
            if id >= self.len() {
                continue;
            }
            let members = self.at_mut(id).map_mut().entities().len();
            let lost = self.homes.lost[bit] as usize;
            if lost * 400 > members * rounds + 1600 {
                self.homes.restless |= 1 << bit;
            } else if rounds >= 256 && lost * 2000 < members * rounds && members >= super::SMALL {
                self.homes.restless &= !(1 << bit);
            }
        }
        if rounds >= 256 {
            self.homes.rounds = 0;
            self.homes.lost.fill(0);
        }
        let now = self.homes.restless;
        if now != before && living <= BUDGET.0 {
            // No more work than a round may do.
            return self.homes.renew();
        }
        if now & !before != 0 {
            self.join_archetypes();
        }
        if before & !now != 0 {
            self.homes.rename();
            self.homes.sweep = Some(0);
        }
    }

    /// Makes one archetype of those that differ in restless components only.
    fn join_archetypes(&mut self) {
        self.homes.rename();
        for number in 0..self.homes.archetypes.len() as u32 {
            let mask = self.homes.archetypes[number as usize].mask;
            let key = self.homes.key(mask);
            if key == 0 {
                self.evict(number);
            } else if key != mask {
                let to = self.homes.archetype_of(key);
                self.hand_over(number, to, mask & !key);
            }
        }
    }

    /// Takes all homes of an archetype away, and its rows.
    fn evict(&mut self, number: u32) {
        let archetype = &mut self.homes.archetypes[number as usize];
        (archetype.used, archetype.gaps) = (0, Vec::new());
        let waiting = std::mem::take(&mut archetype.waiting);
        let register = &mut self.homes.register;
        let is_waiting = |entity: &&Entity| register.home(entity.index()) == Home::waiting(number);
        let mut tenants: Vec<u32> =
            waiting.iter().filter(is_waiting).map(|entity| entity.index()).collect();
        for &block in &archetype.blocks {
            let rows = 0..register.rows_of(block).unwrap_or(0) as u32;
            tenants.extend(rows.filter_map(|row| register.tenant(Home { block, row })));
        }
        tenants.iter().for_each(|&index| _ = register.vacate(index));
        self.trim_to(number, 0);
    }

    /// Gives the rows of an archetype, and those who wait for it, to another one. `without` is what it has and the other does not.
    fn hand_over(&mut self, from: u32, to: u32, without: u64) {
        // So that rows in use are the first ones.
        let used = self.homes.archetypes[to as usize].used;
        self.trim_to(to, used);
        let source = &mut self.homes.archetypes[from as usize];
        let blocks = std::mem::take(&mut source.blocks);
        let mut gaps = std::mem::take(&mut source.gaps);
        let mut waiting = std::mem::take(&mut source.waiting);
        let (rows, used) = (std::mem::take(&mut source.rows), std::mem::take(&mut source.used));
        for bit in bits(without) {
            let (_, pool) = self.homes_and_bit(bit);
            blocks.iter().for_each(|&block| pool.cut_band(block, 0));
        }
        let homes = &mut self.homes;
        waiting.retain(|entity| homes.register.home(entity.index()) == Home::waiting(from));
        for entity in &waiting {
            homes.register.assign(entity.index(), Home::waiting(to));
        }
        let target = &mut homes.archetypes[to as usize];
        for &block in &blocks {
            let moved = &mut homes.blocks[block as usize];
            (moved.archetype, moved.first) = (to, moved.first + target.rows);
        }
        target.used = target.rows + used;
        target.rows += rows;
        target.blocks.extend(blocks);
        target.waiting.append(&mut waiting);
        if !target.is_listed {
            target.is_listed = true;
            homes.gappy.push(to);
        }
        homes.archetypes[to as usize].gaps.append(&mut gaps);
    }
}

impl Homes {
    /// Finds out again which archetypes entities belong to, now that other components are restless.
    fn rename(&mut self) {
        self.usual = self.find_usual();
        self.idle = self.find_idle();
        self.births.clear();
    }

    /// By core, which is what entities have beside restless components: those that belong to more than half of its homes.
    fn find_usual(&self) -> FxHashMap<u64, u64> {
        let mut counts: FxHashMap<u64, (usize, Vec<usize>)> = FxHashMap::default();
        let of_core = self.archetypes.iter().filter(|archetype| archetype.used > 0);
        for archetype in of_core {
            let (all, each) = counts.entry(archetype.mask & !self.restless).or_default();
            each.resize(u64::BITS as usize, 0);
            *all += archetype.used as usize;
            bits(archetype.mask & self.restless).for_each(|id| each[id] += archetype.used as usize);
        }
        let most = |(all, each): (usize, Vec<usize>)| {
            let usual = bits(self.restless).filter(|&id| each[id] * 2 > all);
            usual.fold(0, |usual, id| usual | 1 << id)
        };
        counts.into_iter().map(|(core, counted)| (core, most(counted))).collect()
    }
}

impl World {
    /// Compares some homes with what their entities have, and notes who belongs elsewhere.
    pub(super) fn sweep(&mut self) {
        let Some(first) = self.pools.homes.sweep else { return };
        let indices = self.entities.near_len();
        let last = indices.min(first as usize + SWEPT.0.max(indices / SWEPT.1));
        for index in first..last as u32 {
            if let Some(entity) = self.entities.at(index) {
                let signature = self.signature(entity);
                let part = self.pools.part_of(entity, signature);
                let homes = &mut self.pools.homes;
                let (home, key) = (homes.register.home(index), homes.key(part));
                if home.is_row() && homes.mask_of(home) != key {
                    homes.note(entity);
                }
            }
        }
        self.pools.homes.sweep = (last < indices).then_some(last as u32);
    }
}
