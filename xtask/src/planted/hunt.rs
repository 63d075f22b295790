//! Lets a fuzz target look for a planted bug.

use std::error::Error;
use std::fs;
use std::time::Instant;

use super::copy::Copy;
use super::seconds;
use super::trial::Verdict;
use crate::prove::fuzz::{Built, build, fuzzer};

/// Builds a target in the copy and runs it for so long. It begins with the inputs that are kept, and not
/// with what other bugs have taught it.
pub(super) fn run(copy: &Copy, target: &str, time: u32) -> Result<Verdict, Box<dyn Error>> {
    // Dependencies are shared with the targets of the sources themselves.
    let programs = match build(copy.folder(), &copy.target.join("fuzz"), &["--bin", target])? {
        Built::Programs(programs) => programs,
        Built::Impossible(why) => return Err(why.into()),
        Built::Broken => return Err(format!("the target `{target}` does not build").into()),
    };
    let hunt = copy.target.join("planted").join("fuzz");
    if hunt.exists() {
        fs::remove_dir_all(&hunt)?;
    }
    let begun = Instant::now();
    let done = fuzzer(&programs.join(target), target, time, &hunt)?.output()?;
    if done.status.success() {
        return Ok(Verdict::Passed);
    }
    let said = String::from_utf8_lossy(&done.stderr);
    // The second line of a panic says what; a sanitizer says it in one.
    let mut lines = said.lines().skip_while(|line| !line.contains("panicked at"));
    let why = lines.nth(1).or_else(|| said.lines().find(|line| line.contains("ERROR: ")));
    eprintln!("  {}", why.unwrap_or("no word"));
    Ok(Verdict::Failed(format!("`{target}` after {}", seconds(begun.elapsed()))))
}
