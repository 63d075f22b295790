//! Why a pool cannot be had.

use std::error::Error;
use std::fmt;

use super::BorrowConflict;

/// A pool cannot be had for changing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError {
    /// No value of the component has ever been inserted.
    Unknown {
        /// Name of the component type.
        name: &'static str,
    },
    /// The component is borrowed.
    Borrowed(BorrowConflict),
}

impl From<BorrowConflict> for PoolError {
    fn from(conflict: BorrowConflict) -> Self {
        Self::Borrowed(conflict)
    }
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => {
                let short = name.rsplit("::").next().unwrap_or(name);
                write!(f, "the world does not know `{name}` yet; ")?;
                write!(f, "call `world.register::<{short}>()` first")
            }
            Self::Borrowed(conflict) => conflict.fmt(f),
        }
    }
}

impl Error for PoolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Borrowed(conflict) => Some(conflict),
            Self::Unknown { .. } => None,
        }
    }
}
