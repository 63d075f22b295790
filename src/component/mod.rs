//! Component types: what makes a type a component, and how its pool is found.
//!
//! # Invariants
//! **C1** – an index belongs to one type for the life of the process: a `TypeIndex` of `T` can
//! only be had from the registry, under `TypeId::of::<T>()`. `TypeIndex<T>` and `TypeSlot<T>` are invariant, so
//! that neither passes for that of a subtype or supertype.

mod type_index;

pub(crate) use type_index::TypeIndex;
pub use type_index::TypeSlot;

use std::any::Any;

use crate::storage::{Storage, Tracking};

/// What is lent to who may change a component: `&mut T`, or [`Mut<T>`](crate::Mut) if its changes
/// are tracked.
pub type MutOf<'a, T> = <TrackingOf<T> as Tracking>::Mut<'a, T>;

/// Whether the changes of a component are tracked.
pub(crate) type TrackingOf<T> = <<T as Component>::Storage as Storage<T>>::Tracking;

/// A type whose values entities can have.
///
/// Derive it. The derive gives the type a static slot, so that its pool is found by one load and
/// one index, and takes the choice of storage:
///
/// ```
/// # use esker::{Component, World};
/// #[derive(Component)]
/// struct Position { x: f32, y: f32 }
///
/// #[derive(Component)]
/// #[component(storage = Hashed)]
/// struct Backstory(String);
///
/// #[derive(Component)]
/// struct Selected; // a tag: takes no memory for values
///
/// let mut world = World::new();
/// let e = world.spawn((Position { x: 0.0, y: 0.0 }, Selected));
/// world.insert(e, Backstory("born in a doctest".into())).unwrap();
/// assert!(world.has::<(Position, Selected, Backstory)>(e));
/// ```
///
/// By hand it is `impl Component for Foo { type Storage = Packed<Self>; }`; the pool is found
/// through a hash map then, as for generic types.
///
/// # Soundness
/// Safe to implement, however wrongly. The three methods are asked before anything is changed, and what they say is kept with the pool; the
/// number in a slot comes from a registry (C1).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component",
    label = "not a component",
    note = "add `#[derive(Component)]` to `{Self}`"
)]
pub trait Component: Sized + Send + Sync + 'static {
    /// How values of this type are kept.
    type Storage: Storage<Self> + Send + Sync + 'static;

    /// Listeners and required components that the type brings along: an
    /// [`Extras`](crate::world::Extras), of which this layer knows nothing.
    ///
    /// Asked once for each world, when it makes the pool.
    fn extras() -> Option<&'static (dyn Any + Send + Sync)> {
        None
    }

    /// How to copy a value for those who read removals; `None` if they are told the entity alone.
    ///
    /// Asked once for each world, when it makes the pool.
    fn keep_removed() -> Option<fn(&Self) -> Self> {
        None
    }

    /// Where the number is remembered under which worlds find the pool of this type.
    ///
    /// `None` looks it up in a hash map each time.
    #[inline]
    fn type_slot() -> Option<&'static TypeSlot<Self>> {
        None
    }
}
