//! A sparse set and its values: what a pool is made of.

#![allow(unsafe_code, reason = "dereferences the pointers that storages hand out")]

use std::fmt;
use std::marker::PhantomData;

use super::{Packed, Storage, Tracking};
use crate::entity::{Entity, Newcomers};
use crate::sparse::SparseSet;
use crate::tick::{Span, Tick};

/// A map from entities to values in packed order.
///
/// The pools of a world are made of it. Alone it keeps data beside a world: scores, paths,
/// whatever only one part of a program cares about. The world does not know of such a map, so
/// values of dead entities stay until they are removed; they are never found by the id of a
/// successor.
///
/// # Examples
/// ```
/// # use esker::{World, storage::EntityMap};
/// let mut world = World::new();
/// let (a, b) = (world.spawn(()), world.spawn(()));
///
/// let mut scores: EntityMap<u32> = EntityMap::default();
/// scores.insert(a, 10);
/// scores.insert(b, 20);
/// assert_eq!(scores.insert(a, 11), Some(10));
/// assert_eq!(scores.as_slice(), [11, 20]);
/// assert_eq!(scores.remove(a), Some(11));
/// assert_eq!(scores.entities(), [b]);
/// ```
#[doc(alias = "SecondaryMap")]
pub struct EntityMap<T, S: Storage<T> = Packed<T>> {
    pub(super) set: SparseSet<S::Map>,
    pub(super) values: S,
    owns: PhantomData<T>,
}

impl<T, S: Storage<T>> Default for EntityMap<T, S> {
    fn default() -> Self {
        Self { set: SparseSet::default(), values: S::default(), owns: PhantomData }
    }
}

impl<T, S: Storage<T>> EntityMap<T, S> {
    /// The entities, in the order of their values.
    #[inline]
    pub fn entities(&self) -> &[Entity] {
        self.set.as_slice()
    }

    /// The set of entities that have a value.
    #[inline]
    pub fn set(&self) -> &SparseSet<S::Map> {
        &self.set
    }

    /// The storage of the values.
    #[inline(always)]
    pub fn storage(&self) -> &S {
        &self.values
    }

    /// The map of a set and its values, which come in the order of the set.
    pub(super) fn of_parts(set: SparseSet<S::Map>, values: Vec<T>) -> Self {
        let mut storage = S::default();
        if let Err(values) = storage.append(values) {
            for (&entity, value) in set.as_slice().iter().zip(values) {
                storage.push(entity, value);
            }
        }
        Self { set, values: storage, owns: PhantomData }
    }

    /// All values as a slice, if they make one.
    pub(crate) fn contiguous(&self) -> Option<&[T]> {
        // SAFETY: as in `as_slice`.
        S::CONTIGUOUS
            .then(|| unsafe { std::slice::from_raw_parts(self.values.base(), self.set.len()) })
    }

    /// The set and the storage, to be brought into the same state together (P1).
    pub(super) fn parts_mut(&mut self) -> (&mut SparseSet<S::Map>, &mut S) {
        (&mut self.set, &mut self.values)
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Whether `entity` has a value.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.set.contains(entity)
    }

    /// The value of `entity`.
    #[inline(always)]
    pub fn get(&self, entity: Entity) -> Option<&T> {
        let value = self.find(entity)?;
        // SAFETY: it is initialised (P1), and who writes values has the map to himself.
        Some(unsafe { &*value })
    }

    /// The value of `entity`, to be changed.
    #[inline]
    pub fn get_mut(&mut self, entity: Entity) -> Option<&mut T> {
        let at = self.set.position(entity)?;
        self.values.touch(at, 1);
        // SAFETY: `entity` is at position `at` (S1).
        let value = unsafe { self.values.ptr(at, entity) };
        // SAFETY: it is initialised (P1), and `&mut self` lets nobody else near.
        Some(unsafe { &mut *value })
    }

    /// As `get_mut`, with what is known of its changes; not yet changed.
    #[inline]
    pub(crate) fn lend(
        &mut self,
        entity: Entity,
        span: Span,
    ) -> Option<<S::Tracking as Tracking>::Mut<'_, T>>
    where
        T: Send + Sync,
    {
        let at = self.set.position(entity)?;
        let marks = S::Tracking::marks(self.values.ticks(), span);
        // SAFETY: `entity` is at position `at` (S1).
        let value = unsafe { self.values.ptr(at, entity) };
        // SAFETY: as in `get_mut`.
        Some(S::Tracking::lend(unsafe { &mut *value }, marks, at))
    }

    /// Sets the tick of what is done through `&mut self` from now on.
    #[inline(always)]
    pub(crate) fn set_now(&mut self, now: Tick) {
        self.values.set_now(now);
    }

    /// Where the value of `entity` lies.
    #[inline(always)]
    fn find(&self, entity: Entity) -> Option<*mut T> {
        let at = self.set.position(entity)?;
        // SAFETY: `entity` is at position `at` (S1).
        Some(unsafe { self.values.ptr(at, entity) })
    }

    /// Takes the value of `entity` out; the last value moves to its place.
    #[inline(always)]
    #[expect(clippy::question_mark, reason = "`?` is a call in debug builds")]
    pub fn remove(&mut self, entity: Entity) -> Option<T> {
        let Some(at) = self.set.remove(entity) else { return None };
        Some(self.values.swap_remove(at, entity))
    }

    /// As `remove`, for a function of its own: with no call on the way it saves no registers.
    #[inline(always)]
    pub(crate) fn take(&mut self, entity: Entity) -> Option<T> {
        match self.set.remove_from_row(entity) {
            Some(at) => Some(self.values.swap_remove(at?, entity)),
            None => self.take_anywhere(entity),
        }
    }

    /// As `take`, wherever slots lie.
    #[cold]
    #[inline(never)]
    fn take_anywhere(&mut self, entity: Entity) -> Option<T> {
        self.remove(entity)
    }

    /// Gives `entity`, which has none, a value at a position; what is there moves to the end.
    #[inline(always)]
    pub(crate) fn insert_at(&mut self, entity: Entity, value: T, at: usize) {
        let replaced = self.insert(entity, value);
        debug_assert!(replaced.is_none());
        if at + 1 != self.len() {
            self.bring(entity, at);
        }
    }

    /// Takes the value of `entity` out; the one at `through`, which is not in front of it, moves to
    /// its place, and the last one to that of `through`.
    #[inline(always)]
    pub(crate) fn remove_through(&mut self, entity: Entity, through: usize) -> Option<T> {
        if through + 1 == self.len() {
            return self.remove(entity);
        }
        let Some(at) = self.set.remove_in_row(entity, through) else {
            return self.remove_through_anywhere(entity, through);
        };
        if at != through {
            self.values.swap(at, through);
        }
        Some(self.values.swap_remove(through, entity))
    }

    /// As `remove_through`, wherever slots lie.
    #[cold]
    #[inline(never)]
    fn remove_through_anywhere(&mut self, entity: Entity, through: usize) -> Option<T> {
        let at = self.set.position(entity)?;
        self.swap(at, through);
        self.remove(entity)
    }

    /// Keeps the values for which `keep` says `true`, and drops the others one by one.
    ///
    /// Values are visited in packed order, except that the last one is visited early when it
    /// moves to a freed place. If `keep` or a drop unwinds, those not yet visited stay.
    pub fn retain(&mut self, mut keep: impl FnMut(Entity, &mut T) -> bool) {
        let mut at = 0;
        while let Some(&entity) = self.set.as_slice().get(at) {
            self.values.touch(at, 1);
            // SAFETY: `entity` was read at position `at`.
            let value = unsafe { self.values.ptr(at, entity) };
            // SAFETY: as in `get_mut`.
            if keep(entity, unsafe { &mut *value }) {
                at += 1;
            } else {
                drop(self.remove(entity));
            }
        }
    }

    /// Exchanges two positions.
    ///
    /// # Panics
    /// If one of them is out of bounds; nothing has changed then.
    #[inline]
    pub fn swap(&mut self, a: usize, b: usize) {
        self.set.swap(a, b);
        self.values.swap(a, b);
    }

    /// Exchanges the position of `entity`, which has a value, with another one.
    #[inline(always)]
    pub(crate) fn bring(&mut self, entity: Entity, to: usize) {
        match self.set.bring_in_row(entity, to) {
            Some(at) if at == to => {}
            Some(at) => self.values.swap(at, to),
            None => self.bring_anywhere(entity, to),
        }
    }

    /// Forgets the order that it shares with other maps.
    #[inline]
    pub(crate) fn drop_rows(&mut self) {
        self.set.set_rows(None);
    }

    /// As `bring`, wherever slots lie.
    #[cold]
    #[inline(never)]
    fn bring_anywhere(&mut self, entity: Entity, to: usize) {
        let at = self.set.position(entity).expect("the entity has a value");
        self.swap(at, to);
    }

    /// Drops all values; keeps the memory.
    ///
    /// # Complexity
    /// O(n); values that need no drop are not touched.
    pub fn clear(&mut self) {
        self.set.clear();
        self.values.clear();
    }

    /// Takes all entities out but leaves their values, for [`drop_values`](Self::drop_values).
    ///
    /// Lets a world finish its own bookkeeping before the first `Drop` of a value can run.
    pub(crate) fn forget_entities(&mut self) {
        self.set.clear();
    }

    /// Second half of a clear that began with [`forget_entities`](Self::forget_entities).
    pub(crate) fn drop_values(&mut self) {
        debug_assert!(self.set.is_empty());
        self.values.clear();
    }

    /// Pushes the value of an entity that [`catch_up`](Self::catch_up) will enter later.
    ///
    /// Suspends P1 until then.
    #[inline]
    pub(crate) fn push_ahead(&mut self, entity: Entity, value: T) {
        self.values.push(entity, value);
    }

    /// Enters the entities whose values were pushed ahead, in the same order.
    #[inline]
    pub(crate) fn catch_up(&mut self, entities: Newcomers<'_>) {
        self.set.append(entities);
    }

    /// Makes room for `additional` more values.
    pub fn reserve(&mut self, additional: usize) {
        self.set.reserve(additional);
        self.values.reserve(additional);
    }

    /// Gives back memory that serves no value.
    pub fn shrink_to_fit(&mut self) {
        self.set.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Entities and values in packed order.
    #[inline]
    pub fn iter(&self) -> Iter<'_, T, S> {
        Iter {
            entities: self.entities().iter().enumerate(),
            values: &self.values,
            item: PhantomData,
            of: PhantomData,
        }
    }

    /// Entities and values in packed order, the values to be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> IterMut<'_, T, S> {
        let entities = self.set.as_slice().iter().enumerate();
        IterMut { entities, values: &self.values, item: PhantomData, of: PhantomData }
    }
}

/// Values as slices. A storage that keeps them elsewhere fails to compile here.
impl<T, S: Storage<T>> EntityMap<T, S> {
    const SLICES: () = assert!(
        S::CONTIGUOUS,
        "the values of this storage are not contiguous and make no slice: use `iter` instead"
    );

    /// The values in packed order: value `i` belongs to entity `i` of [`entities`](Self::entities).
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        let () = Self::SLICES;
        // SAFETY: the storage is contiguous and has a value for each entity (P1); see `get`.
        unsafe { std::slice::from_raw_parts(self.values.base(), self.set.len()) }
    }

    /// The entities and their values as two slices, the values to be changed.
    #[inline]
    pub fn split_mut(&mut self) -> (&[Entity], &mut [T]) {
        let () = Self::SLICES;
        let entities = self.set.as_slice();
        self.values.touch(0, entities.len());
        // SAFETY: as in `as_slice`; `&mut self` lets nobody else near.
        let values = unsafe { std::slice::from_raw_parts_mut(self.values.base(), entities.len()) };
        (entities, values)
    }

    /// The values in packed order, to be changed.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.split_mut().1
    }
}

type Places<'a> = std::iter::Enumerate<std::slice::Iter<'a, Entity>>;

/// Stands for just this storage of just this type, as the map does: a subtype of either is another type, whose
/// `Storage` may find values elsewhere.
type Exactly<T, S> = PhantomData<fn(T, S) -> (T, S)>;

/// Walks an [`EntityMap`].
pub struct Iter<'a, T, S> {
    entities: Places<'a>,
    values: &'a S,
    item: PhantomData<&'a T>,
    of: Exactly<T, S>,
}

/// Walks an [`EntityMap`] and lends its values to be changed.
pub struct IterMut<'a, T, S> {
    entities: Places<'a>,
    /// Shared although values are written: a unique borrow of the storage would claim all of
    /// them at once. `item` says what is really borrowed.
    values: &'a S,
    item: PhantomData<&'a mut T>,
    of: Exactly<T, S>,
}

/// `Iterator` for both walks; they differ in the reference they make.
macro_rules! walk {
    ($name:ident, $item:ty, $changes:literal, $($reference:tt)+) => {
        impl<'a, T, S: Storage<T>> Iterator for $name<'a, T, S> {
            type Item = (Entity, $item);

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                let (at, &entity) = self.entities.next()?;
                if $changes {
                    self.values.touch(at, 1);
                }
                // SAFETY: `entity` is at position `at`; the borrow of the map keeps it there.
                let value = unsafe { self.values.ptr(at, entity) };
                // SAFETY: the map is borrowed for `'a`, uniquely by the walk that changes values;
                // positions are visited once, and are distinct memory (P2).
                Some((entity, unsafe { $($reference)+ *value }))
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.entities.size_hint()
            }
        }

        impl<T, S: Storage<T>> ExactSizeIterator for $name<'_, T, S> {}

        impl<T, S: Storage<T>> std::iter::FusedIterator for $name<'_, T, S> {}

        impl<T, S> fmt::Debug for $name<'_, T, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("left", &self.entities.len()).finish()
            }
        }
    };
}

walk!(Iter, &'a T, false, &);
walk!(IterMut, &'a mut T, true, &mut);

impl<'a, T, S: Storage<T>> IntoIterator for &'a EntityMap<T, S> {
    type Item = (Entity, &'a T);
    type IntoIter = Iter<'a, T, S>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T, S: Storage<T>> IntoIterator for &'a mut EntityMap<T, S> {
    type Item = (Entity, &'a mut T);
    type IntoIter = IterMut<'a, T, S>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: fmt::Debug, S: Storage<T>> fmt::Debug for EntityMap<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}
