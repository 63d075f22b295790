//! `cargo xtask loom`: runs the models of what threads share (`src/*/models.rs`), each in all orders
//! that its threads and their memory allow.
//!
//! They are built apart from everything else, with loom's atomics in place of those of the standard
//! library (`src/sync.rs`), so they have a target folder of their own.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;

use crate::{Outcome, root};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How often a thread may be interrupted where it need not wait, in one order.
    #[arg(long, default_value_t = 3, conflicts_with = "unbounded")]
    preemptions: usize,
    /// As often as can be: about a minute instead of a second.
    #[arg(long)]
    unbounded: bool,
    /// Run only models whose paths contain this, such as `cell::models`.
    #[arg(default_value = "models::")]
    models: String,
}

impl Options {
    /// For all models.
    pub(crate) fn everything(unbounded: bool) -> Self {
        Self { preemptions: 3, unbounded, models: "models::".to_owned() }
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    // A model that nobody finds any more would pass for ever.
    let listing = tests(options, &["--list"]).stdout(Stdio::piped()).output()?;
    let count = String::from_utf8(listing.stdout)?.matches("models::").count();
    if !listing.status.success() || count == 0 {
        return Err("the models do not build, or there are none of that name".into());
    }
    let status = tests(options, &[]).status()?;
    if status.success() { Ok(()) } else { Err("a model failed; its output is above".into()) }
}

/// The tests of the library that are models.
fn tests(options: &Options, more: &[&str]) -> Command {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root().join("target"), PathBuf::from).join("models");
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(root())
        .args(["test", "--package", "esker", "--lib", "--no-default-features"])
        .args(["--profile", "loom", "--target-dir"])
        .arg(target)
        .args(["--", &options.models])
        .args(more)
        .env("RUSTFLAGS", "--cfg esker_loom");
    match options.unbounded {
        true => command.env_remove("LOOM_MAX_PREEMPTIONS"),
        false => command.env("LOOM_MAX_PREEMPTIONS", options.preemptions.to_string()),
    };
    command
}
