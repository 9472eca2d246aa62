//! How long does a load take that needs the one before it?
//!
//! Method and limits: docs/method/latency.md.

use super::chain_modes::{named, packed_window, shapes};
use super::difference::{Difference, Figure, Shown};
use super::hierarchy::{Levels, MEMORY, Target};
use super::instructions::chosen_cpus;
use super::lists::{ChainMode, ChainModes, Count, Counts, PageModes};
use super::nodes::asked_node;
use super::plausible::reject_below_faster;
use super::steps::rises;
use super::{Bound, Choices, Detail, Draft, Effect, Effects, Experiment, Scope, axis, bytes_axis};
use engine::{ChainShape, ChaseWork, Windows, Work};
use host::memory::PageMode;
use kernels::{MOST_WALKERS, chase_name};
use report::{Axis, Coordinate, Coordinates, Dataset, Finding, Outcome, Point, Quantity};
use stats::derive;
use units::error::{Error, Result};
use units::{Bytes, CpuList, Nanos, SizeList, read_like, short_time, significant};

/// Where to follow pointers, and how.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Settings {
    /// Memory that the chain spans, rounded down to whole strides: 32KiB,1MiB or 4KiB..1GiB [default: a sweep over the detected hierarchy]
    #[arg(long, value_name = "LIST", alias = "size")]
    pub sizes: Option<SizeList>,

    /// Distance between neighbouring nodes in memory, multiples of 8 [default: the cache line]
    #[arg(long, value_name = "LIST")]
    pub stride: Option<SizeList>,

    /// Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of several pools), best (the largest of these that there are)
    #[arg(long, value_name = "LIST", default_value = "thp")]
    pub pages: PageModes,

    /// Orders of the chain: global-random, random-box, same-random-in-box, diff-random-in-box, sequential
    #[arg(long, value_name = "LIST", default_value = "global-random")]
    pub chain_mode: ChainModes,

    /// Window of the orders that finish one before they go on to the next (...-box): a multiple of the stride [default: 1MiB]
    #[arg(long, value_name = "SIZE")]
    pub locality: Option<Bytes>,

    /// Chains followed at once by one thread, 1,2,4 or 1..32: how many misses a core keeps in flight
    #[arg(long, value_name = "LIST", default_value = "1")]
    pub chains: Counts,

    /// Load the word behind each pointer too, which no later load waits for
    #[arg(long)]
    pub payload: bool,

    /// Beside the headline, the distribution over so many short windows, 100 to 1000000: p50 to p99.9 and the longest
    #[arg(long, value_name = "N", value_parser = read_like::<Count>("10000"))]
    pub windows: Option<Count>,

    /// Length of such a window, 1us to 10ms
    #[arg(long, value_name = "TIME", default_value = "10us", value_parser = short_time)]
    pub window: Nanos,

    /// CPUs that walk, one after another [default: the first that is allowed]
    #[arg(long, value_name = "LIST", alias = "cpu")]
    pub cpus: Option<CpuList>,

    /// NUMA node of the memory [default: that of the CPU]
    #[arg(long, value_name = "N", aliases = ["node", "nodes"], value_parser = read_like::<Count>("0"))]
    pub memory_nodes: Option<Count>,
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "locality",
            applies: |s| s.chain_mode.0.iter().any(|mode| mode.has_windows()),
            only: "only random-box, same-random-in-box and diff-random-in-box have such a window",
            cure: Some("--chain-mode random-box"),
        },
        Effect {
            option: "window",
            applies: |s| s.windows.is_some(),
            only: "only a distribution over windows has their length",
            cure: Some("--windows 10000"),
        },
    ];
}

/// The experiment.
#[derive(Debug, Clone)]
pub struct Latency {
    settings: Settings,
    detail: Detail,
    /// Memory in packed order is measured too, in working sets of at most this much.
    packed: Option<Bytes>,
    /// Whether the user chose what is measured, so that nothing is left out.
    chosen: bool,
}

/// Working sets in packed order that the default profile measures at most: they take time to build.
const MOST_PACKED: Bytes = Bytes(1 << 30);

/// Windows that may be asked for: shorter ones are mostly the reading of the counter, longer ones are samples.
const WINDOWS: std::ops::RangeInclusive<u32> = 100..=1_000_000;
const SHORTEST_WINDOW: Nanos = Nanos(1e3);
const LONGEST_WINDOW: Nanos = Nanos(10e6);

impl Latency {
    /// With the user's settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, detail: Detail::Sweep, packed: None, chosen: true }
    }

    /// As part of a profile.
    pub fn in_profile(detail: Detail) -> Self {
        let pages = match detail {
            Detail::Brief => vec![PageMode::Transparent],
            Detail::Levels | Detail::Sweep => vec![PageMode::Transparent, PageMode::Base],
        };
        let packed = match detail {
            Detail::Brief => None,
            Detail::Levels => Some(MOST_PACKED),
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
            windows: None,
            window: SHORTEST_WINDOW,
            cpus: None,
            memory_nodes: None,
        };
        Self { settings, detail, packed, chosen: false }
    }

    /// The same of what was chosen in its place.
    pub fn chosen(detail: Detail, choices: &Choices) -> Self {
        let Self { settings: usual, .. } = Self::in_profile(detail);
        let settings = Settings {
            sizes: choices.sizes.clone(),
            pages: choices.pages.clone().unwrap_or(PageModes(vec![PageMode::Transparent])),
            memory_nodes: choices.memory_nodes,
            ..usual
        };
        Self { settings, detail, packed: None, chosen: true }
    }

    /// Working sets to measure: the user's, or what the hierarchy suggests.
    fn targets(&self, scope: &Scope<'_>, levels: &Levels) -> Result<Vec<Target>> {
        let named = |&size: &Bytes| Target { size, level: levels.name(size), hidden: None };
        let Some(sizes) = &self.settings.sizes else {
            return Ok(match self.detail {
                Detail::Sweep => levels.sweep(levels.memory).iter().map(named).collect(),
                Detail::Brief | Detail::Levels => levels.targets(),
            });
        };
        match sizes.0.iter().find(|&&size| size > scope.usable()) {
            Some(size) => Err(Error::usage(format!(
                "too much memory: {size}; {} may be used; type smaller --sizes",
                scope.usable()
            ))),
            None => Ok(sizes.0.iter().map(named).collect()),
        }
    }

    /// Refuses windows that show nothing.
    fn check_windows(&self) -> Result<()> {
        let (length, allowed) = (self.settings.window, SHORTEST_WINDOW..=LONGEST_WINDOW);
        match self.settings.windows {
            Some(Count(count)) if !WINDOWS.contains(&count) => Err(Error::usage(format!(
                "windows not possible: {count}; their distribution is taken of {} to {}; type --windows 10000",
                WINDOWS.start(),
                WINDOWS.end()
            ))),
            Some(_) if !allowed.contains(&length) => Err(Error::usage(format!(
                "window not possible: {length}; one lasts {SHORTEST_WINDOW} to {LONGEST_WINDOW}; type --window 10us"
            ))),
            _ => Ok(()),
        }
    }

    fn strides(&self, line: Bytes) -> Result<Vec<Bytes>> {
        let strides = self.settings.stride.as_ref().map_or_else(|| vec![line], |s| s.0.clone());
        match strides.iter().find(|s| s.0 == 0 || !s.0.is_multiple_of(8)) {
            Some(bad) => Err(Error::usage(format!(
                "stride not possible: {} B; a node is a pointer of 8 B, so strides are multiples of 8; type --stride 64",
                bad.0
            ))),
            None => Ok(strides),
        }
    }

    /// The points of one CPU, size and stride: one for each kind of pages, order and number of chains.
    fn draft_size(
        &self,
        scope: &Scope<'_>,
        levels: &Levels,
        (cpu, target, stride, line): (u32, &Target, Bytes, Bytes),
    ) -> Result<Vec<Draft>> {
        let size = target.size;
        if size < stride {
            // Enough for the other strides too.
            let largest = self.strides(line)?.into_iter().fold(stride, Bytes::max);
            return Err(Error::usage(format!(
                "too small a size: {size}; a chain needs room for one node of {stride}; type --sizes {} or more",
                largest.0
            )));
        }
        let hidden = target.hidden.as_ref();
        let level = hidden.map_or_else(|| levels.name(footprint(size, stride, line)), |_| target.level.clone());
        let seed = chain_seed(scope, size, stride);
        let (bytes, payload) = (size.round_down(stride.0), self.settings.payload);
        let node = asked_node(self.settings.memory_nodes, scope)?;
        let work = |pages, shape, walkers| ChaseWork { pages, cpu, node, bytes, stride, shape, seed, walkers, payload };
        let shapes = shapes(&self.settings.chain_mode, self.settings.locality, stride)?;
        let chains = self.chains(stride)?;
        let mut works = Vec::new();
        for &pages in self.settings.pages.0.iter().filter(|&&pages| self.wanted(pages, &level)) {
            for &shape in &shapes {
                works.extend(chains.iter().map(|&walkers| work(pages, shape, walkers)));
            }
        }
        if level == MEMORY && size == levels.memory && self.packed.is_some_and(|most| size <= most) {
            let window = packed_window(scope.facts().pages.base).round_up(stride.0);
            works.push(work(PageMode::Base, ChainShape::RandomBox(window), 1));
        }
        Ok(works.into_iter().map(|work| draft_point(scope, work, &level).unless(hidden)).collect())
    }

    /// How many chains to follow at once.
    fn chains(&self, stride: Bytes) -> Result<Vec<u32>> {
        let counts: Vec<u32> = self.settings.chains.0.iter().map(|count| count.0).collect();
        if let Some(bad) = counts.iter().find(|&&count| count == 0 || count as usize > MOST_WALKERS) {
            return Err(Error::usage(format!(
                "chains not possible: {bad}; one thread follows 1 to {MOST_WALKERS} at once; type --chains 1,{MOST_WALKERS}"
            )));
        }
        if self.settings.payload && stride.0 < 16 {
            return Err(Error::usage(format!(
                "no room for a payload: nodes of {stride}; a pointer and a payload take 16 B; type --stride 64"
            )));
        }
        Ok(counts)
    }

    /// Whether a profile measures `level` in `pages`: what small pages cost is a question about memory.
    fn wanted(&self, pages: PageMode, level: &str) -> bool {
        self.chosen || self.detail != Detail::Levels || pages != PageMode::Base || level == MEMORY
    }
}

/// Seed of the order of a chain: whoever asks for the same chain gets the same one.
pub(super) fn chain_seed(scope: &Scope<'_>, size: Bytes, stride: Bytes) -> u64 {
    derive(scope.seed, "chain", size.0 ^ (stride.0 << 48))
}

/// The working set that `size` in nodes of `stride` is to the caches: one line per node.
fn footprint(size: Bytes, stride: Bytes, line: Bytes) -> Bytes {
    Bytes(size.0 / stride.0.max(line.0) * line.0)
}

/// The cache line of `cpu`, the usual one where it is unknown.
pub(super) fn line_of(scope: &Scope<'_>, cpu: u32) -> Bytes {
    scope.facts().topology.data_caches(cpu).first().and_then(|c| c.line).unwrap_or(Bytes(64))
}

fn draft_point(scope: &Scope<'_>, work: ChaseWork, level: &str) -> Draft {
    let (mode, window) = named(work.shape);
    let mut coordinates = Coordinates::from([
        ("operation".to_owned(), Coordinate::Name("chase".to_owned())),
        ("kernel".to_owned(), Coordinate::Name(chase_name(work.walkers as usize, work.payload))),
        ("chains".to_owned(), Coordinate::Number(u64::from(work.walkers))),
        ("level".to_owned(), Coordinate::Name(level.to_owned())),
        ("size_bytes".to_owned(), Coordinate::Number(work.bytes.0)),
        ("stride_bytes".to_owned(), Coordinate::Number(work.stride.0)),
        ("threads".to_owned(), Coordinate::Number(1)),
        ("cpu".to_owned(), Coordinate::Number(u64::from(work.cpu))),
        ("pages".to_owned(), Coordinate::Name(work.pages.to_string())),
        ("chain_mode".to_owned(), Coordinate::Name(mode.to_string())),
    ]);
    coordinates.extend(work.node.map(|node| ("node".to_owned(), Coordinate::Number(u64::from(node)))));
    coordinates.extend(window.map(|window| ("window_bytes".to_owned(), Coordinate::Number(window.0))));
    let expendable = match mode {
        ChainMode::GlobalRandom if level != "between" && work.pages != PageMode::Base => 0,
        ChainMode::GlobalRandom => 1,
        _ => 2,
    };
    let fits = work.slot() <= scope.usable();
    let reason = || format!("{} do not fit into the {} that may be used", work.bytes, scope.usable());
    let crowded = work.nodes() < u64::from(work.walkers);
    let few = || format!("{} chains at once need as many nodes; {} has {}", work.walkers, work.bytes, work.nodes());
    let work = match scope.machine.kernel(&Work::Chase(work.clone())) {
        Err(reason) => Err(Outcome::Unsupported { reason }),
        Ok(_) if !fits => Err(Outcome::Skipped { reason: reason() }),
        Ok(_) if crowded => Err(Outcome::Unsupported { reason: few() }),
        Ok(_) => Ok(Work::Chase(work)),
    };
    Draft { coordinates, work, bound: Bound::Unknown, expendable }
}

impl Experiment for Latency {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn quantity(&self) -> Quantity {
        Quantity { name: "latency".to_owned(), unit: "ns".to_owned(), higher_is_better: false }
    }

    fn axes(&self) -> Vec<Axis> {
        let names = ["operation", "chains", "kernel", "level", "threads", "cpu", "pages", "chain_mode"];
        let node = self.settings.memory_nodes.map(|_| axis("node"));
        let windows = self.packed.is_some() || self.settings.chain_mode.0.iter().any(|mode| mode.has_windows());
        let sizes = ["size_bytes", "stride_bytes"].into_iter().chain(windows.then_some("window_bytes"));
        names.map(axis).into_iter().chain(node).chain(sizes.map(bytes_axis)).collect()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        self.check_windows()?;
        let mut drafts = Vec::new();
        for cpu in chosen_cpus(self.settings.cpus.as_ref(), "--cpus", scope)? {
            let levels = Levels::new(scope.facts(), &[cpu], scope.last_level());
            let line = line_of(scope, cpu);
            for target in self.targets(scope, &levels)? {
                for stride in self.strides(line)? {
                    drafts.extend(self.draft_size(scope, &levels, (cpu, &target, stride, line))?);
                    scope.room_for(drafts.len())?;
                }
            }
        }
        Ok(drafts)
    }

    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String> {
        let first = scope.cpus.first().copied().unwrap_or(0);
        let strides = self.strides(line_of(scope, first)).unwrap_or_default();
        let asked = self.settings.sizes.iter().flat_map(|list| &list.0);
        let pairs = asked.flat_map(|&size| strides.iter().map(move |&stride| (size, stride)));
        let differ = pairs.filter(|(size, stride)| !size.0.is_multiple_of(stride.0));
        let tell = |(size, stride): (Bytes, Bytes)| {
            let used = size.round_down(stride.0);
            format!("{} B were rounded down to {} B: whole nodes of {} B only", size.0, used.0, stride.0)
        };
        differ.map(tell).collect()
    }

    fn windows(&self) -> Option<Windows> {
        let Count(count) = self.settings.windows?;
        Some(Windows { count, length: self.settings.window })
    }

    fn finish(&self, dataset: &mut Dataset) {
        reject_below_faster(dataset);
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let axes = ["cpu", "pages", "stride_bytes", "chains", "chain_mode", "window_bytes"];
        let place = |p: &Point| axes.map(|axis| p.coordinates.get(axis).cloned());
        let first = dataset.points.first().map(place);
        let rises = rises(dataset, |p| Some(place(p)) == first);
        let distributions = dataset.points.iter().filter_map(distribution);
        memory_in_pages(dataset).into_iter().chain(parallelism(dataset)).chain(distributions).chain(rises).collect()
    }
}

/// What single windows of a point took, where they were asked for.
fn distribution(point: &Point) -> Option<Finding> {
    let also = &point.outcome.measured()?.also;
    let of = |name: &str| also.get(name).copied();
    let size = Bytes(point.number("size_bytes")?);
    let (count, length) = (of("windows")?, Nanos(of("window_ns")?));
    let text = format!(
        "A load in {size} ({} pages) takes {:.1} ns in half of {count} windows of {length}, at most {:.1} ns in 99% of them, \
         {:.1} ns in 99.9%, {:.1} ns in the slowest.",
        point.name("pages")?,
        of("p50")?,
        of("p99")?,
        of("p99_9")?,
        of("max")?
    );
    let names = ["p50", "p90", "p95", "p99", "p99_9", "max", "windows", "window_ns"];
    let values = names.iter().filter_map(|name| Some(((*name).to_owned(), of(name)?)));
    let values = values.chain([("size_bytes".to_owned(), size.0 as f64)]).collect();
    Some(Finding::resting_on([point], "latency-windows", text)?.with(values))
}

/// What following several chains at once gains in the largest working set where that was measured.
fn parallelism(dataset: &Dataset) -> Option<Finding> {
    let several = |p: &&Point| p.number("chains").is_some_and(|n| n > 1) && p.usable().is_some();
    let largest = dataset.points.iter().filter(several).max_by_key(|p| p.number("size_bytes"))?;
    let place = |p: &Point| {
        let mut place = p.coordinates.clone();
        for axis in ["chains", "kernel"] {
            place.remove(axis);
        }
        place
    };
    let here = || dataset.points.iter().filter(|p| place(p) == place(largest) && p.usable().is_some());
    let one = here().find(|p| p.number("chains") == Some(1))?;
    let median = |p: &Point| p.usable().map_or(f64::INFINITY, |m| m.summary.median);
    let best = here().min_by(|a, b| median(a).total_cmp(&median(b)))?;
    let gain = Difference::shown(best, one).filter(|gain| gain.shows() == Shown::Higher)?;
    let (one, best_ns) = (gain.to.value, gain.from.value);
    let text = format!(
        "Following {} chains at once takes {best_ns:.1} ns a load in {}, one takes {one:.1} ns: one thread has up to {} \
         loads under way.",
        best.number("chains")?,
        Bytes(largest.number("size_bytes")?),
        significant(gain.ratio())
    );
    gain.finding("memory-level-parallelism", text, &[("one_ns", one), ("best_ns", best_ns)])
}

/// A load from memory, by one chain in the largest working set measured so.
fn from_memory(dataset: &Dataset, belongs: impl Fn(&Point) -> bool) -> Option<&Point> {
    let alone = |p: &Point| p.number("chains").is_none_or(|n| n == 1);
    let matches = |p: &&Point| p.name("level") == Some(MEMORY) && alone(p) && belongs(p);
    let largest = dataset.points.iter().filter(matches).max_by_key(|p| p.number("size_bytes"))?;
    largest.usable().map(|_| largest)
}

/// What base pages cost a load from memory: against huge pages of which nearly all were granted, and against the packed
/// order, which looks for a page once for all of its lines. Only what the intervals show to be slower in base pages has a cost.
fn memory_in_pages(dataset: &Dataset) -> Option<Finding> {
    let random = |p: &Point, pages: &str| {
        p.name("pages") == Some(pages) && p.name("chain_mode").is_none_or(|mode| mode == "global-random")
    };
    let small = from_memory(dataset, |p| random(p, "4k"))?;
    let pages = |point: &Point| point.usable().map(|m| m.evidence.pages.clone()).unwrap_or_default();
    // The base page is what the system says it is, whatever the option is called.
    let base = Bytes(pages(small).asked_bytes.unwrap_or(4096));
    let least = packed_window(base).0;
    let near = |p: &Point| p.number("window_bytes").is_some_and(|window| window < 2 * least);
    let packed = from_memory(dataset, |p| {
        p.name("pages") == Some("4k") && p.name("chain_mode") == Some("random-box") && near(p)
    });
    let large = from_memory(dataset, |p| random(p, "thp")).or_else(|| from_memory(dataset, |p| random(p, "huge")));
    let large = large.filter(|point| pages(point).granted_share.unwrap_or(0.0) >= 0.9);
    let slower =
        |than: &'_ Point| Difference::shown(than, small).filter(|cost| cost.shows() == Shown::Higher).is_some();
    let (large, packed) = (large.filter(|p| slower(p)), packed.filter(|p| slower(p)));
    let cost = Difference::shown(large.or(packed)?, small)?;
    let (ns, (low, high)) = (cost.amount(), cost.amount_interval());
    let start = format!("A load from memory takes {:.0} ns in {base} pages", cost.to.value);
    let within = format!("in random order within {} at a time", Bytes(least));
    let costs = format!("{ns:.0} ns ({:.0} to {high:.0})", low.max(0.0));
    let packed = packed.and_then(Figure::new);
    let (kind, text) = match (large, &packed) {
        (Some(_), packed) => {
            let text = format!("{start} and {:.0} ns in huge pages: finding the page costs {costs}.", cost.from.value);
            let packed = packed.as_ref().map(|packed| format!(" Packed, {within}, it takes {:.0} ns.", packed.value));
            ("page-walk-cost", text + &packed.unwrap_or_default())
        }
        (None, _) => {
            let both = format!("finding the page and opening a row of the memory cost {costs} together.");
            ("page-locality", format!("{start} and {:.0} ns packed, {within}: {both}", cost.from.value))
        }
    };
    let figures = [
        ("base_pages_ns", Some(cost.to.value)),
        ("huge_pages_ns", large.map(|_| cost.from.value)),
        ("packed_ns", packed.as_ref().map(|packed| packed.value)),
        ("cost_ns", Some(ns)),
        ("cost_low_ns", Some(low)),
        ("cost_high_ns", Some(high)),
    ];
    let values = figures.into_iter().filter_map(|(name, ns)| Some((name.to_owned(), ns?))).collect();
    let points = cost.points().chain(packed.into_iter().flat_map(|packed| packed.points));
    Some(Finding::resting_on(points, kind, text)?.with(values))
}
