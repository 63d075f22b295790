//! A run without a picture: a bar, and how fast it goes.

use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::simulation::Simulation;
use crate::summary::Timings;

/// Makes all steps and shows how they go.
pub fn run(simulation: &mut Simulation, steps: u32) -> Timings {
    let style = "{bar:40.green/white.dim} {pos}/{len} steps, {eta} to go\n{msg}";
    let bar = ProgressBar::new(steps.into())
        .with_style(ProgressStyle::with_template(style).expect("the template is a constant"));
    let mut timings = Timings::default();
    for _ in 0..steps {
        let report = simulation.step();
        bar.set_message(live_line(simulation.world.len(), &timings));
        bar.inc(1);
        timings.add(&report);
    }
    bar.finish_and_clear();
    timings
}

/// How many there are, how fast it goes, and which systems take the most.
fn live_line(entities: usize, timings: &Timings) -> String {
    let mut line = format!(
        "{} entities, {:.0} steps/s",
        HumanCount(entities as u64),
        timings.steps_per_second()
    );
    for (name, mean) in timings.slowest(4) {
        let mean = Duration::from_micros(mean.as_micros() as u64);
        line += &format!(", {name} {mean:.1?}");
    }
    line
}
