//! What a step has done.

use std::fmt;
use std::time::Duration;

use crate::world::CommandReport;

/// What a step has done; prints as a table.
///
/// Look at it for the time of each system, and for commands that came too late for their entity.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// let mut schedule = Schedule::new();
/// schedule.add_systems(|mut commands: Commands| {
///     commands.spawn(());
/// });
/// let report = schedule.set_timed(true).step(&mut World::new());
/// assert_eq!((report.systems_run, report.growth, report.commands.skipped), (1, 1, 0));
/// println!("{report}");
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StepReport {
    /// The systems, in the serial order, if the schedule is [timed](super::Schedule::set_timed).
    pub systems: Vec<SystemReport>,
    /// Number of systems that ran.
    pub systems_run: usize,
    /// What became of commands.
    pub commands: CommandReport,
    /// Entities that are alive now, less those that were before.
    pub growth: i64,
    /// How long it took; known if the schedule is [timed](super::Schedule::set_timed), and now and then.
    pub time: Option<Duration>,
    /// How much of it went into carrying out commands and refreshing the world; known as `time` is.
    pub refresh: Option<Duration>,
}

/// What one system has done in a step.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SystemReport {
    /// Its name.
    pub name: String,
    /// How long it ran; nothing if it did not.
    pub time: Option<Duration>,
}

impl fmt::Display for StepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for SystemReport { name, time } in &self.systems {
            match time {
                Some(time) => writeln!(f, "{:>12}  {name}", format!("{time:.1?}"))?,
                None => writeln!(f, "{:>12}  {name}", "–")?,
            }
        }
        if let Some(refresh) = self.refresh {
            writeln!(f, "{:>12}  (refresh)", format!("{refresh:.1?}"))?;
        }
        let time = self.time.map_or_else(|| "–".to_owned(), |time| format!("{time:.1?}"));
        let CommandReport { applied, skipped, .. } = self.commands;
        write!(f, "{time:>12}  in all, for {} systems; ", self.systems_run)?;
        write!(f, "{applied} commands, {skipped} of them skipped")?;
        for skipped in &self.commands.first_skipped {
            write!(f, "\n{:>14}{skipped}", "")?;
        }
        Ok(())
    }
}
