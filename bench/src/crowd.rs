//! Who takes part in `commands`, and what is recorded in each round.
//!
//! A crowd of N entities stays. In each round some of them lose a component and some get it;
//! besides, all guests leave and as many new ones come. What is recorded, and in which order,
//! stands here once: a contestant says only how it records each kind of command.

use crate::{
    checksum::bits,
    components::{B, Position, Velocity},
    kernel,
    scene::{Random, Scene},
};

/// How many of `n` entities get a component in a round; as many lose it.
pub const fn edits(n: usize) -> usize {
    n.div_ceil(10)
}

/// How many entities are spawned in a round beside a crowd of `n`; as many are despawned.
pub const fn guests(n: usize) -> usize {
    n.div_ceil(100)
}

/// Something that records commands for later. `Id` is what it names entities by.
pub trait Recorder<Id> {
    /// Gives an entity a component.
    fn insert(&mut self, id: Id, value: B);

    /// Takes it away.
    fn remove(&mut self, id: Id);

    /// Lets an entity come to life and says what it will be called.
    fn spawn(&mut self, position: Position, velocity: Velocity) -> Id;

    /// Lets an entity die.
    fn despawn(&mut self, id: Id);
}

/// The entities and the rounds, played over and over.
#[derive(Debug)]
pub struct Crowd<Id> {
    ids: Vec<Id>,
    guests: Vec<Id>,
    /// Who gets the component in each round. In the next one they lose it.
    rounds: Vec<Vec<u32>>,
    next: usize,
}

/// How many different rounds there are: enough that no branch learns them.
const ROUNDS: usize = 8;

impl<Id: Copy> Crowd<Id> {
    /// Brings everybody to life. What `spawn` gets belongs to the entity from the beginning.
    pub fn gather(
        scene: Scene,
        mut spawn: impl FnMut(Position, Velocity, Option<B>) -> Id,
    ) -> Self {
        let n = scene.n;
        let mut random = Random::new(scene.seed ^ 0xc0de);
        let rounds: Vec<_> = (0..ROUNDS).map(|_| random.sample(n, edits(n))).collect();
        let mut holds = vec![false; n + guests(n)];
        for &i in &rounds[ROUNDS - 1] {
            holds[i as usize] = true;
        }
        let mut ids: Vec<_> = (0..n + guests(n))
            .map(|i| spawn(kernel::position(i), kernel::velocity(i), holds[i].then(|| value(i))))
            .collect();
        let guests = ids.split_off(n);
        Self { ids, guests, rounds, next: 0 }
    }

    /// Records the round whose turn it is.
    #[inline(always)]
    pub fn record(&mut self, recorder: &mut impl Recorder<Id>) {
        let Self { ids, guests, rounds, next } = self;
        let now = *next;
        *next = (now + 1) % rounds.len();
        for &i in &rounds[(now + rounds.len() - 1) % rounds.len()] {
            recorder.remove(ids[i as usize]);
        }
        for &i in &rounds[now] {
            let i = i as usize;
            recorder.insert(ids[i], value(i));
        }
        for (at, guest) in guests.iter_mut().enumerate() {
            let i = ids.len() + at;
            recorder.despawn(*guest);
            *guest = recorder.spawn(kernel::position(i), kernel::velocity(i));
        }
    }
}

/// The component that entity number `i` gets and loses.
#[inline(always)]
fn value(i: usize) -> B {
    B { value: kernel::value(i) }
}

/// What an entity adds to the checksum.
pub fn row(position: &Position, velocity: &Velocity, value: Option<&B>) -> [u64; 3] {
    [bits(position), bits(velocity), value.map_or(0, bits)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what it was told.
    #[derive(Default)]
    struct Notes {
        has: Vec<bool>,
        edits: usize,
        spawned: usize,
        despawned: Vec<usize>,
    }

    impl Recorder<usize> for Notes {
        fn insert(&mut self, id: usize, _: B) {
            self.has[id] = true;
            self.edits += 1;
        }

        fn remove(&mut self, id: usize) {
            assert!(self.has[id], "only what is there is removed");
            self.has[id] = false;
            self.edits += 1;
        }

        fn spawn(&mut self, _: Position, _: Velocity) -> usize {
            self.spawned += 1;
            1000 + self.spawned
        }

        fn despawn(&mut self, id: usize) {
            self.despawned.push(id);
        }
    }

    #[test]
    fn everything_that_is_removed_was_there() {
        let mut notes = Notes::default();
        let mut crowd = Crowd::gather(Scene { n: 250, seed: 3 }, |_, _, value| {
            notes.has.push(value.is_some());
            notes.has.len() - 1
        });

        (0..2 * ROUNDS).for_each(|_| crowd.record(&mut notes));

        assert_eq!(notes.edits, 2 * ROUNDS * 2 * 25);
        assert_eq!(notes.has.iter().filter(|has| **has).count(), 25);
    }

    #[test]
    fn guests_of_one_round_leave_in_the_next() {
        let mut notes = Notes { has: vec![true; 400], ..Notes::default() };
        let mut next = 0;
        let mut crowd = Crowd::gather(Scene { n: 250, seed: 3 }, |_, _, _| {
            next += 1;
            next - 1
        });

        (0..2).for_each(|_| crowd.record(&mut notes));

        assert_eq!(notes.despawned, [250, 251, 252, 1001, 1002, 1003]);
    }
}
