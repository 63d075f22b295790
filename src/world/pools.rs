//! The pools of a world, by type and in order of their creation.

#![allow(unsafe_code, reason = "goes from a type index to the pool of that type without asking")]

use std::any::{TypeId, type_name};
use std::fmt;
use std::mem;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::clock::Clock;
use super::codes::{self, BITS, Candidates};
use super::homes::Homes;
use super::pool_box::{Answers, AnyPool, PoolBox};
use super::react::{Extras, Notes};
use super::tag::{ComponentId, Tag};
use crate::component::{Component, TypeIndex, TypeSlot};
use crate::entity::Entity;
use crate::group::{Family, Groups};
use crate::storage::{AnyMap, EntityMap};
use crate::tick::Tick;

/// All pools.
///
/// # Invariants
/// - **C2** – the pointer at a type index in `by_type` leads to the `PoolBox` of just that type:
///   only `create` puts one there.
/// - **C3** – a pointer in `list` comes from a box and owns it; what `by_type` has leads to the
///   same boxes. They live as long as the `Pools`, and whoever wants a pool borrows the `Pools`
///   in the same way.
/// - **C4** – `shown` is not more than the length of `by_type`, which never gets shorter.
#[derive(Default)]
pub(crate) struct Pools {
    /// The pool of each component id.
    pub(super) list: Vec<NonNull<dyn AnyPool>>,
    /// The pool of each type index; `None` for a type without one. Not through `list`, because
    /// each step on the way to a pool is paid for by every insert and remove.
    by_type: Vec<Option<NonNull<u8>>>,
    pub(crate) groups: Groups,
    /// Where entities belong.
    pub(crate) homes: Homes,
    pub(crate) clock: Clock,
    /// Dead entities whose values are still in pools, and in which, as bits; see `remains.rs`.
    pub(super) remains: Mutex<Vec<(Entity, u64)>>,
    /// How much of `by_type` is looked into without asking for remains: nothing while there are some (R1), else all. So who
    /// looks for a pool asks one thing only.
    pub(super) shown: AtomicUsize,
    /// What was noted at the gate, and for whom.
    pub(crate) notes: Notes,
    /// Whether anybody listens to a removal.
    pub(crate) hears_removal: bool,
    /// Whether something is to be done before components go: listeners are told, or values copied.
    pub(crate) prepares_removal: bool,
    /// Whether a despawn needs more than the pools and groups.
    pub(crate) death_needs_care: bool,
    /// Whether anybody listens to a pool or reads its removals, or has since the last refresh.
    pub(crate) is_heard: bool,
    /// Whether anybody listens to a spawn.
    pub(crate) hears_spawn: bool,
}

/// The pools without their groups, for these to touch.
pub(crate) struct PoolFamily<'a> {
    list: &'a mut [NonNull<dyn AnyPool>],
}

impl PoolFamily<'_> {
    fn tag(&self, component: u32) -> &Tag {
        // SAFETY: owned by the list, and borrowed as `self` is (C3).
        unsafe { self.list[component as usize].as_ref() }.tag()
    }
}

impl Family for PoolFamily<'_> {
    #[inline]
    fn map(&mut self, component: u32) -> &mut dyn AnyMap {
        // SAFETY: owned by the list, and borrowed as `self` is (C3).
        unsafe { self.list[component as usize].as_mut() }.map_mut()
    }

    #[inline]
    fn bring(&mut self, component: u32, entity: Entity, to: usize) {
        // SAFETY: owned by the list, and borrowed as `self` is (C3).
        unsafe { self.list[component as usize].as_mut() }.bring(entity, to);
    }

    fn has(&mut self, component: u32, entity: Entity) -> bool {
        self.map(component).contains(entity)
    }
}

/// A pool that was found, and all of them, so that it need not be found again.
pub(crate) struct Found<'a, T: Component> {
    /// Leads to one of `pools`.
    pool: NonNull<PoolBox<T>>,
    pools: &'a mut Pools,
}

impl<'a, T: Component> Found<'a, T> {
    #[inline(always)]
    pub(crate) fn pool(&mut self) -> &mut PoolBox<T> {
        // SAFETY: it is one of `pools` (C2), which are borrowed uniquely (C3).
        unsafe { self.pool.as_mut() }
    }

    /// The tick of what is done now.
    #[inline(always)]
    pub(crate) fn now(&self) -> Tick {
        self.pools.clock.now
    }

    pub(crate) fn pools(self) -> &'a mut Pools {
        self.pools
    }

    pub(crate) fn pools_mut(&mut self) -> &mut Pools {
        self.pools
    }

    /// The pool, the groups, and the other pools for these to touch.
    #[inline(always)]
    pub(crate) fn split(&mut self) -> (&mut PoolBox<T>, &mut Groups, OtherPools<'_>) {
        // SAFETY: as in `pool`; `OtherPools` never lends this one.
        let pool = unsafe { self.pool.as_mut() };
        let others = OtherPools { list: &mut self.pools.list, except: pool.tag.id.index() as u32 };
        (pool, &mut self.pools.groups, others)
    }
}

/// All pools but one, which somebody else has borrowed.
pub(crate) struct OtherPools<'a> {
    list: &'a mut [NonNull<dyn AnyPool>],
    except: u32,
}

impl OtherPools<'_> {
    #[inline]
    fn at(&mut self, component: u32) -> &mut dyn AnyPool {
        assert!(component != self.except, "it is borrowed");
        // SAFETY: owned by the list, borrowed as `self` is (C3), and not the one that is left out.
        unsafe { self.list[component as usize].as_mut() }
    }
}

impl Family for OtherPools<'_> {
    fn map(&mut self, component: u32) -> &mut dyn AnyMap {
        self.at(component).map_mut()
    }

    #[inline]
    fn bring(&mut self, component: u32, entity: Entity, to: usize) {
        self.at(component).bring(entity, to);
    }

    fn has(&mut self, component: u32, entity: Entity) -> bool {
        self.map(component).contains(entity)
    }
}

/// Lends pools one after the other, each once, for as long as all of them are borrowed.
pub(crate) struct Lender<'w> {
    pools: &'w mut Pools,
    lent: Vec<NonNull<u8>>,
}

impl<'w> Lender<'w> {
    /// The tick of what is done now.
    pub(crate) fn now(&self) -> Tick {
        self.pools.clock.now
    }

    /// The pool of `T`.
    ///
    /// # Panics
    /// If there is none, or it is lent already.
    pub(crate) fn lend<T: Component>(&mut self) -> &'w mut PoolBox<T> {
        let mut pool = self.pools.find::<T>().expect("the pool is made before it is lent");
        assert!(!self.lent.contains(&pool.cast()), "a pool is lent once");
        self.lent.push(pool.cast());
        // SAFETY: it leads to a `PoolBox<T>` (C2), one of `pools`, which are borrowed uniquely for `'w` (C3) and
        // touched by nobody but this; it is lent once.
        unsafe { pool.as_mut() }
    }
}

impl fmt::Debug for Lender<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lender").field("lent", &self.lent.len()).finish_non_exhaustive()
    }
}

// SAFETY: the pools are owned (C3), and a pool is `Send` and `Sync`.
unsafe impl Send for Pools {}
// SAFETY: as above.
unsafe impl Sync for Pools {}

impl Drop for Pools {
    fn drop(&mut self) {
        let owned = mem::take(&mut self.list).into_iter();
        // SAFETY: they come from boxes and are owned by `list` (C3), which is empty now; nobody
        // looks into `by_type` any more.
        let boxes: Vec<Box<dyn AnyPool>> =
            owned.map(|pool| unsafe { Box::from_raw(pool.as_ptr()) }).collect();
        // As a vector, so that the rest is dropped if one of them unwinds.
        drop(boxes);
    }
}

impl Pools {
    #[inline]
    pub(crate) fn get<T: Component>(&self) -> Option<&PoolBox<T>> {
        let pool = self.find_shown::<T>()?;
        // SAFETY: it leads to a `PoolBox<T>` (C2) that lives as long as `self` and is borrowed as
        // `self` is (C3).
        Some(unsafe { pool.as_ref() })
    }

    #[inline]
    pub(crate) fn get_mut<T: Component>(&mut self) -> Option<&mut PoolBox<T>> {
        let mut pool = self.find_shown::<T>()?;
        // SAFETY: as in `get`.
        Some(unsafe { pool.as_mut() })
    }

    #[inline]
    pub(crate) fn get_or_create<T: Component>(&mut self) -> &mut PoolBox<T> {
        self.clear();
        let mut pool = self.find_or_create::<T>();
        // SAFETY: as in `get`.
        unsafe { pool.as_mut() }
    }

    /// The pool of `T` beside all others, if there is one. It may have remains.
    #[inline(always)]
    pub(crate) fn found<T: Component>(&mut self) -> Option<Found<'_, T>> {
        // Not by `map`, which is a call in debug builds.
        match self.find::<T>() {
            Some(pool) => Some(Found { pool, pools: self }),
            None => None,
        }
    }

    /// The pool of `T` beside all others. It may have remains.
    #[inline(always)]
    pub(crate) fn found_or_created<T: Component>(&mut self) -> Found<'_, T> {
        let pool = self.find_or_create::<T>();
        Found { pool, pools: self }
    }

    #[inline(always)]
    fn find_or_create<T: Component>(&mut self) -> NonNull<PoolBox<T>> {
        match self.find::<T>() {
            Some(pool) => pool,
            None => self.create::<T>(),
        }
    }

    /// Where the pool of `T` lies, which has no remains then.
    #[inline(always)]
    #[expect(clippy::manual_map, reason = "a closure is a call in debug builds")]
    fn find_shown<T: Component>(&self) -> Option<NonNull<PoolBox<T>>> {
        let (index, shown) = (index_of::<T>(), self.shown.load(Ordering::Acquire));
        debug_assert!(shown <= self.by_type.len(), "C4");
        // SAFETY: there are so many (C4).
        let shown = unsafe { self.by_type.get_unchecked(..shown) };
        let pool = if index < shown.len() { shown[index] } else { self.find_hidden::<T>() };
        match pool {
            Some(pool) => Some(pool.cast()),
            None => None,
        }
    }

    /// As `find_shown`, where there are remains, or for a type that this process may not have numbered.
    #[cold]
    #[inline(never)]
    fn find_hidden<T: Component>(&self) -> Option<NonNull<u8>> {
        self.clear();
        find_slowly::<T>(&self.by_type)
    }

    /// Where the pool of `T` lies, remains or not.
    #[inline(always)]
    fn find<T: Component>(&self) -> Option<NonNull<PoolBox<T>>> {
        find::<T>(&self.by_type)
    }

    /// The number of a component, if it has a pool.
    pub(super) fn id_of<T: Component>(&self) -> Option<usize> {
        // SAFETY: as in `get`; a tag is not what remains are in.
        self.find::<T>().map(|pool| unsafe { &(*pool.as_ptr()).tag }.id.index())
    }

    /// Whether some types share bits of signatures (`codes.rs`).
    #[inline(always)]
    pub(super) fn has_codes(&self) -> bool {
        self.list.len() > BITS
    }

    /// Whether a pointer leads to a pool of this type: C2 and C3, for the check in `create`. Not
    /// for one in `find`: a debug build would look through all pools at every insert.
    fn is_of<T: Component>(&self, pool: NonNull<u8>) -> bool {
        let known = self.list.iter().find(|known| known.cast() == pool);
        // SAFETY: owned by `list`, and borrowed as `self` is (C3); its type is not what remains are in.
        known.is_some_and(|known| unsafe { known.as_ref() }.component_type() == TypeId::of::<T>())
    }

    #[cold]
    #[inline(never)]
    fn create<T: Component>(&mut self) -> NonNull<PoolBox<T>> {
        // All code of the user's first: it may unwind.
        let index = T::type_slot().map_or_else(TypeIndex::of, TypeSlot::get).get();
        let (answers, map) = (Answers::ask(), EntityMap::default());
        let (tag, extras) = (self.next_tag(), answers.extras);
        let pool = self.enter(Box::new(PoolBox::<T>::new(tag, answers, map)), index, extras).cast();
        debug_assert!(find::<T>(&self.by_type) == Some(pool) && self.is_of::<T>(pool.cast()), "C2");
        pool
    }

    /// The tag of the pool that is made next.
    fn next_tag(&mut self) -> Tag {
        let place = self.list.len();
        let number = u32::try_from(place).expect("fewer than 2^32 component types");
        let bits = codes::bits_of(place);
        if place < BITS {
            return Tag::new(ComponentId::new(number), bits, !bits);
        }
        // From here on a bit says "maybe" for the pool that had it alone, too.
        for id in (0..BITS).filter(|id| bits >> id & 1 == 1) {
            self.at_mut(id).tag_mut().keep = u64::MAX;
        }
        Tag::new(ComponentId::new(number), bits, u64::MAX)
    }

    /// Takes in a pool with the next tag. `index` is that of its type (C2).
    ///
    /// What knows no type is here and in `next_tag`, and compiled once, not for every component.
    fn enter(
        &mut self,
        pool: Box<dyn AnyPool>,
        index: usize,
        extras: &Extras,
    ) -> NonNull<dyn AnyPool> {
        let number = self.list.len() as u32;
        let pool = NonNull::from(Box::leak(pool));
        if self.by_type.len() <= index {
            let is_shown = !self.has_remains();
            self.by_type.resize(index + 1, None);
            if is_shown {
                *self.shown.get_mut() = self.by_type.len();
            }
        }
        self.list.push(pool);
        self.by_type[index] = Some(pool.cast());
        for (what, hook) in extras.hooks() {
            _ = self.notes.signals.connect(what, number, Box::new(hook));
        }
        let shared = number as usize >= BITS;
        if shared {
            let (groups, family) = self.split();
            groups.read_bits(|id| family.tag(id).bit());
        }
        if shared || extras.hooks().next().is_some() || !extras.require.is_empty() {
            self.mark_care();
        }
        pool
    }

    /// Lends the pools one by one, side by side.
    pub(crate) fn lender(&mut self) -> Lender<'_> {
        self.clear();
        Lender { pools: self, lent: Vec::new() }
    }

    /// The groups, and the pools for them to touch.
    #[inline]
    pub(crate) fn split(&mut self) -> (&mut Groups, PoolFamily<'_>) {
        self.clear();
        self.split_with_remains()
    }

    /// As `split`, also if there are remains: no pool of a group has some.
    #[inline]
    pub(super) fn split_with_remains(&mut self) -> (&mut Groups, PoolFamily<'_>) {
        (&mut self.groups, PoolFamily { list: &mut self.list })
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    #[inline(always)]
    pub(super) fn by_type_len(&self) -> usize {
        self.by_type.len()
    }

    /// The pool of a component id, which must exist.
    #[inline]
    pub(crate) fn at(&self, id: usize) -> &dyn AnyPool {
        self.clear();
        // SAFETY: owned by `list`, and borrowed as `self` is (C3).
        unsafe { self.list[id].as_ref() }
    }

    /// The pool of a component id, which may be that of another world.
    pub(crate) fn find_by_id(&self, id: ComponentId) -> Option<&dyn AnyPool> {
        (id.index() < self.len()).then(|| self.at(id.index()))
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, id: usize) -> &mut dyn AnyPool {
        self.clear();
        self.at_mut_with_remains(id)
    }

    /// As `at_mut`, also if it has remains.
    #[inline]
    pub(super) fn at_mut_with_remains(&mut self, id: usize) -> &mut dyn AnyPool {
        // SAFETY: owned by `list`, and borrowed as `self` is (C3).
        unsafe { self.list[id].as_mut() }
    }

    /// The pools of these component ids, which must exist and differ.
    #[cfg(feature = "serde")]
    pub(crate) fn at_each_mut(&mut self, ids: &[ComponentId]) -> Vec<&mut dyn AnyPool> {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]), "a pool is lent once");
        self.clear();
        let lent = |id: &ComponentId| {
            let mut pool = self.list[id.index()];
            // SAFETY: owned by `list`, borrowed as `self` is (C3), and no id occurs twice.
            unsafe { pool.as_mut() }
        };
        ids.iter().map(lent).collect()
    }

    /// Where entities belong, and the pool of a component id.
    pub(crate) fn homes_and(&mut self, id: usize) -> (&mut Homes, &mut dyn AnyPool) {
        self.clear();
        // SAFETY: owned by `list`, and borrowed as `self` is (C3).
        (&mut self.homes, unsafe { self.list[id].as_mut() })
    }

    /// The pools in order of creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn AnyPool> {
        (0..self.len()).map(|id| self.at(id))
    }

    /// Ids of the pools that may hold an entity with this signature.
    ///
    /// Exact while there are no more pools than bits.
    #[inline]
    pub(crate) fn candidates(signature: u64, pools: usize) -> Candidates {
        Candidates::new(signature, pools)
    }
}

/// The type index of a component. A number that is not known yet is out of bounds; `find_slowly` asks for it.
#[inline(always)]
fn index_of<T: Component>() -> usize {
    match T::type_slot() {
        Some(slot) => slot.number(),
        None => TypeIndex::<T>::of().get(),
    }
}

/// Where the pool of `T` lies, by what `Pools::by_type` says.
#[inline(always)]
#[expect(clippy::manual_map, reason = "a closure is a call in debug builds")]
fn find<T: Component>(by_type: &[Option<NonNull<u8>>]) -> Option<NonNull<PoolBox<T>>> {
    let index = index_of::<T>();
    let pool = if index < by_type.len() { by_type[index] } else { find_slowly::<T>(by_type) };
    match pool {
        Some(pool) => Some(pool.cast()),
        None => None,
    }
}

/// As `find`, for a type that this process may not have numbered.
#[cold]
#[inline(never)]
fn find_slowly<T: Component>(by_type: &[Option<NonNull<u8>>]) -> Option<NonNull<u8>> {
    let index = T::type_slot().map_or_else(TypeIndex::of, TypeSlot::get).get();
    *by_type.get(index)?
}

impl fmt::Debug for Pools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|pool| pool.name())).finish()
    }
}

/// The name under which messages speak of a type.
pub(crate) fn name_of<T>() -> &'static str {
    type_name::<T>()
}
