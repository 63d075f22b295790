//! Bundles: several components that come and go together.

use std::any::TypeId;

use super::batch::{BundleWriter, PoolWriter, Row};
use super::gate::Gate;
use super::pools::name_of;
use crate::component::Component;

/// A set of components: a component, a tuple of bundles, or a struct that derives it.
///
/// A bundle exists only while it is passed in or out; the world keeps its components, each in its
/// own pool. Components of a bundle go in from first to last. If a bundle names a component
/// twice, the last value stays. The components of a public bundle must be public.
///
/// # Soundness
/// Safe to implement, however wrongly. What a method is lent lives no longer than the call and belongs to one entity of one world; a
/// bundle that does not write each of its components once in each row of a batch ends the batch.
///
/// # Examples
/// ```
/// # use esker::{Bundle, Component, World};
/// # #[derive(Component, Debug, PartialEq)] struct Position(f32, f32);
/// # #[derive(Component, Debug, PartialEq)] struct Velocity(f32, f32);
/// #[derive(Bundle)]
/// struct Moving { position: Position, velocity: Velocity }
///
/// let mut world = World::new();
/// let e = world.spawn(Moving { position: Position(0.0, 0.0), velocity: Velocity(1.0, 0.0) });
/// assert!(world.has::<Velocity>(e));
/// assert_eq!(world.take::<(Position, Velocity)>(e), Ok(Some((Position(0.0, 0.0), Velocity(1.0, 0.0)))));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a bundle of components",
    label = "not a component, nor a tuple of components",
    note = "a component derives `Component`, a struct of components derives `Bundle`",
    note = "a tuple is a bundle if each of its elements is a component or a bundle"
)]
pub trait Bundle: Sized + 'static {
    /// The components one by one, each an `Option`: what was replaced or removed.
    type Parts;

    /// The pools of the components, during a batch: `'w` is that of the batch.
    type Writer<'w>: BundleWriter<'w>;

    /// Puts the components into their pools and returns those they replace.
    fn insert(self, gate: &mut Gate<'_>) -> Self::Parts;

    /// Takes the components that are there out of their pools.
    fn remove(gate: &mut Gate<'_>) -> Self::Parts;

    /// Makes a bundle of its parts, if none is missing.
    fn assemble(parts: Self::Parts) -> Option<Self>;

    /// Puts the components into their pools, during a batch.
    fn write<'w>(self, writer: &mut Self::Writer<'w>, row: &Row<'w>);

    /// Shows the component types to `visitor`, first to last.
    fn visit<V: ComponentVisitor>(visitor: &mut V);
}

/// Sees the component types of a [`Bundle`].
///
/// # Soundness
/// Nothing rests on it: visitors of the library are passed to bundles, and one of the user's sees types only.
pub trait ComponentVisitor {
    /// Called once for each component type.
    fn visit<T: Component>(&mut self);
}

impl<T: Component> Bundle for T {
    type Parts = Option<T>;
    type Writer<'w> = PoolWriter<'w, T>;

    #[inline(always)]
    fn insert(self, gate: &mut Gate<'_>) -> Option<T> {
        gate.insert(self)
    }

    #[inline(always)]
    fn remove(gate: &mut Gate<'_>) -> Option<T> {
        gate.remove()
    }

    #[inline]
    fn assemble(parts: Option<T>) -> Option<T> {
        parts
    }

    #[inline(always)]
    fn write<'w>(self, writer: &mut PoolWriter<'w, T>, row: &Row<'w>) {
        writer.write(row, self);
    }

    #[inline]
    fn visit<V: ComponentVisitor>(visitor: &mut V) {
        visitor.visit::<T>();
    }
}

/// `Bundle` for a tuple.
macro_rules! tuple_bundle {
    ($($name:ident $at:tt),*) => {
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        impl<$($name: Bundle),*> Bundle for ($($name,)*) {
            type Parts = ($($name::Parts,)*);
            type Writer<'w> = ($($name::Writer<'w>,)*);

            #[inline(always)]
            fn insert(self, gate: &mut Gate<'_>) -> Self::Parts {
                ($(self.$at.insert(gate),)*)
            }

            #[inline(always)]
            fn remove(gate: &mut Gate<'_>) -> Self::Parts {
                ($($name::remove(gate),)*)
            }

            #[inline]
            fn assemble(parts: Self::Parts) -> Option<Self> {
                Some(($($name::assemble(parts.$at)?,)*))
            }

            #[inline(always)]
            fn write<'w>(self, writer: &mut Self::Writer<'w>, row: &Row<'w>) {
                $(self.$at.write(&mut writer.$at, row);)*
            }

            #[inline]
            fn visit<V: ComponentVisitor>(visitor: &mut V) {
                $($name::visit(visitor);)*
            }
        }
    };
}

crate::tuples::all_tuples!(tuple_bundle);

/// The first component that `B` names twice, if any.
pub(super) fn repeated_component<B: Bundle>() -> Option<&'static str> {
    struct Distinct {
        seen: Vec<TypeId>,
        repeated: Option<&'static str>,
    }
    impl ComponentVisitor for Distinct {
        fn visit<T: Component>(&mut self) {
            if self.seen.contains(&TypeId::of::<T>()) {
                self.repeated = self.repeated.or(Some(name_of::<T>()));
            }
            self.seen.push(TypeId::of::<T>());
        }
    }
    let mut distinct = Distinct { seen: Vec::new(), repeated: None };
    // Not as the bundle shows itself: a batch relies on this.
    B::Writer::visit(&mut distinct);
    distinct.repeated
}
