//! Makes one chart of the datasets of two experiments.

use super::model::Chart;
use super::questions::{head, of_question};
use super::spot::{Part, measured};
use report::{Coordinate, Dataset, Point};
use std::collections::BTreeSet;

/// Experiment that reads and writes memory in ascending order.
const IN_ORDER: &str = "bandwidth";
/// Experiment that reads and writes memory in other orders.
const OTHER_ORDERS: &str = "patterns";
/// Name of the combined chart.
const NAME: &str = "bandwidth+patterns";

/// Makes a chart of bandwidth over the size, for the operations that both experiments measured.
/// Each order of an operation is a series. `None` if an experiment has fewer than two sizes.
///
/// The forward order of `patterns` is left out, because `bandwidth` measures it at more sizes.
pub(super) fn orders(groups: &[&[Part<'_>]], names: &[String]) -> Option<Chart> {
    let parts_of = |experiment: &str| {
        groups.iter().copied().find(|parts| {
            parts.first().is_some_and(|p| {
                p.dataset.experiment == experiment && p.dataset.quantity.name == IN_ORDER
            })
        })
    };
    let forward = parts_of(IN_ORDER)?;
    let others = parts_of(OTHER_ORDERS)?;
    let shared: BTreeSet<&str> = operations(forward)
        .intersection(&operations(others))
        .copied()
        .collect();
    let picked = |parts: &[Part<'_>], pick: &dyn Fn(&Point) -> Option<Point>| -> Vec<Dataset> {
        let wanted = |p: &&Point| {
            p.name("operation")
                .is_some_and(|operation| shared.contains(operation))
        };
        let dataset = |part: &Part<'_>| Dataset {
            experiment: NAME.to_owned(),
            points: part
                .dataset
                .points
                .iter()
                .filter(wanted)
                .filter_map(pick)
                .collect(),
            ..head(parts)
        };
        parts.iter().map(dataset).collect()
    };
    let in_order = picked(forward, &|point| {
        let mut point = point.clone();
        point.coordinates.insert(
            "order".to_owned(),
            Coordinate::Name("sequential".to_owned()),
        );
        Some(point)
    });
    let out_of_order = picked(others, &|point| {
        (point.name("order") != Some("forward")).then(|| point.clone())
    });
    if [&in_order, &out_of_order]
        .iter()
        .any(|datasets| sizes(datasets) < 2)
    {
        return None;
    }
    let all = forward
        .iter()
        .zip(&in_order)
        .chain(others.iter().zip(&out_of_order));
    let parts: Vec<Part<'_>> = all
        .map(|(part, dataset)| Part { dataset, ..*part })
        .collect();
    of_question(&parts, names, ", in order and out of it")
        .into_iter()
        .next()
}

/// Operations of measured points.
fn operations<'a>(parts: &'a [Part<'_>]) -> BTreeSet<&'a str> {
    measured(parts)
        .filter_map(|point| point.name("operation"))
        .collect()
}

/// Number of distinct sizes of measured points.
fn sizes(datasets: &[Dataset]) -> usize {
    let points = datasets
        .iter()
        .flat_map(|d| &d.points)
        .filter(|p| p.outcome.measured().is_some());
    points
        .filter_map(|p| p.number("size_bytes"))
        .collect::<BTreeSet<_>>()
        .len()
}
