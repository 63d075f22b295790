//! `cargo xtask instructions`: counts instructions of the hot operations under callgrind.
//!
//! Counts do not depend on what else the machine does, so a change of a few per cent is a change
//! of the code. They do depend on the compiler: figures of another compiler are shown, not judged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use crate::{Outcome, root};

/// Figures further apart than this fail, both ways: a gain should be written down too.
const TOLERANCE: f64 = 0.03;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Write the present counts to `benches/instructions.txt` instead of comparing.
    #[arg(long)]
    bless: bool,
    /// Count only these operations; the written figures are always those of all.
    #[arg(conflicts_with = "bless")]
    operations: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("no valgrind here: instructions are not counted");
        return Ok(());
    }
    let program = build()?;
    let listing = Command::new(&program).output()?.stdout;
    let listing = String::from_utf8(listing)?;
    let mut lines = listing.lines();
    let entities: f64 = lines.next().ok_or("the bench lists nothing")?.parse()?;
    let asked =
        |name: &&str| options.operations.is_empty() || options.operations.iter().any(|o| o == name);
    let mut counts = BTreeMap::new();
    for name in lines.filter(asked) {
        let count = count(&program, name)? / entities;
        eprintln!("{name:>20} {count:>9.1}");
        counts.insert(name.to_owned(), count);
    }
    let file = root().join("benches/instructions.txt");
    if options.bless { bless(&file, &counts) } else { compare(&file, &counts) }
}

/// Builds the bench and returns the path of its program.
fn build() -> Result<PathBuf, Box<dyn std::error::Error>> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["build", "--release", "--bench", "instructions", "--message-format=json"])
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the bench does not build; the compiler's words are above".into());
    }
    let messages = String::from_utf8(output.stdout)?;
    let found = messages
        .lines()
        .filter(|line| line.contains("\"name\":\"instructions\""))
        .find_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next());
    Ok(found.ok_or("cargo named no program for the bench")?.into())
}

/// Instructions of one run of an operation.
fn count(program: &Path, name: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=instructions::counted_*")
        .arg(program)
        .arg(name)
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected : ").nth(1));
    let collected =
        collected.ok_or_else(|| format!("callgrind counted nothing for {name}:\n{text}"))?;
    match collected.trim().parse::<f64>()? {
        0.0 => Err(format!("callgrind did not see the function of {name}").into()),
        count => Ok(count),
    }
}

fn compiler() -> Result<String, Box<dyn std::error::Error>> {
    let output = Command::new("rustc").arg("--version").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn bless(file: &Path, counts: &BTreeMap<String, f64>) -> Outcome {
    let mut text = format!(
        "# Instructions per entity. `cargo xtask instructions --bless`\n# {}\n",
        compiler()?
    );
    for (name, count) in counts {
        text.push_str(&format!("{name} {count:.1}\n"));
    }
    fs::write(file, text)?;
    println!("wrote {} figures", counts.len());
    Ok(())
}

fn compare(file: &Path, counts: &BTreeMap<String, f64>) -> Outcome {
    let text = fs::read_to_string(file)?;
    let written: BTreeMap<&str, f64> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, count)| Some((name, count.parse().ok()?)))
        .collect();
    let same_compiler = text.contains(&compiler()?);
    let mut moved = Vec::new();
    println!("{:>20} {:>9} {:>9} {:>7}", "instructions for", "written", "now", "change");
    for (name, &now) in counts {
        let Some(&before) = written.get(name.as_str()) else {
            moved.push(format!("{name} has no figure"));
            continue;
        };
        let change = now / before - 1.0;
        println!("{name:>20} {before:>9.1} {now:>9.1} {:>+6.1}%", change * 100.0);
        if change.abs() > TOLERANCE {
            moved.push(format!("{name} moved by {:+.1}%", change * 100.0));
        }
    }
    if moved.is_empty() {
        println!("all within {:.0}%", TOLERANCE * 100.0);
    } else if !same_compiler {
        println!("another compiler wrote the figures, so this is not judged: {}", moved.join(", "));
    } else {
        let remedy = "mend it, or write it down with `cargo xtask instructions --bless`";
        return Err(format!("{}; {remedy}", moved.join(", ")).into());
    }
    Ok(())
}
