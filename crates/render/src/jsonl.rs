//! JSON Lines, in the same form as the journal.

use super::json::{cannot_write, check, inert};
use super::{Options, Renderer};
use report::{JournalLine, JournalPoint, Report, unmeasured};
use units::error::Result;

/// Renderer of the format `jsonl`: a line for the session, a line for each point, and a line for
/// the end.
pub(super) struct JsonLines;

impl Renderer for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson"]
    }

    fn help(&self) -> &'static str {
        "one JSON object per line: the session first, then each point with its samples and \
         evidence, \
         then the end"
    }

    fn render_finite(&self, report: &Report, _options: &Options) -> Result<Vec<u8>> {
        check(report)?;
        let run = JournalLine::head(
            &report.provenance,
            &report.plan,
            unmeasured(&report.datasets),
        );
        let mut out = line(&run)?;
        for dataset in &report.datasets {
            for point in &dataset.points {
                out.push_str(&line(&JournalLine::Point(Box::new(JournalPoint {
                    finished: true,
                    earlier: None,
                    experiment: dataset.experiment.clone(),
                    quantity: dataset.quantity.clone(),
                    axes: dataset.axes.clone(),
                    point: point.clone(),
                })))?);
            }
        }
        out.push_str(&line(&JournalLine::end(report))?);
        Ok(out.into_bytes())
    }
}

/// One line with its newline.
fn line(line: &JournalLine) -> Result<String> {
    Ok(inert(serde_json::to_string(line).map_err(cannot_write)?) + "\n")
}
