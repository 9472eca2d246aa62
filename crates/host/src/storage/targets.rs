//! Files and block devices, opened so that no foreign data is at risk.
//!
//! [`Access::Read`] opens for reading only. Writing goes to a file that the session makes
//! ([`Access::Create`]), or to one that the user gave up by name ([`Access::Destroy`]). A target in
//! use by others is never written to.

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
    /// A file that existed before.
    File,
    /// A block device.
    BlockDevice,
    /// A file made by this session.
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

/// An opened file or device with its facts. Clones share the open file.
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
    /// The path is missing, not accessible, empty, or neither file nor block device. The target to
    /// overwrite is in use. There is no room for the file to create.
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

    /// Opens an existing file or device.
    fn of_existing(path: &Path, opening: &Opening, system: &SystemFiles) -> Result<Target> {
        let destroy = opening.access == Access::Destroy;
        // Opening a device can have effects, so metadata of the path is checked first, and that of
        // the open file again.
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

    /// Collects the remaining facts about an opened file.
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

    /// Path as the user gave it.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Size at the time of opening, in bytes.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Bytes of the file without allocated space: holes, which read as zeros without any device, or
    /// savings of compression. `None` for devices, for small differences, and if the system does
    /// not report it.
    pub fn holes(&self) -> Option<u64> {
        /// Least difference that counts: smaller files may lie inside the file system's own
        /// records.
        const LEAST_HOLE: u64 = 64 << 10;
        let missing = self.0.size.saturating_sub(self.0.allocated?);
        (missing >= LEAST_HOLE).then_some(missing)
    }

    /// Kind of the target.
    pub fn kind(&self) -> TargetKind {
        self.0.kind
    }

    /// True if the target is open for writing.
    pub fn is_writable(&self) -> bool {
        self.0.writable
    }

    /// Smallest transfer of the underlying device in bytes; 512 if unknown.
    pub fn logical_block(&self) -> u32 {
        self.0.logical_block
    }

    /// Name of the file system (`ext4`, `tmpfs`); `None` for devices and if unknown.
    pub fn file_system(&self) -> Option<&str> {
        self.0.facts.file_system.as_deref()
    }

    /// Whether transfers bypass the page cache, with the reason if not.
    pub fn direct(&self) -> &Direct {
        &self.0.direct
    }

    /// Name of the underlying block device (`nvme0n1p2`); `None` if unknown.
    pub fn device(&self) -> Option<&str> {
        self.0.facts.device.as_deref()
    }

    /// True if the underlying device rotates; `None` if unknown.
    pub fn rotational(&self) -> Option<bool> {
        self.0.facts.rotational
    }

    /// Model of the underlying device; `None` if unknown.
    pub fn model(&self) -> Option<&str> {
        self.0.facts.model.as_deref()
    }

    /// True if the underlying device has polled completion queues; `None` if unknown.
    pub fn polls(&self) -> Option<bool> {
        self.0.facts.polls
    }

    /// Method that checked that no other program uses the target; `None` unless opened with
    /// [`Access::Destroy`].
    pub fn use_check(&self) -> Option<&'static str> {
        self.0.use_check
    }

    /// Drops the target from the page cache, so that the next buffered read goes to the device.
    /// Written data is synchronised first. Pages that others have mapped or changed meanwhile stay.
    ///
    /// # Errors
    /// The system cannot drop pages, or writing failed.
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

/// An opened file whose facts are not complete yet.
struct OpenedFile {
    file: File,
    size: u64,
    kind: TargetKind,
    use_check: Option<&'static str>,
}

/// True if `list` contains `path`, spelled exactly alike, so that no data is destroyed by mistake.
pub fn is_named(path: &Path, list: &[PathBuf]) -> bool {
    list.iter()
        .any(|named| named.as_os_str() == path.as_os_str())
}

/// Fails unless the target is a file or a block device.
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
