//! Page of a fleet: machines that are not healthy, findings, and the distribution of each quantity
//! in each group. The page has no script.

use super::{block, document_with, escape, list};
use crate::Options;
use crate::blocks::{Block, Labelled};
use crate::fleet::{fleet_summary, groups, is_slower, legend};
use crate::grid::{Column, Grid};
use crate::text::{clean, shorten};
use std::collections::BTreeMap;
use units::error::Result;
use units::{counted, fixed, significant};
use verdict::{FleetVerdict, NodeState, NodeVerdict, Outlier, PopulationQuantity};

/// Largest numbers of rows and histograms. With more, a browser would not open the page at once.
const MAX_MACHINES: usize = 4000;
const MAX_LEFT_OUT: usize = 500;
const MAX_HISTOGRAMS: usize = 4000;
const MAX_MARKS: usize = 100;
const MAX_GROUPS: usize = 1000;

/// Width and height of a histogram, in the units of its SVG.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 50.0;

/// Outlying values by group and quantity, with their machines.
type Outliers<'a> = BTreeMap<(usize, usize), Vec<(&'a NodeVerdict, &'a Outlier)>>;

/// Renders the page of the verdict on a fleet.
pub(crate) fn fleet(fleet: &FleetVerdict, options: &Options) -> Result<Vec<u8>> {
    let title = options
        .title
        .as_ref()
        .map_or_else(|| "memgauge: fleet".to_owned(), |title| clean(title));
    let mut body = format!(
        "<header>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n",
        escape(&title),
        escape(&fleet_summary(fleet))
    );
    let mut words: Vec<Labelled> = fleet
        .findings
        .iter()
        .map(|one| ("finding".to_owned(), one.text.clone()))
        .collect();
    words.push(("legend".to_owned(), legend(fleet)));
    words.retain(|(_, text)| !text.is_empty());
    body.push_str(&list(&words));
    body.push_str(&machines(fleet));
    let count = fleet.groups.len().min(MAX_GROUPS);
    body.push_str(&block(&Block {
        title: "Groups".to_owned(),
        grid: groups(fleet, count),
        legend: String::new(),
    }));
    body.push_str(&distributions(fleet));
    if !fleet.left_out.is_empty() {
        body.push_str(&left_out(fleet));
    }
    Ok(document_with(&title, &body, "").into_bytes())
}

/// Table of machines that are not healthy, each with a link to its report.
fn machines(fleet: &FleetVerdict) -> String {
    let odd = fleet.nodes.iter();
    let odd: Vec<&NodeVerdict> = odd
        .filter(|node| node.state != NodeState::Healthy || is_slower(node))
        .collect();
    if odd.is_empty() {
        return String::new();
    }
    let mut text = "<div class=\"scroll\"><table>\n<caption>Machines</caption>\n<thead><tr>\
                    <th>machine</th><th>state</th><th>reason</th><th>group</th></tr></thead>\n\
                    <tbody>\n"
        .to_owned();
    for node in odd.iter().take(MAX_MACHINES) {
        let (state, reason) = state_and_reason(node);
        text.push_str(&format!(
            "<tr><th><a href=\"{}\">{}</a></th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            link(&node.source),
            escape(&shorten(&node.node, 60)),
            state,
            escape(&reason),
            fleet.groups[node.group].digest
        ));
    }
    text.push_str("</tbody></table></div>\n");
    if odd.len() > MAX_MACHINES {
        let more = counted(odd.len() - MAX_MACHINES, "more machine");
        text.push_str(&format!("<p>{more}: --format csv has all of them.</p>\n"));
    }
    text
}

/// The states of a machine as one text, and the reasons for them as another. A machine may have a
/// state compared with its peers, a state compared with its own history, or both.
fn state_and_reason(node: &NodeVerdict) -> (String, String) {
    let own = node.history.as_ref().filter(|_| is_slower(node));
    let mut states = Vec::new();
    let mut reasons = Vec::new();
    if let Some(own) = own {
        states.push(own.state.word());
        reasons.push(own.reason.as_str());
    }
    if own.is_none() || node.state != NodeState::Healthy {
        states.push(node.state.word());
        reasons.push(node.reason.as_str());
    }
    (states.join(", "), reasons.join("; "))
}

/// Address of a file for a link. Characters that could name a scheme or end the attribute are
/// encoded.
fn link(source: &str) -> String {
    let mut text = String::new();
    for byte in source.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_./~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Histograms of each quantity in each group.
fn distributions(fleet: &FleetVerdict) -> String {
    let mut outliers = Outliers::new();
    for node in &fleet.nodes {
        for one in &node.outliers {
            outliers
                .entry((node.group, one.quantity))
                .or_default()
                .push((node, one));
        }
    }
    let mut text = String::new();
    let mut left = MAX_HISTOGRAMS;
    for (index, group) in fleet.groups.iter().enumerate() {
        if group.quantities.is_empty() || left == 0 {
            continue;
        }
        let facts = group.facts.iter();
        let facts: Vec<String> = facts
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        text.push_str(&format!(
            "<details{}><summary>{} ({}, {})</summary>\n<p class=\"small\">{}</p>\n\
             <div class=\"histograms\">\n",
            if index == 0 { " open" } else { "" },
            escape(&group.name),
            group.digest,
            counted(group.nodes.iter().sum::<usize>(), "machine"),
            escape(&facts.join(", "))
        ));
        for quantity in group.quantities.iter().take(left) {
            let marks = outliers.get(&(index, quantity.quantity));
            let marks = marks.map_or(&[][..], Vec::as_slice);
            text.push_str(&histogram(fleet, quantity, marks));
        }
        left = left.saturating_sub(group.quantities.len());
        text.push_str("</div>\n</details>\n");
    }
    if text.is_empty() {
        return text;
    }
    format!(
        "<h2>Distributions</h2>\n<p class=\"legend\">Machines by speed: the left is slow. The line \
         is the median. Colours mark outlying machines.</p>\n{text}"
    )
}

/// Histogram of a quantity in a group, with marks for outlying machines.
fn histogram(
    fleet: &FleetVerdict,
    quantity: &PopulationQuantity,
    marks: &[(&NodeVerdict, &Outlier)],
) -> String {
    let Some((label, of)) = fleet.quantities.get(quantity.quantity) else {
        return String::new();
    };
    let highest = quantity.counts.iter().copied().max().unwrap_or(0).max(1);
    let step = WIDTH / quantity.counts.len().max(1) as f64;
    let mut path = format!("M0 {HEIGHT}");
    for count in &quantity.counts {
        // Heights are square roots, so that one machine is visible next to thousands.
        let share = (f64::from(*count) / f64::from(highest)).sqrt();
        path.push_str(&format!("V{}h{step}", fixed(HEIGHT * (1.0 - share), 1)));
    }
    path.push_str(&format!("V{HEIGHT}z"));
    let place = |speed: f64| {
        let share = (speed - quantity.left) / (quantity.right - quantity.left);
        fixed(share.clamp(0.0, 1.0) * WIDTH, 1)
    };
    let mut lines = format!("<path class=\"middle\" d=\"M{} 0V{HEIGHT}\"/>", place(0.0));
    // Only machines of this histogram's population are marked. Their outliers have the same median.
    let own = marks
        .iter()
        .filter(|(_, one)| (one.median / quantity.median - 1.0).abs() < 1e-3);
    for (node, one) in own.take(MAX_MARKS) {
        let ratio = one.change.ln_1p();
        let speed = if of.higher_is_better { ratio } else { -ratio };
        let class = if one.is_slow() { "slow" } else { "fast" };
        lines.push_str(&format!(
            "<path class=\"{class}\" d=\"M{} 0v12\"><title>{}: {}%</title></path>",
            place(speed),
            escape(&shorten(&node.node, 60)),
            fixed(one.change * 100.0, 1)
        ));
    }
    let settings = quantity.settings.iter();
    let settings: String = settings
        .map(|one| format!(", {} {}", one.name, one.value))
        .collect();
    let caption = format!(
        "{label}{settings}: {} {}, {}",
        significant(quantity.median),
        of.unit,
        counted(quantity.nodes, "machine")
    );
    format!(
        "<figure><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\">\
         <path class=\"bars\" d=\"{path}\"/>{lines}</svg><figcaption>{}</figcaption></figure>\n",
        escape(&caption)
    )
}

/// Table of inputs that were not judged, with the reasons.
fn left_out(fleet: &FleetVerdict) -> String {
    let rows = fleet.left_out.iter().take(MAX_LEFT_OUT);
    let rows = rows.map(|one| vec![one.source.clone(), one.reason.clone()]);
    let table = block(&Block {
        title: counted(fleet.left_out.len(), "input left out").replace("outs", "out"),
        grid: Grid {
            columns: vec![Column::left("input"), Column::left("reason")],
            rows: rows.collect(),
        },
        legend: String::new(),
    });
    format!("<h2>Left out</h2>\n{table}")
}
