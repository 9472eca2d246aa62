//! Options for opening a target, and errors of opening.

use crate::interrupt::StopFlag;
use crate::storage::pattern::{Filler, Pattern};
use std::io;
use std::path::Path;
use units::error::Error;

/// Access to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading only. Symbolic links are followed.
    Read,
    /// Reading and writing a file made for this session, `bytes` long and written from end to end.
    /// The path must be free, or a folder for a file without a name. The file vanishes with the
    /// last clone of the target or the end of the process, unless `keep` is set.
    Create {
        /// Length of the file.
        bytes: u64,
        /// True if the file stays.
        keep: bool,
    },
    /// Reading and writing existing data, which is lost. The caller has checked that the user named
    /// this very path ([`super::is_named`]). Fails for targets that are mounted, part of another
    /// device, used as swap space or opened by others.
    Destroy,
}

/// Options for opening a target.
#[derive(Debug, Clone)]
pub struct Opening {
    /// Access to the target.
    pub access: Access,
    /// True to bypass the page cache; [`super::Target::direct`] is the result.
    pub direct: bool,
    /// Pattern that fills a created file.
    pub pattern: Pattern,
    /// Stops the filling of a created file.
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
    /// Transfers bypass the page cache, with this alignment in bytes.
    Granted {
        /// Alignment of buffer addresses.
        memory: usize,
        /// Alignment of offsets and lengths.
        offset: usize,
    },
    /// Direct I/O was not requested.
    NotAsked,
    /// Transfers go through the page cache, for this reason; figures are those of the cache.
    Refused(String),
}

/// One-line error about a path that the user has to change.
pub(super) fn refusal(path: &Path, why: &str, what_to_do: &str) -> Error {
    Error::usage(format!(
        "cannot use {}: {why}; {what_to_do}",
        path.display()
    ))
}

/// One-line error of the system about a path.
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
