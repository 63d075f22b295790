//! Resources: values of which a world has one.

use std::any::{Any, TypeId};
use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::thread::{self, ThreadId};

use rustc_hash::FxHashMap;

use super::pools::name_of;
use super::{BorrowConflict, World};
use crate::cell::{Cell, Read, ThreadBound, Write};

/// A resource, for reading; given back when dropped.
///
/// A resource is a value of which a world has one: settings, the time, a random generator. Use it for
/// what belongs to no entity. As a parameter it lets a system read it; who may do without says
/// `Option<Res<R>>`.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// struct Gravity(f32);
///
/// let mut world = World::new();
/// world.insert_resource(Gravity(9.81));
/// world.run_system(|gravity: Res<Gravity>| assert!(gravity.0 > 9.0));
/// ```
pub struct Res<'w, R>(Read<'w, R>);

/// A resource, for changing; given back when dropped. See [`Res`].
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// let mut world = World::new();
/// world.insert_resource(Vec::<u32>::new());
/// world.run_system(|mut scores: ResMut<Vec<u32>>| scores.push(3));
/// assert_eq!(*world.resource::<Vec<u32>>(), [3]);
/// ```
pub struct ResMut<'w, R>(Write<'w, R>);

/// The resources of a world, in the order in which their types first came, each in a cell.
///
/// A slot holds a `Cell<R>` or, for values that must stay in their thread, a `BoundCell<R>`.
#[derive(Default)]
pub(super) struct Resources {
    slots: Vec<Option<Box<dyn Any + Send + Sync>>>,
    /// Of each slot: its type, the name of it, and whether it is no part of the world's state.
    kinds: Vec<(TypeId, &'static str, bool)>,
    by_type: FxHashMap<TypeId, usize>,
}

/// A resource that stays in its thread. The thread is known without borrowing the value.
struct BoundCell<R> {
    home: ThreadId,
    cell: Cell<ThreadBound<R>>,
}

impl<R> BoundCell<R> {
    fn new(value: ThreadBound<R>) -> Self {
        Self { home: thread::current().id(), cell: Cell::new(value) }
    }
}

impl Resources {
    fn cell<C: 'static>(&self, of: TypeId) -> Option<&C> {
        self.slots[*self.by_type.get(&of)?].as_deref()?.downcast_ref()
    }

    /// Puts a cell in the place of the type and returns what was there.
    fn put<R: 'static, C: Any + Send + Sync>(
        &mut self,
        cell: C,
    ) -> Option<Box<dyn Any + Send + Sync>> {
        let at = *self.by_type.entry(TypeId::of::<R>()).or_insert(self.slots.len());
        if at == self.slots.len() {
            self.slots.push(None);
            self.kinds.push((TypeId::of::<R>(), name_of::<R>(), false));
        }
        self.slots[at].replace(Box::new(cell))
    }

    /// Takes the cell of `R` out, if it is of this kind.
    fn take<R: 'static, C: Any>(&mut self) -> Option<C> {
        let slot = &mut self.slots[*self.by_type.get(&TypeId::of::<R>())?];
        slot.as_deref()?.downcast_ref::<C>()?;
        let cell = slot.take()?.downcast::<C>().ok()?;
        Some(*cell)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }
}

impl World {
    /// Returns a resource through `&mut self`: no borrow flag is checked.
    pub(crate) fn resource_slot<R: Send + Sync + 'static>(&mut self) -> Option<&mut R> {
        Some(self.resource_cell()?.get_mut())
    }

    fn resource_cell<R: Send + Sync + 'static>(&mut self) -> Option<&mut Cell<R>> {
        let at = *self.resources.by_type.get(&TypeId::of::<R>())?;
        self.resources.slots[at].as_deref_mut()?.downcast_mut()
    }

    /// Puts a resource into the world; one of the same type is replaced and returned.
    ///
    /// What is not `Send + Sync` goes in with [`insert_non_send`](Self::insert_non_send).
    ///
    /// # Examples
    /// ```
    /// # use esker::World;
    /// struct Gravity(f32);
    ///
    /// let mut world = World::new();
    /// world.insert_resource(Gravity(9.81));
    /// world.resource_mut::<Gravity>().0 *= 2.0;
    /// assert_eq!(world.remove_resource::<Gravity>().unwrap().0, 19.62);
    /// ```
    #[doc(alias = "context")]
    #[doc(alias = "singleton")]
    pub fn insert_resource<R: Send + Sync + 'static>(&mut self, resource: R) -> Option<R> {
        unwrap_cell(self.resources.put::<R, _>(Cell::new(resource))?)
    }

    /// Puts a resource into the world that is no part of its state: snapshots leave it out.
    pub(crate) fn insert_transient<R: Send + Sync + 'static>(&mut self, resource: R) {
        let old = self.insert_resource(resource);
        let at = self.resources.by_type[&TypeId::of::<R>()];
        self.resources.kinds[at].2 = true;
        drop(old);
    }

    /// The types of its resources and their names, without the transient ones.
    #[cfg(feature = "serde")]
    pub(crate) fn resource_types(&self) -> impl Iterator<Item = (TypeId, &'static str)> {
        let Resources { slots, kinds, .. } = &self.resources;
        let present = slots.iter().zip(kinds).filter(|(slot, kind)| slot.is_some() && !kind.2);
        present.map(|(_, kind)| (kind.0, kind.1))
    }

    /// Puts a resource into the world that must stay in this thread.
    ///
    /// Only the thread that inserted it can use it. If the world is dropped in another thread,
    /// the resource is leaked: its destructor belongs to its thread too.
    ///
    /// # Panics
    /// If a resource of the same type was inserted by another thread.
    #[track_caller]
    pub fn insert_non_send<R: 'static>(&mut self, resource: R) -> Option<R> {
        let bound = self.remove_non_send();
        let old = self.resources.put::<R, _>(BoundCell::new(ThreadBound::new(resource)));
        bound.or_else(|| unwrap_cell(old?))
    }

    /// Takes a resource out of the world.
    pub fn remove_resource<R: Send + Sync + 'static>(&mut self) -> Option<R> {
        self.resources.take::<R, Cell<R>>().map(Cell::into_inner)
    }

    /// Takes a resource of this thread out of the world.
    ///
    /// # Panics
    /// If it belongs to another thread.
    #[track_caller]
    pub fn remove_non_send<R: 'static>(&mut self) -> Option<R> {
        if let Err(error @ ResourceError::WrongThread { .. }) = self.bound::<R>() {
            panic!("{error}");
        }
        self.resources.take::<R, BoundCell<R>>()?.cell.into_inner().into_inner().ok()
    }

    /// Whether there is a resource of this type, sendable or not.
    pub fn has_resource<R: 'static>(&self) -> bool {
        let at = self.resources.by_type.get(&TypeId::of::<R>());
        at.is_some_and(|&at| self.resources.slots[at].is_some())
    }

    /// A resource, for reading.
    ///
    /// # Panics
    /// If there is none, or it is borrowed for writing; [`try_resource`](Self::try_resource)
    /// returns both as errors.
    #[track_caller]
    pub fn resource<R: Send + Sync + 'static>(&self) -> Res<'_, R> {
        self.try_resource().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A resource, for changing.
    ///
    /// # Panics
    /// If there is none, or it is borrowed; [`try_resource_mut`](Self::try_resource_mut) returns
    /// both as errors.
    #[track_caller]
    pub fn resource_mut<R: Send + Sync + 'static>(&self) -> ResMut<'_, R> {
        self.try_resource_mut().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A resource, for reading, if there is one.
    ///
    /// # Panics
    /// If it is borrowed for writing.
    #[track_caller]
    pub fn get_resource<R: Send + Sync + 'static>(&self) -> Option<Res<'_, R>> {
        absent_is_none(self.try_resource())
    }

    /// A resource, for changing, if there is one.
    ///
    /// # Panics
    /// If it is borrowed.
    #[track_caller]
    pub fn get_resource_mut<R: Send + Sync + 'static>(&self) -> Option<ResMut<'_, R>> {
        absent_is_none(self.try_resource_mut())
    }

    /// A resource, for reading, if it can be had.
    ///
    /// # Errors
    /// [`ResourceError::Absent`], [`ResourceError::Borrowed`].
    #[track_caller]
    pub fn try_resource<R: Send + Sync + 'static>(&self) -> Result<Res<'_, R>, ResourceError> {
        let cell = self.resources.cell::<Cell<R>>(TypeId::of::<R>());
        let cell = cell.ok_or(ResourceError::Absent { name: name_of::<R>() })?;
        Ok(Res(cell.try_read().map_err(BorrowConflict::of::<R>)?))
    }

    /// A resource, for changing, if it can be had.
    ///
    /// # Errors
    /// [`ResourceError::Absent`], [`ResourceError::Borrowed`].
    #[track_caller]
    pub fn try_resource_mut<R: Send + Sync + 'static>(
        &self,
    ) -> Result<ResMut<'_, R>, ResourceError> {
        let cell = self.resources.cell::<Cell<R>>(TypeId::of::<R>());
        let cell = cell.ok_or(ResourceError::Absent { name: name_of::<R>() })?;
        Ok(ResMut(cell.try_write().map_err(BorrowConflict::of::<R>)?))
    }

    /// The resource, or the one that `make` makes.
    ///
    /// If `make` panics, there is no resource afterwards.
    pub fn resource_or_insert_with<R: Send + Sync + 'static>(
        &mut self,
        make: impl FnOnce() -> R,
    ) -> ResMut<'_, R> {
        match self.resource_cell::<R>() {
            // Only a leaked guard can have left a mark: the world is borrowed uniquely.
            Some(cell) => cell.unmark(),
            None => drop(self.insert_resource(make())),
        }
        self.resource_mut()
    }

    /// The resource, or its default.
    pub fn resource_or_init<R: Send + Sync + Default + 'static>(&mut self) -> ResMut<'_, R> {
        self.resource_or_insert_with(R::default)
    }

    /// A resource of this thread, for reading.
    ///
    /// # Errors
    /// [`ResourceError`] if there is none, it belongs to another thread, or it is borrowed.
    #[track_caller]
    pub fn non_send<R: 'static>(&self) -> Result<Res<'_, R>, ResourceError> {
        let guard = self.bound::<R>()?.try_read().map_err(BorrowConflict::of::<R>)?;
        Ok(Res(guard.filter_map(|bound| bound.get()).expect("`bound` has seen the thread")))
    }

    /// A resource of this thread, for changing.
    ///
    /// # Errors
    /// As [`non_send`](Self::non_send).
    #[track_caller]
    pub fn non_send_mut<R: 'static>(&self) -> Result<ResMut<'_, R>, ResourceError> {
        let guard = self.bound::<R>()?.try_write().map_err(BorrowConflict::of::<R>)?;
        let guard = guard.filter_map(|bound| bound.get_mut());
        Ok(ResMut(guard.expect("`bound` has seen the thread")))
    }

    /// The cell of a thread-bound resource, in its own thread.
    fn bound<R: 'static>(&self) -> Result<&Cell<ThreadBound<R>>, ResourceError> {
        let name = name_of::<R>();
        let bound = self.resources.cell::<BoundCell<R>>(TypeId::of::<R>());
        let bound = bound.ok_or(ResourceError::Absent { name })?;
        if bound.home == thread::current().id() {
            Ok(&bound.cell)
        } else {
            Err(ResourceError::WrongThread { name })
        }
    }
}

/// What a cell of either kind holds. A value of another thread is leaked.
fn unwrap_cell<R: 'static>(cell: Box<dyn Any + Send + Sync>) -> Option<R> {
    match cell.downcast::<Cell<R>>() {
        Ok(cell) => Some(cell.into_inner()),
        Err(other) => other.downcast::<BoundCell<R>>().ok()?.cell.into_inner().into_inner().ok(),
    }
}

#[track_caller]
fn absent_is_none<G>(found: Result<G, ResourceError>) -> Option<G> {
    match found {
        Ok(guard) => Some(guard),
        Err(ResourceError::Absent { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// A resource cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceError {
    /// There is none of this type.
    Absent {
        /// Name of the type.
        name: &'static str,
    },
    /// It is borrowed in a way that excludes what was asked for.
    Borrowed(BorrowConflict),
    /// It must stay in the thread that inserted it, and this is another one.
    WrongThread {
        /// Name of the type.
        name: &'static str,
    },
}

impl From<BorrowConflict> for ResourceError {
    fn from(conflict: BorrowConflict) -> Self {
        Self::Borrowed(conflict)
    }
}

impl fmt::Display for ResourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { name } => {
                write!(f, "there is no resource `{name}`; put one in with `insert_resource`")
            }
            Self::Borrowed(conflict) => conflict.fmt(f),
            Self::WrongThread { name } => {
                write!(f, "resource `{name}` belongs to the thread that inserted it; use it there")
            }
        }
    }
}

impl Error for ResourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Borrowed(conflict) => Some(conflict),
            _ => None,
        }
    }
}

impl<R> Deref for Res<'_, R> {
    type Target = R;

    #[inline]
    fn deref(&self) -> &R {
        &self.0
    }
}

impl<R> Deref for ResMut<'_, R> {
    type Target = R;

    #[inline]
    fn deref(&self) -> &R {
        &self.0
    }
}

impl<R> DerefMut for ResMut<'_, R> {
    #[inline]
    fn deref_mut(&mut self) -> &mut R {
        &mut self.0
    }
}

impl<R: fmt::Debug> fmt::Debug for Res<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<R: fmt::Debug> fmt::Debug for ResMut<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resources").field("len", &self.len()).finish()
    }
}
