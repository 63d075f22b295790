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
    /// Boxed, so that an outcome is small enough to be passed on in registers.
    Failed(Box<Failure>),
}

/// Why a system did not come to its end.
pub(super) enum Failure {
    /// It has returned an error, or could not get what it needs.
    Error(Box<dyn Error + Send + Sync>),
    Panic(Box<dyn Any + Send>),
}

const _: () = assert!(size_of::<Outcome>() == 16);

impl Outcome {
    /// Of this run, which says whether the system ran; a panic in it ends here.
    pub(super) fn of(run: impl FnOnce() -> Result<bool, Box<dyn Error + Send + Sync>>) -> Self {
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(true)) => Self::Done(0),
            Ok(Ok(false)) => Self::Idle,
            Ok(Err(error)) => Self::Failed(Box::new(Failure::Error(error))),
            Err(payload) => Self::panicked(payload),
        }
    }

    pub(super) fn panicked(payload: Box<dyn Any + Send>) -> Self {
        Self::Failed(Box::new(Failure::Panic(payload)))
    }

    pub(super) fn is_panic(&self) -> bool {
        matches!(self, Self::Failed(failure) if matches!(**failure, Failure::Panic(_)))
    }
}

impl Failure {
    /// Goes on with the panic of a system, or makes one of its error.
    #[track_caller]
    pub(super) fn go_on(self, system: &str) -> ! {
        match self {
            Self::Error(error) => panic!("system `{system}`: {error}"),
            Self::Panic(payload) => {
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
        }
    }
}
