//! Defines [`Nanos`], a length of time.

use crate::numbers::{significant, split_number};
use crate::parse_error::ParseError;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A length of time in nanoseconds. Differences may be negative.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub f64);

impl Nanos {
    /// The length zero.
    pub const ZERO: Nanos = Nanos(0.0);

    /// `s` seconds.
    pub fn from_secs(s: f64) -> Self {
        Nanos(s * 1e9)
    }

    /// `ms` milliseconds.
    pub fn from_millis(ms: f64) -> Self {
        Nanos(ms * 1e6)
    }

    /// This length of time in seconds.
    pub fn secs(self) -> f64 {
        self.0 / 1e9
    }

    /// The longer of two lengths.
    pub fn max(self, other: Self) -> Self {
        Nanos(self.0.max(other.0))
    }

    /// The shorter of two lengths.
    pub fn min(self, other: Self) -> Self {
        Nanos(self.0.min(other.0))
    }
}

impl std::ops::Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl std::ops::AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl std::ops::Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl std::ops::Mul<f64> for Nanos {
    type Output = Nanos;
    fn mul(self, factor: f64) -> Nanos {
        Nanos(self.0 * factor)
    }
}

impl std::ops::Div<f64> for Nanos {
    type Output = Nanos;
    fn div(self, divisor: f64) -> Nanos {
        Nanos(self.0 / divisor)
    }
}

impl std::iter::Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(all: I) -> Nanos {
        Nanos(all.map(|n| n.0).sum())
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        match ns {
            _ if ns < 1e3 => write!(f, "{} ns", significant(ns)),
            _ if ns < 1e6 => write!(f, "{} us", significant(ns / 1e3)),
            _ if ns < 1e9 => write!(f, "{} ms", significant(ns / 1e6)),
            _ => write!(f, "{} s", significant(ns / 1e9)),
        }
    }
}

impl FromStr for Nanos {
    type Err = ParseError;

    /// Reads `90s`, `1.5 min`, `250ms`, `20us`, `5ns`, `1h`. A number without a unit is in seconds.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(
                text,
                "a time is a positive number and a unit: 90s, 250ms, 2min, 1h",
            )
            .with_example("10s")
        };
        let (number, unit) = split_number(text).ok_or_else(wrong)?;
        let scale = match unit.to_ascii_lowercase().as_str() {
            "" | "s" | "sec" => 1e9,
            "ms" => 1e6,
            "us" | "µs" => 1e3,
            "ns" => 1.0,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            _ => return Err(wrong()),
        };
        let nanos = number * scale;
        if nanos.is_finite() && nanos >= 0.0 {
            Ok(Nanos(nanos))
        } else {
            Err(wrong())
        }
    }
}

/// Reads a time for options whose values are usually below a second. A number above 0 without a
/// unit is an error, because it would mean seconds.
pub fn short_time(text: &str) -> Result<Nanos, ParseError> {
    let time: Nanos = text.parse()?;
    let bare = split_number(text).is_some_and(|(number, unit)| unit.is_empty() && number > 0.0);
    let wrong = || {
        ParseError::new(text, "a time needs its unit here: 100ms, 50us")
            .meaning(format!("{}ms", text.trim()))
    };
    if bare { Err(wrong()) } else { Ok(time) }
}
