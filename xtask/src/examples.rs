//! `cargo xtask examples`: runs every example that needs no window, small, in release mode.

use std::fs;
use std::process::Command;

use clap::Args;

use crate::{Outcome, root};

/// What is said to an example so that it does not take long.
const ARGUMENTS: &[(&str, &[&str])] = &[("swarm", &["--entities", "5000", "--steps", "50"])];

/// Examples that somebody has to look at. `.ci/run` lints them with all features.
const NEED_A_WINDOW: &[&str] = &["window"];

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these.
    examples: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let all = names()?;
    if let Some(unknown) = options.examples.iter().find(|name| !all.contains(name)) {
        return Err(format!("there is no example `{unknown}`; there are {}", all.join(", ")).into());
    }
    let asked = |name: &&String| match options.examples.is_empty() {
        true => !NEED_A_WINDOW.contains(&name.as_str()),
        false => options.examples.contains(name),
    };
    for name in all.iter().filter(asked) {
        println!("\n--- {name}");
        let arguments =
            ARGUMENTS.iter().find(|(of, _)| of == name).map_or(&[][..], |(_, said)| said);
        let status = Command::new(env!("CARGO"))
            .current_dir(root())
            .args(["run", "--quiet", "--release", "--example", name, "--"])
            .args(arguments)
            .status()?;
        if !status.success() {
            return Err(format!("the example `{name}` failed; its output is above").into());
        }
    }
    Ok(())
}

/// The examples, by what lies in their folder: files, and folders with a `main.rs`.
fn names() -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("examples"))? {
        let path = entry?.path();
        let is_example = path.extension().is_some_and(|extension| extension == "rs")
            || path.join("main.rs").exists();
        if let (true, Some(name)) = (is_example, path.file_stem()) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
