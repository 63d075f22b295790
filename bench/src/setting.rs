//! Under which conditions numbers were taken: machine, compiler, flags, versions.

use std::{fmt::Write, fs};

use crate::contestant::Contestant;

/// The flags this program was compiled with, as the build script saw them.
const FLAGS: &str = env!("BENCH_RUSTFLAGS");

/// Whether loops start on 64-byte boundaries in this program.
pub fn loops_are_aligned() -> bool {
    FLAGS.contains("-align-loops=64")
}

/// A few Markdown lines to stand above the tables.
pub fn describe(contestants: &[&'static dyn Contestant]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "- CPU: {}", cpu());
    let _ = writeln!(out, "- compiler: {}", env!("BENCH_RUSTC"));
    if cfg!(debug_assertions) {
        let _ = writeln!(out, "- build: unoptimised, for the debug rows");
    }
    let loops = if loops_are_aligned() {
        "aligned to 64 bytes"
    } else {
        "not aligned; the shortest loops may be off by a factor of two (see `--help`)"
    };
    let _ = writeln!(out, "- loops: {loops}");
    let versions: Vec<_> =
        contestants.iter().map(|who| format!("{} ({})", who.name(), who.version())).collect();
    let _ = writeln!(out, "- contestants: {}", versions.join(", "));
    out
}

/// The CPU's name and how many threads it offers.
pub fn cpu() -> String {
    let name = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {threads} threads", name.unwrap_or_else(|| "unknown".into()))
}
