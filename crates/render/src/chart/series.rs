//! Series over an axis, ready to be drawn.

use super::looks::Look;
use super::scale::Scale;
use super::spot::Spot;

/// Series over an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lines {
    /// Left to right.
    pub(crate) x: Scale,
    /// Whether places on it are names: such points are not joined.
    pub(crate) names: bool,
    /// Bottom to top.
    pub(crate) y: Scale,
    /// Series in the order of the points.
    pub(crate) series: Vec<Series>,
    /// Parts of the axis that have a name, from left to right.
    pub(crate) marks: Vec<Mark>,
    /// Places that are worth a name.
    pub(crate) notes: Vec<Note>,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Name among the others; empty if there is one only.
    pub(crate) name: String,
    /// Place of its report among those that are drawn.
    pub(crate) report: usize,
    /// Look among the others.
    pub(crate) look: Look,
    /// Ascending along the axis; under traffic from the least that was requested to the most, which
    /// need not move the most.
    pub(crate) spots: Vec<Spot>,
}

/// A part of the axis with a name: a level of the hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    /// Name.
    pub(crate) name: String,
    /// Start.
    pub(crate) from: f64,
    /// End.
    pub(crate) to: f64,
}

/// A place in a chart that a finding is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    /// Place along the axis.
    pub(crate) x: f64,
    /// The value there in the chart's unit.
    pub(crate) y: f64,
    /// Text.
    pub(crate) text: String,
}
