//! Experiments: one question each. An experiment turns its settings into points to measure and
//! reads findings from the measured dataset; how a point is measured is the engine's business.

#![forbid(unsafe_code)]

pub mod bandwidth;
pub mod caches;
mod chain_modes;
mod choices;
mod clusters;
pub mod core_to_core;
mod curve;
mod difference;
mod effect;
mod hierarchy;
pub mod instructions;
pub mod io;
pub mod latency;
mod lists;
pub mod loaded_latency;
pub mod locks;
mod nodes;
pub mod numa;
mod pairs;
pub mod patterns;
mod placement;
mod plausible;
pub mod scaling;
mod steps;
pub mod tlb;
mod windows;

pub use choices::{Choices, MixedOperations};
pub use effect::{Effect, Effects};
pub use hierarchy::{LastLevel, Level, Levels, Target};
pub use lists::{
    ChainMode, ChainModes, Count, Counts, Density, HandOffs, Instructions, Interleavings,
    LineSharing, Lines, LockOperations, OperationSpec, Operations, OrderKind, Orders, PageModes,
    Pair, Pairs, Placement, Placements, Quantities, Region, Regions, Spread, Studied, Timings,
    Widths,
};
pub use patterns::OrderedOperations;
pub use windows::WindowSettings;

use engine::{Machine, Sampling, Windows, Work};
use report::{Axis, Coordinates, Dataset, Finding, HostFacts, Outcome, Quantity};
use units::error::{Error, Result};
use units::{Bytes, Nanos};

/// How much of a machine is looked at when the user names no sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// One point well inside each level: fewest points that tell the levels apart.
    Brief,
    /// The same, and what non-temporal stores and small pages make of memory.
    Levels,
    /// A sweep over sizes that shows the levels' boundaries.
    Sweep,
}

/// Points that are drafted at most to tell how many there would be.
const MOST_COUNTED: usize = 20_000;

/// What an experiment plans for.
pub struct Scope<'a> {
    /// The machine: its facts, and which kernels it has.
    pub machine: &'a dyn Machine,
    /// The CPUs of the run, in the order in which threads are placed.
    pub cpus: &'a [u32],
    /// Names of all experiments of the run.
    pub experiments: Vec<&'static str>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Points that are allowed in each repeat: what chooses its points takes no more of them.
    pub most_points: usize,
    /// What the last-level caches of the run are known to hold together: the user says so, or
    /// timing showed it.
    pub last_level: Option<Bytes>,
}

impl Scope<'_> {
    /// Refuses `count` points where that is far more than are allowed. To be asked while points are
    /// drafted: lists that multiply make more of them than memory holds. The plan refuses what is
    /// only a little more, since it knows the sum.
    pub fn room_for(&self, count: usize) -> Result<()> {
        let most = self.most_points.max(MOST_COUNTED);
        if count <= most {
            return Ok(());
        }
        Err(Error::usage(format!(
            "too many points: more than {most}; {} are allowed; type fewer values",
            self.most_points
        )))
    }

    /// What is known about the machine.
    pub fn facts(&self) -> &HostFacts {
        self.machine.facts()
    }

    /// What a run may map at most.
    pub fn usable(&self) -> Bytes {
        self.facts()
            .memory
            .usable
            .get()
            .copied()
            .unwrap_or(Bytes(u64::MAX))
    }

    /// All last-level caches that the CPUs of the run use, together: as is known or the system
    /// reports; zero where caches are unknown.
    pub fn last_level(&self) -> Bytes {
        self.last_level
            .unwrap_or_else(|| self.facts().topology.last_level_total(self.cpus))
    }

    /// Those that `cpus` use: where all together are known to hold more or less than reported, so
    /// does each.
    pub fn last_level_of(&self, cpus: &[u32]) -> Bytes {
        let reported = self.facts().topology.last_level_total(cpus);
        let all = self.facts().topology.last_level_total(self.cpus);
        let share =
            |known: Bytes| u128::from(known.0) * u128::from(reported.0) / u128::from(all.0.max(1));
        self.last_level.map_or(reported, |known| {
            Bytes(u64::try_from(share(known)).unwrap_or(u64::MAX))
        })
    }
}

/// An upper bound that can be computed for a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// None is known.
    Unknown,
    /// What the paths between the cores and their L1 data caches carry.
    L1Ports,
    /// What the memory modules carry.
    Memory,
}

/// A point that an experiment wants measured.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Where it lies.
    pub coordinates: Coordinates,
    /// What to measure, or what is already known about the outcome.
    pub work: std::result::Result<Work, Outcome>,
    /// What the value cannot exceed.
    pub bound: Bound,
    /// When time is short, points of the highest number go first.
    pub drop_priority: u8,
}

impl Draft {
    /// Unsupported for the reason `hidden`, if there is one. A point that is unsupported already
    /// keeps its own reason.
    fn unless(mut self, hidden: Option<&String>) -> Self {
        if let Some(reason) =
            hidden.filter(|_| !matches!(self.work, Err(Outcome::Unsupported { .. })))
        {
            self.work = Err(Outcome::Unsupported {
                reason: reason.clone(),
            });
        }
        self
    }
}

/// Samples of memory are no shorter than this: reading the counter and starting the threads would
/// show.
const SHORTEST_SAMPLE: Nanos = Nanos(0.2e6);

/// One question about the machine, with the settings that make it precise.
pub trait Experiment {
    /// The name users type.
    fn name(&self) -> &'static str;

    /// What its values are.
    fn quantity(&self) -> Quantity;

    /// The axes of its dataset.
    fn axes(&self) -> Vec<Axis>;

    /// The points to measure, in the order of tables. Fails on settings that this machine cannot
    /// meet.
    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>>;

    /// Where the points differ from what was asked for, a sentence each: sizes that were rounded.
    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String>;

    /// Whether its chains are built anew whenever their turn comes, in memory for the largest of
    /// them: where all of them together would take many times that.
    fn rebuilds_chains(&self) -> bool {
        false
    }

    /// Stand-ins for points that are placed once others are measured, a list for each stage: each
    /// as long to measure and as large in memory as any point that [`Experiment::place`] may put
    /// there.
    fn reserve(&self, _scope: &Scope<'_>) -> Result<Vec<Vec<Draft>>> {
        Ok(Vec::new())
    }

    /// The points of `stage`, the first after the drafted ones being 0, from what was `measured`
    /// before: at most `most`, as many of its stand-ins as the plan has room for. Stand-ins that
    /// are not needed vanish.
    fn place(
        &self,
        _scope: &Scope<'_>,
        _stage: usize,
        _most: usize,
        _measured: &Dataset,
    ) -> Vec<Draft> {
        Vec::new()
    }

    /// Whether other experiments size memory by what its points of `stage` show, `None` being those
    /// that are drafted: these are measured before all others.
    fn sizes_memory(&self, _stage: Option<usize>) -> bool {
        false
    }

    /// Whether its points only serve its findings, see [`Dataset::auxiliary`].
    fn is_auxiliary(&self) -> bool {
        false
    }

    /// How its points are sampled where points in `general` are so: other numbers of samples and
    /// rounds where many points tell something together. Never applied to samples that the user
    /// fixed.
    fn sampling(&self, general: Sampling) -> Sampling {
        general
    }

    /// The same where samples are `share` (0 to 1) of what was asked for, for want of time.
    fn sampling_within(&self, general: Sampling, _share: f64) -> Sampling {
        self.sampling(general)
    }

    /// The shortest sample that says something, however little time there is.
    fn shortest_sample(&self) -> Nanos {
        SHORTEST_SAMPLE
    }

    /// The short windows whose distribution is taken beside the samples of each point.
    fn windows(&self) -> Option<Windows> {
        None
    }

    /// Adds to measured points what only all of them together show: shares of one of them.
    fn finish(&self, _dataset: &mut Dataset) {}

    /// Something else that its points show, as points of their own: see [`Dataset::derived`].
    fn derived(&self, _dataset: &Dataset) -> Option<Dataset> {
        None
    }

    /// What is worth a sentence about the measured points.
    fn findings(&self, dataset: &Dataset) -> Vec<Finding>;

    /// The same on a machine of which `facts` are reported, to stand beside what was measured.
    fn findings_on(&self, _facts: &HostFacts, dataset: &Dataset) -> Vec<Finding> {
        self.findings(dataset)
    }
}

/// An experiment as listed, and how a profile sets it up.
pub struct Row {
    /// The name users type.
    pub name: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// The least detailed profile that it is part of unless asked for by name; `None` for what has
    /// to be told what to measure.
    pub least: Option<Detail>,
    /// The experiment as part of a profile.
    pub in_profile: fn(Detail) -> Box<dyn Experiment>,
}

/// Every experiment, in the order of profiles and lists.
pub static EXPERIMENTS: [Row; 13] = [
    Row {
        name: "bandwidth",
        question: "how many bytes per second do threads read, write and copy at each level of the \
             hierarchy?",
        least: Some(Detail::Brief),
        in_profile: |detail| Box::new(bandwidth::Bandwidth::in_profile(detail)),
    },
    Row {
        name: "latency",
        question: "how long does a load take that needs the one before it, at each level of the \
             hierarchy?",
        least: Some(Detail::Brief),
        in_profile: |detail| Box::new(latency::Latency::in_profile(detail)),
    },
    Row {
        name: "scaling",
        question: "how does bandwidth grow with the number of threads, and how many does memory \
             need?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(scaling::Scaling::in_profile(detail)),
    },
    Row {
        name: "core-to-core",
        question: "how long does a value take from one core to another and back, for every pair \
             of cores?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(core_to_core::CoreToCore::in_profile(detail)),
    },
    Row {
        name: "numa",
        question: "how many bytes per second does each NUMA node's CPUs get from each node's \
             memory?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(numa::NumaBandwidth::in_profile(detail)),
    },
    Row {
        name: "numa-latency",
        question: "how long does a load from each NUMA node's memory take on each node's CPUs?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(numa::NumaLatency::in_profile(detail)),
    },
    Row {
        name: "loaded-latency",
        question: "how long does a load take while other CPUs use the memory, and how much do \
             they move then?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(loaded_latency::LoadedLatency::in_profile(detail)),
    },
    Row {
        name: "patterns",
        question: "what do reverse, strided and random orders reach of the forward bandwidth?",
        least: Some(Detail::Sweep),
        in_profile: |detail| Box::new(patterns::Patterns::in_profile(detail)),
    },
    Row {
        name: "tlb",
        question: "how many pages does each TLB cover, and what does a miss in it cost?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(tlb::Tlb::in_profile(detail)),
    },
    Row {
        name: "caches",
        question: "how many caches are there, what does each hold, and how do they fetch and \
             replace lines?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(caches::Caches::in_profile(detail)),
    },
    Row {
        name: "instructions",
        question: "how many of an instruction does a core do, and how long does one wait for \
             another?",
        least: Some(Detail::Sweep),
        in_profile: |detail| Box::new(instructions::InstructionTimes::in_profile(detail)),
    },
    Row {
        name: "locks",
        question: "how many atomic operations, locks and fences do threads do on shared and \
             separate lines?",
        least: Some(Detail::Sweep),
        in_profile: |detail| Box::new(locks::Locks::in_profile(detail)),
    },
    Row {
        name: "io",
        question: "how many operations per second do files and devices do, and how long does each \
             take?",
        least: None,
        in_profile: |detail| Box::new(io::Storage::in_profile(detail)),
    },
];

/// An axis without a unit.
fn axis(name: &str) -> Axis {
    Axis {
        name: name.to_owned(),
        unit: None,
    }
}

/// An axis in bytes.
fn bytes_axis(name: &str) -> Axis {
    Axis {
        name: name.to_owned(),
        unit: Some("B".to_owned()),
    }
}
