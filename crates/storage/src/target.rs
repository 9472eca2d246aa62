//! Defines the facts about a file or device that are known before any operation.

/// Facts about a file or device that a plan needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoTarget {
    /// Size in bytes. For a file that the session will create, it is the future size.
    pub size: u64,
    /// Kind of the target in words: `file`, `block device`.
    pub kind: String,
    /// Offsets and lengths of direct I/O must be multiples of this number of bytes.
    pub logical_block: u64,
    /// `Ok` if direct I/O is possible, otherwise the reason why not.
    pub direct: Result<(), String>,
    /// Sentences about the target, for example about holes.
    pub remarks: Vec<String>,
}
