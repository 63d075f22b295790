//! One pool as the world holds it, typed and with a face that knows no type.

use std::any::{Any, TypeId};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use super::pool_journal::KeepJournal;
#[cfg(feature = "serde")]
use super::pools::Pools;
use super::pools::name_of;
use super::react::{Event, Extras, Provider, Removal, RemovalJournal};
use super::tag::Tag;
use super::{BorrowConflict, ComponentId, World};
use crate::cell::{Cell, Conflict, Look, Read, Write};
use crate::component::Component;
use crate::entity::Entity;
use crate::sparse::{Band, Register};
use crate::storage::{AnyMap, EntityMap, SharedMap};
use crate::tick::Tick;

/// The map of a component type.
pub(crate) type Map<T> = EntityMap<T, <T as Component>::Storage>;

/// The pool of component `T`.
pub(crate) struct PoolBox<T: Component> {
    pub(crate) tag: Tag,
    pub(super) answers: Answers<T>,
    pub(crate) cell: Cell<Map<T>>,
    /// Who has lost a value, for readers.
    pub(crate) journal: RemovalJournal<T>,
    /// What writes into it, from the first reader on.
    pub(super) keeper: Option<&'static dyn KeepJournal<T>>,
    /// Whether somebody has put it into an order of his own, which homes are to leave alone.
    pub(super) is_sorted: AtomicBool,
    /// What was done through `&World` and is to be told at the next refresh.
    pub(crate) echo: Cell<Vec<Event>>,
    /// Values taken out of the map whose drop has to wait until the books are right.
    pub(super) limbo: Vec<T>,
    /// Entries of the journal that wait likewise.
    pub(super) overtaken: Vec<Removal<T>>,
    /// The entry for a value that is about to go together with others, or none. A vector, so that a pool has no room for
    /// a value in itself.
    pub(super) drafted: Vec<Removal<T>>,
}

/// What a component type says of itself.
///
/// It is asked once, before its pool is made, and never again: the answers come from code of the user's, which may
/// panic or answer differently the next time, and are needed where neither must happen.
pub(super) struct Answers<T> {
    pub(super) extras: &'static Extras,
    /// How to copy a value for those who read removals.
    pub(super) copy_removed: CopyRemoved<T>,
}

/// See [`Component::keep_removed`].
pub(super) type CopyRemoved<T> = Option<fn(&T) -> T>;

impl<T: Component> Answers<T> {
    pub(super) fn ask() -> Self {
        Self { extras: Extras::of::<T>(), copy_removed: T::keep_removed() }
    }
}

impl<T: Component> PoolBox<T> {
    pub(super) fn new(tag: Tag, answers: Answers<T>, map: Map<T>) -> Self {
        Self {
            tag,
            answers,
            cell: Cell::new(map),
            journal: Cell::default(),
            keeper: None,
            is_sorted: AtomicBool::new(false),
            echo: Cell::default(),
            limbo: Vec::new(),
            overtaken: Vec::new(),
            drafted: Vec::new(),
        }
    }

    /// The map and what the gate needs beside it, for what is done at a tick.
    #[inline(always)]
    pub(super) fn parts(&mut self, now: Tick) -> (&mut Map<T>, &Tag) {
        let map = self.cell.get_mut();
        map.set_now(now);
        (map, &self.tag)
    }
}

impl<T: Component> PoolBox<T> {
    /// Writes into the journal that an entity is about to lose its value, if somebody reads that.
    #[cold]
    pub(super) fn note_removal(&mut self, entity: Entity) {
        if let Some(keeper) = self.keeper {
            keeper.note(self, entity);
        }
    }

    /// Makes the entry for a value that is about to go together with others: a copy may unwind.
    pub(super) fn draft_one(&mut self, entity: Entity) {
        self.drafted.clear();
        if let (Some(keeper), true) = (self.keeper, self.tag.is_journaled) {
            let drafted = keeper.draft_one(self, entity);
            self.drafted.extend(drafted);
        }
    }

    /// Drops the entry that `draft_one` has made, if it was not needed.
    pub(super) fn drop_draft(&mut self) {
        self.drafted.clear();
    }

    /// As `detach`, while somebody reads who has lost a value.
    #[cold]
    #[inline(never)]
    fn detach_journaled(&mut self, entity: Entity) -> u64 {
        if let Some(keeper) = self.keeper {
            keeper.detach(self, entity);
        }
        if self.limbo.is_empty() && self.overtaken.is_empty() { 0 } else { self.tag.bit }
    }

    /// Whether a pool whose order belongs to somebody has no rows, by which its values would move: for checks.
    fn check_order(&mut self) {
        debug_assert!(
            !self.tag.is_owned && !*self.is_sorted.get_mut()
                || self.cell.get_mut().set().rows().is_none(),
            "the order of the pool of `{}` belongs to somebody",
            name_of::<T>()
        );
    }

    /// Whether entries that went unread wait to be dropped.
    pub(super) fn has_overtaken(&self) -> bool {
        !self.overtaken.is_empty()
    }
}

impl World {
    /// A guard on the map of a component, for reading; `None` if the id is not of this world.
    #[track_caller]
    pub(crate) fn try_read_any(
        &self,
        id: ComponentId,
    ) -> Option<Result<Read<'_, SharedMap>, BorrowConflict>> {
        let pool = self.pools.find_by_id(id)?;
        Some(pool.read().map_err(|conflict| BorrowConflict::new(pool.name(), conflict)))
    }

    /// A guard on the map of a component, for writing; `None` if the id is not of this world.
    #[track_caller]
    pub(crate) fn try_write_any(
        &self,
        id: ComponentId,
    ) -> Option<Result<Write<'_, SharedMap>, BorrowConflict>> {
        let pool = self.pools.find_by_id(id)?;
        let guard = pool.write().map_err(|conflict| BorrowConflict::new(pool.name(), conflict));
        Some(guard.map(|mut map| {
            map.set_now(self.tick());
            map
        }))
    }
}

/// A pool of any component type.
pub(crate) trait AnyPool: Send + Sync {
    fn tag(&self) -> &Tag;

    fn tag_mut(&mut self) -> &mut Tag;

    fn component_type(&self) -> TypeId;

    /// Makes the pool of the same component in another world.
    #[cfg(feature = "serde")]
    fn register_in(&self, pools: &mut Pools);

    fn name(&self) -> &'static str;

    /// A reading guard on the map.
    fn read(&self) -> Result<Read<'_, SharedMap>, Conflict>;

    /// A guard on the map for who looks at its entities only.
    fn look(&self) -> Result<Look<'_, SharedMap>, Conflict>;

    /// The writing guard on the map.
    fn write(&self) -> Result<Write<'_, SharedMap>, Conflict>;

    /// Forgets guards that were leaked.
    fn unmark(&mut self);

    fn map_mut(&mut self) -> &mut dyn AnyMap;

    /// The `Map<T>` of its component.
    #[cfg(feature = "serde")]
    fn any_map_mut(&mut self) -> &mut dyn Any;

    /// Whether somebody has put it into an order of his own.
    fn is_sorted(&self) -> bool;

    #[cfg(feature = "serde")]
    fn set_sorted(&mut self, is_sorted: bool);

    /// Exchanges the position of `entity`, which is in the pool, with another one.
    fn bring(&mut self, entity: Entity, to: usize);

    /// Brings members to the positions of their homes.
    fn rehouse(&mut self, movers: &[u32], register: &Register);

    /// Adds a block behind all others, for these entities, whose homes its rows are.
    fn add_band(&mut self, entities: &[u32], block: u32, register: &Register);

    /// Brings members to the positions of their homes, where blocks are these bands.
    fn line_up(&mut self, bands: &[Band], register: &Register);

    /// Takes the last rows of a block away; so many stay.
    fn cut_band(&mut self, block: u32, rows: usize);

    /// Whether there are gaps between bands, and whether it is time to close them. To be asked once a round.
    fn is_worn(&mut self) -> (bool, bool);

    /// Fills gaps between bands until so many rows have moved; returns how many have. `is_worn` says that all gaps are
    /// to go.
    fn close_gaps(&mut self, register: &Register, most_and_is_worn: (usize, bool)) -> usize;

    /// Whether a newcomer can have the position and the value of a dead member.
    fn is_heritable(&self) -> bool;

    /// Has an order that it shares with no other pool.
    fn drop_rows(&mut self);

    /// Checks A1: who is placed somewhere has its home there.
    fn check_places(&mut self, register: &Register) -> Result<(), String>;

    /// What gives an entity the components that this one requires.
    fn required(&self) -> &'static [fn(&mut Provider<'_>, Entity)];

    /// Whether somebody reads who has lost a value.
    fn is_journaled(&mut self) -> bool;

    /// Whether the values that somebody reads of are copied when they go.
    fn copies_removed(&mut self) -> bool;

    /// Drops what all readers of the journal have read.
    fn trim_journal(&mut self);

    /// Entries for the journal of all values, which are about to go.
    fn draft_all(&mut self) -> Box<dyn Any>;

    /// Writes what `draft_all` has made into the journal.
    fn journal_all(&mut self, draft: Box<dyn Any>);

    /// Drops entries that went unread, when the books are right.
    fn drop_overtaken(&mut self);

    /// Entries of the journal that wait to be read, that went unread, and bytes of heap memory.
    fn journal_size(&self) -> (usize, u64, usize);

    /// What was done through `&World` since the last call.
    fn take_echo(&mut self) -> Vec<Event>;

    /// Takes the value of `entity` out, if there is one, without running its drop.
    ///
    /// Returns the pool's signature bit if a value waits to be dropped by `bury`, or nothing.
    fn detach(&mut self, entity: Entity) -> u64;

    /// As `detach`, for one after the other.
    fn detach_all(&mut self, entities: &[Entity]) -> u64;

    /// Looks for entities that are about to leave, all at once.
    fn read_ahead(&mut self, entities: &[Entity]);

    /// Drops what `detach` has put into limbo.
    fn bury(&mut self);

    /// Takes out all entities; their values stay for `drop_values`.
    fn forget_entities(&mut self);

    fn drop_values(&mut self);
}

impl<T: Component> AnyPool for PoolBox<T> {
    fn tag(&self) -> &Tag {
        &self.tag
    }

    fn tag_mut(&mut self) -> &mut Tag {
        &mut self.tag
    }

    fn component_type(&self) -> TypeId {
        TypeId::of::<T>()
    }

    #[cfg(feature = "serde")]
    fn register_in(&self, pools: &mut Pools) {
        pools.get_or_create::<T>();
    }

    fn name(&self) -> &'static str {
        name_of::<T>()
    }

    fn is_sorted(&self) -> bool {
        self.is_sorted.load(Ordering::Relaxed)
    }

    #[cfg(feature = "serde")]
    fn set_sorted(&mut self, is_sorted: bool) {
        *self.is_sorted.get_mut() = is_sorted;
    }

    #[track_caller]
    fn read(&self) -> Result<Read<'_, SharedMap>, Conflict> {
        Ok(self.cell.try_read()?.part(|map| map as &SharedMap))
    }

    #[track_caller]
    fn look(&self) -> Result<Look<'_, SharedMap>, Conflict> {
        Ok(self.cell.try_look()?.part(|map| map as &SharedMap))
    }

    #[track_caller]
    fn write(&self) -> Result<Write<'_, SharedMap>, Conflict> {
        Ok(self.cell.try_write()?.part(|map| map as &mut SharedMap))
    }

    fn unmark(&mut self) {
        self.cell.unmark();
        self.journal.unmark();
        self.echo.unmark();
    }

    fn map_mut(&mut self) -> &mut dyn AnyMap {
        self.cell.get_mut()
    }

    #[cfg(feature = "serde")]
    fn any_map_mut(&mut self) -> &mut dyn Any {
        self.cell.get_mut()
    }

    fn bring(&mut self, entity: Entity, to: usize) {
        self.cell.get_mut().bring(entity, to);
    }

    fn rehouse(&mut self, movers: &[u32], register: &Register) {
        self.cell.get_mut().rehouse(movers, register);
        self.check_order();
    }

    fn add_band(&mut self, entities: &[u32], block: u32, register: &Register) {
        self.cell.get_mut().add_band(entities, block, register);
        self.check_order();
    }

    fn line_up(&mut self, bands: &[Band], register: &Register) {
        self.cell.get_mut().line_up(bands, register);
        self.check_order();
    }

    fn cut_band(&mut self, block: u32, rows: usize) {
        self.cell.get_mut().cut_band(block, rows);
    }

    fn is_worn(&mut self) -> (bool, bool) {
        self.cell.get_mut().is_worn()
    }

    fn close_gaps(&mut self, register: &Register, most_and_is_worn: (usize, bool)) -> usize {
        let moved = self.cell.get_mut().close_gaps(register, most_and_is_worn);
        self.check_order();
        moved
    }

    fn is_heritable(&self) -> bool {
        Map::<T>::IS_HERITABLE && !self.tag.needs_care
    }

    fn drop_rows(&mut self) {
        self.cell.get_mut().drop_rows();
    }

    fn check_places(&mut self, register: &Register) -> Result<(), String> {
        self.cell.get_mut().set().check_places(register)
    }

    fn required(&self) -> &'static [fn(&mut Provider<'_>, Entity)] {
        self.answers.extras.require
    }

    fn is_journaled(&mut self) -> bool {
        self.journal.get_mut().has_readers()
    }

    fn copies_removed(&mut self) -> bool {
        self.is_journaled() && self.answers.copy_removed.is_some()
    }

    fn trim_journal(&mut self) {
        if let Some(keeper) = self.keeper {
            keeper.trim(self);
        }
    }

    fn draft_all(&mut self) -> Box<dyn Any> {
        match self.keeper {
            Some(keeper) if self.tag.is_journaled => keeper.draft_all(self),
            _ => Box::new(()),
        }
    }

    fn journal_all(&mut self, draft: Box<dyn Any>) {
        if let Some(keeper) = self.keeper {
            keeper.write_all(self, draft);
        }
    }

    fn drop_overtaken(&mut self) {
        mem::take(&mut self.overtaken);
    }

    fn journal_size(&self) -> (usize, u64, usize) {
        match self.keeper {
            Some(keeper) => keeper.size(self),
            None => (0, 0, 0),
        }
    }

    fn take_echo(&mut self) -> Vec<Event> {
        mem::take(self.echo.get_mut())
    }

    #[inline(always)]
    fn detach(&mut self, entity: Entity) -> u64 {
        if self.tag.is_journaled {
            return self.detach_journaled(entity);
        }
        match self.cell.get_mut().take(entity) {
            Some(value) if mem::needs_drop::<T>() => {
                self.limbo.push(value);
                self.tag.bit
            }
            _ => 0,
        }
    }

    fn detach_all(&mut self, entities: &[Entity]) -> u64 {
        self.read_ahead(entities);
        let mut waiting = 0;
        for &entity in entities {
            waiting |= self.detach(entity);
        }
        waiting
    }

    fn read_ahead(&mut self, entities: &[Entity]) {
        self.cell.get_mut().set().read_ahead(entities);
    }

    fn bury(&mut self) {
        // Emptied before the first drop, which may unwind; the rest is dropped on the way out.
        let _overtaken = mem::take(&mut self.overtaken);
        self.limbo.clear();
    }

    fn forget_entities(&mut self) {
        self.cell.get_mut().forget_entities();
    }

    fn drop_values(&mut self) {
        let _overtaken = mem::take(&mut self.overtaken);
        self.cell.get_mut().drop_values();
    }
}
