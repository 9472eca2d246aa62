//! The formats of a verdict on a fleet.

use super::fleet::{is_slower, table as fleet_table};
use super::html;
use super::json::inert;
use super::openmetrics::written;
use super::request::Options;
use super::result_format::{ResultFormat, ResultFormats};
use super::text::clean;
use serde_json::{Value, json};
use units::error::{Error, Result};
use verdict::{
    FleetHistory, FleetVerdict, HistoryState, NodeHistory, NodeState, NodeVerdict, Outlier,
};

/// Function that renders a verdict on a fleet.
pub type RenderFleet = fn(&FleetVerdict, &Options) -> Result<Vec<u8>>;

impl ResultFormat<RenderFleet> {
    /// Renders a verdict, with a newline at the end.
    pub fn render(&self, fleet: &FleetVerdict, options: &Options) -> Result<Vec<u8>> {
        (self.render)(fleet, options)
    }
}

/// The formats of verdicts on fleets.
pub const FLEET_FORMATS: ResultFormats<RenderFleet> = ResultFormats {
    results: "fleets",
    rows: FORMATS,
};

const FORMATS: &[ResultFormat<RenderFleet>] = &[
    ResultFormat {
        name: "table",
        extension: "txt",
        help: "for people: one screen",
        verbose: true,
        render: table,
    },
    ResultFormat {
        name: "jsonl",
        extension: "jsonl",
        help: "one machine per line, for programs",
        verbose: false,
        render: json_lines,
    },
    ResultFormat {
        name: "json",
        extension: "json",
        help: "machines, groups, findings and inputs left out in one document",
        verbose: false,
        render: json_document,
    },
    ResultFormat {
        name: "csv",
        extension: "csv",
        help: "one row per machine with its farthest value",
        verbose: false,
        render: csv,
    },
    ResultFormat {
        name: "openmetrics",
        extension: "prom",
        help: "counts by group and machines that are not healthy, for monitoring systems",
        verbose: false,
        render: openmetrics,
    },
    ResultFormat {
        name: "html",
        extension: "html",
        help: "a page with the distribution of each quantity, readable offline",
        verbose: false,
        render: html::fleet,
    },
];

fn table(fleet: &FleetVerdict, options: &Options) -> Result<Vec<u8>> {
    Ok(fleet_table(fleet, options).into_bytes())
}

/// Short name of the quantity with this index.
fn label(fleet: &FleetVerdict, quantity: usize) -> &str {
    fleet
        .quantities
        .get(quantity)
        .map_or("", |(label, _)| label)
}

/// Unit of the quantity with this index.
fn unit(fleet: &FleetVerdict, quantity: usize) -> &str {
    fleet
        .quantities
        .get(quantity)
        .map_or("", |(_, quantity)| &quantity.unit)
}

/// JSON object for an outlying value.
fn outlier(fleet: &FleetVerdict, one: &Outlier) -> Value {
    json!({
        "quantity": label(fleet, one.quantity),
        "unit": unit(fleet, one.quantity),
        "value": one.value,
        "median": one.median,
        "change": one.change,
        "z": one.z,
        "is_beyond_chance": one.is_beyond_chance,
        "is_doubtful": one.is_doubtful,
    })
}

/// JSON object for a machine.
fn machine(fleet: &FleetVerdict, node: &NodeVerdict) -> Value {
    let outliers: Vec<Value> = node
        .outliers
        .iter()
        .map(|one| outlier(fleet, one))
        .collect();
    let mut machine = json!({
        "node": node.node,
        "state": node.state.word(),
        "reason": node.reason,
        "group": fleet.groups[node.group].digest,
        "hardware": fleet.groups[node.group].name,
        "started": node.started,
        "source": node.source,
        "judged": node.judged,
        "outliers": outliers,
    });
    if let Some(own) = &node.history {
        machine["history"] = history(fleet, own);
    }
    machine
}

/// JSON object for the verdict on a machine's own history.
fn history(fleet: &FleetVerdict, own: &NodeHistory) -> Value {
    let change = own.change.as_ref().map(|change| {
        json!({
            "quantity": label(fleet, change.quantity),
            "unit": unit(fleet, change.quantity),
            "before": change.before,
            "after": change.after,
            "ratio": change.ratio,
            "common_ratio": change.common_ratio,
            "z": change.z,
            "last_before": change.last_before,
            "first_after": change.first_after,
            "reports_before": change.reports_before,
            "reports_after": change.reports_after,
            "quantities": change.quantities,
        })
    });
    json!({
        "state": own.state.word(),
        "reason": own.reason,
        "reports": own.reports,
        "hardware": own.hardware,
        "change": change,
    })
}

/// JSON object with the number of machines in each state of their histories.
fn histories(history: &FleetHistory) -> Value {
    let counts = HistoryState::ALL.iter().zip(history.nodes);
    let counts = counts.map(|(state, count)| (state.word().to_owned(), Value::from(count)));
    json!({
        "since": history.since,
        "judged_changes": history.judged,
        "tally": counts.collect::<serde_json::Map<String, Value>>(),
    })
}

fn json_lines(fleet: &FleetVerdict, _options: &Options) -> Result<Vec<u8>> {
    let mut text = String::new();
    for node in &fleet.nodes {
        text.push_str(&machine(fleet, node).to_string());
        text.push('\n');
    }
    Ok(inert(text).into_bytes())
}

fn json_document(fleet: &FleetVerdict, _options: &Options) -> Result<Vec<u8>> {
    let mut groups = Vec::new();
    for group in &fleet.groups {
        let quantities: Vec<Value> = group
            .quantities
            .iter()
            .map(|one| {
                json!({
                    "quantity": label(fleet, one.quantity),
                    "unit": unit(fleet, one.quantity),
                    "settings": one.settings,
                    "nodes": one.nodes,
                    "median": one.median,
                    "slow_from": one.slow_from,
                })
            })
            .collect();
        groups.push(json!({
            "name": group.name,
            "digest": group.digest,
            "facts": group.facts,
            "nodes": counts(group.nodes),
            "quantities": quantities,
        }));
    }
    let findings: Vec<Value> = fleet
        .findings
        .iter()
        .map(|one| {
            json!({
                "kind": one.kind,
                "group": fleet.groups[one.group].digest,
                "text": one.text,
            })
        })
        .collect();
    let left_out: Vec<Value> = fleet
        .left_out
        .iter()
        .map(|one| json!({"source": one.source, "reason": one.reason}))
        .collect();
    let nodes: Vec<Value> = fleet
        .nodes
        .iter()
        .map(|node| machine(fleet, node))
        .collect();
    let mut document = json!({
        "floor": fleet.settings.floor,
        "false_alarms": fleet.settings.false_alarms,
        "least_nodes": fleet.settings.least_nodes,
        "judged_values": fleet.judged,
        "older_reports": fleet.older,
        "tally": counts(fleet.tally()),
        "findings": findings,
        "left_out": left_out,
        "groups": groups,
        "nodes": nodes,
    });
    if let Some(own) = &fleet.history {
        document["history"] = histories(own);
    }
    let text = serde_json::to_string_pretty(&document)
        .map_err(|e| Error::failure(format!("cannot write the fleet: {e}")))?;
    Ok((inert(text) + "\n").into_bytes())
}

/// JSON object with the number of machines in each state.
fn counts(nodes: [usize; 4]) -> Value {
    let all = NodeState::ALL.iter().zip(nodes);
    all.map(|(state, count)| (state.word().to_owned(), Value::from(count)))
        .collect::<serde_json::Map<String, Value>>()
        .into()
}

fn csv(fleet: &FleetVerdict, _options: &Options) -> Result<Vec<u8>> {
    let cannot = |e: ::csv::Error| Error::failure(format!("cannot write CSV: {e}"));
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let mut columns = vec![
        "node", "state", "group", "hardware", "quantity", "unit", "value", "median", "change", "z",
        "outliers", "judged", "reason", "started", "source",
    ];
    if fleet.history.is_some() {
        columns.extend(HISTORY_COLUMNS);
    }
    writer.write_record(columns).map_err(cannot)?;
    for node in &fleet.nodes {
        let first = node.outliers.first();
        let number = |figure: fn(&Outlier) -> f64| {
            first.map_or_else(String::new, |one| (figure(one) + 0.0).to_string())
        };
        let group = &fleet.groups[node.group];
        let mut row = vec![
            clean(&node.node),
            node.state.word().to_owned(),
            group.digest.clone(),
            clean(&group.name),
            first.map_or_else(String::new, |one| clean(label(fleet, one.quantity))),
            first.map_or_else(String::new, |one| clean(unit(fleet, one.quantity))),
            number(|one| one.value),
            number(|one| one.median),
            number(|one| one.change),
            number(|one| one.z),
            node.outliers.len().to_string(),
            node.judged.to_string(),
            clean(&node.reason),
            clean(&node.started),
            clean(&node.source),
        ];
        row.extend(
            node.history
                .iter()
                .flat_map(|own| history_cells(fleet, own)),
        );
        writer.write_record(row).map_err(cannot)?;
    }
    writer
        .into_inner()
        .map_err(|e| Error::failure(format!("cannot write CSV: {e}")))
}

/// Columns about the histories of machines. The columns are missing if no histories were judged.
const HISTORY_COLUMNS: [&str; 10] = [
    "history_state",
    "history_quantity",
    "history_unit",
    "before",
    "after",
    "ratio",
    "common_ratio",
    "last_before",
    "first_after",
    "history_reason",
];

/// Cells of the columns [`HISTORY_COLUMNS`].
fn history_cells(fleet: &FleetVerdict, own: &NodeHistory) -> [String; 10] {
    let mut cells = <[String; 10]>::default();
    cells[0] = own.state.word().to_owned();
    if let Some(change) = &own.change {
        cells[1] = clean(label(fleet, change.quantity));
        cells[2] = clean(unit(fleet, change.quantity));
        let figures = [
            change.before,
            change.after,
            change.ratio,
            change.common_ratio,
        ];
        for (cell, figure) in cells[3..7].iter_mut().zip(figures) {
            *cell = figure.to_string();
        }
        cells[7] = clean(&change.last_before);
        cells[8] = clean(&change.first_after);
    }
    cells[9] = clean(&own.reason);
    cells
}

fn openmetrics(fleet: &FleetVerdict, _options: &Options) -> Result<Vec<u8>> {
    let mut text = String::new();
    let mut family = |name: &str, unit: &str, help: &str, lines: Vec<String>| {
        text.push_str(&format!("# TYPE {name} gauge\n"));
        if !unit.is_empty() {
            text.push_str(&format!("# UNIT {name} {unit}\n"));
        }
        text.push_str(&format!("# HELP {name} {help}\n"));
        for line in lines {
            text.push_str(&format!("{name}{line}\n"));
        }
    };
    let labelled = |labels: &[(&str, &str)], value: String| {
        let labels = labels.iter();
        let labels = labels.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        format!("{{{}}} {value}", written(labels))
    };
    let mut machines = Vec::new();
    for group in &fleet.groups {
        for (state, count) in NodeState::ALL.iter().zip(group.nodes) {
            let labels = [
                ("group", group.digest.as_str()),
                ("hardware", &group.name),
                ("state", state.word()),
            ];
            machines.push(labelled(&labels, count.to_string()));
        }
    }
    family("memgauge_fleet_machines", "", "machines by state", machines);
    let odd = || {
        let nodes = fleet.nodes.iter();
        nodes.filter(|node| node.state != NodeState::Healthy)
    };
    let states = odd().map(|node| {
        let group = fleet.groups[node.group].digest.as_str();
        let labels = [
            ("node", node.node.as_str()),
            ("group", group),
            ("state", node.state.word()),
        ];
        labelled(&labels, "1".to_owned())
    });
    let help = "machines that are not healthy";
    family("memgauge_fleet_machine", "", help, states.collect());
    let changes = odd().flat_map(|node| {
        let group = fleet.groups[node.group].digest.as_str();
        node.outliers.iter().map(move |one| {
            let labels = [
                ("node", node.node.as_str()),
                ("group", group),
                ("quantity", label(fleet, one.quantity)),
            ];
            labelled(&labels, (one.change + 0.0).to_string())
        })
    });
    let help = "value divided by the median of the group, less 1";
    let name = "memgauge_fleet_change_ratio";
    family(name, "ratio", help, changes.collect());
    if let Some(history) = &fleet.history {
        let counts = HistoryState::ALL.iter().zip(history.nodes);
        let counts =
            counts.map(|(state, count)| labelled(&[("history", state.word())], count.to_string()));
        let help = "machines against their own histories";
        family("memgauge_fleet_histories", "", help, counts.collect());
        let slower = fleet.nodes.iter().filter(|node| is_slower(node));
        let ratios = slower.filter_map(|node| {
            let change = node.history.as_ref()?.change.as_ref()?;
            let labels = [
                ("node", node.node.as_str()),
                ("group", fleet.groups[node.group].digest.as_str()),
                ("quantity", label(fleet, change.quantity)),
            ];
            Some(labelled(&labels, change.ratio.to_string()))
        });
        let name = "memgauge_fleet_slower_ratio";
        let help = "value of a machine that became slower divided by its earlier value";
        family(name, "ratio", help, ratios.collect());
    }
    let left_out = vec![format!(" {}", fleet.left_out.len())];
    let help = "inputs that were not judged";
    family("memgauge_fleet_left_out", "", help, left_out);
    Ok((text + "# EOF\n").into_bytes())
}
