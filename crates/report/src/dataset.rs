//! Datasets: one quantity over named axes, a list of points.

use super::{Measured, Outcome, VerdictGrade};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Quantity of a dataset's values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Quantity {
    /// The field's term: `bandwidth`, `latency`.
    pub name: String,
    /// Base unit: `B/s`, `ns`.
    pub unit: String,
    /// Whether more is better (bandwidth) or less (latency).
    pub higher_is_better: bool,
}

/// Name of the profile of a run whose points the user chose: each of them is worth a row, and none
/// stands for a level.
pub const CHOSEN_PROFILE: &str = "chosen";

/// The axis of points whose number of threads was found by selection: `best`. Before the selection
/// `threads` says so too.
pub const ASKED_THREADS: &str = "asked_threads";

/// Coordinates of a point without those that measuring may choose: its kernel and, with the best
/// number of threads, that number and its size.
pub fn place_asked_for(coordinates: &Coordinates) -> Coordinates {
    let best = coordinates.contains_key(ASKED_THREADS);
    let chosen =
        |axis: &str| axis == "kernel" || (best && ["threads", "size_bytes"].contains(&axis));
    coordinates
        .iter()
        .filter(|(axis, _)| !chosen(axis))
        .map(|(axis, at)| (axis.clone(), at.clone()))
        .collect()
}

/// The coordinates but those along `axes`: equal for points of one series along these.
pub fn without(coordinates: &Coordinates, axes: &[&str]) -> Coordinates {
    coordinates
        .iter()
        .filter(|(axis, _)| !axes.contains(&axis.as_str()))
        .map(|(axis, at)| (axis.clone(), at.clone()))
        .collect()
}

/// One direction along which the points of a dataset differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Axis {
    /// The key of this axis in every point's coordinates.
    pub name: String,
    /// Base unit of numeric coordinates (`B`), `null` for counts and names.
    pub unit: Option<String>,
}

/// Position of a point on one axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
/// Axes used by the memory experiments: `operation`, `kernel`, `level`, `size_bytes` (per thread,
/// all streams of the operation together), `threads`, `asked_threads` (`best` where their number
/// was found by selection), `pages` (as requested: `4k`, `thp`, `huge`, `huge-1GiB`),
/// `stride_bytes`,
/// `repeat`. TLBs and caches: `entries`, `pass` (0 to discover, 1 to confirm or to look more
/// closely), `nodes` (that share a set), `distance_bytes` (between the two of a pair),
/// `cache_bytes` (the cache that a probe is about), `partner` (the CPU that reads beside, absent
/// for none). Between CPUs: `from`, `to` and `relation` (`same-core`, `shared-l2`, `shared-l3`,
/// `same-package`, `cross-package`, `unknown`). Over numbers of threads: `placement` (`spread`,
/// `compact`), `cores` (physical ones that have a thread, where these are fewer than the threads),
/// `per_cpu` (threads on each CPU, where several), `kind` (the CPUs of one kind of core, or `all`,
/// where there are several). With background traffic: `mix` (`idle` without any; loads to stores:
/// `67:33`,
/// `0:100nt` with non-temporal ones; `3-readers-1-writers`), `pause_cycles` (core cycles between
/// bursts of each thread), `threads` (those of the traffic), `node` (of all memory), `aggressor` (its
/// CPUs, `none` without). Between NUMA nodes: `cpu_node` (a node or `all`), `memory_node` (a node,
/// `local` for that of each thread, `interleaved`, `weighted`) and `distance` as the system reports
/// it; `node` where only the memory's is requested.
pub type Coordinates = BTreeMap<String, Coordinate>;

/// One point: where it lies and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Point {
    /// Number of the point in the plan of its run, unique within a report.
    pub id: u64,
    /// Coordinates of the point.
    pub coordinates: Coordinates,
    /// Outcome of the point.
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

    /// Measurement that a finding may rest on: it is not rejected and has undisturbed samples.
    pub fn usable(&self) -> Option<&Measured> {
        let is_usable = |m: &&Measured| {
            m.verdict.grade != VerdictGrade::Rejected && m.summary.undisturbed_samples > 0
        };
        self.outcome.measured().filter(is_usable)
    }
}

/// All points of one experiment that share a quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Dataset {
    /// Name of the experiment: `bandwidth`, `latency`.
    pub experiment: String,
    /// Quantity of the values.
    pub quantity: Quantity,
    /// The axes along which points differ.
    pub axes: Vec<Axis>,
    /// In the order of the plan, with those that were placed during the run between their
    /// neighbours.
    pub points: Vec<Point>,
    /// Whether the points only serve the findings: a boundary rests on many of them that agree,
    /// none of which has to be known well. They count in no judgement on the report that has other
    /// datasets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auxiliary: bool,
    /// Whether the points were not measured for themselves: they show something else of the points
    /// of another dataset, with whose verdicts they come, and are judged with those.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub derived: bool,
}

impl Dataset {
    /// Puts the points that were `placed` during the run between those that they lie between: where
    /// at least two of the others differ from one along a single numeric axis, it goes among them
    /// in the direction in which they run. The rest follow at the end.
    pub fn arrange(&mut self, placed: impl Fn(u64) -> bool) {
        let (mut later, mut points): (Vec<Point>, Vec<Point>) = std::mem::take(&mut self.points)
            .into_iter()
            .partition(|point| placed(point.id));
        later.sort_by_key(|point| point.id);
        let mut rest = Vec::new();
        for point in later {
            match point
                .coordinates
                .keys()
                .find_map(|axis| place_along(axis, &points, &point, &placed))
            {
                Some(at) => points.insert(at, point),
                None => rest.push(point),
            }
        }
        points.append(&mut rest);
        self.points = points;
    }
}

/// Place of `point` among those of `points` that differ from it along `axis` only; `None` if fewer
/// than two of them were not `placed`.
fn place_along(
    axis: &str,
    points: &[Point],
    point: &Point,
    placed: &impl Fn(u64) -> bool,
) -> Option<usize> {
    let value = point.number(axis)?;
    let place = |p: &Point| {
        let mut place = p.coordinates.clone();
        place.remove(axis);
        place
    };
    let own = place(point);
    let beside = |p: &Point| place(p) == own;
    let all = points.iter().enumerate().filter(|(_, p)| beside(p));
    let line: Vec<(usize, u64)> = all
        .filter_map(|(at, p)| Some((at, p.number(axis)?)))
        .collect();
    let planned = line
        .iter()
        .filter(|(at, _)| !placed(points[*at].id))
        .count();
    let first = line.first()?;
    let last = line.last()?;
    let beyond = |other: u64| {
        if first.1 < last.1 {
            other > value
        } else {
            other < value
        }
    };
    let next = line
        .iter()
        .find(|(_, other)| beyond(*other))
        .map(|(at, _)| *at);
    (planned > 1).then(|| next.unwrap_or(last.0 + 1))
}

/// Adds datasets that are made of those there; their points get the numbers that follow.
pub fn add_derived(datasets: &mut Vec<Dataset>, derived: Vec<Dataset>) {
    let last = datasets
        .iter()
        .flat_map(|d| &d.points)
        .map(|point| point.id)
        .max();
    let mut next = last.map_or(0, |last| last.saturating_add(1));
    for mut dataset in derived {
        dataset.derived = true;
        for point in &mut dataset.points {
            point.id = next;
            next = next.saturating_add(1);
        }
        datasets.push(dataset);
    }
}

/// The datasets that a judgement on all of them is about: those that are not auxiliary, or all
/// where there are no others.
pub fn headline(datasets: &[Dataset]) -> impl Iterator<Item = &Dataset> + Clone {
    let all = datasets.iter().all(|d| d.auxiliary);
    datasets.iter().filter(move |d| all || !d.auxiliary)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dataset of points along `x` beside a `name`, numbered in this order, and the names and
    /// numbers after those from `placed` on were arranged.
    fn arranged(points: &[(&str, u64)], placed: u64) -> Vec<(String, u64)> {
        let point = |(id, &(name, x)): (usize, &(&str, u64))| {
            let name = ("name".to_owned(), Coordinate::Name(name.to_owned()));
            let coordinates = Coordinates::from([name, ("x".to_owned(), Coordinate::Number(x))]);
            Point {
                id: id as u64,
                coordinates,
                outcome: Outcome::Skipped {
                    reason: "a test".to_owned(),
                },
            }
        };
        let quantity = Quantity {
            name: "x".to_owned(),
            unit: "x".to_owned(),
            higher_is_better: true,
        };
        let points = points.iter().enumerate().map(point).collect();
        let mut dataset = Dataset {
            experiment: "x".to_owned(),
            quantity,
            axes: Vec::new(),
            points,
            auxiliary: false,
            derived: false,
        };
        dataset.arrange(|id| id >= placed);
        let place = |p: &Point| {
            (
                p.name("name").unwrap_or_default().to_owned(),
                p.number("x").unwrap_or_default(),
            )
        };
        dataset.points.iter().map(place).collect()
    }

    #[test]
    fn placed_points_stand_between_their_neighbours_in_either_direction() {
        let points = [("a", 9), ("a", 5), ("a", 1), ("b", 1), ("b", 5), ("c", 7)];
        let later = [
            ("b", 3),
            ("a", 4),
            ("a", 3),
            ("a", 11),
            ("b", 0),
            ("b", 8),
            ("a", 0),
            ("c", 6),
            ("d", 2),
        ];
        let found = arranged(&[&points[..], &later[..]].concat(), 6);
        let with_name = |name: &str| {
            found
                .iter()
                .filter(|(n, _)| n == name)
                .map(|(_, x)| *x)
                .collect::<Vec<u64>>()
        };
        assert_eq!(with_name("a"), [11, 9, 5, 4, 3, 1, 0]);
        assert_eq!(with_name("b"), [0, 1, 3, 5, 8]);
        // A single point shows no direction.
        assert_eq!(
            found[12..],
            [("c", 7), ("c", 6), ("d", 2)].map(|(name, x)| (name.to_owned(), x))
        );
        assert_eq!(
            arranged(&points, 6),
            points.map(|(name, x)| (name.to_owned(), x))
        );
    }
}
