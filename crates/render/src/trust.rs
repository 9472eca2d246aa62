//! Lines about the verdict on a whole report: a short line for a screen, a line in full, and a
//! command that would give better numbers.

use super::blocks::Labelled;
use super::hierarchy;
use super::provenance::command_line;
use super::text::{clean, shorten};
use report::{CauseCount, Dataset, Point, Report, ReportVerdict, VerdictGrade, headline};
use std::collections::BTreeMap;
use units::counted;
use verdict::because;

/// Lines with the verdict, its main cause, and a command that helps. Empty if no point was
/// measured.
pub(super) fn brief(report: &Report) -> Vec<Labelled> {
    let Some(text) = summary(&report.verdict) else {
        return Vec::new();
    };
    let text = format!("{}{}.", text.trim_end_matches('.'), not_above(report));
    let mut lines = vec![("Trust".to_owned(), text)];
    lines.extend(
        improvement(report)
            .into_iter()
            .map(|text| ("Improve".to_owned(), text)),
    );
    lines
}

/// Remark about numbers that the verdict counts but the table above does not show. Empty if there
/// are none.
fn not_above(report: &Report) -> String {
    let counts = report.verdict.points.values().copied();
    let all = counts.fold(0, u64::saturating_add);
    let above = hierarchy::shown(report);
    let hidden = all.saturating_sub(above.len() as u64);
    if above.is_empty() || hidden == 0 {
        return String::new();
    }
    let points = report.datasets.iter().flat_map(|dataset| &dataset.points);
    let is_weak_above =
        |point: &Point| is_weak(&point) && above.contains(&std::ptr::from_ref(point));
    if report.verdict.grade == VerdictGrade::Solid {
        format!(" ({hidden} of them are not above)")
    } else if points.into_iter().any(is_weak_above) {
        String::new()
    } else {
        "; every number above is solid".to_owned()
    }
}

/// True if the point has a number that is not solid.
fn is_weak(point: &&Point) -> bool {
    let measured = point.outcome.measured();
    measured.is_some_and(|m| m.verdict.grade != VerdictGrade::Solid)
}

/// Sentence with the verdict and its main cause; `None` if no point was measured.
pub(super) fn summary(verdict: &ReportVerdict) -> Option<String> {
    let all = verdict.points.values().copied();
    let all = all.fold(0, u64::saturating_add);
    let of = |grade| verdict.points.get(&grade).copied().unwrap_or(0);
    let numbers = counted(all, "number");
    let why = mainly(verdict);
    let text = match (of(VerdictGrade::Rejected), of(VerdictGrade::Doubtful)) {
        (0, 0) => format!("solid: all {numbers}."),
        (0, doubtful) => format!("doubtful: {doubtful} of {numbers}{why}."),
        (rejected, 0) => format!("rejected: {rejected} of {numbers}{why}."),
        (rejected, doubtful) => {
            format!("rejected: {rejected} of {numbers}; doubtful: {doubtful} more{why}.")
        }
    };
    (all > 0).then_some(text)
}

/// Cause of most doubts, as the end of a sentence; empty if there are no doubts.
fn mainly(verdict: &ReportVerdict) -> String {
    let main = verdict.causes.first();
    main.map_or_else(String::new, |main| {
        format!(", mainly because {}", because(main.cause))
    })
}

/// Verdict with counts of points by grade and experiment; `None` if no point was measured.
pub(super) fn full(report: &Report) -> Option<Labelled> {
    let counts = &report.verdict.points;
    let all = counts.values().copied().fold(0, u64::saturating_add);
    let counts: Vec<String> = counts
        .iter()
        .map(|(grade, count)| format!("{count} {}", grade.word()))
        .collect();
    let weak = |dataset: &Dataset| dataset.points.iter().filter(is_weak).count();
    let places: Vec<String> = headline(&report.datasets)
        .filter(|dataset| !dataset.derived)
        .map(|dataset| (weak(dataset), &dataset.experiment))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} of {}", shorten(name, 32)))
        .collect();
    let places = match places.is_empty() {
        true => String::new(),
        false => format!("; not solid: {}", places.join(", ")),
    };
    let text = format!(
        "{}: of {} {}{places}.",
        report.verdict.grade.word(),
        counted(all, "number"),
        counts.join(", ")
    );
    (all > 0).then(|| ("Trust".to_owned(), text))
}

/// Advice for the main cause, and one command that has all options that help.
fn improvement(report: &Report) -> Vec<String> {
    let causes = &report.verdict.causes;
    // A storage session gets no command, because the user chose all of its options.
    let is_storage = report.plan.profile == "io";
    let is_helped = |c: &CauseCount| !c.cause.options().is_empty() && !is_storage;
    let advice = causes
        .first()
        .filter(|main| !is_helped(main) && !main.advice.is_empty())
        .map(|main| clean(&main.advice));
    let mut options: BTreeMap<&str, String> = BTreeMap::new();
    for cause in causes.iter().filter(|c| is_helped(c)) {
        for (option, value) in cause.cause.options() {
            options.insert(option, (*value).to_owned());
        }
    }
    if options.contains_key("--samples") || options.contains_key("--reallocate") {
        let budget = (report.plan.budget.secs() * 2.0).ceil();
        options.insert("--budget", format!("{budget:.0}s"));
    }
    let mut arguments = without(&report.provenance.command_line, &options);
    for (option, value) in &options {
        arguments.extend([(*option).to_owned(), value.clone()]);
    }
    let command = (!options.is_empty()).then(|| shorten(&command_line(&arguments), 1000));
    match (advice, command) {
        (Some(advice), Some(command)) => vec![format!("{advice}; then type:"), command],
        (advice, command) => advice.into_iter().chain(command).collect(),
    }
}

/// Returns `arguments` without `options` and their values, and without `--resume`. The session is
/// complete and cannot be continued.
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
