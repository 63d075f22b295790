//! The command line.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{
    contestant::{Contestant, Role},
    contestants,
    measure::Plan,
    workload::Workload,
};

/// Measures Esker and its peers side by side.
///
/// Every workload is run by every contestant, interleaved round by round in one process, and
/// checked against plain vectors. The tables go to stdout as Markdown; their cells are times
/// relative to the plain vectors (`raw`) in the same round. Only ratios mean anything, and
/// below 15 % (40 % at a million entities) a difference means nothing.
#[derive(Debug, Parser)]
#[command(name = "esker-bench", version, after_help = AFTER, after_long_help = AFTER)]
pub struct Cli {
    /// What to do instead of the table.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// What to measure.
    #[command(flatten)]
    pub choice: Choice,

    /// World sizes, one table each; if not said, 1000, 100000 and 1000000, for the `frame` rows
    /// 1000, 20000, 100000 and 500000.
    #[arg(short, long, value_delimiter = ',')]
    pub n: Vec<usize>,

    /// Shows all workloads and contestants, and what they are.
    #[arg(long)]
    pub list: bool,
}

const AFTER: &str = "\
Examples:
  cargo run --release -p esker-bench -- --quick
  cargo run --release -p esker-bench -- -w frame -c esker,hecs -n 1000,20000
  cargo run --release -p esker-bench -- -w iter_1,iter_2 -c hecs,shipyard -n 100000
  cargo run --release -p esker-bench -- --json bench.json --plots plots
  cargo run --release -p esker-bench -- growth -w iter_2,random_get --plots plots
  cargo run --release -p esker-bench --bin memory

Code placement alone moves the shortest loops by a factor of two. For numbers to keep, build
with aligned loops:
  RUSTFLAGS=\"-C llvm-args=-align-loops=64\" cargo run --release -p esker-bench";

/// What can be done besides the table.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Times a few workloads from 10^3 to 10^7 entities: ns per entity should stay flat.
    Growth {
        /// What to measure; iter_1, iter_2, random_get, create_2 and add_remove if not said.
        #[command(flatten)]
        choice: Choice,

        /// World sizes.
        #[arg(
            short,
            long,
            value_delimiter = ',',
            default_value = "1000,10000,100000,1000000,10000000"
        )]
        n: Vec<usize>,
    },
    /// Times cold and warm builds of a small program per contestant and counts its crates.
    Compile {
        /// Which libraries; all if not said.
        #[arg(short, long, value_delimiter = ',')]
        contestants: Vec<String>,

        /// Also writes the figures as JSON.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
}

/// What to measure, how long, and where the results go.
#[derive(Clone, Debug, Args)]
pub struct Choice {
    /// Workloads, or the beginning of their names (`frame`); all if not said.
    #[arg(short, long, value_delimiter = ',')]
    pub workloads: Vec<Family>,

    /// Contestants; all if not said. `raw` always takes part.
    #[arg(short, long, value_delimiter = ',')]
    pub contestants: Vec<String>,

    /// Rounds per epoch; if not said, 25 to 5 depending on N.
    #[arg(short, long, value_parser = at_least_one)]
    pub rounds: Option<usize>,

    /// How often all worlds are rebuilt in another order.
    #[arg(short, long, value_parser = at_least_one)]
    pub epochs: Option<usize>,

    /// Few rounds, one epoch: seconds instead of minutes, for a first look.
    #[arg(short, long)]
    pub quick: bool,

    /// Where all random orders come from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Writes all figures as a flat list of JSON objects.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Draws the figures into this directory.
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,

    /// Which files to draw.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "svg,png")]
    pub formats: Vec<Format>,
}

/// The workloads that a word on the command line stands for.
#[derive(Clone, Debug)]
pub struct Family(Vec<Workload>);

impl FromStr for Family {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let begins = |workload: &Workload| workload.name().starts_with(word);
        word.parse().map(|workload| Self(vec![workload])).or_else(|error| {
            let family: Vec<_> = Workload::ALL.into_iter().filter(begins).collect();
            if family.is_empty() { Err(error) } else { Ok(Self(family)) }
        })
    }
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Sharp at every size.
    Svg,
    /// Shown everywhere.
    Png,
}

impl Choice {
    /// How long to measure.
    pub fn plan(&self) -> Plan {
        let (rounds, epochs) = if self.quick { (Some(3), 1) } else { (None, 3) };
        Plan {
            rounds: self.rounds.or(rounds),
            epochs: self.epochs.unwrap_or(epochs),
            seed: self.seed,
        }
    }

    /// The chosen workloads in the order of the table, or `default` if none were named.
    pub fn workloads(&self, default: &[Workload]) -> Vec<Workload> {
        let named =
            |workload: &Workload| self.workloads.iter().any(|Family(list)| list.contains(workload));
        let chosen = |workload: &Workload| match self.workloads.is_empty() {
            true => default.contains(workload),
            false => named(workload),
        };
        Workload::ALL.into_iter().filter(chosen).collect()
    }

    /// The chosen contestants in the order of the table, the limit always first.
    ///
    /// # Errors
    /// A sentence that names what nobody is called.
    pub fn contestants(&self) -> Result<Vec<&'static dyn Contestant>, String> {
        let all = contestants::all();
        if let Some(name) =
            self.contestants.iter().find(|name| all.iter().all(|c| c.name() != **name))
        {
            return Err(format!("no contestant is called `{name}`; `--list` shows them all"));
        }
        let chosen = |who: &&dyn Contestant| {
            self.contestants.is_empty()
                || who.role() == Role::Limit
                || self.contestants.iter().any(|name| name == who.name())
        };
        Ok(all.into_iter().filter(chosen).collect())
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is needed to have a median".into()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn limit_takes_part_unasked_and_first() {
        let cli = Cli::parse_from(["esker-bench", "-c", "specs,hecs"]);

        let names: Vec<_> = cli.choice.contestants().unwrap().iter().map(|c| c.name()).collect();

        assert_eq!(names, ["raw", "hecs", "specs"]);
    }

    #[test]
    fn unknown_contestant_is_named() {
        let cli = Cli::parse_from(["esker-bench", "-c", "nobody"]);

        assert!(cli.choice.contestants().unwrap_err().contains("`nobody`"));
    }

    #[test]
    fn workloads_come_in_the_order_of_the_table() {
        let cli = Cli::parse_from(["esker-bench", "-w", "iter_2,create_2"]);

        assert_eq!(cli.choice.workloads(&[]), [Workload::Create2, Workload::Iter2]);
    }

    #[test]
    fn a_word_stands_for_all_that_begin_with_it_unless_it_is_a_name() {
        let chosen = |word| Cli::parse_from(["esker-bench", "-w", word]).choice.workloads(&[]);

        assert_eq!(chosen("frame").len(), 4);
        assert_eq!(chosen("iter_2"), [Workload::Iter2]);
        assert!(Cli::try_parse_from(["esker-bench", "-w", "nothing"]).is_err());
    }
}
