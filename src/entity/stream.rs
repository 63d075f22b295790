//! Ids for many recorders at once, the same ones whatever the threads do.
//!
//! Reserving from several threads gives each of them whatever is next, so who gets which id depends
//! on the machine. A *stream* has ids of its own, as many as it has needed before: few are reserved in
//! advance, many are a piece of the free list that is read when it is needed (`late.rs`). When these
//! are used up, it takes unused indices that no other stream can reach (`field.rs`).
//!
//! Streams pass through code of users (`SystemParam::streams`), so the book trusts none of them. It
//! keeps what was reserved in advance by its cursor (E4), and the field that all streams of one opening share.
//! A stream of another opening or another book has another field and is ignored. A stream that does not
//! come back has given out nothing. Whatever changes the book closes the streams first: ids of theirs
//! that are not handed in are never alive.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::field::{Field, spread};
use super::late::Late;
use super::slot::Slot;
use super::{Entities, Entity, OutOfEntities};

/// A source of ids that is independent of all others.
#[derive(Debug, Default)]
pub struct Stream {
    /// Ids reserved in advance, or read from its piece of the free list, last one first.
    ready: Vec<Entity>,
    /// That piece, unless it was read.
    late: Range<usize>,
    /// Those of `ready` that were given out.
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
    /// The unused indices, and its lane among them; `None` while it is closed.
    field: Option<Arc<Field>>,
    lane: u64,
    /// The part of the lane that is its own, the part that this is a part of, and so on.
    parts: Vec<Part>,
}

/// One of several ways through the numbers of a lane that never meet.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// The first number that they share.
    base: u64,
    number: u64,
    count: u64,
}

impl Part {
    /// The `nth` number of this part.
    fn number(self, nth: u64) -> u64 {
        self.base.saturating_add(spread(self.number, self.count, nth))
    }
}

impl Stream {
    /// The next id, from a stream of this book. It is not alive until the streams are closed.
    pub(crate) fn next(&mut self, book: &Entities) -> Result<Entity, OutOfEntities> {
        if self.ready.is_empty() && !self.late.is_empty() {
            self.ready = book.read_late(std::mem::take(&mut self.late));
        }
        let entity = match self.ready.pop() {
            Some(entity) => {
                self.lent.push(entity);
                entity
            }
            None => {
                let field = self.field.as_ref().ok_or(OutOfEntities { limit: 0 })?;
                let nth = self.parts.iter().fold(self.next, |nth, part| part.number(nth));
                let index = field.index(self.lane, nth);
                let entity = index.and_then(|index| Entity::new(index, 0));
                let entity = entity.ok_or(OutOfEntities { limit: field.limit })?;
                self.next += 1;
                self.beyond.push(entity);
                entity
            }
        };
        self.given += 1;
        Ok(entity)
    }

    /// Whether it was opened with this field.
    fn is_of(&self, field: &Arc<Field>) -> bool {
        self.field.as_ref().is_some_and(|own| Arc::ptr_eq(own, field))
    }

    /// Streams for several who share this one, which gives out nothing until they are joined.
    pub(crate) fn split(&mut self, count: usize) -> Vec<Self> {
        let share = self.ready.len() / count.max(1);
        let late_share = self.late.len() / count.max(1);
        let mut part = |number| {
            let part = Part { base: self.next, number, count: count as u64 };
            let parts = std::iter::once(part).chain(self.parts.iter().copied()).collect();
            let ready = self.ready.split_off(self.ready.len() - share);
            let start = self.late.start + late_share * number as usize;
            let (late, field) = (start..start + late_share, self.field.clone());
            Self { ready, late, field, lane: self.lane, parts, ..Self::default() }
        };
        (0..count as u64).map(&mut part).collect()
    }

    /// Takes the streams back that were split from this one.
    pub(crate) fn join(&mut self, parts: Vec<Self>) {
        let total: usize = parts.iter().map(|part| part.given).sum();
        let most = parts.iter().map(|part| part.given).max().unwrap_or(0);
        // Shares are equal, so all must be as big as that of the busiest, within reason.
        self.spare += most.saturating_mul(parts.len()).min(4 * total) - total;
        // A piece that none of them has read is whole.
        let had_shares = self.late.len() >= parts.len();
        if had_shares && parts.iter().any(|part| part.late.is_empty()) {
            self.late = 0..0;
        }
        // What they did not use is the next again, in the same order.
        for part in parts.iter().rev() {
            self.ready.extend(&part.ready);
        }
        for part in parts {
            self.spare += part.spare;
            if let (Some(last), Some(own)) = (part.next.checked_sub(1), part.parts.first()) {
                self.next = self.next.max(own.number(last).saturating_add(1));
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
    /// so who spawns now and then must not be taken for one who spawns nothing. A piece of the free list costs
    /// nothing until it is read, so that many are never forgotten: else each burst would take new ones.
    fn habit(&self) -> usize {
        let decay = if self.budget <= EAGER { self.budget / 64 } else { 0 };
        (self.given + self.spare).max(self.budget - decay)
    }
}

/// Ids that are reserved in advance for one stream at most; who needs more reads a piece of the list.
const EAGER: usize = 256;

/// What the book knows of the streams that are open.
#[derive(Debug)]
pub(super) struct Opening {
    field: Arc<Field>,
    /// Ids that were reserved in advance.
    reserved: usize,
    /// What streams have read of the free list since.
    late: Mutex<Late>,
    /// Where ids are reserved from through `&self`.
    common: Mutex<Stream>,
}

impl Opening {
    /// Reserves an id from the common stream.
    pub(super) fn reserve(&self, book: &Entities) -> Result<Entity, OutOfEntities> {
        self.common.lock().unwrap_or_else(PoisonError::into_inner).next(book)
    }

    /// Brings the ids that were reserved through `&self` to life in a copy of the book.
    pub(super) fn copy_common(&self, copy: &mut Entities) {
        let common = self.common.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing was reserved for it in advance.
        copy.bring_beyond(common.beyond.clone(), |index| self.field.is_near(index));
    }
}

impl Entities {
    /// Opens a stream for each key, with as many ids reserved in advance as those with this key have
    /// needed, as far as there are any; and a common one for [`reserve`](Self::reserve).
    ///
    /// The book remembers that, and not who opens the streams: so the same book gives out the same ids,
    /// also one that was loaded.
    pub(crate) fn open_streams(&mut self, keys: &[u64]) -> Vec<Stream> {
        self.settle();
        // A habit that was loaded is not believed.
        let most = 5 * (self.near.len() + self.far_used as usize);
        let mut reserved = 0;
        let mut streams: Vec<Stream> = keys
            .iter()
            .map(|&key| {
                let budget = self.habits.get(&key).map_or(0, |&habit| (habit as usize).min(most));
                let ready = std::iter::from_fn(|| self.reserve().ok());
                let in_advance = if budget <= EAGER { budget } else { 0 };
                let mut ready: Vec<Entity> = ready.take(in_advance).collect();
                ready.reverse();
                reserved += ready.len();
                Stream { ready, budget, key, ..Stream::default() }
            })
            .collect();
        deal_late(&mut streams);
        let fresh = self.hold_reserved();
        let field = Arc::new(self.field(fresh, keys.len() as u64));
        streams.push(Stream::default());
        for (lane, stream) in (0..).zip(&mut streams) {
            (stream.field, stream.lane) = (Some(Arc::clone(&field)), lane);
        }
        let common = Mutex::new(streams.pop().expect("pushed above"));
        let late = Mutex::new(Late::at(self.held()));
        self.opening = Some(Box::new(Opening { field, reserved, late, common }));
        streams
    }

    /// Reads a piece of the free list for a stream that is open, the last id first.
    #[cold]
    fn read_late(&self, piece: Range<usize>) -> Vec<Entity> {
        let Some(opening) = &self.opening else { return Vec::new() };
        opening.late.lock().unwrap_or_else(PoisonError::into_inner).read(self, piece)
    }

    /// Whether a stream is one of those that are open.
    pub(crate) fn has_opened(&self, stream: &Stream) -> bool {
        self.opening.as_ref().is_some_and(|opening| stream.is_of(&opening.field))
    }

    /// Closes streams: ids that were given out come to life, the others go back.
    ///
    /// Streams that are not open any more, or never were in this book, are ignored.
    pub(crate) fn close_streams(&mut self, streams: impl IntoIterator<Item = Stream>) {
        let Some(opening) = self.opening.take() else { return };
        let Opening { field, reserved, late, common } = *opening;
        let late = late.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.hold(late.end());
        let (reserved, unread) = (reserved + late.len(), late.unread());
        let mut streams: Vec<Stream> =
            streams.into_iter().filter(|stream| stream.is_of(&field)).collect();
        streams.push(common.into_inner().unwrap_or_else(PoisonError::into_inner));
        let returned = streams.iter().map(|stream| stream.ready.len() + stream.lent.len());
        let back = match returned.sum::<usize>() + unread.len() == reserved {
            true => unread,
            false => self.withheld(&streams),
        };
        self.settle_reserved();
        self.remember_habits(&streams);
        let (mut beyond, mut unused) = (Vec::new(), Vec::new());
        for stream in streams {
            // In the order in which they would have been given out.
            unused.extend(stream.ready.into_iter().rev());
            beyond.extend(stream.beyond);
        }
        self.bring_beyond(beyond, |index| field.is_near(index));
        for entity in unused.into_iter().chain(back).rev() {
            self.take_back(entity);
        }
    }

    /// The reserved ids that no stream has, read or not.
    #[cold]
    fn withheld(&mut self, streams: &[Stream]) -> Vec<Entity> {
        let known = streams.iter().flat_map(|stream| stream.ready.iter().chain(&stream.lent));
        let known: FxHashSet<Entity> = known.copied().collect();
        self.reserved().into_iter().filter(|entity| !known.contains(entity)).collect()
    }

    fn remember_habits(&mut self, streams: &[Stream]) {
        let mut habits: FxHashMap<u64, usize> = FxHashMap::default();
        for stream in streams.iter().filter(|stream| stream.key != 0) {
            let habit = habits.entry(stream.key).or_default();
            *habit = stream.habit().max(*habit);
        }
        for (key, habit) in habits {
            match u32::try_from(habit) {
                Ok(0) => _ = self.habits.remove(&key),
                habit => _ = self.habits.insert(key, habit.unwrap_or(u32::MAX)),
            }
        }
    }

    /// Brings entities with unused indices to life. Indices between near ones are free from now on;
    /// others have slots in pages of their own, and indices between these stay unused.
    pub(super) fn bring_beyond(
        &mut self,
        mut entities: Vec<Entity>,
        is_near: impl Fn(u32) -> bool,
    ) {
        entities.sort_unstable();
        let mut holes = Vec::new();
        for entity in entities {
            let index = entity.index();
            if self.slot(index).is_some_and(|slot| !slot.is_unused()) {
                // Nothing has an index twice, whatever was handed in (E1).
                debug_assert!(false, "{entity} is in use");
                continue;
            }
            if !is_near(index) {
                self.spawn_far(entity);
                continue;
            }
            while self.fresh() < index {
                holes.push(self.fresh());
                self.near.push(Slot::default());
            }
            self.near.push(Slot::new_live(index, 0));
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
        // Nothing that is in use is taken back, whatever was handed in (E1).
        if self.word_mut(entity).is_none_or(|word| *word != 0) {
            debug_assert!(false, "{entity} is not a reserved id");
            return;
        }
        let version = entity.version().max(1);
        self.free_slot(entity.index(), version);
        self.count_dead();
    }
}

/// Gives each stream that has needed many ids its piece of the free list. Small pieces come first: who
/// reads one reads past those in front of it.
fn deal_late(streams: &mut [Stream]) {
    let mut wanting: Vec<&mut Stream> =
        streams.iter_mut().filter(|stream| stream.budget > EAGER).collect();
    wanting.sort_by_key(|stream| stream.budget);
    let mut start = 0;
    for stream in wanting {
        stream.late = start..start + stream.budget;
        start = stream.late.end;
    }
}

#[cfg(test)]
mod tests;
