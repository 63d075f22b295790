//! Builds tests in the copy and runs them.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::copy::Copy;

/// After this long a test counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

pub(super) enum Verdict {
    Passed,
    /// With the name of a test that failed, or how the program ended.
    Failed(String),
}

/// Test programs, and which of their tests are to run.
pub(super) struct Trial<'a> {
    copy: &'a Copy,
    programs: Vec<PathBuf>,
    filter: Vec<String>,
}

impl<'a> Trial<'a> {
    /// Builds the tests. That must work, with a bug in them or not.
    pub(super) fn new(copy: &'a Copy, tests: &str) -> Result<Self, Box<dyn Error>> {
        let mut words: Vec<String> = tests.split_whitespace().map(str::to_owned).collect();
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(copy.folder()).args(["test", "--package", "esker", "--no-run"]);
        command.args(["--message-format", "json-render-diagnostics", "--quiet"]);
        // For the speed of the build alone; dependencies stay as other builds have made them.
        command.args(["--config", "profile.dev.package.esker.debug=false"]);
        let is_loom = words.first().is_some_and(|word| word == "loom");
        if is_loom {
            words.remove(0);
            command.args(["--lib", "--no-default-features", "--profile", "loom", "--target-dir"]);
            command.arg(copy.target.join("models")).env("RUSTFLAGS", "--cfg esker_loom");
        } else {
            // What comes behind the programs says which of their tests.
            let filter = words.iter().rposition(|word| word.starts_with("--")).map_or(0, |last| {
                let has_name = words[last] == "--test" || words[last] == "--example";
                last + 1 + usize::from(has_name)
            });
            let rest = words.split_off(filter.min(words.len()));
            command.args(&words).arg("--target-dir").arg(&copy.target);
            words = rest;
        }
        // Warnings of code that is wrong on purpose are of no use to anybody.
        let built = command.stderr(Stdio::piped()).output()?;
        if !built.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&built.stderr));
            return Err(format!("`{tests}` does not build; what the compiler says is above").into());
        }
        let programs = programs(&String::from_utf8(built.stdout)?)?;
        if programs.is_empty() {
            return Err(format!("`{tests}` means no test program").into());
        }
        Ok(Self { copy, programs, filter: words })
    }

    pub(super) fn run(&self) -> Result<Verdict, Box<dyn Error>> {
        let mut count = 0;
        for program in &self.programs {
            let log = self.copy.target.join("planted").join("output.txt");
            let output = File::create(&log)?;
            let child = Command::new(program)
                .current_dir(self.copy.folder())
                .args(&self.filter)
                .env("LOOM_MAX_PREEMPTIONS", "3")
                .stderr(output.try_clone()?)
                .stdout(output)
                .spawn()?;
            let ended = wait(child, &log, PATIENCE)?;
            let said = fs::read_to_string(&log)?;
            count += said.matches("... ok").count();
            match (ended, said.lines().find_map(failed_test)) {
                (Some(status), None) if status.success() => {}
                (_, Some(name)) => return Ok(Verdict::Failed(format!("`{name}`"))),
                (None, None) => return Ok(Verdict::Failed("no end".to_owned())),
                (Some(status), None) => return Ok(Verdict::Failed(format!("abort ({status})"))),
            }
        }
        if count == 0 {
            return Err(format!("no test is called {:?}", self.filter).into());
        }
        Ok(Verdict::Passed)
    }
}

/// The test programs that cargo says it has built.
fn programs(messages: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut programs = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: serde_json::Value = serde_json::from_str(line)?;
        let is_test = message["profile"]["test"].as_bool() == Some(true);
        if let (true, Some(path)) = (is_test, message["executable"].as_str()) {
            programs.push(PathBuf::from(path));
        }
    }
    Ok(programs)
}

/// The name of a test, in a line that says that it failed.
pub(crate) fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix("FAILED")?.split_whitespace().next()
}

/// How a program ends; `None` if it was stopped, because a test has failed or nothing goes on.
pub(crate) fn wait(
    mut child: Child,
    log: &Path,
    patience: Duration,
) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(50));
        // One is enough; the others may never end.
        if fs::read_to_string(log).is_ok_and(|said| said.lines().any(|l| failed_test(l).is_some()))
        {
            break;
        }
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}
