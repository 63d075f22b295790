//! The fuzz targets of `fuzz/`, for a bounded time each.
//!
//! They are built here with the flags that cargo-fuzz would give, so that a nightly toolchain and a C++
//! compiler are all that is needed.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Result as Outcome;
use super::shell::{self, Tried};
use crate::root;

/// Seconds for each target.
const SHORT: u32 = 15;
const LONG: u32 = 3600;

/// Counters of what was reached, for libFuzzer, and the address sanitizer. Overflows are errors.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                     -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares \
                     -Zsanitizer=address --cfg fuzzing -Cdebug-assertions -Ccodegen-units=16";

pub(super) fn run(long: bool) -> Tried {
    let built = shell::target().join("fuzz");
    let programs = match build(&root(), &built, &["--bins"])? {
        Built::Programs(programs) => programs,
        Built::Impossible(why) => return Ok(Outcome::Skipped(why)),
        Built::Broken => return Ok(Outcome::Failed("the targets do not build".to_owned())),
    };
    let (seconds, mut inputs) = (if long { LONG } else { SHORT }, 0);
    let targets = targets(&root().join("fuzz"))?;
    for name in &targets {
        eprintln!("  {name}, {seconds} s");
        match attack(&programs.join(name), name, seconds, &built)? {
            Some(count) => inputs += count,
            None => return Ok(Outcome::Failed(format!("target {name}: see {}", built.display()))),
        }
    }
    let count = targets.len();
    Ok(Outcome::Passed(format!("{count} targets, {seconds} s each, {inputs} inputs")))
}

/// What came of building targets.
pub(crate) enum Built {
    /// The folder of their programs.
    Programs(PathBuf),
    /// What this machine has not.
    Impossible(String),
    Broken,
}

/// Builds targets of a tree of sources into a folder.
pub(crate) fn build(tree: &Path, built: &Path, which: &[&str]) -> Result<Built, Box<dyn Error>> {
    let (folder, host) = (tree.join("fuzz"), shell::host()?);
    if let Some(why) = missing(&folder, &host, built)? {
        return Ok(Built::Impossible(why));
    }
    let Some(mut build) = shell::nightly() else { return Err("a toolchain that went away".into()) };
    build.current_dir(&folder).args(["build", "--release", "--target", &host]).args(which);
    build.arg("--target-dir").arg(built).env("RUSTFLAGS", FLAGS);
    eprintln!("  cargo +nightly build --release {}, in `fuzz`", which.join(" "));
    let is_built = build.status()?.success();
    Ok(if is_built { Built::Programs(built.join(host).join("release")) } else { Built::Broken })
}

/// What there is not of all that is needed.
fn missing(folder: &Path, host: &str, built: &Path) -> Result<Option<String>, Box<dyn Error>> {
    if !folder.exists() {
        return Ok(Some("there is no folder `fuzz`".to_owned()));
    }
    if !host.ends_with("linux-gnu") {
        return Ok(Some(format!("not tried on {host}")));
    }
    if shell::nightly().is_none() {
        return Ok(Some("no nightly toolchain is installed".to_owned()));
    }
    if !shell::is_installed("c++") {
        return Ok(Some("libFuzzer needs a C++ compiler".to_owned()));
    }
    fs::create_dir_all(built)?;
    let empty = built.join("empty.rs");
    fs::write(&empty, "fn main() {}\n")?;
    let mut probe = Command::new("rustup");
    probe.args(["run", "nightly", "rustc", "-Zsanitizer=address", "--target", host]);
    probe.arg(&empty).arg("-o").arg(built.join("empty")).env_remove("RUSTUP_TOOLCHAIN");
    let is_built = probe.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success();
    Ok((!is_built).then(|| "the nightly toolchain has no address sanitizer".to_owned()))
}

/// The names of the targets: all programs that the manifest lists and that are in their folder.
fn targets(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
    let paths = manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/"));
    Ok(paths.filter_map(|path| path.strip_suffix(".rs\"")).map(str::to_owned).collect())
}

/// Runs a target; returns the number of inputs, or nothing if one of them did harm.
fn attack(
    program: &Path,
    name: &str,
    seconds: u32,
    built: &Path,
) -> Result<Option<u64>, Box<dyn Error>> {
    let done = fuzzer(program, name, seconds, built)?.output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() {
        eprintln!("{said}");
        return Ok(None);
    }
    let count = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    Ok(Some(count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)))
}

/// A run of a target, which begins with the inputs that are kept.
pub(crate) fn fuzzer(
    program: &Path,
    name: &str,
    seconds: u32,
    built: &Path,
) -> Result<Command, Box<dyn Error>> {
    // What it finds out goes to the first folder, so that the kept inputs stay few.
    let found = built.join("found").join(name);
    let harmful = built.join("harmful");
    fs::create_dir_all(&found)?;
    fs::create_dir_all(&harmful)?;
    let mut command = Command::new(program);
    command.arg(&found).arg(root().join("fuzz/corpus").join(name));
    command.args(["-rss_limit_mb=2048", "-print_final_stats=1"]);
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-artifact_prefix={}/{name}-", harmful.display()));
    command.stdout(Stdio::inherit()).stderr(Stdio::piped());
    Ok(command)
}
