//! Ids by demand: an exact id, chosen by somebody else (a server, a file).
//!
//! A demanded slot may lie anywhere: unused, free in the middle of the list, outside the range.
//! To take it out of the middle of a singly linked list in constant time, the list keeps running
//! through it: the link is moved to a record here and the slot becomes live. Whoever reads the
//! list that far passes over it.

use std::error::Error;
use std::fmt;

use super::slot::{END, new_page};
use super::{Entities, Entity};
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
    /// [`spawn`](Self::spawn) stay ahead of all of them. An id outside the range of this book is
    /// accepted, and is not given out again after its death.
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
        let ours = self.limits.range.contains(&index);
        if self.limits.fixed && !ours {
            let limit = self.limits.range.len() as u32;
            return Err(SpawnAtError::BeyondLimit { demanded, limit });
        }
        let slot = &mut self.slots.get_or_create(page_of(index), new_page)[place_in_page(index)];
        // A free slot of the range is in the list; all others are not (E2).
        let threaded = (ours && !slot.is_unused() && !slot.is_retired()).then(|| slot.number());
        let floor = slot.version();
        slot.set_live(demanded);
        if threaded.is_some() || floor > demanded.version() {
            self.demanded.insert(index, Demanded { threaded, floor });
        }
        self.count_alive();
        Ok(())
    }

    /// Passes over demanded slots at the head of the free list, then takes the first free one.
    #[cold]
    pub(super) fn skip_demanded(&mut self) -> Option<u32> {
        while self.free != END {
            let index = self.free - 1;
            let Some(link) = self.demanded_link(index) else { return self.next_free() };
            self.free = link;
            let version = self.slot(index).expect("a demanded slot has a page").version();
            let record = self.demanded.get_mut(&index).expect("it has a link");
            record.threaded = None;
            if record.floor <= version {
                self.demanded.remove(&index);
            }
        }
        None
    }

    /// The link of a live slot that the free list still runs through.
    pub(super) fn demanded_link(&self, index: u32) -> Option<u32> {
        self.demanded.get(&index)?.threaded
    }

    /// Frees a slot while demanded slots exist, which this one may be.
    #[cold]
    pub(super) fn free_demanded(&mut self, index: u32, next_version: u32) {
        let Some(record) = self.demanded.remove(&index) else {
            return self.free_slot(index, next_version);
        };
        let next_version = next_version.max(record.floor);
        match record.threaded {
            None => self.free_slot(index, next_version),
            // Still in the list: it gets its link back and keeps its place.
            Some(link) if next_version <= self.limits.last_version => {
                self.slot_mut(index).expect("it was live").set_dead(link, next_version);
            }
            Some(link) => {
                self.unthread(index, link);
                self.slot_mut(index).expect("it was live").set_retired();
            }
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
    /// The world was built with a fixed entity limit, and the index lies beyond it.
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
                write!(f, "entity {demanded} is alive already")
            }
            Self::Taken { demanded, living } => {
                write!(f, "entity {demanded} cannot be spawned: {living} lives at its index; ")?;
                write!(f, "despawn that one first, or give the two worlds separate id ranges")
            }
            Self::BeyondLimit { demanded, limit } => {
                write!(f, "entity {demanded} lies beyond the fixed limit of {limit} entities")
            }
        }
    }
}

impl Error for SpawnAtError {}
