//! `cargo xtask unsafe-report`: what is unsafe in the library, file by file, and which invariants the
//! `SAFETY` comments name. The guide takes the table over.

use std::collections::BTreeSet;
use std::fs;

use clap::Args;

use crate::layers::rust_files;
use crate::{Outcome, root};

#[derive(Debug, Args)]
pub(crate) struct Options {}

/// One file, as far as this chore cares.
#[derive(Default)]
struct Count {
    /// Blocks in which something unsafe is done.
    blocks: usize,
    /// Functions and traits that ask something of their callers or implementors.
    declared: usize,
    /// Promises to the compiler: `unsafe impl`.
    implemented: usize,
    /// Lines that say `unsafe`.
    lines: usize,
    /// Names of invariants in comments that say why something is safe.
    invariants: BTreeSet<String>,
}

pub(crate) fn run(_: &Options) -> Outcome {
    let src = root().join("src");
    println!("| file | blocks | `unsafe fn`, `trait` | `unsafe impl` | lines | rests on |");
    println!("|---|---:|---:|---:|---:|---|");
    let mut sum = Count::default();
    let mut files = 0;
    for path in rust_files(&src)? {
        let count = count(&fs::read_to_string(&path)?);
        if count.lines == 0 {
            continue;
        }
        let name = path.strip_prefix(&src)?.display().to_string().replace('\\', "/");
        let named: Vec<&str> = count.invariants.iter().map(String::as_str).collect();
        let rests = if named.is_empty() {
            "no named invariant; see its comments".to_owned()
        } else {
            named.join(", ")
        };
        let Count { blocks, declared, implemented, lines, .. } = count;
        println!("| `{name}` | {blocks} | {declared} | {implemented} | {lines} | {rests} |");
        files += 1;
        sum.blocks += blocks;
        sum.declared += declared;
        sum.implemented += implemented;
        sum.lines += lines;
    }
    let Count { blocks, declared, implemented, lines, .. } = sum;
    println!(
        "| **{files} files** | **{blocks}** | **{declared}** | **{implemented}** | **{lines}** | |"
    );
    Ok(())
}

fn count(source: &str) -> Count {
    let mut count = Count::default();
    let mut is_reason = false;
    for line in source.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("//") {
            // A reason goes on for as many lines as its comment.
            is_reason |= comment.trim_start().starts_with("SAFETY:");
            if is_reason {
                count.invariants.extend(invariants(comment));
            }
            continue;
        }
        is_reason = false;
        let code = line.split("//").next().unwrap_or(line);
        // `unsafe_code` is the lint.
        let mut parts =
            code.split("unsafe").skip(1).filter(|rest| !rest.starts_with('_')).peekable();
        count.lines += usize::from(parts.peek().is_some());
        for rest in parts {
            let rest = rest.trim_start();
            if rest.starts_with("impl") {
                count.implemented += 1;
            } else if rest.starts_with("fn") || rest.starts_with("trait") {
                count.declared += 1;
            } else if rest.starts_with('{') {
                count.blocks += 1;
            }
        }
    }
    count
}

/// Words like `S1`: a capital letter and a digit.
fn invariants(comment: &str) -> impl Iterator<Item = String> {
    let words = comment.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| matches!(word.as_bytes(), [b'A'..=b'Z', b'0'..=b'9'])).map(str::to_owned)
}
