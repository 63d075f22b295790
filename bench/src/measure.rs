//! Times contestants against each other, fairly, on a machine that is not quiet.
//!
//! All contestants of a cell live at the same time and take turns, round by round, with the
//! first one rotating; a slow moment of the machine hits them all, and ratios are taken
//! within a round. After some rounds everything is dropped and rebuilt in another order, so
//! that no one keeps a lucky address: that is an epoch.

use std::{fmt, time::Instant};

use serde::{Deserialize, Serialize};

use crate::{
    contestant::{Bout, Contestant},
    heap,
    scene::{Random, Scene},
    stats,
    workload::Workload,
};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rounds per epoch; `None` takes more rounds for smaller worlds.
    pub rounds: Option<usize>,
    /// How often everything is rebuilt.
    pub epochs: usize,
    /// Where all randomness comes from.
    pub seed: u64,
}

impl Plan {
    /// Rounds per epoch in a world of `n` entities.
    pub fn rounds(&self, n: usize) -> usize {
        let by_size = [(10_000, 25), (200_000, 11), (2_000_000, 5)];
        let fitting = by_size.into_iter().find(|(largest, _)| n <= *largest);
        self.rounds.unwrap_or(fitting.map_or(3, |(_, rounds)| rounds))
    }
}

/// One cell of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The row.
    pub workload: String,
    /// How many entities the world had.
    pub n: usize,
    /// The column.
    pub contestant: String,
    /// The fastest run, in nanoseconds.
    pub min_ns: f64,
    /// The median run, in nanoseconds.
    pub median_ns: f64,
    /// The median run divided by the entities it touched.
    pub ns_per_entity: f64,
    /// The median over all rounds of this contestant's time by raw's in the same round.
    pub ratio_to_raw: f64,
}

/// Two contestants did not do the same work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The row.
    pub workload: Workload,
    /// How many entities the world had.
    pub n: usize,
    /// Whose checksum is believed, and the checksum.
    pub expected: (&'static str, u64),
    /// Whose checksum differs, and the checksum.
    pub found: (&'static str, u64),
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, n, expected, found } = self;
        write!(
            f,
            "checksums differ in {workload} at n = {n}: {} has {:016x}, {} has {:016x}",
            expected.0, expected.1, found.0, found.1
        )
    }
}

impl std::error::Error for Mismatch {}

/// A sample of raw lasts at least this long, so that the clock's steps do not show.
const SAMPLE_NS: f64 = 30_000.0;

/// A sample of a `frame` row has at least so many frames.
const FRAMES: usize = 4;

/// Runs longer than this are not warmed up before each sample: they warm themselves.
const WARM_NS: f64 = 2_000_000.0;

/// Measures one row at one size. The first contestant is the limit; those that do not offer
/// the workload are left out of the result. `tick` is called after each round and rebuild.
///
/// # Errors
/// [`Mismatch`] if a contestant's checksum differs from the limit's.
pub fn measure(
    workload: Workload,
    n: usize,
    contestants: &[&'static dyn Contestant],
    plan: &Plan,
    tick: &mut dyn FnMut(),
) -> Result<Vec<Record>, Mismatch> {
    let (limit, others) = contestants.split_first().expect("the limit always takes part");
    let mut records = Vec::new();
    // Worlds of ten million entities may not fit side by side: then in parties, each with raw.
    for party in others.chunks(heap::room(n)) {
        let party: Vec<_> = std::iter::once(limit).chain(party).copied().collect();
        let first = records.is_empty();
        let fresh = measure_party(workload, n, &party, plan, tick)?;
        // Raw takes part in each party and is written down once.
        records.extend(fresh.into_iter().filter(|r| first || r.contestant != limit.name()));
    }
    if others.is_empty() {
        records = measure_party(workload, n, contestants, plan, tick)?;
    }
    Ok(records)
}

fn measure_party(
    workload: Workload,
    n: usize,
    party: &[&'static dyn Contestant],
    plan: &Plan,
    tick: &mut dyn FnMut(),
) -> Result<Vec<Record>, Mismatch> {
    let pace = Pace::find(party[0], workload, n, plan.seed);
    let rows = workload.rows();
    // By contestant and row.
    let mut samples = vec![vec![Vec::new(); rows.len()]; party.len()];
    for epoch in 0..plan.epochs {
        let seed = plan.seed ^ ((epoch as u64) << 32);
        let mut lanes = build(workload, Scene { n, seed }, party, &pace);
        tick();
        for round in 0..plan.rounds(n) {
            for turn in 0..lanes.len() {
                let at = (round + turn) % lanes.len();
                let (who, lane) = &mut lanes[at];
                let times = lane.sample(&pace);
                samples[*who].iter_mut().zip(times).for_each(|(row, time)| row.push(time));
            }
            tick();
        }
        agree(workload, n, party, &mut lanes)?;
    }
    let mut records = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let offered = party.iter().zip(&samples).filter(|(_, samples)| !samples[at].is_empty());
        records.extend(offered.map(|(who, ours)| {
            let entities = workload.entities(n);
            record(row, n, entities, who.name(), &ours[at], &samples[0][at])
        }));
    }
    Ok(records)
}

fn record(row: &str, n: usize, entities: usize, name: &str, ours: &[f64], raw: &[f64]) -> Record {
    let median_ns = stats::median(ours);
    Record {
        workload: row.to_owned(),
        n,
        contestant: name.to_owned(),
        min_ns: stats::minimum(ours),
        median_ns,
        ns_per_entity: median_ns / entities as f64,
        ratio_to_raw: stats::median_ratio(ours, raw),
    }
}

/// How a sample is taken, the same for all contestants of a cell.
struct Pace {
    /// Runs per sample.
    runs: usize,
    /// Whether a run goes ahead of the clock.
    warm: bool,
    /// Whether one state serves all runs of a sample, or each run needs its own.
    repeats: bool,
}

impl Pace {
    fn find(limit: &dyn Contestant, workload: Workload, n: usize, seed: u64) -> Self {
        let mut bout = limit.prepare(workload, Scene { n, seed }).expect("the limit does all");
        let fastest = (0..3).map(|_| {
            bout.reset();
            time(|| bout.run())
        });
        let fastest = fastest.fold(f64::INFINITY, f64::min).max(1.0);
        let repeats = workload.repeats();
        let runs = (SAMPLE_NS / fastest).ceil() as usize;
        // States that are used up must all be built beforehand: fewer of them.
        let runs = runs.clamp(1, if repeats { 4096 } else { 16 });
        // Frames differ: a sample is a mean over some of them.
        let runs = if workload.is_frame() { runs.max(FRAMES) } else { runs };
        Self { runs, warm: repeats && fastest < WARM_NS, repeats }
    }
}

/// The states of one contestant: one, or as many as a sample uses up.
struct Lane(Vec<Box<dyn Bout>>);

impl Lane {
    /// The time of a run, then those of its halves if the bout takes them itself.
    fn sample(&mut self, pace: &Pace) -> Vec<f64> {
        if pace.repeats {
            let bout = &mut self.0[0];
            bout.reset();
            if pace.warm {
                bout.run();
            }
            bout.laps();
            let whole = time(|| (0..pace.runs).for_each(|_| bout.run()));
            let times = match bout.laps() {
                Some([structure, queries]) => vec![structure + queries, structure, queries],
                None => vec![whole],
            };
            return times.into_iter().map(|time| time / pace.runs as f64).collect();
        }
        self.0.iter_mut().for_each(|bout| bout.reset());
        vec![time(|| self.0.iter_mut().for_each(|bout| bout.run())) / pace.runs as f64]
    }

    fn checksum(&mut self) -> u64 {
        self.0.iter_mut().fold(0, |sum, bout| sum.wrapping_add(bout.checksum()))
    }
}

/// Builds the contestants in random order, runs each once, and returns them in their own order.
fn build(
    workload: Workload,
    scene: Scene,
    party: &[&'static dyn Contestant],
    pace: &Pace,
) -> Vec<(usize, Lane)> {
    let states = if pace.repeats { 1 } else { pace.runs };
    let mut lanes: Vec<_> = Random::new(scene.seed)
        .shuffled(party.len())
        .into_iter()
        .filter_map(|who| {
            let who = who as usize;
            let bouts: Option<Vec<_>> =
                (0..states).map(|_| party[who].prepare(workload, scene)).collect();
            let mut lane = Lane(bouts?);
            lane.sample(&Pace { runs: states, warm: false, repeats: pace.repeats });
            Some((who, lane))
        })
        .collect();
    lanes.sort_by_key(|(who, _)| *who);
    lanes
}

fn agree(
    workload: Workload,
    n: usize,
    party: &[&'static dyn Contestant],
    lanes: &mut [(usize, Lane)],
) -> Result<(), Mismatch> {
    let mut sums = lanes.iter_mut().map(|(who, lane)| (party[*who].name(), lane.checksum()));
    let expected = sums.next().expect("the limit does all");
    match sums.find(|(_, sum)| *sum != expected.1) {
        Some(found) => Err(Mismatch { workload, n, expected, found }),
        None => Ok(()),
    }
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use std::any::Any;

    use super::*;
    use crate::{
        contestant::{Ebb, Role, Width, lasting},
        contestants,
    };

    /// Claims to iterate and does nothing.
    struct Idle;

    impl Contestant for Idle {
        fn name(&self) -> &'static str {
            "idle"
        }

        fn version(&self) -> &'static str {
            "0"
        }

        fn prepare(&self, workload: Workload, _: Scene) -> Option<Box<dyn Bout>> {
            (workload == Workload::Iter1).then(|| lasting((), |()| (), |()| 0))?
        }

        fn hold(&self, _: usize, _: Width) -> Option<Box<dyn Any>> {
            None
        }

        fn ebb(&self, _: usize, _: Ebb) -> Option<Box<dyn Any>> {
            None
        }
    }

    const PLAN: Plan = Plan { rounds: Some(2), epochs: 2, seed: 5 };

    fn limit() -> &'static dyn Contestant {
        contestants::all()[0]
    }

    #[test]
    fn a_contestant_that_does_nothing_is_caught_and_named() {
        let party: [&'static dyn Contestant; 2] = [limit(), &Idle];

        let mismatch = measure(Workload::Iter1, 64, &party, &PLAN, &mut || ()).unwrap_err();

        assert!(mismatch.to_string().starts_with("checksums differ in iter_1 at n = 64: raw has "));
        assert_eq!(mismatch.found.0, "idle");
    }

    #[test]
    fn what_is_not_offered_has_no_record() {
        let party: [&'static dyn Contestant; 2] = [limit(), &Idle];
        let mut ticks = 0;

        let records = measure(Workload::Create2, 64, &party, &PLAN, &mut || ticks += 1).unwrap();

        assert_eq!(records.len(), 1);
        assert_eq!(records[0].contestant, "raw");
        assert_eq!(records[0].ratio_to_raw, 1.0);
        // Two epochs of one rebuild and two rounds.
        assert_eq!(ticks, 6);
    }

    #[test]
    fn time_is_shared_among_the_entities_touched() {
        let record = record("iter_2_rare", 640, 10, "x", &[50.0, 30.0, 40.0], &[20.0, 10.0, 20.0]);

        assert_eq!((record.min_ns, record.median_ns, record.ns_per_entity), (30.0, 40.0, 4.0));
        assert_eq!(record.ratio_to_raw, 2.5);
    }

    #[test]
    fn only_one_contestant_is_the_limit() {
        assert_eq!(limit().role(), Role::Limit);
        assert_eq!(Idle.role(), Role::Peer);
    }
}
