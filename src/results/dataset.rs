//! Datasets: one quantity over named axes, a list of points.

use super::Outcome;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a dataset's values are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Quantity {
    /// The field's term: `bandwidth`, `latency`.
    pub name: String,
    /// Base unit: `B/s`, `ns`.
    pub unit: String,
    /// Whether more is better (bandwidth) or less (latency).
    pub higher_is_better: bool,
}

/// The axis of points whose number of threads was found by a race: `best`. Before the race `threads` says so too.
pub const ASKED_THREADS: &str = "asked_threads";

/// One direction along which the points of a dataset differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Axis {
    /// The key of this axis in every point's coordinates.
    pub name: String,
    /// Base unit of numeric coordinates (`B`), `null` for counts and names.
    pub unit: Option<String>,
}

/// Where on one axis a point lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(untagged)]
pub enum Coordinate {
    /// A count or an amount in the axis' base unit.
    Number(u64),
    /// A name.
    Name(String),
}

impl std::fmt::Display for Coordinate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Coordinate::Number(n) => write!(f, "{n}"),
            Coordinate::Name(name) => f.write_str(name),
        }
    }
}

/// The coordinates of a point by axis name.
///
/// Axes used by the memory experiments: `operation`, `kernel`, `level`, `size_bytes` (per thread, all streams of the
/// operation together), `threads`, `asked_threads` (`best` where their number was found by a race), `pages` (as asked for: `4k`,
/// `thp`, `huge`, `huge-1GiB`), `stride_bytes`, `repeat`. TLBs and caches: `entries`, `pass` (0 to discover, 1 to confirm or to look more
/// closely), `nodes` (that share a set), `distance_bytes` (between the two of a pair), `cache_bytes` (the cache that a probe is
/// about), `partner` (the CPU that reads beside, absent for none). Between CPUs: `from`, `to` and
/// `relation` (`same-core`, `shared-l2`, `shared-l3`, `same-package`, `cross-package`, `unknown`).
/// Over numbers of threads: `placement` (`spread`, `compact`), `cores` (physical ones that have a thread, where these are fewer
/// than the threads), `per_cpu` (threads on each CPU, where several), `kind` (the CPUs of one kind of core, or `all`, where there are several).
/// Beside traffic: `mix`
/// (`idle` without any; loads to stores: `67:33`, `0:100nt` with non-temporal ones; `3-readers-1-writers`), `pause_cycles` (core
/// cycles between bursts of each thread), `threads` (those of the traffic), `node` (of all memory), `bully` (its CPUs, `none` without).
/// Between NUMA nodes: `cpu_node` (a node or `all`), `memory_node` (a node, `local` for that of each thread, `interleaved`,
/// `weighted`) and `distance` as the system reports it; `node` where only the memory's is asked for.
pub type Coordinates = BTreeMap<String, Coordinate>;

/// One point: where it lies and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Point {
    /// Number of the point in the plan of its run, unique within a report.
    pub id: u64,
    /// Where it lies.
    pub coordinates: Coordinates,
    /// What came of it.
    pub outcome: Outcome,
}

impl Point {
    /// The coordinate on a numeric axis, `None` where the point has none.
    pub fn number(&self, axis: &str) -> Option<u64> {
        match self.coordinates.get(axis) {
            Some(Coordinate::Number(n)) => Some(*n),
            _ => None,
        }
    }

    /// The coordinate on an axis of names, `None` where the point has none.
    pub fn name(&self, axis: &str) -> Option<&str> {
        match self.coordinates.get(axis) {
            Some(Coordinate::Name(name)) => Some(name),
            _ => None,
        }
    }
}

/// All points of one experiment that share a quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Dataset {
    /// Name of the experiment: `bandwidth`, `latency`.
    pub experiment: String,
    /// What the values are.
    pub quantity: Quantity,
    /// The axes along which points differ.
    pub axes: Vec<Axis>,
    /// In the order of the plan.
    pub points: Vec<Point>,
    /// Whether the points only serve the findings: a boundary rests on many of them that agree, none of which has to be
    /// known well. They count in no judgement on the report that has other datasets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auxiliary: bool,
}

/// The datasets that a judgement on all of them is about: those that are not auxiliary, or all where there are no others.
pub fn headline(datasets: &[Dataset]) -> impl Iterator<Item = &Dataset> + Clone {
    let all = datasets.iter().all(|d| d.auxiliary);
    datasets.iter().filter(move |d| all || !d.auxiliary)
}
