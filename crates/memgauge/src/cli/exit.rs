//! Exit codes, in one table for the program, its help, its man page and the README.

use report::{HealthState, Outcome, Point, Report, RunStatus, VerdictGrade};
use units::counted;

/// How the program ends. The number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All that was requested was done.
    Done = 0,
    /// The system refused an operation that the command needs.
    Failed = 1,
    /// The request cannot be carried out as typed.
    Usage = 2,
    /// Less was measured than planned, or numbers are not good enough.
    Incomplete = 3,
    /// A check that the user requested found something.
    CheckFailed = 4,
    /// No requested point can be measured on this machine.
    Unsupported = 5,
}

impl Exit {
    /// The exit code.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// A row of the table of exit codes.
#[derive(Debug, Clone, Copy)]
pub struct ExitRow {
    /// The way in which the program ended. `None` for the row about a program that a second signal
    /// ended.
    pub exit: Option<Exit>,
    /// The code as documents write it.
    pub code: &'static str,
    /// Name of this way to end, in one or two words.
    pub name: &'static str,
    /// Conditions under which the program ends in this way, in whole sentences.
    pub meaning: &'static str,
}

const fn row(exit: Exit, code: &'static str, name: &'static str, meaning: &'static str) -> ExitRow {
    ExitRow {
        exit: Some(exit),
        code,
        name,
        meaning,
    }
}

/// Every exit code, in rising order.
pub const EXIT_CODES: &[ExitRow] = &[
    row(
        Exit::Done,
        "0",
        "done",
        "The request was carried out. A reader that closes the pipe early changes nothing.",
    ),
    row(
        Exit::Failed,
        "1",
        "failed",
        "The system refused what the command needs: every point failed, or the result could not \
         be written.",
    ),
    row(
        Exit::Usage,
        "2",
        "usage",
        "The request cannot be carried out as typed. Nothing was measured.",
    ),
    row(
        Exit::Incomplete,
        "3",
        "incomplete",
        "Fewer points were measured than planned: interrupted, failed, no time, no memory. Or \
         some are not solid and --strict was given. Or the format has no place for any of them. \
         The report says why. Or health or fleet could not judge a machine, or fleet left out an \
         input.",
    ),
    row(
        Exit::CheckFailed,
        "4",
        "check failed",
        "compare found what --fail-on names or no point in common, health or fleet found a slow \
         machine, or io --verify read wrong data.",
    ),
    row(
        Exit::Unsupported,
        "5",
        "unsupported",
        "None of the points can be measured on this machine. The report says why.",
    ),
    ExitRow {
        exit: None,
        code: "128 + N",
        name: "signal",
        meaning: "A second signal of number N ended the program at once. The journal has what was \
             measured.",
    },
];

/// The table of exit codes for `--help`.
pub fn help() -> String {
    let rows = EXIT_CODES
        .iter()
        .map(|row| format!("  {:<8} {}: {}", row.code, row.name, row.meaning));
    format!("Exit codes:\n{}", rows.collect::<Vec<_>>().join("\n"))
}

/// The table of exit codes for the man page, in roff.
pub fn roff() -> String {
    let escaped = |text: &str| text.replace('-', "\\-");
    let rows = EXIT_CODES.iter().map(|row| {
        format!(
            ".TP\n{}\n{}: {}\n",
            row.code,
            row.name,
            escaped(row.meaning)
        )
    });
    rows.collect()
}

/// The table of exit codes for documents, in Markdown.
pub fn markdown() -> String {
    let rows = EXIT_CODES
        .iter()
        .map(|row| format!("| {} | {} | {} |\n", row.code, row.name, row.meaning));
    format!(
        "| code | end | meaning |\n|---|---|---|\n{}",
        rows.collect::<String>()
    )
}

/// How a session ended, and the reason if that is not [`Exit::Done`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The exit code.
    pub exit: Exit,
    /// Reason for the end: one line without a full stop.
    pub reason: Option<String>,
}

/// Ending of the session of `report`. If `strict` is true, a point that is not solid makes the
/// session incomplete. `unfinished` is the text that says how to continue an interrupted session.
pub fn ending(report: &Report, strict: bool, unfinished: Option<&str>) -> Ending {
    let because = |exit, reason: String| Ending {
        exit,
        reason: Some(reason),
    };
    // Derived datasets are left out, because they repeat points of other datasets.
    let points: Vec<&Point> = report
        .datasets
        .iter()
        .filter(|d| !d.derived)
        .flat_map(|d| &d.points)
        .collect();
    let with = |status: &str| {
        points
            .iter()
            .copied()
            .filter(|p| p.outcome.status() == status)
            .collect::<Vec<_>>()
    };
    let why = |points: &[&Point]| {
        points
            .first()
            .and_then(|p| p.outcome.reason())
            .unwrap_or_default()
            .to_owned()
    };
    let all = counted(points.len(), "point");
    let wrong = wrong_data(&points);
    if wrong > 0 {
        let blocks = if wrong == 1 {
            "block does"
        } else {
            "blocks do"
        };
        return because(
            Exit::CheckFailed,
            format!("verification failed: {wrong} {blocks} not hold what was written"),
        );
    }
    if report.status == RunStatus::Interrupted {
        let how = unfinished.map(|how| format!("; {how}")).unwrap_or_default();
        return because(
            Exit::Incomplete,
            format!("interrupted: finished points are in the result{how}"),
        );
    }
    let judged = |state: HealthState| {
        let health = report
            .health
            .as_ref()
            .filter(|health| health.state == state);
        health.map(|health| format!("{}: {}", state.words(), health.reason))
    };
    if let Some(text) = judged(HealthState::Slow) {
        return because(Exit::CheckFailed, text);
    }
    let measured = with("measured").len();
    let failed = with("failed");
    if !failed.is_empty() {
        let exit = if measured == 0 {
            Exit::Failed
        } else {
            Exit::Incomplete
        };
        return because(
            exit,
            format!("{} of {all} failed: {}", failed.len(), why(&failed)),
        );
    }
    let skipped = with("skipped");
    if !skipped.is_empty() {
        let text = format!("{} of {all} not measured: {}", skipped.len(), why(&skipped));
        return because(Exit::Incomplete, text);
    }
    let unsupported = with("unsupported");
    if measured == 0 && !unsupported.is_empty() {
        return because(
            Exit::Unsupported,
            format!("nothing was measured: {}", why(&unsupported)),
        );
    }
    let grades = &report.verdict.points;
    let weak: u64 = grades
        .iter()
        .filter(|(grade, _)| **grade != VerdictGrade::Solid)
        .map(|(_, n)| n)
        .sum();
    if let Some(text) = judged(HealthState::Inconclusive) {
        return because(Exit::Incomplete, text);
    }
    if strict && weak > 0 {
        let all = counted(grades.values().sum::<u64>(), "point");
        let text = format!("{weak} of {all} less than solid: the reasons are in the result");
        return because(Exit::Incomplete, text);
    }
    Ending {
        exit: Exit::Done,
        reason: None,
    }
}

/// Number of blocks read from storage whose data differed from the data written.
fn wrong_data(points: &[&Point]) -> u64 {
    let wrong = |point: &&Point| match &point.outcome {
        Outcome::Measured(measured) => measured.storage.as_ref().map_or(0, |storage| storage.wrong),
        _ => 0,
    };
    points.iter().map(wrong).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::{ReportVerdict, SC_MEMBENCH_HEADER, parse_saved};

    /// A report of three points. The first ones have these `outcomes`, the others are measured.
    fn report(outcomes: &[Outcome]) -> Report {
        let rows = "1,read,5,0,0,0,1,1,1\n2,read,5,0,0,0,1,1,1\n4,read,5,0,0,0,1,1,1\n";
        let text = format!("{SC_MEMBENCH_HEADER}\n{rows}");
        let mut report = parse_saved(text.as_bytes())
            .expect("a report")
            .into_report();
        for (point, outcome) in report.datasets[0].points.iter_mut().zip(outcomes) {
            point.outcome = outcome.clone();
        }
        report.verdict = ReportVerdict::summarise(&report.datasets);
        report
    }

    fn exit(report: &Report, strict: bool) -> Exit {
        ending(report, strict, None).exit
    }

    #[test]
    fn outcomes_decide_how_a_run_ended() {
        let reason = || "a test".to_owned();
        let skipped = Outcome::Skipped { reason: reason() };
        let unsupported = Outcome::Unsupported { reason: reason() };
        let failed = Outcome::Failed { reason: reason() };
        assert_eq!(exit(&report(&[]), false), Exit::Done);
        assert_eq!(
            exit(&report(&[]), true),
            Exit::Incomplete,
            "points of another tool are doubtful"
        );
        assert_eq!(
            exit(&report(std::slice::from_ref(&unsupported)), false),
            Exit::Done,
            "told, and the rest is there"
        );
        assert_eq!(
            exit(&report(std::slice::from_ref(&skipped)), false),
            Exit::Incomplete
        );
        assert_eq!(
            exit(&report(std::slice::from_ref(&failed)), false),
            Exit::Incomplete
        );
        assert_eq!(
            exit(
                &report(&[unsupported.clone(), unsupported.clone(), unsupported]),
                false
            ),
            Exit::Unsupported
        );
        assert_eq!(
            exit(
                &report(&[failed.clone(), failed.clone(), failed.clone()]),
                false
            ),
            Exit::Failed
        );
        assert_eq!(
            exit(&report(&[failed, skipped.clone(), skipped]), false),
            Exit::Failed
        );
        let mut none = report(&[]);
        none.datasets[0].points.clear();
        assert_eq!(
            exit(&none, false),
            Exit::Done,
            "there was nothing to measure"
        );
        let mut interrupted = report(&[]);
        interrupted.status = RunStatus::Interrupted;
        assert_eq!(exit(&interrupted, false), Exit::Incomplete);
    }

    #[test]
    fn the_table_has_a_row_for_every_end() {
        let all = [
            Exit::Done,
            Exit::Failed,
            Exit::Usage,
            Exit::Incomplete,
            Exit::CheckFailed,
            Exit::Unsupported,
        ];
        let rows: Vec<(Exit, &str)> = EXIT_CODES
            .iter()
            .filter_map(|row| Some((row.exit?, row.code)))
            .collect();
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), all);
        assert!(
            rows.iter()
                .all(|(exit, code)| exit.code().to_string() == *code)
        );
    }
}
