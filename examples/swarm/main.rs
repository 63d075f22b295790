//! A predator–prey world: herds graze, hunters chase them, both are born and die all the time.
//!
//! Run it with `cargo run --release --example swarm`; `-- --help` lists the options. It shows how
//! a program is put together from components (`life.rs`), resources (`grid.rs`) and plain
//! functions over the world (`step.rs`). The same `--seed` gives the same state hash.

#![allow(unreachable_pub, reason = "the modules of a program are nobody else's")]

mod grid;
mod life;
mod picture;
mod step;
mod summary;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use life::Census;
use summary::Summary;

/// Herds and hunters on a torus: a headless demonstration of Esker.
#[derive(Debug, Parser)]
#[command(name = "swarm")]
struct Options {
    /// Entities at the start, one in fifty a hunter; the area grows with them.
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    entities: u32,

    /// Steps to run.
    #[arg(long, value_name = "N", default_value_t = 300,
          value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,

    /// Seed of all randomness: the same seed gives the same world.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Where to write the picture of the last step.
    #[arg(long, value_name = "FILE", default_value = "target/swarm.png", value_parser = png_path)]
    png: PathBuf,
}

fn png_path(text: &str) -> Result<PathBuf, String> {
    match Path::new(text).extension() {
        Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(text.into()),
        _ => Err("the name must end in .png".into()),
    }
}

fn main() -> ExitCode {
    match demonstrate(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("swarm: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demonstrate(options: &Options) -> Result<(), Box<dyn Error>> {
    // Before the run, not after it: nobody wants to wait for a picture that cannot be written.
    if let Some(folder) = options.png.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))?;
    }

    let mut world = life::populate(options.entities, options.seed);
    let start = Instant::now();
    let history = run(&mut world, options.steps);
    let summary = Summary::new(&world, options.steps, start.elapsed());
    picture::draw(&world, &history, &options.png)
        .map_err(|error| format!("cannot write {}: {error}", options.png.display()))?;

    let mut out = io::stdout().lock();
    writeln!(out, "{summary}")?;
    writeln!(out, "picture     {}", options.png.display())?;
    Ok(())
}

/// Makes all steps and shows how they go; returns the census after each.
fn run(world: &mut esker::World, steps: u32) -> Vec<Census> {
    let style = "{bar:32.green} step {pos}/{len}  {per_sec}  {msg}";
    let bar = ProgressBar::new(steps.into())
        .with_style(ProgressStyle::with_template(style).expect("the template is a constant"));
    let mut history = Vec::with_capacity(steps as usize);
    for _ in 0..steps {
        step::step(world);
        let census = *world.resource::<Census>();
        let (grazers, hunters) = (census.grazers as u64, census.hunters as u64);
        bar.set_message(format!(
            "{} grazers, {} hunters",
            HumanCount(grazers),
            HumanCount(hunters)
        ));
        bar.inc(1);
        history.push(census);
    }
    bar.finish_and_clear();
    history
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash_after(steps: u32, seed: u64) -> u64 {
        let mut world = life::populate(2_000, seed);
        for _ in 0..steps {
            step::step(&mut world);
        }
        world.verify().unwrap();
        life::state_hash(&world)
    }

    #[test]
    fn one_seed_gives_one_state() {
        assert_eq!(hash_after(60, 7), hash_after(60, 7));
        assert_ne!(hash_after(60, 7), hash_after(60, 8));
    }

    #[test]
    fn the_census_counts_everyone() {
        let mut world = life::populate(2_000, 3);

        for _ in 0..60 {
            step::step(&mut world);
        }

        let census = *world.resource::<Census>();
        assert_eq!(census.grazers + census.hunters, world.len());
        assert_eq!(2_000 + census.births - census.deaths(), world.len());
    }

    #[test]
    fn options_are_consistent() {
        use clap::CommandFactory;

        Options::command().debug_assert();
        assert!(Options::try_parse_from(["swarm", "--entities", "0"]).is_err());
        assert!(Options::try_parse_from(["swarm", "--png", "world.txt"]).is_err());
    }
}
