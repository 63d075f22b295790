//! `cargo xtask …`: chores of this repository, one file each.

mod bench_table;
mod ci;
mod examples;
mod instructions;
mod layers;
mod loom;
mod mutants;
mod planted;
mod prove;
mod shuttle;
mod unsafe_report;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chores of the Esker repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Options {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Run the bench and write its tables and pictures into README and guide.
    BenchTable(bench_table::Options),
    /// Run what CI runs: tests in all shapes, format, lints, docs, layers.
    Ci(ci::Options),
    /// Run every example that needs no window, small, in release mode.
    Examples(examples::Options),
    /// Count instructions of the hot operations and compare them with the written figures.
    Instructions(instructions::Options),
    /// Print the modules of the library, bottom first: size, unsafe, and who uses whom.
    Layers(layers::Options),
    /// Run the models of what threads share, in all orders of these threads.
    Loom(loom::Options),
    /// Change functions in a copy of the sources, and see whether a test fails.
    Mutants(mutants::Options),
    /// Plant known kinds of bugs in a copy of the sources, and see whether the tests find them.
    Planted(planted::Options),
    /// Attack the library with all there is: models, faults, sanitizers, fuzzers, planted bugs.
    Prove(prove::Options),
    /// Run whole schedules in orders of their threads that chance chooses.
    Shuttle(shuttle::Options),
    /// Count what is unsafe, file by file, with the invariants it rests on.
    UnsafeReport(unsafe_report::Options),
}

fn main() -> ExitCode {
    let outcome = match Options::parse().chore {
        Chore::BenchTable(options) => bench_table::run(&options),
        Chore::Ci(options) => ci::run(&options),
        Chore::Examples(options) => examples::run(&options),
        Chore::Instructions(options) => instructions::run(&options),
        Chore::Layers(options) => layers::run(&options),
        Chore::Loom(options) => loom::run(&options),
        Chore::Mutants(options) => mutants::run(&options),
        Chore::Planted(options) => planted::run(&options),
        Chore::Prove(options) => prove::run(&options),
        Chore::Shuttle(options) => shuttle::run(&options),
        Chore::UnsafeReport(options) => unsafe_report::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What a chore ends with.
type Outcome = Result<(), Box<dyn Error>>;

/// The folder of the workspace.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask is a folder of the workspace").to_owned()
}
