//! Builds the copy, without the mutants that the compiler refuses, and runs tests on one mutant.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::list::Mutant;
use super::switch::{Blame, SWITCH, VARIABLE, switched};
use crate::planted::copy::Copy;
use crate::planted::trial::{failed_test, wait};

pub(super) enum Verdict {
    Missed,
    /// With the name of the program that failed.
    Caught(String),
    Hanging,
}

/// Writes the mutants into the copy. Returns those that do not build.
pub(super) fn write(copy: &Copy, mutants: &[Mutant]) -> Result<BTreeSet<usize>, Box<dyn Error>> {
    let root = format!("#![allow(warnings)]\n{}{SWITCH}", copy.original("src/lib.rs")?);
    copy.put("src/lib.rs", &root)?;
    let mut unviable = BTreeSet::new();
    loop {
        let mut blames: BTreeMap<String, Vec<Blame>> = BTreeMap::new();
        let files: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.file.as_str()).collect();
        for file in files {
            let here = mutants.iter().enumerate().filter(|(_, mutant)| mutant.file == file);
            let here: Vec<_> = here.filter(|(number, _)| !unviable.contains(number)).collect();
            let (text, blame, impossible) = switched(&copy.original(file)?, &here);
            unviable.extend(impossible);
            copy.put(file, &text)?;
            blames.insert(file.to_owned(), blame);
        }
        let (before, places) = (unviable.len(), refused(copy)?);
        eprintln!("  the compiler refuses {} places", places.len());
        for (file, line) in &places {
            // The shortest stretch of lines is the one to blame.
            let at = blames.get(file).into_iter().flatten().filter(|(at, _)| at.contains(line));
            let shortest = at.min_by_key(|(lines, _)| lines.end() - lines.start());
            unviable.extend(shortest.iter().flat_map(|(_, numbers)| numbers));
        }
        match places.is_empty() {
            true => return Ok(unviable),
            false if unviable.len() == before => {
                return Err(format!("the copy does not build: {places:?}").into());
            }
            false => {}
        }
    }
}

/// The files and lines where the compiler finds errors.
fn refused(copy: &Copy) -> Result<BTreeSet<(String, usize)>, Box<dyn Error>> {
    let mut command = cargo(copy, "check");
    command.args(["--lib", "--features", "serde"]);
    let said = command.stderr(Stdio::null()).output()?;
    let mut places = BTreeSet::new();
    for line in String::from_utf8(said.stdout)?.lines().filter(|line| line.starts_with('{')) {
        let message: serde_json::Value = serde_json::from_str(line)?;
        if message["message"]["level"] != "error" {
            continue;
        }
        for span in message["message"]["spans"].as_array().into_iter().flatten() {
            if let (true, Some(file), Some(line)) = (
                span["is_primary"] == true,
                span["file_name"].as_str(),
                span["line_start"].as_u64(),
            ) {
                places.insert((file.to_owned(), line as usize));
            }
        }
    }
    Ok(places)
}

fn cargo(copy: &Copy, verb: &str) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(copy.folder()).args([verb, "--package", "esker", "--quiet"]);
    command.args(["--message-format", "json", "--target-dir"]).arg(&copy.target);
    // Runs count, and there are many; dependencies stay as other builds have made them.
    command.args(["--config", "profile.dev.package.esker.debug=false"]);
    command.args(["--config", "profile.dev.package.esker.opt-level=1"]);
    command
}

/// Builds tests in the copy: their programs by name.
pub(super) fn build(
    copy: &Copy,
    names: &BTreeSet<&str>,
) -> Result<BTreeMap<String, PathBuf>, Box<dyn Error>> {
    let mut command = cargo(copy, "test");
    command.args(["--no-run", "--lib"]);
    names.iter().filter(|name| **name != "lib").for_each(|name| _ = command.args(["--test", name]));
    let built = command.stderr(Stdio::inherit()).output()?;
    let mut programs = BTreeMap::new();
    for line in String::from_utf8(built.stdout)?.lines().filter(|line| line.starts_with('{')) {
        let message: serde_json::Value = serde_json::from_str(line)?;
        let is_test = message["profile"]["test"].as_bool() == Some(true);
        let is_lib = message["target"]["kind"][0] == "lib";
        if let (true, Some(path)) = (is_test, message["executable"].as_str()) {
            let name =
                if is_lib { "lib" } else { message["target"]["name"].as_str().unwrap_or("") };
            programs.insert(name.to_owned(), PathBuf::from(path));
        }
    }
    match names.iter().find(|name| !programs.contains_key(**name)) {
        Some(name) => Err(format!("the tests `{name}` do not build").into()),
        None => Ok(programs),
    }
}

/// Runs tests until one fails; without a number on the sources as they are.
pub(super) fn run(
    copy: &Copy,
    programs: &BTreeMap<String, PathBuf>,
    names: &[&str],
    number: Option<usize>,
) -> Result<Verdict, Box<dyn Error>> {
    let log = copy.target.join("mutants").join("output.txt");
    for name in names {
        let output = File::create(&log)?;
        let mut command = Command::new(&programs[*name]);
        command.current_dir(copy.folder()).stderr(output.try_clone()?).stdout(output);
        number.iter().for_each(|number| _ = command.env(VARIABLE, number.to_string()));
        let ended = wait(command.spawn()?, &log)?;
        let has_failed = fs::read_to_string(&log)?.lines().any(|line| failed_test(line).is_some());
        match ended {
            Some(status) if status.success() => {}
            None if !has_failed => return Ok(Verdict::Hanging),
            _ => return Ok(Verdict::Caught((*name).to_owned())),
        }
    }
    Ok(Verdict::Missed)
}
