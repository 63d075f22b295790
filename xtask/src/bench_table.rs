//! `cargo xtask bench-table`: runs the bench and writes its tables and pictures into the papers.
//!
//! The guide gets every table, the README the frames and the middle size of the other rows. What lies between the two marks is
//! replaced; nothing else is touched. `--debug` measures an unoptimised build instead, in a target
//! folder of its own, and only prints.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use serde::Deserialize;

use crate::{Outcome, root};

const BEGIN: &str = "<!-- bench: begin; written by `cargo xtask bench-table` -->";
const END: &str = "<!-- bench: end -->";

/// The size whose table stands in the README.
const README_SIZE: usize = 100_000;

/// The picture in the README.
const PICTURE: &str = "![Time of each contestant by workload](guide/src/bench/bars-100000.png)";

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Few rounds: for trying out this command, not for numbers to keep.
    #[arg(long)]
    quick: bool,
    /// Measure what a debug build costs, where nothing is optimised, and print the table.
    #[arg(long)]
    debug: bool,
    /// Measure flecs, too, which takes a C compiler.
    #[arg(long)]
    flecs: bool,
    /// Further arguments for the bench, after `--`.
    #[arg(last = true)]
    bench: Vec<String>,
}

/// What the bench writes for one cell.
#[derive(Debug, Deserialize)]
struct Record {
    workload: String,
    n: usize,
    contestant: String,
    ratio_to_raw: f64,
}

/// The rows of a debug build, in a world of a size that is still quick to play in.
const DEBUG: [&str; 4] =
    ["--workloads", "create_2,add_remove,iter_2,for_2,random_get,schedule", "--n", "1000"];

pub(crate) fn run(options: &Options) -> Outcome {
    match options.debug {
        true => print_debug(options),
        false => write_tables(options),
    }
}

fn print_debug(options: &Options) -> Outcome {
    let status = Command::new(env!("CARGO"))
        .current_dir(root())
        // As a user's program is built: dependencies too have the defaults of the dev profile.
        .args(["run", "--package", "esker-bench", "--target-dir", "target/bench-debug", "--"])
        .args(DEBUG)
        .args(options.quick.then_some("--quick"))
        .args(&options.bench)
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err("the bench failed; its words are above".into()),
    }
}

fn write_tables(options: &Options) -> Outcome {
    let json = root().join("target/bench.json");
    let plots = root().join("guide/src/bench");
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(root())
        .env("RUSTFLAGS", "-C llvm-args=-align-loops=64")
        .args(["run", "--release", "--package", "esker-bench", "--target-dir", "target/bench"])
        .args(options.flecs.then_some("--features=flecs"))
        .arg("--")
        .arg("--json")
        .arg(&json)
        .arg("--plots")
        .arg(&plots)
        .args(["--formats", "png"])
        .args(options.quick.then_some("--quick"))
        .args(&options.bench)
        .stderr(Stdio::inherit());
    let output = command.output()?;
    if !output.status.success() {
        return Err("the bench failed; its words are above".into());
    }
    let tables = String::from_utf8(output.stdout)?;
    let records: Vec<Record> = serde_json::from_str(&fs::read_to_string(&json)?)?;
    let heading = format!("Measured on {}.\n\n", today());
    let pictures = pictures(&plots)?;
    let guide = format!("{heading}{}\n\n{pictures}", tables.trim_end());
    replace(&root().join("guide/src/benchmarks.md"), &guide)?;
    let (frames, others) = (frame_table(&records), short_table(&records, &tables));
    let readme = format!("{heading}{frames}\n{others}\n\n{PICTURE}");
    replace(&root().join("README.md"), &readme)?;
    println!("wrote guide/src/benchmarks.md, guide/src/bench/ and README.md");
    Ok(())
}

/// Whether a row is one of a living world, or a half of it.
fn is_frame(row: &str) -> bool {
    row.starts_with("frame_")
}

/// The rows among `records` that `wanted` names, each once, in their order.
fn rows(records: &[Record], wanted: impl Fn(&Record) -> bool) -> Vec<&str> {
    let mut seen: Vec<&str> = Vec::new();
    for record in records.iter().filter(|record| wanted(record)) {
        if !seen.contains(&&*record.workload) {
            seen.push(&record.workload);
        }
    }
    seen
}

/// The fastest of the peers; `raw` and `rawset` are no libraries.
fn best_peer<'a>(row: impl Iterator<Item = &'a Record>) -> Option<&'a Record> {
    row.filter(|r| !r.contestant.starts_with("esker") && !r.contestant.starts_with("raw"))
        .min_by(|a, b| a.ratio_to_raw.total_cmp(&b.ratio_to_raw))
}

/// The README's first table: frames of a living world by size, times the best peer.
fn frame_table(records: &[Record]) -> String {
    let mut sizes: Vec<_> = records.iter().filter(|r| is_frame(&r.workload)).map(|r| r.n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let names: String = sizes.iter().map(|n| format!(" N = {n} |")).collect();
    let rule = "--:|".repeat(sizes.len());
    let mut out = format!("| one frame, times the best peer |{names}\n|---|{rule}\n");
    for workload in rows(records, |record| is_frame(&record.workload)) {
        out += &format!("| {workload} |");
        for &n in &sizes {
            let row = || records.iter().filter(|r| r.n == n && r.workload == workload);
            let ours = row().find(|r| r.contestant == "esker");
            out += &match (ours, best_peer(row())) {
                (Some(ours), Some(best)) => {
                    let times = ours.ratio_to_raw / best.ratio_to_raw;
                    format!(" {times:.2} × {} |", best.contestant)
                }
                _ => " – |".to_owned(),
            };
        }
        out += "\n";
    }
    out
}

/// The README's second table: Esker and the best peer, each as times the raw loop.
fn short_table(records: &[Record], tables: &str) -> String {
    let mut out =
        String::from("| workload | esker | grouped | best peer | |\n|---|--:|--:|--:|---|\n");
    let wanted = |record: &Record| record.n == README_SIZE && !is_frame(&record.workload);
    for workload in rows(records, wanted) {
        let row = || records.iter().filter(|r| r.n == README_SIZE && r.workload == workload);
        let ours = row().find(|r| r.contestant == "esker");
        let best = best_peer(row());
        let cell =
            |r: Option<&Record>| r.map_or("–".into(), |r| format!("{:.2}", r.ratio_to_raw));
        let name = best.map_or("no peer has it", |best| &best.contestant);
        // Where a policy of order has nothing to do, there is nothing to say.
        let policy = |name| match row().find(|r| r.contestant == name) {
            Some(r) => format!("{:.2}", r.ratio_to_raw),
            None => String::new(),
        };
        let (ours, grouped, best) = (cell(ours), policy("esker_group"), cell(best));
        out += &format!("| {workload} | {ours} | {grouped} | {best} | {name} |\n");
    }
    let cpu = tables.lines().find_map(|line| line.strip_prefix("- CPU: ")).unwrap_or("unknown");
    out + &format!("\n{README_SIZE} entities, times the same loop over plain vectors; {cpu}.")
}

/// The pictures of a folder, for a page beside it.
fn pictures(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut names = Vec::new();
    for file in fs::read_dir(folder)? {
        names.push(file?.file_name().to_string_lossy().into_owned());
    }
    names.sort_by_key(|name| (name.len(), name.clone()));
    let lines = names.iter().map(|name| format!("![{name}](bench/{name})\n\n"));
    Ok(lines.collect::<String>().trim_end().to_owned())
}

/// Puts `text` between the marks of a file.
fn replace(file: &Path, text: &str) -> Outcome {
    let old = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let marks = || format!("{} has no marks for the table", file.display());
    let (before, rest) = old.split_once(BEGIN).ok_or_else(marks)?;
    let (_, after) = rest.split_once(END).ok_or_else(marks)?;
    fs::write(file, format!("{before}{BEGIN}\n\n{text}\n\n{END}{after}"))?;
    Ok(())
}

/// The date in UTC, as year-month-day.
fn today() -> String {
    let now = jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC);
    now.date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(workload: &str, n: usize, contestant: &str, ratio_to_raw: f64) -> Record {
        Record { workload: workload.into(), n, contestant: contestant.into(), ratio_to_raw }
    }

    #[test]
    fn frames_stand_by_size_and_name_the_best_peer() {
        let records = [
            cell("frame_calm", 1000, "raw", 1.0),
            cell("frame_calm", 1000, "esker", 3.0),
            cell("frame_calm", 1000, "hecs", 2.0),
            cell("frame_calm", 1000, "specs", 9.0),
            cell("frame_calm", 20_000, "esker", 3.0),
            cell("iter_1", README_SIZE, "esker", 1.0),
        ];

        let table = frame_table(&records);

        assert_eq!(
            table,
            "| one frame, times the best peer | N = 1000 | N = 20000 |\n|---|--:|--:|\n\
             | frame_calm | 1.50 × hecs | – |\n"
        );
        assert!(!short_table(&records, "").contains("frame"));
    }
}
