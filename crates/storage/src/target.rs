//! Facts about a file or device before any operation.

/// A file or device as a plan knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoTarget {
    /// Size in bytes. For a file to create, its future size.
    pub size: u64,
    /// Kind of the target: `file`, `block device`.
    pub kind: String,
    /// Alignment of direct I/O: offsets and lengths are multiples of this many bytes.
    pub logical_block: u64,
    /// Whether direct I/O is possible, or the reason why not.
    pub direct: Result<(), String>,
    /// Remarks about the target, one sentence each, for example about holes.
    pub remarks: Vec<String>,
}
