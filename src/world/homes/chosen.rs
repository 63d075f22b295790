//! Which components take part in homes, and which bit of a mask stands for each.
//!
//! Masks have 64 bits. In a world of up to 64 component types each type has the bit that it has in signatures. In a
//! world of more types 64 of them are *chosen*: those with the most members. A layout chooses, so bits keep their
//! meaning as long as rows do. The others are looked up in every walk. The 65th type changes nothing by itself.

use super::super::World;
use super::super::codes::{self, BITS};
use super::super::pool_box::AnyPool;
use super::super::pools::Pools;
use super::rehouse::bits;
use super::{Homes, SMALL};
use crate::entity::Entity;

/// In place of a bit: the component is not chosen.
const NO_BIT: u8 = u8::MAX;

/// The components that bits of masks stand for.
#[derive(Debug, Default, Clone)]
pub(super) struct Chosen {
    /// By bit: the number of the component. Empty where each of the first 64 has the bit of its number.
    ids: Vec<u32>,
    /// By number of the component: its bit. Derived, so that a death need not search.
    bits: Vec<u8>,
}

impl Chosen {
    /// These components, by bit. `None` stands for a bit that is not used.
    pub(super) fn new(ids: impl IntoIterator<Item = Option<usize>>) -> Self {
        let mut chosen = Self::default();
        for (bit, id) in ids.into_iter().enumerate() {
            debug_assert!(bit < BITS, "a mask has no more bits");
            chosen.ids.push(id.map_or(u32::MAX, |id| id as u32));
            let Some(id) = id else { continue };
            if id >= chosen.bits.len() {
                chosen.bits.resize(id + 1, NO_BIT);
            }
            chosen.bits[id] = bit as u8;
        }
        chosen
    }

    /// The number of the component of a bit; that of none, if the bit is not used.
    #[inline]
    pub(super) fn id_of(&self, bit: usize) -> usize {
        match self.is_by_number() {
            true => bit,
            false => self.ids.get(bit).copied().unwrap_or(u32::MAX) as usize,
        }
    }

    /// The bit of a component, if it is chosen.
    #[inline]
    pub(super) fn bit_of(&self, id: usize) -> Option<usize> {
        match self.is_by_number() {
            true => (id < BITS).then_some(id),
            false => self.bits.get(id).filter(|&&bit| bit != NO_BIT).map(|&bit| bit.into()),
        }
    }

    /// Whether each of the first 64 components has the bit of its number.
    pub(super) fn is_by_number(&self) -> bool {
        self.ids.is_empty()
    }

    /// How many bits stand for components, in a world of so many.
    fn len(&self, pools: usize) -> usize {
        if self.is_by_number() { pools.min(BITS) } else { self.ids.len() }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<u32>() + self.bits.capacity()
    }
}

impl Pools {
    /// As `homes_and`, by the bit that stands for the component in masks.
    pub(super) fn homes_and_bit(&mut self, bit: usize) -> (&mut Homes, &mut dyn AnyPool) {
        self.homes_and(self.homes.component_of(bit))
    }

    /// Bits that stand for components which the world has, with the numbers of these.
    pub(super) fn chosen_ids(&self) -> impl Iterator<Item = (usize, usize)> {
        let chosen = &self.homes.chosen;
        let all = (0..chosen.len(self.len())).map(|bit| (bit, chosen.id_of(bit)));
        all.filter(|&(_, id)| id < self.len())
    }

    /// Whether a pool may be arranged: no group owns it, and it is not sorted.
    fn is_able(&self, id: usize) -> bool {
        !self.at(id).tag().is_owned && !self.at(id).is_sorted()
    }

    /// Components whose pools may be arranged, as bits.
    pub(super) fn able(&self) -> u64 {
        let able = self.chosen_ids().filter(|&(_, id)| self.is_able(id));
        able.fold(0, |able, (bit, _)| able | 1 << bit)
    }

    /// Numbers of the components that may be chosen, those with the most members first.
    fn ranked(&mut self) -> Vec<(usize, usize)> {
        let able: Vec<usize> = (0..self.len()).filter(|&id| self.is_able(id)).collect();
        let members = |id| (id, self.at_mut(id).map_mut().entities().len());
        let mut all: Vec<(usize, usize)> = able.into_iter().map(members).collect();
        // By name where they are equal: a world that was loaded has other numbers.
        all.sort_by_key(|&(id, members)| (std::cmp::Reverse(members), self.at(id).name()));
        all
    }

    /// Chooses the components that take part, before all is laid out.
    pub(super) fn choose(&mut self) {
        if self.len() <= BITS && self.homes.chosen.is_by_number() {
            return;
        }
        let ranked = self.ranked();
        let ids = ranked.into_iter().take(BITS).map(|(id, _)| Some(id));
        let chosen = Chosen::new(ids);
        let old = std::mem::replace(&mut self.homes.chosen, chosen);
        let homes = &mut self.homes;
        let stays = |bit: usize| homes.chosen.bit_of(old.id_of(bit));
        homes.restless = bits(homes.restless).filter_map(stays).fold(0, |all, bit| all | 1 << bit);
    }

    /// Whether some component that takes no part has far more members than one that does.
    pub(super) fn is_choice_poor(&mut self, living: usize) -> bool {
        if self.len() <= BITS {
            return false;
        }
        let ranked = self.ranked();
        let chosen = |id: usize| self.homes.chosen.bit_of(id).is_some();
        let least = ranked.iter().rfind(|&&(id, _)| chosen(id)).map_or(0, |&(_, members)| members);
        let best = ranked.iter().find(|&&(id, _)| !chosen(id)).map_or(0, |&(_, members)| members);
        best >= SMALL && best > least * 2 + living / 64
    }

    /// The components of a living entity that may be part of its home.
    pub(super) fn part_of(&mut self, entity: Entity, signature: u64) -> u64 {
        if entity.index() >= self.homes.reach {
            return 0;
        }
        let able = self.homes.able;
        if self.len() <= BITS {
            return signature & able;
        }
        // A bit of the signature may say "maybe" only.
        let mut part = 0;
        for bit in bits(able) {
            let id = self.homes.chosen.id_of(bit);
            let may_be = codes::bits_of(id) & !signature == 0;
            if may_be && (codes::is_exact(id) || self.at_mut(id).map_mut().contains(entity)) {
                part |= 1 << bit;
            }
        }
        part
    }
}

impl World {
    /// All that live, with the components that may be part of their homes.
    pub(super) fn parts(&mut self, able: u64) -> Vec<(Entity, u64)> {
        if self.pools.len() <= BITS {
            let part = |entity| (entity, self.signature(entity) & able);
            return self.entities.iter().map(part).collect();
        }
        let mut parts = vec![0; self.entities.near_len()];
        for bit in bits(able) {
            let id = self.pools.homes.chosen.id_of(bit);
            for entity in self.pools.at_mut(id).map_mut().entities() {
                // Others are too far away to have a home.
                if let Some(part) = parts.get_mut(entity.index() as usize) {
                    *part |= 1 << bit;
                }
            }
        }
        let part = |entity: Entity| parts.get(entity.index() as usize).copied().unwrap_or(0);
        self.entities.iter().map(|entity| (entity, part(entity))).collect()
    }
}
