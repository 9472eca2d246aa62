//! Datasets: values of one quantity, each at a point that has coordinates on named axes.

use super::{Measured, Outcome, VerdictGrade};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Quantity of a dataset's values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Quantity {
    /// Name in the field's terms: `bandwidth`, `latency`.
    pub name: String,
    /// Base unit: `B/s`, `ns`.
    pub unit: String,
    /// True if a higher value is better (bandwidth), false if a lower value is better (latency).
    pub higher_is_better: bool,
}

/// Profile name of a session whose points the user chose. The table of such a session has a row for
/// each point, instead of one for each cache level.
pub const CHOSEN_PROFILE: &str = "chosen";

/// Axis that a point has if a selection finds its number of threads. The coordinate on this axis is
/// `best`. The coordinate on the axis `threads` is also `best` until the selection is done.
pub const REQUESTED_THREADS: &str = "requested_threads";

/// Coordinates of a point as the user requested them. The kernel is left out, because measuring may
/// choose it. `threads` and `size_bytes` are left out if selection chooses the number of threads.
pub fn requested_coordinates(coordinates: &Coordinates) -> Coordinates {
    let mut requested = coordinates.clone();
    retain_requested(&mut requested);
    requested
}

/// Removes from `coordinates` the axes that [`requested_coordinates`] leaves out.
pub fn retain_requested(coordinates: &mut Coordinates) {
    let best = coordinates.contains_key(REQUESTED_THREADS);
    coordinates.retain(|axis, _| {
        axis != "kernel" && !(best && ["threads", "size_bytes"].contains(&axis.as_str()))
    });
}

/// `coordinates` without `axes`. All points of a series along these axes have the same result.
pub fn without(coordinates: &Coordinates, axes: &[&str]) -> Coordinates {
    coordinates
        .iter()
        .filter(|(axis, _)| !axes.contains(&axis.as_str()))
        .map(|(axis, at)| (axis.clone(), at.clone()))
        .collect()
}

/// A direction along which points of a dataset differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Axis {
    /// Key of the axis in the coordinates of points.
    pub name: String,
    /// Base unit of numeric coordinates (`B`); `null` for counts and names.
    pub unit: Option<String>,
}

/// Position of a point on one axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

/// Coordinates of a point by axis name.
///
/// Memory experiments:
/// - `operation`, `kernel`, `level`.
/// - `size_bytes`: working set of one thread, all streams of the operation together.
/// - `threads`. If selection finds their number, `requested_threads` is `best`.
/// - `pages`, as requested: `4k`, `thp`, `huge`, `huge-1GiB`.
/// - `stride_bytes`. `repeat`: number of the repetition.
///
/// TLBs and caches:
/// - `entries`: number of pages that the chain visits.
/// - `pass`: 0 to discover, 1 to confirm or to refine.
/// - `nodes`: number of nodes of the chain, which share a cache set.
/// - `distance_bytes`: between the two nodes of a pair.
/// - `cache_bytes`: size of the cache that a probe is about.
/// - `partner`: CPU that reads at the same time; left out if there is none.
///
/// Between CPUs:
/// - `from`, `to`: the two CPUs.
/// - `relation` of the two CPUs: `same-core`, `shared-l2`, `shared-l3`, `same-package`,
///   `cross-package`, `unknown`.
///
/// Over numbers of threads:
/// - `placement`: `spread`, `compact`.
/// - `cores`: physical cores that have a thread; left out if each thread has a core of its own.
/// - `per_cpu`: threads on each CPU; left out if there is one.
/// - `kind`: kind of core of the CPUs, or `all`; left out if the machine has one kind.
///
/// With background traffic:
/// - `mix`: `idle` without traffic. Otherwise the ratio of loads to stores, such as `67:33`,
///   `0:100nt` (non-temporal stores) or `3-readers-1-writers`.
/// - `pause_cycles`: core cycles between bursts of each thread.
/// - `threads`: number of threads of the traffic.
/// - `node`: NUMA node of all memory.
/// - `aggressor`: CPUs of the traffic; `none` without traffic.
///
/// Between NUMA nodes:
/// - `cpu_node`: a node or `all`.
/// - `memory_node`: a node, `local` for the node of each thread, `interleaved`, `weighted`.
/// - `distance` of the two nodes, as the system reports it.
/// - `node`, if only the node of the memory is requested.
///
/// Of GPUs:
/// - `device`, `peer`: numbers of the two devices in `memgauge list gpus`.
/// - `groups`: number of work-groups of the kernel.
/// - `host_memory`: `pinned`, `pageable`.
pub type Coordinates = BTreeMap<String, Coordinate>;

/// One point: its coordinates and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Point {
    /// Number of the point in the plan of its session, unique within a report.
    pub id: u64,
    /// Position of the point on the axes of its dataset.
    pub coordinates: Coordinates,
    /// Measured value, or the reason why there is none.
    pub outcome: Outcome,
}

impl Point {
    /// Coordinate on a numeric axis; `None` if the point has none.
    pub fn number(&self, axis: &str) -> Option<u64> {
        match self.coordinates.get(axis) {
            Some(Coordinate::Number(n)) => Some(*n),
            _ => None,
        }
    }

    /// Coordinate on an axis of names; `None` if the point has none.
    pub fn name(&self, axis: &str) -> Option<&str> {
        match self.coordinates.get(axis) {
            Some(Coordinate::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// The measurement if findings may use it. `None` if the point is not measured, is rejected or
    /// has no undisturbed sample.
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
    /// Points in the order of the plan. Follow-up points stand between their neighbours.
    pub points: Vec<Point>,
    /// True if the points serve findings only. Such a finding rests on many points together, so a
    /// single point may be inaccurate. Auxiliary points do not count in the report's verdict if
    /// other datasets exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auxiliary: bool,
    /// True if the points were computed from the points of other datasets. A derived point has the
    /// verdict of the points that it was computed from. It does not count in the report's verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub derived: bool,
}

impl Dataset {
    /// Moves points to their neighbours on a numeric axis. A point is moved if `placed` is true for
    /// its id. The neighbours of a point are the points that differ from it along that axis only.
    /// The rising or falling order of the neighbours is kept. A point with fewer than two
    /// neighbours goes to the end.
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

/// Index at which `point` belongs among the points that differ from it along `axis` only. `None`
/// unless at least two of these points keep their order (`placed` is false for their ids).
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

/// Appends the datasets `derived`, which were computed from existing ones. Their points get the
/// next free numbers.
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

/// Datasets that a verdict on the report is about: all datasets that are not auxiliary. If every
/// dataset is auxiliary, the result is all datasets.
pub fn headline(datasets: &[Dataset]) -> impl Iterator<Item = &Dataset> + Clone {
    let all = datasets.iter().all(|d| d.auxiliary);
    datasets.iter().filter(move |d| all || !d.auxiliary)
}

/// Factor from a base unit to the unit in which figures are printed, and the name of that unit.
pub fn printed_unit(unit: &str) -> (f64, &str) {
    match unit {
        "B/s" => (1e-9, "GB/s"),
        "1/s" => (1e-6, "million/s"),
        other => (1.0, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and numbers along `x` after arranging a dataset of `points`, numbered in this order.
    /// Points from number `placed` on count as placed.
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
        // One planned point does not show whether the order rises or falls.
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
