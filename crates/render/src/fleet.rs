//! Text of the verdict on a fleet: machines that are not healthy, then groups.

use super::grid::{Column, Grid};
use super::request::Options;
use super::text::shorten;
use units::{counted, fixed};
use verdict::{FleetVerdict, GroupVerdict, HistoryState, MAX_HISTORY, NodeState, NodeVerdict};

/// Largest number of rows of each kind of table without `--verbose`, so that all tables fit on a
/// screen.
const MAX_SLOW: usize = 12;
const MAX_OTHERS: usize = 4;
const MAX_GROUPS: usize = 8;
const MAX_FINDINGS: usize = 4;
const MAX_LEFT_OUT: usize = 4;

/// Longest name of a machine in a table, in characters.
const LONGEST_NODE: usize = 40;

/// The verdict in one line: the number of machines in each state.
pub fn fleet_summary(fleet: &FleetVerdict) -> String {
    let tally = fleet.tally();
    let mut text = format!(
        "{} in {}: ",
        counted(fleet.nodes.len(), "machine"),
        counted(fleet.groups.len(), "group")
    );
    let counts = NodeState::ALL.iter().zip(tally);
    let counts: Vec<String> = counts
        .map(|(state, count)| format!("{count} {}", state.word()))
        .collect();
    text.push_str(&counts.join(", "));
    if let Some(history) = &fleet.history {
        let slower = history.count(HistoryState::Slower);
        text.push_str(&format!("; {slower} slower since {}", date(&history.since)));
    }
    if !fleet.left_out.is_empty() {
        let inputs = counted(fleet.left_out.len(), "input");
        text.push_str(&format!("; {inputs} left out"));
    }
    text
}

/// The RFC 3339 time `moment` as a date. A time of day is kept unless it is midnight.
fn date(moment: &str) -> &str {
    let midnight = moment.strip_suffix("T00:00:00Z");
    midnight.unwrap_or_else(|| moment.strip_suffix(":00Z").unwrap_or(moment))
}

/// True if the machine is slower than in its own earlier reports.
pub(super) fn is_slower(node: &NodeVerdict) -> bool {
    let history = node.history.as_ref();
    history.is_some_and(|own| own.state == HistoryState::Slower)
}

/// Returns the number of rows to show if there are `all` rows. The returned line says how many rows
/// are hidden; `None` if there are none.
fn shown(all: usize, most: usize, verbose: bool, what: &str) -> (usize, Option<String>) {
    // One hidden row would not save any space.
    if verbose || all <= most + 1 {
        return (all, None);
    }
    let more = all - most;
    (
        most,
        Some(format!("{more} more {what}; --verbose shows them")),
    )
}

/// Writes `rows` in columns of words, without a heading.
fn lines(rows: Vec<Vec<String>>, width: Option<u16>) -> String {
    let columns = rows.first().map_or(1, Vec::len);
    Grid {
        columns: vec![Column::left(""); columns],
        rows,
    }
    .to_text(width)
}

/// Table of the machines in `state`, with the reasons.
fn in_state(fleet: &FleetVerdict, state: NodeState, most: usize, options: &Options) -> String {
    let all = fleet.nodes.iter().filter(|node| node.state == state);
    let all: Vec<(&NodeVerdict, &str)> = all.map(|node| (node, node.reason.as_str())).collect();
    machines(fleet, state.word(), &all, most, options)
}

/// Table of the machines that became slower than in their earlier reports, with the reasons.
fn slower(fleet: &FleetVerdict, options: &Options) -> String {
    let all = fleet.nodes.iter().filter(|node| is_slower(node));
    let reason = |node: &'_ NodeVerdict| -> String {
        let history = node.history.as_ref();
        history.map_or_else(String::new, |own| own.reason.clone())
    };
    let all: Vec<(&NodeVerdict, String)> = all.map(|node| (node, reason(node))).collect();
    let all: Vec<(&NodeVerdict, &str)> = all
        .iter()
        .map(|(node, reason)| (*node, reason.as_str()))
        .collect();
    machines(fleet, HistoryState::Slower.word(), &all, MAX_SLOW, options)
}

/// Table of machines with their reasons, below `heading`.
fn machines(
    fleet: &FleetVerdict,
    heading: &str,
    all: &[(&NodeVerdict, &str)],
    most: usize,
    options: &Options,
) -> String {
    let (count, note) = shown(all.len(), most, options.verbose, "machines");
    if all.is_empty() {
        return String::new();
    }
    let row = |(node, reason): &(&NodeVerdict, &str)| {
        vec![
            shorten(&node.node, LONGEST_NODE),
            (*reason).to_owned(),
            fleet.groups[node.group].digest.clone(),
        ]
    };
    let grid = Grid {
        columns: vec![
            Column::left(heading),
            Column::left("reason"),
            Column::left("group"),
        ],
        rows: all[..count].iter().map(row).collect(),
    };
    let mut text = grid.to_text(options.width);
    if let Some(note) = note {
        text.push_str(&lines(vec![vec![note]], options.width));
    }
    text
}

/// A row of the table of groups.
fn group_row(group: &GroupVerdict) -> Vec<String> {
    let mut row = vec![group.digest.clone(), group.name.clone()];
    row.push(group.nodes.iter().sum::<usize>().to_string());
    let number = |count: &usize| {
        if *count == 0 {
            String::new()
        } else {
            count.to_string()
        }
    };
    row.extend(group.nodes[..3].iter().map(number));
    row.push(group.quantities.len().to_string());
    let limits = group.quantities.iter().map(|q| q.slow_from.abs());
    let typical: Vec<f64> = limits.collect();
    let middle = stats::median(&typical);
    row.push(middle.map_or_else(String::new, |share| fixed(share * 100.0, 1)));
    row
}

/// The table of groups.
pub(super) fn groups(fleet: &FleetVerdict, count: usize) -> Grid {
    let mut columns = vec![Column::left("group"), Column::left("hardware")];
    columns.push(Column::right("machines"));
    for state in &NodeState::ALL[..3] {
        columns.push(Column::right(state.word()).dropped_as(1));
    }
    columns.push(Column::right("quantities").dropped_as(2));
    columns.push(Column::right("slow from\n%"));
    Grid {
        columns,
        rows: fleet.groups[..count].iter().map(group_row).collect(),
    }
}

/// The table for people.
pub(super) fn table(fleet: &FleetVerdict, options: &Options) -> String {
    let mut parts = vec![lines(vec![vec![fleet_summary(fleet)]], options.width)];
    parts.push(slower(fleet, options));
    for (state, most) in [
        (NodeState::Slow, MAX_SLOW),
        (NodeState::Unusual, MAX_OTHERS),
        (NodeState::Inconclusive, MAX_OTHERS),
    ] {
        parts.push(in_state(fleet, state, most, options));
    }
    let (count, note) = shown(
        fleet.groups.len(),
        MAX_GROUPS,
        options.verbose,
        "groups of machines",
    );
    if !fleet.groups.is_empty() {
        let mut text = groups(fleet, count).to_text(options.width);
        if let Some(note) = note {
            text.push_str(&lines(vec![vec![note]], options.width));
        }
        parts.push(text);
    }
    let mut rows = Vec::new();
    let mut list = |name: &str, all: Vec<String>, most: usize| {
        let (count, note) = shown(all.len(), most, options.verbose, "of them");
        let texts = all.into_iter().take(count).chain(note);
        rows.extend(texts.map(|text| vec![name.to_owned(), text]));
    };
    let findings = fleet.findings.iter().map(|one| one.text.clone()).collect();
    list("finding", findings, MAX_FINDINGS);
    let left_out = fleet.left_out.iter();
    let left_out = left_out
        .map(|one| format!("{}: {}", one.source, one.reason))
        .collect();
    list("left out", left_out, MAX_LEFT_OUT);
    let legend = legend(fleet);
    if !legend.is_empty() {
        rows.push(vec!["legend".to_owned(), legend]);
    }
    parts.push(lines(rows, options.width));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Explanation of the verdicts and their settings, and the number of reports that were not judged.
/// Empty if there is nothing to explain.
pub(super) fn legend(fleet: &FleetVerdict) -> String {
    let mut parts = Vec::new();
    if fleet.judged > 0 {
        let alarms = fleet.settings.false_alarms;
        parts.push(format!(
            "slow: at least {}% behind the machines of its group, and beyond a threshold that \
             chance passes {alarms} {} in {}",
            fixed(fleet.settings.floor.0 * 100.0, 1),
            if alarms == 1.0 { "time" } else { "times" },
            counted(fleet.judged, "value"),
        ));
        parts.push("z: distance in standard deviations of the group".to_owned());
    }
    if let Some(history) = &fleet.history {
        if history.judged > 0 {
            parts.push(format!(
                "slower: the same against its own reports before {}, beyond what its group has in \
                 common",
                date(&history.since)
            ));
        }
        let short = history.count(HistoryState::ShortHistory);
        if short > 0 {
            let machines = counted(short, "machine");
            parts.push(format!("{machines} with too few earlier reports for it"));
        }
        let silent = history.count(HistoryState::NoReport);
        if silent > 0 {
            parts.push(format!(
                "{} without a later report",
                counted(silent, "machine")
            ));
        }
        if fleet.older > 0 {
            let reports = counted(fleet.older, "oldest report");
            parts.push(format!(
                "{reports} left out: {MAX_HISTORY} of a machine count"
            ));
        }
    } else if fleet.older > 0 {
        let reports = counted(fleet.older, "older report");
        parts.push(format!("{reports} of the same machines not judged"));
    }
    parts.join("; ")
}
