//! The atomics and locks of those parts that models check.
//!
//! They are the ones of the standard library. In a build with `--cfg esker_loom` they are loom's instead,
//! which runs a model in every order that its threads and their memory allow (`cargo xtask loom`).
//! Only what a model looks at takes them from here: the borrow flag, the reservation of ids and the
//! hand-over of systems.

#[cfg(not(esker_loom))]
mod imp {
    #[cfg(feature = "parallel")]
    pub(crate) use std::sync::Mutex;
    pub(crate) use std::sync::atomic::AtomicU64;
    #[cfg(feature = "parallel")]
    pub(crate) use std::sync::atomic::AtomicUsize;

    /// The value, for who has the atomic to himself.
    #[inline]
    pub(crate) fn get_alone(atomic: &mut AtomicU64) -> u64 {
        *atomic.get_mut()
    }

    /// Sets the value, for who has the atomic to himself.
    #[inline]
    pub(crate) fn set_alone(atomic: &mut AtomicU64, value: u64) {
        *atomic.get_mut() = value;
    }
}

#[cfg(esker_loom)]
mod imp {
    #[cfg(any(feature = "parallel", test))]
    pub(crate) use loom::sync::Mutex;
    pub(crate) use loom::sync::atomic::AtomicU64;
    #[cfg(any(feature = "parallel", test))]
    pub(crate) use loom::sync::atomic::AtomicUsize;

    pub(crate) fn get_alone(atomic: &mut AtomicU64) -> u64 {
        atomic.with_mut(|value| *value)
    }

    pub(crate) fn set_alone(atomic: &mut AtomicU64, value: u64) {
        atomic.with_mut(|old| *old = value);
    }
}

pub(crate) use imp::*;
