//! What does the order of accesses cost?
//!
//! Method and limits: docs/method/patterns.md.

use crate::command::{CommandSettings, Effect, Effects};
use crate::coordinates::{coordinates, name, number};
use crate::difference::{ComparisonResult, Difference};
use crate::experiment::{self, Bound, Detail, Draft, Experiment, Scope, axis};
use crate::hierarchy::{Levels, Target};
use crate::lists::{OrderKind, Orders, PageModes, Widths, refuse_too_large, thread_counts};
use engine::{StreamWork, TableOrder, Work};
use host::memory::PageMode;
use kernels::{
    AccessOrder, BLOCK_BYTES, CONTRACTS, Contract, LINE_BYTES, LONGEST_ORDERED, Operation, Width,
};
use report::{Axis, Coordinates, Dataset, Finding, Outcome, Point, Quantity};
use stats::derive;
use std::collections::BTreeMap;
use std::str::FromStr;
use units::error::{Error, Result};
use units::{Bytes, ParseError, SizeList, ThreadCount, ThreadList, parse_list};

/// A strided order needs at least this many accesses in a pass, and a random order this many
/// blocks. With fewer accesses or blocks, the order has no effect to measure.
const FEWEST_ACCESSES: u64 = 16;

/// Largest block of a random order, in bytes.
const LARGEST_BLOCK: u64 = 4096;

/// Largest working set if the user names no sizes, because building tables of orders takes time.
const MAX_IN_MEMORY: Bytes = Bytes(256 << 20);

/// Operations that have kernels for every order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderedOperations(pub Vec<Operation>);

impl FromStr for OrderedOperations {
    type Err = ParseError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseError> {
        let one = |text: &str| {
            let found = ordered().find(|c| c.name == text).map(|c| c.operation);
            found.ok_or_else(|| {
                ParseError::unknown_name(
                    text,
                    &ordered().map(|c| c.name).collect::<Vec<_>>(),
                    "operations",
                )
            })
        };
        parse_list(text, one).map(OrderedOperations)
    }
}

/// Contracts of the operations that have kernels for every order.
fn ordered() -> impl Iterator<Item = &'static Contract> {
    const OTHERS: [AccessOrder; 3] = [
        AccessOrder::Backward,
        AccessOrder::Lines,
        AccessOrder::Chunks,
    ];
    let whole = CONTRACTS
        .iter()
        .filter(|c| c.visits == AccessOrder::Forward && c.iteration == BLOCK_BYTES);
    whole.filter(|c| OTHERS.iter().all(|visits| c.in_order(*visits).is_some()))
}

/// Orders, operations and sizes of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Operations: read, write, copy; read-nt, write-nt, copy-nt (non-temporal loads or stores)
    #[arg(long, value_name = "LIST", default_value = "read,write,copy")]
    pub ops: OrderedOperations,

    /// Orders: forward, reverse, strided, random, indexed (forward by the tables of the others:
    /// what those cost)
    #[arg(
        long,
        value_name = "LIST",
        default_value = "forward,reverse,strided,random"
    )]
    pub orders: Orders,

    /// Distances of strided accesses of 64 B, multiples of 64
    #[arg(long, value_name = "LIST", default_value = "256,4KiB,16KiB,2MiB")]
    pub stride: SizeList,

    /// Blocks of random orders: powers of two from 64 to 4KiB
    #[arg(long, value_name = "LIST", default_value = "64,256,4KiB")]
    pub blocks: SizeList,

    /// Working set of each thread, all streams together, rounded down to whole blocks of each
    /// stream [default: one size inside each level, at most 256 MiB]
    #[arg(long, value_name = "LIST", alias = "size")]
    pub sizes: Option<SizeList>,

    /// Threads, one per CPU: 1,2,all or 1..8
    #[arg(long, value_name = "LIST", default_value = "1")]
    pub threads: ThreadList,

    /// Registers: 64, 128, 256, 512 bits, a set (sse2, avx2, neon), widest, best (the fastest here)
    #[arg(long, value_name = "LIST", default_value = "best")]
    pub width: Widths,

    /// Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of
    /// several pools), best (the largest of these that there are)
    #[arg(long, value_name = "LIST", default_value = "thp")]
    pub pages: PageModes,
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "stride",
            applies: |s| s.orders.0.contains(&OrderKind::Strided),
            only: "only the strided order has a distance",
            enabled_by: Some("--orders strided"),
        },
        Effect {
            option: "blocks",
            applies: |s| s.orders.0.contains(&OrderKind::Random),
            only: "only the random order has blocks",
            enabled_by: Some("--orders random"),
        },
    ];
}

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        vec![Box::new(Patterns::new(self))]
    }
}

/// The experiment `patterns`.
#[derive(Debug, Clone)]
pub struct Patterns {
    settings: Settings,
}

/// An order of accesses, with its stride or the size of its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Order {
    kind: OrderKind,
    /// Distance of strided accesses, or size of the blocks that a table lists. 0 for an order
    /// without both.
    bytes: Bytes,
}

impl Order {
    /// The order as text: `strided 4 KiB`.
    fn name(self) -> String {
        match self.kind {
            OrderKind::Forward | OrderKind::Reverse => self.kind.to_string(),
            OrderKind::Strided | OrderKind::Random | OrderKind::Indexed => {
                format!("{} {}", self.kind, self.bytes)
            }
        }
    }

    /// The kind of kernel that this order needs, named by the way in which the kernel visits
    /// memory.
    fn visits(self) -> AccessOrder {
        match self.kind {
            OrderKind::Forward => AccessOrder::Forward,
            OrderKind::Reverse => AccessOrder::Backward,
            OrderKind::Strided => AccessOrder::Lines,
            OrderKind::Random | OrderKind::Indexed if self.bytes.0 < BLOCK_BYTES => {
                AccessOrder::Lines
            }
            OrderKind::Random | OrderKind::Indexed => AccessOrder::Chunks,
        }
    }

    fn table(self, seed: u64) -> Option<TableOrder> {
        match self.kind {
            OrderKind::Forward | OrderKind::Reverse => None,
            OrderKind::Indexed => Some(TableOrder::Forward),
            OrderKind::Strided => Some(TableOrder::Strided(self.bytes)),
            OrderKind::Random => Some(TableOrder::Random(
                self.bytes,
                derive(seed, "pattern", self.bytes.0),
            )),
        }
    }

    /// Reason why a stream of `stream` bytes is too short for this order; `None` if it is not.
    fn too_few(self, stream: u64) -> Option<String> {
        let accesses = stream / self.bytes.0.max(1);
        let few = matches!(self.kind, OrderKind::Strided | OrderKind::Random)
            && accesses < FEWEST_ACCESSES;
        let what = if self.kind == OrderKind::Strided {
            "accesses of a pass"
        } else {
            "blocks"
        };
        few.then(|| {
            format!(
                "{} leaves {accesses} {what} in {}; {FEWEST_ACCESSES} are needed",
                self.name(),
                Bytes(stream)
            )
        })
    }

    /// Reason why a stream of `stream` bytes is too long for an index table; `None` if it is not.
    fn too_long(self, stream: u64) -> Option<String> {
        let by_table = !matches!(self.kind, OrderKind::Forward | OrderKind::Reverse);
        (by_table && stream > LONGEST_ORDERED).then(|| {
            format!(
                "{} goes through at most {} of each stream, not {}",
                self.name(),
                Bytes(LONGEST_ORDERED),
                Bytes(stream)
            )
        })
    }
}

impl Patterns {
    /// The experiment with the settings of its own command.
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// The experiment as part of a profile.
    pub fn in_profile(_detail: Detail) -> Self {
        let sizes = |list: [u64; 3]| SizeList(list.map(Bytes).to_vec());
        Self::new(Settings {
            ops: OrderedOperations(vec![Operation::Read, Operation::Write, Operation::Copy]),
            orders: Orders(vec![
                OrderKind::Forward,
                OrderKind::Reverse,
                OrderKind::Strided,
                OrderKind::Random,
            ]),
            stride: sizes([256, 4 << 10, 2 << 20]),
            blocks: sizes([64, 256, 4 << 10]),
            sizes: None,
            threads: ThreadList(vec![ThreadCount::Exactly(1)]),
            width: Widths(vec![Width::Best]),
            pages: PageModes(vec![PageMode::Transparent]),
        })
    }

    /// Requested orders, each with its stride or block.
    fn orders(&self) -> Result<Vec<Order>> {
        let s = &self.settings;
        let mut orders = Vec::new();
        if let Some(bad) = s
            .stride
            .0
            .iter()
            .find(|b| b.0 == 0 || !b.0.is_multiple_of(LINE_BYTES))
        {
            return Err(Error::usage(format!(
                "stride not possible: {} B; an access is a line of 64 B, so strides are multiples \
                 of 64; type --stride 4KiB",
                bad.0
            )));
        }
        let block = |b: &&Bytes| !b.0.is_power_of_two() || b.0 < LINE_BYTES || b.0 > LARGEST_BLOCK;
        if let Some(bad) = s.blocks.0.iter().find(block) {
            return Err(Error::usage(format!(
                "block not possible: {} B; blocks are powers of two from 64 B to 4 KiB; type \
                 --blocks 64,4KiB",
                bad.0
            )));
        }
        for &kind in &s.orders.0 {
            match kind {
                OrderKind::Forward | OrderKind::Reverse => orders.push(Order {
                    kind,
                    bytes: Bytes(0),
                }),
                OrderKind::Strided => {
                    orders.extend(s.stride.0.iter().map(|&bytes| Order { kind, bytes }))
                }
                OrderKind::Random => {
                    orders.extend(s.blocks.0.iter().map(|&bytes| Order { kind, bytes }))
                }
                OrderKind::Indexed => {
                    orders.extend([LINE_BYTES, BLOCK_BYTES].map(|piece| Order {
                        kind,
                        bytes: Bytes(piece),
                    }));
                }
            }
        }
        Ok(orders)
    }

    /// Working sets to measure: the user's sizes, or one size inside each level. Fails if a size of
    /// the user does not fit into memory.
    fn targets(&self, scope: &Scope<'_>, levels: &Levels, threads: usize) -> Result<Vec<Target>> {
        let Some(sizes) = &self.settings.sizes else {
            let mut targets = levels.targets();
            for target in &mut targets {
                target.size = target.size.min(MAX_IN_MEMORY);
            }
            return Ok(targets);
        };
        refuse_too_large(sizes, threads as u64, scope.usable())?;
        Ok(sizes
            .0
            .iter()
            .map(|&size| Target {
                size,
                level: levels.name(size),
                hidden: None,
            })
            .collect())
    }

    /// Fails if a size is too small for one of the operations. The message proposes a size that
    /// suits all operations.
    fn check_sizes(&self) -> Result<()> {
        let operations = self.settings.ops.0.iter().copied();
        let largest = operations.max_by_key(|operation| operation.contract().streams());
        let smallest = self
            .settings
            .sizes
            .as_ref()
            .and_then(|list| list.0.iter().min());
        largest.zip(smallest).map_or(Ok(()), |(operation, &size)| {
            whole_blocks(operation, size).map(|_| ())
        })
    }

    /// Points of one working set: every operation in every order, width and kind of pages.
    fn draft_size(&self, scope: &Scope<'_>, target: &Target, cpus: &[u32]) -> Result<Vec<Draft>> {
        let mut drafts = Vec::new();
        let orders = self.orders()?;
        for (&requested, &order) in self
            .settings
            .ops
            .0
            .iter()
            .flat_map(|op| orders.iter().map(move |o| (op, o)))
        {
            let Some(operation) = requested
                .contract()
                .in_order(order.visits())
                .map(|c| c.operation)
            else {
                continue;
            };
            let bytes = whole_blocks(operation, target.size)?;
            for &width in &self.settings.width.0 {
                for &pages in &self.settings.pages.0 {
                    let mut work = StreamWork::new(operation, width, pages, cpus, bytes);
                    work.order = order.table(scope.seed);
                    drafts.push(
                        draft_point(scope, work, (requested, order), &target.level)
                            .unless(target.hidden.as_ref()),
                    );
                }
            }
        }
        Ok(drafts)
    }
}

/// Largest working set of `operation`, at most `size`, that has whole blocks in every order. Fails
/// if `size` is too small.
fn whole_blocks(operation: Operation, size: Bytes) -> Result<Bytes> {
    let streams = u64::from(operation.contract().streams());
    let step = streams
        * if size.0 >= streams * LARGEST_BLOCK {
            LARGEST_BLOCK
        } else {
            BLOCK_BYTES
        };
    if size.0 < step {
        return Err(Error::usage(format!(
            "too small a size: {size}; the smallest working set of {operation} is {}; type \
             --sizes {step} or more",
            Bytes(step)
        )));
    }
    Ok(size.round_down(step))
}

fn draft_point(
    scope: &Scope<'_>,
    work: StreamWork,
    (requested, order): (Operation, Order),
    level: &str,
) -> Draft {
    let kernel = scope.machine.kernel(&Work::Stream(work.clone()));
    let kernel_name = kernel
        .as_ref()
        .map_or_else(|_| work.operation.to_string(), |k| k.name.clone());
    let coordinates = coordinates([
        ("operation", name(requested.contract().name)),
        ("order", name(order.name())),
        ("kernel", name(&kernel_name)),
        ("width", name(work.width)),
        ("level", name(level)),
        ("size_bytes", number(work.bytes.0)),
        ("threads", number(work.cpus.len() as u64)),
        ("pages", name(work.pages)),
    ]);
    let memory = Bytes(work.slot().0.saturating_mul(work.cpus.len() as u64));
    let unfit = order
        .too_few(work.stream_bytes())
        .or_else(|| order.too_long(work.stream_bytes()));
    let work = match (kernel, unfit) {
        (Err(reason), _) => Err(Outcome::Unsupported { reason }),
        (_, Some(reason)) => Err(Outcome::Unsupported { reason }),
        _ => match scope.no_room(memory, format_args!("{memory} with tables")) {
            Some(outcome) => Err(outcome),
            None => Ok(Work::Stream(work)),
        },
    };
    Draft {
        coordinates,
        work,
        bound: Bound::Unknown,
        drop_priority: 2,
    }
}

impl Experiment for Patterns {
    fn name(&self) -> &'static str {
        "patterns"
    }

    fn quantity(&self) -> Quantity {
        experiment::bandwidth_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        [
            "level",
            "operation",
            "order",
            "kernel",
            "width",
            "threads",
            "pages",
            "size_bytes",
        ]
        .map(axis)
        .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        self.check_sizes()?;
        let mut drafts = Vec::new();
        for threads in thread_counts(&self.settings.threads, scope)? {
            let cpus = &scope.cpus[..threads];
            let levels = Levels::new(scope.facts(), cpus, scope.last_level());
            for target in self.targets(scope, &levels, threads)? {
                drafts.extend(self.draft_size(scope, &target, cpus)?);
                scope.room_for(drafts.len())?;
            }
        }
        Ok(drafts)
    }

    fn finish(&self, dataset: &mut Dataset) {
        let forward: BTreeMap<Coordinates, f64> = dataset
            .points
            .iter()
            .filter(|p| p.name("order") == Some("forward"))
            .filter_map(|p| Some((place(p), p.outcome.measured()?.summary.median)))
            .collect();
        for point in &mut dataset.points {
            let whole = forward.get(&place(point)).copied();
            if let (Some(whole), Outcome::Measured(measured)) = (whole, &mut point.outcome) {
                measured.also.insert(
                    "share_of_forward".to_owned(),
                    measured.summary.median / whole,
                );
            }
        }
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        ordered()
            .filter_map(|contract| in_memory(dataset, contract.name))
            .collect()
    }
}

/// Coordinates of a point without its order and kernel. Points for which these coordinates are
/// equal differ only in their order.
fn place(point: &Point) -> Coordinates {
    let mut place = point.coordinates.clone();
    for axis in ["order", "kernel"] {
        place.remove(axis);
    }
    place
}

/// Finding about the bandwidth of each order relative to forward order, in the largest working set
/// of `operation`. An order is left out if the intervals show neither a difference nor equality.
fn in_memory(dataset: &Dataset, operation: &str) -> Option<Finding> {
    let usable = |p: &&Point| p.name("operation") == Some(operation) && p.usable().is_some();
    let largest = dataset
        .points
        .iter()
        .filter(usable)
        .max_by_key(|p| p.number("size_bytes"))?;
    let here: Vec<&Point> = dataset
        .points
        .iter()
        .filter(usable)
        .filter(|p| place(p) == place(largest))
        .collect();
    let forward = here
        .iter()
        .copied()
        .find(|p| p.name("order") == Some("forward"))?;
    let others = here
        .iter()
        .copied()
        .filter(|p| p.name("order") != Some("forward"));
    let mut values = BTreeMap::new();
    let mut words = Vec::new();
    let mut points = vec![forward];
    for order in others {
        let Some(difference) = Difference::between(forward, order) else {
            continue;
        };
        let name = order.name("order")?;
        words.push(match difference.shows() {
            ComparisonResult::Nothing => continue,
            ComparisonResult::Same => format!("{name} 100% within 5%"),
            ComparisonResult::Higher | ComparisonResult::Lower => {
                format!("{name} {:.0}%", difference.ratio() * 100.0)
            }
        });
        values.insert(name.replace(' ', "_"), difference.ratio());
        points.push(order);
    }
    let size = Bytes(largest.number("size_bytes")?);
    let text = format!(
        "Order of {operation} in {size} ({}), as a share of sequential bandwidth: {}.",
        largest.name("level")?,
        words.join(", ")
    );
    (!words.is_empty()).then(|| Some(Finding::resting_on(points, "orders", text)?.with(values)))?
}
