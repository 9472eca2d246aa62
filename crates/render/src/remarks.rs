//! Lines below the tables: missing points, trust, findings, and the place of the saved report.

use super::Options;
use super::blocks::Labelled;
use super::text::{clean, shorten};
use super::{line, reasons, trust};
use report::{Finding, Report};
use units::counted;
use verdict::{Worth, finding_kind};

/// Largest number of findings, and of their lines, below the table of a whole hierarchy.
const MAX_FINDINGS: usize = 5;
const MAX_FINDING_LINES: usize = 6;

/// Longest text of a finding, in characters. memgauge's own findings are shorter.
const LONGEST: usize = 400;

/// Width of the labels of lines, in characters.
const LABEL_WIDTH: u16 = 10;

/// Lines for a screen. `hidden` is the number of points that no table shows. `extra_rows` is the
/// number of rows of variants in the table of the hierarchy; `None` if there is no such table. With
/// such a table, only the most valuable findings are shown, because the table says the most.
pub(super) fn brief(
    report: &Report,
    options: &Options,
    hidden: usize,
    extra_rows: Option<usize>,
) -> Vec<Labelled> {
    let mut lines = reasons::missing(report);
    lines.extend(health(report));
    lines.extend(trust::brief(report));
    let mut findings = by_worth(report);
    let all = findings.len();
    if let Some(rows) = extra_rows {
        let lines = MAX_FINDING_LINES.saturating_sub(rows);
        findings.truncate(that_fit(&findings, options.width, lines));
    }
    let shown = findings.len();
    lines.extend(findings.into_iter().map(finding));
    lines.extend(saved(options));
    lines.extend(more(report, all - shown, hidden));
    lines
}

/// All lines, without the limits of a screen.
pub(super) fn full(report: &Report, options: &Options) -> Vec<Labelled> {
    let mut lines = reasons::missing_in_full(report);
    lines.extend(health(report));
    lines.extend(trust::full(report));
    lines.extend(by_worth(report).into_iter().map(finding));
    lines.extend(reasons::doubts_in_full(report));
    lines.extend(saved(options));
    lines
}

/// Line about a health check; `None` if the report has none.
fn health(report: &Report) -> Option<Labelled> {
    let health = report.health.as_ref()?;
    Some(("Health".to_owned(), line::in_words(health)))
}

/// Findings, the most valuable first. Equally valuable findings are in order of appearance.
fn by_worth(report: &Report) -> Vec<&Finding> {
    let mut findings: Vec<&Finding> = report.findings.iter().collect();
    findings.sort_by_key(|f| finding_kind(&f.kind).map_or(Worth::Circumstance, |kind| kind.worth));
    findings
}

/// Number of findings, counted from the first one, that fit into `most` lines of `width`
/// characters. At least one.
fn that_fit(findings: &[&Finding], width: Option<u16>, most: usize) -> usize {
    let columns = width.map_or(usize::MAX, |width| {
        usize::from(width.saturating_sub(LABEL_WIDTH).max(1))
    });
    let mut lines = 0;
    let fits = |finding: &&&Finding| {
        lines += sentence(finding).chars().count().div_ceil(columns);
        lines <= most
    };
    let count = findings.iter().take(MAX_FINDINGS).take_while(fits).count();
    count.max(1)
}

fn finding(finding: &Finding) -> Labelled {
    ("Findings".to_owned(), sentence(finding))
}

/// Text of a finding. Its grade follows if it is not solid.
fn sentence(finding: &Finding) -> String {
    let text = shorten(&finding.text, LONGEST);
    match finding.trust().filter(|_| finding.is_doubtful()) {
        Some(grade) => format!("{text} ({})", grade.word()),
        None => text,
    }
}

/// Line with the name of the saved report, and commands that use it; `None` if it is not saved.
fn saved(options: &Options) -> Option<Labelled> {
    let saved = options.saved_to.as_ref()?;
    let name = clean(&saved.name);
    let text = match (saved.is_readable, name.as_str()) {
        (false, _) => name,
        (true, "last") => "last; charts: memgauge report last -o page.html; compare: memgauge \
                           compare last~1 last"
            .to_owned(),
        (true, _) => format!("{name}; charts: memgauge report {name} -o page.html"),
    };
    Some(("Saved".to_owned(), text))
}

/// Line that counts the items that only `--verbose` shows; `None` if there are none.
fn more(report: &Report, findings: usize, points: usize) -> Option<Labelled> {
    let mut things = Vec::new();
    if findings > 0 {
        things.push(counted(findings, "more finding"));
    }
    if points > 0 {
        things.push(counted(points, "more point"));
    }
    if !report.verdict.causes.is_empty() {
        things.push("all doubts".to_owned());
    }
    let list = match things.as_slice() {
        [] => return None,
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    Some(("More".to_owned(), format!("--verbose shows {list}.")))
}
