//! Files that results are written to. The result of an earlier session is kept.

use super::terminal::{tell, to_stdout};
use host::is_block_device;
use report::{is_replaceable, read_saved, write_atomically};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use units::error::{Error, Result};

/// Place to which a result is written.
#[derive(Debug)]
pub enum Target {
    /// A file. It is created when the result is complete.
    File(PathBuf),
    /// A pipe or a device. It is opened once, before the session, so that the reader of a pipe sees
    /// one writer.
    Stream {
        /// Path of the pipe or device, as the user gave it.
        path: PathBuf,
        /// The pipe or device, open for writing.
        file: RefCell<File>,
    },
}

impl Target {
    /// Opens `path` if it is a pipe or a device. Otherwise checks that a file can be written there.
    ///
    /// # Errors
    /// `path` is a folder, a disk, or not writable.
    pub fn open(path: &Path) -> Result<Self> {
        check_no_folder(path)?;
        if is_replaceable(path) {
            return check_writable(path).map(|()| Target::File(path.to_owned()));
        }
        let file = File::options()
            .append(true)
            .open(path)
            .map_err(|e| refused(path, &e))?;
        if is_block_device(&file) {
            return Err(Error::usage(format!(
                "cannot write the result: '{}' is a disk, whose data would be lost; -o takes a \
                 file, a pipe or a character device; type -o report.json",
                path.display()
            )));
        }
        Ok(Target::Stream {
            path: path.to_owned(),
            file: RefCell::new(file),
        })
    }

    /// Path that the user gave.
    pub fn path(&self) -> &Path {
        match self {
            Target::File(path) | Target::Stream { path, .. } => path,
        }
    }

    /// Path of the file; `None` for a pipe or a device.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Target::File(path) => Some(path),
            Target::Stream { .. } => None,
        }
    }

    /// Writes `bytes`. If `keeps` returns true for an existing file, the file is renamed first and
    /// the user is told its new name. If the folder no longer exists, the result goes to the
    /// working directory, and the returned error says so.
    pub fn write(&self, bytes: &[u8], keeps: impl Fn(&Path) -> bool) -> Result<()> {
        let path = match self {
            Target::File(path) => path,
            Target::Stream { path, file } => {
                return match file.borrow_mut().write_all(bytes) {
                    // A reader that closed the pipe needs no more data, so this error is ignored.
                    Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(cannot_write(path, &e)),
                    _ => Ok(()),
                };
            }
        };
        let Err(failure) = write_keeping(path, bytes, keeps) else {
            return Ok(());
        };
        let instead = path
            .file_name()
            .map(Path::new)
            .filter(|name| *name != path && !name.exists());
        let vanished = failure.kind() == io::ErrorKind::NotFound;
        match instead.filter(|name| vanished && write_atomically(name, bytes).is_ok()) {
            None => Err(cannot_write(path, &failure)),
            Some(name) => Err(Error::failure(format!(
                "cannot save the result: '{}': {}; it is in the working directory, as '{}'",
                path.display(),
                reason(&failure),
                name.display()
            ))),
        }
    }
}

fn write_keeping(path: &Path, bytes: &[u8], keeps: impl Fn(&Path) -> bool) -> io::Result<()> {
    let earlier = if holds_something(path) && keeps(path) {
        Some(Earlier::keep(path)?)
    } else {
        None
    };
    match (write_atomically(path, bytes), earlier) {
        (Ok(()), Some(earlier)) => {
            let path = path.display();
            let name = earlier.name.display();
            tell(&format!(
                "memgauge: note: what was in {path} before is now in {name}"
            ));
            Ok(())
        }
        (Err(error), Some(earlier)) => {
            earlier.undo();
            Err(error)
        }
        (written, None) => written,
    }
}

/// True if `path` is a file with at least one byte.
fn holds_something(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0)
}

/// An existing file that got a second name before it is replaced.
struct Earlier {
    file: PathBuf,
    name: PathBuf,
    /// True if the file still has both names.
    linked: bool,
}

impl Earlier {
    /// Gives the file at `path` a second, free name next to it.
    fn keep(path: &Path) -> io::Result<Self> {
        let link = fs::symlink_metadata(path).is_ok_and(|file| file.is_symlink());
        let file = if link {
            fs::canonicalize(path)?
        } else {
            path.to_owned()
        };
        for number in 1_u64.. {
            let name = numbered(&file, number);
            // Creating the link fails if the name exists, even if it was created only a moment ago.
            match fs::hard_link(&file, &name) {
                Ok(()) => {
                    return Ok(Self {
                        file,
                        name,
                        linked: true,
                    });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                // Some file systems have no hard links. The file is renamed instead.
                Err(_) if !name.exists() => {
                    fs::rename(&file, &name)?;
                    return Ok(Self {
                        file,
                        name,
                        linked: false,
                    });
                }
                Err(_) => {}
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the file its first name again, and removes the second name.
    fn undo(&self) {
        // If this fails, the file only keeps its second name.
        let _ = if self.linked {
            fs::remove_file(&self.name)
        } else {
            fs::rename(&self.name, &self.file)
        };
    }
}

/// `path` with `number` before the extension: `r.2.json` for `r.json` and 2.
pub fn numbered(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!(".{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// True if `path` is a name of standard output, which must not be opened as a file.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Writes the bytes that `make` returns to the file at `path`, or to standard output without a
/// path. `make` gets the path of the file. Returns true if a file was written. An existing report,
/// journal or table of another tool is renamed. Any other file is replaced.
pub fn put(
    path: Option<&Path>,
    make: impl FnOnce(Option<&Path>) -> Result<Vec<u8>>,
) -> Result<bool> {
    let Some(path) = path.filter(|path| !is_stdout(path)) else {
        return to_stdout(&make(None)?).map(|()| false);
    };
    let target = Target::open(path)?;
    let bytes = make(Some(path))?;
    let differs = |path: &Path| fs::read(path).map_or(true, |there| there != bytes);
    target
        .write(&bytes, |path| read_saved(path).is_ok() && differs(path))
        .map(|()| true)
}

/// Fails if `path` is a folder.
pub fn check_no_folder(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "cannot write the result: '{}' is a folder; -o takes the name of a file; type -o {}",
        path.display(),
        path.join("report.json").display()
    )))
}

/// Checks that a file can be written at `path`.
pub fn check_writable(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(_) => File::options()
            .append(true)
            .open(path)
            .map(drop)
            .map_err(|e| refused(path, &e)),
        // A file with another name is created and removed for the check. `path` itself must not
        // exist before the result does.
        Err(_) => {
            let mut name = path.file_name().unwrap_or_default().to_os_string();
            name.push(format!(".{}.check", std::process::id()));
            let probe = path.with_file_name(name);
            File::create(&probe).map_err(|e| refused(path, &e))?;
            fs::remove_file(&probe).map_err(|e| refused(path, &e))
        }
    }
}

fn refused(path: &Path, error: &io::Error) -> Error {
    Error::usage(format!(
        "cannot write the result: '{}': {}; type -o with a path that can be written",
        path.display(),
        reason(error)
    ))
}

/// Makes the error for a result that could not be saved.
fn cannot_write(path: &Path, error: &io::Error) -> Error {
    let path = path.display();
    let why = reason(error);
    Error::failure(format!(
        "cannot save the result: '{path}': {why}; type -o with a place that has room for it"
    ))
}

/// Text of a system error, without its number.
pub fn reason(error: &io::Error) -> String {
    reason_in(&error.to_string()).to_lowercase()
}

/// Returns `text` up to the number of a system error. The text may contain other errors.
pub fn reason_in(text: &str) -> &str {
    text.split(" (os error").next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_file_is_kept_under_a_free_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        let target = Target::open(&path).unwrap();
        for text in ["one", "two", "three"] {
            target.write(text.as_bytes(), |_| true).unwrap();
        }
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            ["r.json", "r.1.json", "r.2.json"].map(text),
            ["three", "one", "two"]
        );
        target.write(b"four", |_| false).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        assert_eq!(numbered(Path::new("a/report"), 3), Path::new("a/report.3"));
    }

    #[test]
    fn an_empty_file_is_nothing_to_keep() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        fs::write(&path, "").unwrap();
        Target::open(&path)
            .unwrap()
            .write(b"one", |_| true)
            .unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_the_earlier_one_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        fs::write(&path, "one").unwrap();
        let earlier = Earlier::keep(&path).unwrap();
        earlier.undo();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
