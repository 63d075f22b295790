//! Bad cases, frame by frame: what a frame costs, and how even the cost is.
//!
//! `esker-bench` shows means; this shows single frames. A frame is the same work in every run, so
//! its time is the shortest of some runs: that leaves out the noise of the machine, and keeps the
//! work that a library does in this frame only.
//!
//! Run it with `cargo run --release -p esker-bench --bin bad_cases`.

use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Parser, builder::PossibleValue};
use serde::Serialize;

use esker_bench::bad_cases::{CASES, Case, Play, Scale};
use esker_bench::{contestants, heap, setting, stats};

/// Times the frames of worlds that are hard on a library, for Esker, hecs and bevy.
#[derive(Debug, Parser)]
#[command(name = "bad_cases")]
struct Cli {
    /// How often each case is played; the shortest time of a frame counts.
    #[arg(short, long, default_value_t = 5)]
    runs: usize,

    /// A fifth of the frames, two runs: a first look.
    #[arg(short, long)]
    quick: bool,

    /// The seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Also writes the time of each frame as a flat list of JSON objects.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Which cases; all if not said.
    #[arg(value_parser = names())]
    cases: Vec<String>,
}

/// One frame of one contestant.
#[derive(Serialize)]
struct Frame {
    case: &'static str,
    contestant: &'static str,
    frame: usize,
    us: f64,
}

/// Entities that the heap is prepared for: the largest world of a case, and what grows beside it.
const ENTITIES: usize = 400_000;

fn main() -> Result<(), Box<dyn Error>> {
    let cli = Cli::parse();
    heap::warm(ENTITIES, CASES[0].contestants.len());
    println!(
        "{}- seed {}, {} runs\n",
        setting::describe(&[
            &contestants::esker::Esker,
            &contestants::hecs::Hecs,
            &contestants::bevy::Bevy
        ]),
        cli.seed,
        cli.runs()
    );
    println!(
        "| case | contestant | median frame, µs | mean, µs | slowest, µs | slowest / median | \
         median / hecs | mean / hecs |\n|---|---|--:|--:|--:|--:|--:|--:|"
    );
    let is_asked = |case: &&Case| cli.cases.is_empty() || cli.cases.iter().any(|c| c == case.name);
    let mut all = Vec::new();
    for case in CASES.iter().filter(is_asked) {
        let times = measure(case, &cli);
        show(case, &times);
        for ((contestant, _), times) in case.contestants.into_iter().zip(&times) {
            let frames = times.iter().enumerate();
            all.extend(frames.map(|(frame, us)| Frame {
                case: case.name,
                contestant,
                frame,
                us: *us,
            }));
        }
    }
    if let Some(path) = cli.json {
        std::fs::write(path, serde_json::to_string(&all)? + "\n")?;
    }
    Ok(())
}

/// The names of all cases, and what the help says of them.
fn names() -> [PossibleValue; CASES.len()] {
    CASES.map(|case| PossibleValue::new(case.name).help(case.summary))
}

impl Cli {
    fn runs(&self) -> usize {
        if self.quick { 2 } else { self.runs.max(1) }
    }

    fn frames(&self, case: &Case) -> usize {
        if self.quick { case.frames / 5 } else { case.frames }
    }
}

/// Returns, for each contestant, the time of each frame in microseconds.
fn measure(case: &Case, cli: &Cli) -> Vec<Vec<f64>> {
    let count = case.contestants.len();
    let frames = cli.frames(case);
    let mut times = vec![vec![f64::INFINITY; frames]; count];
    for run in 0..cli.runs() {
        eprintln!("{}, run {} of {}", case.name, run + 1, cli.runs());
        let mut worlds: Vec<(usize, Box<dyn Play>)> = (0..count)
            .map(|turn| (run + turn) % count)
            .map(|at| (at, case.contestants[at].1(Scale { seed: cli.seed, divisor: 1 })))
            .collect();
        worlds.sort_by_key(|(at, _)| *at);
        for frame in 0..case.warm_up + frames {
            let mut sums = vec![None; count];
            for turn in 0..count {
                let (at, world) = &mut worlds[(frame + turn) % count];
                world.draw(frame);
                let start = Instant::now();
                let sum = black_box(world.play());
                let taken = start.elapsed().as_secs_f64() * 1e6;
                sums[*at] = Some(sum);
                if let Some(timed) = frame.checked_sub(case.warm_up) {
                    times[*at][timed] = times[*at][timed].min(taken);
                }
            }
            agree(case, &format!("frame {frame}"), &sums);
        }
        let audits: Vec<_> = worlds.iter_mut().map(|(_, world)| world.audit()).collect();
        agree(case, "the audit", &audits);
    }
    times
}

/// Compares what the contestants have seen.
///
/// # Panics
/// If one of them has seen something else than the first.
#[track_caller]
fn agree<T: PartialEq + std::fmt::Debug>(case: &Case, when: &str, seen: &[T]) {
    for (theirs, (name, _)) in seen.iter().zip(case.contestants).skip(1) {
        let (first, _) = case.contestants[0];
        assert_eq!(*theirs, seen[0], "{name} and {first} differ in {}, {when}", case.name);
    }
}

/// Prints the rows of a case: one for each phase and contestant.
fn show(case: &Case, times: &[Vec<f64>]) {
    let step = case.phases.len();
    let hecs = case.contestants.iter().position(|(name, _)| *name == "hecs");
    let hecs = hecs.expect("hecs is a contestant");
    for (phase, suffix) in case.phases.iter().enumerate() {
        let figures = |times: &Vec<f64>| {
            let times: Vec<_> = times.iter().skip(phase).step_by(step).copied().collect();
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            let slowest = times.iter().copied().fold(0.0, f64::max);
            [stats::median(&times), mean, slowest]
        };
        let [of_median, of_mean, _] = figures(&times[hecs]);
        for ((contestant, _), times) in case.contestants.iter().zip(times) {
            let [median, mean, slowest] = figures(times);
            println!(
                "| {}{suffix} | {contestant} | {median:.1} | {mean:.1} | {slowest:.1} | {:.2} | \
                 {:.2} | {:.2} |",
                case.name,
                slowest / median,
                median / of_median,
                mean / of_mean
            );
        }
    }
}
