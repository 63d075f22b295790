//! What is printed at the end.

use std::fmt::Write;
use std::time::Duration;

use esker::World;
use esker::schedule::StepReport;
use esker::snapshot::SnapshotError;
use indicatif::{HumanBytes, HumanCount};

use crate::census::History;
use crate::life::{Fleeing, Hungry};
use crate::state;

/// How long everything took.
#[derive(Default)]
pub struct Timings {
    /// Systems, in the order in which they run, and the time of all their runs.
    systems: Vec<(String, Duration)>,
    steps: u32,
    time: Duration,
}

impl Timings {
    /// Adds those of one step.
    pub fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        self.time += report.time.unwrap_or_default();
        let times = report.systems.iter().map(|system| (short(&system.name), system.time));
        let times = times.chain([("refresh", report.refresh)]);
        for (at, (name, time)) in times.enumerate() {
            if at == self.systems.len() {
                self.systems.push((name.to_owned(), Duration::ZERO));
            }
            self.systems[at].1 += time.unwrap_or_default();
        }
    }

    pub fn steps_per_second(&self) -> f64 {
        f64::from(self.steps) / self.time.as_secs_f64().max(1e-9)
    }

    /// The systems that take the most, and how long on average.
    pub fn slowest(&self, count: usize) -> impl Iterator<Item = (&str, Duration)> {
        let mut systems: Vec<_> = self.systems.iter().collect();
        systems.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        systems.into_iter().take(count).map(|(name, time)| (name.as_str(), *time / self.steps))
    }

    /// Each system, in the order in which they run.
    pub fn table(&self) -> String {
        let all: Duration = self.systems.iter().map(|(_, time)| *time).sum();
        let mut text = format!("{:<14}{:>10}{:>12}{:>8}\n", "system", "total", "mean", "share");
        for (name, time) in &self.systems {
            let (total, mean) =
                (time.as_secs_f64(), time.as_secs_f64() * 1e6 / f64::from(self.steps));
            let share = 100.0 * total / all.as_secs_f64();
            _ = writeln!(text, "{name:<14}{total:>8.2} s{mean:>9.0} µs{share:>6.1} %");
        }
        text
    }
}

/// The last part of a path.
fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// How the world is, and how it came to that.
pub fn of(world: &World, timings: &Timings, threads: usize) -> Result<String, SnapshotError> {
    let count = |n: usize| HumanCount(n as u64).to_string();
    let history = world.resource::<History>();
    let (begin, now) = (history.0[0], history.now());
    let (eaten, starved) = (history.total(|c| c.eaten), history.total(|c| c.starved));
    let rows = [
        (
            "steps",
            format!(
                "{} in {:.1} s, {:.0} per second, on {threads} threads",
                count(history.steps()),
                timings.time.as_secs_f64(),
                timings.steps_per_second()
            ),
        ),
        ("entities", format!("{}, from {}", count(world.len()), count(begin.born))),
        (
            "grazers",
            format!("{}, {} fleeing", count(now.grazers), count(world.pool::<Fleeing>().len())),
        ),
        (
            "hunters",
            format!("{}, {} hungry", count(now.hunters), count(world.pool::<Hungry>().len())),
        ),
        ("births", count(history.total(|c| c.born))),
        (
            "deaths",
            format!(
                "{}: {} eaten, {} starved",
                count(eaten + starved),
                count(eaten),
                count(starved)
            ),
        ),
        ("memory", HumanBytes(world.memory_report().total() as u64).to_string()),
        ("state hash", format!("{:016x}", state::hash(world)?)),
    ];
    Ok(rows.map(|(name, value)| format!("{name:<13}{value}")).join("\n"))
}
