//! Options for opening a target, and the errors.

use crate::interrupt::StopFlag;
use crate::storage::pattern::{Filler, Pattern};
use std::io;
use std::path::Path;
use units::error::Error;

/// Access to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read-only access. Symbolic links are followed.
    Read,
    /// Read and write access to a new file of `bytes` bytes, which is written from start to end.
    /// The path must not exist, or is a folder for a temporary file. Unless `keep` is set, the file
    /// is deleted when the last clone of the target is dropped, or at the end of the process.
    Create {
        /// Length of the file in bytes.
        bytes: u64,
        /// True if the file is kept.
        keep: bool,
    },
    /// Read and write access to existing data, which are lost. The caller has checked that the user
    /// named exactly this path ([`super::is_named`]). Opening fails for targets that are mounted,
    /// part of another device, used as swap space or opened by others.
    Destroy,
}

/// Options for opening a target.
#[derive(Debug, Clone)]
pub struct Opening {
    /// Access to the target.
    pub access: Access,
    /// True to bypass the page cache if possible. [`super::Target::direct`] has the result.
    pub direct: bool,
    /// Pattern that fills a created file.
    pub pattern: Pattern,
    /// Flag that stops the writing of a created file.
    pub stop: StopFlag,
}

impl Default for Opening {
    /// Read access that bypasses the page cache.
    fn default() -> Self {
        let pattern = Pattern::new(Filler::Incompressible, 0);
        Opening {
            access: Access::Read,
            direct: true,
            pattern,
            stop: StopFlag::never(),
        }
    }
}

/// Result of the request to bypass the page cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Direct {
    /// Transfers bypass the page cache. They need this alignment, in bytes.
    Granted {
        /// Alignment of buffer addresses.
        memory: usize,
        /// Alignment of offsets and lengths.
        offset: usize,
    },
    /// Direct I/O was not requested.
    NotAsked,
    /// Transfers go through the page cache, for this reason. Measured figures are then figures of
    /// the cache.
    Refused(String),
}

/// Error message about a path that the user has to change. `what_to_do` is the advice.
pub(super) fn refusal(path: &Path, why: &str, what_to_do: &str) -> Error {
    Error::usage(format!(
        "cannot use {}: {why}; {what_to_do}",
        path.display()
    ))
}

/// Error message that the system could not open a path, with advice.
pub(super) fn cannot_open(path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => {
            "name a file or a block device that exists, or make a file with --create SIZE"
        }
        io::ErrorKind::PermissionDenied => {
            "you have no permission to open it; ask for it, or name another"
        }
        _ => {
            return Error::failure(format!(
                "cannot open {}: {error}; name a file or a block device",
                path.display()
            ));
        }
    };
    Error::usage(format!("cannot open {}: {error}; {hint}", path.display()))
}
