//! Defines work on files and devices: all properties that determine the operations.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::Bytes;

/// Permission for a file: whether the session may write to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Permission {
    /// The file is only read.
    #[default]
    Read,
    /// The session creates the file and writes to it. At its end, the session removes the file,
    /// unless `keep` is set.
    Create {
        /// Size of the file.
        size: Bytes,
        /// True if the file stays after the session.
        keep: bool,
    },
    /// The user has agreed to lose the content of the file.
    Destroy,
}

/// A file or device, and the range of its blocks that operations may use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IoFile {
    /// Path as the user typed it.
    pub path: PathBuf,
    /// Permission for the file.
    pub permission: Permission,
    /// Offset in bytes of the first block that operations may use.
    pub first: u64,
    /// Number of blocks from `first` on that operations may use.
    pub blocks: u64,
}

impl IoFile {
    /// The file at `path`, with permission to read and an empty range.
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
    /// Offset in bytes from the start of the file.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: usize,
    /// True for a write.
    pub write: bool,
    /// Time of a recorded operation in ns after the first operation; `None` without a recording.
    pub recorded: Option<u64>,
}

/// The order of blocks. Distances are in blocks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// Block after block. The start of each thread is different: the range is divided evenly among
    /// the threads.
    #[default]
    Sequential,
    /// Random blocks, all equally likely.
    Random,
    /// Jumps to and fro: a random block near the end of the range, then a random block near its
    /// start. The field is the number of blocks at each end from which a block is chosen.
    SeekDistance(u64),
    /// Jumps across the middle of the range that become longer. The field is the number of blocks
    /// by which each jump is longer than the previous jump.
    SeekGrowing(u64),
    /// The blocks of the recording, each once, in the recorded order.
    Recorded(Recording),
}

/// Recorded operations, identified by a digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recording {
    digest: u64,
    steps: Steps,
}

/// The recorded operations. Comparisons and debug output use only their number, because the digest
/// of the [`Recording`] identifies them.
#[derive(Clone)]
struct Steps(Arc<[Step]>);

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps", self.0.len())
    }
}

impl Recording {
    /// A recording with the operations `steps` in this order.
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

    /// The recorded operations.
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

/// Determines the times at which operations begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Pace {
    /// An operation begins as soon as a slot is free.
    #[default]
    Free,
    /// Operations begin at a fixed rate. The field is the number of operations that all threads
    /// together begin in 1000 s.
    PerThousandSeconds(u64),
    /// Operations begin at their recorded times.
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

/// Threads that read and write files and devices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct IoWork {
    /// Number of the point in its experiment. Works that are otherwise equal differ in this number.
    pub point: u32,
    /// The files, each with the range of its blocks that operations may use.
    pub files: Vec<IoFile>,
    /// Name of the engine that executes the operations.
    pub engine: String,
    /// True if direct I/O shall bypass the page cache, where this is possible.
    pub direct: bool,
    /// True if threads poll for completions instead of waiting for interrupts, where the device
    /// allows it.
    pub poll: bool,
    /// Order of blocks.
    pub order: Order,
    /// Bytes of an operation. For a recording, they are the bytes of its largest operation.
    pub block: Bytes,
    /// Number of writes in a million operations.
    pub writes_per_million: u32,
    /// CPU of each thread. A CPU that is listed twice has two threads.
    pub cpus: Vec<u32>,
    /// Number of operations that each thread keeps in flight.
    pub depth: u32,
    /// Determines the times at which operations begin.
    pub pace: Pace,
    /// Think time: time in ns from a completion until its slot is used again.
    pub think_ns: u64,
    /// Number of dependent additions that a thread does before each submission.
    pub compute: u32,
    /// Number of writes of a thread after which it flushes, and kind of the flush; `None` for no
    /// flushes.
    pub flush: Option<(u32, Flush)>,
    /// Kind of data to write.
    pub content: Content,
    /// True if reads are compared with the data that was written.
    pub verify: bool,
    /// True if failed operations are counted. Otherwise a failure ends the point.
    pub continue_on_error: bool,
    /// Number of operations of the whole point; `None` if a time limits the point instead.
    pub operations: Option<u64>,
    /// Seed of random offsets, and of the choice between reads and writes.
    pub seed: u64,
}

impl IoWork {
    /// Number of bytes in the ranges of all files.
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

    /// Number of operations of the whole point; `None` if a time limits the point instead.
    pub fn total(&self) -> Option<u64> {
        match &self.order {
            Order::Recorded(recording) => Some(recording.steps().len() as u64),
            _ => self.operations,
        }
    }

    /// True if windows end after a number of operations; false if they end after a time.
    pub fn is_counted(&self) -> bool {
        self.total().is_some() && self.pace != Pace::Recorded
    }

    /// Bytes of all buffers together.
    pub fn buffers(&self) -> Bytes {
        Bytes(
            (self.cpus.len() as u64)
                .saturating_mul(u64::from(self.depth))
                .saturating_mul(self.block.0),
        )
    }

    /// Number of bytes written to created files before anything is measured.
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
