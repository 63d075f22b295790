//! What systems return, for other systems to read.

use std::any::TypeId;
use std::error::Error;
use std::fmt;
use std::ops::Deref;

use super::Run;
use super::param::{ParamError, SystemParam};
use crate::access::{AccessSet, Key, Usage};
use crate::world::{Res, World};

/// A value that a system may return for others to read with [`Output`].
///
/// Implement it for types of your own: `impl SystemOutput for Forces {}`.
///
/// # Soundness
/// Nothing rests on it: a mark without methods.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned by a system",
    note = "a system returns nothing, a `Result<(), E>`, or an output for other systems: \
            `impl SystemOutput for {Self} {{}}`"
)]
pub trait SystemOutput: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> SystemOutput for Vec<T> {}
impl<T: Send + Sync + 'static> SystemOutput for Option<T> {}
impl<T: Send + Sync + 'static> SystemOutput for Box<T> {}
/// The answer of a run condition.
impl SystemOutput for bool {}

/// Where an output lies from the end of its system to the end of the step.
#[derive(Debug)]
struct Kept<O>(Option<O>);

/// What a system may return: nothing, an output, or a `Result` of one of these.
///
/// # Soundness
/// Safe to implement, however wrongly: an output lies in a resource, behind a cell (B1).
pub trait SystemReturn: 'static {
    /// The output that others may read, if there is one.
    fn key() -> Option<Key>;

    /// Makes room for the output in a world, and says that it will be written.
    fn init(world: &mut World, access: &mut AccessSet);

    /// Keeps the output for the rest of the step.
    ///
    /// # Errors
    /// What the system returned as an error.
    fn keep(self, world: &World) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// Forgets the output of the last step.
    fn forget(world: &mut World);
}

impl SystemReturn for () {
    fn key() -> Option<Key> {
        None
    }

    fn init(_: &mut World, _: &mut AccessSet) {}

    fn keep(self, _: &World) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    fn forget(_: &mut World) {}
}

impl<O: SystemOutput> SystemReturn for O {
    fn key() -> Option<Key> {
        Some(Key::new(TypeId::of::<Kept<O>>(), std::any::type_name::<O>()))
    }

    fn init(world: &mut World, access: &mut AccessSet) {
        if !world.has_resource::<Kept<O>>() {
            world.insert_resource(Kept::<O>(None));
        }
        access.add(Key::new(TypeId::of::<Kept<O>>(), std::any::type_name::<O>()), Usage::Write);
    }

    fn keep(self, world: &World) -> Result<(), Box<dyn Error + Send + Sync>> {
        world.try_resource_mut::<Kept<O>>()?.0 = Some(self);
        Ok(())
    }

    fn forget(world: &mut World) {
        if let Some(mut kept) = world.get_resource_mut::<Kept<O>>() {
            kept.0 = None;
        }
    }
}

impl<R: SystemReturn, E: Into<Box<dyn Error + Send + Sync>> + 'static> SystemReturn
    for Result<R, E>
{
    fn key() -> Option<Key> {
        R::key()
    }

    fn init(world: &mut World, access: &mut AccessSet) {
        R::init(world, access);
    }

    fn keep(self, world: &World) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.map_err(Into::into)?.keep(world)
    }

    fn forget(world: &mut World) {
        R::forget(world);
    }
}

/// What another system of this step has returned.
///
/// The schedule lets the other one run first.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// struct Total(u32);
/// impl SystemOutput for Total {}
/// # #[derive(Component)] struct Coins(u32);
///
/// fn sum(coins: Query<&Coins>) -> Total {
///     Total(coins.iter().map(|coins| coins.0).sum())
/// }
/// fn show(total: Output<Total>) {
///     println!("{} coins", total.0);
/// }
///
/// let mut schedule = Schedule::new();
/// schedule.add_systems((show, sum)); // `sum` runs first all the same
/// schedule.step(&mut World::new());
/// ```
pub struct Output<'w, O: SystemOutput>(Res<'w, Kept<O>>);

impl<O: SystemOutput> Deref for Output<'_, O> {
    type Target = O;

    fn deref(&self) -> &O {
        self.0.0.as_ref().expect("looked at when the parameter was made")
    }
}

impl<O: SystemOutput> SystemParam for Output<'_, O> {
    type State = ();
    type Item<'w, 's> = Output<'w, O>;

    const APPLIES: bool = false;

    fn init(world: &mut World, access: &mut AccessSet) {
        if !world.has_resource::<Kept<O>>() {
            world.insert_resource(Kept::<O>(None));
        }
        access.add(Key::new(TypeId::of::<Kept<O>>(), std::any::type_name::<O>()), Usage::Read);
    }

    fn get<'w>((): &mut (), run: Run<'w>) -> Result<Output<'w, O>, ParamError> {
        let kept = run.resource::<Kept<O>>()?;
        match kept.0 {
            Some(_) => Ok(Output(kept)),
            None => Err(ParamError::new(format!(
                "there is no output `{}` in this step: the system that returns it did not run",
                std::any::type_name::<O>()
            ))),
        }
    }

    fn outputs(see: &mut dyn FnMut(Key, bool)) {
        see(Key::new(TypeId::of::<Kept<O>>(), std::any::type_name::<O>()), true);
    }
}

impl<O: SystemOutput + fmt::Debug> fmt::Debug for Output<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
