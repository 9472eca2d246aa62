//! Facts about a file or device before anything is done to it.

/// A file or device as a plan sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoTarget {
    /// Bytes that it has, or will have once it is made.
    pub size: u64,
    /// Kind: `file`, `block device`.
    pub kind: String,
    /// Offsets and lengths of direct I/O are multiples of this many bytes.
    pub logical_block: u64,
    /// Whether the page cache can be passed by, or why not.
    pub direct: Result<(), String>,
    /// Remarks about it, a sentence each: holes.
    pub remarks: Vec<String>,
}
