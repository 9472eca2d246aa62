//! What the samples of a point look like over time and among themselves.

use crate::stats::{self, Drift, Modes};

/// What was found in the values of a point beyond their middle and their spread.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shape {
    /// A trend over the rounds that is not by chance.
    pub drift: Option<Drift>,
    /// Two kinds of values.
    pub modes: Option<Modes>,
    /// The highest median of an allocation relative to the lowest, where allocations differ by more than the rounds
    /// within them.
    pub placement: Option<f64>,
}

impl Shape {
    /// That of values by allocation and round.
    pub fn of(allocations: &[Vec<Vec<f64>>]) -> Self {
        Self {
            drift: stats::drift(allocations),
            modes: stats::modes(&allocations.concat().concat()),
            placement: stats::placement(allocations),
        }
    }
}
