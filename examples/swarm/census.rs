//! Counts, step by step.

use esker::prelude::*;
use esker::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use crate::life::{Grazer, Hunter};
use crate::struggle::{Cause, Death};

/// The counts of one step.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Census {
    pub grazers: usize,
    pub hunters: usize,
    /// Who is new; at the beginning that is everybody.
    pub born: usize,
    pub eaten: usize,
    pub starved: usize,
}

/// The beginning, and the counts of each step.
#[derive(Default, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
pub struct History(pub Vec<Census>);

impl History {
    /// The last counts.
    pub fn now(&self) -> Census {
        self.0.last().copied().unwrap_or_default()
    }

    /// Steps that were made.
    pub fn steps(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// The sum of something over all steps, without the beginning.
    pub fn total(&self, count: impl Fn(&Census) -> usize) -> usize {
        self.0.iter().skip(1).map(count).sum()
    }
}

/// Counts everyone, those that are new since the last time, and the dead.
pub fn count(
    (grazers, hunters): (Pool<Grazer>, Pool<Hunter>),
    calves: Query<Entity, Added<Grazer>>,
    cubs: Query<Entity, Added<Hunter>>,
    deaths: MessageReader<Death>,
    mut history: ResMut<History>,
) {
    let dead_by = |cause| deaths.read().filter(|death| death.cause == cause).count();
    history.0.push(Census {
        grazers: grazers.len(),
        hunters: hunters.len(),
        born: calves.count() + cubs.count(),
        eaten: dead_by(Cause::Eaten),
        starved: dead_by(Cause::Starved),
    });
}
