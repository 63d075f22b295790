//! `cargo xtask planted`: puts known kinds of bugs into a copy of the sources, one at a time, and sees
//! whether the tests find them.
//!
//! A test that never fails proves nothing. Each file in `tests/plants` is a bug that some ECS, arena or
//! allocator once had, said in terms of this library: a piece of a source file, what to put there
//! instead, and the tests that must fail then. The sources themselves know nothing of it.

pub(crate) mod copy;
mod hunt;
mod plant;
pub(crate) mod trial;

use std::time::{Duration, Instant};

use clap::Args;

use crate::{Outcome, root};
use copy::Copy;
use plant::Plant;
use trial::{Trial, Verdict};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Plant only bugs whose names contain one of these.
    names: Vec<String>,
    /// List the bugs, plant none.
    #[arg(long)]
    list: bool,
    /// Believe that the tests pass without the bugs; otherwise that is tried first.
    #[arg(long)]
    skip_clean: bool,
    /// Plant this many: always the same, from all parts of the list.
    #[arg(long)]
    some: Option<usize>,
    /// Let the fuzz targets look for the bugs that are made for them, and not the tests; this many
    /// seconds each.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "180")]
    fuzz: Option<u32>,
}

/// How many bugs were planted, and how many nobody found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) planted: usize,
    pub(crate) missed: usize,
}

pub(crate) fn run(options: &Options) -> Outcome {
    if options.list {
        for plant in Plant::all(&root())? {
            println!("{:<34} {:<58} {}", plant.name, plant.kind, plant.tests);
        }
        return Ok(());
    }
    let Tally { planted, missed } = plant_all(options)?;
    println!("\n{} of {planted} planted bugs were found", planted - missed);
    if missed == 0 { Ok(()) } else { Err("the tests did not find every planted bug".into()) }
}

/// Options for who wants a few, and has just run the tests.
pub(crate) fn some(count: Option<usize>) -> Options {
    Options { names: vec![], list: false, skip_clean: count.is_some(), some: count, fuzz: None }
}

/// Plants what is asked for, and prints a table that a report can take over.
pub(crate) fn plant_all(options: &Options) -> Result<Tally, Box<dyn std::error::Error>> {
    let all = Plant::all(&root())?;
    let chosen = choose(&all, options)?;
    let copy = Copy::of(&root(), "planted")?;
    // All of them before the first is tried: a plant that has lost its place is found at once.
    for plant in &all {
        plant.planted(&copy.original(&plant.file)?)?;
    }
    if !options.skip_clean && options.fuzz.is_none() {
        try_without(&copy, &chosen)?;
    }
    println!("| planted bug | kind of bug, and who had it | found by | time |\n|---|---|---|---:|");
    let mut missed = 0;
    for plant in &chosen {
        let begun = Instant::now();
        let verdict = try_with(&copy, plant, options.fuzz)?;
        let found = match &verdict {
            Verdict::Passed => {
                missed += 1;
                format!("**nobody** ({})", seeker(plant, options.fuzz))
            }
            Verdict::Failed(by) => by.clone(),
        };
        let Plant { name, kind, .. } = plant;
        println!("| `{name}` | {kind} | {found} | {} |", seconds(begun.elapsed()));
    }
    Ok(Tally { planted: chosen.len(), missed })
}

/// The plants that are asked for.
fn choose<'a>(
    all: &'a [Plant],
    options: &Options,
) -> Result<Vec<&'a Plant>, Box<dyn std::error::Error>> {
    let is_asked = |plant: &&Plant| {
        options.names.is_empty() || options.names.iter().any(|name| plant.name.contains(name))
    };
    let mut chosen: Vec<&Plant> = all.iter().filter(is_asked).collect();
    chosen.retain(|plant| options.fuzz.is_none() || plant.fuzz.is_some());
    if let Some(count) = options.some {
        let apart = (chosen.len() / count.max(1)).max(1);
        chosen = chosen.into_iter().step_by(apart).take(count).collect();
    }
    if chosen.is_empty() {
        return Err("there is no planted bug of that name; see `--list`".into());
    }
    Ok(chosen)
}

/// Sees that the tests pass where nothing is planted: otherwise to fail means nothing.
fn try_without(copy: &Copy, chosen: &[&Plant]) -> Outcome {
    let mut trials: Vec<&str> = chosen.iter().map(|plant| plant.tests.as_str()).collect();
    trials.sort_unstable();
    trials.dedup();
    for tests in trials {
        eprintln!("without a bug: {tests}");
        if let Verdict::Failed(by) = Trial::new(copy, tests)?.run()? {
            return Err(format!("`{tests}` fails without any planted bug: {by}").into());
        }
    }
    Ok(())
}

fn try_with(
    copy: &Copy,
    plant: &Plant,
    fuzz: Option<u32>,
) -> Result<Verdict, Box<dyn std::error::Error>> {
    eprintln!("planting {}: {}", plant.name, seeker(plant, fuzz));
    let right = copy.original(&plant.file)?;
    copy.put(&plant.file, &plant.planted(&right)?)?;
    let verdict = match (fuzz, &plant.fuzz) {
        (Some(seconds), Some(target)) => hunt::run(copy, target, seconds),
        _ => Trial::new(copy, &plant.tests).and_then(|trial| trial.run()),
    };
    copy.put(&plant.file, &right)?;
    verdict.map_err(|error| format!("{}: {error}", plant.name).into())
}

/// Who has to find a bug.
fn seeker(plant: &Plant, fuzz: Option<u32>) -> &str {
    plant.fuzz.as_deref().filter(|_| fuzz.is_some()).unwrap_or(&plant.tests)
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64())
}
