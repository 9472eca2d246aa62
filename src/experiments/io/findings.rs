//! What is worth a sentence about storage.

use crate::results::{Dataset, Finding, Point};
use crate::units::{Nanos, significant};
use std::collections::{BTreeMap, BTreeSet};

/// Every sentence about the measured points.
pub fn of(dataset: &Dataset) -> Vec<Finding> {
    let mut findings = otherwise(dataset);
    findings.extend(own_cost(dataset));
    findings.extend(depth(dataset));
    findings
}

/// What was done otherwise than asked, each once.
fn otherwise(dataset: &Dataset) -> Vec<Finding> {
    let storages = dataset.points.iter().filter_map(|p| p.outcome.measured()?.storage.as_deref());
    let remarks: BTreeSet<&String> = storages.flat_map(|s| &s.remarks).collect();
    let finding = |text: &String| {
        let text = format!("Storage: {}.", text.trim_end_matches('.'));
        Finding { kind: "storage-otherwise".to_owned(), text, values: BTreeMap::new() }
    };
    remarks.into_iter().map(finding).collect()
}

/// What this program itself takes for an operation, where that was measured.
fn own_cost(dataset: &Dataset) -> Option<Finding> {
    let null = |p: &&Point| p.name("engine") == Some("null") && p.number("threads") == Some(1);
    let points = dataset.points.iter().filter(null);
    let rate = points.filter_map(|p| Some(p.outcome.measured()?.summary.median)).reduce(f64::max)?;
    let each = Nanos(1e9 / rate);
    let text = format!("This program itself takes {each} for an operation (engine null).");
    Some(Finding {
        kind: "storage-own-cost".to_owned(),
        text,
        values: BTreeMap::from([("ns_per_operation".to_owned(), each.0)]),
    })
}

/// How many operations under way it takes, where several depths were measured of otherwise equal points.
fn depth(dataset: &Dataset) -> Option<Finding> {
    let mut families: BTreeMap<String, Vec<(u64, f64)>> = BTreeMap::new();
    for point in &dataset.points {
        let (Some(depth), Some(measured)) = (point.number("depth"), point.outcome.measured()) else { continue };
        let others = point.coordinates.iter().filter(|(axis, _)| !["depth", "engine"].contains(&axis.as_str()));
        let key = others.map(|(axis, at)| format!("{axis}={at} ")).collect();
        families.entry(key).or_default().push((depth, measured.summary.median));
    }
    let mut curve = families.into_values().find(|curve| curve.len() > 2)?;
    curve.sort_by_key(|(depth, _)| *depth);
    let most = curve.iter().map(|(_, rate)| *rate).reduce(f64::max)?;
    let &(enough, rate) = curve.iter().find(|(_, rate)| *rate >= 0.95 * most)?;
    let text = format!(
        "{enough} operations under way in each thread reach 95% of the most that was seen: {} of {} operations per second.",
        significant(rate),
        significant(most)
    );
    let values = BTreeMap::from([("depth".to_owned(), enough as f64), ("operations_per_second".to_owned(), rate)]);
    Some(Finding { kind: "storage-depth".to_owned(), text, values })
}
