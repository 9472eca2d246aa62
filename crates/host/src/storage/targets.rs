//! Files and block devices, opened so that nobody's data is at risk.
//!
//! Reading opens for reading only. Writing goes to a file that the run itself makes
//! ([`Access::Create`]), or to what the user gave up by name ([`Access::Destroy`]), and even then
//! to nothing that somebody else uses.

mod create;
mod device;
mod direct;
mod in_use;
mod opening;
#[cfg(test)]
mod tests;

pub use create::check_creation;
pub use opening::{Access, Direct, Opening};
use opening::{cannot_open, refusal};

use crate::facts::SystemFiles;
use crate::os;
use crate::os::files::{FileKind, FileNumbers, OpenHow};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::error::{Error, Result};

/// Kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// A file that was there before.
    File,
    /// A block device.
    BlockDevice,
    /// A file that this run made.
    Created,
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TargetKind::File => "file",
            TargetKind::BlockDevice => "block device",
            TargetKind::Created => "created file",
        })
    }
}

/// An opened file or device and what is known of it. Clones share what is opened.
#[derive(Debug, Clone)]
pub struct Target(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    file: File,
    path: PathBuf,
    size: u64,
    allocated: Option<u64>,
    kind: TargetKind,
    writable: bool,
    logical_block: u32,
    direct: Direct,
    use_check: Option<&'static str>,
    facts: device::DeviceFacts,
}

impl Target {
    /// Opens `path`.
    ///
    /// # Errors
    /// The path is missing, not allowed, empty, or neither file nor block device; somebody else
    /// uses what would be written to; there is no room for what would be created.
    pub fn open(path: &Path, opening: &Opening) -> Result<Target> {
        let system = SystemFiles::real();
        match opening.access {
            Access::Read => Self::of_existing(path, opening, &system),
            Access::Destroy => Self::of_existing(path, opening, &system),
            Access::Create { bytes, keep } => {
                let file = create::create(path, bytes, keep, opening)?;
                let opened = OpenedFile {
                    file,
                    size: bytes,
                    kind: TargetKind::Created,
                    use_check: None,
                };
                Self::complete(path, opened, opening, &system)
            }
        }
    }

    /// Opens what is there.
    fn of_existing(path: &Path, opening: &Opening, system: &SystemFiles) -> Result<Target> {
        let destroy = opening.access == Access::Destroy;
        // Opening a device can have effects, so the name is judged first, and what was opened again
        // after.
        let seen = std::fs::metadata(path).map_err(|error| cannot_open(path, &error))?;
        let seen = judged(path, os::file_numbers(&seen))?;
        let claim = destroy && seen.kind == FileKind::BlockDevice;
        if destroy {
            in_use::check_before_opening(path, &seen, system)?;
        }
        let how = OpenHow {
            write: destroy,
            follow_links: true,
            claim,
            ..OpenHow::default()
        };
        let file = os::open_file(path, &how).map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy if claim => {
                in_use::busy(path, "the system holds it (mounted, or part of another)")
            }
            _ => cannot_open(path, &error),
        })?;
        let metadata = file.metadata().map_err(|error| cannot_open(path, &error))?;
        let numbers = judged(path, os::file_numbers(&metadata))?;
        if (numbers.device, numbers.special, numbers.inode)
            != (seen.device, seen.special, seen.inode)
        {
            return Err(Error::failure(format!(
                "cannot open {}: it was replaced meanwhile; try again",
                path.display()
            )));
        }
        let use_check = if destroy {
            Some(in_use::check_opened(path, &file, &numbers, system)?)
        } else {
            None
        };
        let (size, kind) = match numbers.kind {
            FileKind::BlockDevice => (
                os::device_bytes(&file).map_err(|e| cannot_open(path, &e))?,
                TargetKind::BlockDevice,
            ),
            _ => (numbers.size, TargetKind::File),
        };
        if size == 0 {
            return Err(refusal(
                path,
                "it is empty",
                "name a file with data, or make one with --create SIZE",
            ));
        }
        Self::complete(
            path,
            OpenedFile {
                file,
                size,
                kind,
                use_check,
            },
            opening,
            system,
        )
    }

    /// Finds out the rest about an opened file.
    fn complete(
        path: &Path,
        found: OpenedFile,
        opening: &Opening,
        system: &SystemFiles,
    ) -> Result<Target> {
        let OpenedFile {
            file,
            size,
            kind,
            use_check,
        } = found;
        let numbers =
            os::file_numbers(&file.metadata().map_err(|error| cannot_open(path, &error))?);
        let facts = device::facts(&file, &numbers, system);
        let logical_block = os::device_block(&file)
            .or(facts.logical_block)
            .unwrap_or(512);
        let direct =
            direct::establish(&file, opening.direct, &facts).map_err(|e| cannot_open(path, &e))?;
        let writable = opening.access != Access::Read;
        let path = path.to_path_buf();
        let allocated = numbers
            .allocated
            .filter(|_| kind != TargetKind::BlockDevice);
        let opened = Opened {
            file,
            path,
            size,
            allocated,
            kind,
            writable,
            logical_block,
            direct,
            use_check,
            facts,
        };
        Ok(Target(Arc::new(opened)))
    }

    /// The path as it was named.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Bytes that it had when it was opened.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Bytes of the file that the file system has given out no room for: holes, which read as zeros
    /// without any device, or what compression saves. `None` for devices, for what is too little to
    /// tell, and where it is not told.
    pub fn holes(&self) -> Option<u64> {
        /// Smaller files may lie inside of the file system's own records.
        const TELLING: u64 = 64 << 10;
        let missing = self.0.size.saturating_sub(self.0.allocated?);
        (missing >= TELLING).then_some(missing)
    }

    /// Kind of the target.
    pub fn kind(&self) -> TargetKind {
        self.0.kind
    }

    /// Whether it may be written to.
    pub fn is_writable(&self) -> bool {
        self.0.writable
    }

    /// Bytes of the smallest transfer of the device below, 512 where that is not known.
    pub fn logical_block(&self) -> u32 {
        self.0.logical_block
    }

    /// The file system that it lies on, as the system calls it (`ext4`, `tmpfs`); `None` for
    /// devices and where it is not told.
    pub fn file_system(&self) -> Option<&str> {
        self.0.facts.file_system.as_deref()
    }

    /// Whether transfers pass by the page cache, and why not.
    pub fn direct(&self) -> &Direct {
        &self.0.direct
    }

    /// The block device below, as the system calls it (`nvme0n1p2`); `None` where it is not known.
    pub fn device(&self) -> Option<&str> {
        self.0.facts.device.as_deref()
    }

    /// Whether the device below turns; `None` where it is not known.
    pub fn rotational(&self) -> Option<bool> {
        self.0.facts.rotational
    }

    /// Model of the device below; `None` if unknown.
    pub fn model(&self) -> Option<&str> {
        self.0.facts.model.as_deref()
    }

    /// Whether completions of the device below can be polled for; `None` where it is not known.
    pub fn polls(&self) -> Option<bool> {
        self.0.facts.polls
    }

    /// How it was made sure that nobody else uses what is overwritten; `None` unless it is
    /// [`Access::Destroy`].
    pub fn use_check(&self) -> Option<&'static str> {
        self.0.use_check
    }

    /// Lets the page cache forget the target, so that the next buffered read goes to the device:
    /// what was written is brought there first. Pages that others have mapped or changed meanwhile
    /// stay.
    ///
    /// # Errors
    /// The system cannot, or writing failed.
    pub fn forget_cached(&self) -> Result<()> {
        let forgotten = match self.0.writable {
            true => self
                .0
                .file
                .sync_data()
                .and_then(|()| os::forget_cached(&self.0.file)),
            false => os::forget_cached(&self.0.file),
        };
        let path = self.0.path.display();
        forgotten
            .map_err(|error| Error::failure(format!("cannot drop cached pages of {path}: {error}")))
    }

    /// The opened file, for engines.
    pub(crate) fn file(&self) -> &File {
        &self.0.file
    }
}

/// An opened file before all is known of it.
struct OpenedFile {
    file: File,
    size: u64,
    kind: TargetKind,
    use_check: Option<&'static str>,
}

/// Whether `path` is named in `list`: the same path, letter for letter, so that nothing is
/// destroyed by a mistake.
pub fn is_named(path: &Path, list: &[PathBuf]) -> bool {
    list.iter()
        .any(|named| named.as_os_str() == path.as_os_str())
}

/// Refuses what is neither file nor block device.
fn judged(path: &Path, numbers: FileNumbers) -> Result<FileNumbers> {
    let what = match numbers.kind {
        FileKind::Regular | FileKind::BlockDevice => return Ok(numbers),
        FileKind::Directory => "it is a folder",
        FileKind::CharacterDevice => "it is a device without blocks",
        FileKind::Pipe => "it is a FIFO",
        FileKind::Socket => "it is a socket",
        FileKind::Other => "it is no file",
    };
    Err(refusal(
        path,
        what,
        "name a file or a block device, or make a file with --create SIZE",
    ))
}
