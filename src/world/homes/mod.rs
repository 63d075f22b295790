//! Homes: entities that have the same components lie side by side, in one order, in all their pools.
//!
//! An *archetype* is a set of components. A *block* is a list of rows of one archetype. The *home* of an entity is a
//! row of a block. In every pool of the archetype a block is a band (`sparse/rows.rs`), and the entity lies at the
//! position of its row there, unless something has moved it: then it is *loose* in that pool and is looked up.
//!
//! Structural change only takes notes: a death leaves its row vacant; a birth, and a change of components, makes a
//! *stray*. [`tidy`](World::tidy) works off the notes before the next walk through `&mut World` and at each refresh:
//! a stray takes a vacant row of its archetype, the last rows fill the gaps that remain, and where enough strays wait, they get
//! a new block at the end of their pools. Rows that stay vacant go (`shrink.rs`). The cost of a round follows the number
//! of changes since the last one; what does not, has a budget and is left to the next rounds.
//!
//! A component that comes and goes is *restless*: its toggles move nothing else. It is part of a home only where most
//! entities that are alike otherwise have it; a value that comes back goes to its row then.
//!
//! The order of pools depends on all this, so clones, kept states and native files have it, too (T2; `copy.rs`, `record.rs`).
//!
//! Nothing here knows a component type, and memory safety rests on two things: a row is the home of one entity
//! at most (A3, `sparse/register.rs`), and only that entity is marked as placed there (A1).
//!
//! # Invariants
//! - **A4** – of the rows of an archetype the first `used` have tenants, but for those in its list of gaps; no others have. Who
//!   waits for an archetype is in its list.

mod arrange;
mod check;
mod chosen;
mod copy;
mod loose;
#[cfg(feature = "serde")]
mod record;
mod rehouse;
mod restless;
mod shrink;

use std::any::TypeId;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use self::chosen::Chosen;
#[cfg(feature = "serde")]
pub(crate) use self::copy::Sorted;
use self::loose::AllLoose;
pub(crate) use self::loose::LooseRows;
use super::World;
use super::bundle::{Bundle, ComponentVisitor};
use super::codes::BITS;
use super::pools::Pools;
use crate::component::Component;
use crate::entity::Entity;
use crate::sparse::{Home, Register};

/// Components that entities have in common.
#[derive(Debug, Default)]
struct Archetype {
    mask: u64,
    blocks: Vec<u32>,
    /// Rows of its blocks, and how many of them are in use: the first ones but for gaps.
    rows: u32,
    used: u32,
    /// The least number of rows that were vacant in this window.
    surplus: u32,
    /// Rows in use that have lost their tenants since the last round.
    gaps: Vec<Gap>,
    /// Whether it is in the list of those that had gaps since then.
    is_listed: bool,
    /// Entities that found no row, and some that have gone since: one waits as long as its home says so.
    waiting: Vec<Entity>,
}

/// A row in use that has lost its tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    home: Home,
    /// The index that had it.
    index: u32,
}

/// A list of rows of one archetype.
#[derive(Debug, Clone, Copy)]
struct Block {
    archetype: u32,
    /// Number of its first row among all rows of the archetype.
    first: u32,
}

/// Where entities belong.
#[derive(Debug, Default)]
pub(crate) struct Homes {
    /// Whether the pools have been laid out.
    is_active: bool,
    register: Register,
    blocks: Vec<Block>,
    archetypes: Vec<Archetype>,
    by_mask: FxHashMap<u64, u32>,
    /// Entities that may have to move: newborns, and those whose components have changed.
    strays: Vec<Entity>,
    /// Newborns that have a row, but do not lie there in all pools.
    unseated: Vec<Entity>,
    /// By type of bundle: the archetype of those who are born with it. Derived from the masks, which change with a layout.
    births: FxHashMap<TypeId, u32>,
    /// Blocks without rows, whose numbers are given out again.
    spare: BTreeSet<u32>,
    /// Archetypes that had gaps since the last round.
    gappy: Vec<u32>,
    /// The components that bits of masks stand for.
    chosen: Chosen,
    /// Components whose pools have a common order, as bits: those whose order belongs to nobody.
    able: u64,
    /// Those whose values another entity can take over when their own is dead.
    pub(crate) heritable: u64,
    /// How many strays are noted before it is cheaper to lay all pools out anew.
    most: usize,
    /// Indices from here on have no homes: few ids are so far from the others, and the register has a place for each
    /// index below them.
    reach: u32,
    /// Components that come and go, as bits.
    restless: u64,
    /// Those of them that are part of no home.
    idle: u64,
    /// By core, which is what an entity has beside them: those of them that most with that core have.
    usual: FxHashMap<u64, u64>,
    /// By component: how often it was taken from a living entity in this window.
    lost: Vec<u32>,
    /// Rounds of settling in this window.
    rounds: u32,
    /// Which rows belong to entities that are loose in a pool. Derived, and kept for walks.
    loose: AllLoose,
    /// Whether all pools are to be laid out anew.
    is_stale: bool,
    /// Whether a round has left work for the next ones.
    is_unfinished: bool,
    /// The index from which on homes are compared with what their entities have, while that is under way.
    sweep: Option<u32>,
}

/// The archetype of a newborn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind(u32);

/// In place of an archetype: there is none with rows.
const NO_ARCHETYPE: u32 = u32::MAX;

/// Entities from which on a world is laid out. Smaller ones are walked as fast as they are.
const SMALL: usize = 256;

impl Homes {
    /// Whether changes are noted.
    #[inline(always)]
    pub(crate) fn is_active(&self) -> bool {
        self.is_active
    }

    /// Whether there is something to work off, in a world of so many entities.
    #[inline(always)]
    fn is_due(&self, living: usize) -> bool {
        match self.is_active() {
            true => self.has_notes() || self.is_stale,
            false => living >= SMALL,
        }
    }

    /// Whether there is something to work off at the end of a round, also if nothing has happened.
    fn is_due_at_refresh(&self) -> bool {
        self.is_unfinished || self.sweep.is_some()
    }

    fn has_notes(&self) -> bool {
        !self.strays.is_empty() || !self.gappy.is_empty() || !self.unseated.is_empty()
    }

    /// How many notes there are at most.
    #[inline]
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The components of the home of an entity.
    fn mask_of(&self, home: Home) -> u64 {
        self.archetypes[self.blocks[home.block as usize].archetype as usize].mask
    }

    /// All blocks, with the number of their rows and their components.
    fn all_blocks(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        let rows = |number| self.register.rows_of(number).unwrap_or(0) as u32;
        let mask = |block: &Block| self.archetypes[block.archetype as usize].mask;
        (0..).zip(&self.blocks).map(move |(number, block)| (number, rows(number), mask(block)))
    }

    /// The entity dies: its row is vacant.
    #[inline]
    pub(crate) fn vacate(&mut self, entity: Entity) {
        let home = self.register.vacate(entity.index());
        if home.is_row() {
            let number = self.blocks[home.block as usize].archetype;
            let archetype = &mut self.archetypes[number as usize];
            if !archetype.is_listed {
                archetype.is_listed = true;
                self.gappy.push(number);
            }
            archetype.gaps.push(Gap { home, index: entity.index() });
        }
    }

    /// An entity was born, or its components have changed.
    #[inline(always)]
    pub(crate) fn note(&mut self, entity: Entity) {
        if self.strays.len() < self.most {
            self.strays.push(entity);
        } else {
            self.is_stale = true;
        }
    }

    /// A newborn does not lie in its row everywhere.
    #[cold]
    pub(crate) fn note_unseated(&mut self, entity: Entity) {
        if self.unseated.len() < self.most {
            self.unseated.push(entity);
        } else {
            self.is_stale = true;
        }
    }

    /// The index that had the row which the next newborn of an archetype gets, if there is such a row. A newborn with that index
    /// finds all that it takes over where its own slots are.
    #[inline]
    pub(super) fn index_for(&self, Kind(archetype): Kind) -> Option<u32> {
        Some(self.archetypes.get(archetype as usize)?.gaps.last()?.index)
    }

    /// The row that the next newborn of an archetype gets, and the index that had it, as far as that is known.
    #[inline]
    pub(super) fn next_row(&self, Kind(archetype): Kind) -> (Home, u32) {
        let archetype = self.archetypes.get(archetype as usize);
        match archetype.and_then(|archetype| archetype.gaps.last()) {
            Some(gap) => {
                self.register.prefetch(gap.index);
                (gap.home, gap.index)
            }
            None => (Home::NONE, 0),
        }
    }

    /// Gives a newborn a vacant row of an archetype, if there is one, or notes that it has none.
    #[inline]
    pub(super) fn move_in(&mut self, entity: Entity, Kind(archetype): Kind) -> Home {
        if archetype != NO_ARCHETYPE
            && entity.index() < self.reach
            && let Some(home) = self.take_row(archetype)
        {
            self.register.assign(entity.index(), home);
            return home;
        }
        self.note(entity);
        Home::NONE
    }

    /// Entities were born.
    pub(crate) fn note_all(&mut self, entities: impl Iterator<Item = Entity>) {
        if self.is_active() {
            entities.for_each(|entity| self.note(entity));
        }
    }

    /// The components of a living entity have changed.
    #[inline(always)]
    pub(crate) fn note_change(&mut self, entity: Entity, before: u64, now: u64) {
        if (before ^ now) & !self.idle != 0 {
            self.note(entity);
        }
        self.count_lost(before & !now);
    }

    /// In a world of more types than a signature has bits: whether to have a component or not says where an entity
    /// belongs.
    #[inline]
    pub(crate) fn is_part(&self, component: usize) -> bool {
        self.chosen.bit_of(component).is_some_and(|bit| self.idle >> bit & 1 == 0)
    }

    /// In such a world: a living entity has lost a component.
    pub(crate) fn note_lost(&mut self, component: usize) {
        if let Some(bit) = self.chosen.bit_of(component).filter(|_| self.is_active()) {
            self.count_lost(1 << bit);
        }
    }

    /// Whether a component can be taken over from the dead; its bit then.
    #[inline]
    pub(crate) fn heritable_bit(&self, component: usize) -> Option<u64> {
        let bit = 1 << self.chosen.bit_of(component)?;
        (self.heritable & bit != 0).then_some(bit)
    }

    /// The number of the component that a bit of a mask stands for.
    #[inline]
    pub(super) fn component_of(&self, bit: usize) -> usize {
        self.chosen.id_of(bit)
    }

    /// A living entity has lost these components.
    #[inline(always)]
    fn count_lost(&mut self, mut components: u64) {
        if components != 0 && self.lost.is_empty() {
            self.lost.resize(BITS, 0);
        }
        while components != 0 {
            let lost = &mut self.lost[components.trailing_zeros() as usize];
            *lost = lost.saturating_add(1);
            components &= components - 1;
        }
    }

    /// So many living entities have lost a component, which nobody has any more.
    pub(crate) fn note_emptied(&mut self, component: usize, members: usize) {
        if let Some(bit) = self.chosen.bit_of(component).filter(|_| self.is_active()) {
            self.lost.resize(BITS, 0);
            let lost = &mut self.lost[bit];
            *lost = lost.saturating_add(members as u32);
        }
    }

    /// The order of a pool belongs to somebody else now, or to nobody any more. A world that was loaded, whose groups are
    /// built again, has homes without it already, and goes on with them.
    pub(crate) fn renew_for(&mut self, component: usize, is_taken: bool) {
        let bit = self.chosen.bit_of(component);
        if bit.is_some_and(|bit| (self.able >> bit & 1 == 1) == is_taken) {
            self.renew();
        }
    }

    /// All pools are to be laid out anew.
    pub(crate) fn renew(&mut self) {
        self.is_stale = self.is_active();
    }

    /// The archetype of these components.
    fn archetype_of(&mut self, mask: u64) -> u32 {
        let next = self.archetypes.len() as u32;
        let number = *self.by_mask.entry(mask).or_insert(next);
        if number == next {
            self.archetypes.push(Archetype { mask, ..Archetype::default() });
            self.births.clear();
        }
        number
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let lists = self.archetypes.iter().map(|archetype| {
            archetype.gaps.capacity() * size_of::<Gap>()
                + archetype.blocks.capacity() * size_of::<u32>()
                + archetype.waiting.capacity() * size_of::<Entity>()
        });
        lists.sum::<usize>()
            + self.register.heap_bytes()
            + self.loose.heap_bytes()
            + self.chosen.heap_bytes()
            + self.blocks.capacity() * size_of::<Block>()
            + (self.gappy.capacity() + self.spare.len()) * size_of::<u32>()
            + self.archetypes.capacity() * size_of::<Archetype>()
            + self.by_mask.capacity() * size_of::<(u64, u32)>()
            + (self.strays.capacity() + self.unseated.capacity()) * size_of::<Entity>()
            + self.births.capacity() * size_of::<(TypeId, u32)>()
            + self.lost.capacity() * size_of::<u32>()
            + self.usual.capacity() * size_of::<(u64, u64)>()
    }

    /// Gives back memory that serves nothing.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.register.shrink_to_fit();
        self.loose = AllLoose::default();
        self.strays.shrink_to_fit();
        self.unseated.shrink_to_fit();
        self.archetypes.iter_mut().for_each(|archetype| {
            archetype.gaps.shrink_to_fit();
            archetype.waiting.shrink_to_fit();
        });
    }
}

impl World {
    /// Works off what was noted since the last time, if there is something.
    #[inline(always)]
    pub(crate) fn tidy(&mut self) {
        if self.pools.homes.is_due(self.entities.len()) {
            self.rehouse();
        }
    }

    /// As [`tidy`](Self::tidy); goes on with what an earlier round has left, too.
    pub(super) fn tidy_at_refresh(&mut self) {
        let homes = &self.pools.homes;
        if homes.is_due(self.entities.len()) || homes.is_due_at_refresh() {
            self.rehouse();
        }
    }
}

impl Pools {
    /// The archetype of those who are born with a bundle.
    #[inline]
    pub(super) fn kind_of<B: Bundle>(&mut self) -> Kind {
        Kind(match self.homes.births.get(&TypeId::of::<B>()) {
            Some(&archetype) => archetype,
            None => self.archetype_for::<B>(),
        })
    }

    /// The archetype of those who are born with a bundle. As the bundle shows itself: if that is wrong, they are at a
    /// wrong place for a while.
    #[cold]
    #[inline(never)]
    fn archetype_for<B: Bundle>(&mut self) -> u32 {
        struct Mask<'a> {
            pools: &'a Pools,
            bits: u64,
            is_known: bool,
        }
        impl ComponentVisitor for Mask<'_> {
            fn visit<T: Component>(&mut self) {
                match self.pools.id_of::<T>() {
                    // One that is not chosen says nothing of where its owner belongs.
                    Some(id) => {
                        let bit = self.pools.homes.chosen.bit_of(id);
                        self.bits |= bit.map_or(0, |bit| 1 << bit);
                    }
                    None => self.is_known = false,
                }
            }
        }
        let mut mask = Mask { pools: self, bits: 0, is_known: true };
        B::visit(&mut mask);
        let Mask { bits, is_known, .. } = mask;
        if !is_known || bits & !self.homes.able != 0 {
            // A component that is new, or whose pool takes no part: the next round finds out.
            return NO_ARCHETYPE;
        }
        let archetype = self.homes.by_mask.get(&self.homes.key(bits)).copied();
        let archetype = archetype.unwrap_or(NO_ARCHETYPE);
        self.homes.births.insert(TypeId::of::<B>(), archetype);
        archetype
    }

    /// Finds out which components can be taken over.
    pub(super) fn find_heritable(&mut self) {
        let heritable = self.chosen_ids().filter(|&(_, id)| self.at(id).is_heritable());
        let heritable = heritable.fold(0, |all, (bit, _)| all | 1 << bit);
        self.homes.heritable = heritable & self.homes.able;
    }
}
