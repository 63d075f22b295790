//! The book of ids: spawn, despawn, ask, walk.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use rustc_hash::FxHashMap;

use super::demand::Demanded;
use super::reserve::IDLE;
use super::slot::{END, Slot, SlotPage, new_page};
use super::{Entity, LiveEntities};
use crate::page::{PAGE_LEN, PageTable, page_of, place_in_page};

/// Gives out entity ids and takes them back.
///
/// A [`World`](crate::World) has one inside. Alone it serves programs that want versioned ids
/// for [`SparseSet`](crate::sparse::SparseSet)s and [`EntityMap`](crate::storage::EntityMap)s of
/// their own, without a world.
///
/// # Examples
/// ```
/// # use esker::entity::Entities;
/// let mut ids = Entities::new();
/// let a = ids.spawn();
/// assert!(ids.is_alive(a));
/// ids.despawn(a).unwrap();
/// assert!(ids.despawn(a).is_err());
/// assert_eq!(ids.spawn().index(), a.index());
/// ```
#[derive(Debug)]
pub struct Entities {
    pub(super) slots: PageTable<SlotPage>,
    /// Number of the first free slot; the list runs through the slots (E2).
    pub(super) free: u32,
    /// The next index to be used for the first time, unless it was demanded before.
    pub(super) fresh: u32,
    alive: u32,
    pub(super) limits: Limits,
    /// Slots whose next version or place in the free list is not what the slot says.
    pub(super) demanded: FxHashMap<u32, Demanded>,
    /// Where reservations under `&self` have come to; `IDLE` if there were none (E4).
    pub(super) cursor: AtomicU64,
}

/// Which ids may be given out.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) range: Range<u32>,
    /// The slots of the range are allocated at once and no others ever.
    pub(crate) fixed: bool,
    /// The version after which a slot is retired.
    pub(crate) last_version: u32,
}

impl Default for Limits {
    fn default() -> Self {
        // The last index is never given out by itself, so that `fresh` cannot reach the value
        // that marks an idle cursor.
        let range = 0..Entity::MAX_INDEX;
        Self { range, fixed: false, last_version: Entity::MAX_VERSION }
    }
}

impl Default for Entities {
    fn default() -> Self {
        Self::with_limits(Limits::default())
    }
}

impl Entities {
    /// A book without entities.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        let mut entities = Self {
            slots: PageTable::default(),
            free: END,
            fresh: limits.range.start,
            alive: 0,
            limits,
            demanded: FxHashMap::default(),
            cursor: AtomicU64::new(IDLE),
        };
        if entities.limits.fixed {
            entities.reserve_slots(entities.limits.range.len());
        }
        entities
    }

    /// Whether `entity` is alive. Reserved ids are not, until they are settled.
    #[inline]
    #[doc(alias = "contains")]
    #[doc(alias = "valid")]
    pub fn is_alive(&self, entity: Entity) -> bool {
        self.slot(entity.index()).is_some_and(|slot| slot.holds(entity))
    }

    /// The entity that lives at `index`, if one does.
    pub fn at(&self, index: u32) -> Option<Entity> {
        let slot = self.slot(index).filter(|slot| slot.is_live(index))?;
        Entity::new(index, slot.version())
    }

    /// Number of living entities.
    #[inline]
    pub fn len(&self) -> usize {
        self.alive as usize
    }

    /// Whether no entity is alive.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// The living entities in ascending order of their index.
    ///
    /// # Complexity
    /// O(indices ever used).
    pub fn iter(&self) -> LiveEntities<'_> {
        LiveEntities::new(&self.slots, self.len())
    }

    /// Brings an entity to life: the index freed last, or a new one.
    ///
    /// # Panics
    /// If no id is left; [`try_spawn`](Self::try_spawn) returns that as an error.
    #[inline]
    #[track_caller]
    pub fn spawn(&mut self) -> Entity {
        self.try_spawn().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Brings an entity to life, if an id is left.
    ///
    /// # Errors
    /// [`OutOfEntities`]; nothing has changed then.
    #[inline]
    pub fn try_spawn(&mut self) -> Result<Entity, OutOfEntities> {
        self.claim().map(|(entity, _)| entity)
    }

    /// Lets `entity` die; its index gets the next version.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if it is not alive.
    #[inline]
    pub fn despawn(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        self.settle();
        if !self.is_alive(entity) {
            return Err(NoSuchEntity { entity });
        }
        self.alive -= 1;
        let next_version = entity.version() + 1;
        if self.demanded.is_empty() {
            self.free_slot(entity.index(), next_version);
        } else {
            self.free_demanded(entity.index(), next_version);
        }
        Ok(())
    }

    /// Lets every entity die. Later ones get the same indices again, lowest first.
    ///
    /// # Complexity
    /// O(indices ever used).
    pub fn clear(&mut self) {
        self.settle();
        self.free = END;
        self.alive = 0;
        let demanded = std::mem::take(&mut self.demanded);
        for number in self.slots.numbers().into_iter().rev() {
            for place in (0..PAGE_LEN).rev() {
                let index = number * PAGE_LEN as u32 + place as u32;
                let Some(slot) = self.slot_mut(index) else { continue };
                if slot.is_unused() || slot.is_retired() {
                    continue;
                }
                let next_version = slot.version() + u32::from(slot.is_live(index));
                let floor = demanded.get(&index).map_or(0, |record| record.floor);
                self.free_slot(index, next_version.max(floor));
            }
        }
    }

    /// Brings an entity to life and gives access to its word.
    #[inline]
    pub(crate) fn claim(&mut self) -> Result<(Entity, &mut u64), OutOfEntities> {
        self.settle();
        let index = if self.free == END { self.next_fresh() } else { self.next_free() };
        let Some(index) = index else {
            return Err(OutOfEntities { limit: self.limits.range.len() as u32 });
        };
        self.alive += 1;
        let slot = &mut self.slots.get_or_create(page_of(index), new_page)[place_in_page(index)];
        let entity = Entity::new(index, slot.version()).expect("a slot that is not retired");
        slot.set_live(entity);
        Ok((entity, slot.word.get_mut()))
    }

    /// Takes the first free slot off the list; the list may turn out to be empty.
    #[inline]
    pub(super) fn next_free(&mut self) -> Option<u32> {
        let index = self.free - 1;
        let slot = self.slot(index).expect("a free slot has a page");
        if slot.is_live(index) {
            return self.skip_demanded();
        }
        self.free = slot.number();
        Some(index)
    }

    /// The next index that was never used.
    #[inline]
    pub(super) fn next_fresh(&mut self) -> Option<u32> {
        let index = self.first_unused(self.fresh)?;
        self.fresh = index + 1;
        Some(index)
    }

    /// The first index from `index` on that was never used, inside the range.
    #[inline]
    pub(super) fn first_unused(&self, mut index: u32) -> Option<u32> {
        while index < self.limits.range.end {
            if self.slot(index).is_none_or(Slot::is_unused) {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// Puts a slot at the head of the free list, unless it is spent or not ours to give out.
    #[inline]
    pub(super) fn free_slot(&mut self, index: u32, next_version: u32) {
        let spent = next_version > self.limits.last_version;
        let ours = self.limits.range.contains(&index);
        let next = if ours { self.free } else { END };
        let slot = self.slot_mut(index).expect("a slot that was live has a page");
        if spent {
            slot.set_retired();
        } else {
            slot.set_dead(next, next_version);
            if ours {
                self.free = index + 1;
            }
        }
    }

    pub(super) fn count_alive(&mut self) {
        self.alive += 1;
    }

    #[inline]
    pub(super) fn slot(&self, index: u32) -> Option<&Slot> {
        Some(&self.slots.get(page_of(index))?[place_in_page(index)])
    }

    #[inline]
    pub(super) fn slot_mut(&mut self, index: u32) -> Option<&mut Slot> {
        Some(&mut self.slots.get_mut(page_of(index))?[place_in_page(index)])
    }

    /// The word of a living entity, for one who has the entities to himself.
    #[inline]
    pub(crate) fn word_mut(&mut self, entity: Entity) -> Option<&mut u64> {
        let slot = self.slot_mut(entity.index()).filter(|slot| slot.holds(entity))?;
        Some(slot.word.get_mut())
    }

    /// The word of a living entity.
    #[inline]
    pub(crate) fn word(&self, entity: Entity) -> Option<&AtomicU64> {
        let slot = self.slot(entity.index()).filter(|slot| slot.holds(entity))?;
        Some(&slot.word)
    }

    /// Makes room for `additional` new indices, so that spawning them allocates nothing.
    pub fn reserve_slots(&mut self, additional: usize) {
        let room = (self.limits.range.end - self.fresh.min(self.limits.range.end)) as usize;
        let Some(last) = additional.min(room).checked_sub(1) else { return };
        for page in page_of(self.fresh)..=page_of(self.fresh + last as u32) {
            self.slots.get_or_create(page, new_page);
        }
    }

    /// Bytes of heap memory in use.
    pub fn heap_bytes(&self) -> usize {
        self.slots.heap_bytes() + self.demanded.capacity() * size_of::<(u32, Demanded)>()
    }
}

/// The entity is dead, or was never alive in this world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchEntity {
    /// The id that was asked for.
    pub entity: Entity,
}

impl fmt::Display for NoSuchEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity {} is not alive in this world", self.entity)
    }
}

impl Error for NoSuchEntity {}

/// Every id this world may give out is alive or retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfEntities {
    /// How many indices the world may use.
    pub limit: u32,
}

impl fmt::Display for OutOfEntities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit;
        write!(f, "no entity id is left of the {limit} this world may give out; ")?;
        write!(f, "despawn some, or widen `entity_limit` or `entity_range` of the world's builder")
    }
}

impl Error for OutOfEntities {}
