//! `cargo xtask prove`: attacks the library with everything this machine has, and says what came out.
//!
//! "Sound, deterministic, loses nothing" is a claim; this is how anybody can try to refute it. Each
//! stage is one kind of attack. What a machine cannot run is named as skipped, with the reason, so that
//! a short list is never taken for a complete one.

pub(crate) mod fuzz;
mod shell;
mod stages;

use std::time::{Duration, Instant};

use clap::Args;

use crate::Outcome;
use stages::Stage;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The sizes of a release: hours instead of minutes.
    #[arg(long)]
    long: bool,
    /// Leave out what `cargo test` and `cargo xtask loom` run at the same size, as CI has just done.
    #[arg(long, conflicts_with = "long")]
    after_tests: bool,
    /// List the stages, run none.
    #[arg(long)]
    list: bool,
    /// Run only stages whose names contain one of these.
    stages: Vec<String>,
}

/// How a stage came out.
enum Result {
    /// With what was done, in numbers.
    Passed(String),
    Failed(String),
    /// With the reason.
    Skipped(String),
}

struct Row {
    name: &'static str,
    result: Result,
    time: Duration,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let is_asked = |stage: &&Stage| {
        options.stages.is_empty() || options.stages.iter().any(|name| stage.name.contains(name))
    };
    let stages: Vec<&Stage> = stages::ALL.iter().filter(is_asked).collect();
    if options.list || stages.is_empty() {
        stages::ALL.iter().for_each(|stage| println!("{:<22} {}", stage.name, stage.question));
        return if options.list { Ok(()) } else { Err("there is no stage of that name".into()) };
    }
    let mut rows: Vec<Row> = Vec::new();
    for (nth, stage) in stages.iter().enumerate() {
        eprintln!("\n[{}/{}] {}: {}", nth + 1, stages.len(), stage.name, stage.question);
        let begun = Instant::now();
        let result = if options.after_tests && stage.is_in_tests {
            Result::Skipped("run by `cargo test` and `cargo xtask loom` before".to_owned())
        } else {
            let failed = |error: Box<dyn std::error::Error>| Result::Failed(error.to_string());
            (stage.run)(options.long).unwrap_or_else(failed)
        };
        rows.push(Row { name: stage.name, result, time: begun.elapsed() });
    }
    print(&rows);
    match rows.iter().filter(|row| matches!(row.result, Result::Failed(_))).count() {
        0 => Ok(()),
        count => Err(format!("{count} stages failed; their output is above").into()),
    }
}

fn print(rows: &[Row]) {
    println!("\n| stage | result | what | time |\n|---|---|---|---:|");
    for Row { name, result, time } in rows {
        let (word, what) = match result {
            Result::Passed(what) => ("passed", what),
            Result::Failed(what) => ("**failed**", what),
            Result::Skipped(why) => ("skipped", why),
        };
        println!("| {name} | {word} | {what} | {:.0} s |", time.as_secs_f64());
    }
}
