//! One health check at a time on a machine.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// Tries to get the lock of the machine called `node`. It ends with the file that is returned;
/// `None` if another process has it.
///
/// # Errors
/// There is no place for a lock.
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

/// The file of a lock. Another user's file can only be read, which is enough for a lock.
///
/// # Errors
/// The name belongs to a link, a pipe or a folder. Everybody can write to the temporary folder.
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
