//! The journal: the same points as JSON Lines, one line as each is finished.

use super::{Axis, Dataset, Outcome, PlanSummary, Point, Provenance, Quantity, SCHEMA_VERSION};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum JournalLine {
    /// The first line: what ran where.
    Run {
        /// Version of the report's schema.
        schema_version: u32,
        /// How to repeat the run; `finished` is the time of writing.
        provenance: Box<Provenance>,
        /// What was planned.
        plan: Box<PlanSummary>,
        /// Every dataset with all planned points; those of which the outcome was not known are `interrupted`.
        datasets: Vec<Dataset>,
    },
    /// A finished point.
    Point(Box<JournalPoint>),
}

impl JournalLine {
    /// The first line of a journal of these.
    pub fn head(provenance: &Provenance, plan: &PlanSummary, datasets: Vec<Dataset>) -> Self {
        let plan = Box::new(PlanSummary { real: None, ..plan.clone() });
        JournalLine::Run { schema_version: SCHEMA_VERSION, provenance: Box::new(provenance.clone()), plan, datasets }
    }
}

/// `datasets` with outcomes left out: all points `interrupted`.
pub fn unmeasured(datasets: &[Dataset]) -> Vec<Dataset> {
    let mut datasets = datasets.to_vec();
    for point in datasets.iter_mut().flat_map(|d| &mut d.points) {
        point.outcome = Outcome::Interrupted { reason: "the run ended before this point".to_owned() };
    }
    datasets
}

/// A point with what its dataset says about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JournalPoint {
    /// Name of the experiment.
    pub experiment: String,
    /// What the value is.
    pub quantity: Quantity,
    /// The axes of its dataset.
    pub axes: Vec<Axis>,
    /// Whether the point has all its rounds. A point is written after each round; the last line with its id counts.
    pub finished: bool,
    /// The point.
    pub point: Point,
}
