//! A chart, independent of the output that draws it.

use super::heat::Heat;
use super::series::Lines;
use units::counted;

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// Experiment, the name by which users request the chart.
    pub(crate) name: String,
    /// Title: subject of the chart.
    pub(crate) title: String,
    /// Coordinates that all points share; empty if there are none.
    pub(crate) subtitle: String,
    /// Name and unit of the values, as the title of an axis.
    pub(crate) values: String,
    /// True if more is better.
    pub(crate) higher_is_better: bool,
    /// Content of the chart.
    pub(crate) body: Body,
    /// Number of points with a number that are not drawn. Such points lie between others of their
    /// series, exceed the limit of series or maps, share their place with another point, or have
    /// none.
    pub(crate) not_drawn: usize,
}

impl Chart {
    /// Number of drawn points.
    pub(super) fn drawn(&self) -> usize {
        match &self.body {
            Body::Lines(lines) => lines.series.iter().map(|s| s.spots.len()).sum(),
            Body::Heat(heat) => heat.cells.iter().flatten().flatten().count(),
        }
    }

    /// Note on numbers that are not drawn; `None` if all are drawn.
    pub(crate) fn undrawn(&self) -> Option<String> {
        let points = counted(self.not_drawn, "point");
        (self.not_drawn > 0).then(|| format!("not drawn, no room: {points}; --format csv has all"))
    }
}

/// Content of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// Series over an axis.
    Lines(Lines),
    /// Values between ends.
    Heat(Heat),
}
