//! How experiments write down where a point lies.

use report::{Coordinate, Coordinates};

/// The coordinates of a point, by axis.
pub fn coordinates<const N: usize>(at: [(&str, Coordinate); N]) -> Coordinates {
    at.map(|(axis, place)| (axis.to_owned(), place)).into()
}

/// A name on an axis.
pub fn name(text: impl ToString) -> Coordinate {
    Coordinate::Name(text.to_string())
}

/// A number on an axis, in its base unit.
pub fn number(amount: impl Into<u64>) -> Coordinate {
    Coordinate::Number(amount.into())
}
