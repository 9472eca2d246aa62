//! Series over a horizontal axis, ready to be drawn.

use super::looks::SeriesStyle;
use super::scale::Scale;
use super::spot::ChartPoint;

/// Series over an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lines {
    /// Horizontal axis.
    pub(crate) x: Scale,
    /// True if the horizontal axis has names. Points on such an axis are not joined by lines.
    pub(crate) names: bool,
    /// Vertical axis.
    pub(crate) y: Scale,
    /// Series in the order in which their first points appear.
    pub(crate) series: Vec<Series>,
    /// Named parts of the horizontal axis, from left to right.
    pub(crate) marks: Vec<Mark>,
    /// Notes at points, from findings.
    pub(crate) notes: Vec<Note>,
}

/// Points that share a look. Lines join them if the horizontal axis has numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Name in the legend; empty if there is only one series.
    pub(crate) name: String,
    /// Index of the series' report among the drawn reports.
    pub(crate) report: usize,
    /// Look of the series, different from those of other series.
    pub(crate) look: SeriesStyle,
    /// Points in the order in which they are joined: rising along the axis. Over background
    /// traffic, the order is that of the requested traffic, so the measured traffic may fall.
    pub(crate) spots: Vec<ChartPoint>,
}

/// A named part of the horizontal axis: the sizes of a level of the memory hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    /// Name.
    pub(crate) name: String,
    /// Value on the axis at which the part starts.
    pub(crate) from: f64,
    /// Value on the axis at which the part ends.
    pub(crate) to: f64,
}

/// A point of a chart that a finding is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    /// Value on the horizontal axis.
    pub(crate) x: f64,
    /// Value on the vertical axis, in the unit of the chart.
    pub(crate) y: f64,
    /// Text of the note.
    pub(crate) text: String,
}
