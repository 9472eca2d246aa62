//! A chart, independent of the output in which it is drawn.

use super::heat::Heat;
use super::series::Lines;
use units::counted;

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// Name by which users request the chart: the name of its experiment.
    pub(crate) name: String,
    /// Title, which names the subject of the chart.
    pub(crate) title: String,
    /// Coordinates that all points share; empty if there are none.
    pub(crate) subtitle: String,
    /// Name and unit of the values, as the title of an axis.
    pub(crate) values: String,
    /// True if higher values are better.
    pub(crate) higher_is_better: bool,
    /// Content of the chart.
    pub(crate) body: Body,
    /// Number of measured points that are not drawn. Some exceed the limits of points, series or
    /// maps. Others share their position with another point, or have none.
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

    /// Note on points that are not drawn; `None` if all are drawn.
    pub(crate) fn undrawn(&self) -> Option<String> {
        let points = counted(self.not_drawn, "point");
        (self.not_drawn > 0).then(|| format!("not drawn, no room: {points}; --format csv has all"))
    }
}

/// Content of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// Series over a horizontal axis.
    Lines(Lines),
    /// Heat map of values between two ends.
    Heat(Heat),
}
