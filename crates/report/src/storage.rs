//! Figures of operations on storage, in addition to their rate.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Distribution of the latencies of one kind of operation, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Latencies {
    /// Number of operations: whole ones, of all windows.
    pub operations: u64,
    /// Mean, exact.
    pub mean_ns: f64,
    /// Shortest latency, exact.
    pub least_ns: f64,
    /// Half of the operations took no longer. Percentiles are accurate to 0.8%.
    pub p50_ns: f64,
    /// 90% of the operations took no longer.
    pub p90_ns: f64,
    /// 99% of the operations took no longer.
    pub p99_ns: f64,
    /// 99.9% of the operations took no longer.
    pub p99_9_ns: f64,
    /// 99.99% of the operations took no longer.
    pub p99_99_ns: f64,
    /// Longest latency, exact.
    pub most_ns: f64,
}

/// One second of a series: consecutive windows whose lengths add up to a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StorageSecond {
    /// Begin of the second since the begin of the point's first window, in ns. Rounds of other
    /// points may lie in between.
    pub begin_ns: f64,
    /// Length of its windows together, in ns.
    pub elapsed_ns: f64,
    /// Whole operations completed inside the windows.
    pub operations: u64,
    /// Bytes moved by these operations.
    pub bytes: u64,
    /// Half of its operations took no longer, in ns; `null` if none was completed.
    pub p50_ns: Option<f64>,
    /// 99% of its operations took no longer, in ns; `null` if none was completed.
    pub p99_ns: Option<f64>,
    /// Number of operations that failed.
    pub errors: u64,
}

/// Operations of one window whose seek distances lie within one doubling.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SeekWindow {
    /// Number of the window's round, from 0.
    pub round: u32,
    /// Length of the window, in ns.
    pub elapsed_ns: f64,
    /// Number of operations.
    pub operations: u64,
    /// Half of the operations took no longer, in ns, accurate to 0.8%.
    pub p50_ns: f64,
}

/// Operations whose seek distances lie within one doubling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SeekLatencies {
    /// Least seek distance of the group, in bytes: 0 or a power of two. Distances end below twice
    /// that. A seek distance is between the beginnings of two consecutive operations of a thread in
    /// the same file.
    pub distance_bytes: u64,
    /// Number of whole operations of all windows; the first of a window has no distance.
    pub operations: u64,
    /// Half of the operations took no longer, in ns. Percentiles are accurate to 0.8%.
    pub p50_ns: f64,
    /// 99% of the operations took no longer, in ns.
    pub p99_ns: f64,
    /// Windows with operations of this group.
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
    /// Differences from the request, one sentence each: no direct I/O here, no polling.
    pub remarks: Vec<String>,
    /// Files, in the order in which they were named.
    pub files: Vec<String>,
    /// Size of the range of all files that operations went to, in bytes.
    pub range_bytes: u64,
    /// Memory that could cache the range, in bytes; `null` if unknown.
    pub memory_bytes: Option<u64>,
    /// Whole operations of all windows, including those completed after the end of their window.
    pub operations: u64,
    /// Bytes moved by these operations.
    pub bytes: u64,
    /// Latencies of all operations; `null` if there are none.
    pub all: Option<Latencies>,
    /// Latencies of reads.
    pub reads: Option<Latencies>,
    /// Latencies of writes.
    pub writes: Option<Latencies>,
    /// Latencies of flushes (fsync, fdatasync).
    pub syncs: Option<Latencies>,
    /// Number of failed operations by error.
    pub errors: BTreeMap<String, u64>,
    /// Number of transfers of fewer bytes than requested.
    pub short: u64,
    /// Number of blocks read whose data differs from the data written.
    pub wrong: u64,
    /// Operations that a rate limit, a number or a recording made due and that were never begun.
    pub behind: u64,
    /// Operations that a rate limit, a number or a recording made due.
    pub due: u64,
    /// Number of whole operations of each thread.
    pub threads: Vec<u64>,
    /// Figures of each second, in order.
    pub seconds: Vec<StorageSecond>,
    /// Latencies by seek distance; left out if the order of blocks is not about distances.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seeks: Vec<SeekLatencies>,
}

impl Storage {
    /// Number of failed operations, over all errors.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}
