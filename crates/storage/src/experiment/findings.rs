//! Computes the findings about storage.

use experiments::{Figure, saturation};
use report::{Dataset, Finding, Point};
use std::collections::{BTreeMap, BTreeSet};
use units::{Nanos, counted, significant};

/// All findings about the points of `dataset`.
pub fn findings(dataset: &Dataset) -> Vec<Finding> {
    let mut findings = otherwise(dataset);
    findings.extend(own_cost(dataset));
    findings.extend(depth(dataset));
    findings
}

/// Findings that repeat the remarks of the windows, such as refused direct I/O. Each remark becomes
/// one finding.
fn otherwise(dataset: &Dataset) -> Vec<Finding> {
    let storages = dataset
        .points
        .iter()
        .filter_map(|p| p.outcome.measured()?.storage.as_deref());
    let remarks: BTreeSet<&String> = storages.flat_map(|s| &s.remarks).collect();
    let finding = |text: &String| {
        let text = format!("Storage: {}.", text.trim_end_matches('.'));
        Finding::note("storage-otherwise", text)
    };
    remarks.into_iter().map(finding).collect()
}

/// Finding about the time that the program itself takes for an operation; `None` unless engine
/// `null` was measured.
fn own_cost(dataset: &Dataset) -> Option<Finding> {
    let null = |p: &&Point| p.name("engine") == Some("null") && p.number("threads") == Some(1);
    let figures = dataset.points.iter().filter(null).filter_map(Figure::new);
    let fastest = figures.max_by(|a, b| a.value.total_cmp(&b.value))?;
    let each = Nanos(1e9 / fastest.value);
    let text = format!("memgauge itself takes {each} for an operation (engine null).");
    let values = BTreeMap::from([("ns_per_operation".to_owned(), each.0)]);
    Some(Finding::resting_on(fastest.points, "storage-own-cost", text)?.with(values))
}

/// Finding about the depth at which the highest rate is reached. `None` unless at least three
/// points differ only in their depth, and possibly their engine.
fn depth(dataset: &Dataset) -> Option<Finding> {
    let mut families: BTreeMap<String, Vec<(u64, Figure<'_>)>> = BTreeMap::new();
    for point in &dataset.points {
        let (Some(depth), Some(figure)) = (point.number("depth"), Figure::new(point)) else {
            continue;
        };
        let others = point
            .coordinates
            .iter()
            .filter(|(axis, _)| !["depth", "engine"].contains(&axis.as_str()));
        let key = others.map(|(axis, at)| format!("{axis}={at} ")).collect();
        families.entry(key).or_default().push((depth, figure));
    }
    let mut curve = families.into_values().find(|curve| curve.len() > 2)?;
    curve.sort_by_key(|(depth, _)| *depth);
    let found = saturation(&curve)?;
    let text = format!(
        "{} in flight in each thread {} 95% of the highest rate: {} of {} operations per second.",
        counted(found.count(), "operation"),
        found.reach(),
        significant(found.reached),
        significant(found.best)
    );
    let values = [
        ("depth", found.at_most as f64),
        ("depth_at_least", found.at_least as f64),
        ("operations_per_second", found.reached),
    ];
    let values = values.map(|(name, value)| (name.to_owned(), value)).into();
    Some(Finding::resting_on(found.points, "storage-depth", text)?.with(values))
}
