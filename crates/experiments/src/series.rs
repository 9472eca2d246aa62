//! Series of a dataset: groups of points with common coordinates.

use report::{Coordinate, Dataset, Measured, Point, VerdictGrade};

/// The distinct `items`, in the order in which they first appear.
pub fn unique<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().fold(Vec::new(), |mut seen, item| {
        if !seen.contains(&item) {
            seen.push(item);
        }
        seen
    })
}

/// `items` grouped by `key`. Groups and their members are in the order of first appearance.
pub fn grouped<K: PartialEq, T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(&item);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// Measurement of `point`; `None` if the point has none or its verdict is rejected.
pub fn not_rejected(point: &Point) -> Option<&Measured> {
    point
        .outcome
        .measured()
        .filter(|measured| measured.verdict.grade != VerdictGrade::Rejected)
}

/// Highest coordinate of a point on `axis`; `None` if no point has a number there.
pub fn highest(dataset: &Dataset, axis: &str) -> Option<u64> {
    let numbers = dataset.points.iter().filter_map(|p| p.number(axis));
    numbers.max()
}

/// Points that have the same CPU, kind of pages and repeat.
pub struct CpuSeries<'a> {
    /// Points in the order of the dataset.
    pub points: Vec<&'a Point>,
    /// Words about the CPU: ` on CPU 3`. Empty if all series have the same CPU.
    pub on_cpu: String,
    /// Kind of pages of the points.
    pub pages: Option<Coordinate>,
    /// True if not all series from [`by_cpu`] have the same kind of pages.
    pub several_pages: bool,
}

/// `points` grouped by CPU, kind of pages and repeat.
pub fn by_cpu<'a>(points: impl IntoIterator<Item = &'a Point>) -> Vec<CpuSeries<'a>> {
    let key = |point: &&Point| {
        ["cpu", "pages", "repeat"].map(|axis| point.coordinates.get(axis).cloned())
    };
    let groups = grouped(points, key);
    let differ = |axis: usize| groups.iter().any(|(key, _)| key[axis] != groups[0].0[axis]);
    let several_cpus = differ(0);
    let several_pages = differ(1);
    let series = |([cpu, pages, _], points): ([Option<Coordinate>; 3], Vec<&'a Point>)| CpuSeries {
        points,
        on_cpu: cpu
            .filter(|_| several_cpus)
            .map(|cpu| format!(" on CPU {cpu}"))
            .unwrap_or_default(),
        pages,
        several_pages,
    };
    groups.into_iter().map(series).collect()
}
