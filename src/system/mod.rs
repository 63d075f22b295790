//! Systems: functions over the world, and what they may ask for.
//!
//! A system is a function or closure whose parameters say what it uses; see [`SystemParam`] for the
//! list. What it will use is known before it runs, so that systems which do not get in each other's
//! way can run at once. Memory safety does not rest on that: each parameter takes the guards of the
//! cells it uses, and a parameter that claims too little ends in a panic with a name.

mod function;
mod once;
mod output;
mod param;
mod params;
mod run;

#[doc(hidden)]
pub use crate::entity::Stream;
pub use function::{Exclusive, FunctionSystem, IntoSystem, StatefulSystem, System, SystemFunction};
pub(crate) use once::{discard, name_streams};
pub use output::{Output, SystemOutput, SystemReturn};
pub use param::{ParamError, SystemParam};
pub use params::{Local, MessageReader, Removed};
pub(crate) use run::Lent;
pub use run::{Run, SoleRun};
