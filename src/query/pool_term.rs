//! The terms `&T` and `&mut T`: values of a pool.

#![allow(unsafe_code, reason = "lends values of several entities at once")]

use std::fmt;
use std::ptr;

use super::opening::Opening;
use super::survey::{Column, NO_ORDER, Role, Surveyor, UNKNOWN};
use super::term::{QueryData, Row, Sealed};
use crate::access::{Key, Usage};
use crate::cell::{Edit, Read};
use crate::component::{Component, MutOf, TrackingOf};
use crate::entity::Entity;
use crate::sparse::{Finder, SlotRow, common_prefix};
use crate::storage::{EntityMap, Ref, Storage, Tracking, WithTicks};
use crate::tick::Span;
use crate::world::BorrowConflict;

type Map<T> = EntityMap<T, <T as Component>::Storage>;

/// A guard on a pool, and the number of its component; nothing for a pool that does not exist.
pub struct PoolFetch<G> {
    pool: Option<(u32, G)>,
}

/// What such a guard lends.
pub struct PoolView<'a, T: Component> {
    map: Option<&'a Map<T>>,
    /// Where the values lie, read once: nothing can move them while the guard is held.
    base: *mut T,
    id: u32,
    /// Entities at the front that lie at the same positions in the driver, by what groups say (G1).
    aligned: u32,
    marks: Marks<'a, T>,
}

type Marks<'a, T> = <TrackingOf<T> as Tracking>::Marks<'a>;

/// What is read to find an entity in a pool.
pub struct PoolSearch<'a, T: Component> {
    finder: Option<Finder<'a, <T::Storage as Storage<T>>::Map>>,
    entities: &'a [Entity],
    aligned: usize,
}

/// The values of a stretch.
pub struct PoolCursor<'a, T: Component> {
    /// The first value, if the storage is contiguous.
    first: *mut T,
    /// Otherwise: the storage, and where to look.
    values: &'a T::Storage,
    at: usize,
    entities: *const Entity,
    marks: Marks<'a, T>,
}

impl<T: Component> Clone for PoolView<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Component> Copy for PoolView<'_, T> {}

impl<T: Component> Clone for PoolSearch<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Component> Copy for PoolSearch<'_, T> {}

// SAFETY: a view is a shared reference to a map, whose values are `Send` and `Sync`; the pointer
// leads into it.
unsafe impl<T: Component> Send for PoolView<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Component> Sync for PoolView<'_, T> {}

impl<T: Component> Clone for PoolCursor<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Component> Copy for PoolCursor<'_, T> {}

impl<'a, T: Component> PoolView<'a, T> {
    // By `match` and always inlined, as all that a look-up goes through: a debug build makes every
    // call and every closure.
    #[inline(always)]
    fn new(id: u32, map: &'a Map<T>, span: Span) -> Self {
        let marks = TrackingOf::<T>::marks(map.storage().ticks(), span);
        Self { map: Some(map), base: map.storage().base(), id, aligned: 0, marks }
    }

    /// The view of a component that the world does not know.
    #[inline(always)]
    fn unknown(span: Span) -> Self {
        let marks = TrackingOf::<T>::marks(None, span);
        Self { map: None, base: ptr::dangling_mut(), id: UNKNOWN, aligned: 0, marks }
    }

    #[inline(always)]
    fn entities(&self) -> &'a [Entity] {
        match self.map {
            Some(map) => map.entities(),
            None => &[],
        }
    }

    #[inline(always)]
    fn column(self) -> Column<'a> {
        let (stamp, order, rows) = match self.map {
            Some(map) => (map.set().stamp(), map.set().order(), map.set().rows()),
            None => (0, &NO_ORDER, None),
        };
        let (id, entities) = (self.id, self.entities());
        Column { role: Role::Fetched, id, stamp, order, entities, rows, key: Key::of::<T> }
    }

    #[inline(always)]
    #[expect(clippy::manual_map, reason = "a closure is a call in debug builds")]
    fn search(&self) -> PoolSearch<'a, T> {
        let finder = match self.map {
            Some(map) => Some(map.set().finder()),
            None => None,
        };
        PoolSearch { finder, entities: self.entities(), aligned: self.aligned as usize }
    }

    /// # Safety
    /// As [`QueryData::cursor`].
    #[inline(always)]
    unsafe fn cursor(&self, place: u32, entities: *const Entity) -> PoolCursor<'a, T> {
        let at = place as usize;
        debug_assert!(at < self.entities().len(), "S1");
        // SAFETY: a place was found in a map, so there is one.
        let map = unsafe { self.map.unwrap_unchecked() };
        let first = if T::Storage::CONTIGUOUS { self.base.wrapping_add(at) } else { self.base };
        PoolCursor { first, values: map.storage(), at, entities, marks: self.marks }
    }
}

impl<T: Component> PoolSearch<'_, T> {
    #[inline(always)]
    fn seek(&self, row: Row) -> (u32, bool) {
        let (at, is_there) = match (row.position_in(self.entities, self.aligned), &self.finder) {
            (Some(at), _) => (at as u32, true),
            (None, Some(finder)) => finder.seek(row.entity),
            (None, None) => (0, false),
        };
        debug_assert!(!is_there || self.entities[at as usize].raw() == row.entity.raw());
        (at, is_there)
    }

    #[inline]
    fn extend(self, place: u32, entities: &[Entity]) -> usize {
        let at = place as usize;
        // A place in front of `aligned` is one of the driver: it was found there.
        let known = self.aligned.saturating_sub(at).min(entities.len());
        known + common_prefix(&self.entities[at + known..], &entities[known..])
    }
}

impl<'a, T: Component> PoolCursor<'a, T> {
    /// What is lent to who may change the `nth` value.
    #[inline(always)]
    fn lend(&self, nth: usize, value: &'a mut T) -> MutOf<'a, T> {
        TrackingOf::<T>::lend(value, self.marks, self.at + nth)
    }

    /// Says that the values of a stretch are changed.
    #[inline(always)]
    pub(super) fn mark(self, len: usize) {
        TrackingOf::<T>::mark(self.marks, self.at, len);
    }
}

impl<'a, T: Component> PoolCursor<'a, T>
where
    T::Storage: Storage<T, Tracking = WithTicks>,
{
    /// The `nth` value, with what is known of its changes.
    #[inline]
    fn note(&self, nth: usize, value: &'a T) -> Ref<'a, T> {
        Ref::new(value, self.marks, self.at + nth)
    }
}

impl<T: Component> PoolCursor<'_, T> {
    /// # Safety
    /// As [`QueryData::item`].
    #[inline(always)]
    unsafe fn value(&self, nth: usize) -> *mut T {
        if T::Storage::CONTIGUOUS {
            // SAFETY: the stretch is longer than `nth` and lies in one slice (P1).
            let value = unsafe { self.first.add(nth) };
            // So that an `Option` of it costs no comparison. In debug builds it would be one.
            if cfg!(not(debug_assertions)) {
                // SAFETY: it is the address of a value.
                unsafe { std::hint::assert_unchecked(!value.is_null()) };
            }
            return value;
        }
        let entity = self.entities.wrapping_add(nth);
        // SAFETY: the stretch is longer than `nth`, and its entities are readable.
        let entity = unsafe { *entity };
        // SAFETY: the entities of a stretch follow each other in this pool, too: compared, or by A1, G1 or S6.
        unsafe { self.values.ptr(self.at + nth, entity) }
    }

    /// The values of a stretch as a slice.
    #[inline]
    pub(super) fn as_ptr(self) -> *mut T {
        const {
            assert!(
                T::Storage::CONTIGUOUS,
                "the values of this storage make no slice: use `iter` or `for_each` instead of `runs`"
            );
        }
        self.first
    }
}

/// `QueryData` for both references; they differ in the guard and in what they lend.
macro_rules! pool_term {
    (
        $term:ty, [$($bound:tt)*], $item:ty, $read_item:ty, $guard:ident, $take:ident,
        $access:expr, $cursor:ident $nth:ident $value:ident, $lend:expr, $lend_read:expr
    ) => {
        impl<T: Component> Sealed for $term where $($bound)* {}

        // SAFETY: distinct entities have distinct positions (S1), which are distinct memory (P2).
        // A position is that of its entity as long as the guard is held; those behind it follow
        // as far as the packed arrays are equal.
        unsafe impl<T: Component> QueryData for $term
        where
            $($bound)*
        {
            type Item<'a> = $item;
            type ReadItem<'a> = $read_item;
            type Fetch<'w> = PoolFetch<$guard<'w, Map<T>>>;
            type View<'a> = PoolView<'a, T>;
            type Search<'a> = PoolSearch<'a, T>;
            type Place = u32;
            type Cursor<'a> = PoolCursor<'a, T>;

            const COLUMNS: usize = 1;
            const NICHE: bool = true;
            const IS_CLOSED: bool = true;
            const PROVES_LIFE: bool = true;

            #[inline(always)]
            fn uses(see: &mut impl FnMut(Key, Usage)) {
                see(Key::of::<T>(), $access);
            }

            #[inline]
            #[track_caller]
            fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
                let Some(pool) = opening.world.pool_box::<T>() else { return Ok(PoolFetch { pool: None }) };
                let guard = opening.$take(&pool.cell).map_err(BorrowConflict::of::<T>)?;
                Ok(PoolFetch { pool: Some((pool.tag.id.index() as u32, guard)) })
            }

            #[inline(always)]
            fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a> {
                match &fetch.pool {
                    Some((id, guard)) => PoolView::new(*id, guard, span),
                    None => PoolView::unknown(span),
                }
            }

            #[inline(always)]
            fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>) {
                survey.column(view.column());
            }

            #[inline]
            fn aligned<'a>(view: Self::View<'a>, known: &dyn Fn(u32) -> usize) -> Self::View<'a> {
                PoolView { aligned: known(view.id) as u32, ..view }
            }

            #[inline(always)]
            fn slots(view: Self::View<'_>) -> Option<SlotRow<'_>> {
                view.map?.set().slot_row()
            }

            #[inline(always)]
            fn search(view: Self::View<'_>) -> Self::Search<'_> {
                view.search()
            }

            #[inline(always)]
            fn seek(search: Self::Search<'_>, row: Row) -> (u32, bool) {
                search.seek(row)
            }

            #[inline(always)]
            fn seek_near(search: Self::Search<'_>, row: Row, near: u32) -> (u32, bool) {
                match search.entities.get(near as usize) {
                    Some(there) if there.raw() == row.entity.raw() => (near, true),
                    _ => search.seek(row),
                }
            }

            #[inline]
            fn is_same(a: u32, b: u32) -> bool {
                a == b
            }

            #[inline]
            fn step(place: u32, by: usize) -> u32 {
                place + by as u32
            }

            #[inline]
            fn extend(search: Self::Search<'_>, place: u32, entities: &[Entity]) -> usize {
                search.extend(place, entities)
            }

            #[inline]
            fn load(numbers: &[u32]) -> u32 {
                numbers[0]
            }

            #[inline(always)]
            unsafe fn cursor<'a>(
                view: Self::View<'a>,
                place: u32,
                entities: *const Entity,
            ) -> Self::Cursor<'a> {
                // SAFETY: promised by the caller.
                unsafe { view.cursor(place, entities) }
            }

            #[inline(always)]
            unsafe fn lone<'a>(
                fetch: &'a Self::Fetch<'_>,
                span: Span,
                entity: *const Entity,
            ) -> Option<Self::Cursor<'a>> {
                let (id, guard) = fetch.pool.as_ref()?;
                let map: &Map<T> = guard;
                // SAFETY: promised by the caller.
                let at = map.set().position(unsafe { *entity })?;
                // SAFETY: it is the place of this entity.
                Some(unsafe { PoolView::new(*id, map, span).cursor(at as u32, entity) })
            }

            #[inline(always)]
            unsafe fn item<'a>($cursor: &Self::Cursor<'a>, $nth: usize) -> $item {
                // SAFETY: promised by the caller.
                let $value = unsafe { $cursor.value($nth) };
                // SAFETY: initialised (P1); the guard keeps others out (B1), and the caller uses
                // no other item of this entity.
                unsafe { $lend }
            }

            #[inline(always)]
            unsafe fn read<'a>($cursor: &Self::Cursor<'a>, $nth: usize) -> $read_item {
                // SAFETY: promised by the caller.
                let $value = unsafe { $cursor.value($nth) };
                // SAFETY: as in `item`; nobody writes.
                unsafe { $lend_read }
            }
        }
    };
}

pool_term!(
    &T, [], &'a T, &'a T, Read, read,
    Usage::Read, cursor nth value, &*value, &*value
);
pool_term!(
    &mut T, [], MutOf<'a, T>, &'a T, Edit, edit,
    Usage::Write, cursor nth value, cursor.lend(nth, &mut *value), &*value
);
pool_term!(
    Ref<'_, T>, [T::Storage: Storage<T, Tracking = WithTicks>], Ref<'a, T>, Ref<'a, T>, Read, read,
    Usage::Read, cursor nth value, cursor.note(nth, &*value), cursor.note(nth, &*value)
);

impl<G> fmt::Debug for PoolFetch<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolFetch").finish_non_exhaustive()
    }
}

impl<T: Component> fmt::Debug for PoolSearch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolSearch").field("len", &self.entities.len()).finish_non_exhaustive()
    }
}

impl<T: Component> fmt::Debug for PoolView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolView").field("len", &self.entities().len()).finish_non_exhaustive()
    }
}

impl<T: Component> fmt::Debug for PoolCursor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolCursor").field("at", &self.at).finish_non_exhaustive()
    }
}
