//! A predator–prey world: herds graze, hunters chase them, both are born and die all the time.
//!
//! Run it with `cargo run --release --example swarm`; `-- --help` lists the options, `-- --terminal`
//! draws it live. The same `--seed` gives the same state on any number of `--threads`.
//!
//! Where to read on: `life.rs` has the components, `simulation.rs` the schedule, and `senses.rs`,
//! `motion.rs` and `struggle.rs` the systems. The other files are about showing it.

#![allow(unreachable_pub, reason = "the modules of a program are nobody else's")]

mod census;
mod grid;
mod herd;
mod life;
mod light;
mod motion;
mod options;
mod paper;
mod picture;
mod plot;
mod progress;
mod senses;
mod simulation;
mod state;
mod struggle;
mod summary;
mod terminal;
mod torus;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use census::History;
use options::Options;
use simulation::Simulation;

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
    make_folder_of(&options.picture)?;
    make_folder_of(&options.plot)?;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(options.threads.unwrap_or(0));
    let threads = threads.build()?;

    let world = match &options.load {
        Some(file) => {
            state::load(file).map_err(|error| format!("cannot load {}: {error}", file.display()))?
        }
        None => life::populate(options.entities, options.seed),
    };
    let mut simulation = Simulation::new(world);
    if options.rollback {
        simulation.rewind();
    }
    let timings = threads.install(|| match options.terminal {
        true => terminal::run(&mut simulation, options.steps),
        false => Ok(progress::run(&mut simulation, options.steps)),
    })?;

    let world = &simulation.world;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", timings.table())?;
    writeln!(out, "{}", summary::of(world, &timings, threads.current_num_threads())?)?;
    if let Some(rewinding) = simulation.rewinding() {
        let (rewound, stepped) = (rewinding.rewound.as_secs_f64(), rewinding.stepped.as_secs_f64());
        let share = 100.0 * rewound / stepped;
        writeln!(out, "rollback     {rewound:.2} s for {stepped:.2} s of steps, {share:.1} %")?;
    }
    let history = world.resource::<History>();
    picture::draw(world, &history, &options.picture)
        .map_err(|error| format!("cannot write {}: {error}", options.picture.display()))?;
    plot::draw(&history, &options.plot)
        .map_err(|error| format!("cannot write {}: {error}", options.plot.display()))?;
    writeln!(out, "picture      {}", options.picture.display())?;
    writeln!(out, "plot         {}", options.plot.display())?;
    if let Some(file) = &options.save {
        state::save(world, file)
            .map_err(|error| format!("cannot save {}: {error}", file.display()))?;
        writeln!(out, "saved        {}", file.display())?;
    }
    Ok(())
}

fn make_folder_of(file: &Path) -> Result<(), String> {
    let Some(folder) = file.parent() else { return Ok(()) };
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))
}
