//! Caption of a picture: the origin of its numbers (machine, day, command).

use super::choice::is_requested;
use crate::NamedReport;
use crate::page::machine;
use crate::provenance::command_line;
use crate::text::{clean, shorten};
use report::{Dataset, Point, Provenance, Report, VerdictGrade};
use std::collections::BTreeMap;
use units::counted;

/// Largest number of reports that are described; further reports are only counted.
const MAX_REPORTS: usize = 8;

/// Longest command that is shown, in characters.
const LONGEST_COMMAND: usize = 600;

/// Makes two lines for each report: the first with the machine, the second with day and command.
/// With several reports, each line starts with the name of its report.
pub(crate) fn sources(reports: &[NamedReport]) -> Vec<String> {
    let several = reports.len() > 1;
    let mut lines = Vec::new();
    for named in reports.iter().take(MAX_REPORTS) {
        let name = if several {
            format!("{}: ", shorten(&named.name, 60))
        } else {
            String::new()
        };
        lines.push(format!("{name}{}", host(&named.report)));
        lines.push(run(&named.report.provenance));
    }
    if reports.len() > MAX_REPORTS {
        lines.push(format!(
            "and {} more",
            counted(reports.len() - MAX_REPORTS, "report")
        ));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Makes one line for each report that has doubtful or rejected points, or points without a number.
/// The line has the counts of these points. Only points of the experiments in `chosen` are counted,
/// or all points if `chosen` is empty.
pub(crate) fn outcomes(reports: &[NamedReport], chosen: &[String]) -> Vec<String> {
    let several = reports.len() > 1;
    let line = |named: &NamedReport| {
        let name = if several {
            format!("{}: ", shorten(&named.name, 60))
        } else {
            String::new()
        };
        Some(format!("{name}{}", outcomes_of(&named.report, chosen)?))
    };
    let mut lines: Vec<String> = reports.iter().filter_map(line).collect();
    if lines.len() > MAX_REPORTS {
        let more = lines.split_off(MAX_REPORTS).len();
        lines.push(format!(
            "{} with doubtful or missing numbers",
            counted(more, "more report")
        ));
    }
    lines
}

/// The line of [`outcomes`] for one report; `None` if every point has a solid number.
fn outcomes_of(report: &Report, chosen: &[String]) -> Option<String> {
    // Derived datasets are left out, because they repeat points of other datasets.
    let requested =
        |dataset: &&Dataset| !dataset.derived && is_requested(chosen, &dataset.experiment);
    let points: Vec<&Point> = report
        .datasets
        .iter()
        .filter(requested)
        .flat_map(|d| &d.points)
        .collect();
    let grade = |point: &&&Point| point.outcome.measured().map(|m| m.verdict.grade);
    let graded = [VerdictGrade::Doubtful, VerdictGrade::Rejected];
    let weak = graded.map(|wanted| {
        (
            points.iter().filter(|p| grade(p) == Some(wanted)).count(),
            wanted.word(),
        )
    });
    let mut missing: BTreeMap<&str, usize> = BTreeMap::new();
    for point in points.iter().filter(|p| p.outcome.measured().is_none()) {
        *missing.entry(point.outcome.status()).or_default() += 1;
    }
    let words = |counts: &mut dyn Iterator<Item = (usize, &str)>| {
        counts
            .filter(|(n, _)| *n > 0)
            .map(|(n, word)| format!("{n} {word}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let count = missing.values().sum::<usize>();
    let missing = words(&mut missing.into_iter().map(|(word, n)| (n, word)));
    let missing = if count == 0 {
        String::new()
    } else {
        format!("{count} without a number ({missing})")
    };
    let told: Vec<String> = [words(&mut weak.into_iter()), missing]
        .into_iter()
        .filter(|t| !t.is_empty())
        .collect();
    let all = counted(points.len(), "point");
    (!told.is_empty()).then(|| format!("{all}: {}; --format table says why", told.join(", ")))
}

/// Host name with a colon, and then the machine. Without a host name, only the machine.
fn host(report: &Report) -> String {
    let name = report.provenance.host.system.hostname.get();
    name.map(|name| format!("{}: ", shorten(name, 60)))
        .unwrap_or_default()
        + &machine(report)
}

/// Day and command of the session; unknown parts are left out.
fn run(provenance: &Provenance) -> String {
    let day = day(&provenance.started);
    let mut words = provenance.command_line.clone();
    if let Some(program) = words.first_mut() {
        // Only the name of the program is shown, not its path on the measured machine.
        *program = program
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned();
    }
    let command = shorten(&command_line(&words), LONGEST_COMMAND);
    [day, command]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(": ")
}

/// The RFC 3339 time `started` as `2026-01-02 03:04 UTC`. Other text is cleaned and shortened.
fn day(started: &str) -> String {
    match (
        started.get(..10),
        started.get(10..11),
        started.get(11..16),
        started.ends_with('Z'),
    ) {
        (Some(day), Some("T"), Some(minute), true) => clean(&format!("{day} {minute} UTC")),
        _ => shorten(started, 40),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_the_minute() {
        assert_eq!(day("2026-01-02T03:04:05Z"), "2026-01-02 03:04 UTC");
        for other in [
            "",
            "yesterday",
            "äöüäöüäöüäöüäöü",
            "2026-01-02T03:04:05+02:00",
        ] {
            assert_eq!(day(other), other);
        }
    }
}
