//! Experiment `io`: how many operations per second does storage do, and how long does each take?
//!
//! Method and limits: docs/method/io.md.

mod findings;
mod ranges;
mod replay;
mod seeks;
mod settings;

pub use replay::{Recorded, parse_trace};
pub use settings::{
    BlockOrder, Direction, EngineName, Position, Rate, Settings, Timing, WriteShare,
};

pub use ranges::FileLookup;

use crate::observe::COUNTED_WINDOWS;
use crate::work::{Content, Flush, IoWork, Order, Pace};
use engine::{External, Sampling, Work};
use experiments::{Bound, Draft, Experiment, ExperimentRow, Scope, axis, bytes_axis};
use host::storage::engine_named;
use ranges::{Files, Range};
use report::{Axis, Coordinate, Coordinates, Dataset, Finding, Outcome, Quantity};
use settings::{Data, MAX_THREADS};
use stats::derive;
use units::error::{Error, Result};
use units::{Bytes, Nanos, ThreadCount};

/// Largest number of rounds of a point if the user gives neither a number of operations nor a time.
const ROUNDS: u32 = 10;
/// Largest number of windows in such a round. A point then has at most 20 windows, of 500 ms by
/// default.
const PER_ROUND: u32 = 2;

/// Least length to which a small budget may shorten windows. Shorter windows would not fill the
/// queue.
const SHORTEST_WINDOW: Nanos = Nanos(50e6);

/// Fewest operations in a window if the user limits the rate.
const PER_WINDOW: f64 = 20.0;

/// The experiment, with the user's request and the trace to replay, if there are any.
#[derive(Debug, Clone)]
pub struct Storage {
    requested: Option<StorageRequest>,
    recorded: Option<Recorded>,
}

/// The user's settings, and the source of facts about files.
#[derive(Debug, Clone)]
struct StorageRequest {
    settings: Settings,
    lookup: FileLookup,
}

/// Row of the table of experiments. The table makes no command from it, because `memgauge io` is a
/// command of its own that takes files.
pub static STORAGE_EXPERIMENT: ExperimentRow = ExperimentRow {
    name: "io",
    question: "how many operations per second do files and devices do, and how long does each \
         take?",
    least: None,
    in_profile: |_| Box::new(Storage::without_files()),
    chosen: None,
    command: None,
};

/// One value from each list in the settings.
struct Combination {
    direction: (String, u32),
    order: BlockOrder,
    block: Bytes,
    threads: usize,
    depth: u32,
    engine: EngineName,
    direct: bool,
    rate: Option<Rate>,
    compute: u32,
}

impl Storage {
    /// The experiment with the user's settings, and the operations of a trace to replay. Facts
    /// about files come from `lookup`.
    pub fn new(settings: Settings, recorded: Option<Recorded>, lookup: FileLookup) -> Self {
        Self {
            requested: Some(StorageRequest { settings, lookup }),
            recorded,
        }
    }

    /// The experiment as part of a profile. It measures nothing, because no file is named.
    fn without_files() -> Self {
        Self {
            requested: None,
            recorded: None,
        }
    }

    /// The user's settings; `None` if the experiment is part of a profile.
    fn given(&self) -> Option<&Settings> {
        self.requested.as_ref().map(|requested| &requested.settings)
    }

    /// The files to measure.
    ///
    /// # Errors
    /// No file is named.
    fn files(&self) -> Result<Files<'_>> {
        let requested = self.requested.as_ref().ok_or_else(no_file)?;
        Ok(Files::new(&requested.settings, &requested.lookup))
    }

    /// Expected time of all points. If the user gives no budget, the budget is computed from this
    /// time. `repeat` is the number of times that every point is measured.
    pub fn time(&self, repeat: u32) -> Nanos {
        let Some(s) = self.given() else {
            return Nanos::ZERO;
        };
        let lists = [
            s.directions().len(),
            s.pattern.0.len(),
            s.blocks.0.len(),
            s.threads.0.len(),
            s.depth.0.len(),
        ];
        let more = [
            s.engine.0.len(),
            s.accesses().len(),
            s.rates().len(),
            s.compute.0.len(),
        ];
        let points = lists
            .into_iter()
            .chain(more)
            .fold(1.0, |product, n| product * n as f64)
            * f64::from(repeat);
        let recorded = self
            .recorded
            .as_ref()
            .filter(|_| s.timing == Timing::Recorded)
            .map(Recorded::duration);
        let usual = s.window() * f64::from(ROUNDS * PER_ROUND);
        let each = recorded.or(s.time).unwrap_or(usual) * 1.25 + Nanos::from_secs(1.0);
        each * points + Nanos::from_secs(s.create.map_or(0.0, |size| size.0 as f64 / 50e6))
    }

    /// Length of a window. If the user limits the rate, the window is long enough for
    /// [`PER_WINDOW`] operations, but at most a minute.
    fn window(&self, s: &Settings) -> Nanos {
        let slowest = s.rates().into_iter().flatten().min();
        let least = slowest.map_or(Nanos::ZERO, |rate| {
            Nanos::from_secs(PER_WINDOW * 1e3 / rate.0 as f64)
        });
        s.window().max(least.min(Nanos::from_secs(60.0)))
    }

    fn settings(&self) -> Result<&Settings> {
        self.given().ok_or_else(no_file)
    }

    /// Every combination of one value from each list in the settings.
    fn combinations(&self, scope: &Scope<'_>) -> Result<Vec<Combination>> {
        let s = self.settings()?;
        let threads = threads(s, scope)?;
        let mut all = Vec::new();
        for direction in s.directions() {
            for (&order, &block) in pairs(&s.pattern.0, &s.blocks.0) {
                for (&threads, depth) in pairs(&threads, &s.depth.0) {
                    for (engine, &direct) in pairs(&s.engine.0, &s.accesses()) {
                        let direct = direct && bypasses_cache(engine);
                        for (&rate, compute) in pairs(&s.rates(), &s.compute.0) {
                            scope.room_for(all.len() + 1)?;
                            all.push(Combination {
                                direction: direction.clone(),
                                order,
                                block,
                                threads,
                                depth: depth.0,
                                engine: engine.clone(),
                                direct,
                                rate,
                                compute: compute.0,
                            });
                        }
                    }
                }
            }
        }
        Ok(all)
    }

    /// The work of the combination `c`, without its files. `point` is the number of the
    /// combination.
    fn work(&self, scope: &Scope<'_>, (point, c): (usize, &Combination)) -> Result<IoWork> {
        let s = self.settings()?;
        let flush = match (s.fsync, s.fdatasync) {
            (Some(n), _) => Some((n, Flush::Sync)),
            (None, n) => n.map(|n| (n, Flush::DataSync)),
        };
        Ok(IoWork {
            point: u32::try_from(point).unwrap_or(u32::MAX),
            files: Vec::new(),
            engine: engine(&c.engine, c.depth).to_owned(),
            direct: c.direct,
            poll: s.poll,
            order: Order::Sequential,
            block: c.block,
            writes_per_million: c.direction.1,
            cpus: scope.cpus.iter().copied().cycle().take(c.threads).collect(),
            depth: c.depth,
            pace: c
                .rate
                .map_or(Pace::Free, |rate| Pace::PerThousandSeconds(rate.0)),
            think_ns: s.think.0 as u64,
            compute: c.compute,
            flush,
            content: match s.content() {
                Data::Random => Content::Random,
                Data::Zeros => Content::Zeros,
                Data::Pattern => Content::Pattern,
            },
            verify: s.verify,
            continue_on_error: s.continue_on_error,
            operations: s.operations,
            seed: derive(scope.seed, "io", 0),
        })
    }

    fn draft_point(
        &self,
        scope: &Scope<'_>,
        files: &mut Files<'_>,
        at: (usize, &Combination),
    ) -> Result<Draft> {
        let s = self.settings()?;
        let c = at.1;
        let mut work = self.work(scope, at)?;
        if let Some(recorded) = &self.recorded {
            files.replay(recorded, &mut work, s.timing)?;
        } else {
            let writes = work.writes_per_million > 0;
            work.files = files.files_for(&Range {
                block: c.block,
                direct: c.direct,
                writes,
            })?;
            work.order = order(
                c.order,
                s,
                c.block,
                work.files.iter().map(|f| f.blocks).min().unwrap_or(1),
            );
        }
        let most = scope.usable().0 / 2;
        if work.buffers().0 > most {
            return Err(Error::usage(format!(
                "too much memory for buffers: {} threads of {} operations of {}; {} may be used; \
                 type a smaller --depth or --blocks",
                c.threads,
                c.depth,
                c.block,
                Bytes(most)
            )));
        }
        let coordinates = coordinates(c, &work, self.recorded.is_some());
        let asynchronous = engine_named(&work.engine).is_some_and(|row| row.asynchronous);
        let unsupported = |reason| Err(Outcome::Unsupported { reason });
        let engine = work.engine.clone();
        let work = Work::External(External::new(work));
        let kernel = scope.machine.kernel(&work);
        let work = match kernel {
            Err(reason) => unsupported(reason),
            Ok(_) if c.depth > 1 && !asynchronous => unsupported(format!(
                "{engine} does one operation at a time; type --threads {} for more at once, or \
                 --engine io_uring",
                c.depth
            )),
            Ok(_) => Ok(work),
        };
        Ok(Draft {
            coordinates,
            work,
            bound: Bound::Unknown,
            drop_priority: 2,
        })
    }
}

fn no_file() -> Error {
    Error::usage(
        "no file to measure: io; it measures files and block devices that are named; type memgauge \
         io FILE",
    )
}

/// All pairs of an item of `first` and an item of `second`.
fn pairs<'a, A, B>(first: &'a [A], second: &'a [B]) -> impl Iterator<Item = (&'a A, &'a B)> {
    first
        .iter()
        .flat_map(move |a| second.iter().map(move |b| (a, b)))
}

/// Numbers of threads to measure. More threads than CPUs are allowed, because the threads mostly
/// wait for storage.
fn threads(s: &Settings, scope: &Scope<'_>) -> Result<Vec<usize>> {
    let threads_for = |count: &ThreadCount| {
        let count = count
            .resolve(scope.cpus.len())
            .filter(|&n| n <= MAX_THREADS);
        count.ok_or_else(|| {
            Error::usage(format!(
                "thread count not possible: storage is measured with 1 to {MAX_THREADS} threads, \
                 without 'best'; type --threads all"
            ))
        })
    };
    s.threads.0.iter().map(threads_for).collect()
}

/// Name of the engine that `name` stands for at the queue depth `depth`.
fn engine(name: &EngineName, depth: u32) -> &'static str {
    match name {
        EngineName::Named(name) => name,
        EngineName::Auto if depth <= 1 => "sync",
        EngineName::Auto => {
            let usable =
                |name: &&str| engine_named(name).is_some_and(|row| (row.availability)().is_ok());
            ["io_uring", "aio"]
                .into_iter()
                .find(usable)
                .unwrap_or("io_uring")
        }
    }
}

/// True if direct I/O with this engine bypasses the page cache. With every engine that `auto`
/// chooses, it does.
fn bypasses_cache(name: &EngineName) -> bool {
    match name {
        EngineName::Named(name) => engine_named(name).is_none_or(|row| row.bypasses_cache),
        EngineName::Auto => true,
    }
}

/// The order of blocks in a file that has `blocks` blocks of `block` bytes.
fn order(order: BlockOrder, s: &Settings, block: Bytes, blocks: u64) -> Order {
    /// Default stride in blocks. The program micbench has the same default.
    const STRIDE: u64 = 16_384;
    let stride = s.stride.map(|stride| stride.bytes(block) / block.0.max(1));
    match order {
        BlockOrder::Sequential => Order::Sequential,
        BlockOrder::Random => Order::Random,
        BlockOrder::SeekDistance => Order::SeekDistance(
            stride
                .unwrap_or_else(|| STRIDE.min(blocks / 2))
                .clamp(1, blocks.max(1)),
        ),
        BlockOrder::SeekGrowing => Order::SeekGrowing(stride.unwrap_or(blocks / 512).max(1)),
    }
}

fn coordinates(c: &Combination, work: &IoWork, replayed: bool) -> Coordinates {
    let name = Coordinate::Name;
    let number = Coordinate::Number;
    let operation = if replayed {
        "replay".to_owned()
    } else {
        c.direction.0.clone()
    };
    let pattern = if replayed {
        "recorded".to_owned()
    } else {
        c.order.to_string()
    };
    let access = if c.direct { "direct" } else { "buffered" };
    let mut at = Coordinates::from([
        ("operation".to_owned(), name(operation)),
        ("pattern".to_owned(), name(pattern)),
        ("block_bytes".to_owned(), number(work.block.0)),
        ("threads".to_owned(), number(c.threads as u64)),
        ("depth".to_owned(), number(u64::from(c.depth))),
        ("engine".to_owned(), name(work.engine.clone())),
        ("access".to_owned(), name(access.to_owned())),
        ("compute".to_owned(), number(u64::from(c.compute))),
    ]);
    if let Some(rate) = c.rate {
        let whole = rate.0.is_multiple_of(1000);
        let rate = if whole {
            number(rate.0 / 1000)
        } else {
            name((rate.0 as f64 / 1e3).to_string())
        };
        at.insert("rate_per_second".to_owned(), rate);
    }
    at
}

impl Experiment for Storage {
    fn name(&self) -> &'static str {
        "io"
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "operations".to_owned(),
            unit: "IOPS".to_owned(),
            higher_is_better: true,
        }
    }

    fn axes(&self) -> Vec<Axis> {
        let mut axes = vec![
            axis("operation"),
            axis("pattern"),
            bytes_axis("block_bytes"),
        ];
        axes.extend(["threads", "depth", "engine", "access", "compute"].map(axis));
        if self.given().is_some_and(|s| s.rate.is_some()) {
            axes.push(axis("rate_per_second"));
        }
        axes
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        self.settings()?.check()?;
        let mut files = self.files()?;
        let all = self.combinations(scope)?;
        all.iter()
            .enumerate()
            .map(|at| self.draft_point(scope, &mut files, at))
            .collect()
    }

    fn adjustments(&self, _scope: &Scope<'_>) -> Vec<String> {
        let (Some(settings), Ok(mut files)) = (self.given(), self.files()) else {
            return Vec::new();
        };
        let mut all = files.remarks(self.recorded.as_ref());
        all.extend(
            self.recorded
                .iter()
                .flat_map(|recorded| recorded.remarks(settings)),
        );
        all
    }

    /// Settings for the windows, which are far longer than samples of memory, because a queue has
    /// to fill.
    fn sampling(&self, general: Sampling) -> Sampling {
        let Some(s) = self.given() else {
            return general;
        };
        let length = self.window(s);
        let windows = |time: Nanos| (time.0 / length.0).ceil().clamp(1.0, 1e6) as u32;
        let general = Sampling { length, ..general };
        match (&self.recorded, s.timing, s.time) {
            (Some(recorded), Timing::Recorded, _) => {
                general.exactly(windows(recorded.duration()) + 1)
            }
            (Some(_), Timing::Asap, _) => general.exactly(COUNTED_WINDOWS as u32),
            _ if s.operations.is_some() => general.exactly(COUNTED_WINDOWS as u32),
            (_, _, Some(time)) => general.exactly(windows(time)),
            _ => Sampling {
                per_round: general.per_round.min(PER_ROUND),
                rounds: general.rounds.min(ROUNDS),
                target: 0.01,
                ..general
            },
        }
    }

    /// Settings with windows shortened by the factor `share`, which is from 0 to 1. Windows keep
    /// their length if the user gave a trace, window, time, rate or number of operations.
    fn sampling_within(&self, general: Sampling, share: f64) -> Sampling {
        let own = self.sampling(general);
        Sampling {
            length: (own.length * share)
                .max(self.shortest_sample())
                .min(own.length),
            ..own
        }
    }

    fn shortest_sample(&self) -> Nanos {
        let Some(s) = self.given() else {
            return Nanos::ZERO;
        };
        let given =
            s.window.or(s.time).is_some() || s.operations.is_some() || self.recorded.is_some();
        if given || s.rate.is_some() {
            self.window(s)
        } else {
            SHORTEST_WINDOW
        }
    }

    fn derived(&self, dataset: &Dataset) -> Option<Dataset> {
        seeks::latency_by_distance(dataset)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        findings::findings(dataset)
    }
}
