//! One line for a whole report.

use super::text::clean;
use super::{Options, Renderer, reasons, trust};
use report::{Health, HealthState, Report, ReportVerdict};
use units::counted;
use units::error::Result;

/// Renderer of the format `line`: machine and verdict in one line, for the output of many machines
/// together.
pub(super) struct Line;

impl Renderer for Line {
    fn name(&self) -> &'static str {
        "line"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn help(&self) -> &'static str {
        "one line: the machine and its verdict, for many machines together"
    }

    fn render_finite(&self, report: &Report, _options: &Options) -> Result<Vec<u8>> {
        let launch = report.provenance.launch.as_ref();
        let node = launch.and_then(|launch| launch.node.as_deref());
        let hostname = report.provenance.host.system.hostname.get();
        let name = node.or(hostname.map(String::as_str));
        let name = clean(name.unwrap_or("unknown machine"));
        let verdict = match &report.health {
            Some(health) => in_words(health),
            None => trust::summary(&ReportVerdict::summarise(&report.datasets))
                .unwrap_or_else(|| "nothing was measured".to_owned()),
        };
        let missing = reasons::missing(report).into_iter().map(|(_, text)| text);
        let parts: Vec<String> = [verdict].into_iter().chain(missing).collect();
        let parts: Vec<&str> = parts
            .iter()
            .map(|part| part.trim_end_matches('.'))
            .collect();
        Ok(format!("{name}: {}\n", parts.join("; ")).into_bytes())
    }
}

/// Result of a health check in words: state, reason and method.
pub(super) fn in_words(health: &Health) -> String {
    let state = health.state.words();
    let reason = clean(&health.reason);
    let why = match health.state {
        HealthState::Healthy => format!("{} as expected", counted(health.judged, "figure")),
        _ => reason,
    };
    let method = clean(&health.method);
    format!("{state}: {why} ({method} {})", clean(&health.digest))
}
