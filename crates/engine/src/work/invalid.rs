//! Work that no machine can do.

/// Reason why a work cannot be executed on any machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid(pub String);
