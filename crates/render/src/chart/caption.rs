//! What every picture says of where its numbers come from: machine, day, command.

use crate::NamedReport;
use crate::markdown::command_line;
use crate::page::machine;
use crate::text::{clean, shorten};
use report::{Provenance, Report};
use units::counted;

/// More reports than these are counted, not told.
const MOST_TOLD: usize = 8;

/// The longest command that is told.
const LONGEST_COMMAND: usize = 600;

/// Two lines for each report: the machine; the day and the command. Reports have their names in front where there are several.
pub(crate) fn sources(reports: &[NamedReport]) -> Vec<String> {
    let several = reports.len() > 1;
    let mut lines = Vec::new();
    for named in reports.iter().take(MOST_TOLD) {
        let name = if several { format!("{}: ", shorten(&named.name, 60)) } else { String::new() };
        lines.push(format!("{name}{}", host(&named.report)));
        lines.push(run(&named.report.provenance));
    }
    if reports.len() > MOST_TOLD {
        lines.push(format!("and {} more", counted(reports.len() - MOST_TOLD, "report")));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// The machine with its name.
fn host(report: &Report) -> String {
    let name = report.provenance.host.system.hostname.get();
    name.map(|name| format!("{}: ", shorten(name, 60))).unwrap_or_default() + &machine(report)
}

/// When it was measured, and by what command; what is not known is left out.
fn run(provenance: &Provenance) -> String {
    let day = day(&provenance.started);
    let mut words = provenance.command_line.clone();
    if let Some(program) = words.first_mut() {
        // Where the program lay on that machine is nothing that a picture has to tell.
        *program = program.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    }
    let command = shorten(&command_line(&words), LONGEST_COMMAND);
    [day, command].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ")
}

/// A time in RFC 3339 to the minute; other text as it is.
fn day(started: &str) -> String {
    match (started.get(..10), started.get(10..11), started.get(11..16), started.ends_with('Z')) {
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
        for other in ["", "yesterday", "äöüäöüäöüäöüäöü", "2026-01-02T03:04:05+02:00"] {
            assert_eq!(day(other), other);
        }
    }
}
