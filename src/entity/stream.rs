//! Ids for many recorders at once, the same ones whatever the threads do.
//!
//! Reserving from several threads gives each of them whatever is next, so who gets which id depends
//! on the machine. A *stream* has ids of its own: some that were reserved for it in advance, and, when
//! these are used up, unused indices that no other stream can reach. Which ones is a matter of
//! arithmetic: block `k` of each stream has `FIRST << k` indices, and the blocks with the same number
//! lie side by side, stream by stream.
//!
//! Streams are opened and closed with the book in hand. In between nobody else may spawn, despawn or
//! reserve.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::slot::Slot;
use super::{Entities, Entity, OutOfEntities};

/// Indices in the first block of a stream.
const FIRST: u64 = 16;

/// A source of ids that is independent of all others.
#[derive(Debug, Default)]
pub struct Stream {
    /// Ids reserved in advance, last one first.
    ready: Vec<Entity>,
    /// Those of them that were given out.
    lent: Vec<Entity>,
    /// Ids that were given out beyond these.
    beyond: Vec<Entity>,
    /// Number of the next one of these.
    next: u64,
    /// How many were given out in all.
    given: usize,
    /// How many more it takes so that each part of a split finds its own in advance.
    spare: usize,
    /// How many were to be reserved in advance.
    budget: usize,
    /// Under which the book remembers how many it needs; 0 if it does not.
    key: u64,
    /// The first index that was unused when the streams were opened, and the end of those that may be
    /// used.
    unused: Range<u32>,
    /// Which of them are its own: its lane among those of its like, the lane of the stream it was
    /// split from, and so on.
    lanes: Vec<Lane>,
}

/// One of several ways through the same numbers that never meet.
#[derive(Debug, Clone, Copy)]
struct Lane {
    /// The first number that they share.
    base: u64,
    number: u64,
    count: u64,
}

impl Lane {
    /// The `nth` number of this lane.
    fn number(self, nth: u64) -> u64 {
        let block = (nth / FIRST + 1).ilog2();
        let first_of_block = FIRST * ((1 << block) - 1);
        let width = FIRST << block;
        self.base + self.count * first_of_block + self.number * width + (nth - first_of_block)
    }
}

impl Stream {
    /// The next id. It is not alive until the streams are closed.
    pub(crate) fn next(&mut self) -> Result<Entity, OutOfEntities> {
        let entity = match self.ready.pop() {
            Some(entity) => {
                self.lent.push(entity);
                entity
            }
            None => {
                let number = self.lanes.iter().fold(self.next, |nth, lane| lane.number(nth));
                let index = u64::from(self.unused.start).checked_add(number);
                let index = index.and_then(|index| u32::try_from(index).ok());
                let entity = index
                    .filter(|index| self.unused.contains(index))
                    .and_then(|index| Entity::new(index, 0))
                    .ok_or(OutOfEntities { limit: self.unused.end })?;
                self.next += 1;
                self.beyond.push(entity);
                entity
            }
        };
        self.given += 1;
        Ok(entity)
    }

    /// Whether ids can be had from it.
    pub(crate) fn is_open(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// Takes all ids back that it has given out: nobody will know of them.
    pub(crate) fn forget(&mut self) {
        self.ready.extend(self.lent.drain(..).rev());
        self.beyond.clear();
    }

    /// Streams for several who share this one, which gives out nothing until they are joined.
    pub(crate) fn split(&mut self, count: usize) -> Vec<Self> {
        let share = self.ready.len() / count.max(1);
        let mut part = |number| {
            let lane = Lane { base: self.next, number, count: count as u64 };
            let lanes = std::iter::once(lane).chain(self.lanes.iter().copied()).collect();
            let ready = self.ready.split_off(self.ready.len() - share);
            Self { ready, unused: self.unused.clone(), lanes, ..Self::default() }
        };
        (0..count as u64).map(&mut part).collect()
    }

    /// Takes the streams back that were split from this one.
    pub(crate) fn join(&mut self, parts: Vec<Self>) {
        let total: usize = parts.iter().map(|part| part.given).sum();
        let most = parts.iter().map(|part| part.given).max().unwrap_or(0);
        // Shares are equal, so all must be as big as that of the busiest, within reason.
        self.spare += most.saturating_mul(parts.len()).min(4 * total) - total;
        // What they did not use is the next again, in the same order.
        for part in parts.iter().rev() {
            self.ready.extend(&part.ready);
        }
        for part in parts {
            self.spare += part.spare;
            if let (Some(last), Some(lane)) = (part.next.checked_sub(1), part.lanes.first()) {
                self.next = self.next.max(lane.number(last) + 1);
            }
            self.lent.extend(part.lent);
            self.beyond.extend(part.beyond);
            self.given += part.given;
        }
    }

    /// Makes the book remember under a key how many ids the stream needs.
    pub(crate) fn set_key(&mut self, key: impl FnOnce() -> u64) {
        if self.key == 0 {
            self.key = key().max(1);
        }
    }

    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// What is left when it is closed: its key.
    pub(crate) fn after(&self) -> Self {
        Self { key: self.key, ..Self::default() }
    }

    /// How many ids to reserve for it next time.
    ///
    /// As many as it gave out at most, slowly less: what goes beyond takes indices that were never used,
    /// so who spawns now and then must not be taken for one who spawns nothing.
    fn habit(&self) -> usize {
        (self.given + self.spare).max(self.budget - self.budget / 64)
    }
}

impl Entities {
    /// Whether there are so many unused indices in a row that no stream will ever meet their end.
    pub(crate) fn has_room_for_streams(&self) -> bool {
        self.plain.saturating_sub(self.near.len()) >= 1 << 31
    }

    /// Opens a stream for each key, with as many ids reserved in advance as those with this key have
    /// needed, as far as there are any.
    ///
    /// The book remembers that, and not who opens the streams: so the same book gives out the same ids,
    /// also one that was loaded.
    pub(crate) fn open_streams(&mut self, keys: &[u64]) -> Vec<Stream> {
        self.settle();
        let mut streams: Vec<Stream> = keys
            .iter()
            .map(|&key| {
                let budget = self.habits.get(&key).map_or(0, |&budget| budget as usize);
                let mut ready: Vec<Entity> =
                    std::iter::from_fn(|| self.reserve().ok()).take(budget).collect();
                ready.reverse();
                Stream { ready, budget, key, ..Stream::default() }
            })
            .collect();
        let base = self.reserved_end();
        let end = self.limits.range.start + self.plain as u32;
        let count = streams.len() as u64;
        for (number, stream) in (0..).zip(&mut streams) {
            stream.unused = base..end;
            stream.lanes = vec![Lane { base: 0, number, count }];
        }
        streams
    }

    /// Closes streams: ids that were given out come to life, the others go back.
    pub(crate) fn close_streams(&mut self, streams: impl IntoIterator<Item = Stream>) {
        self.settle();
        let mut beyond = Vec::new();
        let mut unused = Vec::new();
        let mut habits: FxHashMap<u64, usize> = FxHashMap::default();
        for stream in streams {
            if stream.key != 0 {
                let habit = habits.entry(stream.key).or_default();
                *habit = stream.habit().max(*habit);
            }
            // In the order in which they would have been given out.
            unused.extend(stream.ready.into_iter().rev());
            beyond.extend(stream.beyond);
        }
        for (key, habit) in habits {
            match u32::try_from(habit) {
                Ok(0) => _ = self.habits.remove(&key),
                habit => _ = self.habits.insert(key, habit.unwrap_or(u32::MAX)),
            }
        }
        self.bring_beyond(beyond);
        for entity in unused.into_iter().rev() {
            self.take_back(entity);
        }
    }

    /// Brings entities with unused indices to life; the indices between them are free from now on.
    fn bring_beyond(&mut self, mut entities: Vec<Entity>) {
        entities.sort_unstable();
        let mut holes = Vec::new();
        for entity in entities {
            debug_assert!(self.near_place(entity.index()) >= self.near.len(), "E1");
            while self.fresh() < entity.index() {
                holes.push(self.fresh());
                self.near.push(Slot::default());
            }
            self.near.push(Slot::new_live(entity.index(), 0));
            self.count_alive();
        }
        // Lowest first in the list. Version 0 of a hole counts as used: its slot was never live, but
        // a dead slot of version 0 looks like one that is not there.
        for index in holes.into_iter().rev() {
            self.free_slot(index, 1);
        }
    }

    /// Takes back an id that was settled but that nobody was given.
    fn take_back(&mut self, entity: Entity) {
        let version = entity.version().max(1);
        self.free_slot(entity.index(), version);
        self.count_dead();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn streams_never_meet_however_they_are_split() {
        for count in [1, 2, 7] {
            let mut ids = Entities::new();
            let mut seen = HashSet::new();
            let mut streams = ids.open_streams(&vec![0; count]);
            for stream in &mut streams {
                for round in 0..5 {
                    (0..30).for_each(|_| assert!(seen.insert(stream.next().unwrap())));
                    let mut parts = stream.split(3);
                    for (at, part) in parts.iter_mut().enumerate() {
                        let uses = 40 * (at + round) % 100;
                        (0..uses).for_each(|_| assert!(seen.insert(part.next().unwrap())));
                    }
                    stream.join(parts);
                }
            }
            ids.close_streams(streams);
            assert_eq!(ids.iter().collect::<HashSet<_>>(), seen);
            ids.check().unwrap();
        }
    }

    #[test]
    fn a_stream_alone_gives_out_what_comes_next() {
        let mut ids = Entities::new();
        let first: Vec<Entity> = (0..5).map(|_| ids.spawn()).collect();
        let mut streams = ids.open_streams(&[0]);
        let given: Vec<u32> = (0..100).map(|_| streams[0].next().unwrap().index()).collect();
        assert_eq!(given, Vec::from_iter(5..105));
        ids.close_streams(streams);
        assert_eq!(ids.len(), first.len() + 100);
    }

    #[test]
    fn what_streams_gave_out_lives_and_the_rest_is_free() {
        let mut ids = Entities::new();
        let old: Vec<Entity> = (0..40).map(|_| ids.spawn()).collect();
        for &entity in &old[10..] {
            ids.despawn(entity).unwrap();
        }
        let mut alive: HashSet<Entity> = old[..10].iter().copied().collect();

        for round in 0..20 {
            let mut streams = ids.open_streams(&[3, 0, 8]);
            for (at, stream) in streams.iter_mut().enumerate() {
                for _ in 0..(round * 7 + at * 13) % 40 {
                    let entity = stream.next().unwrap();
                    assert!(!ids.is_alive(entity));
                    assert!(alive.insert(entity), "{entity} was given out twice");
                }
            }
            ids.close_streams(streams);
            ids.check().unwrap();
            assert_eq!(ids.iter().collect::<HashSet<_>>(), alive);
            let dying: Vec<Entity> = alive.iter().copied().filter(|e| e.index() % 3 == 0).collect();
            for entity in dying {
                ids.despawn(entity).unwrap();
                alive.remove(&entity);
            }
        }
    }

    #[test]
    fn a_book_with_a_limit_runs_out() {
        let limits = super::super::entities::Limits { range: 0..10, fixed: true, last_version: 9 };
        let mut ids = Entities::with_limits(limits);
        ids.spawn();

        let mut streams = ids.open_streams(&[4]);
        let given: Vec<Entity> = std::iter::from_fn(|| streams[0].next().ok()).collect();
        ids.close_streams(streams);

        assert_eq!(given.len(), 9);
        assert_eq!(ids.len(), 10);
        ids.check().unwrap();
    }
}
