//! Ids by demand: an exact id, chosen by somebody else (a server, a file).
//!
//! A demanded slot may lie anywhere: unused, free in the middle of the list, outside the range.
//! To take it out of the middle of a singly linked list in constant time, the list keeps running
//! through it: the link is moved to a record here and the slot becomes live. Whoever reads the
//! list that far passes over it.

use std::error::Error;
use std::fmt;

use super::far_page::FarPage;
use super::slot::{END, Slot};
use super::{Entities, Entity, Limits, NoSuchEntity};
use crate::page::{page_of, place_in_page};

/// What the slot of a demanded entity cannot say itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demanded {
    /// The link of a slot that the free list still runs through.
    pub(super) threaded: Option<u32>,
    /// The lowest version that the slot may give out by itself (E3).
    pub(super) floor: u32,
}

impl Entities {
    /// Brings exactly this entity to life.
    ///
    /// For replication and for loading: whoever demands ids answers for them. An id that died
    /// can be demanded again, also with a version that lies in the past; the ids given out by
    /// [`spawn`](Self::spawn) stay ahead of all of them. An id in the range of this book comes back
    /// after its death as any other does; one outside is accepted, and is not given out again.
    ///
    /// # Complexity
    /// O(1). An id apart from those given out so far takes about 200 bytes; where more than 32 of 1,024 indices in a row are
    /// in use, all of them take 16 KiB. In the range that stays after the death, because [`spawn`](Self::spawn) gives
    /// the index out again, with another version; outside nothing stays.
    ///
    /// # Errors
    /// [`SpawnAtError::Taken`] if an entity lives at that index, whatever its version;
    /// [`SpawnAtError::BeyondLimit`] if the number of entities is fixed and the index lies beyond.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Entity, entity::Entities};
    /// let mut ids = Entities::new();
    /// let far = Entity::new(4_000_000_000, 7).unwrap();
    /// ids.spawn_at(far).unwrap();
    /// assert!(ids.is_alive(far));
    /// assert!(ids.spawn_at(far).is_err());
    /// assert_eq!(ids.spawn().index(), 0);
    /// ```
    #[doc(alias = "create")]
    #[doc(alias = "hint")]
    pub fn spawn_at(&mut self, demanded: Entity) -> Result<(), SpawnAtError> {
        self.settle();
        let index = demanded.index();
        if let Some(living) = self.at(index) {
            return Err(SpawnAtError::Taken { demanded, living });
        }
        self.check_limit(demanded)?;
        let is_in_range = self.limits.range.contains(&index);
        let slot = self.slot_or_far_mut(index);
        // A dead slot of the range is in the list, unless it is retired (E2).
        let is_listed = is_in_range && !slot.is_unused() && !slot.is_retired();
        let threaded = is_listed.then(|| slot.number());
        let floor = slot.version();
        slot.set_demanded(demanded);
        self.note_far(index);
        if threaded.is_some() || floor > demanded.version() {
            self.demanded.insert(index, Demanded { threaded, floor });
        }
        self.count_alive();
        Ok(())
    }

    /// Brings the first entity of an index to life whose slot is unused, apart from the near ones.
    pub(super) fn spawn_far(&mut self, entity: Entity) {
        self.slot_or_far_mut(entity.index()).set_demanded(entity);
        self.note_far(entity.index());
        self.count_alive();
    }

    /// Keeps the near slots from growing over one that lies apart from them.
    fn note_far(&mut self, index: u32) {
        let place = self.near_place(index);
        if place >= self.near.len() && self.limits.range.contains(&index) {
            self.plain = self.plain.min(place);
        }
    }

    /// Whether an id may be demanded, as far as the limits are concerned.
    pub(crate) fn check_limit(&self, demanded: Entity) -> Result<(), SpawnAtError> {
        let Limits { range, fixed, .. } = &self.limits;
        match *fixed && !range.contains(&demanded.index()) {
            true => Err(SpawnAtError::BeyondLimit { demanded, limit: range.len() as u32 }),
            false => Ok(()),
        }
    }

    /// The slot of any index; one that lies apart from the near ones is made if need be.
    fn slot_or_far_mut(&mut self, index: u32) -> &mut Slot {
        let place = self.near_place(index);
        match self.near.get_mut(place) {
            Some(slot) => slot,
            None => {
                let page = self.far.get_or_create(page_of(index), FarPage::new);
                let slot = page.get_or_create(place_in_page(index));
                self.far_used += u32::from(slot.is_unused());
                slot
            }
        }
    }

    /// Makes a far slot unused again, and lets its page go with the last one.
    pub(super) fn forget_far(&mut self, index: u32) {
        let page = self.far.get_mut(page_of(index)).expect("a slot outside the range has a page");
        page.take(place_in_page(index));
        self.far_used -= 1;
        if page.is_unused() {
            self.far.take(page_of(index));
        }
    }

    /// Passes over demanded slots at the head of the free list, then makes the next one live,
    /// wherever it lies.
    #[cold]
    pub(super) fn next_free_elsewhere(&mut self) -> Option<u32> {
        while self.free != END {
            let index = self.free - 1;
            let Some(link) = self.demanded_link(index) else {
                let slot = self.slot_mut(index).expect("a free slot has a page");
                assert!(
                    !slot.is_live(index),
                    "E2: the free list leads to index {index}, which is not free"
                );
                let next = slot.number();
                slot.set_live(index);
                self.free = next;
                self.set_before(next, END);
                return Some(index);
            };
            self.free = link;
            let version = self.slot(index).expect("a demanded slot exists").version();
            let record = self.demanded.get_mut(&index).expect("it has a link");
            record.threaded = None;
            if record.floor <= version {
                self.forget_demanded(index);
            }
        }
        self.next_fresh()
    }

    /// Moves far slots that the near ones have come to among them, up to one that was never used.
    #[cold]
    pub(super) fn next_fresh_demanded(&mut self) -> Option<u32> {
        let mut found = None;
        while found.is_none() && self.fresh() < self.limits.range.end {
            let index = self.fresh();
            let page = self.far.get_mut(page_of(index));
            let mut slot = page.map(|page| page.take(place_in_page(index))).unwrap_or_default();
            // Those that are dead are in the free list, and stay there (E2).
            match slot.is_unused() {
                true => {
                    slot.set_live(index);
                    found = Some(index);
                }
                false => self.far_used -= 1,
            }
            self.near.push(slot);
        }
        let ahead = self.first_far(self.fresh()).unwrap_or(self.limits.range.end);
        self.plain = self.near_place(ahead.min(self.limits.range.end));
        found
    }

    /// The first index from `index` on that has a slot apart from the near ones.
    fn first_far(&self, index: u32) -> Option<u32> {
        let pages = self.far.iter().filter(|&(page, _)| page >= page_of(index));
        let slots = pages.flat_map(|(page, slots)| slots.indexed(page));
        slots.filter(|(_, slot)| !slot.is_unused()).map(|(at, _)| at).find(|&at| at >= index)
    }

    /// The first index from `index` on that a new entity can have, as `next_fresh` would find it.
    pub(super) fn first_fresh(&self, index: u32) -> Option<u32> {
        let is_unused = |&index: &u32| self.slot(index).is_none_or(Slot::is_unused);
        (index..self.limits.range.end).find(is_unused)
    }

    /// The link of a live slot that the free list still runs through.
    pub(super) fn demanded_link(&self, index: u32) -> Option<u32> {
        self.demanded.get(&index)?.threaded
    }

    /// Lets an entity die that was demanded, or lies far, or is not alive at all.
    #[cold]
    pub(super) fn release_demanded(&mut self, entity: Entity) -> Result<u64, NoSuchEntity> {
        let word = *self.word_mut(entity).ok_or(NoSuchEntity { entity })?;
        let index = entity.index();
        let record = self.demanded.get(&index).copied();
        let next_version = record.map_or(0, |record| record.floor).max(entity.version() + 1);
        match record.and_then(|record| record.threaded) {
            None => self.free_slot(index, next_version),
            // Still in the list: it gets its link back and keeps its place.
            Some(link) if next_version <= self.limits.last_version => {
                self.slot_mut(index).expect("it is live").set_dead(link, next_version);
            }
            Some(link) => {
                self.unthread(index, link);
                self.slot_mut(index).expect("it is live").set_retired();
            }
        }
        self.forget_demanded(index);
        self.count_dead();
        Ok(word)
    }

    /// Forgets what was demanded of an index. Without such indices it is known of each slot which one comes before (E5).
    fn forget_demanded(&mut self, index: u32) {
        if self.demanded.remove(&index).is_some() && self.demanded.is_empty() {
            self.link_back();
        }
    }

    /// Takes a slot out of the list by walking there: only for one that dies for the last time.
    fn unthread(&mut self, index: u32, link: u32) {
        if self.free == index + 1 {
            self.free = link;
            return;
        }
        let mut at = self.free;
        while at != END {
            let before = at - 1;
            at = self.link(before);
            if at == index + 1 {
                match self.demanded.get_mut(&before).and_then(|record| record.threaded.as_mut()) {
                    Some(threaded) => *threaded = link,
                    None => {
                        let slot = self.slot_mut(before).expect("a free slot has a page");
                        slot.set_dead(link, slot.version());
                    }
                }
            }
        }
    }

    /// The number that follows `index` in the free list.
    pub(super) fn link(&self, index: u32) -> u32 {
        let slot = self.slot(index).expect("a free slot has a page");
        self.demanded_link(index).unwrap_or(slot.number())
    }
}

/// An id that was demanded cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnAtError {
    /// The index belongs to a living entity, which has this or another version.
    Taken {
        /// The id that was asked for.
        demanded: Entity,
        /// The entity that lives there.
        living: Entity,
    },
    /// The world was built with a fixed entity limit, and the index lies outside of it.
    BeyondLimit {
        /// The id that was asked for.
        demanded: Entity,
        /// How many indices the world may use.
        limit: u32,
    },
}

impl fmt::Display for SpawnAtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { demanded, living } if demanded == living => {
                write!(f, "entity {demanded} is alive already; use `insert` to give it components")
            }
            Self::Taken { demanded, living } => {
                write!(f, "entity {demanded} cannot be spawned: {living} lives at its index; ")?;
                write!(f, "despawn that one first, or give the two worlds separate id ranges")
            }
            Self::BeyondLimit { demanded, limit } => {
                write!(f, "entity {demanded} lies outside the fixed limit of {limit} entities; ")?;
                write!(f, "widen `entity_limit` of the world's builder")
            }
        }
    }
}

impl Error for SpawnAtError {}
