//! The README and the guide hang together: links lead somewhere, every page is in the summary, and
//! every page with programs is among the doctests.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages of the guide.
fn pages() -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join("guide/src")).expect("the guide is there");
    let files = folder.map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    assert!(pages.len() > 10, "{pages:?}");
    pages
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn name(file: &Path) -> &str {
    file.file_name().and_then(|name| name.to_str()).unwrap()
}

/// The text outside of blocks of code.
fn prose(text: &str) -> String {
    let blocks = text.split("\n```").enumerate().filter(|(nth, _)| nth % 2 == 0);
    blocks.map(|(_, block)| block).collect::<Vec<_>>().join("\n")
}

/// Where links and pictures lead.
fn targets(text: &str) -> Vec<String> {
    let tails = text.split("](").skip(1);
    tails.filter_map(|tail| tail.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// A heading as it is named in links.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// What is wrong with the link `target` of `file`, if anything.
fn fault(file: &Path, target: &str) -> Option<String> {
    if target.starts_with("http") {
        return None;
    }
    let (path, part) = target.split_once('#').unwrap_or((target, ""));
    let leads_to = match path {
        "" => file.to_owned(),
        path => file.parent().unwrap().join(path),
    };
    if !leads_to.exists() {
        return Some(format!("{}: there is no {target}", name(file)));
    }
    let has_part =
        |text: String| text.lines().any(|line| line.starts_with('#') && anchor(line) == part);
    match part {
        "" => None,
        _ if has_part(read(&leads_to)) => None,
        _ => Some(format!("{}: {target} has no such heading", name(file))),
    }
}

#[test]
fn links_lead_somewhere() {
    let mut files = pages();
    files.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root().join(name)));

    let faults: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let targets = targets(&prose(&read(file)));
            targets.into_iter().filter_map(|target| fault(file, &target)).collect::<Vec<_>>()
        })
        .collect();

    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = read(&root().join("guide/src/SUMMARY.md"));

    for page in pages().iter().filter(|page| name(page) != "SUMMARY.md") {
        assert!(summary.contains(&format!("]({})", name(page))), "{}", page.display());
    }
}

#[test]
fn every_page_with_programs_is_a_doctest() {
    let library = read(&root().join("src/lib.rs"));

    for page in pages().iter().filter(|page| read(page).contains("\n```rust")) {
        let listed = format!("\"../guide/src/{}\"", name(page));
        assert!(library.contains(&listed), "src/lib.rs does not test {}", page.display());
    }
}
