//! Functions as systems.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

use super::output::SystemReturn;
use super::param::{ParamError, SystemParam};
use super::run::{Lent, Run, SoleRun};
use crate::access::{AccessSet, Key};
use crate::entity::Stream;
use crate::tick::{Span, Tick};
use crate::world::World;

/// Something that a schedule can run.
///
/// Made of a function by [`IntoSystem`]; rarely implemented by hand.
///
/// # Soundness
/// Safe to implement, however wrongly: what it says that it uses decides when it runs, and cells decide what it may touch (B1).
pub trait System: Send + 'static {
    /// Its name: the path of the function, unless it was given another one.
    fn name(&self) -> &str;

    /// Gives it another name.
    fn set_name(&mut self, name: String);

    /// Prepares it for a world, and says what it will use.
    fn init(&mut self, world: &mut World) -> AccessSet;

    /// Whether it needs the world to itself.
    fn is_exclusive(&self) -> bool {
        false
    }

    /// Runs it, if it shares the world; `now` is the tick of what it does.
    ///
    /// # Errors
    /// What it returns as an error, or what it could not get.
    fn run(&mut self, world: &World, now: Tick) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// As [`run`](Self::run), while nobody else has the world. It does the same; it may cost less.
    ///
    /// It leaves the world in its place and spawns and despawns nothing: either takes back the ids that commands
    /// of this step were given, and what was recorded for these is skipped.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    fn run_sole(
        &mut self,
        world: &mut World,
        now: Tick,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.run(world, now)
    }

    /// Runs it, if it needs the world to itself.
    ///
    /// # Errors
    /// What it returns as an error.
    fn run_alone(&mut self, world: &mut World) -> Result<(), Box<dyn Error + Send + Sync>> {
        let now = world.advance_tick().next();
        self.run(world, now)
    }

    /// Does what had to wait until the world can be changed.
    fn apply(&mut self, world: &mut World);

    /// Whether there may be anything of that kind.
    fn applies(&self) -> bool {
        true
    }

    /// Forgets what was to be done, because the system has panicked.
    fn discard(&mut self, world: &mut World);

    /// The output it returns, if it does.
    fn output(&self) -> Option<Key>;

    /// Forgets the output of the last step.
    fn forget_output(&self, world: &mut World);

    /// Outputs that it reads, and whether it cannot do without.
    fn needs(&self) -> Vec<(Key, bool)>;

    /// Shows the sources of ids.
    #[doc(hidden)]
    fn streams(&mut self, see: &mut dyn FnMut(&mut Stream));
}

/// A function whose parameters are all [`SystemParam`]s.
///
/// `Marker` tells functions of different parameters apart, so that the compiler can find out.
///
/// # Soundness
/// As [`System`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system",
    label = "not a system",
    note = "a system is a function or closure with up to 16 parameters, all of them `SystemParam`s, which \
            returns nothing, an output or a `Result`",
    note = "the types of a closure's parameters must be written out"
)]
pub trait SystemFunction<Marker>: Send + 'static {
    /// Its parameters, as a tuple.
    type Param: SystemParam;

    /// What it returns.
    type Return: SystemReturn;

    /// Calls it.
    fn call(&mut self, params: <Self::Param as SystemParam>::Item<'_, '_>) -> Self::Return;
}

/// `SystemFunction` for each number of parameters.
macro_rules! function {
    ($($name:ident $at:tt),*) => {
        #[allow(non_snake_case, clippy::too_many_arguments,
            reason = "parameters are named as their types")]
        impl<Func, Out, $($name: SystemParam),*> SystemFunction<fn($($name),*) -> Out> for Func
        where
            Func: Send + 'static,
            Out: SystemReturn,
            for<'a> &'a mut Func: FnMut($($name),*) -> Out
                + FnMut($(<$name as SystemParam>::Item<'_, '_>),*) -> Out,
        {
            type Param = ($($name,)*);
            type Return = Out;

            #[inline(always)]
            fn call(&mut self, params: ($(<$name as SystemParam>::Item<'_, '_>,)*)) -> Out {
                // Of the two ways in which it can be called, this is the one with short lifetimes.
                #[inline(always)]
                fn call<Out, $($name),*>(
                    mut function: impl FnMut($($name),*) -> Out,
                    ($($name,)*): ($($name,)*),
                ) -> Out {
                    function($($name),*)
                }
                call(self, params)
            }
        }
    };
}

crate::tuples::all_tuples!(function);

/// What can be made a system of.
///
/// # Soundness
/// As [`System`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system",
    label = "not a system",
    note = "a system is a function or closure with up to 16 parameters, all of them `SystemParam`s, which \
            returns nothing, an output or a `Result`",
    note = "the types of a closure's parameters must be written out"
)]
pub trait IntoSystem<Marker> {
    /// The system.
    type System: System;

    /// Makes it.
    fn into_system(self) -> Self::System;
}

/// What a function keeps from run to run.
type StateOf<F, Marker> = <<F as SystemFunction<Marker>>::Param as SystemParam>::State;

/// A function as a system.
pub struct FunctionSystem<F: SystemFunction<Marker>, Marker> {
    function: F,
    name: String,
    state: Option<StateOf<F, Marker>>,
    /// The tick of the last run.
    last: Tick,
    /// Whether it has the whole world.
    is_apart: bool,
    marker: PhantomData<fn() -> Marker>,
}

impl<F: SystemFunction<Marker>, Marker: 'static> IntoSystem<(Marker,)> for F {
    type System = FunctionSystem<F, Marker>;

    fn into_system(self) -> Self::System {
        let name = std::any::type_name::<F>().to_owned();
        let (last, is_apart) = (Tick::ZERO, false);
        FunctionSystem { function: self, name, state: None, last, is_apart, marker: PhantomData }
    }
}

impl<F: SystemFunction<Marker>, Marker: 'static> FunctionSystem<F, Marker> {
    /// Prepares its parameters, and says what they use.
    pub(crate) fn init_params(&mut self, world: &mut World) -> AccessSet {
        let mut access = AccessSet::default();
        // What a system keeps from run to run stays, also if it is prepared again because the groups
        // of the world have changed.
        let state = <F::Param as SystemParam>::init(world, &mut access);
        self.state.get_or_insert(state);
        self.is_apart = access.has_world();
        access
    }

    /// Runs it and returns what it returns.
    // Not inlined, so that the function has one caller and becomes a part of it: parameters are made where
    // they are used, and need not be copied.
    #[inline(never)]
    pub(crate) fn run_for(&mut self, world: Lent<'_>, now: Tick) -> Result<F::Return, ParamError> {
        let state = self.state.as_mut().ok_or_else(|| ParamError::new("it was not prepared"))?;
        // Whatever guard a system with the whole world takes, from the world or as a parameter, has the same tick.
        let now = if self.is_apart { world.tick() } else { now };
        let span = Span { since: self.last, now };
        let params = match world {
            Lent::Sole(world) if const { F::Param::GAINS_ALONE } => {
                F::Param::get_sole(state, SoleRun::new(world, span))
            }
            world => F::Param::get(state, Run::new(world.share(), span)),
        };
        let returned = self.function.call(params?);
        // Only now: who has not run, or not to the end, is given the same again.
        <F::Param as SystemParam>::ran(state);
        self.last = now;
        Ok(returned)
    }
}

impl<F: SystemFunction<Marker>, Marker: 'static> System for FunctionSystem<F, Marker> {
    fn name(&self) -> &str {
        &self.name
    }

    fn set_name(&mut self, name: String) {
        self.name = name;
    }

    fn init(&mut self, world: &mut World) -> AccessSet {
        let mut access = self.init_params(world);
        F::Return::init(world, &mut access);
        access
    }

    fn run(&mut self, world: &World, now: Tick) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.run_for(Lent::Shared(world), now)?.keep(world)
    }

    fn run_sole(
        &mut self,
        world: &mut World,
        now: Tick,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.run_for(Lent::Sole(&mut *world), now)?.keep(world)
    }

    fn apply(&mut self, world: &mut World) {
        if let Some(state) = &mut self.state {
            <F::Param as SystemParam>::apply(state, world);
        }
    }

    fn applies(&self) -> bool {
        F::Param::APPLIES
    }

    fn discard(&mut self, world: &mut World) {
        if let Some(state) = &mut self.state {
            <F::Param as SystemParam>::discard(state, world);
        }
    }

    fn output(&self) -> Option<Key> {
        F::Return::key()
    }

    fn forget_output(&self, world: &mut World) {
        F::Return::forget(world);
    }

    fn needs(&self) -> Vec<(Key, bool)> {
        let mut needs = Vec::new();
        <F::Param as SystemParam>::outputs(&mut |key, is_needed| needs.push((key, is_needed)));
        needs
    }

    fn streams(&mut self, see: &mut dyn FnMut(&mut Stream)) {
        if let Some(state) = &mut self.state {
            <F::Param as SystemParam>::streams(state, see);
        }
    }
}

impl<F: SystemFunction<Marker>, Marker> fmt::Debug for FunctionSystem<F, Marker> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionSystem").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A system with fields: a struct that says what its run needs.
///
/// # Soundness
/// As [`System`].
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # use esker::system::StatefulSystem;
/// # #[derive(Component)] struct Velocity(f32);
/// struct Gravity { strength: f32 }
///
/// impl StatefulSystem for Gravity {
///     type Param = (Query<'static, &'static mut Velocity>,);
///     type Return = ();
///
///     fn run(&mut self, (mut velocities,): (Query<'_, &'static mut Velocity>,)) {
///         velocities.iter_mut().for_each(|v| v.0 -= self.strength);
///     }
/// }
///
/// let mut world = World::new();
/// world.spawn(Velocity(1.0));
/// world.run_system(Gravity { strength: 0.5 });
/// assert_eq!(world.query::<&Velocity>().single().unwrap().0, 0.5);
/// ```
pub trait StatefulSystem: Send + 'static {
    /// What it needs.
    type Param: SystemParam;

    /// What it returns.
    type Return: SystemReturn;

    /// Runs it.
    fn run(&mut self, params: <Self::Param as SystemParam>::Item<'_, '_>) -> Self::Return;
}

/// Marks systems that are structs.
#[derive(Debug)]
pub struct Stateful;

/// A struct as a function.
#[derive(Debug)]
pub struct StructFunction<S>(S);

impl<S: StatefulSystem> SystemFunction<Stateful> for StructFunction<S> {
    type Param = S::Param;
    type Return = S::Return;

    fn call(&mut self, params: <S::Param as SystemParam>::Item<'_, '_>) -> S::Return {
        self.0.run(params)
    }
}

impl<S: StatefulSystem> IntoSystem<Stateful> for S {
    type System = FunctionSystem<StructFunction<S>, Stateful>;

    fn into_system(self) -> Self::System {
        let mut system = IntoSystem::<(Stateful,)>::into_system(StructFunction(self));
        system.set_name(std::any::type_name::<S>().to_owned());
        system
    }
}

/// A function that needs the world to itself.
pub struct Exclusive<F> {
    function: F,
    name: String,
}

impl<F: FnMut(&mut World) + Send + 'static> IntoSystem<Exclusive<()>> for F {
    type System = Exclusive<F>;

    fn into_system(self) -> Exclusive<F> {
        Exclusive { function: self, name: std::any::type_name::<F>().to_owned() }
    }
}

impl<F: FnMut(&mut World) + Send + 'static> System for Exclusive<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn set_name(&mut self, name: String) {
        self.name = name;
    }

    fn init(&mut self, _: &mut World) -> AccessSet {
        let mut access = AccessSet::default();
        access.add(Key::world(), crate::access::Usage::Own);
        access
    }

    fn is_exclusive(&self) -> bool {
        true
    }

    fn run(&mut self, _: &World, _: Tick) -> Result<(), Box<dyn Error + Send + Sync>> {
        Err("it needs the world to itself".into())
    }

    fn run_alone(&mut self, world: &mut World) -> Result<(), Box<dyn Error + Send + Sync>> {
        (self.function)(world);
        Ok(())
    }

    fn apply(&mut self, _: &mut World) {}

    fn discard(&mut self, _: &mut World) {}

    fn output(&self) -> Option<Key> {
        None
    }

    fn forget_output(&self, _: &mut World) {}

    fn needs(&self) -> Vec<(Key, bool)> {
        Vec::new()
    }

    fn streams(&mut self, _: &mut dyn FnMut(&mut Stream)) {}
}

impl<F> fmt::Debug for Exclusive<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusive").field("name", &self.name).finish_non_exhaustive()
    }
}
