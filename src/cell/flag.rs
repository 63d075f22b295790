//! The borrow flag: a count of readers, or one writer.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use super::holder::Holder;

/// How something is, or wants to be, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Shared, for reading.
    Read,
    /// Alone, for writing.
    Write,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
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

/// The flag's value while a writer is in.
const WRITER: u32 = u32::MAX;

/// Zero, the number of readers, or `WRITER` (B1).
///
/// Taking is a compare-and-swap from a value that allows it, so a refused taker leaves no trace
/// and a release cannot erase somebody else's borrow.
#[derive(Debug, Default)]
pub(super) struct Flag {
    state: AtomicU32,
    holder: Holder,
}

impl Flag {
    #[inline]
    #[track_caller]
    pub(super) fn take_read(&self) -> Result<(), Conflict> {
        let mut readers = self.state.load(Ordering::Relaxed);
        loop {
            // One below the mark is never reached either: that many guards do not fit in memory,
            // and a program that forgets four billion of them is refused, not wrapped around.
            if readers >= WRITER - 1 {
                return Err(self.refuse(Access::Read, Access::Write));
            }
            let taken = self.state.compare_exchange_weak(
                readers,
                readers + 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            match taken {
                Ok(_) => break,
                Err(now) => readers = now,
            }
        }
        self.holder.note();
        Ok(())
    }

    #[inline]
    #[track_caller]
    pub(super) fn take_write(&self) -> Result<(), Conflict> {
        match self.state.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => {
                self.holder.note();
                Ok(())
            }
            Err(WRITER) => Err(self.refuse(Access::Write, Access::Write)),
            Err(_) => Err(self.refuse(Access::Write, Access::Read)),
        }
    }

    #[inline]
    pub(super) fn release_read(&self) {
        let before = self.state.fetch_sub(1, Ordering::Release);
        debug_assert!(before != 0 && before != WRITER, "B1: released a read nobody held");
    }

    #[inline]
    pub(super) fn release_write(&self) {
        debug_assert_eq!(self.state.load(Ordering::Relaxed), WRITER, "B1");
        self.state.store(0, Ordering::Release);
    }

    #[cold]
    fn refuse(&self, wanted: Access, held: Access) -> Conflict {
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
    fn a_count_that_is_full_refuses_one_more_reader() {
        let flag = Flag { state: AtomicU32::new(WRITER - 1), ..Flag::default() };

        assert!(flag.take_read().is_err());
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
