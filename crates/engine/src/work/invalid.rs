//! Work that no machine can do.

/// Why a work cannot be run, whichever machine is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid(pub String);
