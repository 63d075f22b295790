//! Order that a world finds by itself: pools that are walked together come to lie in one order.
//!
//! A walk over several pools says which ones it requires (`wishes.rs`). A refresh looks at what was said
//! since the last one, decides who gets his wish, and moves values, a few at a time (`sweep.rs`). What
//! comes out depends on the walks and on the pools alone, not on threads or times.

mod sweep;
mod wishes;

use std::sync::{Mutex, PoisonError};

#[cfg(feature = "serde")]
pub(crate) use wishes::Learnt;
use wishes::{Walks, Wishes};

use super::World;

/// What an adaptive world knows.
#[derive(Debug, Default)]
pub(super) struct Adapt {
    /// Values that a refresh may move, about.
    budget: usize,
    /// What was walked since the last refresh. Locked for as long as it takes to count one walk.
    walks: Mutex<Walks>,
    wishes: Wishes,
}

impl Adapt {
    fn walks(&mut self) -> &mut Walks {
        self.walks.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World {
    /// Lets the world bring its pools into the order in which they are walked, moving about `moves` values
    /// in each [`refresh`](Self::refresh) at most; with 0 it stops, and forgets what it has learnt.
    ///
    /// Queries are fastest where their pools hold the same entities in the same order. An adaptive world
    /// counts which components its queries require together, and at each refresh brings entities that have
    /// them to the front of their pools, in one order: what [`align`](Self::align) does at once and for
    /// components that you name. Where two queries want different orders of a pool, the one that walks more
    /// gets it, and twice as much is needed to take it from it; one whose components include those of the other goes
    /// together with it.
    ///
    /// Left alone are pools that a [group](Self::group) owns, and those that you have put into an order of your own:
    /// [sorted](crate::PoolMut::sort_by), or exchanged positions of. A query whose filter says `Without` or `Or` is
    /// heard for what it requires.
    ///
    /// A step of a schedule counts its own walks only, so a schedule comes out the same on any number of threads, and
    /// again after a rollback. What was learnt is cloned with a world, but not
    /// saved: a world that was loaded learns anew, and does not know which pools were sorted. A rollback also brings
    /// back how many values it might move.
    ///
    /// # Complexity
    /// A walk over several pools costs some 20 ns more. A move costs some 20 ns, and some hundred where pools are
    /// larger than a cache; a refresh also compares the packed entities of pools that have changed since the last
    /// one, in some 0.3 ns each.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Velocity(f32);
    /// let mut world = World::new();
    /// world.adapt(1_000);
    /// let ids: Vec<_> = (0..100).map(|i| world.spawn(Position(i as f32))).collect();
    /// for &id in ids.iter().rev().step_by(2) {
    ///     world.insert(id, Velocity(1.0)).unwrap();
    /// }
    ///
    /// for _ in 0..2 {
    ///     for (position, velocity) in &mut world.query::<(&mut Position, &Velocity)>() {
    ///         position.0 += velocity.0;
    ///     }
    ///     world.refresh();
    /// }
    /// assert_eq!(world.query::<(&Position, &Velocity)>().explain().runs, 1);
    /// ```
    pub fn adapt(&mut self, moves: usize) {
        self.adapt = (moves > 0).then(|| {
            let adapt = self.adapt.take().unwrap_or_default();
            Box::new(Adapt { budget: moves, ..*adapt })
        });
    }

    /// Whether walks are counted.
    #[inline(always)]
    pub(crate) fn is_adaptive(&self) -> bool {
        self.adapt.is_some()
    }

    /// Counts a walk of so many entities that requires these components, in ascending order.
    pub(crate) fn count_walk(&self, components: &[u32], entities: usize) {
        if let Some(adapt) = &self.adapt {
            let mut walks = adapt.walks.lock().unwrap_or_else(PoisonError::into_inner);
            walks.count(components, entities);
        }
    }

    /// Forgets the walks since the last refresh: only those from now on are to count.
    pub(crate) fn forget_walks(&mut self) {
        if let Some(adapt) = &mut self.adapt {
            adapt.walks().clear();
        }
    }

    /// Moves values, as the walks since the last refresh wish.
    pub(super) fn put_in_order(&mut self) {
        if let Some(adapt) = &mut self.adapt {
            let Adapt { budget, walks, wishes } = &mut **adapt;
            wishes.learn(walks.get_mut().unwrap_or_else(PoisonError::into_inner));
            wishes.fulfil(&mut self.pools, *budget);
        }
    }
}

#[cfg(feature = "serde")]
impl World {
    /// What the world has learnt of its walks.
    pub(crate) fn learnt(&self) -> Learnt {
        let sorted = (0..self.pools.len()).filter(|&id| self.pools.at(id).is_sorted());
        let sorted = sorted.map(|id| id as u32).collect();
        let (budget, wishes) = match &self.adapt {
            Some(adapt) => (adapt.budget, adapt.wishes.record(&self.pools)),
            None => (0, Vec::new()),
        };
        Learnt { of: Some(self.number()), budget, sorted, wishes }
    }

    /// Knows what it had learnt when its pools were as they are now; nothing, if that was another world, in which
    /// other components may have the same numbers.
    pub(crate) fn relearn(&mut self, learnt: &Learnt) {
        if learnt.of == Some(self.number()) {
            return self.know(learnt);
        }
        let budget = self.adapt.as_ref().map_or(0, |adapt| adapt.budget);
        self.know(&Learnt { budget, ..Learnt::default() });
    }

    /// Adapts as the world does that it is a copy of.
    pub(crate) fn adapt_as(&mut self, original: &Self) {
        self.know(&original.learnt());
    }

    fn know(&mut self, learnt: &Learnt) {
        for id in 0..self.pools.len() {
            let pool = self.pools.at_mut(id);
            let is_sorted = learnt.sorted.contains(&(id as u32));
            if pool.is_sorted() != is_sorted {
                pool.set_sorted(is_sorted);
                pool.drop_rows();
                self.pools.homes.renew();
            }
        }
        self.adapt(learnt.budget);
        if let Some(adapt) = &mut self.adapt {
            adapt.walks().clear();
            adapt.wishes = Wishes::of(learnt, &mut self.pools);
        }
    }
}
