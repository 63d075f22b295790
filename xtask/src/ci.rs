//! `cargo xtask ci`: runs `.ci/run`, so that a laptop and CI do the same.

use std::process::Command;

use clap::Args;

use crate::{Outcome, root};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Leave out the bench, which builds the peers.
    #[arg(long)]
    skip_bench: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let script = root().join(".ci/run");
    let mut command = Command::new(&script);
    command.current_dir(root());
    if options.skip_bench {
        command.env("SKIP_BENCH", "1");
    }
    let status =
        command.status().map_err(|error| format!("cannot start {}: {error}", script.display()))?;
    if status.success() { Ok(()) } else { Err("a check failed; its output is above".into()) }
}
