//! Reads the files in which Linux describes the machine.

use crate::os;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use units::CpuList;

/// Most bytes that are read of a file. All files that are read here are shorter.
const LONGEST: u64 = 16 << 20;

/// The files of this machine, or a recorded copy: `/proc`, `/sys`, and a few files that identify
/// containers.
#[derive(Debug, Clone)]
pub struct SystemFiles {
    root: PathBuf,
}

impl SystemFiles {
    /// The files of this machine. Only Linux has such files. On other systems, a file at such a
    /// path belongs to another program and is ignored.
    pub fn real() -> Self {
        Self::under("/")
    }

    /// A recorded copy of such files, in the folders `root/proc` and `root/sys`.
    pub fn under(root: impl Into<PathBuf>) -> Self {
        SystemFiles { root: root.into() }
    }

    /// True if these are the files of this machine, so that system calls describe the same machine.
    pub fn is_real(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Text of the file `path` without surrounding space. `path` is the path on the described
    /// machine. `None` if the file is missing, unreadable or empty. Invalid UTF-8 is replaced.
    pub fn read(&self, path: &str) -> Option<String> {
        let bytes = self.read_bytes(path).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// All bytes of the file `path`, at most 16 MiB.
    pub fn read_bytes(&self, path: &str) -> std::io::Result<Vec<u8>> {
        if self.is_nothing() {
            return Err(std::io::ErrorKind::NotFound.into());
        }
        let mut bytes = Vec::new();
        std::fs::File::open(self.locate(path))?
            .take(LONGEST)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The parsed text of the file `path`; `None` if reading or parsing fails.
    pub fn read_as<T: FromStr>(&self, path: &str) -> Option<T> {
        self.read(path)?.parse().ok()
    }

    /// The CPU numbers in the file `path`, rising. `None` if the file is missing, empty or invalid.
    pub fn cpus(&self, path: &str) -> Option<BTreeSet<u32>> {
        Some(self.read_as::<CpuList>(path)?.0.into_iter().collect())
    }

    /// Target of the symbolic link `path`, as written in the link.
    pub fn link(&self, path: &str) -> Option<String> {
        if self.is_nothing() {
            return None;
        }
        std::fs::read_link(self.locate(path))
            .ok()
            .map(|target| target.to_string_lossy().into_owned())
    }

    /// Sorted names of the files and folders in `folder`. Empty if the folder is missing.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.locate(folder));
        let Some(entries) = entries.ok().filter(|_| !self.is_nothing()) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    /// True if `path` exists.
    pub fn exists(&self, path: &str) -> bool {
        !self.is_nothing() && self.locate(path).exists()
    }

    /// True if there is nothing to read: the files are those of this machine, whose system has
    /// none.
    fn is_nothing(&self) -> bool {
        self.is_real() && !os::HAS_SYSTEM_FILES
    }

    /// Path below the root at which the file `path` of the described machine lies. Components `..`
    /// are dropped, because some paths come from files and could lead outside the root.
    fn locate(&self, path: &str) -> PathBuf {
        let inside = Path::new(path)
            .components()
            .filter(|part| matches!(part, Component::Normal(_)));
        inside.fold(self.root.clone(), |folder, part| folder.join(part))
    }
}

/// The value of `key` in a text of `key: value` lines; `None` if the key is missing.
pub fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, v)| v.trim())
}

/// Number of bytes for a text such as `16384 kB`; `None` for any other unit.
pub fn kilobytes(value: &str) -> Option<u64> {
    let mut words = value.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    match words.next() {
        Some("kB") => number.checked_mul(1024),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_outside_the_tree() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("inner/proc")).unwrap();
        std::fs::write(tree.path().join("secret"), "x").unwrap();
        std::fs::write(tree.path().join("inner/proc/a"), " 17 \n").unwrap();
        std::fs::write(tree.path().join("inner/proc/empty"), "\n").unwrap();
        std::fs::write(tree.path().join("inner/proc/odd"), b"\xff\xfe").unwrap();
        let files = SystemFiles::under(tree.path().join("inner"));
        assert_eq!(files.read_as::<u32>("/proc/a"), Some(17));
        assert_eq!(files.read("/proc/empty"), None);
        assert_eq!(files.read_as::<u32>("/proc/odd"), None);
        assert_eq!(files.read("/../secret"), None);
        assert_eq!(files.read("/proc"), None, "a folder has no text");
        assert_eq!(files.names("/proc"), ["a", "empty", "odd"]);
        assert!(files.names("/sys").is_empty());
    }

    #[test]
    fn fields_and_kilobytes() {
        let text = "MemTotal:       100 kB\nCpus_allowed_list:\t0-3\nbare\n";
        assert_eq!(field(text, "Cpus_allowed_list"), Some("0-3"));
        assert_eq!(field(text, "bare"), None);
        assert_eq!(kilobytes("100 kB"), Some(102400));
        for odd in [
            "",
            "kB",
            "-1 kB",
            "100",
            "100 MB",
            "99999999999999999999 kB",
            "18446744073709551615 kB",
        ] {
            assert_eq!(kilobytes(odd), None, "{odd}");
        }
    }
}
