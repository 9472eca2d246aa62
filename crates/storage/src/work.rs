//! Work on files and devices, described in full.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::Bytes;

/// Permissions for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Permission {
    /// The file is only read.
    #[default]
    Read,
    /// The session creates the file and writes to it. It also removes the file, unless `keep` is
    /// set.
    Create {
        /// Size of the file.
        size: Bytes,
        /// True if the file is kept.
        keep: bool,
    },
    /// The user has agreed to lose the content of the file.
    Destroy,
}

/// A file or device, and the range of its blocks for operations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IoFile {
    /// Path as the user typed it.
    pub path: PathBuf,
    /// Permission for the file.
    pub permission: Permission,
    /// Offset of the first block, in bytes.
    pub first: u64,
    /// Number of blocks of the work's size from there on.
    pub blocks: u64,
}

impl IoFile {
    /// A file to read, with an empty range.
    pub fn named(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            permission: Permission::Read,
            first: 0,
            blocks: 0,
        }
    }
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Index of the file in the work.
    pub file: usize,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: usize,
    /// True for a write.
    pub write: bool,
    /// Time of a recorded operation, in ns since the first one of the recording.
    pub recorded: Option<u64>,
}

/// The order of blocks. Distances are in blocks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// Block after block. Each thread starts at its share of the range.
    #[default]
    Sequential,
    /// Random blocks, all equally likely.
    Random,
    /// In turn, one of the last blocks of the range and one of the first. The field is the number
    /// of blocks at each end.
    SeekDistance(u64),
    /// Back and forth over the middle. Each jump is this many blocks longer than the previous one.
    SeekGrowing(u64),
    /// In the recorded order, once.
    Recorded(Recording),
}

/// Recorded operations, identified by a digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recording {
    digest: u64,
    steps: Steps,
}

/// The recorded operations. Compared and shown by their number only, because the digest identifies
/// them.
#[derive(Clone)]
struct Steps(Arc<[Step]>);

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps", self.0.len())
    }
}

impl Recording {
    /// The recording with these operations, in this order.
    pub fn new(steps: Vec<Step>) -> Self {
        let mut hasher = DefaultHasher::new();
        for step in &steps {
            (
                step.file,
                step.offset,
                step.bytes,
                step.write,
                step.recorded,
            )
                .hash(&mut hasher);
        }
        Self {
            digest: hasher.finish(),
            steps: Steps(steps.into()),
        }
    }

    /// The operations.
    pub fn steps(&self) -> &[Step] {
        &self.steps.0
    }
}

impl Hash for Recording {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl PartialEq for Steps {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
    }
}

impl Eq for Steps {}

impl PartialOrd for Steps {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Steps {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.len().cmp(&other.0.len())
    }
}

/// The times at which operations are begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Pace {
    /// At once when a slot is free.
    #[default]
    Free,
    /// At a fixed rate of all threads together. The field is the number of operations in 1000 s.
    PerThousandSeconds(u64),
    /// At the recorded times.
    Recorded,
}

/// Kind of data to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Content {
    /// Bytes that neither compression nor deduplication reduces.
    #[default]
    Random,
    /// Zeros.
    Zeros,
    /// Bytes that depend only on the offset in the file, so that they can be verified.
    Pattern,
}

/// Kind of flush after writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flush {
    /// Flushes data and all metadata of the file.
    Sync,
    /// Flushes data, and the metadata that is needed to read it back.
    DataSync,
}

/// Threads that work on files and devices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct IoWork {
    /// Number of the point in its experiment. Equal works of two points differ in this number.
    pub point: u32,
    /// Files and their ranges.
    pub files: Vec<IoFile>,
    /// Name of the engine.
    pub engine: String,
    /// True if the page cache is bypassed, if possible.
    pub direct: bool,
    /// True if completions are polled, if possible, instead of awaited.
    pub poll: bool,
    /// Order of blocks.
    pub order: Order,
    /// Bytes of an operation; the largest one of a recording.
    pub block: Bytes,
    /// Number of writes in a million operations.
    pub writes_per_million: u32,
    /// CPUs with one thread each. A CPU that is listed twice has two threads.
    pub cpus: Vec<u32>,
    /// Operations that each thread keeps under way.
    pub depth: u32,
    /// Times at which operations are begun.
    pub pace: Pace,
    /// Time from a completion to the next submission in the same slot, in ns.
    pub think_ns: u64,
    /// Dependent additions before each submission.
    pub compute: u32,
    /// Kind of flush, and the number of a thread's writes before each flush.
    pub flush: Option<(u32, Flush)>,
    /// Content to write.
    pub content: Content,
    /// True if reads are compared with the written data.
    pub verify: bool,
    /// True if failed operations are counted. Otherwise a failure ends the point.
    pub continue_on_error: bool,
    /// Number of operations of the whole point; `None` for as many as time allows.
    pub operations: Option<u64>,
    /// Seed of offsets and directions.
    pub seed: u64,
}

impl IoWork {
    /// Bytes of the ranges of all files.
    pub fn range(&self) -> Bytes {
        Bytes(self.files.iter().fold(0, |sum, f| {
            sum.saturating_add(f.blocks.saturating_mul(self.block.0))
        }))
    }

    /// True if any operation writes.
    pub fn writes(&self) -> bool {
        match &self.order {
            Order::Recorded(recording) => recording.steps().iter().any(|s| s.write),
            _ => self.writes_per_million > 0,
        }
    }

    /// Number of operations of the whole point; `None` if it depends on time.
    pub fn total(&self) -> Option<u64> {
        match &self.order {
            Order::Recorded(recording) => Some(recording.steps().len() as u64),
            _ => self.operations,
        }
    }

    /// True if a window ends after a number of operations, and not after a time.
    pub fn is_counted(&self) -> bool {
        self.total().is_some() && self.pace != Pace::Recorded
    }

    /// Size of all buffers.
    pub fn buffers(&self) -> Bytes {
        Bytes(
            (self.cpus.len() as u64)
                .saturating_mul(u64::from(self.depth))
                .saturating_mul(self.block.0),
        )
    }

    /// Bytes that are written to created files before anything is measured.
    pub fn filled(&self) -> Bytes {
        let created_bytes = |f: &IoFile| {
            if let Permission::Create { size, .. } = f.permission {
                size
            } else {
                Bytes(0)
            }
        };
        self.files.iter().map(created_bytes).sum()
    }
}
