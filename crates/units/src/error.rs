//! Defines the error type of the whole program: a message of one line that tells the user what to
//! do.

#![forbid(unsafe_code)]

use crate::ParseError;
use std::fmt;

/// Kind of an error. It determines the exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request cannot be executed as typed, and nothing was measured.
    Usage,
    /// The machine or the system refused something.
    Failure,
}

/// An error in one line, in lower case: `<what failed>: <value given>; <what is allowed>; <what to
/// type>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: String,
}

/// Result of a function that can fail with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of kind [`Kind::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Usage,
            message: message.into(),
        }
    }

    /// An error of kind [`Kind::Failure`].
    pub fn failure(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Failure,
            message: message.into(),
        }
    }

    /// A [`Kind::Failure`] for the I/O error `error`. `what` names the operation that failed.
    pub fn io(what: impl fmt::Display, error: &std::io::Error) -> Self {
        Self {
            kind: Kind::Failure,
            message: format!("{what}: {error}"),
        }
    }

    /// The kind of this error.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        Error::usage(error.to_string())
    }
}
