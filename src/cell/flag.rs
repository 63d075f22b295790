//! The borrow flag: who filters, reads, writes, or has the whole.

use std::fmt;
use std::sync::atomic::Ordering;

use super::holder::Holder;
use crate::sync::AtomicU64;

/// How something is, or wants to be, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Shared, to see which entities have the component, not the values.
    Filter,
    /// Shared, for reading.
    Read,
    /// Alone, for writing.
    Write,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Filter => "filter by it",
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

/// A borrow that was refused because of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflict {
    /// What was asked for.
    pub wanted: Access,
    /// What stands against it.
    pub held: Access,
    /// Where the latest borrow was taken; known in debug builds only.
    pub holder: Option<&'static std::panic::Location<'static>>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wanted to {}, but it is borrowed to {}", self.wanted, self.held)?;
        match self.holder {
            Some(place) => write!(f, ", last at {place}"),
            None => Ok(()),
        }
    }
}

/// The state while somebody has the whole for himself: nobody else is in.
const OWNED: u64 = u64::MAX;

/// The lower half of the state while somebody writes values.
const EDITED: u32 = u32::MAX;

/// One who filters, in the upper half of the state.
const ONE_LOOK: u64 = 1 << 32;

/// Counts those who filter in the upper half, and those who read in the lower one (B1).
///
/// Taking is a compare-and-swap from a state that allows it, so a refused taker leaves no trace
/// and a release cannot erase somebody else's borrow.
#[derive(Debug, Default)]
pub(super) struct Flag {
    state: AtomicU64,
    holder: Holder,
}

fn readers(state: u64) -> u32 {
    state as u32
}

impl Flag {
    /// Moves to the state that `after` names, unless it refuses the present one.
    #[inline]
    #[track_caller]
    fn take(&self, wanted: Access, after: impl Fn(u64) -> Option<u64>) -> Result<(), Conflict> {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let Some(next) = after(state) else { return Err(self.refuse(wanted, state)) };
            let taken =
                self.state.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed);
            match taken {
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        self.holder.note();
        Ok(())
    }

    /// Lets one in who sees the structure but not the values.
    #[inline]
    #[track_caller]
    pub(super) fn take_look(&self) -> Result<(), Conflict> {
        // A full count is never reached: that many guards do not fit in memory, and a program
        // that forgets four billion of them is refused, not wrapped around.
        let full = ((OWNED - ONE_LOOK) >> 32) << 32;
        self.take(Access::Filter, |state| (state < full).then(|| state + ONE_LOOK))
    }

    /// Lets one in who reads the values.
    #[inline]
    #[track_caller]
    pub(super) fn take_read(&self) -> Result<(), Conflict> {
        self.take(Access::Read, |state| (readers(state) < EDITED - 1).then(|| state + 1))
    }

    /// Lets one in who writes values and leaves the structure alone.
    #[inline]
    #[track_caller]
    pub(super) fn take_edit(&self) -> Result<(), Conflict> {
        let edited = u64::from(EDITED);
        self.take(Access::Write, |state| (readers(state) == 0).then_some(state | edited))
    }

    /// Lets one in who may change everything.
    #[inline]
    #[track_caller]
    pub(super) fn take_write(&self) -> Result<(), Conflict> {
        self.take(Access::Write, |state| (state == 0).then_some(OWNED))
    }

    #[inline]
    pub(super) fn release_look(&self) {
        let before = self.state.fetch_sub(ONE_LOOK, Ordering::Release);
        debug_assert!(before >= ONE_LOOK && before != OWNED, "B1: released a look nobody had");
    }

    #[inline]
    pub(super) fn release_read(&self) {
        let before = readers(self.state.fetch_sub(1, Ordering::Release));
        debug_assert!(before != 0 && before != EDITED, "B1: released a read nobody held");
    }

    #[inline]
    pub(super) fn release_edit(&self) {
        let before = self.state.fetch_sub(u64::from(EDITED), Ordering::Release);
        debug_assert!(readers(before) == EDITED && before != OWNED, "B1");
    }

    #[inline]
    pub(super) fn release_write(&self) {
        debug_assert_eq!(self.state.load(Ordering::Relaxed), OWNED, "B1");
        self.state.store(0, Ordering::Release);
    }

    #[cold]
    fn refuse(&self, wanted: Access, state: u64) -> Conflict {
        let held = match readers(state) {
            0 => Access::Filter,
            EDITED => Access::Write,
            _ => Access::Read,
        };
        Conflict { wanted, held, holder: self.holder.last() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_readers_or_one_writer() {
        let flag = Flag::default();

        assert!(flag.take_read().is_ok());
        assert!(flag.take_read().is_ok());
        assert_eq!(flag.take_write().unwrap_err().held, Access::Read);
        flag.release_read();
        flag.release_read();
        assert!(flag.take_write().is_ok());
        assert_eq!(flag.take_read().unwrap_err().held, Access::Write);
        assert_eq!(flag.take_write().unwrap_err().held, Access::Write);
        flag.release_write();
        assert!(flag.take_read().is_ok());
    }

    #[test]
    fn who_filters_goes_together_with_who_writes_values_but_not_with_who_has_the_whole() {
        let flag = Flag::default();

        assert!(flag.take_look().is_ok());
        assert!(flag.take_edit().is_ok());
        assert!(flag.take_look().is_ok());
        assert_eq!(flag.take_read().unwrap_err().held, Access::Write);
        assert_eq!(flag.take_edit().unwrap_err().held, Access::Write);
        flag.release_edit();
        assert_eq!(flag.take_write().unwrap_err().held, Access::Filter);
        assert!(flag.take_read().is_ok());
        assert_eq!(flag.take_edit().unwrap_err().held, Access::Read);
        flag.release_read();
        flag.release_look();
        flag.release_look();
        assert!(flag.take_write().is_ok());
        assert_eq!(flag.take_look().unwrap_err().held, Access::Write);
        assert!(flag.take_edit().is_err());
    }

    #[test]
    fn a_count_that_is_full_refuses_one_more() {
        let state = AtomicU64::new(u64::from(EDITED - 1));
        assert!(Flag { state, ..Flag::default() }.take_read().is_err());

        let state = AtomicU64::new(u64::from(u32::MAX - 1) << 32);
        assert!(Flag { state, ..Flag::default() }.take_look().is_err());
    }

    #[test]
    fn a_refusal_says_what_stands_against_it() {
        let flag = Flag::default();
        flag.take_write().unwrap();

        let text = flag.take_read().unwrap_err().to_string();

        assert!(text.starts_with("wanted to read, but it is borrowed to write"), "{text}");
        #[cfg(debug_assertions)]
        assert!(text.contains("flag.rs:"), "{text}");
    }
}
