//! Whether changes of values are tracked, and what is lent then.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::ticks::Ticks;
use crate::tick::{Span, Tick};

/// Whether a storage keeps ticks: [`Untracked`], or [`WithTicks`] for [`Tracked`](super::Tracked).
///
/// Decides at compile time what `&mut T` gives in a query, so that what is not tracked costs
/// nothing.
///
/// # Soundness
/// Sealed: it decides what is lent for `&mut T`.
pub trait Tracking: Sealed + 'static {
    /// Whether it keeps ticks.
    const IS_ON: bool;

    /// What is lent to who may change a value.
    type Mut<'a, T: Send + Sync + 'a>: DerefMut<Target = T> + Send + Sync;

    /// The ticks, and what is new.
    #[doc(hidden)]
    type Marks<'a>: Copy + Send + Sync;

    #[doc(hidden)]
    fn marks(ticks: Option<&Ticks>, span: Span) -> Self::Marks<'_>;

    /// Lends the value at a position.
    #[doc(hidden)]
    fn lend<'a, T: Send + Sync>(
        value: &'a mut T,
        marks: Self::Marks<'a>,
        at: usize,
    ) -> Self::Mut<'a, T>;

    /// Says that values from a position on are changed.
    #[doc(hidden)]
    fn mark(marks: Self::Marks<'_>, at: usize, len: usize);
}

/// Keeps [`Tracking`] to this module.
pub trait Sealed {}

/// Changes are not tracked: `&mut T` is a plain reference.
#[derive(Debug, Clone, Copy)]
pub struct Untracked;

/// Changes are tracked: `&mut T` gives a [`Mut`].
#[derive(Debug, Clone, Copy)]
pub struct WithTicks;

/// The ticks of a storage, and what is new to whom they are shown.
#[derive(Debug, Clone, Copy)]
pub struct Marks<'a> {
    ticks: &'a Ticks,
    span: Span,
}

impl Sealed for Untracked {}

impl Sealed for WithTicks {}

impl Tracking for Untracked {
    const IS_ON: bool = false;

    type Mut<'a, T: Send + Sync + 'a> = &'a mut T;
    type Marks<'a> = ();

    #[inline(always)]
    fn marks(_: Option<&Ticks>, _: Span) {}

    #[inline(always)]
    fn lend<T: Send + Sync>(value: &mut T, (): (), _: usize) -> &mut T {
        value
    }

    #[inline(always)]
    fn mark((): (), _: usize, _: usize) {}
}

/// The ticks of a storage without any.
static NO_TICKS: Ticks = Ticks::NONE;

impl Tracking for WithTicks {
    const IS_ON: bool = true;

    type Mut<'a, T: Send + Sync + 'a> = Mut<'a, T>;
    type Marks<'a> = Marks<'a>;

    #[inline]
    fn marks(ticks: Option<&Ticks>, span: Span) -> Marks<'_> {
        Marks { ticks: ticks.unwrap_or(&NO_TICKS), span }
    }

    #[inline]
    fn lend<'a, T: Send + Sync>(value: &'a mut T, marks: Marks<'a>, at: usize) -> Mut<'a, T> {
        Mut { value, marks, at }
    }

    fn mark(Marks { ticks, span }: Marks<'_>, at: usize, len: usize) {
        ticks.mark_range(at, len, span.now);
    }
}

/// A tracked value that may be changed.
///
/// As soon as it is borrowed mutably it counts as changed; reading through it does not. It is what `&mut T`
/// gives for a component that says `#[component(track)]`.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// #[derive(Component, PartialEq)]
/// #[component(track)]
/// struct Health(u32);
///
/// let mut world = World::new();
/// let id = world.spawn(Health(5));
/// world.refresh();
///
/// let mut health: Mut<Health> = world.get_mut::<Health>(id).unwrap();
/// assert!(!health.set_if_neq(Health(5))); // the same: no change
/// assert!(health.0 == 5 && !health.is_changed());
/// health.0 = 4;
/// assert!(health.is_changed());
/// ```
pub struct Mut<'a, T> {
    value: &'a mut T,
    marks: Marks<'a>,
    at: usize,
}

/// A tracked value, for reading, that knows when it was changed.
///
/// Use it where all are looked at and the new ones are treated differently; where only these matter,
/// the filter [`Changed`](crate::Changed) costs less.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] #[component(track)] struct Health(u32);
/// let mut world = World::new();
/// world.spawn(Health(5));
/// world.refresh();
/// world.spawn(Health(6));
///
/// let query = world.query::<Ref<Health>>();
/// assert_eq!(query.iter().map(|health| (health.0, health.is_added())).collect::<Vec<_>>(), [(5, false), (6, true)]);
/// ```
pub struct Ref<'a, T> {
    value: &'a T,
    marks: Marks<'a>,
    at: usize,
}

impl<'a, T> Ref<'a, T> {
    #[inline]
    pub(crate) fn new(value: &'a T, marks: Marks<'a>, at: usize) -> Self {
        Self { value, marks, at }
    }

    /// The value, for as long as the pool is borrowed.
    pub fn into_inner(self) -> &'a T {
        self.value
    }
}

/// What both know.
macro_rules! knows_ticks {
    ($name:ident) => {
        impl<T> $name<'_, T> {
            /// Whether the value was added since.
            #[inline]
            pub fn is_added(&self) -> bool {
                self.marks.ticks.added(self.at) > self.marks.span.since
            }

            /// Whether the value was changed since; being added counts.
            #[inline]
            pub fn is_changed(&self) -> bool {
                self.last_changed() > self.marks.span.since
            }

            /// When it was changed last.
            #[inline]
            pub fn last_changed(&self) -> Tick {
                self.marks.ticks.changed(self.at)
            }
        }

        impl<T> Deref for $name<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                self.value
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

knows_ticks!(Mut);
knows_ticks!(Ref);

impl<T> Clone for Ref<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ref<'_, T> {}

impl<T> DerefMut for Mut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.set_changed();
        self.value
    }
}

impl<'a, T> Mut<'a, T> {
    /// Says that the value is changed.
    #[inline]
    pub fn set_changed(&mut self) {
        self.marks.ticks.mark(self.at, self.marks.span.now);
    }

    /// The value, to be changed without anybody being told.
    #[inline]
    pub fn bypass(&mut self) -> &mut T {
        self.value
    }

    /// Sets the value if it is another one, and says whether it was.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// #[derive(Component, PartialEq)]
    /// #[component(track)]
    /// struct Room(u32);
    ///
    /// let mut world = World::new();
    /// let e = world.spawn(Room(1));
    /// world.refresh();
    /// assert!(!world.get_mut::<Room>(e).unwrap().set_if_neq(Room(1)));
    /// assert_eq!(world.query_filtered::<Entity, Changed<Room>>().count(), 0);
    /// assert!(world.get_mut::<Room>(e).unwrap().set_if_neq(Room(2)));
    /// assert_eq!(world.query_filtered::<Entity, Changed<Room>>().count(), 1);
    /// ```
    pub fn set_if_neq(&mut self, value: T) -> bool
    where
        T: PartialEq,
    {
        let differs = *self.value != value;
        if differs {
            self.set_changed();
            *self.value = value;
        }
        differs
    }

    /// The value, for as long as the pool is borrowed; it counts as changed.
    pub fn into_inner(mut self) -> &'a mut T {
        self.set_changed();
        self.value
    }
}
