//! A copy of the sources, in which bugs are planted. The sources themselves are never touched.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is no source.
const LEFT_OUT: &[&str] = &["target", ".git", "corpus", "artifacts"];

pub(crate) struct Copy {
    original: PathBuf,
    folder: PathBuf,
    /// Where cargo builds: dependencies are shared with all other builds.
    pub(crate) target: PathBuf,
}

impl Copy {
    /// A copy that is up to date. Files that are the same stay as they are, so that little is built anew.
    pub(crate) fn of(original: &Path, name: &str) -> io::Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR");
        let target = target.map_or_else(|| original.join("target"), |target| original.join(target));
        let folder = target.join(name).join("source");
        let copy = Self { original: original.to_owned(), folder, target };
        let mut files = BTreeSet::new();
        list(original, Path::new(""), &copy.target, &mut files)?;
        for file in &files {
            match file == Path::new("Cargo.toml") {
                true => {
                    copy.put_bytes(
                        file,
                        renumbered(&fs::read_to_string(original.join(file))?).as_bytes(),
                    )?;
                }
                false => copy.put_bytes(file, &fs::read(original.join(file))?)?,
            }
        }
        let mut there = BTreeSet::new();
        list(&copy.folder, Path::new(""), &copy.target, &mut there)?;
        for stale in there.difference(&files) {
            fs::remove_file(copy.folder.join(stale))?;
        }
        Ok(copy)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file as it is in the sources.
    pub(crate) fn original(&self, file: &str) -> Result<String, String> {
        fs::read_to_string(self.original.join(file)).map_err(|error| format!("{file}: {error}"))
    }

    /// Writes a file of the copy.
    pub(crate) fn put(&self, file: &str, text: &str) -> io::Result<()> {
        self.put_bytes(Path::new(file), text.as_bytes())
    }

    fn put_bytes(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.join(file);
        if fs::read(&path).is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, bytes)
    }
}

/// A manifest with another version, so that cargo does not take what it builds here for the library
/// itself, or the other way round: both are in the same folder, and it goes by names and versions.
fn renumbered(manifest: &str) -> String {
    let line = manifest.lines().find(|line| line.starts_with("version = ")).unwrap_or_default();
    let (minor, _) = line.rsplit_once('.').unwrap_or_default();
    manifest.replacen(line, &format!("{minor}.9999\""), 1)
}

/// The files below a folder of a tree.
fn list(root: &Path, below: &Path, except: &Path, into: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let is_left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
        if is_left_out || root.join(&path) == except {
            continue;
        }
        if entry.file_type()?.is_dir() {
            list(root, &path, except, into)?;
        } else {
            into.insert(path);
        }
    }
    Ok(())
}
