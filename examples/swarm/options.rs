//! What can be said on the command line.

use std::path::{Path, PathBuf};

use clap::Parser;
use clap::builder::RangedU64ValueParser;

/// Herds and hunters on a torus: a demonstration of Esker.
#[derive(Debug, Parser)]
#[command(name = "swarm")]
pub struct Options {
    /// Entities at the start, one in fourteen a hunter; the area grows with them.
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub entities: u32,

    /// Steps to run.
    #[arg(long, value_name = "N", default_value_t = 800,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub steps: u32,

    /// Seed of all randomness: the same seed gives the same world.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Threads to use; all cores if nothing is said. The result is the same.
    #[arg(long, value_name = "N",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub threads: Option<usize>,

    /// Draw the world in the terminal while it lives. Space pauses, q ends.
    #[arg(long)]
    pub terminal: bool,

    /// Go on from a world that was saved, instead of a new one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["entities", "seed"])]
    pub load: Option<PathBuf>,

    /// Save the world after the last step.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,

    /// Take back every step and make it again, as a game over a network may have to; says what that costs.
    #[arg(long)]
    pub rollback: bool,

    /// Where to write the picture of the last step.
    #[arg(long, value_name = "FILE", default_value = "target/swarm.png", value_parser = png_path)]
    pub picture: PathBuf,

    /// Where to write the plot of both populations.
    #[arg(long, value_name = "FILE", default_value = "target/swarm-plot.png", value_parser = png_path)]
    pub plot: PathBuf,
}

fn png_path(text: &str) -> Result<PathBuf, String> {
    match Path::new(text).extension() {
        Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(text.into()),
        _ => Err("the name must end in .png".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: &[&str]) -> String {
        let all = ["swarm"].iter().chain(arguments);
        Options::try_parse_from(all).expect_err("it makes no sense").to_string()
    }

    #[test]
    fn options_are_consistent() {
        use clap::CommandFactory;

        Options::command().debug_assert();
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_reason() {
        assert!(refused(&["--entities", "0"]).contains("100..=10000000"));
        assert!(refused(&["--steps", "0"]).contains("1..=1000000"));
        assert!(refused(&["--threads", "0"]).contains("1..=1024"));
        assert!(refused(&["--seed", "one"]).contains("invalid digit"));
        assert!(refused(&["--picture", "world.txt"]).contains("must end in .png"));
    }
}
