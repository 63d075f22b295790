//! The book of ids: spawn, despawn, ask, walk.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use rustc_hash::FxHashMap;

use super::demand::Demanded;
use super::far_page::FarPage;
use super::many::Recent;
use super::reserve::IDLE;
use super::slot::{END, Slot, indexed};
use super::stream::Opening;
use super::{Entity, LiveEntities};
use crate::growth;
use crate::heap::bytes_of_table;
use crate::page::{PageTable, page_of, place_in_page};
use crate::sync::{self, get_alone};

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
    /// The slots of all indices given out so far, from the first of the range on.
    pub(super) near: Vec<Slot>,
    /// Slots of demanded ids that lie elsewhere. An index below the end of `near` is not here.
    pub(super) far: PageTable<FarPage>,
    /// How many of these were ever used.
    pub(super) far_used: u32,
    /// Number of the first free slot; the list runs through the slots (E2).
    pub(super) free: u32,
    /// Slots that were put on the free list together.
    pub(super) recent: Recent,
    /// Length to which `near` may grow without meeting a demanded slot or the end of the range.
    pub(super) plain: usize,
    pub(super) alive: u32,
    pub(super) limits: Limits,
    /// Slots whose next version or place in the free list is not what the slot says.
    pub(super) demanded: FxHashMap<u32, Demanded>,
    /// How many ids streams have needed, by their keys; see `stream.rs`.
    pub(super) habits: FxHashMap<u64, u32>,
    /// The streams that are open, if there are any. Then the cursor is not `IDLE`.
    pub(super) opening: Option<Box<Opening>>,
    /// Where reservations under `&self` have come to; `IDLE` if there were none (E4).
    pub(super) cursor: sync::AtomicU64,
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
        // The last index is never given out by itself, so that the cursor cannot reach the value
        // that marks it idle.
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
            near: Vec::new(),
            far: PageTable::default(),
            far_used: 0,
            free: END,
            recent: Recent::default(),
            plain: limits.range.len(),
            alive: 0,
            limits,
            demanded: FxHashMap::default(),
            habits: FxHashMap::default(),
            opening: None,
            cursor: sync::AtomicU64::new(IDLE),
        };
        if entities.limits.fixed {
            entities.near.reserve_exact(entities.limits.range.len());
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

    /// Indices below this one have their slots side by side; most entities do.
    pub(crate) fn near_len(&self) -> usize {
        self.near.len()
    }

    /// The entity that lives at `index`, if one does.
    pub fn at(&self, index: u32) -> Option<Entity> {
        let slot = self.slot(index).filter(|slot| slot.is_live(index))?;
        Some(Entity::of(index, slot.version()))
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
        LiveEntities::new(self)
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
        self.release(entity).map(drop)
    }

    /// Lets `entity` die and returns its word.
    #[inline(always)]
    pub(crate) fn release(&mut self, entity: Entity) -> Result<u64, NoSuchEntity> {
        self.settle();
        let place = self.near_place(entity.index());
        match self.near.get_mut(place) {
            Some(slot) if slot.holds(entity) && self.demanded.is_empty() => {
                let word = *slot.word.get_mut();
                let next_version = entity.version() + 1;
                if next_version > self.limits.last_version {
                    slot.set_retired();
                } else {
                    let next = self.free;
                    slot.set_dead(next, next_version);
                    self.free = entity.index() + 1;
                    self.set_before(next, self.free);
                }
                self.alive -= 1;
                Ok(word)
            }
            // Also the way of those that are not alive.
            _ => self.release_demanded(entity),
        }
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
        // Indices from the end, so that the lowest comes to be the first of the list.
        let near = indexed(self.limits.range.start, &self.near);
        let far = self.far.iter().flat_map(|(page, slots)| slots.indexed(page));
        let used: Vec<u32> =
            near.chain(far).filter(|(_, slot)| !slot.is_unused()).map(|(index, _)| index).collect();
        for index in used.into_iter().rev() {
            let slot = self.slot(index).expect("listed above");
            if !slot.is_retired() {
                let next_version = slot.version() + u32::from(slot.is_live(index));
                let floor = demanded.get(&index).map_or(0, |record| record.floor);
                self.free_slot(index, next_version.max(floor));
            }
        }
    }

    /// Brings an entity to life and gives access to its word.
    #[inline]
    pub(crate) fn claim(&mut self) -> Result<(Entity, &mut u64), OutOfEntities> {
        let place = self.near.len();
        // Growing is left to that, too: then the slot is pushed without a test.
        let room = self.plain.min(self.near.capacity());
        if get_alone(&mut self.cursor) != IDLE || self.free != END || place >= room {
            return self.claim_used();
        }
        let index = self.limits.range.start + place as u32;
        self.near.push(Slot::new_live(index, 0));
        self.alive += 1;
        Ok((Entity::of(index, 0), self.near[place].word.get_mut()))
    }

    /// The rest of `claim`: all but a new index with room for it and nothing in the way.
    #[inline(never)]
    fn claim_used(&mut self) -> Result<(Entity, &mut u64), OutOfEntities> {
        self.settle();
        let index = self.free.wrapping_sub(1);
        let place = self.near_place(index);
        if place < self.near.len() && !self.near[place].is_live(index) {
            self.free = self.near[place].number();
            self.set_before(self.free, END);
            self.alive += 1;
            let slot = &mut self.near[place];
            slot.set_live(index);
            return Ok((slot.live_entity(), slot.word.get_mut()));
        }
        let index = if self.free == END { self.next_fresh() } else { self.next_free_elsewhere() };
        let limit = self.limits.range.len() as u32;
        let index = index.ok_or(OutOfEntities { limit })?;
        self.alive += 1;
        let slot = self.slot_mut(index).expect("it has just been made live");
        Ok((slot.live_entity(), slot.word.get_mut()))
    }

    /// Makes the next index that was never used live, and returns it.
    #[inline]
    pub(super) fn next_fresh(&mut self) -> Option<u32> {
        if self.near.len() >= self.plain {
            return self.next_fresh_demanded();
        }
        let index = self.fresh();
        growth::push(&mut self.near, Slot::new_live(index, 0));
        Some(index)
    }

    /// The index behind the near slots.
    #[inline]
    pub(super) fn fresh(&self) -> u32 {
        self.limits.range.start + self.near.len() as u32
    }

    pub(super) fn count_alive(&mut self) {
        self.alive += 1;
    }

    pub(super) fn count_dead(&mut self) {
        self.alive -= 1;
    }

    /// Place of an index among the near slots, if it is one of theirs.
    #[inline(always)]
    pub(super) fn near_place(&self, index: u32) -> usize {
        index.wrapping_sub(self.limits.range.start) as usize
    }

    #[inline(always)]
    pub(super) fn slot(&self, index: u32) -> Option<&Slot> {
        match self.near.get(self.near_place(index)) {
            Some(slot) => Some(slot),
            None => self.far_slot(index),
        }
    }

    #[inline]
    pub(super) fn slot_mut(&mut self, index: u32) -> Option<&mut Slot> {
        let place = self.near_place(index);
        match self.near.get_mut(place) {
            Some(slot) => Some(slot),
            None => far_slot_mut(&mut self.far, index),
        }
    }

    #[cold]
    fn far_slot(&self, index: u32) -> Option<&Slot> {
        self.far.get(page_of(index))?.get(place_in_page(index))
    }

    /// The word of a living entity, for one who has the entities to himself.
    ///
    /// Reserved entities are settled if `entity` may be one.
    #[inline]
    pub(crate) fn word_mut(&mut self, entity: Entity) -> Option<&mut u64> {
        let place = self.near_place(entity.index());
        // As slices, here and in all that is done for each insert: what is indexed in a vector is a call in
        // debug builds, and so is `?`.
        let near = self.near.as_slice();
        if place < near.len() && near[place].holds(entity) {
            return Some(self.near.as_mut_slice()[place].word.get_mut());
        }
        self.word_mut_elsewhere(entity)
    }

    #[cold]
    fn word_mut_elsewhere(&mut self, entity: Entity) -> Option<&mut u64> {
        self.settle();
        let slot = self.slot_mut(entity.index()).filter(|slot| slot.holds(entity))?;
        Some(slot.word.get_mut())
    }

    /// The word of a living entity.
    #[inline]
    pub(crate) fn word(&self, entity: Entity) -> Option<&AtomicU64> {
        let slot = self.slot(entity.index())?;
        if slot.holds(entity) { Some(&slot.word) } else { None }
    }

    /// Makes room for `additional` new indices, so that spawning them allocates nothing.
    pub fn reserve_slots(&mut self, additional: usize) {
        let room = self.limits.range.end.saturating_sub(self.fresh()) as usize;
        growth::reserve(&mut self.near, additional.min(room));
    }

    /// Gives back memory that holds no slot.
    ///
    /// Slots of dead ids stay: their versions are not to be given out again.
    pub fn shrink_to_fit(&mut self) {
        if !self.limits.fixed {
            self.near.shrink_to_fit();
        }
        // Its pages hold slots; the window over them may have room to spare.
        self.far.retain(|_| true);
        self.demanded.shrink_to_fit();
        self.habits.shrink_to_fit();
    }

    /// Bytes of heap memory in use.
    pub fn heap_bytes(&self) -> usize {
        let near = self.near.capacity() * size_of::<Slot>();
        let tables = bytes_of_table(&self.demanded) + bytes_of_table(&self.habits);
        let far: usize = self.far.iter().map(|(_, page)| page.heap_bytes()).sum();
        near + far + self.far.heap_bytes() + self.recent.heap_bytes() + tables
    }
}

#[cold]
pub(super) fn far_slot_mut(far: &mut PageTable<FarPage>, index: u32) -> Option<&mut Slot> {
    far.get_mut(page_of(index))?.get_mut(place_in_page(index))
}

/// The entity is dead, or was never alive in this world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchEntity {
    /// The id that was asked for.
    pub entity: Entity,
}

impl fmt::Display for NoSuchEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entity = self.entity;
        write!(f, "entity {entity} is not alive in this world: it was despawned, or belongs to ")?;
        f.write_str("another one; ask `is_alive` before, or forget the id")
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
