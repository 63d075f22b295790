//! The state of a whole world: who lives, and what the pools hold. Taken out and put in.
//!
//! Values that arrive lie in maps of their own, complete, before the world is touched; then it is
//! emptied, the book of ids and the maps are exchanged, the groups are filled again, and listeners
//! are told. Between the exchange of the books and the last map no code of the user's runs, and nothing
//! can fail: all types are asked for their pools before (`prepare`).

use std::any::{Any, TypeId};
use std::mem;

use super::funeral::Funeral;
use super::homes::Homes;
use super::pool_box::{AnyPool, Map};
use super::react::{Event, What};
use super::{ComponentId, Sorted, World};
use crate::component::Component;
use crate::entity::{Entities, Entity, OutOfEntities};
use crate::group::GroupNumber;
use crate::tick::Tick;

/// The values of one component on their way into a world.
pub(crate) trait Incoming {
    fn entities(&self) -> &[Entity];

    /// Finds their pool, or has it made; they count as added at `added`, if it is given. Does all that may unwind.
    fn prepare(&mut self, world: &mut World, added: Option<Tick>) -> ComponentId;

    /// Puts the values into their pool, which is empty, and returns the map that was there.
    fn put(self: Box<Self>, home: Home<'_>) -> Box<dyn Any>;
}

/// The values of one component that return to where they were.
pub(crate) trait Returning: Send {
    fn entities(&self) -> &[Entity];

    /// Finds their pool, or has it made. Does all that may unwind.
    fn prepare(&mut self, world: &mut World, by: Return) -> ComponentId;

    /// Changes places with what is there. Nobody else is concerned, so it may be done on any thread.
    fn exchange(&mut self, by: Return, home: Home<'_>);
}

/// The pool of values that come, found before anything is changed.
pub(crate) struct Home<'a>(&'a mut dyn AnyPool);

impl<'a> Home<'a> {
    /// Its map, if it is that of `T`.
    pub(crate) fn map<T: Component>(self) -> Option<&'a mut Map<T>> {
        self.0.any_map_mut().downcast_mut()
    }
}

/// A way back of a world.
#[derive(Clone, Copy)]
pub(crate) struct Return {
    /// The number of the world.
    pub(crate) world: u64,
    /// How much later everything happened than when it did.
    pub(crate) later: u64,
    pub(crate) now: Tick,
}

/// The entities of a world that is being filled.
struct Signing<'w> {
    entities: &'w mut Entities,
    /// Whether the entities have signed for what they have, with the bits that these components have here.
    is_signed: bool,
    /// Signature bits of what has come, and of that what everybody has.
    signed: u64,
    everybody: u64,
}

/// What becomes of the ticks of values that arrive.
#[derive(Clone, Copy)]
enum Arriving {
    /// They were added just now.
    New,
    /// They are right.
    Same,
}

/// Where the members of groups are.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupRecord {
    /// The world that it is of, and how often its groups had changed; none in particular if it comes from
    /// a file.
    of: Option<(u64, u64)>,
    /// Whether groups must be filled anew, because what they depend on may have been left out.
    is_doubtful: bool,
    /// How many entities at the front of its pools are members of each group that owns some.
    lens: Vec<(GroupNumber, usize)>,
    /// The members of groups that keep lists of their own, in order.
    lists: Vec<(GroupNumber, Vec<Entity>)>,
}

impl GroupRecord {
    /// Says that groups must be filled anew: what they depend on may have changed.
    pub(crate) fn doubt(&mut self) {
        self.is_doubtful = true;
    }
}

impl<'w> Signing<'w> {
    fn new(entities: &'w mut Entities, is_signed: bool) -> Self {
        Self { entities, is_signed, signed: 0, everybody: 0 }
    }

    /// Lets entities sign for a component that they have.
    fn sign(&mut self, entities: &[Entity], bit: u64) {
        self.signed |= bit;
        if entities.len() == self.entities.len() {
            // Everybody who lives has it: they sign all at once.
            self.everybody |= bit;
        } else if !self.is_signed {
            for &entity in entities {
                // It lives (W2).
                if let Some(word) = self.entities.word_mut(entity) {
                    *word |= bit;
                }
            }
        }
    }

    /// Lets everybody sign for what everybody has; components that were left out sign no more.
    fn sign_rest(self, groups: &GroupRecord) {
        if self.is_signed && !groups.is_doubtful {
            // Who was copied with all components has signed for just these.
            return;
        }
        let keep = if self.is_signed { self.signed } else { u64::MAX };
        self.entities.sign_all(keep, self.everybody);
    }
}

impl World {
    /// The book of ids.
    pub(crate) fn book(&self) -> &Entities {
        &self.entities
    }

    /// The ids that the next entities to be spawned will have.
    pub(crate) fn foresee_spawns(&self, count: usize) -> Result<Vec<Entity>, OutOfEntities> {
        let mut book = self.entities.copy();
        (0..count).map(|_| book.try_spawn()).collect()
    }

    /// Brings entities to life whose ids were [foreseen](Self::foresee_spawns).
    ///
    /// Listeners hear of them by [`tell_of_births`](Self::tell_of_births), so that what is done meanwhile is heard
    /// before. If it unwinds, they hear at the next [`settle`](Self::settle).
    pub(crate) fn bear_foreseen(&mut self, foreseen: impl IntoIterator<Item = Entity>) {
        for entity in foreseen {
            let born = self.entities.try_spawn();
            debug_assert_eq!(born, Ok(entity), "nothing was spawned since");
            self.note_born(entity);
        }
    }

    /// Like [`bear_foreseen`](Self::bear_foreseen), for ids that were demanded and found free.
    pub(crate) fn bear_demanded(&mut self, demanded: impl IntoIterator<Item = Entity>) {
        for entity in demanded {
            self.demand(entity).expect("the id was found free");
            self.note_born(entity);
        }
    }

    /// Lets listeners hear of entities that have come to life so.
    pub(crate) fn tell_of_births(&mut self, entities: impl IntoIterator<Item = Entity>) {
        for entity in entities {
            self.settle_one(entity);
        }
    }

    /// Remembers an entity of which listeners are to hear later.
    fn note_born(&mut self, entity: Entity) {
        if self.pools.hears_spawn {
            self.note_reserved(entity);
        }
    }

    /// Does several operations; listeners hear of them when all are done.
    pub(crate) fn all_at_once<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.batched(work)
    }

    /// The component types of the world in the order of their numbers, with their names and how
    /// many entities have them.
    pub(crate) fn component_types(&self) -> Vec<(TypeId, &'static str, usize)> {
        let pools = self.pools.iter();
        let len = |pool: &dyn AnyPool| pool.look().map_or(1, |map| map.entities().len());
        pools.map(|pool| (pool.component_type(), pool.name(), len(pool))).collect()
    }

    /// Lets the entities of a book, and their components, into a world that was [emptied](Self::depart).
    ///
    /// What comes is told to listeners.
    ///
    /// All that have a component live by that book: who has made the state has asked (W2). Bits of homes are the
    /// columns, which have the rows that belong to them.
    pub(crate) fn arrive(
        &mut self,
        book: Entities,
        mut columns: Vec<Box<dyn Incoming>>,
        groups: &GroupRecord,
        homes: Option<Homes>,
    ) {
        // For types that cannot have a pool, while the world is as it was.
        let prepared = columns.iter_mut().map(|column| column.prepare(self, None).index());
        let ids: Vec<usize> = prepared.collect();
        let mut owners = columns.iter().flat_map(|column| column.entities());
        debug_assert!(owners.all(|&entity| book.is_alive(entity)), "W2");
        self.restore_sorted(&Sorted::default());
        let gone = self.exchange(book, columns, Arriving::New, false, groups);
        match homes.map(|homes| homes.renumbered(&ids, self.pools.len())) {
            Some(homes) => self.pools.homes = homes,
            // Rows are of no use without (A1).
            None => self.pools.dissolve(),
        }
        self.pools.find_heritable();
        drop(gone);
        self.fill_groups();
        self.order_groups(groups);
        self.tell_of_arrival();
        self.deliver();
    }

    /// As `arrive`, into the [twin](Self::twin) of the world that it is a copy of; nobody is told, and
    /// values keep their ticks.
    pub(crate) fn arrive_quietly(
        &mut self,
        book: Entities,
        columns: Vec<Box<dyn Incoming>>,
        groups: &GroupRecord,
    ) {
        // A twin has the same components under the same numbers.
        _ = self.exchange(book, columns, Arriving::Same, true, groups);
        self.restore_groups(groups);
    }

    /// Puts back what was there at a tick, as if nothing had happened since: nobody is told.
    ///
    /// The caller has settled: what listeners have to say comes before anything is exchanged.
    ///
    /// The clock goes on, because others remember its ticks; what is known of changes moves with it.
    /// Book, homes and columns become those that were there until now; `exchange` lets all columns do so.
    pub(crate) fn return_to(
        &mut self,
        at: Tick,
        (book, homes): (&mut Entities, &mut Homes),
        columns: Vec<&mut dyn Returning>,
        groups: &GroupRecord,
        exchange: impl FnOnce(Vec<(&mut dyn Returning, Home<'_>)>, Return),
    ) {
        self.pools.unmark_all();
        let now = self.tick();
        let later = now.get().saturating_sub(at.get());
        let by = Return { world: self.number(), later, now };
        let mut prepared = Vec::with_capacity(columns.len());
        for column in columns {
            prepared.push((column.prepare(self, by), column));
        }
        let returned: Vec<ComponentId> = prepared.iter().map(|(id, _)| *id).collect();
        // In another world other components may have the same bits.
        let is_home = groups.of.is_some_and(|(world, _)| world == self.number());
        let Self { entities, pools, .. } = self;
        // The columns bring the rows that belong to these homes (A1).
        mem::swap(&mut pools.homes, homes);
        let places = pools.at_each_mut(&returned).into_iter().map(Home);
        if !is_home {
            book.sign_all(0, 0);
        }
        mem::swap(entities, book);
        let mut signing = Signing::new(entities, is_home);
        let mut pairs = Vec::with_capacity(returned.len());
        for ((_, column), home) in prepared.into_iter().zip(places) {
            signing.sign(column.entities(), home.0.tag().bit);
            pairs.push((column, home));
        }
        signing.sign_rest(groups);
        exchange(pairs, by);
        if !is_home {
            // Blocks are of components by their numbers.
            self.pools.dissolve();
        }
        self.pools.find_heritable();
        self.pools.groups.clear_members();
        let is_left_out = |id: &usize| !returned.iter().any(|known| known.index() == *id);
        for id in (0..self.pools.len()).filter(is_left_out) {
            self.pools.at_mut(id).forget_entities();
        }
        if groups.of == Some((self.number(), self.group_changes())) {
            self.restore_groups(groups);
        } else {
            self.fill_groups();
            self.order_groups(groups);
        }
        Funeral::drop_forgotten(&mut self.pools);
    }

    /// `is_signed` says that the words of the book are those of this world; they are zero otherwise. Returns what is to
    /// be dropped when the books are right.
    fn exchange(
        &mut self,
        book: Entities,
        columns: Vec<Box<dyn Incoming>>,
        ticks: Arriving,
        is_signed: bool,
        groups: &GroupRecord,
    ) -> Vec<Box<dyn Any>> {
        let added = matches!(ticks, Arriving::New).then(|| self.tick());
        let mut prepared = Vec::with_capacity(columns.len());
        for mut column in columns {
            prepared.push((column.prepare(self, added), column));
        }
        let mut gone: Vec<Box<dyn Any>> = Vec::with_capacity(prepared.len());
        let Self { entities, pools, .. } = self;
        let past = mem::replace(entities, book);
        debug_assert!(past.is_empty());
        let mut signing = Signing::new(entities, is_signed);
        for (id, column) in prepared {
            let pool = pools.at_mut(id.index());
            debug_assert!(pool.map_mut().entities().is_empty());
            signing.sign(column.entities(), pool.tag().bit);
            gone.push(column.put(Home(pool)));
        }
        signing.sign_rest(groups);
        gone
    }

    /// Empties the world as by [`clear`](Self::clear), whatever listeners have to say.
    pub(crate) fn depart(&mut self) {
        self.settle();
        // What the commands of listeners have spawned goes, too; not for ever.
        for _ in 0..8 {
            self.clear();
            if self.is_empty() {
                return;
            }
        }
        let living: Vec<Entity> = self.entities().collect();
        self.held(|world| world.detach_all(living));
    }

    fn fill_groups(&mut self) {
        self.pools.groups.clear_members();
        let Self { entities, pools, .. } = self;
        for number in pools.groups.numbers().to_vec() {
            pools.fill_group(number, |entity| entities.word_mut(entity).map_or(0, |word| *word));
        }
    }

    fn tell_of_arrival(&mut self) {
        let Self { entities, pools, .. } = self;
        if pools.hears_spawn {
            for entity in entities.iter() {
                pools.notes.push(Event { what: What::Spawned, component: 0, entity });
            }
        }
        for component in 0..pools.len() as u32 {
            let pool = pools.at_mut(component as usize);
            if pool.tag().is_noted {
                let added = pool.map_mut().entities().to_vec();
                for entity in added {
                    pools.notes.push(Event { what: What::Added, component, entity });
                }
            }
        }
    }

    /// Where the members of all groups are.
    pub(crate) fn group_record(&self) -> GroupRecord {
        let mut record =
            GroupRecord { of: Some((self.number(), self.group_changes())), ..Default::default() };
        let groups = &self.pools.groups;
        for &number in groups.numbers() {
            // Somebody edits it: then it is filled again, as if nothing were known of it.
            let Some(Ok(group)) = groups.get(number).map(|entry| entry.group.try_read()) else {
                record.doubt();
                continue;
            };
            match group.owns_none() {
                true => record.lists.push((number, group.members().to_vec())),
                false => record.lens.push((number, group.len())),
            }
        }
        record
    }

    /// Says who is in the groups of pools that are as they were when this was recorded (G1).
    fn restore_groups(&mut self, record: &GroupRecord) {
        if record.is_doubtful {
            self.fill_groups();
            return self.order_groups(record);
        }
        self.pools.groups.clear_members();
        for &(number, len) in &record.lens {
            if let Some(group) = self.pools.groups.get_mut(number) {
                group.restore_len(len);
            }
        }
        for (number, members) in &record.lists {
            if let Some(group) = self.pools.groups.get_mut(*number) {
                group.members_mut().extend(members.iter().copied());
            }
        }
    }

    /// Brings the members of groups into this order, as far as they are the same.
    fn order_groups(&mut self, record: &GroupRecord) {
        for (number, members) in &record.lists {
            let Some(group) = self.pools.groups.get_mut(*number) else { continue };
            if !group.owns_none() || group.len() != members.len() {
                continue;
            }
            let set = group.members_mut();
            for (to, &entity) in members.iter().enumerate() {
                if let Some(at) = set.position(entity) {
                    set.swap(at, to);
                }
            }
        }
    }

    /// A world that knows the same components under the same numbers, and has the same groups.
    pub(crate) fn twin(&self) -> Self {
        let mut twin = Self::new();
        for pool in self.pools.iter() {
            pool.register_in(&mut twin.pools);
        }
        for condition in self.pools.groups.by_number() {
            twin.pools.groups.add_or_skip(condition);
        }
        twin.pools.clock = self.pools.clock;
        twin.pools.mark_care();
        twin
    }
}
