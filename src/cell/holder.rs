//! Who took a borrow last: remembered in debug builds, for the message of a conflict.

use std::panic::Location;

#[cfg(debug_assertions)]
mod imp {
    use super::Location;
    use std::sync::Mutex;

    #[derive(Debug, Default)]
    pub(crate) struct Holder(Mutex<Option<&'static Location<'static>>>);

    impl Holder {
        #[track_caller]
        pub(crate) fn note(&self) {
            *self.0.lock().unwrap_or_else(|e| e.into_inner()) = Some(Location::caller());
        }

        pub(crate) fn last(&self) -> Option<&'static Location<'static>> {
            *self.0.lock().unwrap_or_else(|e| e.into_inner())
        }
    }
}

#[cfg(not(debug_assertions))]
mod imp {
    use super::Location;

    #[derive(Debug, Default)]
    pub(crate) struct Holder;

    impl Holder {
        #[inline]
        pub(crate) fn note(&self) {}

        pub(crate) fn last(&self) -> Option<&'static Location<'static>> {
            None
        }
    }
}

pub(super) use imp::Holder;
