//! How long does a load take whose address is the result of the load before?
//!
//! Method and limits: docs/method/latency.md.

use crate::chains::{chain_seed, line_of, named, packed_window, shapes};
use crate::choices::Choices;
use crate::command::{CommandSettings, Effect, Effects};
use crate::coordinates::{coordinates, name, number};
use crate::cpus::chosen_cpus;
use crate::difference::{ComparisonResult, Difference, Figure};
use crate::experiment::{self, Bound, Detail, Draft, Experiment, Scope, axis};
use crate::hierarchy::{Levels, MEMORY, Target};
use crate::lists::{
    ChainMode, ChainModes, Count, Counts, PageModes, Region, Regions, for_each_thread,
    refuse_too_large, thread_counts_on,
};
use crate::nodes::requested_nodes;
use crate::steps::rises;
use crate::windows::{self, WindowSettings};
use engine::{ChainShape, ChaseWork, Windows, Work};
use host::memory::PageMode;
use kernels::{MAX_WALKERS, chase_name, hops_per_block};
use report::{Axis, Dataset, Finding, Outcome, Point, Quantity};
use units::error::{Error, Result};
use units::{Bytes, CpuList, Nanos, SizeList, ThreadCount, ThreadList, significant};
use verdict::reject_below_faster;

/// Sizes, orders, CPUs and chains of the experiment.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Settings {
    /// Memory that the chain spans, rounded down to whole strides: 32KiB,1MiB or 4KiB..1GiB
    /// [default: a sweep over the detected hierarchy]
    #[arg(long, value_name = "LIST", alias = "size")]
    pub sizes: Option<SizeList>,

    /// Distance between neighbouring nodes in memory, multiples of 8 [default: the cache line]
    #[arg(long, value_name = "LIST")]
    pub stride: Option<SizeList>,

    /// Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of
    /// several pools), best (the largest of these that there are)
    #[arg(long, value_name = "LIST", default_value = "thp")]
    pub pages: PageModes,

    /// Orders of the chain: global-random, random-box, same-random-in-box, diff-random-in-box,
    /// sequential
    #[arg(long, value_name = "LIST", default_value = "global-random")]
    pub chain_mode: ChainModes,

    /// Windows of the orders that finish one before they go on to the next (...-box): multiples of
    /// the stride [default: 1MiB]
    #[arg(long, value_name = "LIST")]
    pub locality: Option<SizeList>,

    /// Chains followed at once by one thread, 1,2,4 or 1..32: how many misses a core keeps in
    /// flight
    #[arg(long, value_name = "LIST", default_value = "1")]
    pub chains: Counts,

    /// Load the word behind each pointer too, which no later load waits for
    #[arg(long)]
    pub payload: bool,

    /// Short windows in addition to the headline.
    #[command(flatten)]
    pub windows: WindowSettings,

    /// Threads that follow pointers at the same time, one per CPU: 1,2,all or 1..8
    #[arg(long, value_name = "LIST", default_value = "1")]
    pub threads: ThreadList,

    /// Chains of several threads: private (one for each), shared (one for all of them)
    #[arg(long, value_name = "LIST", default_value = "private")]
    pub region: Regions,

    /// The same as --region shared
    #[arg(long, conflicts_with = "region")]
    pub shared: bool,

    /// CPUs that walk, one after another, or those of --threads [default: the first that is
    /// allowed, or all]
    #[arg(long, value_name = "LIST", alias = "cpu")]
    pub cpus: Option<CpuList>,

    /// NUMA nodes of the memory, one after another [default: that of the CPU]
    #[arg(long, value_name = "LIST", aliases = ["node", "nodes"])]
    pub memory_nodes: Option<CpuList>,
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "locality",
            applies: |s| s.chain_mode.0.iter().any(|mode| mode.has_windows()),
            only: "only random-box, same-random-in-box and diff-random-in-box have such a window",
            enabled_by: Some("--chain-mode random-box"),
        },
        Effect {
            option: "window",
            applies: |s| s.windows.windows.is_some(),
            only: windows::HAVE_A_LENGTH,
            enabled_by: Some(windows::WINDOWS_EXAMPLE),
        },
        Effect {
            option: "region",
            applies: Self::may_have_several_threads,
            only: "only several threads have private or shared chains",
            enabled_by: Some("--threads all"),
        },
        Effect {
            option: "shared",
            applies: Self::may_have_several_threads,
            only: "only several threads share a chain",
            enabled_by: Some("--threads all"),
        },
    ];
}

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        vec![Box::new(Latency::new(self))]
    }
}

impl Settings {
    /// True if the user requests more than one thread, or all threads.
    fn may_have_several_threads(&self) -> bool {
        self.threads
            .0
            .iter()
            .any(|count| *count != ThreadCount::Exactly(1))
    }
}

/// The experiment `latency`.
#[derive(Debug, Clone)]
pub struct Latency {
    settings: Settings,
    detail: Detail,
    /// Largest working set in packed order, which visits all lines of a few pages before the next
    /// pages. `None` if packed order is not measured.
    packed: Option<Bytes>,
    /// True if the user chose the points. Then no point is left out.
    chosen: bool,
}

/// Largest working set in packed order in the default profile, because building a longer chain
/// takes much time.
const MAX_PACKED: Bytes = Bytes(1 << 30);

/// Threads that follow chains at the same time.
#[derive(Debug, Clone)]
struct Walkers {
    cpus: Vec<u32>,
    /// True if all threads follow one chain.
    shared: bool,
    /// Value of the axis `region`; `None` if no point has several threads.
    region: Option<Region>,
}

/// A working set, the distance between its nodes, and the size of the CPU's cache lines.
#[derive(Debug, Clone, Copy)]
struct Extent<'a> {
    target: &'a Target,
    stride: Bytes,
    line: Bytes,
}

/// Approximate latency of a load from memory, to estimate the time of a loop iteration in advance.
const IN_MEMORY: Nanos = Nanos(100.0);
/// Approximate latency of a load from the last-level cache.
const IN_LAST_CACHE: Nanos = Nanos(20.0);
/// Approximate latency of a load from a core's own caches.
const IN_CORE: Nanos = Nanos(4.0);

/// The user gets a remark if a window may differ from the requested length by more than this share
/// of the length.
const DIFFERS: f64 = 0.03;

impl Latency {
    /// The experiment with the settings of its own command.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            detail: Detail::Sweep,
            packed: None,
            chosen: true,
        }
    }

    /// The experiment as part of a profile. `detail` decides which sizes, pages and orders are
    /// measured.
    pub fn in_profile(detail: Detail) -> Self {
        let pages = match detail {
            Detail::Brief => vec![PageMode::Transparent],
            Detail::Levels | Detail::Sweep => vec![PageMode::Transparent, PageMode::Base],
        };
        let packed = match detail {
            Detail::Brief => None,
            Detail::Levels => Some(MAX_PACKED),
            Detail::Sweep => Some(Bytes(u64::MAX)),
        };
        let settings = Settings {
            sizes: None,
            stride: None,
            pages: PageModes(pages),
            chain_mode: ChainModes(vec![ChainMode::GlobalRandom]),
            locality: None,
            chains: Counts(vec![Count(1)]),
            payload: false,
            windows: WindowSettings::none(),
            threads: ThreadList(vec![ThreadCount::Exactly(1)]),
            region: Regions(vec![Region::Private]),
            shared: false,
            cpus: None,
            memory_nodes: None,
        };
        Self {
            settings,
            detail,
            packed,
            chosen: false,
        }
    }

    /// The experiment of a profile, with the user's `choices` in place of the profile's settings.
    pub fn chosen(detail: Detail, choices: &Choices) -> Self {
        let Self {
            settings: usual, ..
        } = Self::in_profile(detail);
        let settings = Settings {
            sizes: choices.sizes.clone(),
            pages: choices
                .pages
                .clone()
                .unwrap_or(PageModes(vec![PageMode::Transparent])),
            memory_nodes: choices.memory_nodes.clone(),
            ..usual
        };
        Self {
            settings,
            detail,
            packed: None,
            chosen: true,
        }
    }

    /// Groups of threads to measure, in the order in which tables show them.
    fn walkers(&self, scope: &Scope<'_>) -> Result<Vec<Walkers>> {
        let requested = self.settings.cpus.as_ref();
        if !self.settings.may_have_several_threads() {
            let alone = |cpu| Walkers {
                cpus: vec![cpu],
                shared: false,
                region: None,
            };
            return Ok(chosen_cpus(requested, "--cpus", scope)?
                .into_iter()
                .map(alone)
                .collect());
        }
        let chosen = requested
            .map(|_| chosen_cpus(requested, "--cpus", scope))
            .transpose()?;
        let cpus = chosen.as_deref().unwrap_or(scope.cpus);
        let counts = thread_counts_on(&self.settings.threads, cpus)?;
        let regions = if self.settings.shared {
            vec![Region::Shared]
        } else {
            self.settings.region.0.clone()
        };
        let walkers = |region: &Region, count: usize| Walkers {
            cpus: cpus[..count].to_vec(),
            shared: *region == Region::Shared && count > 1,
            region: Some(*region),
        };
        Ok(regions
            .iter()
            .flat_map(|region| counts.iter().map(move |&count| walkers(region, count)))
            .collect())
    }

    /// Working sets to measure. These are the user's sizes, a sweep over sizes, or one size inside
    /// each level of the hierarchy. Fails if a size of the user does not fit into memory.
    fn targets(
        &self,
        scope: &Scope<'_>,
        levels: &Levels,
        walkers: &Walkers,
    ) -> Result<Vec<Target>> {
        let named = |&size: &Bytes| Target {
            size,
            level: levels.name(size),
            hidden: None,
        };
        let Some(sizes) = &self.settings.sizes else {
            return Ok(match self.detail {
                Detail::Sweep => levels.sweep(levels.memory).iter().map(named).collect(),
                Detail::Brief | Detail::Levels => levels.targets(),
            });
        };
        let chains = if walkers.shared {
            1
        } else {
            walkers.cpus.len() as u64
        };
        refuse_too_large(sizes, chains, scope.usable())?;
        Ok(sizes.0.iter().map(named).collect())
    }

    fn strides(&self, line: Bytes) -> Result<Vec<Bytes>> {
        let strides = self
            .settings
            .stride
            .as_ref()
            .map_or_else(|| vec![line], |s| s.0.clone());
        match strides.iter().find(|s| s.0 == 0 || !s.0.is_multiple_of(8)) {
            Some(bad) => Err(Error::usage(format!(
                "stride not possible: {} B; a node is a pointer of 8 B, so strides are multiples \
                 of 8; type --stride 64",
                bad.0
            ))),
            None => Ok(strides),
        }
    }

    /// Points for one group of threads, size and stride: one point for each kind of pages, order,
    /// memory node and number of chains.
    fn draft_size(
        &self,
        scope: &Scope<'_>,
        levels: &Levels,
        threads: &Walkers,
        extent: Extent<'_>,
    ) -> Result<Vec<Draft>> {
        let Extent {
            target,
            stride,
            line,
        } = extent;
        let size = target.size;
        if size < stride {
            // The proposed size must be large enough for the other strides too.
            let largest = self.strides(line)?.into_iter().fold(stride, Bytes::max);
            return Err(Error::usage(format!(
                "too small a size: {size}; a chain needs room for one node of {stride}; type \
                 --sizes {} or more",
                largest.0
            )));
        }
        let hidden = target.hidden.as_ref();
        let level = hidden.map_or_else(
            || levels.name(footprint(size, stride, line)),
            |_| target.level.clone(),
        );
        let seed = chain_seed(scope, size, stride);
        let bytes = size.round_down(stride.0);
        let payload = self.settings.payload;
        let nodes = requested_nodes(self.settings.memory_nodes.as_ref(), scope)?;
        let work = |pages, shape, walkers, node| ChaseWork {
            pages,
            cpus: threads.cpus.clone(),
            shared: threads.shared,
            node,
            bytes,
            stride,
            shape,
            seed,
            walkers,
            payload,
        };
        let shapes = shapes(
            &self.settings.chain_mode,
            self.settings.locality.as_ref(),
            stride,
        )?;
        let chains = self.chains(stride)?;
        let mut works = Vec::new();
        for &pages in self
            .settings
            .pages
            .0
            .iter()
            .filter(|&&pages| self.wanted(pages, &level))
        {
            for (&shape, &node) in shapes
                .iter()
                .flat_map(|shape| nodes.iter().map(move |node| (shape, node)))
            {
                works.extend(
                    chains
                        .iter()
                        .map(|&walkers| work(pages, shape, walkers, node)),
                );
            }
        }
        if level == MEMORY && size == levels.memory && self.packed.is_some_and(|most| size <= most)
        {
            let window = packed_window(scope.facts().pages.base).round_up(stride.0);
            works.push(work(PageMode::Base, ChainShape::RandomBox(window), 1, None));
        }
        Ok(works
            .into_iter()
            .map(|work| draft_point(scope, work, &level, threads.region).unless(hidden))
            .collect())
    }

    /// Calls `see` with the working set, the stride and the threads of each point.
    fn extents(
        &self,
        scope: &Scope<'_>,
        mut see: impl FnMut(&Levels, &Walkers, Extent<'_>) -> Result<()>,
    ) -> Result<()> {
        for threads in self.walkers(scope)? {
            let sharing = if threads.shared {
                &threads.cpus[..1]
            } else {
                &threads.cpus[..]
            };
            let levels = Levels::new(scope.facts(), sharing, scope.last_level());
            let line = line_of(scope, threads.cpus[0]);
            for target in self.targets(scope, &levels, &threads)? {
                for stride in self.strides(line)? {
                    see(
                        &levels,
                        &threads,
                        Extent {
                            target: &target,
                            stride,
                            line,
                        },
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Remark that windows may differ from the requested length, because a window is a whole number
    /// of loop iterations. `None` without windows, or if the requested length is long enough.
    fn coarse_windows(&self, scope: &Scope<'_>) -> Option<String> {
        let requested = self.settings.windows.requested()?.length;
        let chains = self.settings.chains.0.iter().map(|count| count.0.max(1));
        let each = chains
            .map(|count| hops_per_block(count as usize) / u64::from(count))
            .max()?;
        let mut farthest = (IN_CORE, "a core's own caches");
        let seen = self.extents(scope, |levels, _, extent| {
            let lines = footprint(extent.target.size, extent.stride, extent.line);
            let here = match levels.name(lines).as_str() {
                "L1" | "L2" => (IN_CORE, "a core's own caches"),
                _ if lines > scope.last_level() => (IN_MEMORY, "memory"),
                _ => (IN_LAST_CACHE, "the last cache"),
            };
            if here.0 > farthest.0 {
                farthest = here;
            }
            Ok(())
        });
        let iteration = farthest.0 * each as f64;
        // The nearest whole number of iterations differs by at most half an iteration.
        let enough = Nanos((iteration.0 / 2.0 / DIFFERS / 1e4).ceil() * 1e4);
        (seen.is_ok() && requested < enough).then(|| {
            format!(
                "Windows may last longer or shorter than {requested}: they are whole loop iterations of {each} \
                 loads, about {iteration} in {}; --window {}us is met within 3%",
                farthest.1,
                enough.0 / 1e3
            )
        })
    }

    /// Numbers of chains that one thread follows at once. Fails if a number is not possible.
    fn chains(&self, stride: Bytes) -> Result<Vec<u32>> {
        let counts: Vec<u32> = self.settings.chains.0.iter().map(|count| count.0).collect();
        if let Some(bad) = counts
            .iter()
            .find(|&&count| count == 0 || count as usize > MAX_WALKERS)
        {
            return Err(Error::usage(format!(
                "chains not possible: {bad}; one thread follows 1 to {MAX_WALKERS} at once; type \
                 --chains 1,{MAX_WALKERS}"
            )));
        }
        if self.settings.payload && stride.0 < 16 {
            return Err(Error::usage(format!(
                "no room for a payload: nodes of {stride}; a pointer and a payload take 16 B; \
                 type --stride 64"
            )));
        }
        Ok(counts)
    }

    /// True if `level` is measured in `pages`. A profile with [`Detail::Levels`] measures base
    /// pages in memory only.
    fn wanted(&self, pages: PageMode, level: &str) -> bool {
        self.chosen || self.detail != Detail::Levels || pages != PageMode::Base || level == MEMORY
    }
}

/// Bytes of cache that a chain of `size` takes with nodes `stride` apart: one line for each node.
fn footprint(size: Bytes, stride: Bytes, line: Bytes) -> Bytes {
    Bytes(size.0 / stride.0.max(line.0) * line.0)
}

fn draft_point(scope: &Scope<'_>, work: ChaseWork, level: &str, region: Option<Region>) -> Draft {
    let (mode, window) = named(work.shape);
    let mut coordinates = coordinates([
        ("operation", name("chase")),
        (
            "kernel",
            name(chase_name(work.walkers as usize, work.payload)),
        ),
        ("chains", number(work.walkers)),
        ("level", name(level)),
        ("size_bytes", number(work.bytes.0)),
        ("stride_bytes", number(work.stride.0)),
        ("threads", number(work.threads())),
        ("pages", name(work.pages)),
        ("chain_mode", name(mode)),
    ]);
    if work.threads() == 1 {
        coordinates.insert("cpu".to_owned(), number(work.cpu()));
    }
    coordinates.extend(region.map(|region| ("region".to_owned(), name(region))));
    coordinates.extend(work.node.map(|node| ("node".to_owned(), number(node))));
    coordinates.extend(window.map(|window| ("window_bytes".to_owned(), number(window.0))));
    let drop_priority = match mode {
        ChainMode::GlobalRandom
            if level != "between" && work.pages != PageMode::Base && work.threads() == 1 =>
        {
            0
        }
        ChainMode::GlobalRandom => 1,
        _ => 2,
    };
    let chains = work.chains().len() as u64;
    let each = for_each_thread(chains);
    let needed = Bytes(work.slot().0.saturating_mul(chains));
    let no_room = scope.no_room(needed, format_args!("{}{each}", work.bytes));
    let walkers = u64::from(work.walkers) * if work.shared { work.threads() } else { 1 };
    let crowded = work.nodes() < walkers;
    let few = crowded.then(|| Outcome::Unsupported {
        reason: format!(
            "{walkers} chains at once need as many nodes; {} has {}",
            work.bytes,
            work.nodes()
        ),
    });
    let work = scope
        .runnable(Work::Chase(work))
        .and_then(|work| no_room.or(few).map_or(Ok(work), Err));
    Draft {
        coordinates,
        work,
        bound: Bound::Unknown,
        drop_priority,
    }
}

impl Experiment for Latency {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn quantity(&self) -> Quantity {
        experiment::latency_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        let names = ["operation", "chains", "kernel", "level", "threads"].into_iter();
        let region = self.settings.may_have_several_threads().then_some("region");
        let names = names.chain(region).chain(["cpu", "pages", "chain_mode"]);
        let node = self.settings.memory_nodes.as_ref().map(|_| "node");
        let windows = self.packed.is_some()
            || self
                .settings
                .chain_mode
                .0
                .iter()
                .any(|mode| mode.has_windows());
        let sizes = ["size_bytes", "stride_bytes"]
            .into_iter()
            .chain(windows.then_some("window_bytes"));
        names.chain(node).chain(sizes).map(axis).collect()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        self.settings.windows.check()?;
        let mut drafts = Vec::new();
        self.extents(scope, |levels, threads, extent| {
            drafts.extend(self.draft_size(scope, levels, threads, extent)?);
            scope.room_for(drafts.len())
        })?;
        Ok(drafts)
    }

    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String> {
        let first = scope.cpus.first().copied().unwrap_or(0);
        let strides = self.strides(line_of(scope, first)).unwrap_or_default();
        let requested = self.settings.sizes.iter().flat_map(|list| &list.0);
        let pairs = requested.flat_map(|&size| strides.iter().map(move |&stride| (size, stride)));
        let differ = pairs.filter(|(size, stride)| !size.0.is_multiple_of(stride.0));
        let tell = |(size, stride): (Bytes, Bytes)| {
            let used = size.round_down(stride.0);
            format!(
                "{} B were rounded down to {} B: whole nodes of {} B only",
                size.0, used.0, stride.0
            )
        };
        differ.map(tell).chain(self.coarse_windows(scope)).collect()
    }

    fn windows(&self) -> Option<Windows> {
        self.settings.windows.requested()
    }

    fn derived(&self, dataset: &Dataset) -> Option<Dataset> {
        windows::distribution(dataset)
    }

    fn finish(&self, dataset: &mut Dataset) {
        reject_below_faster(dataset);
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let axes = [
            "cpu",
            "threads",
            "region",
            "node",
            "pages",
            "stride_bytes",
            "chains",
            "chain_mode",
            "window_bytes",
        ];
        let place = |p: &Point| axes.map(|axis| p.coordinates.get(axis).cloned());
        let first = dataset.points.first().map(place);
        let rises = rises(dataset, |p| Some(place(p)) == first);
        let distributions = dataset.points.iter().filter_map(distribution);
        let threads = [Region::Private, Region::Shared]
            .into_iter()
            .filter_map(|region| several_threads(dataset, region));
        let first = memory_in_pages(dataset)
            .into_iter()
            .chain(parallelism(dataset))
            .chain(threads);
        first.chain(distributions).chain(rises).collect()
    }
}

/// Finding about the short windows of a point; `None` if none were requested.
fn distribution(point: &Point) -> Option<Finding> {
    let size = Bytes(point.number("size_bytes")?);
    let place = format!("A load in {size} ({} pages)", point.name("pages")?);
    let mut finding = windows::finding(point, "latency-windows", &place)?;
    finding
        .values
        .insert("size_bytes".to_owned(), size.0 as f64);
    Some(finding)
}

/// Finding that compares the latency with the most threads to the latency with one thread. Both
/// points have `region` and the largest working set. `None` if the intervals do not show a
/// difference.
fn several_threads(dataset: &Dataset, region: Region) -> Option<Finding> {
    let name = region.to_string();
    let here = |p: &&Point| p.name("region") == Some(&name) && p.usable().is_some();
    let several = dataset
        .points
        .iter()
        .filter(here)
        .filter(|p| p.number("threads") > Some(1));
    let most = several.max_by_key(|p| (p.number("size_bytes"), p.number("threads")))?;
    let place = |p: &Point| {
        let mut place = p.coordinates.clone();
        place.retain(|axis, _| !["threads", "cpu", "level"].contains(&axis.as_str()));
        place
    };
    let mut alone = dataset
        .points
        .iter()
        .filter(here)
        .filter(|p| p.number("threads") == Some(1));
    let alone = alone.find(|p| place(p) == place(most))?;
    let cost = Difference::shown(alone, most)?;
    let one = cost.from.value;
    let all = cost.to.value;
    let threads = most.number("threads")?;
    let chains = if region == Region::Shared {
        "on one chain"
    } else {
        "each on a chain of its own"
    };
    let text = format!(
        "A load in {} takes {all:.1} ns with {threads} threads at once, {chains}, and {one:.1} ns \
         with one.",
        Bytes(most.number("size_bytes")?)
    );
    let figures = [
        ("threads", threads as f64),
        ("one_ns", one),
        ("several_ns", all),
    ];
    cost.finding(&format!("latency-of-threads-{name}"), text, &figures)
}

/// Finding about the gain if one thread follows several chains at once, in the largest working set
/// that was measured with several chains. `None` if the intervals show no gain.
fn parallelism(dataset: &Dataset) -> Option<Finding> {
    let several = |p: &&Point| p.number("chains").is_some_and(|n| n > 1) && p.usable().is_some();
    let largest = dataset
        .points
        .iter()
        .filter(several)
        .max_by_key(|p| p.number("size_bytes"))?;
    let place = |p: &Point| {
        let mut place = p.coordinates.clone();
        for axis in ["chains", "kernel"] {
            place.remove(axis);
        }
        place
    };
    let here = || {
        dataset
            .points
            .iter()
            .filter(|p| place(p) == place(largest) && p.usable().is_some())
    };
    let one = here().find(|p| p.number("chains") == Some(1))?;
    let median = |p: &Point| p.usable().map_or(f64::INFINITY, |m| m.summary.median);
    let best = here().min_by(|a, b| median(a).total_cmp(&median(b)))?;
    let gain =
        Difference::shown(best, one).filter(|gain| gain.shows() == ComparisonResult::Higher)?;
    let one = gain.to.value;
    let best_ns = gain.from.value;
    let text = format!(
        "One thread has up to {} loads in flight in {}: {best_ns:.1} ns a load with {} chains, \
         {one:.1} ns with one.",
        significant(gain.ratio()),
        Bytes(largest.number("size_bytes")?),
        best.number("chains")?
    );
    gain.finding(
        "memory-level-parallelism",
        text,
        &[("one_ns", one), ("best_ns", best_ns)],
    )
}

/// The point of memory latency with one chain and one thread that has the largest working set,
/// among the points that `belongs` accepts. `None` if that point is not usable.
fn from_memory(dataset: &Dataset, belongs: impl Fn(&Point) -> bool) -> Option<&Point> {
    let alone = |p: &Point| {
        ["chains", "threads"]
            .iter()
            .all(|axis| p.number(axis).is_none_or(|n| n == 1))
    };
    let matches = |p: &&Point| p.name("level") == Some(MEMORY) && alone(p) && belongs(p);
    let largest = dataset
        .points
        .iter()
        .filter(matches)
        .max_by_key(|p| p.number("size_bytes"))?;
    largest.usable().map(|_| largest)
}

/// Finding about the cost of base pages for a load from memory. Random order in base pages is
/// compared with random order in huge pages, if the system granted nearly all of them. Otherwise it
/// is compared with packed order in base pages, which has few TLB misses. `None` if the intervals
/// show no cost.
fn memory_in_pages(dataset: &Dataset) -> Option<Finding> {
    let random = |p: &Point, pages: &str| {
        p.name("pages") == Some(pages)
            && p.name("chain_mode")
                .is_none_or(|mode| mode == "global-random")
    };
    let small = from_memory(dataset, |p| random(p, "4k"))?;
    let pages = |point: &Point| {
        point
            .usable()
            .map(|m| m.evidence.pages.clone())
            .unwrap_or_default()
    };
    // The size of a base page comes from the system, not from the name of the option.
    let base = Bytes(pages(small).requested_bytes.unwrap_or(4096));
    let least = packed_window(base).0;
    let near = |p: &Point| {
        p.number("window_bytes")
            .is_some_and(|window| window < 2 * least)
    };
    let packed = from_memory(dataset, |p| {
        p.name("pages") == Some("4k") && p.name("chain_mode") == Some("random-box") && near(p)
    });
    let large = from_memory(dataset, |p| random(p, "thp"))
        .or_else(|| from_memory(dataset, |p| random(p, "huge")));
    let large = large.filter(|point| pages(point).granted_share.unwrap_or(0.0) >= 0.9);
    let slower = |than: &'_ Point| {
        Difference::shown(than, small)
            .filter(|cost| cost.shows() == ComparisonResult::Higher)
            .is_some()
    };
    let large = large.filter(|p| slower(p));
    let packed = packed.filter(|p| slower(p));
    let cost = Difference::shown(large.or(packed)?, small)?;
    let ns = cost.amount();
    let (low, high) = cost.amount_interval();
    let costs = format!("{ns:.1} ns (95% CI {:.0} to {high:.0})", low.max(0.0));
    let packed = packed.and_then(Figure::new);
    let slow = cost.to.value;
    let fast = cost.from.value;
    let (kind, text) = match large {
        Some(_) => (
            "page-walk-cost",
            format!(
                "TLB misses add {costs} to a memory load: {slow:.1} ns with {base} pages, \
                 {fast:.1} ns with huge pages."
            ),
        ),
        None => (
            "page-locality",
            format!(
                "TLB misses and closed memory rows add {costs} to a memory load: {slow:.1} ns in \
                 random order, {fast:.1} ns in random order within {}.",
                Bytes(least)
            ),
        ),
    };
    let figures = [
        ("base_pages_ns", Some(cost.to.value)),
        ("huge_pages_ns", large.map(|_| cost.from.value)),
        ("packed_ns", packed.as_ref().map(|packed| packed.value)),
        ("cost_ns", Some(ns)),
        ("cost_low_ns", Some(low)),
        ("cost_high_ns", Some(high)),
    ];
    let values = figures
        .into_iter()
        .filter_map(|(name, ns)| Some((name.to_owned(), ns?)))
        .collect();
    let points = cost
        .points()
        .chain(packed.into_iter().flat_map(|packed| packed.points));
    Some(Finding::resting_on(points, kind, text)?.with(values))
}
