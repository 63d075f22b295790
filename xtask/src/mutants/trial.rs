//! Builds the copy, without the mutants that the compiler refuses, and runs tests on one mutant.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::list::Mutant;
use super::switch::{Blame, SWITCH, VARIABLE, switched};
use crate::planted::copy::Copy;
use crate::planted::trial::{PATIENCE, failed_test, wait};

pub(super) enum Verdict {
    Missed,
    /// With the name of the program that failed.
    Caught(String),
    Hanging,
}

/// A test program.
pub(super) struct Program {
    path: PathBuf,
    /// After this long it counts as hanging.
    patience: Duration,
}

pub(super) type Programs = BTreeMap<String, Program>;

/// Writes the mutants into the copy. Returns those that do not build.
pub(super) fn write(copy: &Copy, mutants: &[Mutant]) -> Result<BTreeSet<usize>, Box<dyn Error>> {
    let root = format!("#![allow(warnings)]\n{}{SWITCH}", copy.original("src/lib.rs")?);
    copy.put("src/lib.rs", &root)?;
    let mut all = BTreeSet::from_iter(0..mutants.len());
    let impossible = put(copy, mutants, &all)?.impossible;
    all.retain(|number| !impossible.contains(number));
    let mut viable = weeded(copy, mutants, &BTreeSet::new(), all.clone())?;
    let together = viable.len();
    // One that does not build may have taken others of its function along. So all get a second
    // chance, one of each function at a time.
    let mut waiting = BTreeSet::from_iter(all.difference(&viable).copied());
    while !waiting.is_empty() {
        let turn = waiting.iter().map(|number| {
            let Mutant { file, function, .. } = &mutants[*number];
            ((file, function.as_ref().map(|function| function.span)), *number)
        });
        let turn: BTreeMap<_, usize> = turn.collect();
        let turn = BTreeSet::from_iter(turn.into_values());
        waiting.retain(|number| !turn.contains(number));
        viable = weeded(copy, mutants, &viable, turn)?;
    }
    put(copy, mutants, &viable)?;
    eprintln!(
        "  {} build together, {} of the others one by one; {} do not, {} cannot be switched on",
        together,
        viable.len() - together,
        all.len() - viable.len(),
        impossible.len(),
    );
    Ok((0..mutants.len()).filter(|number| !viable.contains(number)).collect())
}

/// Those that are known to build, and of those on trial the ones that build beside them.
fn weeded(
    copy: &Copy,
    mutants: &[Mutant],
    known: &BTreeSet<usize>,
    mut on_trial: BTreeSet<usize>,
) -> Result<BTreeSet<usize>, Box<dyn Error>> {
    loop {
        let both = known | &on_trial;
        let blames = put(copy, mutants, &both)?.blames;
        let (before, places) = (on_trial.len(), refused(copy)?);
        if places.is_empty() {
            return Ok(both);
        }
        eprintln!("  the compiler refuses {} places", places.len());
        let mut guilty: BTreeSet<usize> = BTreeSet::new();
        for (file, line) in &places {
            // The shortest stretch of lines is the one to blame.
            let at = blames.get(file).into_iter().flatten().filter(|(at, _)| at.contains(line));
            let at = at.filter(|(_, numbers)| numbers.iter().any(|one| on_trial.contains(one)));
            let shortest = at.min_by_key(|(lines, _)| lines.end() - lines.start());
            guilty.extend(shortest.into_iter().flat_map(|(_, numbers)| numbers));
        }
        on_trial.retain(|number| !guilty.contains(number));
        match on_trial.len() == before {
            true if known.is_empty() => {
                return Err(format!("the copy does not build: {places:?}").into());
            }
            // Somewhere else; one of these is to blame.
            true => on_trial.clear(),
            false => {}
        }
    }
}

#[derive(Default)]
struct Written {
    blames: BTreeMap<String, Vec<Blame>>,
    impossible: BTreeSet<usize>,
}

/// Writes the files with the chosen mutants in them.
fn put(
    copy: &Copy,
    mutants: &[Mutant],
    chosen: &BTreeSet<usize>,
) -> Result<Written, Box<dyn Error>> {
    let mut written = Written::default();
    for file in mutants.iter().map(|mutant| mutant.file.as_str()).collect::<BTreeSet<&str>>() {
        let here = mutants.iter().enumerate().filter(|(_, mutant)| mutant.file == file);
        let here: Vec<_> = here.filter(|(number, _)| chosen.contains(number)).collect();
        let (text, blame, impossible) = switched(&copy.original(file)?, &here);
        copy.put(file, &text)?;
        written.impossible.extend(impossible);
        written.blames.insert(file.to_owned(), blame);
    }
    Ok(written)
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
pub(super) fn build(copy: &Copy, names: &BTreeSet<&str>) -> Result<Programs, Box<dyn Error>> {
    let mut command = cargo(copy, "test");
    command.args(["--no-run", "--lib"]);
    names.iter().filter(|name| **name != "lib").for_each(|name| _ = command.args(["--test", name]));
    let built = command.stderr(Stdio::inherit()).output()?;
    let mut programs = Programs::new();
    for line in String::from_utf8(built.stdout)?.lines().filter(|line| line.starts_with('{')) {
        let message: serde_json::Value = serde_json::from_str(line)?;
        let is_test = message["profile"]["test"].as_bool() == Some(true);
        let is_lib = message["target"]["kind"][0] == "lib";
        if let (true, Some(path)) = (is_test, message["executable"].as_str()) {
            let name =
                if is_lib { "lib" } else { message["target"]["name"].as_str().unwrap_or("") };
            let program = Program { path: PathBuf::from(path), patience: PATIENCE };
            programs.insert(name.to_owned(), program);
        }
    }
    match names.iter().find(|name| !programs.contains_key(**name)) {
        Some(name) => Err(format!("the tests `{name}` do not build").into()),
        None => Ok(programs),
    }
}

/// Runs all programs on the sources as they are, to see that they pass and how long they take.
pub(super) fn rehearse(copy: &Copy, programs: &mut Programs) -> Result<(), Box<dyn Error>> {
    for (name, program) in programs {
        let begun = Instant::now();
        if !matches!(outcome(copy, name, program, None)?, Verdict::Missed) {
            return Err(format!("the tests `{name}` fail without any mutant").into());
        }
        // Others may be at work on this machine, too.
        program.patience = Duration::from_secs(15) + begun.elapsed() * 6;
    }
    Ok(())
}

/// Runs tests on a mutant until one fails.
pub(super) fn run(
    copy: &Copy,
    programs: &Programs,
    names: &[&str],
    number: usize,
) -> Result<Verdict, Box<dyn Error>> {
    for name in names {
        match outcome(copy, name, &programs[*name], Some(number))? {
            Verdict::Missed => {}
            found => return Ok(found),
        }
    }
    Ok(Verdict::Missed)
}

fn outcome(
    copy: &Copy,
    name: &str,
    program: &Program,
    number: Option<usize>,
) -> Result<Verdict, Box<dyn Error>> {
    let log = copy.target.join("mutants").join("output.txt");
    let output = File::create(&log)?;
    let mut command = Command::new(&program.path);
    command.current_dir(copy.folder()).stderr(output.try_clone()?).stdout(output);
    number.iter().for_each(|number| _ = command.env(VARIABLE, number.to_string()));
    let ended = wait(command.spawn()?, &log, program.patience)?;
    let has_failed = fs::read_to_string(&log)?.lines().any(|line| failed_test(line).is_some());
    Ok(match ended {
        Some(status) if status.success() => Verdict::Missed,
        None if !has_failed => Verdict::Hanging,
        _ => Verdict::Caught(name.to_owned()),
    })
}
