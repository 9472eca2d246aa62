//! Figures of operations on storage beyond their number per second.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How operations of one kind were distributed, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Latencies {
    /// How many operations: whole ones, of all windows.
    pub operations: u64,
    /// Their mean, exact.
    pub mean_ns: f64,
    /// The shortest, exact.
    pub least_ns: f64,
    /// Half of them took no longer; this and the following are known to 0.8%.
    pub p50_ns: f64,
    /// 90% of them took no longer.
    pub p90_ns: f64,
    /// 99% of them took no longer.
    pub p99_ns: f64,
    /// 99.9% of them took no longer.
    pub p99_9_ns: f64,
    /// 99.99% of them took no longer.
    pub p99_99_ns: f64,
    /// The longest, exact.
    pub most_ns: f64,
}

/// A second of a series: as many windows in a row as make up one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StorageSecond {
    /// When it began, from the begin of the point's first window, in ns; other points may have had
    /// their turn in between.
    pub begin_ns: f64,
    /// Length of its windows together, in ns.
    pub elapsed_ns: f64,
    /// Whole operations that were completed inside the windows.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Half of its operations took no longer, in ns; `null` where none was completed.
    pub p50_ns: Option<f64>,
    /// 99% of its operations took no longer, in ns; `null` where none was completed.
    pub p99_ns: Option<f64>,
    /// Operations that failed.
    pub errors: u64,
}

/// Operations of one window whose distance from the one before lies within one doubling.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SeekWindow {
    /// Number of its round, from 0.
    pub round: u32,
    /// Length of the window, in ns.
    pub elapsed_ns: f64,
    /// How many there were.
    pub operations: u64,
    /// Half of them took no longer, in ns, to 0.8%.
    pub p50_ns: f64,
}

/// Operations whose distance from the one before lies within one doubling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SeekLatencies {
    /// The least distance, a power of two (or 0): from the beginning of the operation that the same
    /// thread submitted before it to its own, in the same file. The distances end below twice as
    /// many bytes.
    pub distance_bytes: u64,
    /// How many: whole ones, of all windows; the first of a window has no distance.
    pub operations: u64,
    /// Half of them took no longer, in ns; this and the following are known to 0.8%.
    pub p50_ns: f64,
    /// 99% of them took no longer, in ns.
    pub p99_ns: f64,
    /// The windows that had any.
    pub windows: Vec<SeekWindow>,
}

/// Figures of operations on files and devices.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Storage {
    /// How requests were handed to the system: `sync`, `io_uring`.
    pub engine: String,
    /// Whether they passed by the page cache.
    pub direct: bool,
    /// Differences from the request, a sentence each: no direct I/O here, no polling.
    pub remarks: Vec<String>,
    /// The files, in the order in which they were named.
    pub files: Vec<String>,
    /// Bytes of the range of all files that operations went to.
    pub range_bytes: u64,
    /// Bytes of memory that the machine could cache that range in, `null` where it is unknown.
    pub memory_bytes: Option<u64>,
    /// Whole operations of all windows, those completed after the end of one among them.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// All of them; `null` where there is none.
    pub all: Option<Latencies>,
    /// Reads.
    pub reads: Option<Latencies>,
    /// Writes.
    pub writes: Option<Latencies>,
    /// Flushes (fsync, fdatasync).
    pub syncs: Option<Latencies>,
    /// Operations that failed, by error.
    pub errors: BTreeMap<String, u64>,
    /// Transfers of fewer bytes than requested.
    pub short: u64,
    /// Blocks that were read and held something else than was written.
    pub wrong: u64,
    /// Operations of a rate limit, a number or a recording that were due and never begun.
    pub behind: u64,
    /// Operations of a rate limit, a number or a recording that were due.
    pub due: u64,
    /// Whole operations of each thread.
    pub threads: Vec<u64>,
    /// Figures of the first second, the next one, and so on.
    pub seconds: Vec<StorageSecond>,
    /// Latencies by the distance of a seek; left out where the order of blocks is not about
    /// distances.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seeks: Vec<SeekLatencies>,
}

impl Storage {
    /// Operations that failed.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}
