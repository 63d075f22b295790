//! How much memory loading may take.

use super::error::SnapshotError;

/// Memory that may still be used, in bytes.
///
/// Whoever is about to keep something that came from outside spends first, and what it takes while
/// it is on its way counts, too.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
    limit: usize,
    /// What it would have taken in all when it was not enough.
    refused: Option<usize>,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self { left: limit, limit, refused: None }
    }

    /// Takes some.
    ///
    /// # Errors
    /// [`SnapshotError::TooLarge`] if there is not so much left.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), SnapshotError> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let needed = (self.limit - self.left).saturating_add(bytes);
                self.refused = Some(needed);
                Err(SnapshotError::TooLarge { needed, limit: self.limit })
            }
        }
    }

    /// Allows so many bytes more.
    pub(super) fn raise(&mut self, bytes: usize) {
        self.limit = self.limit.saturating_add(bytes);
        self.left = self.left.saturating_add(bytes);
    }

    /// Why something failed, if it was for lack of memory.
    pub(super) fn refusal(&self) -> Option<SnapshotError> {
        let needed = self.refused?;
        Some(SnapshotError::TooLarge { needed, limit: self.limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_all_would_have_taken_and_takes_nothing() {
        let mut budget = Budget::new(100);
        budget.spend(30).unwrap();

        let refused = budget.spend(71).unwrap_err();

        assert!(matches!(refused, SnapshotError::TooLarge { needed: 101, limit: 100 }));
        let again = budget.refusal().unwrap();
        assert!(matches!(again, SnapshotError::TooLarge { needed: 101, limit: 100 }));
        budget.spend(70).unwrap();
        assert!(budget.spend(1).is_err());
    }
}
