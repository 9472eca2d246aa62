//! What is to be said about the numbers: why some are missing, findings, doubts, where the report
//! is.

use super::Options;
use super::blocks::Labelled;
use super::figures::{coordinate, varying_axes};
use super::provenance::command_line;
use super::text::shorten;
use report::{self, Cause, Dataset, Finding, Outcome, Point, Report, VerdictGrade, headline};
use std::collections::{BTreeMap, BTreeSet};
use units::counted;

/// Reasons of one kind that fit on the screen; `verbose` shows all.
const MOST_REASONS: usize = 5;
/// Points named beside a reason.
const MOST_POINTS: usize = 4;

/// A reason with the points that it concerns.
struct Reason<'a> {
    kind: &'static str,
    /// That of the first point: others may have other numbers in it.
    text: &'a str,
    /// What to do about it, empty where nothing is known.
    advice: &'a str,
    points: Vec<String>,
}

/// How far the points can be trusted, all together, where those are that are not solid, and how
/// many of them have a place in a table; nothing where none was measured.
fn verdict(report: &Report, is_shown: impl Fn(&Point) -> bool) -> Option<Labelled> {
    let counts = &report.verdict.points;
    let all = counts
        .values()
        .fold(0, |all: u64, count| all.saturating_add(*count));
    let counts: Vec<String> = counts
        .iter()
        .map(|(grade, count)| format!("{count} {}", grade.word()))
        .collect();
    let is_weak = |point: &&Point| {
        point
            .outcome
            .measured()
            .is_some_and(|m| m.verdict.grade != VerdictGrade::Solid)
    };
    let judged = || headline(&report.datasets).filter(|dataset| !dataset.derived);
    let not_solid = |dataset: &Dataset| dataset.points.iter().filter(is_weak).count();
    let places = judged()
        .map(|dataset| (not_solid(dataset), &dataset.experiment))
        .filter(|(count, _)| *count > 0);
    let places: Vec<String> = places
        .map(|(count, name)| format!("{count} of {}", shorten(name, 32)))
        .collect();
    let places = if places.is_empty() {
        String::new()
    } else {
        format!(" (not solid: {})", places.join(", "))
    };
    let weak = || judged().flat_map(|dataset| &dataset.points).filter(is_weak);
    let shown = match (
        weak().filter(|point| is_shown(point)).count(),
        weak().count(),
    ) {
        (shown, weak) if shown == weak => String::new(),
        (0, 1) => "; the table does not show that one, --verbose does".to_owned(),
        (0, weak) => format!("; the table shows none of these {weak}, --verbose all"),
        (shown, weak) => format!("; the table shows {shown} of these {weak}, --verbose all"),
    };
    let serving = report
        .datasets
        .iter()
        .filter(|dataset| !dataset.derived)
        .flat_map(|dataset| &dataset.points);
    let serving = serving
        .filter(|point| point.outcome.measured().is_some())
        .count();
    let serving = match serving.saturating_sub(usize::try_from(all).unwrap_or(usize::MAX)) {
        0 => String::new(),
        1 => "; 1 other point only serves findings".to_owned(),
        n => format!("; {n} other points only serve findings"),
    };
    let word = report.verdict.grade.word();
    let points = counted(all, "point");
    let text = format!(
        "{word}; of {points} {}{places}{shown}{serving}",
        counts.join(", ")
    );
    (all > 0).then(|| ("verdict".to_owned(), text))
}

/// What to do for a solid report: one command for all causes that options help against, and what
/// else helps against the most frequent of the others.
fn advice(report: &Report) -> Vec<Labelled> {
    let causes = &report.verdict.causes;
    let helped: Vec<_> = causes
        .iter()
        .filter(|c| !c.cause.options().is_empty() && report.plan.profile != "io")
        .collect();
    let mut options: BTreeMap<&str, String> = BTreeMap::new();
    for (option, value) in helped.iter().flat_map(|c| c.cause.options()) {
        options.insert(option, (*value).to_owned());
    }
    if options.contains_key("--samples") || options.contains_key("--reallocate") {
        options.insert(
            "--budget",
            format!("{:.0}s", (report.plan.budget.secs() * 2.0).ceil()),
        );
    }
    let mut arguments = without(&report.provenance.command_line, &options);
    arguments.extend(
        options
            .iter()
            .flat_map(|(option, value)| [(*option).to_owned(), value.clone()]),
    );
    let command =
        (!options.is_empty()).then(|| format!("type {}", shorten(&command_line(&arguments), 1000)));
    let is_other = |c: &&report::CauseCount| {
        !helped.iter().any(|h| h.cause == c.cause) && !c.advice.is_empty()
    };
    let other = causes
        .iter()
        .find(is_other)
        .map(|c| shorten(&c.advice, 300));
    command
        .into_iter()
        .chain(other)
        .map(|text| ("advice".to_owned(), text))
        .collect()
}

/// `arguments` without `options` and their values, and without the session that they continue: a
/// complete one is not continued.
fn without(arguments: &[String], options: &BTreeMap<&str, String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let (name, value) = argument
            .split_once('=')
            .map_or((argument.as_str(), None), |(n, v)| (n, Some(v)));
        if name != "--resume" && !options.contains_key(name) {
            kept.push(argument.clone());
        } else if value.is_none() {
            arguments.next();
        }
    }
    kept
}

/// Why a point is not there or not solid. Reasons of one key are one line.
struct Said<'a> {
    kind: &'static str,
    key: Key<'a>,
    text: &'a str,
    advice: &'a str,
}

/// What makes reasons alike: their words, or the cause that they name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    Text(&'a str),
    Cause(Cause),
}

/// Everything below the tables: missing points, findings, doubts, where the report was saved.
/// `is_shown` says whether a point has a place in the tables.
pub(super) fn remarks(
    report: &Report,
    options: &Options,
    is_shown: impl Fn(&Point) -> bool,
) -> Vec<Labelled> {
    let length = if options.verbose { 1000 } else { 200 };
    let mut remarks = lines(collect(report.datasets.iter(), missing), options);
    remarks.extend(verdict(report, is_shown));
    for finding in &report.findings {
        remarks.push(("finding".to_owned(), shorten(&sentence(finding), length)));
    }
    let doubts_of = |outcome| doubts(outcome, options.verbose);
    // Percentiles repeat what is said of the points that they are of.
    let own = |dataset: &&Dataset| !dataset.axes.iter().any(|axis| axis.name == "percentile");
    let mut doubts = match options.verbose {
        true => collect(report.datasets.iter().filter(own), doubts_of),
        false => collect(headline(&report.datasets).filter(own), doubts_of),
    };
    doubts.sort_by_key(|r| r.kind != VerdictGrade::Rejected.word());
    remarks.extend(lines(doubts, options));
    if !options.verbose {
        remarks.extend(advice(report));
    }
    if let Some(path) = &options.saved_to {
        remarks.push(("saved".to_owned(), shorten(path, 1000)));
    }
    remarks
}

/// A finding with its doubt, if it has one.
fn sentence(finding: &Finding) -> String {
    match finding.trust().filter(|_| finding.is_doubtful()) {
        Some(grade) => format!("({}) {}", grade.word(), finding.text),
        None => finding.text.clone(),
    }
}

/// Why a point has no number.
fn missing(outcome: &Outcome) -> Vec<Said<'_>> {
    let said = |text| Said {
        kind: outcome.status(),
        key: Key::Text(text),
        text,
        advice: "",
    };
    outcome.reason().map(said).into_iter().collect()
}

/// Why a number is not solid; `each` text by itself or by cause.
fn doubts<'a>(outcome: &'a Outcome, each: bool) -> Vec<Said<'a>> {
    const NONE_GIVEN: &str = "no reason was given";
    let Some(verdict) = outcome
        .measured()
        .map(|m| &m.verdict)
        .filter(|v| v.grade != VerdictGrade::Solid)
    else {
        return Vec::new();
    };
    let kind = verdict.grade.word();
    if verdict.reasons.is_empty() {
        return vec![Said {
            kind,
            key: Key::Text(NONE_GIVEN),
            text: NONE_GIVEN,
            advice: "",
        }];
    }
    let said = |r: &'a report::Reason| {
        let key = if each {
            Key::Text(&r.text)
        } else {
            Key::Cause(r.cause)
        };
        Said {
            kind,
            key,
            text: &r.text,
            advice: &r.advice,
        }
    };
    verdict.reasons.iter().map(said).collect()
}

/// Every reason once, in order of appearance.
fn collect<'a>(
    datasets: impl Iterator<Item = &'a Dataset>,
    reasons: impl Fn(&'a Outcome) -> Vec<Said<'a>>,
) -> Vec<Reason<'a>> {
    let mut all: Vec<Reason> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for dataset in datasets {
        let axes = telling_axes(dataset);
        for point in &dataset.points {
            for Said {
                kind,
                key,
                text,
                advice,
            } in reasons(&point.outcome)
            {
                let place = *places.entry((kind, key)).or_insert_with(|| {
                    all.push(Reason {
                        kind,
                        text,
                        advice,
                        points: Vec::new(),
                    });
                    all.len() - 1
                });
                all[place].points.push(label(dataset, point, &axes));
            }
        }
    }
    all
}

/// The axes along which points differ that the operation does not settle, as it settles the kernel.
fn telling_axes(dataset: &Dataset) -> Vec<&str> {
    let pairs = |axis: &str| -> BTreeSet<_> {
        dataset
            .points
            .iter()
            .map(|p| (p.coordinates.get("operation"), p.coordinates.get(axis)))
            .collect()
    };
    let operations = pairs("operation").len();
    let mut axes = varying_axes(dataset);
    axes.retain(|axis| *axis == "operation" || operations < 2 || pairs(axis).len() > operations);
    axes
}

/// One line for each reason, the rest counted.
fn lines(reasons: Vec<Reason>, options: &Options) -> Vec<Labelled> {
    let (most, points, length) = if options.verbose {
        (usize::MAX, usize::MAX, 1000)
    } else {
        (MOST_REASONS, MOST_POINTS, 300)
    };
    let total = reasons.len();
    let one = |r: Reason| {
        let mut names = r
            .points
            .iter()
            .take(points)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        if r.points.len() > points {
            names.push_str(&format!(" and {} more", r.points.len() - points));
        }
        let line = (
            r.kind.to_owned(),
            format!("{}: {names}", shorten(r.text, length)),
        );
        let advice = (options.verbose && !r.advice.is_empty())
            .then(|| ("advice".to_owned(), shorten(r.advice, length)));
        [Some(line), advice]
    };
    let mut lines: Vec<Labelled> = reasons
        .into_iter()
        .take(most)
        .flat_map(one)
        .flatten()
        .collect();
    if total > most {
        lines.push((
            String::new(),
            format!(
                "and {}; --verbose shows more",
                counted(total - most, "other reason")
            ),
        ));
    }
    lines
}

/// A point in short: `L3 copy x2`, `L2 latency`, `64 KiB read`.
fn label(dataset: &Dataset, point: &Point, varying: &[&str]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let level = point
        .coordinates
        .get("level")
        .map(|c| coordinate("level", c));
    let size = point
        .coordinates
        .get("size_bytes")
        .filter(|_| varying.contains(&"size_bytes"));
    parts.extend(level.or_else(|| size.map(|c| coordinate("size_bytes", c))));
    let what = point
        .coordinates
        .get("operation")
        .map(|c| coordinate("operation", c));
    parts.push(what.unwrap_or_else(|| shorten(&dataset.experiment, 32)));
    for axis in varying {
        let Some(c) = point.coordinates.get(*axis) else {
            continue;
        };
        match *axis {
            // The number of threads tells them apart.
            "level" | "size_bytes" | "operation" | "cores" => {}
            "threads" => parts.push(format!("x{c}")),
            "per_cpu" => parts.push(format!("({c} per cpu)")),
            axis => parts.push(coordinate(axis, c)),
        }
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advised_commands_continue_no_session() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let options = BTreeMap::from([("--samples", "500".to_owned())]);
        for line in [
            "memgauge run --resume last --samples 3 -o r.json",
            "memgauge run --resume=r.json.journal.jsonl --samples=3 -o r.json",
        ] {
            let kept = without(&words(line), &options);
            assert_eq!(kept, words("memgauge run -o r.json"), "{line}");
        }
    }
}
