//! `cargo xtask layers`: the modules of the library as they are. `tests/layers.rs` is the judge;
//! this only shows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::{Outcome, root};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// List the files of each module too.
    #[arg(long)]
    files: bool,
}

/// One source file, as far as this chore cares.
struct File {
    /// Path below `src/`.
    name: String,
    lines: usize,
    /// How often the keyword `unsafe` stands in the code.
    unsafes: usize,
    /// Names after `crate::`, test module left out.
    uses: BTreeSet<String>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let src = root().join("src");
    let mut modules: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for path in rust_files(&src)? {
        let file = read(&src, &path)?;
        let module = file.name.split(['/', '.']).next().unwrap_or_default().to_owned();
        modules.entry(module).or_default().push(file);
    }
    modules.remove("lib");

    let uses: BTreeMap<&str, BTreeSet<&str>> = modules
        .iter()
        .map(|(module, files)| {
            let used = files.iter().flat_map(|file| &file.uses).map(String::as_str);
            let used = used.filter(|used| used != module && modules.contains_key(*used));
            (module.as_str(), used.collect())
        })
        .collect();

    println!("{:<11} {:>5} {:>6} {:>7}  uses", "module", "files", "lines", "unsafe");
    for module in bottom_first(&uses)? {
        let files = &modules[module];
        let lines: usize = files.iter().map(|file| file.lines).sum();
        let unsafes: usize = files.iter().map(|file| file.unsafes).sum();
        let used: Vec<&str> = uses[module].iter().copied().collect();
        let (count, used) = (files.len(), used.join(", "));
        println!(
            "{}",
            format!("{module:<11} {count:>5} {lines:>6} {unsafes:>7}  {used}").trim_end()
        );
        for file in files.iter().filter(|_| options.files) {
            println!("  {:<22} {:>6} {:>7}", file.name, file.lines, file.unsafes);
        }
    }
    Ok(())
}

/// The modules so that each comes after those it uses.
fn bottom_first<'a>(uses: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Result<Vec<&'a str>, String> {
    let mut order: Vec<&str> = Vec::new();
    while order.len() < uses.len() {
        let ready = |module: &str, used: &BTreeSet<&str>| {
            !order.contains(&module) && used.iter().all(|used| order.contains(used))
        };
        let next: Vec<&str> =
            uses.iter().filter(|(module, used)| ready(module, used)).map(|(m, _)| *m).collect();
        if next.is_empty() {
            let knot: Vec<_> = uses.keys().filter(|module| !order.contains(module)).collect();
            return Err(format!("these modules use each other in a circle: {knot:?}"));
        }
        order.extend(next);
    }
    Ok(order)
}

fn read(src: &Path, path: &Path) -> Result<File, Box<dyn std::error::Error>> {
    let source = fs::read_to_string(path)?;
    let code: Vec<&str> = source.lines().map(|l| l.split("//").next().unwrap_or(l)).collect();
    let code = code.join("\n");
    let unsafes = words(&code).filter(|word| *word == "unsafe").count();
    let tested = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&code);
    let uses = tested.split("crate::").skip(1).filter_map(|tail| words(tail).next());
    Ok(File {
        name: path.strip_prefix(src)?.display().to_string().replace('\\', "/"),
        lines: source.lines().count(),
        unsafes,
        uses: uses.map(str::to_owned).collect(),
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

pub(crate) fn rust_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
