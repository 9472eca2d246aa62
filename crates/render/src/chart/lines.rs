//! Makes series over a horizontal axis from the points of a quantity.

use super::findings::{self, Axis};
use super::looks::{SeriesPosition, SeriesStyle, looks};
use super::scale::{Numbers, Scale};
use super::series::{Lines, Mark, Series};
use super::spot::{ChartPoint, Part, measured, number, spot};
use crate::figures::{axis_title, coordinate, printed_unit, varying_axes};
use crate::text::{clean, shorten};
use report::{Coordinate, Coordinates, Dataset, Point};
use std::collections::{BTreeMap, BTreeSet};

/// Axes whose coordinates often follow from other coordinates. Axes are tried in this order when
/// superfluous ones are left out.
const FOLLOWERS: [&str; 5] = ["kernel", "prefetch_bytes", "level", "relation", "assembly"];

/// Axes whose coordinates determine the size. If points have one of them, the chart is not drawn
/// over the size.
const SIZES_FOLLOW: [&str; 2] = ["entries", "placement"];

/// Largest number of series in one chart.
const MAX_SERIES: usize = 200;

/// Largest number of points in one chart. More points could not be distinguished.
pub(crate) const MAX_SPOTS: usize = 6000;

/// Makes series of several reports over one axis. `merged` has the coordinates of all points. If
/// several reports have points, the name of each series contains the name of its report.
pub(super) fn lines(parts: &[Part<'_>], merged: &Dataset, names: &[String], factor: f64) -> Lines {
    let several = merged
        .points
        .iter()
        .any(|p| merged.points.first().is_some_and(|first| first.id != p.id));
    let mut varying = varying_axes(merged);
    // A series has the points of all repeats.
    varying.retain(|axis| *axis != "repeat");
    let x = axis(merged, &varying);
    let others = others(merged, &varying, x);
    let along = Along::from_parts(parts, merged, x);
    let mut series = Collector {
        others: &others,
        names: if several { names } else { &[] },
        series: Vec::new(),
        positions: Vec::new(),
        keys: BTreeMap::new(),
        groups: Vec::new(),
    };
    for part in parts {
        for point in along.sorted(&part.dataset.points) {
            if let Some(spot) = along.spot(point, factor) {
                series.add(part.report, &point.coordinates, spot);
            }
        }
    }
    let Collector {
        mut series,
        positions,
        ..
    } = series;
    let joined = !matches!(along, Along::Names { .. });
    series
        .iter_mut()
        .zip(looks(&positions, joined))
        .for_each(|(series, look)| series.look = look);
    if !matches!(along, Along::Load { .. }) {
        series
            .iter_mut()
            .for_each(|s| s.spots.sort_by(|a, b| a.x.total_cmp(&b.x)));
    }
    thin(&mut series);
    let spots = || series.iter().flat_map(|s| &s.spots);
    let x_scale = along.scale(spots());
    let y = Scale::fitting(
        String::new(),
        spots().flat_map(|s| [s.y, s.low, s.high]),
        Numbers::Values,
    );
    let mut lines = Lines {
        x: x_scale,
        names: !joined,
        y,
        series,
        marks: Vec::new(),
        notes: Vec::new(),
    };
    if let Along::Numbers("size_bytes") = along {
        lines.marks = marks(merged);
        if lines.marks.is_empty() {
            lines.marks = findings::levels(parts, merged);
        }
    }
    lines.notes = match along {
        Along::Load { .. } => {
            findings::notes(parts, &lines, Axis::Load(printed_unit(RATE).0), factor)
        }
        Along::Numbers(axis) => findings::notes(parts, &lines, Axis::Of(axis), factor),
        Along::Names { .. } => Vec::new(),
    };
    lines
}

/// Drops points of long series if a chart has too many points. Of neighbouring points, the lowest
/// and the highest stay, so that outliers remain visible.
fn thin(series: &mut [Series]) {
    let all: usize = series.iter().map(|s| s.spots.len()).sum();
    if all <= MAX_SPOTS {
        return;
    }
    let places = (MAX_SPOTS / 2 / series.len()).max(1);
    for one in series.iter_mut().filter(|s| s.spots.len() > 2 * places) {
        let neighbours = one.spots.len().div_ceil(places);
        let kept = one.spots.chunks(neighbours).flat_map(|chunk| {
            let lowest = (0..chunk.len()).min_by(|a, b| chunk[*a].y.total_cmp(&chunk[*b].y));
            let highest = (0..chunk.len()).max_by(|a, b| chunk[*a].y.total_cmp(&chunk[*b].y));
            let kept: BTreeSet<usize> = lowest.into_iter().chain(highest).collect();
            kept.into_iter().map(|at| chunk[at].clone())
        });
        one.spots = kept.collect();
    }
}

/// Unit of traffic in reports.
const RATE: &str = "B/s";

/// Kind of the horizontal axis.
enum Along<'a> {
    /// Measured background traffic. `control` is the axis whose coordinates determine the traffic.
    Load { control: Option<&'a str> },
    /// The numbers on the axis with this name.
    Numbers(&'a str),
    /// The names on an axis, or a single position if `axis` is `None`. `index` has the position of
    /// each name in `places`.
    Names {
        axis: Option<&'a str>,
        places: Vec<String>,
        index: BTreeMap<String, usize>,
    },
}

impl<'a> Along<'a> {
    fn from_parts(parts: &[Part<'_>], merged: &Dataset, x: Option<&'a str>) -> Self {
        let load = |p: &Point| p.outcome.measured().is_some_and(|m| m.load.is_some());
        match x {
            _ if measured(parts).any(load) => Along::Load { control: x },
            Some(axis)
                if merged
                    .points
                    .iter()
                    .all(|p| number(p.coordinates.get(axis)).is_some()) =>
            {
                Along::Numbers(axis)
            }
            axis => {
                let places = places(merged, axis);
                let index = places
                    .iter()
                    .enumerate()
                    .map(|(i, name)| (name.clone(), i))
                    .collect();
                Along::Names {
                    axis,
                    places,
                    index,
                }
            }
        }
    }

    /// Sorts points into the order in which lines join them. Over background traffic, this is the
    /// order of the requested traffic, otherwise the order of `points`.
    fn sorted<'p>(&self, points: &'p [Point]) -> Vec<&'p Point> {
        let mut points: Vec<&Point> = points.iter().collect();
        if let Along::Load {
            control: Some(control),
        } = self
        {
            // A longer pause means less traffic. A point without a pause is idle, and comes first.
            points.sort_by_key(|p| std::cmp::Reverse(p.number(control).unwrap_or(u64::MAX)));
        }
        points
    }

    /// Makes the point at its position on the axis. `None` if the point has no number or no
    /// position. On an axis of traffic, a point without traffic lies at zero.
    fn spot(&self, point: &Point, factor: f64) -> Option<ChartPoint> {
        match self {
            Along::Load { .. } => {
                let load = point.outcome.measured()?.load;
                let (unit, _) = printed_unit(RATE);
                let at = |value: fn(&report::Load) -> f64| load.as_ref().map_or(0.0, value) * unit;
                let ends = [at(|l| l.ci_low), at(|l| l.ci_high)];
                let [x_low, x_high] = ends.iter().all(|end| end.is_finite()).then_some(ends)?;
                Some(ChartPoint {
                    x_low,
                    x_high,
                    ..spot(point, at(|l| l.median), factor)?
                })
            }
            Along::Numbers(axis) => spot(point, number(point.coordinates.get(*axis))?, factor),
            Along::Names { axis: None, .. } => spot(point, 0.0, factor),
            Along::Names {
                axis: Some(axis),
                index,
                ..
            } => {
                let place = index.get(&word(axis, point.coordinates.get(*axis)?))?;
                spot(point, *place as f64, factor)
            }
        }
    }

    /// Scale of the axis that fits `spots`.
    fn scale<'s>(&self, spots: impl Iterator<Item = &'s ChartPoint>) -> Scale {
        match self {
            Along::Load { .. } => {
                let title = format!("background traffic in {}", printed_unit(RATE).1);
                Scale::fitting(
                    title,
                    spots.flat_map(|s| [s.x, s.x_low, s.x_high]),
                    Numbers::Values,
                )
            }
            Along::Numbers(axis) => {
                let kind = if axis.ends_with("_bytes") {
                    Numbers::Bytes
                } else {
                    Numbers::Counts
                };
                Scale::fitting(clean(&axis_title(axis)), spots.map(|s| s.x), kind)
            }
            Along::Names { axis, places, .. } => Scale::of_names(
                axis.map(|axis| clean(&axis_title(axis)))
                    .unwrap_or_default(),
                places,
            ),
        }
    }
}

/// Axis over which the chart is drawn: the axis with the most distinct numbers. If no axis has
/// numbers, it is the axis with the most distinct names. Of several such axes, the first one in the
/// dataset is taken.
fn axis<'a>(merged: &Dataset, varying: &[&'a str]) -> Option<&'a str> {
    let different = |axis: &str| {
        merged
            .points
            .iter()
            .filter_map(|p| p.coordinates.get(axis))
            .collect::<BTreeSet<_>>()
    };
    let numbers = |axis: &str| {
        let all = different(axis);
        if axis == "repeat" || all.iter().any(|c| matches!(c, Coordinate::Name(_))) {
            0
        } else {
            all.len()
        }
    };
    // Among axes with equally many numbers, the size is preferred. The size is not taken if it
    // follows from another axis: the number of entries, or the placement of threads.
    let follow = |p: &Point| {
        SIZES_FOLLOW
            .iter()
            .any(|axis| p.coordinates.contains_key(*axis))
    };
    let follows = merged.points.iter().any(follow);
    let weight = |axis: &str| match axis {
        "size_bytes" if follows => 0,
        axis => 2 * numbers(axis) + usize::from(axis == "size_bytes"),
    };
    let first_most = |weight: &dyn Fn(&str) -> usize| {
        let best = varying.iter().map(|axis| weight(axis)).max().unwrap_or(0);
        (best > 1)
            .then(|| varying.iter().copied().find(|axis| weight(axis) == best))
            .flatten()
    };
    first_most(&weight).or_else(|| first_most(&|axis| different(axis).len()))
}

/// Axes that distinguish series. Varying axes are left out if their coordinates follow from the
/// other axes. If coordinates follow from the report, only the axes in [`FOLLOWERS`] are left out.
fn others<'a>(merged: &Dataset, varying: &[&'a str], x: Option<&str>) -> Vec<&'a str> {
    let mut kept: Vec<&str> = varying
        .iter()
        .copied()
        .filter(|axis| Some(*axis) != x)
        .collect();
    let distinct = |axes: &[&str], by_report: bool| {
        let key = |c: &Coordinates| -> Vec<Option<Coordinate>> {
            axes.iter().map(|a| c.get(*a).cloned()).collect()
        };
        let x_at = |c: &Coordinates| x.and_then(|x| c.get(x).cloned());
        let place = |p: &Point| {
            (
                by_report.then_some(p.id),
                x_at(&p.coordinates),
                key(&p.coordinates),
            )
        };
        merged
            .points
            .iter()
            .map(place)
            .collect::<BTreeSet<_>>()
            .len()
    };
    let followers = FOLLOWERS
        .iter()
        .copied()
        .filter(|axis| varying.contains(axis))
        .map(|axis| (axis, true));
    let rest = varying
        .iter()
        .rev()
        .copied()
        .filter(|axis| !FOLLOWERS.contains(axis))
        .map(|axis| (axis, false));
    for (axis, by_report) in followers.chain(rest).collect::<Vec<_>>() {
        let fewer: Vec<&str> = kept.iter().copied().filter(|a| *a != axis).collect();
        if fewer.len() < kept.len() && distinct(&fewer, by_report) == distinct(&kept, by_report) {
            kept = fewer;
        }
    }
    kept
}

/// Names on the axis `x`, in the order of the points.
fn places(merged: &Dataset, x: Option<&str>) -> Vec<String> {
    let Some(x) = x else {
        return vec![String::new()];
    };
    let mut seen = BTreeSet::new();
    let all = merged
        .points
        .iter()
        .filter_map(|p| p.coordinates.get(x))
        .map(|c| word(x, c));
    all.filter(|name| seen.insert(name.clone())).collect()
}

/// A coordinate in words.
fn word(axis: &str, at: &Coordinate) -> String {
    coordinate(axis, at)
}

/// Coordinates of a series on the axes that distinguish series, in the order of these axes.
type Key = Vec<Option<Coordinate>>;

/// Collects points into series.
struct Collector<'a> {
    others: &'a [&'a str],
    /// Names of the reports; empty if all points are from one report.
    names: &'a [String],
    series: Vec<Series>,
    /// Position of each series among all series, in the order of `series`.
    positions: Vec<SeriesPosition>,
    keys: BTreeMap<(usize, Key), usize>,
    groups: Vec<(Option<Coordinate>, Vec<Key>)>,
}

impl Collector<'_> {
    /// Adds a point to its series. The series is made if it does not exist yet.
    fn add(&mut self, report: usize, at: &Coordinates, spot: ChartPoint) {
        let key: Vec<Option<Coordinate>> = self
            .others
            .iter()
            .map(|axis| at.get(*axis).cloned())
            .collect();
        let place = match self.keys.get(&(report, key.clone())) {
            Some(place) => *place,
            None if self.series.len() >= MAX_SERIES => return,
            None => {
                let position = self.position(report, &key);
                self.positions.push(position);
                let name = self.name(report, at);
                self.series.push(Series {
                    name,
                    report,
                    look: SeriesStyle::default(),
                    spots: Vec::new(),
                });
                self.keys.insert((report, key), self.series.len() - 1);
                self.series.len() - 1
            }
        };
        self.series[place].spots.push(spot);
    }

    /// Position of a series. Its first coordinate determines the group, its other coordinates the
    /// member.
    fn position(&mut self, report: usize, key: &[Option<Coordinate>]) -> SeriesPosition {
        let first = key.first().cloned().flatten();
        let rest = key.get(1..).unwrap_or_default().to_vec();
        let group = self
            .groups
            .iter()
            .position(|(known, _)| *known == first)
            .unwrap_or_else(|| {
                self.groups.push((first, Vec::new()));
                self.groups.len() - 1
            });
        let members = &mut self.groups[group].1;
        let member = members
            .iter()
            .position(|known| *known == rest)
            .unwrap_or_else(|| {
                members.push(rest);
                members.len() - 1
            });
        SeriesPosition {
            group,
            member,
            report,
        }
    }

    /// Name of a series: its coordinates, and its report if there are several.
    fn name(&self, report: usize, at: &Coordinates) -> String {
        let told = self.others.iter().filter_map(|axis| {
            let at = at.get(*axis)?;
            Some(match at {
                Coordinate::Name(_) => word(axis, at),
                Coordinate::Number(_) => format!("{} {}", clean(&axis_title(axis)), word(axis, at)),
            })
        });
        let from = self.names.get(report).cloned();
        shorten(&told.chain(from).collect::<Vec<_>>().join(", "), 60)
    }
}

/// Marks of the memory levels along the sizes. Empty unless every point has a level and the ranges
/// of sizes of the levels do not overlap.
fn marks(merged: &Dataset) -> Vec<Mark> {
    let mut levels: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for point in &merged.points {
        let (Some(level), Some(size)) = (point.name("level"), point.number("size_bytes")) else {
            return Vec::new();
        };
        let range = levels.entry(level).or_insert((size, size));
        *range = (range.0.min(size), range.1.max(size));
    }
    let mut levels: Vec<(&str, (u64, u64))> = levels.into_iter().collect();
    levels.sort_by_key(|(_, range)| *range);
    if levels.len() < 2 || levels.windows(2).any(|pair| pair[0].1.1 >= pair[1].1.0) {
        return Vec::new();
    }
    let border = |below: u64, above: u64| (below as f64 * above as f64).sqrt();
    let place = |(i, (name, range)): (usize, &(&str, (u64, u64)))| Mark {
        name: shorten(name, 16),
        from: if i == 0 {
            0.0
        } else {
            border(levels[i - 1].1.1, range.0)
        },
        to: levels
            .get(i + 1)
            .map_or(f64::MAX, |next| border(range.1, next.1.0)),
    };
    levels.iter().enumerate().map(place).collect()
}
