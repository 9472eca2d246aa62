//! Work on files and devices, with everything that makes it precise.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::Bytes;

/// Permissions for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Permission {
    /// It is read.
    #[default]
    Read,
    /// The run makes it, writes to it, and removes it unless told to keep it.
    Create {
        /// Its size.
        size: Bytes,
        /// Whether it stays.
        keep: bool,
    },
    /// The user named it as one whose content may be lost.
    Destroy,
}

/// A file or device, and the blocks of it that operations go to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IoFile {
    /// Its name as the user typed it.
    pub path: PathBuf,
    /// Permission for the file.
    pub permission: Permission,
    /// Start of its first block, in bytes.
    pub first: u64,
    /// How many blocks of the work's size there are from there on.
    pub blocks: u64,
}

impl IoFile {
    /// A file to be read of which nothing is known yet.
    pub fn named(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            permission: Permission::Read,
            first: 0,
            blocks: 0,
        }
    }
}

/// One operation to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Which of the work's files.
    pub file: usize,
    /// Offset in it, in bytes.
    pub offset: u64,
    /// How many bytes.
    pub bytes: usize,
    /// Whether it writes.
    pub write: bool,
    /// When it came in a recording, in ns since the first operation there.
    pub recorded: Option<u64>,
}

/// Which block comes next; distances in blocks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// The one after the last one; each thread starts at its share of the range.
    #[default]
    Sequential,
    /// Any, each as likely.
    Random,
    /// In turn one of this many last blocks and one of the first.
    SeekDistance(u64),
    /// To and fro over the middle, each jump so much longer than the one before.
    SeekGrowing(u64),
    /// As it was recorded, once.
    Recorded(Recording),
}

/// Operations that were recorded, with what they are told apart by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recording {
    digest: u64,
    steps: Steps,
}

/// Compared and shown by their number only: the digest beside them tells the rest.
#[derive(Clone)]
struct Steps(Arc<[Step]>);

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps", self.0.len())
    }
}

impl Recording {
    /// Of these operations, in this order.
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

/// When operations are begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Pace {
    /// As soon as there is a free place.
    #[default]
    Free,
    /// So many in 1000 s, of all threads together, at a fixed step.
    PerThousandSeconds(u64),
    /// When they came in the recording.
    Recorded,
}

/// Content to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Content {
    /// Bytes that neither compression nor deduplication reduces.
    #[default]
    Random,
    /// Zeros.
    Zeros,
    /// Bytes that follow from the offset in the file alone, so that they can be verified.
    Pattern,
}

/// Which flush follows writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flush {
    /// Data and everything that the system knows of the file.
    Sync,
    /// Data, and what is needed to read it back.
    DataSync,
}

/// Threads that work on files and devices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct IoWork {
    /// Number of the point in its experiment: two points that are alike are still two.
    pub point: u32,
    /// Where.
    pub files: Vec<IoFile>,
    /// Name of the engine.
    pub engine: String,
    /// Whether the page cache is passed by where that is possible.
    pub direct: bool,
    /// Whether completions are looked for instead of waited for, where that is possible.
    pub poll: bool,
    /// In which order.
    pub order: Order,
    /// Bytes of an operation; of recorded ones the most.
    pub block: Bytes,
    /// Of a million operations this many write.
    pub writes_per_million: u32,
    /// One thread on each of these CPUs; on one that is named twice, two.
    pub cpus: Vec<u32>,
    /// Operations that each thread keeps under way.
    pub depth: u32,
    /// When operations are begun.
    pub pace: Pace,
    /// Time from a completion to the next submission in its place, in ns.
    pub think_ns: u64,
    /// Dependent additions before each submission.
    pub compute: u32,
    /// A flush after this many writes of a thread.
    pub flush: Option<(u32, Flush)>,
    /// Content to write.
    pub content: Content,
    /// Whether what is read is compared with what was written.
    pub verify: bool,
    /// Whether a failed operation is counted instead of ending the point.
    pub continue_on_error: bool,
    /// Operations of the whole point; without, as many as time allows.
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

    /// Whether any operation writes.
    pub fn writes(&self) -> bool {
        match &self.order {
            Order::Recorded(recording) => recording.steps().iter().any(|s| s.write),
            _ => self.writes_per_million > 0,
        }
    }

    /// Operations of the whole point, where that is known beforehand.
    pub fn total(&self) -> Option<u64> {
        match &self.order {
            Order::Recorded(recording) => Some(recording.steps().len() as u64),
            _ => self.operations,
        }
    }

    /// Whether a window ends when a share of all operations is done rather than when its time is
    /// over.
    pub fn is_counted(&self) -> bool {
        self.total().is_some() && self.pace != Pace::Recorded
    }

    /// Memory for its buffers.
    pub fn buffers(&self) -> Bytes {
        Bytes(
            (self.cpus.len() as u64)
                .saturating_mul(u64::from(self.depth))
                .saturating_mul(self.block.0),
        )
    }

    /// Bytes that are written before anything is measured.
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
