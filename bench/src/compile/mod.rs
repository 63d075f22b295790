//! What a dependency costs before it runs: build times and number of crates.
//!
//! For each library a tiny project is written into a temporary directory and built in release
//! mode, first with nothing compiled (cold), then after a change to its own source (warm). Then the program
//! is repeated many times in one, each time with types of its own: what a game of some size costs after
//! each change, in release and in debug mode.
//! Sources are fetched beforehand, so that no download is timed.

use std::{
    ffi::OsStr,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

mod programs;

use programs::{PROGRAMS, Program};

/// What one library costs.
#[derive(Debug, Serialize)]
struct Cost {
    contestant: &'static str,
    version: &'static str,
    cold_seconds: f64,
    warm_seconds: f64,
    /// A warm build of the program repeated [`programs::COPIES`] times.
    many_seconds: f64,
    many_debug_seconds: f64,
    crates: usize,
}

/// Builds the programs of the named contestants, or of all if none is named, and prints a
/// table.
///
/// # Errors
/// A sentence that says what failed: an unknown name, a directory that cannot be written, or
/// a build that fails.
pub fn run(names: &[String], json: Option<&Path>) -> Result<(), String> {
    if let Some(name) = names.iter().find(|name| PROGRAMS.iter().all(|p| p.name != **name)) {
        let known: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
        return Err(format!("no program for `{name}`; there are {}", known.join(", ")));
    }
    let chosen: Vec<_> = PROGRAMS
        .iter()
        .filter(|program| names.is_empty() || names.iter().any(|name| name == program.name))
        .collect();
    let bar = ProgressBar::new(chosen.len() as u64 * STEPS);
    let style =
        ProgressStyle::with_template("{elapsed_precise} {wide_bar:.green/dim} {eta} left  {msg}");
    bar.set_style(style.expect("the template is well formed").progress_chars("━━╌"));
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    let costs = chosen.into_iter().map(|p| cost(p, &bar)).collect::<Result<Vec<_>, _>>()?;
    bar.finish_and_clear();
    println!("{}", table(&costs));
    if let Some(path) = json {
        let text = serde_json::to_string_pretty(&costs).map_err(|error| error.to_string())?;
        fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// How often [`cost`] moves the bar.
const STEPS: u64 = 5;

fn cost(program: &Program, bar: &ProgressBar) -> Result<Cost, String> {
    let step = |what: &str| bar.set_message(format!("{}: {what}", program.name));
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let project = dir.path();
    write(project, program)?;

    step("fetch");
    cargo(project, ["fetch"])?;
    let crates =
        count_crates(&cargo(project, ["tree", "--edges", "normal,build", "--prefix", "none"])?);
    bar.inc(1);

    step("cold build");
    let cold_seconds = build(project, Mode::Release)?;
    bar.inc(1);

    step("warm build");
    // A new line changes the program's own crate and nothing else.
    let rewrite = |source: String| {
        fs::write(project.join("src/main.rs"), source).map_err(|error| error.to_string())
    };
    rewrite(format!("{}\n// changed\n", program.source))?;
    let warm_seconds = build(project, Mode::Release)?;
    bar.inc(1);

    step("many in one");
    rewrite(program.repeated())?;
    let many_seconds = build(project, Mode::Release)?;
    bar.inc(1);

    step("many in one, debug");
    rewrite(program.source.to_owned())?;
    build(project, Mode::Debug)?;
    rewrite(program.repeated())?;
    let many_debug_seconds = build(project, Mode::Debug)?;
    bar.inc(1);

    Ok(Cost {
        contestant: program.name,
        version: program.version(),
        cold_seconds,
        warm_seconds,
        many_seconds,
        many_debug_seconds,
        crates,
    })
}

fn write(project: &Path, program: &Program) -> Result<(), String> {
    let manifest = format!(
        "[package]\nname = \"small\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{}\n\n[workspace]\n",
        program.dependency
    );
    fs::create_dir(project.join("src"))
        .and_then(|()| fs::write(project.join("Cargo.toml"), manifest))
        .and_then(|()| fs::write(project.join("src/main.rs"), program.source))
        .map_err(|error| format!("{}: {error}", project.display()))
}

#[derive(Clone, Copy)]
enum Mode {
    Debug,
    Release,
}

fn build(project: &Path, mode: Mode) -> Result<f64, String> {
    let profile = match mode {
        Mode::Debug => "--profile=dev",
        Mode::Release => "--profile=release",
    };
    let start = Instant::now();
    cargo(project, ["build", profile, "--offline", "--quiet"])?;
    Ok(start.elapsed().as_secs_f64())
}

fn cargo<const N: usize>(project: &Path, arguments: [&str; N]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO");
    let out = Command::new(cargo.as_deref().unwrap_or(OsStr::new("cargo")))
        .args(arguments)
        .current_dir(project)
        // The project's own directory, whatever the caller's environment says.
        .env("CARGO_TARGET_DIR", project.join("target"))
        .env_remove("RUSTFLAGS")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    Err(format!("cargo {} failed:\n{}", arguments.join(" "), String::from_utf8_lossy(&out.stderr)))
}

/// Different crates in the output of `cargo tree`, the program itself not counted.
fn count_crates(tree: &str) -> usize {
    // `(*)` marks a crate whose dependencies were shown above, `(proc-macro)` its kind.
    let mut crates: Vec<_> = tree
        .lines()
        .map(|line| line.split(" (").next().unwrap_or(line).trim())
        .filter(|name| !name.is_empty() && !name.starts_with("small "))
        .collect();
    crates.sort_unstable();
    crates.dedup();
    crates.len()
}

fn table(costs: &[Cost]) -> String {
    let copies = programs::COPIES;
    let mut out = format!(
        "| contestant | version | cold build s | warm build s | {copies} in one s | … in debug mode s | crates |\n"
    );
    out += "|---|---|--:|--:|--:|--:|--:|\n";
    for cost in costs {
        let _ = writeln!(
            out,
            "| {} | {} | {:.1} | {:.2} | {:.1} | {:.1} | {} |",
            cost.contestant,
            cost.version,
            cost.cold_seconds,
            cost.warm_seconds,
            cost.many_seconds,
            cost.many_debug_seconds,
            cost.crates
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_counted_once_and_without_the_program() {
        let tree = "small v0.0.0 (/x)\nhecs v0.11.2\nspin v0.10.0\n\nspin v0.10.0 (*)\nsyn v2.0.1 (proc-macro)\n";

        assert_eq!(count_crates(tree), 3);
    }

    #[test]
    fn table_has_a_line_per_library() {
        let cost = Cost {
            contestant: "hecs",
            version: "1",
            cold_seconds: 1.25,
            warm_seconds: 0.5,
            many_seconds: 7.0,
            many_debug_seconds: 3.5,
            crates: 3,
        };

        assert!(table(&[cost]).ends_with("| hecs | 1 | 1.2 | 0.50 | 7.0 | 3.5 | 3 |\n"));
    }

    #[test]
    fn a_repeated_program_has_one_main_that_runs_all() {
        for program in PROGRAMS {
            let source = program.repeated();
            assert_eq!(
                source.matches("pub fn main()").count(),
                programs::COPIES,
                "{}",
                program.name
            );
            assert!(source.contains("m0::main();") && source.contains("m24::main();"));
        }
    }
}
