//! How long does a load take while other CPUs use the memory?
//!
//! Method and limits: docs/method/loaded-latency.md.

mod cpus;
mod curve;
mod findings;
mod mix;
mod tenants;
#[cfg(test)]
mod tests;

pub use mix::{Mix, Mixes};
pub use tenants::Tenants;

use crate::command::{CommandSettings, Effect, Effects};
use crate::experiment::{Bound, Detail, Draft, Experiment, Scope, axis, bytes_axis};
use crate::hierarchy::Levels;
use crate::latency::{chain_seed, line_of};
use crate::lists::{Count, Counts, PageModes};
use crate::nodes::asked_nodes;
use cpus::{beyond_quota, one_cpu, probe_cpus, traffic_cpus};
use curve::{LONGEST_PAUSE, curves};
use engine::{ChainShape, ChaseWork, LoadedWork, Probe, Traffic, Work};
use host::memory::PageMode;
use kernels::{BLOCK_BYTES, REFERENCE_INSTRUCTIONS_PER_BLOCK, chase_name};
use mix::Shape;
use report::{Axis, Coordinate, Coordinates, Dataset, Finding, HostFacts, Outcome, Quantity};
use units::error::{Error, Result};
use units::{Bytes, CpuList};

/// What to load the memory with, and where.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Loads to stores of the traffic, a curve each; 0:100nt has non-temporal stores [default:
    /// 100:0,75:25,67:33,50:50,0:100,0:100nt]
    #[arg(long, value_name = "LIST")]
    pub mixes: Option<Mixes>,

    /// Core cycles that each thread of the traffic pauses after 4 KiB, 0 for none [default: 65536
    /// down to 256 by halves, and 0]
    #[arg(long, value_name = "LIST")]
    pub pauses: Option<Counts>,

    /// Points at most that are added to each curve where it bends
    #[arg(long, value_name = "N", default_value = "4")]
    pub points: Count,

    /// The CPU that follows pointers [default: the first that is allowed, of each kind of core]
    #[arg(long, value_name = "CPU", alias = "cpu")]
    pub cpus: Option<CpuList>,

    /// CPUs of the traffic [default: the others on the same NUMA node, but those that share a core
    /// with --cpus]
    #[arg(long, value_name = "LIST")]
    pub traffic_cpus: Option<CpuList>,

    /// How many of the CPUs of the traffic to use [default: all]
    #[arg(long, value_name = "N")]
    pub threads: Option<Count>,

    /// In place of mixes: so many threads that only load (with --writers)
    #[arg(long, value_name = "N", conflicts_with_all = ["mixes", "threads"])]
    pub readers: Option<Count>,

    /// In place of mixes: so many threads that only store (with --readers)
    #[arg(long, value_name = "M", conflicts_with_all = ["mixes", "threads"])]
    pub writers: Option<Count>,

    /// Pages of all memory: 4k, thp (transparent huge pages), huge (reserved huge pages), best (the
    /// largest of these that there are)
    #[arg(long, value_name = "LIST", default_value = "thp")]
    pub pages: PageModes,

    /// Memory that the chain spans, rounded down to whole lines [default: as `memgauge latency` in
    /// memory]
    #[arg(long, value_name = "SIZE", alias = "size")]
    pub sizes: Option<Bytes>,

    /// NUMA nodes of all memory, one after another [default: that of --cpus, and the most distant
    /// one]
    #[arg(long, value_name = "LIST", aliases = ["node", "nodes"])]
    pub memory_nodes: Option<CpuList>,

    /// Measure what this CPU loses when others use the memory: its latency and its bandwidth, alone
    /// and beside --bully
    #[arg(long, value_name = "CPU", conflicts_with_all = ["cpus", "traffic_cpus", "threads", "readers", "writers", "points"])]
    pub victim: Option<CpuList>,

    /// The CPUs that use the memory beside --victim [default: all others]
    #[arg(long, value_name = "LIST")]
    pub bully: Option<CpuList>,
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "bully",
        applies: |s| s.victim.is_some(),
        only: "only a victim has others that use the memory meanwhile",
        cure: Some("--victim 0"),
    }];
}

impl CommandSettings for Settings {
    /// Curves, or what a victim loses.
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        match self.victim {
            Some(_) => Tenants::both(&self)
                .map(|side| Box::new(side) as Box<dyn Experiment>)
                .into(),
            None => vec![Box::new(LoadedLatency::new(self))],
        }
    }
}

impl Settings {
    /// What is measured where the user says nothing.
    fn plain() -> Self {
        Self {
            mixes: None,
            pauses: None,
            points: Count(4),
            cpus: None,
            traffic_cpus: None,
            threads: None,
            readers: None,
            writers: None,
            pages: PageModes(vec![PageMode::Transparent]),
            sizes: None,
            memory_nodes: None,
            victim: None,
            bully: None,
        }
    }
}

/// The mix of the point without traffic.
const IDLE: &str = "idle";

/// Mixes by default.
const MIXES: [Mix; 6] = [
    Mix::new(100, 0),
    Mix::new(75, 25),
    Mix::new(67, 33),
    Mix::new(50, 50),
    Mix::new(0, 100),
    Mix {
        reads: 0,
        writes: 100,
        non_temporal: true,
    },
];

/// Pauses by default: from a few percent of what a thread moves without any.
const PAUSES: [u64; 10] = [65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 0];

/// Pauses of the default profile.
const FEW_PAUSES: [u64; 6] = [16384, 4096, 2048, 1024, 256, 0];

/// How often points are added to a curve, each time by what is known then.
const STAGES: u32 = 2;

/// When time is short, first the added points go, then the curves but the first.
const ADDED: u8 = 4;
const OTHER_CURVES: u8 = 3;
const FIRST_CURVE: u8 = 2;

/// The experiment.
#[derive(Debug, Clone)]
pub struct LoadedLatency {
    settings: Settings,
    mixes: Vec<Mix>,
    pauses: Vec<u64>,
    /// Whether one kind of core and its own node are all that is looked at.
    brief: bool,
    /// Curves of each other kind of core and of distant memory at most, where the first place has
    /// all of them.
    elsewhere: usize,
}

/// What is measured, wherever the traffic comes from: the chase and its memory.
#[derive(Debug, Clone)]
struct Place {
    cpu: u32,
    pages: PageMode,
    /// The memory node as an axis, `None` where there is but one.
    node: Option<u32>,
    /// The memory node.
    memory: u32,
    size: Bytes,
    line: Bytes,
    level: String,
}

/// One curve to be.
#[derive(Debug, Clone)]
struct Line {
    place: Place,
    shape: Shape,
    /// The threads of the traffic.
    cpus: Vec<u32>,
    /// Working set of each.
    bytes: Bytes,
    drop_priority: u8,
}

impl LoadedLatency {
    /// With the user's settings.
    pub fn new(settings: Settings) -> Self {
        let mixes = settings
            .mixes
            .as_ref()
            .map_or_else(|| MIXES.to_vec(), |mixes| mixes.0.clone());
        let asked = settings
            .pauses
            .as_ref()
            .map(|list| list.0.iter().map(|count| u64::from(count.0)).collect());
        Self {
            mixes,
            pauses: asked.unwrap_or_else(|| PAUSES.to_vec()),
            brief: false,
            elsewhere: usize::MAX,
            settings,
        }
    }

    /// As part of a profile: one short curve, or all of them.
    pub fn in_profile(detail: Detail) -> Self {
        if detail == Detail::Sweep {
            return Self {
                elsewhere: 1,
                ..Self::new(Settings::plain())
            };
        }
        let settings = Settings {
            points: Count(0),
            ..Settings::plain()
        };
        Self {
            settings,
            mixes: vec![MIXES[0]],
            pauses: FEW_PAUSES.to_vec(),
            brief: true,
            elsewhere: 1,
        }
    }

    /// The curves, by place and kind of traffic.
    fn lines(&self, scope: &Scope<'_>) -> Result<Vec<Line>> {
        let mut lines = Vec::new();
        for cpu in probe_cpus(&self.settings, scope, self.brief)? {
            let cpus = traffic_cpus(&self.settings, scope, cpu)?;
            let shapes = self.shapes(&cpus);
            for (far, place) in places(
                &self.settings,
                scope,
                cpu,
                !self.brief && self.settings.memory_nodes.is_none(),
            )? {
                let bytes = traffic_bytes(scope, &cpus);
                let curves = if lines.is_empty() {
                    usize::MAX
                } else {
                    self.elsewhere
                };
                for &shape in shapes.iter().take(curves) {
                    let drop_priority = if far || !lines.is_empty() {
                        OTHER_CURVES
                    } else {
                        FIRST_CURVE
                    };
                    lines.push(Line {
                        place: place.clone(),
                        shape,
                        cpus: cpus.clone(),
                        bytes,
                        drop_priority,
                    });
                }
            }
        }
        Ok(lines)
    }

    fn shapes(&self, cpus: &[u32]) -> Vec<Shape> {
        let readers = self.settings.readers;
        let writers = self.settings.writers;
        if readers.or(writers).is_none() || cpus.is_empty() {
            return self.mixes.iter().copied().map(Shape::Mixed).collect();
        }
        let count = |n: Option<Count>| n.map_or(0, |n| n.0);
        vec![Shape::Apart(count(readers), count(writers))]
    }

    /// The pauses, each once, longest first.
    fn pauses(&self) -> Vec<u64> {
        let mut pauses: Vec<u64> = self
            .pauses
            .iter()
            .map(|pause| pause.next_multiple_of(REFERENCE_INSTRUCTIONS_PER_BLOCK))
            .collect();
        pauses.sort_unstable_by(|a, b| b.cmp(a));
        pauses.dedup();
        pauses
    }
}

/// Working set of each thread of the traffic: all of them together outlast the caches, in both
/// windows of a mix.
fn traffic_bytes(scope: &Scope<'_>, cpus: &[u32]) -> Bytes {
    Levels::new(scope.facts(), cpus, scope.last_level())
        .memory
        .round_up(2 * BLOCK_BYTES)
}

/// Where the memory lies, by pages and node, with whether that is far from the CPU.
fn places(
    settings: &Settings,
    scope: &Scope<'_>,
    cpu: u32,
    remote: bool,
) -> Result<Vec<(bool, Place)>> {
    let line = line_of(scope, cpu);
    let levels = Levels::new(scope.facts(), &[cpu], scope.last_level());
    let size = settings.sizes.unwrap_or(levels.memory);
    if size < line || settings.sizes.is_some_and(|size| size > scope.usable()) {
        return Err(Error::usage(format!(
            "size not possible: {size}; a chain takes {line} to {}; type --sizes 256MiB",
            scope.usable()
        )));
    }
    let nodes = &scope.facts().topology.nodes;
    let own = scope.facts().topology.node_of(cpu);
    let asked = asked_nodes(settings.memory_nodes.as_ref(), scope)?;
    let mut on: Vec<Option<u32>> = asked
        .into_iter()
        .map(|node| node.or(own.filter(|_| nodes.len() > 1)))
        .collect();
    if remote {
        on.extend(most_distant(scope, own).map(Some));
    }
    let level = levels.name(size.round_down(line.0));
    let place = |pages: PageMode, node: Option<u32>| {
        let far = node.is_some() && node != own;
        let memory = node.or(own).unwrap_or(0);
        (
            far,
            Place {
                cpu,
                pages,
                node,
                memory,
                size: size.round_down(line.0),
                line,
                level: level.clone(),
            },
        )
    };
    let pages = &settings.pages.0;
    Ok(on
        .into_iter()
        .flat_map(|node| {
            pages
                .iter()
                .map(move |&pages| place(pages, node))
                .collect::<Vec<_>>()
        })
        .collect())
}

/// The node with memory that is most distant from `own`, the first of several; `None` where there
/// is no other.
fn most_distant(scope: &Scope<'_>, own: Option<u32>) -> Option<u32> {
    let nodes = &scope.facts().topology.nodes;
    let from = nodes.iter().find(|node| Some(node.id) == own)?;
    let with_memory = |node: &&report::Node| Some(node.id) != own && node.memory != Some(Bytes(0));
    let distance = |id: u32| {
        nodes
            .iter()
            .position(|n| n.id == id)
            .and_then(|at| from.distances.get(at))
            .copied()
    };
    let others = nodes.iter().filter(with_memory).map(|node| node.id);
    others.min_by_key(|&id| std::cmp::Reverse(distance(id)))
}

impl Place {
    /// The chase; in memory of its own node it is the one of `memgauge latency`.
    fn chase(&self, scope: &Scope<'_>) -> ChaseWork {
        let far = self
            .node
            .filter(|_| self.node != scope.facts().topology.node_of(self.cpu));
        ChaseWork {
            pages: self.pages,
            cpus: vec![self.cpu],
            shared: false,
            node: far,
            bytes: self.size,
            stride: self.line,
            shape: ChainShape::GlobalRandom,
            seed: chain_seed(scope, self.size, self.line),
            walkers: 1,
            payload: false,
        }
    }

    fn coordinates(&self, operation: &str, kernel: &str) -> Coordinates {
        let name = |text: &str| Coordinate::Name(text.to_owned());
        let mut coordinates = Coordinates::from([
            ("operation".to_owned(), name(operation)),
            ("kernel".to_owned(), name(kernel)),
            ("cpu".to_owned(), Coordinate::Number(u64::from(self.cpu))),
            ("level".to_owned(), name(&self.level)),
            ("size_bytes".to_owned(), Coordinate::Number(self.size.0)),
            ("pages".to_owned(), name(&self.pages.to_string())),
        ]);
        coordinates.extend(
            self.node
                .map(|node| ("node".to_owned(), Coordinate::Number(u64::from(node)))),
        );
        coordinates
    }
}

impl Line {
    /// The threads with so many cycles between bursts.
    fn traffic(&self, pause: u64) -> Vec<Traffic> {
        let thread = |(index, &cpu): (usize, &u32)| {
            let plain = Traffic {
                node: Some(self.place.memory),
                pause,
                ..Traffic::reading(cpu, self.place.pages, self.bytes)
            };
            self.shape.mix(index).apply(plain)
        };
        self.cpus.iter().enumerate().map(thread).collect()
    }

    /// The point with so many cycles between bursts.
    fn point(&self, scope: &Scope<'_>, pause: u64) -> Draft {
        let traffic = if self.cpus.is_empty() {
            None
        } else {
            Some(self.traffic(pause))
        };
        let mut draft = draft_point(scope, &self.place, traffic, self.drop_priority);
        draft
            .coordinates
            .insert("mix".to_owned(), Coordinate::Name(self.shape.to_string()));
        draft
            .coordinates
            .insert("pause_cycles".to_owned(), Coordinate::Number(pause));
        draft
    }
}

/// The chase of `place` beside `traffic`; `None` where there is no CPU for any.
fn draft_point(
    scope: &Scope<'_>,
    place: &Place,
    traffic: Option<Vec<Traffic>>,
    drop_priority: u8,
) -> Draft {
    let threads = traffic.as_ref().map_or(0, Vec::len);
    let mut coordinates = place.coordinates("chase", &chase_name(1, false));
    coordinates.insert("threads".to_owned(), Coordinate::Number(threads as u64));
    let refused = beyond_quota(scope, threads + 1).filter(|_| threads > 0);
    let work = match traffic {
        Some(_) if let Some(reason) = refused => Err(Outcome::Unsupported { reason }),
        Some(traffic) => runnable(
            scope,
            LoadedWork::new(Probe::Chase(place.chase(scope)), traffic),
        ),
        None => {
            let reason = format!(
                "traffic needs a cpu beside the one that is measured, and this run may use cpu {} \
                 only",
                place.cpu
            );
            Err(Outcome::Unsupported { reason })
        }
    };
    Draft {
        coordinates,
        work,
        bound: Bound::Unknown,
        drop_priority,
    }
}

/// `work`, or why this machine cannot do it.
pub(super) fn runnable(scope: &Scope<'_>, work: LoadedWork) -> std::result::Result<Work, Outcome> {
    let work = Work::Loaded(work);
    match scope.machine.kernel(&work) {
        Ok(_) => Ok(work),
        Err(reason) => Err(Outcome::Unsupported { reason }),
    }
}

impl Experiment for LoadedLatency {
    fn name(&self) -> &'static str {
        "loaded-latency"
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "latency".to_owned(),
            unit: "ns".to_owned(),
            higher_is_better: false,
        }
    }

    fn axes(&self) -> Vec<Axis> {
        let cycles = Axis {
            name: "pause_cycles".to_owned(),
            unit: Some("cycles".to_owned()),
        };
        let names = [
            "operation",
            "kernel",
            "level",
            "cpu",
            "pages",
            "node",
            "threads",
            "mix",
        ];
        names
            .map(axis)
            .into_iter()
            .chain([cycles, bytes_axis("size_bytes")])
            .collect()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        if let Some(long) = self.pauses.iter().find(|&&pause| pause > LONGEST_PAUSE) {
            return Err(Error::usage(format!(
                "pause too long: {long} cycles; {LONGEST_PAUSE} at most; type --pauses 65536"
            )));
        }
        let mut drafts: Vec<Draft> = Vec::new();
        for line in self.lines(scope)? {
            let mut idle =
                draft_point(scope, &line.place, Some(Vec::new()), line.drop_priority - 1);
            idle.coordinates
                .insert("mix".to_owned(), Coordinate::Name(IDLE.to_owned()));
            if !drafts
                .iter()
                .any(|draft| draft.coordinates == idle.coordinates)
            {
                drafts.push(idle);
            }
            // Without the highest bandwidth there is nothing to compare the others with.
            let needed = |pause: u64| {
                if pause == 0 {
                    line.drop_priority - 1
                } else {
                    line.drop_priority
                }
            };
            let points = self.pauses().into_iter();
            drafts.extend(points.map(|pause| Draft {
                drop_priority: needed(pause),
                ..line.point(scope, pause)
            }));
            scope.room_for(drafts.len())?;
        }
        Ok(drafts)
    }

    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String> {
        let whole = |pause: &u64| pause.next_multiple_of(REFERENCE_INSTRUCTIONS_PER_BLOCK);
        let differ = self.pauses.iter().filter(|&pause| *pause != whole(pause));
        let tell = |pause: &u64| {
            format!(
                "a pause of {pause} cycles was rounded up to {}: blocks of {REFERENCE_INSTRUCTIONS_PER_BLOCK} \
                 additions",
                whole(pause)
            )
        };
        let line = line_of(scope, scope.cpus.first().copied().unwrap_or(0));
        let size = self
            .settings
            .sizes
            .filter(|size| !size.0.is_multiple_of(line.0));
        let told = size.map(|size| {
            format!(
                "{} B were rounded down to {} B: whole lines",
                size.0,
                size.round_down(line.0).0
            )
        });
        differ
            .map(tell)
            .chain(told)
            .chain(cpus::adjustments(&self.settings, scope, self.brief))
            .collect()
    }

    fn reserve(&self, scope: &Scope<'_>) -> Result<Vec<Vec<Draft>>> {
        let lines = self.lines(scope)?;
        let each = self.settings.points.0.div_ceil(STAGES) as usize;
        scope.room_for(
            lines
                .len()
                .saturating_mul(each)
                .saturating_mul(STAGES as usize),
        )?;
        let stand_in = |line: &Line| Draft {
            drop_priority: ADDED,
            ..line.point(scope, LONGEST_PAUSE)
        };
        let stage: Vec<Draft> = lines
            .iter()
            .flat_map(|line| vec![stand_in(line); each])
            .filter(|draft| draft.work.is_ok())
            .collect();
        Ok(if stage.is_empty() {
            Vec::new()
        } else {
            vec![stage; STAGES as usize]
        })
    }

    fn follow_up(
        &self,
        scope: &Scope<'_>,
        _stage: usize,
        most: usize,
        measured: &Dataset,
    ) -> Vec<Draft> {
        let each = self.settings.points.0.div_ceil(STAGES) as usize;
        let known = curves(measured);
        let mut wanted: Vec<(f64, Draft)> = Vec::new();
        for line in self.lines(scope).unwrap_or_default() {
            let place = |pause| {
                let draft = line.point(scope, pause);
                let mut coordinates = draft.coordinates.clone();
                coordinates.remove("pause_cycles");
                (draft, coordinates)
            };
            let (_, coordinates) = place(0);
            let Some(curve) = known.iter().find(|curve| curve.place == coordinates) else {
                continue;
            };
            let mut points = curve.wanted();
            points.sort_by(|a, b| b.0.total_cmp(&a.0));
            let drafts = points
                .into_iter()
                .take(each)
                .map(|(worth, pause)| (worth, place(pause).0));
            wanted.extend(drafts.map(|(worth, draft)| {
                (
                    worth,
                    Draft {
                        drop_priority: ADDED,
                        ..draft
                    },
                )
            }));
        }
        wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
        wanted
            .into_iter()
            .map(|(_, draft)| draft)
            .take(most)
            .collect()
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        findings::findings(dataset, None)
    }

    fn findings_on(&self, facts: &HostFacts, dataset: &Dataset) -> Vec<Finding> {
        findings::findings(dataset, Some(facts))
    }
}
