//! The cell and its guards.

#![allow(unsafe_code, reason = "lends what is in an `UnsafeCell`, as the flag allows")]

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::flag::{Conflict, Flag};

/// A value behind a borrow flag.
#[derive(Debug, Default)]
pub(crate) struct Cell<T> {
    flag: Flag,
    value: UnsafeCell<T>,
}

// SAFETY: shared access gives `&T` to several threads (`T: Sync`) or, by B1, `&mut T` to one at a
// time (`T: Send`).
unsafe impl<T: Send + Sync> Sync for Cell<T> {}

impl<T> Cell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { flag: Flag::default(), value: UnsafeCell::new(value) }
    }

    #[inline]
    #[track_caller]
    pub(crate) fn try_read(&self) -> Result<Read<'_, T>, Conflict> {
        self.flag.take_read()?;
        // SAFETY: not null; the flag keeps writers out until the guard is gone (B1).
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        Ok(Read { value, borrow: ReadBorrow(Some(&self.flag)) })
    }

    /// A borrow that sees the structure; values may be written meanwhile.
    #[inline]
    #[track_caller]
    pub(crate) fn try_look(&self) -> Result<Look<'_, T>, Conflict> {
        self.flag.take_look()?;
        // SAFETY: not null; the flag keeps out who would change the structure (B1).
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        Ok(Look { value, _held: LookBorrow(Some(&self.flag)) })
    }

    /// A borrow that allows to write values through pointers, and to nothing else.
    #[inline]
    #[track_caller]
    pub(crate) fn try_edit(&self) -> Result<Edit<'_, T>, Conflict> {
        self.flag.take_edit()?;
        // SAFETY: as in `try_look`.
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        Ok(Edit { value, _held: EditBorrow(Some(&self.flag)), lent: PhantomData })
    }

    #[inline]
    #[track_caller]
    pub(crate) fn try_write(&self) -> Result<Write<'_, T>, Conflict> {
        self.flag.take_write()?;
        // SAFETY: not null; the flag keeps everyone else out until the guard is gone (B1).
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        Ok(Write { value, borrow: WriteBorrow(&self.flag), lent: PhantomData })
    }

    /// As `try_read`, without a mark in the flag.
    ///
    /// # Safety
    /// As long as the borrow of the cell lasts nobody has a guard that B1 excludes beside it.
    #[inline]
    pub(crate) unsafe fn read_unmarked(&self) -> Read<'_, T> {
        // SAFETY: not null; nobody writes meanwhile, as the caller promises.
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        Read { value, borrow: ReadBorrow(None) }
    }

    /// As `try_look`, without a mark in the flag.
    ///
    /// # Safety
    /// As `read_unmarked`.
    #[inline]
    pub(crate) unsafe fn look_unmarked(&self) -> Look<'_, T> {
        // SAFETY: as in `read_unmarked`.
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        Look { value, _held: LookBorrow(None) }
    }

    /// As `try_edit`, without a mark in the flag.
    ///
    /// # Safety
    /// As `read_unmarked`.
    #[inline]
    pub(crate) unsafe fn edit_unmarked(&self) -> Edit<'_, T> {
        // SAFETY: as in `read_unmarked`.
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        Edit { value, _held: EditBorrow(None), lent: PhantomData }
    }

    /// The value, for one who has the cell to himself: no guard can exist.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Takes the marks of guards away that were leaked: who has the cell to himself knows that nobody has
    /// one.
    pub(crate) fn unmark(&mut self) {
        self.flag = Flag::default();
    }

    pub(crate) fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

struct ReadBorrow<'a>(Option<&'a Flag>);

impl Drop for ReadBorrow<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(flag) = self.0 {
            flag.release_read();
        }
    }
}

struct WriteBorrow<'a>(&'a Flag);

impl Drop for WriteBorrow<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.release_write();
    }
}

struct LookBorrow<'a>(Option<&'a Flag>);

impl Drop for LookBorrow<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(flag) = self.0 {
            flag.release_look();
        }
    }
}

struct EditBorrow<'a>(Option<&'a Flag>);

impl Drop for EditBorrow<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(flag) = self.0 {
            flag.release_edit();
        }
    }
}

/// A borrow of the structure of something, not of its values.
pub(crate) struct Look<'a, T: ?Sized> {
    value: NonNull<T>,
    _held: LookBorrow<'a>,
}

/// The only borrow of the values of something whose structure others may look at.
///
/// Gives a shared reference: values are written through the pointers that it hands out.
pub struct Edit<'a, T> {
    value: NonNull<T>,
    _held: EditBorrow<'a>,
    /// Invariant as `&mut T`: who has the right to write values must not take them for those of a supertype.
    lent: PhantomData<&'a mut T>,
}

// SAFETY: a `Look` is a `&T` and a reference to an atomic.
unsafe impl<T: ?Sized + Sync> Send for Look<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for Look<'_, T> {}
// SAFETY: an `Edit` is a `&T`, a reference to an atomic, and the right to write values, which
// belong to `T`.
unsafe impl<T: Send + Sync> Send for Edit<'_, T> {}
// SAFETY: as above; a shared `Edit` is a `&T`.
unsafe impl<T: Sync> Sync for Edit<'_, T> {}

impl<'a, T: ?Sized> Look<'a, T> {
    /// Narrows the borrow to a part of the value.
    #[inline]
    pub(crate) fn part<U: ?Sized>(self, part: impl FnOnce(&T) -> &U) -> Look<'a, U> {
        Look { value: NonNull::from(part(&self)), _held: self._held }
    }
}

impl<T: ?Sized> Deref for Look<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody has a unique borrow of the value as long as the guard lives (B1): who
        // writes values has a shared one of the whole, too.
        unsafe { self.value.as_ref() }
    }
}

impl<T> Deref for Edit<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody has a unique borrow of the value as long as the guard lives (B1): who
        // writes values has a shared one of the whole, too.
        unsafe { self.value.as_ref() }
    }
}

/// A shared borrow of something in the world; given back when dropped.
///
/// It derefs to the value. As long as it lives nobody can write what it was taken from, so keep it in a
/// variable no longer than needed.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// let mut world = World::new();
/// let id = world.spawn(Health(5));
///
/// let health = world.get::<Health>(id).unwrap();
/// assert!(world.try_query::<&mut Health, ()>().is_err());
/// drop(health);
/// assert!(world.try_query::<&mut Health, ()>().is_ok());
/// ```
pub struct Read<'a, T: ?Sized> {
    /// Not a reference: the value may be written as soon as `borrow` is dropped, which happens
    /// while this struct still exists.
    value: NonNull<T>,
    borrow: ReadBorrow<'a>,
}

/// The only borrow of something in the world; given back when dropped.
pub struct Write<'a, T: ?Sized> {
    value: NonNull<T>,
    borrow: WriteBorrow<'a>,
    lent: PhantomData<&'a mut T>,
}

// SAFETY: a `Read` is a `&T` and a reference to an atomic.
unsafe impl<T: ?Sized + Sync> Send for Read<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for Read<'_, T> {}
// SAFETY: a `Write` is a `&mut T` and a reference to an atomic.
unsafe impl<T: ?Sized + Send> Send for Write<'_, T> {}
// SAFETY: as above; a shared `Write` gives `&T`.
unsafe impl<T: ?Sized + Sync> Sync for Write<'_, T> {}

impl<'a, T: ?Sized> Read<'a, T> {
    /// Narrows the borrow to a part of the value.
    pub(crate) fn part<U: ?Sized>(self, part: impl FnOnce(&T) -> &U) -> Read<'a, U> {
        Read { value: NonNull::from(part(&self)), borrow: self.borrow }
    }

    /// Narrows the borrow to a part of the value, if there is such a part.
    #[inline]
    pub(crate) fn filter_map<U: ?Sized>(
        self,
        part: impl FnOnce(&T) -> Option<&U>,
    ) -> Option<Read<'a, U>> {
        let value = NonNull::from(part(&self)?);
        Some(Read { value, borrow: self.borrow })
    }
}

impl<'a, T: ?Sized> Write<'a, T> {
    /// Narrows the borrow to a part of the value.
    pub(crate) fn part<U: ?Sized>(mut self, part: impl FnOnce(&mut T) -> &mut U) -> Write<'a, U> {
        let value = NonNull::from(part(&mut self));
        Write { value, borrow: self.borrow, lent: PhantomData }
    }

    /// Narrows the borrow to a part of the value, if there is such a part.
    #[inline]
    pub(crate) fn filter_map<U: ?Sized>(
        mut self,
        part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Option<Write<'a, U>> {
        let value = NonNull::from(part(&mut self)?);
        Some(Write { value, borrow: self.borrow, lent: PhantomData })
    }
}

impl<T: ?Sized> Deref for Read<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the flag is _held for reading (B1) as long as `self.borrow` lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> Deref for Write<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the flag is _held for writing (B1), and `self` is borrowed.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for Write<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the flag is _held for writing (B1), and `self` is borrowed uniquely.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Read<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Write<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> fmt::Debug for Edit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edit").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Read<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + PartialEq> PartialEq<T> for Read<'_, T> {
    fn eq(&self, other: &T) -> bool {
        **self == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_give_back_what_they_took() {
        let cell = Cell::new(1);

        let read = cell.try_read().unwrap();
        assert!(cell.try_write().is_err());
        drop(read);
        *cell.try_write().unwrap() += 1;

        assert_eq!(*cell.try_read().unwrap(), 2);
    }

    #[test]
    fn a_narrowed_guard_holds_the_whole_and_a_failed_one_nothing() {
        let cell = Cell::new((1, 2));

        let part = cell.try_write().unwrap().filter_map(|pair| Some(&mut pair.1)).unwrap();
        assert!(cell.try_read().is_err());
        drop(part);
        let none: Option<Read<'_, i32>> = cell.try_read().unwrap().filter_map(|_| None);

        assert!(none.is_none());
        assert!(cell.try_write().is_ok());
    }

    #[test]
    fn a_guard_dropped_while_unwinding_is_given_back() {
        let cell = Cell::new(0);

        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = cell.try_write().unwrap();
            panic!("on purpose");
        }));

        assert!(result.is_err());
        assert!(cell.try_write().is_ok());
    }

    #[test]
    fn writers_of_several_threads_exclude_each_other() {
        // A13: a refused reader must not be counted when a writer leaves.
        let cell = Cell::new(0_u64);

        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        if let Ok(mut value) = cell.try_write() {
                            let before = *value;
                            *value = before + 1;
                        }
                        if let Ok(value) = cell.try_read() {
                            assert!(*value <= 40_000);
                        }
                    }
                });
            }
        });

        assert!(*cell.try_write().unwrap() > 0);
    }
}
