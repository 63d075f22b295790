//! Runs test programs, shows how they get on, and counts.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Result as Outcome;
use crate::root;

pub(super) type Tried = Result<Outcome, Box<dyn Error>>;

/// A call of cargo, in the folder of the workspace.
pub(super) fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root());
    command
}

/// A call of cargo of the nightly toolchain, if there is one.
pub(super) fn nightly() -> Option<Command> {
    let is_there = Command::new("rustup")
        .args(["run", "nightly", "cargo", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    is_there.is_ok_and(|status| status.success()).then(|| {
        let mut command = Command::new("rustup");
        command.current_dir(root()).args(["run", "nightly", "cargo"]);
        // What this process has of another toolchain is not for that one.
        command.env_remove("RUSTC").env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
        command
    })
}

/// Whether a program is installed.
pub(super) fn is_installed(program: &str) -> bool {
    let status =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok()
}

/// Where cargo builds.
pub(super) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or_else(|| root().join("target"), |target| root().join(target))
}

/// The triple of this machine.
pub(super) fn host() -> Result<String, Box<dyn Error>> {
    let said = Command::new("rustc").arg("-vV").output()?;
    let said = String::from_utf8(said.stdout)?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc does not say what machine this is")?.to_owned())
}

/// Whether there is such a file of tests.
pub(super) fn has_test(name: &str) -> bool {
    root().join("tests").join(name).with_extension("rs").exists()
}

/// Runs tests; shows what is said apart from the names of those that pass, and counts these.
pub(super) fn tests(command: &mut Command, size: &str) -> Tried {
    eprintln!("  {}", said(command));
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or("a program without output")?;
    let (mut passed, mut failed) = (0, 0);
    for line in BufReader::new(output).lines() {
        let line = line?;
        let is_quiet = line.starts_with("test ") && line.ends_with(" ok") || line.is_empty();
        passed += usize::from(line.starts_with("test ") && line.ends_with(" ok"));
        failed += usize::from(line.starts_with("test ") && line.ends_with(" FAILED"));
        if !is_quiet {
            eprintln!("  {line}");
        }
    }
    let status = child.wait()?;
    Ok(match (status.success(), passed) {
        (true, 0) => Outcome::Failed("no test ran".to_owned()),
        (true, _) => Outcome::Passed(format!("{passed} tests{size}")),
        (false, _) => Outcome::Failed(format!("{failed} of {} tests ({status})", passed + failed)),
    })
}

/// The programs of tests, built if need be.
pub(super) fn programs(command: &mut Command) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    command.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    eprintln!("  {}", said(command));
    let built = command.stderr(Stdio::inherit()).output()?;
    if !built.status.success() {
        return Err("the tests do not build; what the compiler says is above".into());
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(built.stdout)?.lines().filter(|line| line.starts_with('{')) {
        let message: serde_json::Value = serde_json::from_str(line)?;
        let is_test = message["profile"]["test"].as_bool() == Some(true);
        if let (true, Some(path)) = (is_test, message["executable"].as_str()) {
            programs.push(PathBuf::from(path));
        }
    }
    Ok(programs)
}

/// A command as one would type it.
fn said(command: &Command) -> String {
    let settings = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={:?}", name.to_string_lossy(), value?.to_string_lossy()))
    });
    let program = PathBuf::from(command.get_program());
    let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    let words: Vec<String> = settings.chain([program]).chain(arguments).collect();
    words.join(" ")
}
