//! The journal: the same points as JSON Lines, one line as each is finished.

use super::{Axis, Point, Provenance, Quantity};
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
    },
    /// A finished point.
    Point(Box<JournalPoint>),
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
