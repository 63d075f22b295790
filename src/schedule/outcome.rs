//! How a run of a system came out, and what becomes of a failure.

use std::any::Any;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// How a run of a system came out.
#[derive(Default)]
pub(super) enum Outcome {
    /// It did not run: it is disabled, not chosen, or its conditions did not hold.
    #[default]
    Idle,
    /// It did; nanoseconds, if somebody has looked at the clock.
    Done(u64),
    Failed(Box<dyn Error + Send + Sync>),
    Panicked(Box<dyn Any + Send>),
}

impl Outcome {
    /// Of this run; a panic in it ends here.
    pub(super) fn of(run: impl FnOnce() -> Self) -> Self {
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(Self::Panicked)
    }

    /// Goes on with the panic of a system, or makes one of its error.
    #[track_caller]
    pub(super) fn fail(self, system: &str) -> ! {
        match self {
            Self::Failed(error) => panic!("system `{system}`: {error}"),
            Self::Panicked(payload) => {
                let words = payload
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| payload.downcast_ref::<&str>().copied());
                match words {
                    Some(words) => panic!("system `{system}` panicked: {words}"),
                    // Not a text: it is passed on as it is, for who knows what to do with it.
                    None => resume_unwind(payload),
                }
            }
            Self::Done(_) | Self::Idle => unreachable!("it did not fail"),
        }
    }
}
