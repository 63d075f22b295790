//! Schedules that cannot be.

use std::error::Error;
use std::fmt;

use crate::access::Usage;

/// A schedule that contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A system uses something in two ways that exclude each other.
    Clash {
        /// Name of the system.
        system: String,
        /// Name of what it uses.
        name: &'static str,
        /// The two ways.
        usages: [Usage; 2],
    },
    /// A condition records commands, which nobody would carry out.
    Records {
        /// Name of the system that it is for.
        system: String,
    },
    /// The schedule was prepared for another world.
    AnotherWorld,
    /// A system is to run before or after something that is not there.
    Unknown {
        /// Name of the system.
        system: String,
        /// The system or set that it names.
        label: String,
    },
    /// Systems are to run before each other, or one before or after itself.
    Cycle {
        /// Their names: each before the next, and the last before the first.
        systems: Vec<String>,
    },
    /// Two systems return the same output.
    TwoProducers {
        /// Name of the output type.
        output: &'static str,
        /// Names of the systems.
        systems: [String; 2],
    },
    /// A system, or one of its conditions, needs the output that the system itself returns.
    OwnOutput {
        /// Name of the output type.
        output: &'static str,
        /// Name of the system.
        system: String,
    },
    /// A system, or one of its conditions, reads an output that none returns.
    NoProducer {
        /// Name of the output type.
        output: &'static str,
        /// Name of the system.
        system: String,
    },
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clash { system, name, usages: [one, other] } => write!(
                f,
                "system `{system}` wants to {one} and to {other} at once: `{name}`; \
                 ask for it once, or split the system"
            ),
            Self::Records { system } => write!(
                f,
                "a condition of system `{system}` records commands, which nobody would carry out; let a \
                 system do that"
            ),
            Self::AnotherWorld => f.write_str(
                "the schedule was prepared for another world: what its systems keep belongs there; make one \
                 for each world",
            ),
            Self::Unknown { system, label } => write!(
                f,
                "system `{system}` is to run before or after `{label}`, and there is no such system \
                 or set in the schedule; add it, or correct the name"
            ),
            Self::Cycle { systems } if systems.len() == 1 => write!(
                f,
                "system `{}` is to run before or after itself; name another system or set, or take this \
                 order out",
                systems[0]
            ),
            Self::Cycle { systems } => {
                f.write_str("systems are to run before each other: ")?;
                for system in systems {
                    write!(f, "`{system}` before ")?;
                }
                write!(f, "`{}`; take one of these orders out", systems.first().map_or("", String::as_str))
            }
            Self::TwoProducers { output, systems: [one, other] } => write!(
                f,
                "systems `{one}` and `{other}` both return `{output}`; who reads it would not know \
                 which one is meant: wrap one of them in a type of its own"
            ),
            Self::OwnOutput { output, system } => write!(
                f,
                "system `{system}` or a condition of it reads the output `{output}` before the system \
                 itself returns it; return it from another system, or ask for an `Option` of it"
            ),
            Self::NoProducer { output, system } => write!(
                f,
                "system `{system}` reads the output `{output}`, and no system of the schedule returns \
                 it; add one that does, or ask for an `Option` of it"
            ),
        }
    }
}

impl Error for ScheduleError {}
