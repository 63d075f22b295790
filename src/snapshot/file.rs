//! Files that are replaced as a whole.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::SnapshotError;

/// Lets `write` write a new file, which takes the place of the one at `path` when it is complete.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), SnapshotError>,
) -> Result<(), SnapshotError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let nth = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{nth}.part", process::id()));
    // In the same directory, and so on the same device: renaming is all or nothing there.
    let mut part = Discarded { path: path.with_file_name(name), is_finished: false };
    let mut file = BufWriter::with_capacity(1 << 16, File::create_new(&part.path)?);
    write(&mut file)?;
    file.flush()?;
    file.get_ref().sync_all()?;
    drop(file);
    fs::rename(&part.path, path)?;
    part.is_finished = true;
    Ok(())
}

/// A file that is removed unless it was finished, also while unwinding.
struct Discarded {
    path: PathBuf,
    is_finished: bool,
}

impl Drop for Discarded {
    fn drop(&mut self) {
        if !self.is_finished {
            // If it cannot be removed there is nobody left to tell.
            _ = fs::remove_file(&self.path);
        }
    }
}
