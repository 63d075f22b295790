//! Many ids at once: a row that comes to life, a block that dies.
//!
//! The free list runs through the slots (E2). Who takes many slots off it has to read one before he knows
//! which is the next, and waits for memory each time. Those that were put there together are therefore kept in
//! a row as well. What comes next is guessed from it, and if the guess is right, the processor goes on to the
//! next slot while it still waits for this one. Nothing rests on a guess: the slot decides.

use std::hint::black_box;
use std::iter;
use std::ops::Range;

use super::slot::{END, Slot};
use super::spawned::{Spawned, first_version};
use super::{Entities, Entity, OutOfEntities};
use crate::growth;

/// Numbers that are kept at most: a quarter of a mebibyte.
const MOST: usize = 1 << 16;

/// Numbers of slots that were put on the free list together, the one in front at the end.
#[derive(Debug, Default)]
pub(super) struct Recent {
    numbers: Vec<u32>,
}

impl Recent {
    /// Notes slots that were put in front of the list one after the other.
    fn put(&mut self, numbers: impl ExactSizeIterator<Item = u32>) {
        if self.numbers.len() + numbers.len() > MOST {
            // What is in front of them is taken first, too.
            self.numbers.clear();
        }
        self.numbers.extend(numbers);
    }

    /// Takes out those that are on the list no more, which begins with `free`.
    fn begin_at(&mut self, free: u32) {
        while self.numbers.last().is_some_and(|&number| number != free) {
            self.numbers.pop();
        }
    }

    /// Takes out the one in front; returns the one that probably follows it.
    #[inline]
    fn advance(&mut self) -> u32 {
        self.numbers.pop();
        self.numbers.last().copied().unwrap_or(END)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<u32>()
    }
}

impl Entities {
    /// Lets those of `entities` die that are alive; they and their words come to the front, in the same
    /// order. Returns how many there are.
    pub(crate) fn release_all(&mut self, entities: &mut [Entity], words: &mut [u64]) -> usize {
        self.settle();
        self.recent.begin_at(self.free);
        let mut count = 0;
        for at in 0..entities.len() {
            let entity = entities[at];
            if let Ok(word) = self.release(entity) {
                (entities[count], words[count]) = (entity, word);
                count += 1;
            }
        }
        self.recent.put(entities[..count].iter().map(|entity| entity.index() + 1));
        count
    }

    /// Gives back the memory of guesses.
    pub(crate) fn forget_guesses(&mut self) {
        self.recent = Recent::default();
    }

    /// Brings `count` entities to life, for which there is room, all with the same word.
    pub(crate) fn claim_all(&mut self, count: usize, word: u64) -> Spawned {
        self.settle();
        if self.free == END && count <= self.plain.saturating_sub(self.near.len()) {
            return Spawned::fresh(self.claim_fresh(count, word));
        }
        let mut row = Vec::with_capacity(count);
        while row.len() < count {
            let claimed = self.claim_row(count - row.len(), word, &mut row);
            claimed.expect("there is room, as the caller has checked");
        }
        Spawned::listed(row)
    }

    /// Brings entities to life whose indices nobody has had; returns these.
    fn claim_fresh(&mut self, count: usize, word: u64) -> Range<u32> {
        let first = self.fresh();
        let indices = first..first + count as u32;
        growth::reserve(&mut self.near, count);
        self.near.extend(indices.clone().map(|index| Slot::new_live(index, word)));
        self.alive += count as u32;
        indices
    }

    /// Brings up to `at_most` entities to life, at least one, all with the same word.
    ///
    /// Those that turn out not to be needed go back with [`unclaim`](Self::unclaim). Says whether
    /// their indices follow each other.
    pub(crate) fn claim_row(
        &mut self,
        at_most: usize,
        word: u64,
        into: &mut Vec<Entity>,
    ) -> Result<bool, OutOfEntities> {
        self.settle();
        let fresh = at_most.min(self.plain.saturating_sub(self.near.len()));
        if self.free == END && fresh > 0 {
            into.extend(self.claim_fresh(fresh, word).map(first_version));
            return Ok(true);
        }
        // Demanded slots in the way are passed over one by one; that cannot be taken back.
        let count = if self.demanded.is_empty() { at_most } else { 1 };
        self.recent.begin_at(self.free);
        for taken in 0..count {
            if taken > 0 && self.free == END {
                break;
            }
            let guess = self.recent.advance();
            let (entity, its_word) = self.claim()?;
            *its_word = word;
            into.push(entity);
            // Hidden from the compiler: it would see that both are the same, and go on with the one
            // that has to be waited for.
            if black_box(guess) == self.free {
                self.free = guess;
            }
        }
        Ok(false)
    }

    /// Takes back the last entities of a row, which nobody has seen: as if they had never been.
    pub(crate) fn unclaim(&mut self, entities: &[Entity]) {
        for &entity in entities.iter().rev() {
            let place = self.near_place(entity.index());
            // A slot whose first entity this is was made for it, and is the last one. Another last one has
            // versions that must be remembered.
            if entity.version() == 0 && place + 1 == self.near.len() {
                self.near.pop();
            } else {
                debug_assert!(entity.version() > 0, "E3");
                let free = self.free;
                let slot = self.slot_mut(entity.index()).expect("it was claimed");
                slot.set_dead(free, entity.version());
                self.free = entity.index() + 1;
                self.set_before(free, self.free);
                self.recent.put(iter::once(self.free));
            }
            self.alive -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A book in which `dead` of `count` entities have died together, in this order.
    fn book(count: usize, dead: &[usize]) -> Entities {
        let mut book = Entities::new();
        let ids: Vec<_> = (0..count).map(|_| book.spawn()).collect();
        let mut dying: Vec<_> = dead.iter().map(|&at| ids[at]).collect();
        let mut words = vec![0; dying.len()];
        assert_eq!(book.release_all(&mut dying, &mut words), dead.len());
        book
    }

    fn indices(book: &mut Entities, count: usize) -> Vec<u32> {
        let mut row = Vec::new();
        while row.len() < count {
            book.claim_row(count - row.len(), 0, &mut row).unwrap();
        }
        book.check().unwrap();
        row.iter().map(|entity| entity.index()).collect()
    }

    #[test]
    fn those_that_died_together_are_given_out_again_last_one_first() {
        let mut book = book(8, &[1, 6, 3, 4]);
        assert_eq!(book.recent.numbers, [2, 7, 4, 5]);
        assert_eq!(indices(&mut book, 2), [4, 3]);
        assert_eq!(book.recent.numbers, [2, 7], "what is guessed goes on where the list does");
        assert_eq!(indices(&mut book, 4), [6, 1, 8, 9]);
        assert_eq!(book.recent.numbers, []);
    }

    #[test]
    fn those_that_go_back_are_in_front_again() {
        let mut book = book(8, &[1, 6, 3, 4]);
        let mut row = Vec::new();
        book.claim_row(3, 0, &mut row).unwrap();
        book.unclaim(&row[1..]);
        assert_eq!(book.recent.numbers, [2, 7, 4]);
        assert_eq!(indices(&mut book, 3), [3, 6, 1]);
    }

    #[test]
    fn guesses_take_memory_until_they_are_forgotten() {
        let mut book = book(8, &[1, 6, 3, 4]);
        let with = book.heap_bytes();
        book.forget_guesses();
        assert!(book.heap_bytes() < with);
        assert_eq!(indices(&mut book, 4), [4, 3, 6, 1]);
    }

    #[test]
    fn a_wrong_guess_changes_nothing() {
        for wrong in [vec![9, 9, 9, 9], vec![5, 4, 7, 2], vec![], vec![1, 5], vec![8; 20]] {
            let mut book = book(8, &[1, 6, 3, 4]);
            book.recent.numbers = wrong;
            assert_eq!(indices(&mut book, 6), [4, 3, 6, 1, 8, 9]);
        }
    }

    #[test]
    fn single_ids_in_between_cost_guesses_at_most() {
        let mut book = book(8, &[1, 6, 3, 4]);
        let a = book.spawn();
        assert_eq!(a.index(), 4);
        assert_eq!(indices(&mut book, 2), [3, 6]);
        assert_eq!(book.recent.numbers, [2], "the one that was taken alone is passed over");
        book.despawn(a).unwrap();
        assert_eq!(indices(&mut book, 3), [4, 1, 8]);
    }

    #[test]
    fn numbers_of_ids_that_were_taken_alone_do_not_pile_up() {
        let mut book = book(8, &[1, 6, 3, 4]);
        for _ in 0..100 {
            let mut ids = [(); 3].map(|()| book.spawn());
            assert_eq!(book.release_all(&mut ids, &mut [0; 3]), 3);
        }
        assert_eq!(book.recent.numbers.len(), 4);
    }

    #[test]
    fn the_dead_are_left_out_and_their_places_closed() {
        let mut book = Entities::new();
        let [a, b, c] = [(); 3].map(|()| book.spawn());
        *book.word_mut(c).unwrap() = 7;
        book.despawn(b).unwrap();
        let (mut ids, mut words) = ([a, b, a, c], [1; 4]);
        assert_eq!(book.release_all(&mut ids, &mut words), 2);
        assert_eq!((&ids[..2], &words[..2]), (&[a, c][..], &[0, 7][..]));
        assert!(book.is_empty());
    }

    #[test]
    fn no_more_numbers_are_kept_than_there_is_room_for() {
        let mut recent = Recent::default();
        for block in 0..5 * MOST as u32 / 64 {
            recent.put(block * 64..block * 64 + 64);
            assert!(recent.numbers.len() <= MOST);
            assert_eq!(recent.numbers.last(), Some(&(block * 64 + 63)));
        }
    }
}
