//! Drops values after the books are right: commit, then drop.
//!
//! A `Drop` of the user's may panic. By the time one runs here, every entity, pool and signature
//! is as the operation wants it, and the values left are dropped while unwinding, as the fields
//! of a struct would be. (A second panic then aborts, by the rule of the language.)

use super::codes::Candidates;
use super::pools::Pools;

/// Pools whose values still wait, and what to do to each.
pub(super) struct Funeral<'w> {
    pools: &'w mut Pools,
    waiting: Candidates,
    rite: fn(&mut Pools, usize),
}

impl<'w> Funeral<'w> {
    /// Drops the values in limbo of all pools with one of these signature bits.
    #[inline]
    pub(super) fn bury(pools: &'w mut Pools, bits: u64) {
        if bits != 0 {
            Self::hold(pools, bits, |pools, id| pools.at_mut(id).bury());
        }
    }

    /// Drops the values of all pools, whose entities are forgotten already.
    pub(super) fn drop_all(pools: &'w mut Pools) {
        Self::hold(pools, u64::MAX, |pools, id| pools.at_mut(id).drop_values());
    }

    /// Drops the values of all pools that have no entities any more.
    #[cfg(feature = "serde")]
    pub(super) fn drop_forgotten(pools: &'w mut Pools) {
        Self::hold(pools, u64::MAX, |pools, id| {
            if pools.at_mut(id).map_mut().entities().is_empty() {
                pools.at_mut(id).drop_values();
            }
        });
    }

    #[inline(never)]
    fn hold(pools: &'w mut Pools, bits: u64, rite: fn(&mut Pools, usize)) {
        // Bits without a pool: there are fewer pools than bits.
        let bits = if pools.len() < 64 { bits & ((1 << pools.len()) - 1) } else { bits };
        let waiting = Pools::candidates(bits, pools.len());
        let mut funeral = Funeral { pools, waiting, rite };
        funeral.go_on();
    }

    fn go_on(&mut self) {
        for id in self.waiting.by_ref() {
            (self.rite)(self.pools, id);
        }
    }
}

impl Drop for Funeral<'_> {
    fn drop(&mut self) {
        self.go_on();
    }
}
