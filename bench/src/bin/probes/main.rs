//! The same rough treatment for Esker and its peers: panics in drops, dead and foreign ids, guards that are
//! forgotten, schedules on one thread and two.
//!
//! `cargo run --release -p esker-bench --bin probes` prints a table. Each probe of each library is a process
//! of its own, so that one that is killed is a result, too.

mod attacks;
mod ledger;
mod numbers;
mod subject;
mod subjects;

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use esker_bench::contestant::Contestant;
use esker_bench::contestants;

use subject::Subject;
use subjects::{Bevy, Esker, Hecs, Shipyard, Sparsey, Specs};

/// How much memory a probe may have.
const MEMORY: u64 = 4 << 30;

/// Probes Esker and its peers.
#[derive(Debug, Parser)]
#[command(name = "probes")]
struct Cli {
    /// How often the place of one id is used again. The 32 bits of a version take minutes.
    #[arg(long, default_value_t = 1 << 24)]
    recyclings: u64,

    /// Runs only probes whose names contain this.
    #[arg(long, default_value = "")]
    only: String,

    /// Seconds after which a probe counts as hanging.
    #[arg(long, default_value_t = 1800)]
    patience: u64,

    /// One probe of one library, in this process.
    #[arg(long, hide = true, num_args = 2)]
    alone: Vec<String>,

    #[arg(long, hide = true, default_value_t = 1)]
    threads: usize,
}

fn versions() -> [(&'static str, &'static str); 6] {
    [
        (Esker::NAME, contestants::esker::Esker.version()),
        (Bevy::NAME, contestants::bevy::Bevy.version()),
        (Hecs::NAME, contestants::hecs::Hecs.version()),
        (Shipyard::NAME, contestants::shipyard::Shipyard.version()),
        (Sparsey::NAME, contestants::sparsey::Sparsey.version()),
        (Specs::NAME, contestants::specs::Specs.version()),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let cli = Cli::parse();
    if let [probe, subject] = &cli.alone[..] {
        std::panic::set_hook(Box::new(|_| ()));
        println!("{}", alone(probe, subject, &cli));
        return Ok(());
    }
    let versions = versions();
    let names = versions.map(|(name, version)| format!(" {name} {version} |"));
    println!("| probe |{}\n|---|{}", names.concat(), "---|".repeat(names.len()));
    for (probe, question) in attacks::ROWS.iter().filter(|(probe, _)| probe.contains(&cli.only)) {
        let mut row = format!("| {question} |");
        for (subject, _) in versions {
            row += &format!(" {} |", outcome(probe, subject, &cli)?);
        }
        println!("{row}");
    }
    println!("\n{} recyclings of one place, {} GiB of memory", cli.recyclings, MEMORY >> 30);
    Ok(())
}

fn alone(probe: &str, subject: &str, cli: &Cli) -> String {
    let run = match subject {
        Esker::NAME => attacks::run::<Esker>,
        Bevy::NAME => attacks::run::<Bevy>,
        Hecs::NAME => attacks::run::<Hecs>,
        Shipyard::NAME => attacks::run::<Shipyard>,
        Sparsey::NAME => attacks::run::<Sparsey>,
        _ => attacks::run::<Specs>,
    };
    run(probe, cli.recyclings, cli.threads)
}

fn outcome(probe: &str, subject: &str, cli: &Cli) -> Result<String, Box<dyn Error>> {
    if probe != "threads" {
        return in_a_process(probe, subject, 1, cli).map(|said| said.unwrap_or_else(|end| end));
    }
    let mut results = BTreeSet::new();
    for threads in [1, 2] {
        match in_a_process(probe, subject, threads, cli)? {
            Ok(said) => results.extend(said.split_whitespace().map(str::to_owned)),
            Err(end) => return Ok(end),
        }
    }
    Ok(match results.len() {
        0 => "no scheduler".to_owned(),
        1 => "1 result".to_owned(),
        count => format!("{count} results"),
    })
}

/// What a probe says, or how it ended.
fn in_a_process(
    probe: &str,
    subject: &str,
    threads: usize,
    cli: &Cli,
) -> Result<Result<String, String>, Box<dyn Error>> {
    // A length that is believed must not take the memory of the whole machine.
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {} && exec \"$0\" \"$@\"", MEMORY >> 10)])
        .arg(env::current_exe()?)
        .args(["--alone", probe, subject, "--recyclings", &cli.recyclings.to_string()])
        .args(["--threads", &threads.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > Duration::from_secs(cli.patience) {
            child.kill()?;
            child.wait()?;
            return Ok(Err("no end".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let (mut said, mut cry) = (String::new(), String::new());
    child.stdout.take().ok_or("a process without output")?.read_to_string(&mut said)?;
    child.stderr.take().ok_or("a process without errors")?.read_to_string(&mut cry)?;
    if status.success() {
        return Ok(Ok(said.trim().to_owned()));
    }
    let cry = cry.lines().find(|line| line.contains("memory allocation of"));
    Ok(Err(format!("abort: {}", cry.map_or_else(|| status.to_string(), str::to_owned))))
}
