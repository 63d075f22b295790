//! Who cares for a pool: groups, listeners, sets, readers of removals.
//!
//! Written into the tags of the pools whenever one comes or goes, so that the gate reads one flag. No type is asked
//! here: what it brings along was said when its pool was made.

use super::pools::Pools;
use super::react::{Notes, What};

impl Pools {
    /// Says in the tags of all pools who cares for them: groups, listeners, sets, readers.
    pub(crate) fn mark_care(&mut self) {
        for id in 0..self.len() {
            let is_owned = self.groups.is_owned(id as u32);
            let is_grouped = self.groups.of(id as u32).iter().any(|numbers| !numbers.is_empty());
            let sole_owner = self.groups.sole_owner(id as u32);
            let is_noted = self.is_noted(id as u32);
            let is_journaled = self.at_mut(id).is_journaled();
            let tag = self.at_mut(id).tag_mut();
            let was_owned = tag.is_owned;
            (tag.is_grouped, tag.is_owned) = (is_grouped, is_owned);
            (tag.is_noted, tag.is_journaled) = (is_noted, is_journaled);
            tag.needs_care = is_grouped || is_noted || is_journaled;
            tag.sole_owner = sole_owner.filter(|_| !is_noted && !is_journaled);
            if is_owned != was_owned {
                self.at_mut(id).drop_rows();
                self.homes.renew_for(id, is_owned);
            }
        }
        self.find_heritable();
        let Notes { signals, .. } = &self.notes;
        let ids = 0..self.len() as u32;
        self.hears_removal = ids.clone().any(|id| signals.hears(What::Removing, id));
        self.prepares_removal =
            self.hears_removal || ids.clone().any(|id| self.at_mut(id as usize).copies_removed());
        let Notes { signals, .. } = &self.notes;
        self.hears_spawn = signals.hears(What::Spawned, 0);
        // What was noted for one who has gone is forgotten at the refresh, and not before.
        self.is_heard |= self.has_hearers();
        let is_noted = ids.clone().any(|id| self.at(id as usize).tag().is_noted);
        self.death_needs_care = self.hears_removal || is_noted || signals.hears(What::Despawned, 0);
    }

    /// Whether somebody listens to a pool or reads its removals.
    pub(crate) fn has_hearers(&self) -> bool {
        let mut tags = (0..self.len()).map(|id| self.at(id).tag());
        self.hears_removal || tags.any(|tag| tag.is_noted || tag.is_journaled)
    }

    /// Whether somebody wants to know when this component comes, changes or goes.
    fn is_noted(&self, id: u32) -> bool {
        let Notes { signals, reactive, .. } = &self.notes;
        signals.hears(What::Added, id)
            || signals.hears(What::Changed, id)
            || reactive.iter().any(|set| set.components().any(|component| component == id))
            || !self.at(id as usize).required().is_empty()
    }
}
