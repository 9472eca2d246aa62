//! Opens files and block devices so that no data of others are at risk.
//!
//! [`Access::Read`] opens for reading only. A session only writes to a file that it creates
//! ([`Access::Create`]), or to a target that the user named for destruction ([`Access::Destroy`]).
//! A target that others use is never written.

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
    /// A file that this session created.
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

/// An opened file or device with facts about it. Clones share the open file.
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
    /// Opens `path` as `opening` says, and collects facts about the target.
    ///
    /// # Errors
    /// The path is missing, not accessible, empty, or neither a file nor a block device. The target
    /// to overwrite is in use. There is no room for the file to create.
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
        // Opening a device can have effects, so the metadata of the path are checked first. The
        // metadata of the open file are checked again.
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

    /// Bytes of the file without allocated space. These are holes, which read as zeros without an
    /// access to the device, or savings by compression. `None` for devices, for less than 64 KiB,
    /// and if the system does not report it.
    pub fn holes(&self) -> Option<u64> {
        /// Least number of bytes that is reported. The data of a small file may be in the file
        /// system's own records.
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

    /// Whether transfers bypass the page cache, and the reason if they do not.
    pub fn direct(&self) -> &Direct {
        &self.0.direct
    }

    /// Name of the underlying block device (`nvme0n1p2`); `None` if unknown.
    pub fn device(&self) -> Option<&str> {
        self.0.facts.device.as_deref()
    }

    /// True if the underlying device is a rotating disk; `None` if unknown.
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

    /// Name of the method that found that no other program uses the target. `None` unless the
    /// target was opened with [`Access::Destroy`].
    pub fn use_check(&self) -> Option<&'static str> {
        self.0.use_check
    }

    /// Drops the target's pages from the page cache, so that the next buffered read goes to the
    /// device. Written data are synchronised first. Pages that others have mapped or changed stay
    /// in the page cache.
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

    /// The open file, for engines.
    pub(crate) fn file(&self) -> &File {
        &self.0.file
    }
}

/// An opened file for which not all facts have been collected.
struct OpenedFile {
    file: File,
    size: u64,
    kind: TargetKind,
    use_check: Option<&'static str>,
}

/// True if `list` contains `path` in exactly the same spelling. This prevents the destruction of
/// data by mistake.
pub fn is_named(path: &Path, list: &[PathBuf]) -> bool {
    list.iter()
        .any(|named| named.as_os_str() == path.as_os_str())
}

/// Returns `numbers` if the target at `path` is a file or a block device. Otherwise an error.
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
