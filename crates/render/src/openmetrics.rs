//! OpenMetrics, the text format that monitoring systems collect.
//!
//! Source: OpenMetrics 1.0, "Text format" (Cloud Native Computing Foundation).

use super::text::clean;
use super::{Options, Renderer};
use report::{Dataset, Measured, Point, Report, VerdictGrade};
use std::collections::{BTreeMap, BTreeSet};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use units::error::Result;

/// Renderer of the format `openmetrics`: gauges with the time at which the session ended.
pub(super) struct OpenMetrics;

impl Renderer for OpenMetrics {
    fn name(&self) -> &'static str {
        "openmetrics"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["prom", "om"]
    }

    fn help(&self) -> &'static str {
        "gauges with timestamps in the OpenMetrics text format, for monitoring systems"
    }

    fn render_finite(&self, report: &Report, _options: &Options) -> Result<Vec<u8>> {
        let mut families = Families {
            time: timestamp(&report.provenance.finished),
            ..Families::default()
        };
        families.run(report);
        for (place, dataset) in (0..).zip(&report.datasets) {
            families.counts(dataset, place);
            for point in &dataset.points {
                if let Some(measured) = point.outcome.measured() {
                    families.point(dataset, point, measured);
                }
            }
        }
        Ok(families.text().into_bytes())
    }
}

/// A space and the Unix time of the RFC 3339 time `text`; empty if `text` is no such time.
fn timestamp(text: &str) -> String {
    OffsetDateTime::parse(text, &Rfc3339)
        .map(|t| format!(" {}", t.unix_timestamp()))
        .unwrap_or_default()
}

/// A metric family: all samples of one metric. A sample of OpenMetrics is a line with labels and a
/// value. The format requires the lines of a family to be together.
#[derive(Default)]
struct Family {
    unit: &'static str,
    help: String,
    lines: Vec<String>,
    labels: BTreeSet<String>,
}

/// Metric families by name.
#[derive(Default)]
struct Families {
    families: BTreeMap<String, Family>,
    time: String,
}

impl Families {
    /// Adds an OpenMetrics sample whose labels name the program and the machine of the session.
    fn run(&mut self, report: &Report) {
        let p = &report.provenance;
        let host = &report.provenance.host;
        let known = |fact: Option<&String>| fact.cloned().unwrap_or_else(|| "unknown".to_owned());
        let labels = [
            ("version", p.tool.version.clone()),
            ("machine", p.tool.machine.clone()),
            ("profile", report.plan.profile.clone()),
            ("processor", known(host.cpu.model_name.get())),
            ("host", known(host.system.hostname.get())),
            ("trust", report.verdict.grade.word().to_owned()),
        ];
        let labels = labels.map(|(name, value)| (name.to_owned(), value));
        let family = self.families.entry("memgauge_run".to_owned()).or_default();
        family.help = "session of the other metrics".to_owned();
        family.lines.push(format!(
            "memgauge_run{{{}}} 1{}",
            written(labels.into_iter()),
            self.time
        ));
    }

    /// Adds the number of points of a dataset by status and grade. The counts include points
    /// without a number, which have no sample of their own.
    fn counts(&mut self, dataset: &Dataset, place: u64) {
        let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for point in &dataset.points {
            let trust = point
                .outcome
                .measured()
                .map_or("", |m| m.verdict.grade.word());
            *counts.entry((point.outcome.status(), trust)).or_default() += 1;
        }
        let name = "memgauge_points";
        let help = "points by outcome";
        for ((status, trust), count) in counts {
            let experiment = dataset.experiment.as_str();
            let quantity = dataset.quantity.name.as_str();
            let labels = [
                ("experiment", experiment),
                ("quantity", quantity),
                ("status", status),
                ("trust", trust),
            ];
            let labels = labels.into_iter().filter(|(_, value)| !value.is_empty());
            let labels = written(labels.map(|(name, value)| (name.to_owned(), value.to_owned())));
            self.add(
                (name.to_owned(), ""),
                help.to_owned(),
                (&labels, place),
                count as f64,
            );
        }
    }

    /// Adds a measured point: its median, the ends of its interval, and whether it is solid.
    fn point(&mut self, dataset: &Dataset, point: &Point, measured: &Measured) {
        let (unit, factor) = unit(&dataset.quantity.unit);
        let name = format!("memgauge_{}", word(&dataset.quantity.name));
        let named = |what: &str| {
            [name.as_str(), what, unit]
                .iter()
                .filter(|p| !p.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join("_")
        };
        let labels = labels(dataset, point);
        let s = &measured.summary;
        let what = clean(&dataset.quantity.name);
        let at = (labels.as_str(), point.id);
        self.add(
            (named(""), unit),
            format!("{what}, median"),
            at,
            s.median * factor,
        );
        if let Some((low, high)) = s.interval() {
            self.add(
                (named("low"), unit),
                format!("{what}, lower end of the interval"),
                at,
                low * factor,
            );
            self.add(
                (named("high"), unit),
                format!("{what}, upper end of the interval"),
                at,
                high * factor,
            );
        }
        let solid = if measured.verdict.grade == VerdictGrade::Solid {
            1.0
        } else {
            0.0
        };
        self.add(
            (format!("{name}_solid"), ""),
            format!("{what}, 1 if the number is solid, else 0"),
            at,
            solid,
        );
    }

    /// Adds a sample to the family called `name`.
    fn add(
        &mut self,
        (name, unit): (String, &'static str),
        help: String,
        at: (&str, u64),
        value: f64,
    ) {
        let (labels, id) = at;
        let family = self.families.entry(name.clone()).or_default();
        (family.unit, family.help) = (unit, help);
        // The label `point` is added if another sample of the family has the same labels.
        let more = if family.labels.insert(labels.to_owned()) {
            String::new()
        } else {
            format!(",point=\"{id}\"")
        };
        // Adding 0.0 turns -0 into 0.
        family.lines.push(format!(
            "{name}{{{labels}{more}}} {}{}",
            value + 0.0,
            self.time
        ));
    }

    /// Text of the whole document.
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, family) in &self.families {
            text.push_str(&format!("# TYPE {name} gauge\n"));
            if !family.unit.is_empty() {
                text.push_str(&format!("# UNIT {name} {}\n", family.unit));
            }
            text.push_str(&format!("# HELP {name} {}\n", escape(&family.help)));
            family
                .lines
                .iter()
                .for_each(|line| text.push_str(&format!("{line}\n")));
        }
        text + "# EOF\n"
    }
}

/// Base unit of OpenMetrics for `unit`, and the factor that converts a value into it.
fn unit(unit: &str) -> (&'static str, f64) {
    match unit {
        "B/s" => ("bytes_per_second", 1.0),
        "ns" => ("seconds", 1e-9),
        "1/s" => ("per_second", 1.0),
        "B" => ("bytes", 1.0),
        _ => ("", 1.0),
    }
}

/// Labels of a point: its experiment and its coordinates.
fn labels(dataset: &Dataset, point: &Point) -> String {
    let experiment = [("experiment".to_owned(), dataset.experiment.clone())];
    let mut seen: BTreeSet<String> = ["experiment", "point"].map(str::to_owned).into();
    let at = point.coordinates.iter().map(|(axis, c)| {
        let mut name = word(axis);
        while !seen.insert(name.clone()) {
            name.push('_');
        }
        (name, c.to_string())
    });
    written(experiment.into_iter().chain(at))
}

/// Labels in the notation of the format: `name="value",...`
pub(super) fn written(labels: impl Iterator<Item = (String, String)>) -> String {
    labels
        .map(|(name, value)| format!("{name}=\"{}\"", escape(&value)))
        .collect::<Vec<_>>()
        .join(",")
}

/// Converts `text` to a name of the format, which has only letters, digits and underscores.
fn word(text: &str) -> String {
    let kept = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    let name: String = text.chars().take(100).map(kept).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        format!("x{name}")
    }
}

/// `text`, cleaned, with escapes for the characters that have a meaning in the format.
fn escape(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"")
}
