//! Datasets as charts, whatever draws them: pictures, pages and terminals show the same series of
//! the same points.
//!
//! A chart knows axes, not experiments. Points between two ends (`from` and `to`, `cpu_node` and
//! `memory_node`) are heat maps; points that were measured beside traffic are series over that
//! traffic; all others are series over the axis with the most numbers, or the most names where
//! there are none.

mod canvas;
mod caption;
mod findings;
mod formats;
mod heat;
mod lines;
mod looks;
mod map;
mod picture;
mod plot;
mod scale;
mod terminal;
mod together;

pub(super) use caption::{outcomes, sources};
pub(super) use formats::{Png, Svg};
pub(super) use heat::Heat;
#[cfg(test)]
pub(super) use lines::MOST_SPOTS;
pub(super) use lines::{Lines, Series};
pub(super) use looks::{COLORS, DASHES, MARKS, RADIUS};
pub(super) use map::steps;
pub(super) use scale::{Numbers, Scale};

pub(super) use terminal::draw as to_terminal;

use super::figures::{axis_title, coordinate, fixed_axes, table_unit};
use super::text::{clean, shorten};
use super::{NamedReport, unknown};
use report::{Coordinate, Dataset, Finding, Outcome, Point, Quantity, Report, VerdictGrade};
use std::collections::{BTreeMap, BTreeSet};
use units::counted;
use units::error::Result;

/// One picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// The experiment, which is what users ask for a chart by.
    pub(crate) name: String,
    /// What is shown.
    pub(crate) title: String,
    /// What all points have in common; empty where that is nothing.
    pub(crate) subtitle: String,
    /// The values' name and unit, as an axis says it.
    pub(crate) values: String,
    /// Whether more is better.
    pub(crate) higher_is_better: bool,
    /// What is drawn.
    pub(crate) body: Body,
    /// Points with a number that are not drawn: they lie between others of their series, belong to
    /// further series or maps than there is room for, share their place with another point, or have
    /// none.
    pub(crate) not_drawn: usize,
}

impl Chart {
    /// The points that are drawn.
    fn drawn(&self) -> usize {
        match &self.body {
            Body::Lines(lines) => lines.series.iter().map(|s| s.spots.len()).sum(),
            Body::Heat(heat) => heat.cells.iter().flatten().flatten().count(),
        }
    }

    /// That the chart does not draw all numbers; `None` where it does.
    pub(crate) fn undrawn(&self) -> Option<String> {
        let points = counted(self.not_drawn, "point");
        (self.not_drawn > 0)
            .then(|| format!("not drawn for want of room: {points}; --format csv has all"))
    }
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// Series over an axis.
    Lines(Lines),
    /// Values between ends.
    Heat(Heat),
}

/// A measured point, ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spot {
    /// Place on the axis: the number, or the place among the names from 0.
    pub(crate) x: f64,
    /// Lower end of the interval of a place that was measured itself, else the place.
    pub(crate) x_low: f64,
    /// Upper end of the same.
    pub(crate) x_high: f64,
    /// Its median in the chart's unit.
    pub(crate) y: f64,
    /// Lower end of the interval.
    pub(crate) low: f64,
    /// Upper end of the interval.
    pub(crate) high: f64,
    /// Clean samples behind it.
    pub(crate) samples: u64,
    /// How far it can be trusted.
    pub(crate) grade: VerdictGrade,
    /// Where it lies and what speaks against it, in words; clean and short.
    pub(crate) words: String,
}

/// The points of one quantity in several reports.
pub(crate) struct Part<'a> {
    /// Place of the report among those that are drawn.
    pub(crate) report: usize,
    /// Its points.
    pub(crate) dataset: &'a Dataset,
    /// What that report says about its points, and about others.
    pub(crate) findings: &'a [Finding],
}

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

/// The word that asks for every chart.
const ALL: &str = "all";

/// The charts of the experiments in `names`, in the order of the charts; all of them where `names`
/// is empty or has `all`. An error says which there are.
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

/// Whether charts of an experiment are among those that are asked for by `names`.
fn is_asked_for(names: &[String], experiment: &str) -> bool {
    let experiment = experiment.to_lowercase();
    // `bandwidth+patterns` is a chart of two experiments.
    let asks = |name: &String| name == ALL || name.split('+').any(|part| part == experiment);
    names.is_empty()
        || names
            .iter()
            .map(|name| name.trim().to_lowercase())
            .any(|name| asks(&name))
}

/// What charts are asked for by, each name once.
pub(crate) fn names<'a>(charts: impl IntoIterator<Item = &'a Chart>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in charts.into_iter().map(|chart| shorten(&chart.name, 40)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The charts of one quantity, those of different questions apart.
fn of_parts(parts: &[Part<'_>], names: &[String]) -> Vec<Chart> {
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

/// The measured points of several reports.
fn measured<'a>(parts: &'a [Part<'_>]) -> impl Iterator<Item = &'a Point> {
    parts
        .iter()
        .flat_map(|part| &part.dataset.points)
        .filter(|p| p.outcome.measured().is_some())
}

/// What tells the questions apart that a quantity answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Split {
    /// There is one.
    One,
    /// Between two nodes, and of all nodes together: as many times as much, beside which nodes look
    /// alike.
    Totals,
    /// Points that only serve findings, whose operations lie on different axes: each is a probe of
    /// its own.
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

    /// What the title says of the question that `point` belongs to.
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

/// The charts of one question: heat maps where its points lie between ends, series otherwise; none
/// without a number.
fn of_question(parts: &[Part<'_>], names: &[String], question: &str) -> Vec<Chart> {
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
    let (factor, unit) = table_unit(&quantity.unit);
    let chart = |(more, body): (String, Body)| Chart {
        name: experiment.clone(),
        title: shorten(&format!("{title}{question}{more}"), 120),
        subtitle: shorten(&[whose(&merged, names), common(&merged)].concat(), 160),
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

/// The coordinates of all measured points of several reports in one dataset, without what was
/// measured there.
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

/// Experiment, quantity and axes.
fn head(parts: &[Part<'_>]) -> Dataset {
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

/// The report that has all points, where others are drawn that have none.
fn whose(merged: &Dataset, names: &[String]) -> String {
    let mut reports = merged.points.iter().map(|p| p.id);
    match (reports.next(), names) {
        (Some(first), [_, _, ..]) if reports.all(|id| id == first) => names
            .get(first as usize)
            .map(|name| format!("{name}: "))
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// The coordinates that all points share, in words.
fn common(merged: &Dataset) -> String {
    let fixed = fixed_axes(merged)
        .into_iter()
        .filter(|(axis, _)| *axis != "kernel");
    fixed
        .map(|(axis, c)| format!("{} {}", clean(&axis_title(axis)), coordinate(axis, c)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A point as it is drawn at `x`, in `factor` times its unit; none without a number.
fn spot(point: &Point, x: f64, factor: f64) -> Option<Spot> {
    let m = point.outcome.measured()?;
    let at: Vec<String> = point
        .coordinates
        .iter()
        .map(|(axis, c)| format!("{} {}", clean(&axis_title(axis)), coordinate(axis, c)))
        .collect();
    let why = m.verdict.text();
    let against = if why.is_empty() {
        String::new()
    } else {
        format!("; {why}")
    };
    let spot = Spot {
        x,
        x_low: x,
        x_high: x,
        y: m.summary.median * factor,
        low: m.summary.ci_low * factor,
        high: m.summary.ci_high * factor,
        samples: m.summary.undisturbed_samples,
        grade: m.verdict.grade,
        words: shorten(&format!("{}{against}", at.join(", ")), 400),
    };
    [spot.x, spot.y, spot.low, spot.high]
        .iter()
        .all(|v| v.is_finite())
        .then_some(spot)
}

/// A coordinate as a place on a numeric axis.
fn number(coordinate: Option<&Coordinate>) -> Option<f64> {
    match coordinate {
        Some(Coordinate::Number(n)) => Some(*n as f64),
        _ => None,
    }
}

/// A report that is drawn alone.
fn alone(report: &Report) -> NamedReport {
    NamedReport {
        name: String::new(),
        report: report.clone(),
    }
}
