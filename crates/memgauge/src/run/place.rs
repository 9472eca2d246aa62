//! Words for a point and its figure in findings about the machine.

use report::Point;
use units::{counted, significant};

/// A point in words: `read, DRAM, 2 threads`
pub(super) fn place(point: &Point) -> String {
    let names = [point.name("operation"), point.name("level")];
    let mut parts: Vec<String> = names.into_iter().flatten().map(str::to_owned).collect();
    parts.extend(point.number("threads").map(|n| counted(n, "thread")));
    parts.join(", ")
}

/// Unit in which figures are printed, and the factor to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale<'a> {
    factor: f64,
    unit: &'a str,
}

impl<'a> Scale<'a> {
    /// Scale for figures of a dataset in `unit`: GB/s for B/s, otherwise the same unit.
    pub fn for_unit(unit: &'a str) -> Self {
        match unit {
            "B/s" => Scale {
                factor: 1e-9,
                unit: "GB/s",
            },
            unit => Scale { factor: 1.0, unit },
        }
    }

    /// `value` in this scale, without the unit.
    pub fn number(self, value: f64) -> String {
        significant(value * self.factor)
    }

    /// `value` in this scale, with the unit.
    pub fn text(self, value: f64) -> String {
        format!("{} {}", self.number(value), self.unit)
    }
}
