//! A lock that allows one health check at a time on a machine.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// Tries to lock the machine called `node`. The lock lasts until the returned file is closed.
/// `None` if another process has the lock.
///
/// # Errors
/// The lock file cannot be opened, created or locked.
pub fn lock(node: &str) -> io::Result<Option<File>> {
    let letter = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let node: String = node.chars().map(letter).collect();
    let file = open(&std::env::temp_dir().join(format!("memgauge-health-{node}.lock")))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opens the lock file, or creates it. A file of another user can be locked even if it can only be
/// read.
///
/// # Errors
/// `path` cannot be created, or is a link, a pipe or a folder. Any user could have put these there.
fn open(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        let text = format!("'{}' is no ordinary file", path.display());
        return Err(io::Error::other(text));
    }
    File::open(path).or_else(|_| {
        let mut create = File::options();
        create.read(true).write(true).create(true).truncate(false);
        create.open(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_two_holds_the_lock() {
        let name = format!("test/{}", std::process::id());
        let first = lock(&name).unwrap();
        assert!(first.is_some());
        assert!(lock(&name).unwrap().is_none());
        drop(first);
        assert!(lock(&name).unwrap().is_some());
    }

    #[test]
    fn something_else_in_its_place_is_no_lock() {
        let name = format!("folder-{}", std::process::id());
        let path = std::env::temp_dir().join(format!("memgauge-health-{name}.lock"));
        fs::create_dir(&path).unwrap();
        let found = lock(&name);
        fs::remove_dir(&path).unwrap();
        assert!(found.is_err());
    }
}
