//! What a system may ask for.

use std::error::Error;
use std::fmt;

use super::once::discard_by;
use super::{Run, SoleRun};
use crate::access::{AccessSet, Key};
use crate::entity::Stream;
use crate::world::World;

/// Something that a system can have as a parameter.
///
/// | parameter | gives |
/// |---|---|
/// | [`Query<D, F>`](crate::Query) | components of many entities |
/// | [`Pool<T>`](crate::Pool), [`PoolMut<T>`](crate::PoolMut) | one pool: its slices; inserting and removing at once |
/// | [`Res<R>`](crate::Res), [`ResMut<R>`](crate::ResMut) | a resource |
/// | [`Local<T>`](super::Local) | a value of the system's own, kept from run to run |
/// | [`Commands`](crate::Commands) | changes to be made at the next refresh |
/// | [`MessageReader<M>`](super::MessageReader), [`MessageWriter<M>`](crate::world::MessageWriter) | messages |
/// | [`Removed<T>`](super::Removed) | who has lost a component |
/// | [`Output<O>`](super::Output) | what another system of this step has returned |
/// | `&World` | everything, alone |
/// | `Option<P>` | `P` if it can be had |
/// | tuples of these | all of them |
///
/// `derive(SystemParam)` makes one of a struct of parameters. The trait is safe to implement: a
/// parameter gets at the world only through guards, by the methods of [`Run`].
///
/// # Soundness
/// Safe to implement, however wrongly: what it says that it uses decides when a system runs, and cells decide what it may touch (B1).
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # use esker::SystemParam;
/// # #[derive(Component)] struct Purse(u32);
/// struct Rate(u32);
///
/// #[derive(SystemParam)]
/// struct Treasury<'w> {
///     purses: Query<'w, &'static mut Purse>,
///     rate: Res<'w, Rate>,
/// }
///
/// fn collect(mut treasury: Treasury) {
///     let rate = treasury.rate.0;
///     treasury.purses.iter_mut().for_each(|purse| purse.0 -= purse.0 * rate / 100);
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Rate(10));
/// let id = world.spawn(Purse(50));
/// world.run_system(collect);
/// assert_eq!(world.get::<Purse>(id).unwrap().0, 45);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a system",
    label = "not a system parameter",
    note = "parameters are `Query<…>`, `Pool<T>`, `PoolMut<T>`, `Res<R>`, `ResMut<R>`, `Local<T>`, `Commands`, \
            `MessageReader<M>`, `MessageWriter<M>`, `Removed<T>`, `Output<O>`, `&World`, `Option<…>` and \
            tuples of these",
    note = "components are asked for with `Query<&T>` or `Query<&mut T>`; a system with `&mut World` has no \
            other parameter"
)]
pub trait SystemParam: Sized {
    /// What is kept from run to run.
    type State: Send + 'static;

    /// The same parameter with the lifetimes of one run.
    type Item<'w, 's>: SystemParam<State = Self::State>;

    /// Makes the state when the system is added to a world, and says what will be used.
    fn init(world: &mut World, access: &mut AccessSet) -> Self::State;

    /// Makes the parameter for one run.
    ///
    /// # Errors
    /// [`ParamError`] if what is asked for is not there.
    fn get<'w, 's>(
        state: &'s mut Self::State,
        run: Run<'w>,
    ) -> Result<Self::Item<'w, 's>, ParamError>;

    /// As [`get`](Self::get), for the only parameter of a system that runs while nobody else has the
    /// world. What it gives is the same; it may cost less.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    #[doc(hidden)]
    #[inline]
    fn get_sole<'w, 's>(
        state: &'s mut Self::State,
        run: SoleRun<'w>,
    ) -> Result<Self::Item<'w, 's>, ParamError> {
        Self::get(state, run.share())
    }

    /// Whether [`get_sole`](Self::get_sole) costs less.
    #[doc(hidden)]
    const GAINS_ALONE: bool = false;

    /// Takes note that the system has run with the parameter and come to its end.
    ///
    /// Not called if another parameter could not be had, or if the system has panicked. Who wraps
    /// parameters by hand passes it on: messages and removals count as read only then.
    fn ran(_state: &mut Self::State) {}

    /// Whether [`apply`](Self::apply) does anything.
    #[doc(hidden)]
    const APPLIES: bool = true;

    /// Does what had to wait until the world can be changed. Not called for a parameter of a condition.
    fn apply(_state: &mut Self::State, _world: &mut World) {}

    /// Forgets what was to be done, because the system has panicked.
    fn discard(_state: &mut Self::State, _world: &mut World) {}

    /// Shows the sources of ids.
    #[doc(hidden)]
    fn streams(_state: &mut Self::State, _see: &mut dyn FnMut(&mut Stream)) {}

    /// Shows what other systems return before this one runs, and whether it cannot do without.
    #[doc(hidden)]
    fn outputs(_see: &mut dyn FnMut(Key, bool)) {}
}

/// A parameter cannot be had.
#[derive(Debug)]
pub struct ParamError(Box<dyn Error + Send + Sync>);

impl ParamError {
    /// Because of this.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ParamError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

impl<P: SystemParam> SystemParam for Option<P> {
    /// That of `P`, and whether it could be had the last time.
    type State = (P::State, bool);
    type Item<'w, 's> = Option<P::Item<'w, 's>>;

    const APPLIES: bool = P::APPLIES;

    fn init(world: &mut World, access: &mut AccessSet) -> Self::State {
        (P::init(world, access), false)
    }

    fn get<'w, 's>(
        (state, is_had): &'s mut Self::State,
        run: Run<'w>,
    ) -> Result<Self::Item<'w, 's>, ParamError> {
        let param = P::get(state, run).ok();
        *is_had = param.is_some();
        Ok(param)
    }

    #[inline]
    fn ran((state, is_had): &mut Self::State) {
        if *is_had {
            P::ran(state);
        }
    }

    fn apply((state, _): &mut Self::State, world: &mut World) {
        P::apply(state, world);
    }

    fn discard((state, _): &mut Self::State, world: &mut World) {
        P::discard(state, world);
    }

    fn streams((state, _): &mut Self::State, see: &mut dyn FnMut(&mut Stream)) {
        P::streams(state, see);
    }

    fn outputs(see: &mut dyn FnMut(Key, bool)) {
        P::outputs(&mut |key, _| see(key, false));
    }
}

/// The way from a tuple of one parameter to that parameter. Others have to share the world among
/// themselves.
macro_rules! sole_param {
    ($name:ident $at:tt) => {
        const GAINS_ALONE: bool = $name::GAINS_ALONE;

        #[inline]
        fn get_sole<'w, 's>(
            state: &'s mut Self::State,
            run: SoleRun<'w>,
        ) -> Result<Self::Item<'w, 's>, ParamError> {
            Ok(($name::get_sole(&mut state.$at, run)?,))
        }
    };
    ($($name:ident $at:tt),*) => {};
}

/// `SystemParam` for a tuple.
macro_rules! tuple_param {
    ($($name:ident $at:tt),*) => {
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        impl<$($name: SystemParam),*> SystemParam for ($($name,)*) {
            type State = ($($name::State,)*);
            type Item<'w, 's> = ($($name::Item<'w, 's>,)*);

            const APPLIES: bool = false $(|| $name::APPLIES)*;

            sole_param!($($name $at),*);

            fn init(world: &mut World, access: &mut AccessSet) -> Self::State {
                ($($name::init(world, access),)*)
            }

            #[inline]
            fn get<'w, 's>(
                state: &'s mut Self::State,
                run: Run<'w>,
            ) -> Result<Self::Item<'w, 's>, ParamError> {
                Ok(($($name::get(&mut state.$at, run)?,)*))
            }

            #[inline]
            fn ran(state: &mut Self::State) {
                $($name::ran(&mut state.$at);)*
            }

            fn apply(state: &mut Self::State, world: &mut World) {
                $($name::apply(&mut state.$at, world);)*
            }

            fn discard(state: &mut Self::State, world: &mut World) {
                // Each by itself: the panic of one does not leave the commands of another behind.
                $(discard_by(|| $name::discard(&mut state.$at, world));)*
            }

            fn streams(state: &mut Self::State, see: &mut dyn FnMut(&mut Stream)) {
                $($name::streams(&mut state.$at, see);)*
            }

            fn outputs(see: &mut dyn FnMut(Key, bool)) {
                $($name::outputs(see);)*
            }
        }
    };
}

crate::tuples::all_tuples!(tuple_param);
