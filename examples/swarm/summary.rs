//! What is printed at the end.

use std::fmt;
use std::time::Duration;

use esker::World;
use esker::world::MemoryReport;
use indicatif::{HumanBytes, HumanCount};

use crate::life::{self, Census, Fleeing, Hungry};

/// The end of a run, as a table.
pub struct Summary {
    steps: u32,
    time: Duration,
    census: Census,
    hungry: usize,
    fleeing: usize,
    memory: MemoryReport,
    hash: u64,
}

impl Summary {
    pub fn new(world: &World, steps: u32, time: Duration) -> Self {
        Self {
            steps,
            time,
            census: *world.resource::<Census>(),
            hungry: world.pool::<Hungry>().len(),
            fleeing: world.pool::<Fleeing>().len(),
            memory: world.memory_report(),
            hash: life::state_hash(world),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize| HumanCount(n as u64).to_string();
        let seconds = self.time.as_secs_f64();
        let census = &self.census;
        let per_second = f64::from(self.steps) / seconds;
        writeln!(f, "steps       {} in {seconds:.2} s: {per_second:.0} per second", self.steps)?;
        writeln!(f, "grazers     {} ({} fleeing)", count(census.grazers), count(self.fleeing))?;
        writeln!(f, "hunters     {} ({} hungry)", count(census.hunters), count(self.hungry))?;
        writeln!(f, "births      {}", count(census.births))?;
        writeln!(
            f,
            "deaths      {} ({} eaten, {} starved)",
            count(census.deaths()),
            count(census.eaten),
            count(census.starved)
        )?;
        writeln!(f, "\nmemory      {} in the world", HumanBytes(self.memory.total() as u64))?;
        for pool in &self.memory.pools {
            let name = pool.name.rsplit("::").next().unwrap_or(pool.name);
            let values = HumanBytes(pool.memory.values as u64).to_string();
            let look_up = HumanBytes(pool.memory.entities as u64).to_string();
            let len = count(pool.len);
            writeln!(
                f,
                "  {name:<10}{len:>8} entities  {values:>10} values  {look_up:>10} look-up"
            )?;
        }
        let ids = HumanBytes(self.memory.entities as u64);
        writeln!(f, "  ids and signatures  {ids}")?;
        write!(f, "\nstate hash  {:016x}", self.hash)
    }
}
