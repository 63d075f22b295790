//! The last states of a world, to go back to.

use std::collections::VecDeque;
use std::fmt;

use super::delta::Departures;
use super::error::SnapshotError;
use super::moment::Moment;
use super::single::Replaced;
use super::types::SnapshotTypes;
use crate::world::World;

/// A ring of states: keeps the last few, and puts them back.
///
/// For rollback netcode, undo, and trying things out. All kept types must be
/// [clonable](super::Snapshot).
///
/// Keeping is a copy of entities and values, in the memory of a state that went before; going back
/// exchanges the values of the world and those that were kept, and looks entities up only where they have
/// moved. Where a pool has the same entities as before, these are not even compared.
///
/// # Examples
/// ```
/// # use esker::{Component, World, snapshot::{Rollback, Snapshot, SnapshotTypes, SnapshotError}};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Component, Snapshot, Serialize, Deserialize, Clone)] #[snapshot(clone)] struct Level(u32);
/// let mut world = World::new();
/// let hero = world.spawn(Level(0));
/// let mut past = Rollback::new(SnapshotTypes::new().component::<Level>(), 8);
///
/// for frame in 1..=5 {
///     past.keep(&world)?;
///     world.get_mut::<Level>(hero).unwrap().0 = frame;
/// }
/// past.back(&mut world, 2)?; // to the state before the last but two
/// assert_eq!(world.get::<Level>(hero).unwrap().0, 2);
/// assert_eq!(past.len(), 3);
/// # Ok::<(), SnapshotError>(())
/// ```
pub struct Rollback {
    types: SnapshotTypes,
    moments: VecDeque<Moment>,
    capacity: usize,
    /// Those that went, for their memory: with the ones that are kept, at most one more than fit.
    spare: Vec<Moment>,
}

/// What is left when a state was put back.
struct Returned {
    /// The state and the later ones, all good for their memory only.
    moment: Moment,
    later: VecDeque<Moment>,
    /// The resources that were in the world, to be dropped last.
    replaced: Vec<Replaced>,
}

impl Rollback {
    /// Keeps up to `capacity` states, at least one.
    pub fn new(types: SnapshotTypes, capacity: usize) -> Self {
        Self { types, moments: VecDeque::new(), capacity: capacity.max(1), spare: Vec::new() }
    }

    /// Keeps the state of a world; the oldest one goes if there are too many.
    ///
    /// # Errors
    /// [`SnapshotError`] if something is not registered, cannot be cloned, or is borrowed for
    /// writing; what was kept before stays.
    #[track_caller]
    pub fn keep(&mut self, world: &World) -> Result<(), SnapshotError> {
        self.types.check_complete(world)?;
        let mut moment = self.spare.pop().unwrap_or_default();
        moment.copy(world, &self.types)?;
        let oldest =
            if self.moments.len() == self.capacity { self.moments.pop_front() } else { None };
        self.moments.push_back(moment);
        self.spare(oldest);
        Ok(())
    }

    /// Puts the last state but `steps` back into the world, and forgets the later ones.
    ///
    /// The world goes on as if nothing had happened since: the state has the same ids and order of all
    /// pools, and a system that runs every step sees the same values as changed as it did then. So
    /// listeners, sets and readers of removals are not told; who keeps something about the world outside
    /// of it must look anew. Messages that nobody has read stay, and a
    /// [delta](World::delta_since) cannot begin before the moment of going back.
    ///
    /// The state itself stays kept, so that one can go back to it again; [`take_back`](Self::take_back)
    /// does without.
    ///
    /// # Errors
    /// [`SnapshotError::NoState`] if there are not so many; the world is as it was then.
    ///
    /// # Panics
    /// If a `Clone` does, or the `Drop` of a component that was in the world: then the world is back, and that
    /// state is kept no more. If the `Drop` of a resource that was in the world does: then the world is back, and the
    /// state is kept. If a listener does that is told of reserved entities: then nothing has happened.
    pub fn back(&mut self, world: &mut World, steps: usize) -> Result<(), SnapshotError> {
        let Returned { mut moment, later, replaced } = self.put_back(world, steps)?;
        moment.copy(world, &self.types)?;
        self.moments.push_back(moment);
        self.spare(later);
        drop(replaced);
        Ok(())
    }

    /// As [`back`](Self::back), and takes that state out of the ring: nothing has to be copied.
    ///
    /// For who keeps each state before going on, and so would keep this one a second time: rollback
    /// netcode goes back to where a late input belongs, and plays the frames since then again.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World, snapshot::{Rollback, Snapshot, SnapshotTypes, SnapshotError}};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Component, Snapshot, Serialize, Deserialize, Clone)] #[snapshot(clone)] struct Level(u32);
    /// # let mut world = World::new();
    /// # let hero = world.spawn(Level(0));
    /// # let mut past = Rollback::new(SnapshotTypes::new().component::<Level>(), 8);
    /// let frame = |world: &mut World, past: &mut Rollback, input: u32| {
    ///     past.keep(world)?;
    ///     world.get_mut::<Level>(hero).unwrap().0 += input;
    ///     Ok::<(), SnapshotError>(())
    /// };
    /// for _ in 0..5 {
    ///     frame(&mut world, &mut past, 1)?;
    /// }
    /// // The inputs of the last two frames were others.
    /// past.take_back(&mut world, 1)?;
    /// for _ in 0..2 {
    ///     frame(&mut world, &mut past, 10)?;
    /// }
    /// assert_eq!(world.get::<Level>(hero).unwrap().0, 23);
    /// assert_eq!(past.len(), 5);
    /// # Ok::<(), SnapshotError>(())
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError::NoState`] if there are not so many; the world is as it was then.
    pub fn take_back(&mut self, world: &mut World, steps: usize) -> Result<(), SnapshotError> {
        let Returned { moment, later, replaced } = self.put_back(world, steps)?;
        // Its lists are those of the world now, so it is the first to be used again.
        self.spare(later.into_iter().chain([moment]));
        drop(replaced);
        Ok(())
    }

    /// Puts a state into the world, in exchange for what was there.
    fn put_back(&mut self, world: &mut World, steps: usize) -> Result<Returned, SnapshotError> {
        let kept = self.moments.len();
        let Some(nth) = kept.checked_sub(1).and_then(|last| last.checked_sub(steps)) else {
            return Err(SnapshotError::NoState { asked: steps, kept });
        };
        // What listeners have to say of reserved entities comes before anything is exchanged: they may panic, and
        // their commands may exchange the world.
        world.settle();
        let later = self.moments.split_off(nth + 1);
        let Some(mut moment) = self.moments.pop_back() else { unreachable!("there are {kept}") };
        let replaced = moment.put_back(world, &self.types);
        Departures::forget(world);
        Ok(Returned { moment, later, replaced })
    }

    /// Keeps the memory of moments that went, but nothing that somebody could wait for to be dropped.
    fn spare(&mut self, gone: impl IntoIterator<Item = Moment>) {
        for mut gone in gone {
            // If a drop unwinds, its memory goes with it, and that of the rest.
            gone.release();
            self.spare.push(gone);
        }
    }

    /// Forgets the last state; `false` if there is none.
    pub fn forget_last(&mut self) -> bool {
        self.moments.pop_back().is_some()
    }

    /// Number of states that are kept.
    pub fn len(&self) -> usize {
        self.moments.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// Number of states that are kept at most.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Forgets all states, and gives back their memory.
    pub fn clear(&mut self) {
        self.spare.clear();
        self.moments.clear();
    }
}

impl fmt::Debug for Rollback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rollback")
            .field("kept", &self.moments.len())
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_are_made_again_are_kept_in_the_memory_of_those_that_went() {
        let mut world = World::new();
        let mut past = Rollback::new(SnapshotTypes::new(), 4);
        let memory = |past: &Rollback| (past.moments.len(), past.spare.len());
        (0..6).for_each(|_| past.keep(&world).unwrap());
        assert_eq!(memory(&past), (4, 1), "one more than fit");

        past.take_back(&mut world, 2).unwrap();
        assert_eq!(memory(&past), (1, 4));
        (0..9).for_each(|_| past.keep(&world).unwrap());
        assert_eq!(memory(&past), (4, 1));
        past.back(&mut world, 3).unwrap();
        assert_eq!(memory(&past), (1, 4));
        past.clear();
        assert_eq!(memory(&past), (0, 0));
    }
}
