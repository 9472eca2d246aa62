//! Coordinates of points.

use report::{Coordinate, Coordinates};

/// Coordinates from pairs of axis and value.
pub fn coordinates<const N: usize>(at: [(&str, Coordinate); N]) -> Coordinates {
    at.map(|(axis, place)| (axis.to_owned(), place)).into()
}

/// A coordinate that is a name.
pub fn name(text: impl ToString) -> Coordinate {
    Coordinate::Name(text.to_string())
}

/// A coordinate that is a number, in the base unit of its axis.
pub fn number(amount: impl Into<u64>) -> Coordinate {
    Coordinate::Number(amount.into())
}
