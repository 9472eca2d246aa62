//! Makes the charts of one quantity. Its points are divided by the question that they answer, and
//! each question has charts of its own.

use super::heat;
use super::lines;
use super::model::{Body, Chart};
use super::spot::{Part, measured};
use crate::figures::{axis_title, coordinate, fixed_axes, printed_unit};
use crate::text::{clean, shorten};
use report::{Dataset, Outcome, Point, Quantity};
use std::collections::{BTreeMap, BTreeSet};

/// Charts of one quantity in all reports. `names` are the names of the reports.
pub(super) fn of_parts(parts: &[Part<'_>], names: &[String]) -> Vec<Chart> {
    let split = Split::from_parts(parts);
    let mut questions: Vec<String> = Vec::new();
    for point in measured(parts) {
        let question = split.question(point);
        if !questions.contains(&question) {
            questions.push(question);
        }
    }
    if questions.len() < 2 {
        return of_question(parts, names, "");
    }
    let answers = |question: &String| {
        let picked = |part: &Part<'_>| {
            let points = part
                .dataset
                .points
                .iter()
                .filter(|p| split.question(p) == *question)
                .cloned()
                .collect();
            Dataset {
                points,
                ..head(parts)
            }
        };
        let picked: Vec<Dataset> = parts.iter().map(picked).collect();
        let parts: Vec<Part<'_>> = parts
            .iter()
            .zip(&picked)
            .map(|(part, dataset)| Part { dataset, ..*part })
            .collect();
        of_question(&parts, names, question)
    };
    questions.iter().flat_map(answers).collect()
}

/// Way in which the points of a quantity are divided by the question that they answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Split {
    /// All points answer one question.
    One,
    /// Some points are values between two nodes, others are values of all nodes together. The
    /// values of all nodes are several times as high, so they get a chart of their own.
    Totals,
    /// The dataset is auxiliary, and its operations have different axes. Each operation is a
    /// question of its own.
    Probes,
}

impl Split {
    fn from_parts(parts: &[Part<'_>]) -> Self {
        let ends = || measured(parts).filter_map(heat::between);
        if ends().any(|numbers| numbers) && ends().any(|numbers| !numbers) {
            return Split::Totals;
        }
        let mut axes: BTreeMap<Option<&str>, BTreeSet<&str>> = BTreeMap::new();
        for point in measured(parts) {
            axes.entry(point.name("operation"))
                .or_default()
                .extend(point.coordinates.keys().map(String::as_str));
        }
        let mut sets = axes.values();
        let first = sets.next();
        let differ = sets.any(|set| Some(set) != first);
        if differ && parts.iter().all(|part| part.dataset.auxiliary) {
            Split::Probes
        } else {
            Split::One
        }
    }

    /// Suffix of the title for the question of `point`.
    fn question(self, point: &Point) -> String {
        match self {
            Split::One => String::new(),
            Split::Totals if heat::between(point) == Some(true) => String::new(),
            Split::Totals => ", all together".to_owned(),
            Split::Probes => format!(
                ", {}",
                shorten(point.name("operation").unwrap_or_default(), 40)
            ),
        }
    }
}

/// Makes the charts of one question: heat maps if its points have two ends, otherwise series. Empty
/// if no point has a number.
pub(super) fn of_question(parts: &[Part<'_>], names: &[String], question: &str) -> Vec<Chart> {
    let Some(first) = parts.first() else {
        return Vec::new();
    };
    let experiment = &first.dataset.experiment;
    let quantity = &first.dataset.quantity;
    let merged = merged(parts);
    if merged.points.is_empty() {
        return Vec::new();
    }
    let title = if *experiment == quantity.name {
        clean(experiment)
    } else {
        format!("{}: {}", clean(experiment), clean(&quantity.name))
    };
    let (factor, unit) = printed_unit(&quantity.unit);
    let chart = |(more, body): (String, Body)| Chart {
        name: experiment.clone(),
        title: shorten(&format!("{title}{question}{more}"), 120),
        subtitle: shorten(
            &[title_start(&merged, names), common(&merged)].concat(),
            160,
        ),
        values: shorten(&format!("{} in {unit}", clean(&quantity.name)), 60),
        higher_is_better: quantity.higher_is_better,
        body,
        not_drawn: 0,
    };
    let heats = heat::heats(parts, &merged, names, factor);
    let mut charts: Vec<Chart> = if heats.is_empty() {
        vec![chart((
            String::new(),
            Body::Lines(lines::lines(parts, &merged, names, factor)),
        ))]
    } else {
        heats
            .into_iter()
            .map(|(more, heat)| chart((more, Body::Heat(heat))))
            .collect()
    };
    let drawn: usize = charts.iter().map(Chart::drawn).sum();
    if let Some(last) = charts.last_mut() {
        last.not_drawn = merged.points.len().saturating_sub(drawn);
    }
    charts
}

/// Joins the measured points of several reports to one dataset. The joined points keep their
/// coordinates, without measurements.
fn merged(parts: &[Part<'_>]) -> Dataset {
    let mut merged = Dataset {
        points: Vec::new(),
        ..head(parts)
    };
    for part in parts {
        for point in part
            .dataset
            .points
            .iter()
            .filter(|p| p.outcome.measured().is_some())
        {
            let outcome = Outcome::Skipped {
                reason: String::new(),
            };
            merged.points.push(Point {
                id: part.report as u64,
                coordinates: point.coordinates.clone(),
                outcome,
            });
        }
    }
    merged
}

/// A dataset with experiment, quantity and axes of the first part, without points.
pub(super) fn head(parts: &[Part<'_>]) -> Dataset {
    let first = parts.first().map(|part| part.dataset);
    Dataset {
        experiment: first.map(|d| d.experiment.clone()).unwrap_or_default(),
        quantity: first.map_or_else(
            || Quantity {
                name: String::new(),
                unit: String::new(),
                higher_is_better: true,
            },
            |d| d.quantity.clone(),
        ),
        axes: first.map(|d| d.axes.clone()).unwrap_or_default(),
        points: Vec::new(),
        auxiliary: false,
        derived: false,
    }
}

/// Prefix of the title with the name of the only report that has points. Empty if several reports
/// have points.
fn title_start(merged: &Dataset, names: &[String]) -> String {
    let mut reports = merged.points.iter().map(|p| p.id);
    match (reports.next(), names) {
        (Some(first), [_, _, ..]) if reports.all(|id| id == first) => names
            .get(first as usize)
            .map(|name| format!("{name}: "))
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// Coordinates that all points share, in words.
fn common(merged: &Dataset) -> String {
    let fixed = fixed_axes(merged)
        .into_iter()
        .filter(|(axis, _)| *axis != "kernel");
    fixed
        .map(|(axis, c)| format!("{} {}", clean(&axis_title(axis)), coordinate(axis, c)))
        .collect::<Vec<_>>()
        .join(", ")
}
