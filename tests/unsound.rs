//! Programs that would be unsound if they compiled: types that pass for others, and what is lent kept or exchanged.

#![cfg(feature = "derive")]

use std::fs;
use std::path::{Path, PathBuf};

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn what_would_be_unsound_does_not_compile() {
    // The words are the compiler's; see `tests/derives.rs`.
    const WORDS_OF: &str = "rustc 1.95.";
    let version = std::process::Command::new("rustc").arg("--version").output();
    let version = version.map_or_else(|_| Vec::new(), |output| output.stdout);
    if !version.starts_with(WORDS_OF.as_bytes()) {
        eprintln!("skipped: the expected words are those of {WORDS_OF}x");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/unsound/*.rs");
}

/// The public items of this kind in the sources, with what stands behind the name on its first line.
fn public(kinds: &[&str]) -> Vec<(String, String, String)> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut items = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut docs = String::new();
        for line in text.lines() {
            let item = kinds.iter().find_map(|kind| line.strip_prefix(kind));
            if let Some(item) = item {
                let end = item.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
                let (name, rest) = item.split_at(end.unwrap_or(item.len()));
                items.push((name.to_owned(), rest.to_owned(), docs.clone()));
            }
            match line.strip_prefix("///") {
                Some(doc) => docs.push_str(doc),
                // Attributes stand between the words and the item.
                None if line.is_empty() || line == "}" => docs.clear(),
                None => {}
            }
        }
    }
    assert!(items.len() > 20, "{items:?}");
    items
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// The lines of a section of the page on soundness.
fn section(title: &str) -> &'static str {
    let page = include_str!("../guide/src/soundness.md");
    let (_, rest) = page.split_once(&format!("\n## {title}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "reads the sources")]
fn every_public_trait_says_what_rests_on_it() {
    for (name, _, docs) in public(&["pub trait ", "pub unsafe trait "]) {
        if name == "Sealed" {
            continue;
        }
        let says = docs.contains("# Soundness") || docs.contains("# Safety");
        assert!(says, "`{name}` does not say whether an implementation can be unsound");
        let row = format!("`{name}`");
        assert!(section("Traits").contains(&row), "`{name}` has no row in guide/src/soundness.md");
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads the sources")]
fn every_public_type_with_parameters_has_its_variance_written_down() {
    for (name, rest, _) in public(&["pub struct ", "pub enum "]) {
        let row = format!("`{name}`");
        if rest.starts_with('<') {
            assert!(
                section("Variance").contains(&row),
                "`{name}` has no row in guide/src/soundness.md"
            );
        }
    }
}
