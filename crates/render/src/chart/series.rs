//! Series over an axis, ready to be drawn.

use super::looks::SeriesStyle;
use super::scale::Scale;
use super::spot::ChartPoint;

/// Series over an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lines {
    /// Horizontal axis.
    pub(crate) x: Scale,
    /// True if the horizontal axis has names; points on it are not joined.
    pub(crate) names: bool,
    /// Vertical axis.
    pub(crate) y: Scale,
    /// Series in the order of the points.
    pub(crate) series: Vec<Series>,
    /// Named parts of the axis, from left to right.
    pub(crate) marks: Vec<Mark>,
    /// Points with a note.
    pub(crate) notes: Vec<Note>,
}

/// Points that are joined by a line or share a look.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Name; empty if there is only one series.
    pub(crate) name: String,
    /// Index of its report among the drawn ones.
    pub(crate) report: usize,
    /// SeriesStyle, distinct from those of other series.
    pub(crate) look: SeriesStyle,
    /// Points in ascending order along the axis. With background traffic they follow the requested
    /// traffic; the measured traffic may decrease in between.
    pub(crate) spots: Vec<ChartPoint>,
}

/// A named part of the axis: a level of the hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    /// Name.
    pub(crate) name: String,
    /// Start.
    pub(crate) from: f64,
    /// End.
    pub(crate) to: f64,
}

/// A point of a chart that a finding is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    /// Value along the axis.
    pub(crate) x: f64,
    /// Value in the chart's unit.
    pub(crate) y: f64,
    /// Text.
    pub(crate) text: String,
}
