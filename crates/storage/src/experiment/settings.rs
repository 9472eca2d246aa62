//! The user's request to measure storage.

use experiments::{Counts, Effect, Effects, lists, names};
use host::storage::IO_ENGINES;
use host::storage::engine_named;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use units::error::{Error, Result};
use units::{Bytes, Nanos, ParseError, SizeList, ThreadList, short_time, whole_number};

lists! {
    /// Directions of operations.
    Directions of Direction;
    /// Orders of blocks.
    BlockOrders of BlockOrder;
    /// Shares of writes.
    Mixes of WriteShare;
    /// Engines by name.
    Engines of EngineName;
    /// Operations per second.
    Rates of Rate;
}

names! {
    /// Direction of operations.
    Direction, "operations on storage":
    Read "read" "Reads only.",
    Write "write" "Writes only.",
    Mix "mix" "Reads and a share of writes.",
}

names! {
    /// Order of blocks.
    BlockOrder, "patterns of storage":
    Sequential "sequential" "One after the other.",
    Random "random" "Any, each as likely.",
    SeekDistance "seekdist" "In turn one of the last and one of the first.",
    SeekGrowing "seekincr" "To and fro over the middle, further each time.",
}

names! {
    /// Data to write.
    Data, "kinds of data":
    Random "random" "Incompressible bytes.",
    Zeros "zeros" "Zeros.",
    Pattern "pattern" "Bytes that follow from their offset in the file.",
}

names! {
    /// Times at which recorded operations are begun.
    Timing, "timings of a replay":
    Asap "asap" "As soon as a slot is free.",
    Recorded "recorded" "At the times of the trace.",
}

/// Share of writes among operations, in millionths. Users type `0.3` or `30%`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteShare(pub u32);

impl FromStr for WriteShare {
    type Err = ParseError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(
                text,
                "a share of writes is from 0 (only reads) to 1 (only writes): 0.3, 30%",
            )
            .with_example("30%")
        };
        let (number, scale) = match text.trim().strip_suffix('%') {
            Some(number) => (number, 1e4),
            None => (text.trim(), 1e6),
        };
        let share = number.parse::<f64>().map_err(|_| wrong())? * scale;
        if (0.0..=1e6).contains(&share) {
            Ok(Self(share.round() as u32))
        } else {
            Err(wrong())
        }
    }
}

/// A rate in thousandths of an operation per second. Users type operations per second: `1000`,
/// `0.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

impl FromStr for Rate {
    type Err = ParseError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(
                text,
                "a rate is a number of operations per second, from 0.001 to 10^9: 1000",
            )
            .with_example("1000")
        };
        let rate = text.trim().parse::<f64>().map_err(|_| wrong())?;
        if (0.001..=1e9).contains(&rate) {
            Ok(Self((rate * 1e3).round() as u64))
        } else {
            Err(wrong())
        }
    }
}

/// Requested engine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineName {
    /// `sync` at a depth of 1, otherwise the first asynchronous engine that this machine has.
    Auto,
    /// The engine with this name.
    Named(&'static str),
}

impl FromStr for EngineName {
    type Err = ParseError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseError> {
        let text = text.trim();
        let names: Vec<&str> = IO_ENGINES
            .iter()
            .map(|row| row.name)
            .chain(["auto"])
            .collect();
        match IO_ENGINES.iter().find(|row| row.name == text) {
            Some(row) => Ok(EngineName::Named(row.name)),
            None if text == "auto" => Ok(EngineName::Auto),
            None => Err(ParseError::unknown_name(text, &names, "engines")),
        }
    }
}

/// Position in a file. Plain digits are blocks, and sizes with a unit are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Position as a number of blocks.
    Blocks(u64),
    /// Position as a number of bytes.
    Bytes(Bytes),
}

impl Position {
    /// The position in bytes, for blocks of `block` bytes.
    pub fn bytes(self, block: Bytes) -> u64 {
        match self {
            Position::Blocks(count) => count.saturating_mul(block.0),
            Position::Bytes(bytes) => bytes.0,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Blocks(count) => write!(f, "block {count}"),
            Position::Bytes(bytes) => write!(f, "{} B", bytes.0),
        }
    }
}

impl FromStr for Position {
    type Err = ParseError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseError> {
        let text = text.trim();
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            let wrong = |_| {
                ParseError::new(
                    text,
                    "a number of blocks is below 2^64: 1000, or bytes with a unit: 4MiB",
                )
                .with_example("1000")
            };
            return text.parse().map(Position::Blocks).map_err(wrong);
        }
        text.parse().map(Position::Bytes)
    }
}

/// Operations, their targets and their pattern.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Settings {
    /// Files or block devices; nothing is written to them unless --create or --destroy-data says so
    #[arg(value_name = "FILE", required_unless_present = "replay")]
    pub files: Vec<PathBuf>,

    /// Operations: read, write, mix [default: read, or mix with --mixes]
    #[arg(long, value_name = "LIST")]
    pub ops: Option<Directions>,

    /// Share of writes in a mix, drawn for each operation: 0.3 or 30% [default: 50%]
    #[arg(long, value_name = "LIST", alias = "mix")]
    pub mixes: Option<Mixes>,

    /// Which block comes next: sequential, random, seekdist (in turn one of the last and one of the
    /// first), seekincr (seeks that grow)
    #[arg(long, value_name = "LIST", default_value = "sequential")]
    pub pattern: BlockOrders,

    /// Bytes of an operation: 4KiB, 512..1MiB:x4
    #[arg(long, value_name = "LIST", default_value = "4KiB", alias = "block")]
    pub blocks: SizeList,

    /// Start of the range in each file: plain digits are blocks, sizes with a unit bytes
    #[arg(long, value_name = "PLACE", default_value = "0")]
    pub start: Position,

    /// End of the range [default: the end of each file]
    #[arg(long, value_name = "PLACE")]
    pub end: Option<Position>,

    /// Blocks at each end for seekdist, or that each seek of seekincr grows by [default: 16384 or
    /// half the range; a 512th of the range]
    #[arg(long, value_name = "PLACE")]
    pub stride: Option<Position>,

    /// Move every operation by this many bytes
    #[arg(long, value_name = "SIZE", default_value = "0")]
    pub misalign: Bytes,

    /// Time from a completion to the next submission in its place: 50us
    #[arg(long, value_name = "TIME", default_value = "0s", conflicts_with = "rate", value_parser = short_time)]
    pub think: Nanos,

    /// Dependent additions before each operation: 0,10000
    #[arg(long, value_name = "LIST", default_value = "0")]
    pub compute: Counts,

    /// Threads: 1,2,all; more than CPUs share them
    #[arg(long, value_name = "LIST", default_value = "1")]
    pub threads: ThreadList,

    /// Operations that each thread keeps under way: 1,8,32
    #[arg(long, value_name = "LIST", default_value = "1")]
    pub depth: Counts,

    /// How operations are handed to the system: sync, mmap, aio, io_uring, null, auto (sync at
    /// depth 1, else asynchronous)
    #[arg(long, value_name = "LIST", default_value = "auto")]
    pub engine: Engines,

    /// Through the page cache, instead of past it
    #[arg(long)]
    pub buffered: bool,

    /// Past the page cache, which is the default; with --buffered both are measured
    #[arg(long)]
    pub direct: bool,

    /// Look for completions in a loop instead of waiting for interrupts, where the device allows it
    /// (io_uring)
    #[arg(long)]
    pub poll: bool,

    /// Flush data and what belongs to the file after this many writes of a thread (fsync)
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "fdatasync",
        value_parser = whole_number::<u32>(1, u64::from(u32::MAX)),
    )]
    pub fsync: Option<u32>,

    /// Flush data after this many writes of a thread (fdatasync)
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1, u64::from(u32::MAX)))]
    pub fdatasync: Option<u32>,

    /// Operations per second of all threads together, at a fixed step; latency counts from when
    /// each was due: 1000,5000
    #[arg(long, value_name = "LIST")]
    pub rate: Option<Rates>,

    /// Operations of each point, no more and no fewer, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = whole_number::<u64>(1, MAX_OPERATIONS))]
    pub operations: Option<u64>,

    /// Time that each point is measured for: 30s [default: until the interval is narrow, at most
    /// 10s]
    #[arg(long, value_name = "TIME")]
    pub time: Option<Nanos>,

    /// Length of a window, which is a sample: 100ms [default: 500ms, or a 20th of --time but 50ms
    /// at least]
    #[arg(long, value_name = "TIME", value_parser = short_time)]
    pub window: Option<Nanos>,

    /// Make FILE, of this size, write it from end to end, and remove it afterwards
    #[arg(long, value_name = "SIZE", conflicts_with = "destroy_data")]
    pub create: Option<Bytes>,

    /// Leave the file that --create made
    #[arg(long)]
    pub keep: bool,

    /// Let the content of this very FILE be overwritten
    #[arg(long, value_name = "FILE")]
    pub destroy_data: Vec<PathBuf>,

    /// Compare every block that is read with what was written; needs data of --data pattern in the
    /// file
    #[arg(long)]
    pub verify: bool,

    /// Data to write: random (cannot be compressed), zeros, pattern [default: random, with
    /// --verify pattern]
    #[arg(long, value_name = "KIND")]
    pub data: Option<Data>,

    /// Count operations that fail, instead of ending the point
    #[arg(long)]
    pub continue_on_error: bool,

    /// Do what this trace says, once: of --trace, or the text that blkparse prints
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["operations", "time", "rate", "think", "ops", "mixes"])]
    pub replay: Option<PathBuf>,

    /// When recorded operations are begun: asap (as soon as there is a free place), recorded (when
    /// they came)
    #[arg(long, value_name = "WHEN", default_value = "asap")]
    pub timing: Timing,
}

/// Largest number of operations of a point that may be requested. More operations would take years.
const MAX_OPERATIONS: u64 = 1 << 50;

impl Settings {
    /// True if options choose the blocks of the operations; false if a trace does.
    fn chooses_blocks(&self) -> bool {
        self.replay.is_none()
    }

    /// True if any operation of the session may write.
    fn may_write(&self) -> bool {
        self.replay.is_some() || self.directions().iter().any(|(_, share)| *share > 0)
    }

    /// True if any operation of the session may read.
    fn may_read(&self) -> bool {
        self.replay.is_some()
            || self
                .directions()
                .iter()
                .any(|(_, share)| *share < 1_000_000)
    }
}

/// Reason in messages that an option has no effect on a replay.
const NO_TRACE: &str = "a replay does what its trace says";

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "mixes",
            applies: |s| {
                s.ops
                    .as_ref()
                    .is_none_or(|ops| ops.0.contains(&Direction::Mix))
            },
            only: "only a mix has a share of writes",
            enabled_by: Some("--ops mix"),
        },
        Effect {
            option: "pattern",
            applies: Self::chooses_blocks,
            only: NO_TRACE,
            enabled_by: None,
        },
        Effect {
            option: "blocks",
            applies: Self::chooses_blocks,
            only: NO_TRACE,
            enabled_by: None,
        },
        Effect {
            option: "start",
            applies: Self::chooses_blocks,
            only: NO_TRACE,
            enabled_by: None,
        },
        Effect {
            option: "end",
            applies: Self::chooses_blocks,
            only: NO_TRACE,
            enabled_by: None,
        },
        Effect {
            option: "misalign",
            applies: Self::chooses_blocks,
            only: NO_TRACE,
            enabled_by: None,
        },
        Effect {
            option: "stride",
            applies: |s| {
                let seeks = [BlockOrder::SeekDistance, BlockOrder::SeekGrowing];
                s.chooses_blocks() && s.pattern.0.iter().any(|pattern| seeks.contains(pattern))
            },
            only: "only the patterns seekdist and seekincr use it",
            enabled_by: Some("--pattern seekdist"),
        },
        Effect {
            option: "poll",
            applies: |s| {
                let polls = |engine: &EngineName| {
                    [EngineName::Named("io_uring"), EngineName::Auto].contains(engine)
                };
                s.engine.0.iter().any(polls)
            },
            only: "only io_uring looks for completions in a loop",
            enabled_by: Some("--engine io_uring"),
        },
        Effect {
            option: "fsync",
            applies: Self::may_write,
            only: "only writes are flushed",
            enabled_by: Some("--ops write"),
        },
        Effect {
            option: "fdatasync",
            applies: Self::may_write,
            only: "only writes are flushed",
            enabled_by: Some("--ops write"),
        },
        Effect {
            option: "destroy-data",
            applies: Self::may_write,
            only: "only writes overwrite data",
            enabled_by: Some("--ops write"),
        },
        Effect {
            option: "data",
            applies: |s| s.may_write() || s.create.is_some() || s.verify,
            only: "only writes and --verify use it",
            enabled_by: Some("--ops write"),
        },
        Effect {
            option: "verify",
            applies: Self::may_read,
            only: "only reads are verified",
            enabled_by: Some("--ops read"),
        },
        Effect {
            option: "keep",
            applies: |s| s.create.is_some(),
            only: "only a file that --create makes is removed",
            enabled_by: Some("--create 1GiB"),
        },
        Effect {
            option: "timing",
            applies: |s| s.replay.is_some(),
            only: "only recorded operations have a timing",
            enabled_by: Some("--replay TRACE"),
        },
    ];
}

/// Largest number of threads of a point that may be requested.
pub const MAX_THREADS: usize = 1024;
/// Largest number of operations in flight in each thread that may be requested.
const MAX_DEPTH: u32 = 4096;

/// Default length of a window. A rotating disk does about a hundred random operations in this time.
const USUAL_WINDOW: Nanos = Nanos(500e6);

/// Shortest window that may be requested. In a shorter window, threads and queue do not get warm.
const SHORTEST_WINDOW: Nanos = Nanos(10e6);

impl Settings {
    /// Checks the settings. Fails for settings that are impossible on every machine.
    pub fn check(&self) -> Result<()> {
        let refuse = |text: String| Err(Error::usage(text));
        if let Some(zero) = self.blocks.0.iter().find(|b| b.0 == 0) {
            return refuse(format!(
                "block not possible: {zero}; blocks have at least 1 B; type --blocks 4KiB"
            ));
        }
        if let Some(depth) = self.depth.0.iter().find(|d| d.0 == 0 || d.0 > MAX_DEPTH) {
            return refuse(format!(
                "depth not possible: {}; a thread has 1 to {MAX_DEPTH} operations in flight; type \
                 --depth 32",
                depth.0
            ));
        }
        if self.window() < SHORTEST_WINDOW || self.window() > Nanos(60e9) {
            return refuse(format!(
                "window not possible: {}; windows last from 10 ms to 60 s; type --window 500ms",
                self.window()
            ));
        }
        if self.time.is_some_and(|time| time < self.window()) {
            return refuse(format!(
                "time not possible: less than a window of {}; type --time 10s or a shorter \
                 --window",
                self.window()
            ));
        }
        let cached = |name: &EngineName| match name {
            EngineName::Named(name) => engine_named(name).filter(|row| !row.bypasses_cache),
            EngineName::Auto => None,
        };
        if let Some(row) = self
            .engine
            .0
            .iter()
            .find_map(cached)
            .filter(|_| self.direct)
        {
            return refuse(format!(
                "access not possible: --direct with --engine {}; a mapped file always goes \
                 through the page cache; type --buffered",
                row.name
            ));
        }
        let other = self.data.filter(|&data| data != Data::Pattern);
        if let Some(data) = other.filter(|_| self.verify) {
            return refuse(format!(
                "data not possible: {data} with --verify; only a pattern can be verified; type \
                 --data pattern"
            ));
        }
        if let Some(path) = self
            .destroy_data
            .iter()
            .find(|path| !self.files.contains(path))
        {
            return refuse(format!(
                "nothing to destroy: {} is not among the files of the session; type its name as \
                 FILE \
                 too",
                path.display()
            ));
        }
        Ok(())
    }

    /// Directions of operations: the name, and the share of writes in millionths.
    pub fn directions(&self) -> Vec<(String, u32)> {
        let mixes = self
            .mixes
            .as_ref()
            .map_or_else(|| vec![WriteShare(500_000)], |mix| mix.0.clone());
        let requested = match (&self.ops, &self.mixes) {
            (Some(ops), _) => ops.0.clone(),
            (None, Some(_)) => vec![Direction::Mix],
            (None, None) => vec![Direction::Read],
        };
        let named = |direction: Direction| match direction {
            Direction::Read => vec![("read".to_owned(), 0)],
            Direction::Write => vec![("write".to_owned(), 1_000_000)],
            Direction::Mix => {
                let named =
                    |share: &WriteShare| (format!("mix {}%", f64::from(share.0) / 1e4), share.0);
                mixes.iter().map(named).collect()
            }
        };
        requested.into_iter().flat_map(named).collect()
    }

    /// Requested length of a window, or the default length.
    pub fn window(&self) -> Nanos {
        let of_time = |time: Nanos| {
            (time / 20.0)
                .max(Nanos::from_millis(50.0))
                .min(USUAL_WINDOW)
        };
        self.window
            .unwrap_or_else(|| self.time.map_or(USUAL_WINDOW, of_time))
    }

    /// Values of `IoWork::direct` to measure: true, false, or both.
    pub fn accesses(&self) -> Vec<bool> {
        match (self.direct, self.buffered) {
            (true, true) => vec![true, false],
            (false, true) => vec![false],
            (_, false) => vec![true],
        }
    }

    /// Requested rates. Without requested rates, the result is a single `None`, for operations
    /// without a rate limit.
    pub fn rates(&self) -> Vec<Option<Rate>> {
        self.rate.as_ref().map_or_else(
            || vec![None],
            |rates| rates.0.iter().copied().map(Some).collect(),
        )
    }

    /// Kind of data to write. The default is the pattern with `--verify`, and random data
    /// otherwise.
    pub fn content(&self) -> Data {
        self.data.unwrap_or(if self.verify {
            Data::Pattern
        } else {
            Data::Random
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_blocks_or_bytes() {
        let good = [
            ("10", 40_960),
            ("4KiB", 4096),
            ("10B", 10),
            ("0", 0),
            (" 1.5k ", 1536),
        ];
        for (text, bytes) in good {
            assert_eq!(
                text.parse::<Position>().unwrap().bytes(Bytes(4096)),
                bytes,
                "{text}"
            );
        }
        assert_eq!(
            "18446744073709551615"
                .parse::<Position>()
                .unwrap()
                .bytes(Bytes(2)),
            u64::MAX
        );
        for bad in ["", "-1", "ten", "18446744073709551616", "1..2"] {
            assert!(bad.parse::<Position>().is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_and_rates_have_bounds() {
        assert_eq!(
            ["0", "0.3", "30%", "1", "100%"].map(|t| t.parse::<WriteShare>().unwrap().0),
            [0, 300_000, 300_000, 1_000_000, 1_000_000]
        );
        assert!(
            ["", "1.1", "-0.1", "101%", "nan", "x"]
                .iter()
                .all(|t| t.parse::<WriteShare>().is_err())
        );
        assert_eq!(
            ["1000", "0.5"].map(|t| t.parse::<Rate>().unwrap().0),
            [1_000_000, 500]
        );
        assert!(
            ["0", "-1", "nan", "inf", "1e10", ""]
                .iter()
                .all(|t| t.parse::<Rate>().is_err())
        );
    }

    #[test]
    fn engines_are_those_of_the_table() {
        assert_eq!(
            "null".parse::<EngineName>().unwrap(),
            EngineName::Named("null")
        );
        assert_eq!("auto".parse::<EngineName>().unwrap(), EngineName::Auto);
        let wrong = "libaio".parse::<EngineName>().unwrap_err().to_string();
        assert!(wrong.contains("io_uring"), "{wrong}");
    }
}
