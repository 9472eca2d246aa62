//! How many bytes per second do threads read, write and copy?
//!
//! Method, accounting and limits: docs/method/bandwidth.md.

use crate::choices::Choices;
use crate::command::{CommandSettings, Effect, Effects};
use crate::coordinates::name;
use crate::curve::{self, Saturation};
use crate::difference::{Difference, Figure};
use crate::experiment::{self, Detail, Draft, Experiment, Scope, axis};
use crate::hierarchy::{Levels, MEMORY, Target};
use crate::lists::{
    OperationSpec, Operations, PageModes, Widths, fixed_thread_counts, refuse_too_large,
};
use crate::nodes::requested_nodes;
use crate::placement::Placing;
use crate::series::{highest, unique};
use crate::steps::steps;
use crate::streams::{FittedStream, check_sizes, draft_point, fitted, rounded_sizes};
use engine::StreamWork;
use host::memory::{PageMode, Place};
use kernels::{CodeOrigin, Operation, PREFETCH_DISTANCE, Policy, Width};
use report::{Axis, Dataset, Finding, Point, Quantity, REQUESTED_THREADS};
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, CpuList, SizeList, ThreadCount, ThreadList, counted, significant};

/// Operations, sizes, threads and pages of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Operations, as `memgauge list kernels` names them: read, read-nt, write, write-nt, copy,
    /// copy-nt, update, scale, add, triad, touch ...; read-best, write-best, copy-best try every
    /// kernel that answers the same question
    #[arg(long, value_name = "LIST", default_value = "read,write,copy")]
    pub ops: Operations,

    /// Working set of each thread, all streams of the operation together: 32KiB,1MiB or 4KiB..1GiB
    /// or 4KiB..64KiB:4KiB; rounded down to whole blocks of 512 B of each stream, but for read (64
    /// B), write and copy (128 B of each stream) [default: a sweep over the detected hierarchy]
    #[arg(long, value_name = "LIST", alias = "size")]
    pub sizes: Option<SizeList>,

    /// Threads, one per CPU: 1,2,all or 1..8; best finds the fastest number at each point
    #[arg(long, value_name = "LIST", default_value = "1,all")]
    pub threads: ThreadList,

    /// Registers: 64, 128, 256, 512 bits, a set (sse2, avx2, neon), widest, best (the fastest at
    /// each point)
    #[arg(long, value_name = "LIST", default_value = "best")]
    pub width: Widths,

    /// Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of
    /// several pools), best (the largest of these that there are)
    #[arg(long, value_name = "LIST", default_value = "thp")]
    pub pages: PageModes,

    /// How far ahead operations that prefetch do so: 512,2KiB
    #[arg(long, value_name = "LIST", default_value = "2KiB")]
    pub prefetch_distance: SizeList,

    /// NUMA nodes of all memory, one after another [default: that of each thread]
    #[arg(long, value_name = "LIST", aliases = ["node", "nodes"])]
    pub memory_nodes: Option<CpuList>,
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "prefetch-distance",
        applies: |s| {
            s.ops
                .0
                .iter()
                .any(|requested| requested.operation().contract().prefetches)
        },
        only: "only operations that prefetch use it",
        enabled_by: Some("--ops read-prefetch"),
    }];
}

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        vec![Box::new(Bandwidth::new(self))]
    }
}

/// To find the best number of threads, at most this many candidates are tried.
const MAX_CANDIDATES: usize = 12;

/// The experiment `bandwidth`.
#[derive(Debug, Clone)]
pub struct Bandwidth {
    settings: Settings,
    detail: Detail,
    /// True if the user chose the points. Then no point is left out.
    chosen: bool,
}

/// True for a variant of a plain operation. The stores of a variant are non-temporal or for whole
/// cache lines, or its code is that of the C library.
fn is_variant(operation: Operation) -> bool {
    let contract = operation.contract();
    contract.policy != Policy::Temporal || contract.origin != CodeOrigin::Own
}

impl Bandwidth {
    /// The experiment with the settings of its own command.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            detail: Detail::Sweep,
            chosen: true,
        }
    }

    /// The experiment as part of a profile. `detail` decides which operations and sizes are
    /// measured.
    pub fn in_profile(detail: Detail) -> Self {
        use Operation::{
            Copy, CopyDirect, CopyLibc, CopyNt, Read, Write, WriteLibc, WriteNt, WriteRep,
            WriteZero,
        };
        let ops = match detail {
            Detail::Brief => vec![Read, Write, Copy],
            Detail::Levels => vec![
                Read, Write, Copy, WriteNt, CopyNt, CopyDirect, WriteLibc, CopyLibc, WriteRep,
                WriteZero,
            ],
            Detail::Sweep => vec![Read, Write, Copy, WriteNt, CopyNt],
        };
        let settings = Settings {
            ops: Operations(ops.into_iter().map(OperationSpec::Exactly).collect()),
            prefetch_distance: SizeList(vec![Bytes(PREFETCH_DISTANCE)]),
            sizes: None,
            threads: ThreadList(vec![ThreadCount::Exactly(1), ThreadCount::All]),
            width: Widths(vec![Width::Best]),
            pages: PageModes(vec![PageMode::Transparent]),
            memory_nodes: None,
        };
        Self {
            settings,
            detail,
            chosen: false,
        }
    }

    /// The experiment of a profile, with the user's `choices` in place of the profile's settings.
    pub fn chosen(detail: Detail, choices: &Choices) -> Self {
        let Self {
            settings: usual, ..
        } = Self::in_profile(detail);
        let settings = Settings {
            ops: choices.operations().unwrap_or(usual.ops),
            sizes: choices.sizes.clone(),
            threads: choices.threads.clone().unwrap_or(usual.threads),
            width: choices.width.clone().unwrap_or(usual.width),
            pages: choices.pages.clone().unwrap_or(usual.pages),
            prefetch_distance: usual.prefetch_distance,
            memory_nodes: choices.memory_nodes.clone(),
        };
        Self {
            settings,
            detail,
            chosen: true,
        }
    }

    /// Working sets to measure. These are the user's sizes, a sweep over sizes, or one size inside
    /// each level of the hierarchy. Fails if a size of the user does not fit into memory.
    fn targets(&self, scope: &Scope<'_>, levels: &Levels, threads: usize) -> Result<Vec<Target>> {
        let named = |&size: &Bytes| Target {
            size,
            level: levels.name(size),
            hidden: None,
        };
        if let Some(sizes) = &self.settings.sizes {
            refuse_too_large(sizes, threads as u64, scope.usable())?;
            return Ok(sizes.0.iter().map(named).collect());
        }
        Ok(match self.detail {
            Detail::Sweep => levels.sweep(levels.memory).iter().map(named).collect(),
            Detail::Brief | Detail::Levels => levels.targets(),
        })
    }

    /// True if `operation` is measured at `level`. A profile with [`Detail::Levels`] measures
    /// variants of an operation ([`is_variant`]) in memory only.
    fn wanted(&self, operation: Operation, level: &str) -> bool {
        self.chosen || self.detail != Detail::Levels || !is_variant(operation) || level == MEMORY
    }

    /// Adds the points with `threads` threads to `drafts`. If `best` is true, each point finds its
    /// best number of threads, which is at most `threads`.
    fn draft_threads(
        &self,
        scope: &Scope<'_>,
        threads: usize,
        best: bool,
        drafts: &mut Vec<Draft>,
    ) -> Result<()> {
        let cpus = &scope.cpus[..threads];
        let levels = Levels::new(scope.facts(), cpus, scope.last_level());
        for target in self.targets(scope, &levels, threads)? {
            for &requested in &self.settings.ops.0 {
                let fitted = fitted(requested, target.size)?;
                let bytes = fitted.bytes;
                // Rounding down to whole blocks may move a working set into another level.
                let level = if target.hidden.is_some() {
                    target.level.clone()
                } else {
                    levels.name(bytes)
                };
                if !self.wanted(requested.operation(), &level) {
                    continue;
                }
                let counts = if best {
                    self.race(scope, requested, bytes, &level)?
                } else {
                    Vec::new()
                };
                for mut work in self.works(requested, cpus, fitted) {
                    scope.room_for(drafts.len() + 1)?;
                    // Finding the best number of threads needs at least two candidates.
                    work.counts = if counts.len() > 1 {
                        counts.clone()
                    } else {
                        Vec::new()
                    };
                    let mut draft =
                        draft_point(scope, work, requested, &level).unless(target.hidden.as_ref());
                    if best {
                        draft
                            .coordinates
                            .insert(REQUESTED_THREADS.to_owned(), name("best"));
                    }
                    // Only few instruction sets have special stores of whole lines. A profile
                    // leaves out points with such stores if they cannot be measured.
                    let is_special = requested.operation().contract().policy.stores_whole_lines();
                    if self.chosen || draft.work.is_ok() || !is_special {
                        drafts.push(draft);
                    }
                }
            }
        }
        Ok(())
    }

    /// Candidates for the best number of threads, each with the working set of one thread. A
    /// candidate is left out if `level` does not serve its working set. In memory, all candidates
    /// have the same total working set, unless the user names sizes.
    fn race(
        &self,
        scope: &Scope<'_>,
        requested: OperationSpec,
        bytes: Bytes,
        level: &str,
    ) -> Result<Vec<(usize, Bytes)>> {
        let mut counts = Vec::new();
        for count in Placing::new(&scope.facts().topology, scope.cpus).few_counts(MAX_CANDIDATES) {
            let levels = Levels::new(scope.facts(), &scope.cpus[..count], scope.last_level());
            let grows = self.settings.sizes.is_none() && level == MEMORY;
            let bytes = if grows {
                fitted(requested, levels.memory)?.bytes
            } else {
                bytes
            };
            if levels.name(bytes) == level || count == scope.cpus.len() {
                counts.push((count, bytes));
            }
        }
        Ok(counts)
    }

    /// Works for one operation, size and number of threads: every combination of width, pages,
    /// prefetch distance and memory node.
    fn works(
        &self,
        requested: OperationSpec,
        cpus: &[u32],
        fitted: FittedStream,
    ) -> Vec<StreamWork> {
        let s = &self.settings;
        let prefetches = fitted.operation.contract().prefetches;
        let distances = if prefetches {
            s.prefetch_distance.0.clone()
        } else {
            vec![Bytes(PREFETCH_DISTANCE)]
        };
        let places: Vec<Option<Place>> = match &s.memory_nodes {
            None => vec![None],
            Some(nodes) => nodes
                .0
                .iter()
                .map(|&node| Some(Place::Node(node)))
                .collect(),
        };
        let any_of_family = matches!(requested, OperationSpec::BestOf(_));
        let mut works = Vec::new();
        for &width in &s.width.0 {
            for (&pages, &distance) in s
                .pages
                .0
                .iter()
                .flat_map(|p| distances.iter().map(move |d| (p, d)))
            {
                let plain = StreamWork {
                    any_of_family,
                    distance,
                    ..StreamWork::new(fitted.operation, width, pages, cpus, fitted.bytes)
                };
                works.extend(places.iter().cloned().map(|place| StreamWork {
                    place,
                    ..plain.clone()
                }));
            }
        }
        works
    }
}

impl Experiment for Bandwidth {
    fn name(&self) -> &'static str {
        "bandwidth"
    }

    fn quantity(&self) -> Quantity {
        experiment::bandwidth_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        let names = ["operation", "kernel", "width", "level", "threads", "pages"];
        let node = self.settings.memory_nodes.as_ref().map(|_| "node");
        names
            .into_iter()
            .chain(node)
            .chain(["size_bytes", "prefetch_bytes"])
            .map(axis)
            .collect()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        requested_nodes(self.settings.memory_nodes.as_ref(), scope)?;
        check_sizes(
            self.settings.sizes.as_ref().map_or(&[], |sizes| &sizes.0),
            &self.settings.ops,
        )?;
        let mut drafts = Vec::new();
        for threads in fixed_thread_counts(&self.settings.threads, scope.cpus)? {
            self.draft_threads(scope, threads, false, &mut drafts)?;
        }
        if self.settings.threads.0.contains(&ThreadCount::Best) {
            self.draft_threads(scope, scope.cpus.len(), true, &mut drafts)?;
        }
        Ok(drafts)
    }

    fn adjustments(&self, _scope: &Scope<'_>) -> Vec<String> {
        rounded_sizes(self.settings.sizes.as_ref(), &self.settings.ops)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let width = dataset.points.first().and_then(|p| p.name("width"));
        let curve = |p: &Point| {
            p.name("operation") == Some("read")
                && p.number("threads") == Some(1)
                && p.name("width") == width
        };
        let steps = steps(dataset, "Read bandwidth of one thread", curve);
        [
            saturation(dataset).or_else(|| scaling(dataset)),
            whole_lines(dataset),
            non_temporal(dataset),
            steps,
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The usable point of `operation` and `threads` in memory that has the largest working set. `None`
/// without such a point.
fn in_memory<'a>(dataset: &'a Dataset, operation: &str, threads: u64) -> Option<&'a Point> {
    let matches = |p: &&Point| {
        p.name("level") == Some(MEMORY)
            && p.name("operation") == Some(operation)
            && p.number("threads") == Some(threads)
            && p.usable().is_some()
    };
    dataset
        .points
        .iter()
        .filter(matches)
        .max_by_key(|p| p.number("size_bytes"))
}

/// Finding about the fewest threads that reach 95% of the highest bandwidth of memory, for each
/// operation. Operations with fewer than three measured numbers of threads are left out.
fn saturation(dataset: &Dataset) -> Option<Finding> {
    let operations: Vec<&str> = unique(dataset.points.iter().filter_map(|p| p.name("operation")));
    let most = highest(dataset, "threads")?;
    let mut words = Vec::new();
    let mut values = BTreeMap::new();
    let mut points = Vec::new();
    for operation in operations {
        let Some(found) = fewest_threads(dataset, operation) else {
            continue;
        };
        let count = found.count();
        let best = found.best / 1e9;
        words.push(match words.is_empty() {
            true => format!(
                "{count} of {most} threads {} 95% of the highest {operation} bandwidth of memory, \
                 {best:.1} GB/s",
                found.reach()
            ),
            false => format!("for {operation} {count} ({best:.1} GB/s)"),
        });
        values.insert(format!("{operation}_threads"), found.at_most as f64);
        values.insert(
            format!("{operation}_threads_at_least"),
            found.at_least as f64,
        );
        values.insert(format!("{operation}_best"), found.best);
        points.extend(found.points);
    }
    let text = format!("{}.", words.join(", "));
    Some(Finding::resting_on(points, "memory-saturation", text)?.with(values))
}

/// The fewest threads that reach 95% of the highest bandwidth of memory with `operation`. `None`
/// for fewer than three measured numbers of threads, or if the confidence intervals allow every
/// number.
fn fewest_threads<'a>(dataset: &'a Dataset, operation: &str) -> Option<Saturation<'a>> {
    let mut counts = unique(dataset.points.iter().filter_map(|p| p.number("threads")));
    counts.sort_unstable();
    let figure = |count: u64| Some((count, Figure::new(in_memory(dataset, operation, count)?)?));
    let measured: Vec<(u64, Figure<'a>)> = counts.into_iter().filter_map(figure).collect();
    curve::saturation(&measured).filter(|_| measured.len() > 2)
}

/// Finding that compares the read bandwidth of memory with the most threads to that with one
/// thread. `None` if the intervals show no difference.
fn scaling(dataset: &Dataset) -> Option<Finding> {
    let most = highest(dataset, "threads").filter(|&n| n > 1)?;
    let difference = Difference::shown(
        in_memory(dataset, "read", 1)?,
        in_memory(dataset, "read", most)?,
    )?;
    let one = difference.from.value;
    let all = difference.to.value;
    let text = format!(
        "{most} threads read memory {} times as fast as one: {:.1} GB/s against {:.1}.",
        significant(difference.ratio()),
        all / 1e9,
        one / 1e9
    );
    difference.finding("memory-scaling", text, &[("one", one), ("all", all)])
}

/// A way to write memory that uses neither ordinary nor non-temporal stores.
struct WholeLines {
    operation: &'static str,
    /// The verb in the finding, after `4 threads` and after `1 thread`.
    verbs: [&'static str; 2],
    means: &'static str,
}

const WHOLE_LINES: [WholeLines; 3] = [
    WholeLines {
        operation: "write-zero",
        verbs: ["zero", "zeroes"],
        means: "an instruction for whole cache lines",
    },
    WholeLines {
        operation: "write-rep",
        verbs: ["fill", "fills"],
        means: "rep stosb",
    },
    WholeLines {
        operation: "write-libc",
        verbs: ["fill", "fills"],
        means: "memset of the C library",
    },
];

/// Finding about the fastest of [`WHOLE_LINES`], compared with ordinary stores, with the largest
/// measured number of threads. `None` if no way in [`WHOLE_LINES`] is faster.
fn whole_lines(dataset: &Dataset) -> Option<Finding> {
    let threads = highest(dataset, "threads")?;
    let ordinary = in_memory(dataset, "write", threads)?;
    let gains = WHOLE_LINES.iter().filter_map(|way| {
        let point = in_memory(dataset, way.operation, threads)?;
        let difference = Difference::shown(ordinary, point)?;
        (difference.ratio() > 1.0).then_some((difference, way))
    });
    let (difference, way) = gains.max_by(|a, b| a.0.ratio().total_cmp(&b.0.ratio()))?;
    let plain = difference.from.value;
    let whole = difference.to.value;
    let text = format!(
        "{} {} memory with {} {} times as fast as ordinary stores write it: {:.1} GB/s against \
         {:.1}.",
        counted(threads, "thread"),
        way.verbs[usize::from(threads == 1)],
        way.means,
        significant(difference.ratio()),
        whole / 1e9,
        plain / 1e9
    );
    let values = [("ordinary", plain), ("whole_lines", whole)];
    difference.finding("whole-line-stores", text, &values)
}

/// Finding that compares non-temporal stores with ordinary stores, by one thread to memory. `None`
/// if the intervals show no difference.
fn non_temporal(dataset: &Dataset) -> Option<Finding> {
    let difference = Difference::shown(
        in_memory(dataset, "write", 1)?,
        in_memory(dataset, "write-nt", 1)?,
    )?;
    let ordinary = difference.from.value;
    let past = difference.to.value;
    let text = format!(
        "Non-temporal stores write memory {} times as fast: {:.1} GB/s against {:.1}.",
        significant(difference.ratio()),
        past / 1e9,
        ordinary / 1e9
    );
    difference.finding(
        "non-temporal-stores",
        text,
        &[("ordinary", ordinary), ("non_temporal", past)],
    )
}
