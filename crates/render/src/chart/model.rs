//! A chart, whatever draws it.

use super::heat::Heat;
use super::series::Lines;
use units::counted;

/// One picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// The experiment, which is what users ask for a chart by.
    pub(crate) name: String,
    /// Subject of the chart.
    pub(crate) title: String,
    /// Coordinates that all points share; empty if there are none.
    pub(crate) subtitle: String,
    /// The values' name and unit, as an axis says it.
    pub(crate) values: String,
    /// Whether more is better.
    pub(crate) higher_is_better: bool,
    /// Content of the chart.
    pub(crate) body: Body,
    /// Points with a number that are not drawn: they lie between others of their series, belong to
    /// further series or maps than there is room for, share their place with another point, or have
    /// none.
    pub(crate) not_drawn: usize,
}

impl Chart {
    /// The points that are drawn.
    pub(super) fn drawn(&self) -> usize {
        match &self.body {
            Body::Lines(lines) => lines.series.iter().map(|s| s.spots.len()).sum(),
            Body::Heat(heat) => heat.cells.iter().flatten().flatten().count(),
        }
    }

    /// That the chart does not draw all numbers; `None` where it does.
    pub(crate) fn undrawn(&self) -> Option<String> {
        let points = counted(self.not_drawn, "point");
        (self.not_drawn > 0)
            .then(|| format!("not drawn for want of room: {points}; --format csv has all"))
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
