//! How a target is opened, and why it cannot be.

use crate::interrupt::StopFlag;
use crate::storage::pattern::{Filler, Pattern};
use std::io;
use std::path::Path;
use units::error::Error;

/// Access to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading. Symbolic links are followed, and nothing is written.
    Read,
    /// Reading and writing a file that is made for this: `bytes` long, written from end to end. The
    /// path must be free, or a folder for a file without a name. The file is gone when the last
    /// clone of the target is, or when the process ends, however it ends; with `keep` it stays.
    Create {
        /// Length of the file.
        bytes: u64,
        /// Whether the file stays.
        keep: bool,
    },
    /// Reading and writing what is there, which is lost: the caller has checked that the user named
    /// this very path ([`super::is_named`]). Refused for what is mounted, part of another device, used for
    /// swapping or opened by others.
    Destroy,
}

/// How a target is opened.
#[derive(Debug, Clone)]
pub struct Opening {
    /// Access to the target.
    pub access: Access,
    /// Whether to pass by the page cache; what came of it is [`super::Target::direct`].
    pub direct: bool,
    /// Pattern that fills a created file.
    pub pattern: Pattern,
    /// Ends the filling of a created file.
    pub stop: StopFlag,
}

impl Default for Opening {
    /// For reading, past the page cache.
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
    /// Transfers pass it by. Addresses of buffers are multiples of `memory`, offsets and lengths of
    /// `offset`, in bytes.
    Granted {
        /// Alignment of buffers.
        memory: usize,
        /// Alignment of offsets and lengths.
        offset: usize,
    },
    /// It was not requested.
    NotAsked,
    /// Transfers go through the page cache, for this reason: figures are those of the cache.
    Refused(String),
}

/// One line about a path that is the user's to change.
pub(super) fn refusal(path: &Path, why: &str, what_to_do: &str) -> Error {
    Error::usage(format!(
        "cannot use {}: {why}; {what_to_do}",
        path.display()
    ))
}

/// One line about an error of the system.
pub(super) fn cannot_open(path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => {
            "name a file or a block device that exists, or make a file with --create SIZE"
        }
        io::ErrorKind::PermissionDenied => {
            "only what you may open can be measured; ask for the right, or name another"
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
