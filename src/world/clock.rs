//! What time it is for changes.

use super::World;
use crate::tick::{Span, Tick};

/// The clock of a world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// The tick of changes that are made now.
    pub(crate) now: Tick,
    /// The last tick before the last refresh.
    refreshed: Tick,
}

impl Default for Clock {
    fn default() -> Self {
        // What is there when a world is made is new to everybody.
        Self { now: Tick::ZERO.next(), refreshed: Tick::ZERO }
    }
}

impl Clock {
    /// What is new to who asks without saying since when.
    #[inline]
    pub(crate) fn span(self) -> Span {
        Span { since: self.refreshed, now: self.now }
    }

    /// Ends a tick and returns it.
    pub(crate) fn advance(&mut self) -> Tick {
        let ended = self.now;
        self.now = ended.next();
        ended
    }

    pub(super) fn refresh(&mut self) {
        self.refreshed = self.advance();
    }
}

impl World {
    /// The tick that changes made now get.
    #[inline]
    pub fn tick(&self) -> Tick {
        self.pools.clock.now
    }

    /// Ends the current tick and returns it: what is changed from now on is later.
    ///
    /// For who looks at changes at a pace of his own: keep the tick, and ask a query for what
    /// came [`since`](crate::Query::since).
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// #[derive(Component)]
    /// #[component(track)]
    /// struct Score(u32);
    ///
    /// let mut world = World::new();
    /// let e = world.spawn(Score(0));
    /// let seen = world.advance_tick();
    /// let changed = |world: &World| {
    ///     world.query_filtered::<Entity, Changed<Score>>().since(seen).iter().collect::<Vec<_>>()
    /// };
    /// assert!(changed(&world).is_empty());
    /// world.get_mut::<Score>(e).unwrap().0 += 1;
    /// assert_eq!(changed(&world), [e]);
    /// ```
    pub fn advance_tick(&mut self) -> Tick {
        self.pools.clock.advance()
    }

    /// Ends a round.
    ///
    /// Reserved entities come to life; listeners are told of what was done to pools through
    /// `&World`, and of who has entered and left the groups that are [watched](Self::watch); what all
    /// readers of removals and messages have read is dropped; entities with the same components are brought
    /// together; and changes made so far are no longer new to queries that do not say
    /// [`since`](crate::Query::since) when.
    pub fn refresh(&mut self) {
        self.settle();
        self.deliver_echoes();
        if self.has_watches() {
            self.refresh_watches();
            self.deliver();
        }
        self.trim_journals();
        self.tidy_at_refresh();
        self.pools.clock.refresh();
    }

    /// Gives out ticks for several who act at once, in a row; returns the first.
    pub(crate) fn take_ticks(&mut self, count: u64) -> Tick {
        let first = self.pools.clock.now.next();
        self.pools.clock.now = Tick::new(first.get() + count);
        first
    }

    /// What is new to a query that does not say since when.
    #[inline]
    pub(crate) fn span(&self) -> Span {
        self.pools.clock.span()
    }
}
