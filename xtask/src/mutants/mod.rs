//! `cargo xtask mutants`: changes functions in a copy of the sources, one at a time, and sees whether a
//! test fails.
//!
//! cargo-mutants says what can be changed. It would build the library and its tests anew for each
//! change; here all changes are built at once and switched on by number (see `switch`), which takes
//! seconds for each.

mod list;
mod switch;
mod trial;

use std::collections::BTreeSet;
use std::error::Error;
use std::ops::Range;

use clap::Args;

use crate::planted::copy::Copy;
use crate::{Outcome, root};
use list::Mutant;
use trial::Verdict;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Try every so-manieth mutant.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Begin with this one of each part, counted from zero: other mutants than those from zero on.
    #[arg(long, default_value_t = 0)]
    from: usize,
    /// Try only mutants whose names contain one of these.
    names: Vec<String>,
}

/// A part of the library, its folders, and the tests that reach it: those that take long come last.
struct Area {
    name: &'static str,
    folders: &'static [&'static str],
    tests: &'static [&'static str],
}

#[rustfmt::skip]
const AREAS: &[Area] = &[
    Area {
        name: "storage",
        folders: &["storage", "sparse"],
        tests: &[
            "lib", "storages", "order", "columns", "group_storages", "memory", "repeated_steps",
            "panicking_drop", "changes", "groups", "snapshots", "model",
        ],
    },
    Area {
        name: "entity",
        folders: &["entity"],
        tests: &[
            "lib", "bad_input", "walkthrough", "ancestors_ecr", "threads", "memory", "systems",
            "repeated_steps", "panicking_drop", "schedules", "snapshots", "model",
        ],
    },
    Area {
        name: "group",
        folders: &["group"],
        tests: &[
            "lib", "sole_owners", "group_storages", "order", "reactions", "repeated_steps", "systems",
            "groups", "group_panics", "snapshots", "model",
        ],
    },
    Area {
        name: "schedule",
        folders: &["schedule"],
        tests: &["lib", "messages", "repeated_steps", "systems", "schedules", "threads"],
    },
    Area {
        name: "snapshot",
        folders: &["snapshot"],
        tests: &["lib", "snapshot_attacks", "snapshots"],
    },
];

/// What became of mutants.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) caught: usize,
    /// Tests that find no end are a way to fail, too.
    pub(crate) hanging: usize,
    pub(crate) missed: usize,
    /// Those that the compiler refuses, or that cannot be switched on.
    pub(crate) unviable: usize,
}

impl Options {
    /// One of five: all of them take a day.
    pub(crate) fn sample() -> Self {
        Self { every: 5, from: 0, names: vec![] }
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    measure(options).map(|_| ())
}

/// Tries what is asked for; prints what is missed, and a table that a report can take over.
pub(crate) fn measure(options: &Options) -> Result<Tally, Box<dyn Error>> {
    let copy = Copy::of(&root(), "mutants")?;
    let mut mutants: Vec<Mutant> = Vec::new();
    let mut tallies: Vec<(&Area, Range<usize>, Tally)> = Vec::new();
    for area in AREAS {
        let is_asked = |mutant: &Mutant| {
            options.names.is_empty() || options.names.iter().any(|name| mutant.name.contains(name))
        };
        let some = list::some(area.folders, options.from, options.every)?;
        let first = mutants.len();
        mutants.extend(some.into_iter().filter(is_asked));
        tallies.push((area, first..mutants.len(), Tally::default()));
    }
    eprintln!("{} mutants", mutants.len());
    let unviable = trial::write(&copy, &mutants)?;
    let asked = tallies.iter().filter(|(_, numbers, _)| !numbers.is_empty());
    let names: BTreeSet<&str> = asked.flat_map(|(area, ..)| area.tests).copied().collect();
    let mut programs = trial::build(&copy, &names)?;
    trial::rehearse(&copy, &mut programs)?;
    for (area, numbers, tally) in &mut tallies {
        tally.unviable = unviable.range(numbers.clone()).count();
        for number in numbers.filter(|number| !unviable.contains(number)) {
            let (count, by) = match trial::run(&copy, &programs, area.tests, number)? {
                Verdict::Caught(by) => (&mut tally.caught, by),
                Verdict::Hanging => (&mut tally.hanging, "no end".to_owned()),
                Verdict::Missed => (&mut tally.missed, "**missed**".to_owned()),
            };
            *count += 1;
            println!("{number} {by}: {}", mutants[number].name);
        }
    }
    println!("\n| part | caught | hanging | missed | unviable |\n|---|---:|---:|---:|---:|");
    let mut total = Tally::default();
    for (Area { name, .. }, _, tally) in &tallies {
        let Tally { caught, hanging, missed, unviable } = tally;
        println!("| {name} | {caught} | {hanging} | {missed} | {unviable} |");
        total.caught += caught;
        total.hanging += hanging;
        total.missed += missed;
        total.unviable += unviable;
    }
    Ok(total)
}
