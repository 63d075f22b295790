//! What a group owns, observes and excludes.

use super::Family;
use crate::entity::Entity;

/// The condition of a group: numbers of components, each list ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Condition {
    pub(crate) owned: Vec<u32>,
    pub(crate) observed: Vec<u32>,
    pub(crate) excluded: Vec<u32>,
    /// Signature bits of what must be there, and of what must not.
    need: u64,
    deny: u64,
    /// The latter one by one.
    deny_bits: Vec<u64>,
    /// Whether no other component has one of these bits.
    is_exact: bool,
    /// What must be there, what must not, and what is owned, as bits by component number; `None` if
    /// a number is too high.
    masks: Option<[u64; 3]>,
}

/// Why a group cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clash {
    /// It names a component twice.
    Repeated(u32),
    /// It names no component that its members must have.
    Empty,
}

impl Condition {
    /// `bit` gives the signature bit of a component, and whether it is its own.
    pub(crate) fn new(
        [mut owned, mut observed, mut excluded]: [Vec<u32>; 3],
        bit: impl Fn(u32) -> (u64, bool),
    ) -> Result<Self, Clash> {
        let mut all: Vec<u32> =
            [&owned, &observed, &excluded].into_iter().flatten().copied().collect();
        all.sort_unstable();
        if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Clash::Repeated(pair[0]));
        }
        if owned.is_empty() && observed.is_empty() {
            return Err(Clash::Empty);
        }
        owned.sort_unstable();
        observed.sort_unstable();
        excluded.sort_unstable();
        let mut condition = Self { owned, observed, excluded, ..Self::default() };
        condition.read_bits(bit);
        condition.masks = condition.find_masks();
        Ok(condition)
    }

    fn find_masks(&self) -> Option<[u64; 3]> {
        let mask = |components: &[u32]| {
            components.iter().try_fold(0, |mask, &component| {
                (component < u64::BITS).then(|| mask | 1_u64 << component)
            })
        };
        let owned = mask(&self.owned)?;
        Some([owned | mask(&self.observed)?, mask(&self.excluded)?, owned])
    }

    /// Reads the bits again: a component may have come to share one.
    pub(crate) fn read_bits(&mut self, bit: impl Fn(u32) -> (u64, bool)) {
        let bits = |components: &mut dyn Iterator<Item = &u32>| {
            components.fold((0, true), |(bits, is_exact), &component| {
                let (bit, is_own) = bit(component);
                (bits | bit, is_exact && is_own)
            })
        };
        let (need, needs_exactly) = bits(&mut self.owned.iter().chain(&self.observed));
        let (deny, denies_exactly) = bits(&mut self.excluded.iter());
        (self.need, self.deny) = (need, deny);
        self.deny_bits = self.excluded.iter().map(|&component| bit(component).0).collect();
        self.is_exact = needs_exactly && denies_exactly;
    }

    /// Components that members must have.
    pub(crate) fn needed(&self) -> impl Iterator<Item = u32> {
        self.owned.iter().chain(&self.observed).copied()
    }

    /// All components that it names.
    pub(crate) fn named(&self) -> impl Iterator<Item = u32> {
        self.needed().chain(self.excluded.iter().copied())
    }

    /// Number of components that it names, and of those that it owns: a wider group of a chain has
    /// fewer of the former, or as many and fewer of the latter.
    pub(crate) fn strictness(&self) -> (usize, usize) {
        let named = self.owned.len() + self.observed.len() + self.excluded.len();
        (named, self.owned.len())
    }

    /// What must be there, what must not, and what is owned, as bits by component number; `None` if
    /// a number is too high.
    #[inline]
    pub(crate) fn masks(&self) -> Option<[u64; 3]> {
        self.masks
    }

    #[inline]
    pub(crate) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Signature bits of what must be there, and of all that is named; `None` if signatures do not
    /// decide.
    pub(crate) fn decisive(&self) -> Option<(u64, u64)> {
        self.is_exact.then_some((self.need, self.need | self.deny))
    }

    /// Whether an entity with this signature is a member, or is to be one.
    ///
    /// An excluded component may be left out of account: the one that it has just got.
    #[inline]
    pub(crate) fn fits(
        &self,
        entity: Entity,
        signature: u64,
        ignored: Option<u32>,
        family: &mut impl Family,
    ) -> bool {
        if signature & self.need != self.need {
            return false;
        }
        if !self.is_exact {
            return self.fits_by_asking(entity, ignored, family);
        }
        let ignored = ignored.map_or(0, |component| self.deny_bit(component));
        signature & self.deny & !ignored == 0
    }

    /// The signature bit of an excluded component.
    fn deny_bit(&self, component: u32) -> u64 {
        let at = self.excluded.iter().position(|&excluded| excluded == component);
        at.map_or(0, |at| self.deny_bits[at])
    }

    /// As `fits`, where the signature does not decide.
    #[cold]
    fn fits_by_asking(
        &self,
        entity: Entity,
        ignored: Option<u32>,
        family: &mut impl Family,
    ) -> bool {
        let mut refused = self.excluded.iter().filter(|&&component| Some(component) != ignored);
        self.needed().all(|component| family.has(component, entity))
            && !refused.any(|&component| family.has(component, entity))
    }

    /// A component that this and `other` own although they are no chain (G2), if there is one.
    pub(crate) fn clash(&self, other: &Self) -> Option<u32> {
        let shared = self.owned.iter().find(|component| other.owned.contains(component))?;
        let is_chain = self.includes(other) || other.includes(self);
        (!is_chain).then_some(*shared)
    }

    /// Whether the other one is wider, or the same.
    fn includes(&self, wider: &Self) -> bool {
        let is_needed = |component| self.needed().any(|own| own == component);
        wider.needed().all(is_needed)
            && wider.excluded.iter().all(|component| self.excluded.contains(component))
            && wider.owned.iter().all(|component| self.owned.contains(component))
    }
}
