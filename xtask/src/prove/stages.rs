//! The attacks, one after the other. The sizes of the long mode are those that a release must stand.

use std::fs;
use std::process::Command;

use super::Result as Outcome;
use super::fuzz;
use super::shell::{self, Tried, cargo, has_test, tests};
use crate::{loom, mutants, planted, root, shuttle};

pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) question: &'static str,
    /// Whether `cargo test` or `cargo xtask loom` does the same as the short mode.
    pub(super) is_in_tests: bool,
    /// Is told whether the long mode is wanted.
    pub(super) run: fn(bool) -> Tried,
}

pub(super) const ALL: &[Stage] = &[
    Stage {
        name: "model",
        question: "does the world do what a naive one does, operation by operation?",
        is_in_tests: true,
        run: |long| {
            sized(long, "model", &["model"], ("ESKER_MODEL_OPS", "100000000"), "operations")
        },
    },
    Stage {
        name: "tiny ids",
        question: "is an id ever valid twice, when all of them are used up?",
        is_in_tests: true,
        run: |long| tests(test(long, "model").arg("tiny"), ""),
    },
    Stage {
        name: "faults",
        question: "does a panic anywhere in code of the user's leave the books right?",
        is_in_tests: true,
        run: faults,
    },
    Stage {
        name: "snapshot corruption",
        question: "is every damaged snapshot an error, with the world as it was?",
        is_in_tests: true,
        run: |long| {
            let size = ("ESKER_SNAPSHOT_ATTACKS", "1000000");
            sized(long, "snapshot_attacks", &[], size, "random edits")
        },
    },
    Stage {
        name: "parallel = serial",
        question: "does a step come out the same on any number of threads?",
        is_in_tests: true,
        run: |long| sized(long, "schedules", &[], ("ESKER_SCHEDULES", "100000"), "schedules"),
    },
    Stage {
        name: "loom",
        question: "does what threads share hold in all orders of the threads?",
        is_in_tests: true,
        run: |long| {
            let preemptions = if long { "in all orders" } else { "up to 3 preemptions" };
            loom::run(&loom::Options::everything(long))?;
            Ok(Outcome::Passed(format!("all models, {preemptions}")))
        },
    },
    Stage {
        name: "shuttle",
        question: "does a step come out the same in orders of its threads that chance chooses?",
        is_in_tests: false,
        run: |long| {
            let orders = if long { 100_000 } else { 500 };
            let done = format!(", 20 schedules in {} orders each", 2 * orders);
            tests(&mut shuttle::tests(orders), &done)
        },
    },
    Stage {
        name: "load",
        question: "does it stand many entities, many types, and hours of the same work?",
        is_in_tests: true,
        run: load,
    },
    Stage {
        name: "address sanitizer",
        question: "is memory read or written that is not ours, or lost?",
        is_in_tests: false,
        run: address_sanitizer,
    },
    Stage {
        name: "thread sanitizer",
        question: "do two threads touch the same memory, and nothing says who is first?",
        is_in_tests: false,
        run: thread_sanitizer,
    },
    Stage {
        name: "valgrind",
        question: "is memory read that nobody has written?",
        is_in_tests: false,
        run: valgrind,
    },
    Stage {
        name: "planted bugs",
        question: "do the tests find the bugs that others had?",
        is_in_tests: false,
        run: |long| {
            let tally = planted::plant_all(&planted::some((!long).then_some(5)))?;
            let planted::Tally { planted, missed } = tally;
            let found = format!("{} of {planted} found", planted - missed);
            Ok(if missed == 0 { Outcome::Passed(found) } else { Outcome::Failed(found) })
        },
    },
    Stage {
        name: "fuzz",
        question: "does an input that nobody thought of do harm?",
        is_in_tests: false,
        run: fuzz::run,
    },
    Stage {
        name: "mutants",
        question: "is there code that can be changed without a test that fails?",
        is_in_tests: false,
        run: try_mutants,
    },
];

/// The tests of a file: as they are, or optimised.
fn test(long: bool, name: &str) -> Command {
    let mut command = cargo();
    command.args(["test", "--package", "esker", "--test", name]);
    if long {
        command.arg("--release");
    }
    command
}

/// The tests of a file, in long mode with its size.
fn sized(
    long: bool,
    name: &str,
    filter: &[&str],
    (variable, size): (&str, &str),
    of: &str,
) -> Tried {
    if !has_test(name) {
        return Ok(Outcome::Skipped(format!("there is no tests/{name}.rs")));
    }
    let mut command = test(long, name);
    command.args(filter);
    match long {
        true => tests(command.env(variable, size), &format!(", {size} {of}")),
        false => tests(&mut command, ""),
    }
}

fn faults(long: bool) -> Tried {
    let mut command = cargo();
    command.args(["test", "--package", "esker"]);
    for name in ["panicking_drop", "group_panics", "faults"].iter().filter(|name| has_test(name)) {
        command.args(["--test", name]);
    }
    if long {
        command.arg("--release").env("ESKER_FAULT_OPS", "500");
    }
    tests(&mut command, "")
}

fn load(long: bool) -> Tried {
    if !long {
        return tests(&mut test(false, "load"), "");
    }
    let mut command = test(true, "load");
    command.env("ESKER_LOAD_ENTITIES", "10000000").env("ESKER_LOAD_SECONDS", "3600");
    command.args(["--", "--nocapture"]);
    let few_types = tests(&mut command, ", 10^7 entities, 1 h of mixed load")?;
    let Outcome::Passed(done) = few_types else { return Ok(few_types) };
    let mut command = test(false, "load");
    command.arg("types").env("RUSTFLAGS", "--cfg esker_load");
    // What cargo keeps for the next build, and debug information, would take gigabytes more.
    command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    command.arg("--target-dir").arg(shell::target().join("load"));
    Ok(match tests(&mut command, "")? {
        Outcome::Passed(_) => Outcome::Passed(format!("{done}, 5,000 component types")),
        other => other,
    })
}

/// Files of tests that make the library do all that is unsafe in it.
const UNSAFE_TESTS: &[&str] = &["panicking_drop", "bad_input", "sole_owners", "storages", "order"];

fn address_sanitizer(long: bool) -> Tried {
    let Some(mut command) = shell::nightly() else {
        return Ok(Outcome::Skipped("no nightly toolchain is installed".to_owned()));
    };
    let host = shell::host()?;
    if !host.ends_with("linux-gnu") && !host.ends_with("apple-darwin") {
        return Ok(Outcome::Skipped(format!("not tried on {host}")));
    }
    command.args(["test", "--package", "esker", "--lib", "--target", &host]);
    UNSAFE_TESTS.iter().for_each(|name| _ = command.args(["--test", name]));
    if long {
        ["model", "queries", "threads", "schedules", "changes", "groups"]
            .iter()
            .for_each(|name| _ = command.args(["--test", name]));
        command.arg("--release").env("ESKER_MODEL_OPS", "10000000");
    }
    command.arg("--target-dir").arg(shell::target().join("asan"));
    // It leaks on purpose: what belongs to another thread is not dropped on this one.
    command.args(["--", "--skip", "a_world_dropped_elsewhere_leaks"]);
    tests(command.env("RUSTFLAGS", "-Zsanitizer=address"), "")
}

/// What the test harness does, whose locks the sanitizer does not see.
const NOT_OURS: &str = "race:test::\nrace:CompletedTest\n";

fn thread_sanitizer(long: bool) -> Tried {
    if !long {
        return Ok(Outcome::Skipped("only in the long mode".to_owned()));
    }
    let Some(mut command) = shell::nightly() else {
        return Ok(Outcome::Skipped("no nightly toolchain is installed".to_owned()));
    };
    let host = shell::host()?;
    if !host.ends_with("linux-gnu") {
        return Ok(Outcome::Skipped(format!("not tried on {host}")));
    }
    let folder = shell::target().join("tsan");
    fs::create_dir_all(&folder)?;
    let suppressions = folder.join("suppressions");
    fs::write(&suppressions, NOT_OURS)?;
    // Optimised, so that what the standard library does with atomics is inlined and seen. Its own code is not:
    // a lock that somebody has to wait for looks like none, and rayon's queues use fences, which nobody sees.
    command.args(["test", "--package", "esker", "--test", "races", "--release", "--target", &host]);
    command.arg("--target-dir").arg(&folder);
    command.args(["--", "--test-threads=1"]);
    command.env("TSAN_OPTIONS", format!("suppressions={}", suppressions.display()));
    let flags = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
    tests(command.env("RUSTFLAGS", flags).env("CARGO_PROFILE_RELEASE_LTO", "off"), "")
}

fn valgrind(long: bool) -> Tried {
    if !shell::is_installed("valgrind") {
        return Ok(Outcome::Skipped("valgrind is not installed".to_owned()));
    }
    let mut build = cargo();
    build.args(["test", "--package", "esker", "--lib", "--test", "sole_owners"]);
    if long {
        build.args([
            "--test",
            "storages",
            "--test",
            "panicking_drop",
            "--test",
            "bad_input",
            "--test",
            "order",
            "--test",
            "model",
        ]);
    }
    let mut done = 0;
    for program in shell::programs(&mut build)? {
        let mut command = Command::new("valgrind");
        command
            .current_dir(root())
            .args(["-q", "--error-exitcode=9", "--leak-check=full"])
            // What the runtime keeps for itself is only possibly lost.
            .args(["--errors-for-leak-kinds=definite", "--show-leak-kinds=definite"])
            .env("ESKER_MODEL_OPS", "100000")
            .arg(&program)
            .arg("--test-threads=1");
        match tests(&mut command, "")? {
            Outcome::Passed(count) => {
                let count = count.split_whitespace().next().and_then(|count| count.parse().ok());
                done += count.unwrap_or(0);
            }
            other => return Ok(other),
        }
    }
    Ok(Outcome::Passed(format!("{done} tests")))
}

fn try_mutants(long: bool) -> Tried {
    if !long {
        return Ok(Outcome::Skipped("only in the long mode".to_owned()));
    }
    if !shell::is_installed("cargo-mutants") {
        return Ok(Outcome::Skipped("cargo-mutants is not installed".to_owned()));
    }
    let tally = mutants::measure(&mutants::Options::sample())?;
    let mutants::Tally { caught, hanging, missed, .. } = tally;
    // A mutant without end fails its tests, too.
    let (found, all) = (caught + hanging, caught + hanging + missed);
    let score = format!("{found} of {all} caught");
    // Goal: nine of ten.
    let is_good = found > 0 && found >= 9 * missed;
    Ok(if is_good { Outcome::Passed(score) } else { Outcome::Failed(score) })
}
