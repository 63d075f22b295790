//! `cargo xtask shuttle`: runs whole schedules (`src/schedule/interleavings.rs`), each in many orders of its threads.
//!
//! They are built apart from everything else, with shuttle's atomics and threads in place of those of the
//! standard library and rayon (`src/sync.rs`), so they have a target folder of their own.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::{Outcome, root};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// In how many orders each of the 20 schedules is run, by each of the two ways to choose one.
    #[arg(long, default_value_t = 500)]
    orders: usize,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let status = tests(options.orders).status()?;
    match status.success() {
        true => Ok(()),
        false => Err("a schedule comes out otherwise, or cannot be built; see above".into()),
    }
}

/// The tests, in so many orders.
pub(crate) fn tests(orders: usize) -> Command {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root().join("target"), PathBuf::from).join("shuttle");
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(root())
        .args(["test", "--package", "esker", "--lib"])
        .args(["--profile", "loom", "--target-dir"])
        .arg(target)
        .args(["--", "schedule::interleavings::"])
        .env("RUSTFLAGS", "--cfg esker_shuttle")
        .env("ESKER_ORDERS", orders.to_string());
    command
}
