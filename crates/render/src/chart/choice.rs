//! Lists the charts of reports, and selects the charts that a user requests.

use super::model::Chart;
use super::questions::of_parts;
use super::spot::Part;
use super::together;
use crate::request::NamedReport;
use crate::text::shorten;
use crate::unknown::unknown;
use report::{Quantity, Report};
use units::error::Result;

/// Every chart of `reports`, in the order of their datasets.
pub(crate) fn charts(reports: &[NamedReport]) -> Vec<Chart> {
    let names: Vec<String> = reports
        .iter()
        .map(|named| shorten(&named.name, 40))
        .collect();
    let mut groups: Vec<(&str, &Quantity, Vec<Part<'_>>)> = Vec::new();
    for (report, named) in reports.iter().enumerate() {
        for dataset in &named.report.datasets {
            let part = Part {
                report,
                dataset,
                findings: &named.report.findings,
            };
            let same = |(e, q, _): &&mut (&str, &Quantity, _)| {
                *e == dataset.experiment && **q == dataset.quantity
            };
            match groups.iter_mut().find(same) {
                Some((_, _, parts)) => parts.push(part),
                None => groups.push((&dataset.experiment, &dataset.quantity, vec![part])),
            }
        }
    }
    let mut charts: Vec<Chart> = groups
        .iter()
        .flat_map(|(_, _, parts)| of_parts(parts, &names))
        .collect();
    let all: Vec<&[Part<'_>]> = groups
        .iter()
        .map(|(_, _, parts)| parts.as_slice())
        .collect();
    charts.extend(together::orders(&all, &names));
    charts
}

/// The name that requests every chart.
const ALL: &str = "all";

/// Charts of the experiments in `names`, in the order of `charts`. If `names` is empty or contains
/// `all`, the result is all charts. The error for an unknown name lists the known names.
pub(crate) fn chosen<'a>(charts: &'a [Chart], names: &[String]) -> Result<Vec<&'a Chart>> {
    let wanted: Vec<String> = names
        .iter()
        .map(|name| name.trim().to_lowercase())
        .collect();
    let is = |chart: &Chart, name: &str| chart.name.to_lowercase() == name;
    for (name, given) in wanted.iter().zip(names).filter(|(name, _)| *name != ALL) {
        if !charts.iter().any(|chart| is(chart, name)) {
            let mut known = self::names(charts);
            known.push(if known.is_empty() { "none" } else { ALL }.to_owned());
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err(unknown("no such chart in the report", given, &known));
        }
    }
    let all = wanted.is_empty() || wanted.iter().any(|name| name == ALL);
    Ok(charts
        .iter()
        .filter(|chart| all || wanted.iter().any(|name| is(chart, name)))
        .collect())
}

/// True if `names` requests the charts of `experiment`.
pub(super) fn is_requested(names: &[String], experiment: &str) -> bool {
    let experiment = experiment.to_lowercase();
    // The chart `bandwidth+patterns` belongs to both experiments.
    let asks = |name: &String| name == ALL || name.split('+').any(|part| part == experiment);
    names.is_empty()
        || names
            .iter()
            .map(|name| name.trim().to_lowercase())
            .any(|name| asks(&name))
}

/// Names of `charts`, each once, shortened.
pub(crate) fn names<'a>(charts: impl IntoIterator<Item = &'a Chart>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in charts.into_iter().map(|chart| shorten(&chart.name, 40)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Makes a [`NamedReport`] without a name, for charts of this report alone.
pub(super) fn alone(report: &Report) -> NamedReport {
    NamedReport {
        name: String::new(),
        report: report.clone(),
    }
}
