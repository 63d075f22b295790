//! The atomics, locks and tasks of those parts that are tried under other orders of threads.
//!
//! They are the ones of the standard library and of rayon. In a build with `--cfg esker_loom` the atomics
//! are loom's instead, which runs a model in every order that its threads and their memory allow (`cargo
//! xtask loom`). With `--cfg esker_shuttle` they are shuttle's, which lets another thread go on at any of
//! them, as chance wants it: that is good for whole schedules (`cargo xtask shuttle`).
//! Only what is tried so takes them from here: the borrow flag, the reservation of ids and the
//! hand-over of systems.

#[cfg(not(any(esker_loom, esker_shuttle)))]
mod imp {
    #[cfg(feature = "parallel")]
    pub(crate) use rayon::Scope;
    #[cfg(feature = "parallel")]
    pub(crate) use std::sync::Mutex;
    pub(crate) use std::sync::atomic::AtomicU64;
    #[cfg(feature = "parallel")]
    pub(crate) use std::sync::atomic::AtomicUsize;

    /// Waits for all tasks that are started in `start`, and by them.
    #[cfg(feature = "parallel")]
    pub(crate) fn scope<'env>(
        start: impl for<'s> FnOnce(&Scope<'s>, crate::sync::Outlives<'s, 'env>) + Send,
    ) {
        rayon::scope(|scope| start(scope, crate::sync::Outlives::default()));
    }
}

#[cfg(esker_loom)]
mod imp {
    #[cfg(any(feature = "parallel", test))]
    pub(crate) use loom::sync::Mutex;
    pub(crate) use loom::sync::atomic::AtomicU64;
    #[cfg(any(feature = "parallel", test))]
    pub(crate) use loom::sync::atomic::AtomicUsize;
}

#[cfg(esker_shuttle)]
mod imp {
    pub(crate) use shuttle::sync::Mutex;
    pub(crate) use shuttle::sync::atomic::{AtomicU64, AtomicUsize};
    use shuttle::thread;

    /// Where tasks are started that may borrow, as with rayon; each is a thread of shuttle's.
    pub(crate) struct Scope<'s>(&'s (dyn Spawn<'s> + Sync));

    /// Hides a lifetime that rayon's scope does not have.
    trait Spawn<'s> {
        fn spawn(&'s self, task: Box<dyn FnOnce() + Send + 's>);
    }

    impl<'s> Spawn<'s> for thread::Scope<'s, '_> {
        fn spawn(&'s self, task: Box<dyn FnOnce() + Send + 's>) {
            thread::Scope::spawn(self, task);
        }
    }

    impl<'s> Scope<'s> {
        pub(crate) fn spawn(&self, task: impl FnOnce(&Self) + Send + 's) {
            let threads = self.0;
            threads.spawn(Box::new(move || task(&Self(threads))));
        }
    }

    /// Waits for all tasks that are started in `start`, and by them.
    pub(crate) fn scope<'env>(
        start: impl for<'s> FnOnce(&Scope<'s>, crate::sync::Outlives<'s, 'env>) + Send,
    ) {
        thread::scope(|threads| start(&Scope(threads), crate::sync::Outlives::default()));
    }
}

/// Says that what tasks borrow lives longer than they do.
#[cfg(feature = "parallel")]
pub(crate) type Outlives<'s, 'env> = std::marker::PhantomData<&'s &'env ()>;

/// Looks at the values of atomics and sets them, for who has them to himself. Without a closure where
/// users have it: a call less, and debug builds inline none.
#[cfg(not(esker_loom))]
mod alone {
    use crate::sync::AtomicU64;

    #[inline]
    pub(crate) fn get_alone(atomic: &mut AtomicU64) -> u64 {
        *atomic.get_mut()
    }

    #[inline]
    pub(crate) fn set_alone(atomic: &mut AtomicU64, value: u64) {
        *atomic.get_mut() = value;
    }
}

#[cfg(esker_loom)]
mod alone {
    use crate::sync::AtomicU64;

    pub(crate) fn get_alone(atomic: &mut AtomicU64) -> u64 {
        atomic.with_mut(|value| *value)
    }

    pub(crate) fn set_alone(atomic: &mut AtomicU64, value: u64) {
        atomic.with_mut(|old| *old = value);
    }
}

pub(crate) use alone::*;
pub(crate) use imp::*;
