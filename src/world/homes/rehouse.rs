//! Gives strays a home.

use super::super::World;
use super::super::pools::Pools;
use super::shrink::BUDGET;
use super::{Archetype, Block, Gap, Home, Homes};
use crate::entity::Entity;

/// Entities from which on an archetype has a block. Fewer are looked up as fast.
pub(super) const LEAST: usize = 8;

/// The most rows of a block: one is moved as a whole.
const LONGEST: usize = BUDGET.0;

/// Rounds after which it is asked which components are restless.
const WINDOW: u32 = 16;

/// Moves entities, and forgets all homes if that unwinds: a storage of the user's may, and the marks of some pools
/// would not fit the register (A1).
struct Rehousing<'w> {
    world: &'w mut World,
    is_done: bool,
}

impl Drop for Rehousing<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.world.pools.dissolve();
        }
    }
}

impl World {
    #[cold]
    #[inline(never)]
    pub(super) fn rehouse(&mut self) {
        let mut rehousing = Rehousing { world: self, is_done: false };
        rehousing.world.work_off();
        rehousing.is_done = true;
    }

    fn work_off(&mut self) {
        let living = self.entities.len();
        self.pools.clear();
        let able = self.pools.able();
        let homes = &mut self.pools.homes;
        // Homes with a component whose order belongs to somebody now are no homes any more.
        let is_new = !homes.is_active() || homes.is_stale || homes.able & !able != 0;
        if is_new {
            return self.arrange();
        }
        homes.rounds += 1;
        let is_end = homes.rounds.is_multiple_of(WINDOW);
        // Soon at first: until it is known, each toggle of such a component moves an entity.
        let is_early = homes.rounds.is_power_of_two() && homes.rounds > 2;
        if is_end || is_early {
            self.pools.find_restless(living);
            let is_poor = is_early && self.pools.is_choice_poor(living);
            if self.pools.homes.is_stale || is_poor || self.pools.homes.is_scattered(living) {
                return self.arrange();
            }
        }
        self.pools.homes.bound(able, living);
        self.pools.find_heritable();
        self.sweep();
        let mut strays = std::mem::take(&mut self.pools.homes.strays);
        let mut round = Round::default();
        for entity in strays.drain(..) {
            if let Some(signature) = self.living_signature(entity) {
                let part = self.pools.part_of(entity, signature);
                self.pools.homes.leave(entity, part, &mut round);
            }
        }
        self.pools.homes.strays = strays;
        self.pools.homes.seat_all(&mut round);
        self.pools.bring_home(round);
        if is_end {
            self.pools.trim();
        }
        self.pools.close_gaps(living);
        self.pools.homes.register.number();
    }
}

/// What a round of rehousing does.
#[derive(Default)]
struct Round {
    /// Archetypes for whose rows something changes.
    archetypes: Vec<u32>,
    /// Indices whose homes change, and in which pools that matters.
    movers: Vec<(u32, u64)>,
    /// Pools in which deaths have moved others.
    shaken: u64,
}

impl Homes {
    /// Says which pools have a common order now, in a world of so many entities.
    pub(super) fn bound(&mut self, able: u64, living: usize) {
        if self.able != able {
            self.births.clear();
        }
        (self.able, self.most) = (able, living + super::SMALL);
        // Not below what it was: homes that are given stay.
        self.reach = self.reach.max(u32::try_from(living * 16 + 4096).unwrap_or(u32::MAX));
    }

    /// Restless components that are part of no home.
    pub(super) fn find_idle(&self) -> u64 {
        self.usual.values().fold(self.restless, |idle, usual| idle & !usual)
    }

    /// The components of the home of an entity with this signature.
    #[inline]
    pub(super) fn key(&self, signature: u64) -> u64 {
        match self.restless {
            0 => signature,
            // It has nothing, or is too far away.
            _ if signature == 0 => 0,
            // What most of its kind have is kept free for it, whether it has it now or not.
            restless => {
                let core = signature & !restless;
                core | self.usual.get(&core).copied().unwrap_or(0)
            }
        }
    }

    /// Takes an entity out of its home, if that is not the right one any more, and lets it wait for another.
    fn leave(&mut self, entity: Entity, signature: u64, round: &mut Round) {
        let (home, to) = (self.register.home(entity.index()), self.key(signature));
        let from = match home.waits_for() {
            Some(archetype) => self.archetypes[archetype].mask,
            None if home.is_row() => self.mask_of(home),
            None => 0,
        };
        if from == to {
            // A component that came back goes to its row.
            return round.movers.push((entity.index(), from & self.restless));
        }
        self.vacate(entity);
        if home.is_row() {
            round.movers.push((entity.index(), from));
        }
        if to != 0 {
            let archetype = self.archetype_of(to);
            self.register.assign(entity.index(), Home::waiting(archetype));
            self.archetypes[archetype as usize].waiting.push(entity);
            round.archetypes.push(archetype);
        }
    }

    /// Brings newborns who have a row there.
    fn seat_all(&mut self, round: &mut Round) {
        let mut unseated = std::mem::take(&mut self.unseated);
        for entity in unseated.drain(..) {
            let home = self.register.home(entity.index());
            // Some have gone.
            if home.is_row() {
                round.movers.push((entity.index(), self.mask_of(home)));
            }
        }
        self.unseated = unseated;
    }

    /// How many have to wait for a new block of an archetype: more of them where it has many, so that blocks
    /// do not become too many.
    fn needed(archetype: &Archetype) -> usize {
        LEAST.max(archetype.rows as usize / 32)
    }

    /// Whether an entity waits for an archetype.
    fn waits(&self, entity: Entity, archetype: u32) -> bool {
        self.register.home(entity.index()) == Home::waiting(archetype)
    }

    /// Makes blocks of these entities.
    pub(super) fn open_blocks(&mut self, archetype: u32, entities: &[Entity]) -> Vec<u32> {
        let blocks = entities.chunks(LONGEST).map(|some| self.open_block(archetype, some));
        blocks.collect()
    }

    /// Makes a block of these entities.
    fn open_block(&mut self, archetype: u32, entities: &[Entity]) -> u32 {
        let owner = &mut self.archetypes[archetype as usize];
        // All rows are in use: none waits where there is room.
        debug_assert!(owner.used == owner.rows, "A4");
        let new = Block { archetype, first: owner.rows };
        let block = match self.spare.pop_first() {
            Some(block) => {
                self.register.reopen(block, entities.len());
                self.blocks[block as usize] = new;
                block
            }
            None => {
                self.blocks.push(new);
                self.register.add_block(entities.len())
            }
        };
        owner.blocks.push(block);
        owner.rows += entities.len() as u32;
        (owner.used, owner.surplus) = (owner.rows, 0);
        for (row, entity) in (0..).zip(entities) {
            self.register.assign(entity.index(), Home { block, row });
        }
        block
    }

    /// The row of an archetype by its number among all of them.
    pub(super) fn nth_row(&self, archetype: &Archetype, nth: u32) -> Home {
        let first = |block: u32| self.blocks[block as usize].first;
        let after = archetype.blocks.partition_point(|&block| first(block) <= nth);
        let block = archetype.blocks[after - 1];
        Home { block, row: nth - first(block) }
    }

    /// A vacant row of an archetype.
    pub(super) fn take_row(&mut self, number: u32) -> Option<Home> {
        let archetype = &mut self.archetypes[number as usize];
        if let Some(gap) = archetype.gaps.pop() {
            return Some(gap.home);
        }
        if archetype.used == archetype.rows {
            return None;
        }
        archetype.used += 1;
        archetype.surplus = archetype.surplus.min(archetype.rows - archetype.used);
        let archetype = &self.archetypes[number as usize];
        Some(self.nth_row(archetype, archetype.used - 1))
    }

    /// Gives those who wait for an archetype the rows that are vacant.
    fn serve(&mut self, number: u32, round: &mut Round) {
        while let Some(&entity) = self.archetypes[number as usize].waiting.last() {
            // One may be listed twice, or has gone.
            if self.waits(entity, number) {
                let Some(home) = self.take_row(number) else { return };
                self.register.assign(entity.index(), home);
                round.movers.push((entity.index(), self.archetypes[number as usize].mask));
            }
            self.archetypes[number as usize].waiting.pop();
        }
    }

    /// Moves the tenants of the last rows of an archetype into its gaps.
    fn fill_gaps(&mut self, number: u32, round: &mut Round) {
        let mut gaps = std::mem::take(&mut self.archetypes[number as usize].gaps);
        let nth = |gap: &Gap| self.blocks[gap.home.block as usize].first + gap.home.row;
        gaps.sort_unstable_by_key(nth);
        let (mut first, mut end) = (0, gaps.len());
        while first < end {
            let archetype = &mut self.archetypes[number as usize];
            archetype.used -= 1;
            let archetype = &self.archetypes[number as usize];
            let last = self.nth_row(archetype, archetype.used);
            if gaps[end - 1].home == last {
                end -= 1;
            } else if let Some(index) = self.register.tenant(last) {
                self.register.vacate(index);
                self.register.assign(index, gaps[first].home);
                round.movers.push((index, archetype.mask));
                first += 1;
            } else {
                debug_assert!(false, "A4");
            }
        }
        gaps.clear();
        self.archetypes[number as usize].gaps = gaps;
    }
}

impl Pools {
    /// Gives homes to those who wait, as far as there is room, and brings all who have moved there.
    fn bring_home(&mut self, mut round: Round) {
        round.archetypes.append(&mut self.homes.gappy);
        round.archetypes.sort_unstable();
        round.archetypes.dedup();
        for at in 0..round.archetypes.len() {
            let number = round.archetypes[at];
            let archetype = &mut self.homes.archetypes[number as usize];
            if std::mem::take(&mut archetype.is_listed) {
                round.shaken |= archetype.mask;
            }
            self.homes.serve(number, &mut round);
            self.homes.fill_gaps(number, &mut round);
        }
        let pools = round.movers.iter().fold(round.shaken, |all, mover| all | mover.1);
        let mut list = Vec::with_capacity(round.movers.len());
        for bit in bits(pools) {
            list.clear();
            list.extend(
                round.movers.iter().filter(|mover| mover.1 >> bit & 1 == 1).map(|mover| mover.0),
            );
            let (homes, pool) = self.homes_and_bit(bit);
            pool.rehouse(&list, &homes.register);
        }
        for number in round.archetypes {
            let archetype = &self.homes.archetypes[number as usize];
            if archetype.waiting.len() >= Homes::needed(archetype) {
                self.add_block(number);
            }
            self.trim_if_long(number);
        }
    }

    /// Gives those who wait for an archetype rows of their own, if they are enough.
    fn add_block(&mut self, number: u32) {
        let mut waiting = std::mem::take(&mut self.homes.archetypes[number as usize].waiting);
        // One may be listed twice, and so may an index: by one who has died, and by its successor.
        waiting.sort_unstable_by_key(|entity| entity.index());
        waiting.dedup_by_key(|entity| entity.index());
        waiting.retain(|&entity| self.homes.waits(entity, number));
        let archetype = &mut self.homes.archetypes[number as usize];
        if waiting.len() < Homes::needed(archetype) {
            archetype.waiting = waiting;
            return;
        }
        let blocks = self.homes.open_blocks(number, &waiting);
        let waiting: Vec<u32> = waiting.iter().map(|entity| entity.index()).collect();
        for bit in bits(self.homes.archetypes[number as usize].mask) {
            let (homes, pool) = self.homes_and_bit(bit);
            for (&block, some) in blocks.iter().zip(waiting.chunks(LONGEST)) {
                pool.add_band(some, block, &homes.register);
            }
        }
    }

    /// Forgets all homes: from now on everything is looked up.
    pub(crate) fn dissolve(&mut self) {
        self.homes = Homes { chosen: self.homes.chosen.clone(), ..Homes::default() };
        for id in 0..self.len() {
            let (homes, pool) = self.homes_and(id);
            pool.line_up(&[], &homes.register);
        }
    }
}

/// The numbers of the bits that are set.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}
