//! Steps of a fixed length of time.

use std::time::Duration;

/// Turns the time that has passed into steps of equal length.
///
/// # Examples
/// ```
/// # use std::time::Duration;
/// # use esker::schedule::FixedStep;
/// let mut steps = FixedStep::new(Duration::from_millis(10));
/// steps.add(Duration::from_millis(25));
/// assert_eq!(steps.by_ref().count(), 2);
/// assert_eq!(steps.fraction(), 0.5);
/// ```
#[derive(Debug, Clone)]
pub struct FixedStep {
    length: Duration,
    waiting: Duration,
    most: u32,
}

impl FixedStep {
    /// Steps of this length.
    ///
    /// # Panics
    /// If the length is zero.
    #[track_caller]
    pub fn new(length: Duration) -> Self {
        assert!(!length.is_zero(), "a step of a fixed length cannot have the length zero");
        Self { length, waiting: Duration::ZERO, most: u32::MAX }
    }

    /// Makes up for at most this many steps after a pause; time beyond that is lost.
    #[must_use]
    pub fn at_most(mut self, steps: u32) -> Self {
        self.most = steps;
        self
    }

    /// Adds time that has passed. What is more than a [`Duration`] can hold is lost, too.
    pub fn add(&mut self, passed: Duration) {
        let waiting = self.waiting.saturating_add(passed);
        self.waiting = waiting.min(self.length.saturating_mul(self.most));
    }

    /// The length of a step.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// Which part of the next step has passed, from 0 to 1: for drawing in between.
    pub fn fraction(&self) -> f64 {
        self.waiting.as_secs_f64() / self.length.as_secs_f64()
    }
}

/// One item for each step that is due.
impl Iterator for FixedStep {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.waiting = self.waiting.checked_sub(self.length)?;
        Some(self.length)
    }
}
