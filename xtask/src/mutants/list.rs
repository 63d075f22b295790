//! The mutants that there are, as cargo-mutants lists them.

use std::error::Error;
use std::process::Command;

use serde::Deserialize;

use crate::root;

/// One small change of the sources.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Mutant {
    /// Says where it is and what is changed.
    pub(super) name: String,
    pub(super) file: String,
    pub(super) genre: Genre,
    pub(super) function: Option<Function>,
    /// What is put in place of the span.
    pub(super) replacement: String,
    pub(super) span: Span,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Function {
    pub(super) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Genre {
    /// The whole of a function gives way to a value.
    FnValue,
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct Span {
    pub(super) start: Place,
    pub(super) end: Place,
}

/// Both count from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// Where that is in the text of the file.
    pub(super) fn offset(self, text: &str) -> usize {
        let line: usize = text.split_inclusive('\n').take(self.line - 1).map(str::len).sum();
        let columns = text[line..].chars().take(self.column - 1).map(char::len_utf8);
        line + columns.sum::<usize>()
    }
}

/// Every so-manieth mutant of the folders, from the given one on.
pub(super) fn some(
    folders: &[&str],
    from: usize,
    apart: usize,
) -> Result<Vec<Mutant>, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root()).args(["mutants", "--list", "--json", "--package", "esker"]);
    folders.iter().for_each(|folder| _ = command.args(["--file", &format!("src/{folder}/**")]));
    let listed = command.output()?;
    if !listed.status.success() {
        return Err(match is_installed()? {
            true => String::from_utf8_lossy(&listed.stderr).into(),
            false => MISSING.into(),
        });
    }
    let all: Vec<Mutant> = serde_json::from_slice(&listed.stdout)?;
    Ok(all.into_iter().skip(from).step_by(apart.max(1)).collect())
}

const MISSING: &str = "cargo-mutants says which changes there are, and it is not installed: \
    `cargo install --locked cargo-mutants` gets it, in a few minutes";

fn is_installed() -> std::io::Result<bool> {
    let mut command = Command::new(env!("CARGO"));
    Ok(command.args(["mutants", "--version"]).output()?.status.success())
}
