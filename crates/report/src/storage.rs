//! Figures of a point about storage, in addition to its operations per second.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Distribution of the latencies of operations of one kind, or of reads and writes together, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Latencies {
    /// Number of complete operations in all windows. A window is the timed period of a sample.
    pub operations: u64,
    /// Mean latency, exact.
    pub mean_ns: f64,
    /// Shortest latency, exact.
    pub least_ns: f64,
    /// Half of the operations took at most this time. Percentiles are accurate to 0.8%.
    pub p50_ns: f64,
    /// 90% of the operations took at most this time.
    pub p90_ns: f64,
    /// 99% of the operations took at most this time.
    pub p99_ns: f64,
    /// 99.9% of the operations took at most this time.
    pub p99_9_ns: f64,
    /// 99.99% of the operations took at most this time.
    pub p99_99_ns: f64,
    /// Longest latency, exact.
    pub most_ns: f64,
}

/// Figures of about one second: consecutive windows of a point whose lengths add up to at least a
/// second. The last windows need to last only half a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StorageSecond {
    /// Begin of the second, in ns since the begin of the point's first window. Rounds of other
    /// points may lie between two windows.
    pub begin_ns: f64,
    /// Sum of the lengths of the windows, in ns.
    pub elapsed_ns: f64,
    /// Number of operations that ended inside the windows.
    pub operations: u64,
    /// Bytes moved by these operations.
    pub bytes: u64,
    /// Half of these operations took at most this time, in ns; `null` if there are none.
    pub p50_ns: Option<f64>,
    /// 99% of these operations took at most this time, in ns; `null` if there are none.
    pub p99_ns: Option<f64>,
    /// Number of failed operations in the windows.
    pub errors: u64,
}

/// Figures of the operations of one window that belong to one group of seek distances
/// ([`SeekLatencies`]).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SeekWindow {
    /// Number of the window's round, from 0.
    pub round: u32,
    /// Length of the window, in ns.
    pub elapsed_ns: f64,
    /// Number of operations of the group in the window.
    pub operations: u64,
    /// Half of the operations took at most this time, in ns, accurate to 0.8%.
    pub p50_ns: f64,
}

/// Figures of a group of operations whose seek distances differ by less than a factor of two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SeekLatencies {
    /// Smallest seek distance of the group, in bytes: 0 or a power of two. All distances of a group
    /// are below twice this power of two. A seek distance is the distance between the beginnings of
    /// two consecutive operations of a thread in the same file.
    pub distance_bytes: u64,
    /// Number of complete operations in all windows. The first operation of a window does not
    /// count, because it has no distance.
    pub operations: u64,
    /// Half of the operations took at most this time, in ns. Percentiles are accurate to 0.8%.
    pub p50_ns: f64,
    /// 99% of the operations took at most this time, in ns.
    pub p99_ns: f64,
    /// Figures of each window that has operations of this group.
    pub windows: Vec<SeekWindow>,
}

/// Figures of operations on files and devices.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Storage {
    /// Engine that handed requests to the system: `sync`, `io_uring`.
    pub engine: String,
    /// True if requests bypassed the page cache.
    pub direct: bool,
    /// Differences from the user's request, one sentence each. Examples are missing direct I/O and
    /// missing polling.
    pub remarks: Vec<String>,
    /// Files, in the order in which the user named them.
    pub files: Vec<String>,
    /// Size of the range that operations go to, in bytes: the part of each file that is used,
    /// summed over all files.
    pub range_bytes: u64,
    /// Memory that could cache the range, in bytes; `null` if unknown.
    pub memory_bytes: Option<u64>,
    /// Number of complete operations of all windows, including operations that ended after their
    /// window.
    pub operations: u64,
    /// Bytes moved by these operations.
    pub bytes: u64,
    /// Latencies of reads and writes together; `null` if there are none.
    pub all: Option<Latencies>,
    /// Latencies of reads; `null` if there are none.
    pub reads: Option<Latencies>,
    /// Latencies of writes; `null` if there are none.
    pub writes: Option<Latencies>,
    /// Latencies of flushes (fsync, fdatasync); `null` if there are none.
    pub syncs: Option<Latencies>,
    /// Number of failed operations for each error.
    pub errors: BTreeMap<String, u64>,
    /// Number of transfers of fewer bytes than requested.
    pub short: u64,
    /// Number of blocks that had other data when they were read than when they were written.
    pub wrong: u64,
    /// Number of operations that were due and were never begun.
    pub behind: u64,
    /// Number of operations that were due according to a rate limit, a requested number of
    /// operations or a recording.
    pub due: u64,
    /// Number of complete operations of each thread.
    pub threads: Vec<u64>,
    /// Figures of each second, in order.
    pub seconds: Vec<StorageSecond>,
    /// Latencies by seek distance; left out unless the requested order of blocks is about seek
    /// distances.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seeks: Vec<SeekLatencies>,
}

impl Storage {
    /// Number of failed operations, over all errors.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}
