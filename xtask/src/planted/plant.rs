//! A bug that can be planted, as its file says it.
//!
//! ```text
//! kind: what goes wrong (who had it)
//! file: src/sparse/set.rs
//! tests: --lib sparse::
//! fuzz: operations (only if that target is to find it as well)
//! --- right
//! a piece of the file, which occurs there once
//! --- wrong
//! what to put in its place
//! ```
//!
//! Pieces of text and not patches: they hold wherever the piece moves in its file, and when it changes
//! they fail with a message that says which piece is gone.

use std::error::Error;
use std::fs;
use std::path::Path;

/// A bug that can be planted.
#[derive(Debug)]
pub(super) struct Plant {
    /// That of its file.
    pub(super) name: String,
    /// What goes wrong, and who had it.
    pub(super) kind: String,
    /// The source file, below the root.
    pub(super) file: String,
    /// The tests that must find it, as said to `cargo test`, or `loom` and the path of models.
    pub(super) tests: String,
    /// The fuzz target that must find it, too.
    pub(super) fuzz: Option<String>,
    right: String,
    wrong: String,
}

impl Plant {
    /// All there are, by name.
    pub(super) fn all(root: &Path) -> Result<Vec<Self>, Box<dyn Error>> {
        let mut plants = Vec::new();
        for entry in fs::read_dir(root.join("tests/plants"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "plant") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let text = fs::read_to_string(&path)?;
                let plant = Self::read(&name, &text).ok_or_else(|| {
                    format!("{}: a line is missing; see another plant", path.display())
                })?;
                plants.push(plant);
            }
        }
        plants.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(plants)
    }

    fn read(name: &str, text: &str) -> Option<Self> {
        let (head, code) = text.split_once("--- right\n")?;
        let (right, wrong) = code.split_once("--- wrong\n")?;
        let line = |key: &str| {
            let found = head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            found.map(|value| value.trim().to_owned())
        };
        Some(Self {
            name: name.to_owned(),
            kind: line("kind")?,
            file: line("file")?,
            tests: line("tests")?,
            fuzz: line("fuzz"),
            right: right.to_owned(),
            wrong: wrong.to_owned(),
        })
    }

    /// The source with the bug in it.
    pub(super) fn planted(&self, source: &str) -> Result<String, String> {
        match source.matches(self.right.as_str()).count() {
            1 => Ok(source.replacen(&self.right, &self.wrong, 1)),
            count => Err(format!(
                "tests/plants/{}.plant has lost its place: what it replaces occurs {count} times in {}, \
                 not once; write the piece anew as it is there now",
                self.name, self.file
            )),
        }
    }
}
