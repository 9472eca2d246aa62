//! Defines rates of data and of events.

use crate::bytes::Bytes;
use crate::nanos::Nanos;
use crate::numbers::{fixed, significant, split_number};
use crate::parse_error::ParseError;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Range of plausible memory bandwidths in bytes per second. Values outside this range count as
/// typing errors.
const RATES: std::ops::RangeInclusive<f64> = 1e6..=100e12;

/// Data moved per second, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

impl BytesPerSecond {
    /// The rate in decimal gigabytes (10^9 bytes) per second, the unit in printed tables.
    pub fn gigabytes(self) -> f64 {
        self.0 / 1e9
    }
}

impl FromStr for BytesPerSecond {
    type Err = ParseError;

    /// Reads a size with or without `/s`: `204.8GB/s` or `25GB`. A number without a unit is in
    /// GB/s, the unit in printed tables.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(
                text,
                "a rate is from 1MB/s to 100TB/s, and a bare number is GB/s: 204.8GB/s, 204.8",
            )
            .with_example("204.8GB/s")
        };
        let size = text.trim().strip_suffix("/s").unwrap_or(text.trim());
        let bytes_per_second = match split_number(text) {
            Some((gigabytes, "")) => gigabytes * 1e9,
            _ => size.parse::<Bytes>().map_err(|_| wrong())?.0 as f64,
        };
        if RATES.contains(&bytes_per_second) {
            Ok(BytesPerSecond(bytes_per_second))
        } else {
            Err(wrong())
        }
    }
}

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} GB/s", significant(self.gigabytes()))
    }
}

/// Events per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct Hertz(pub f64);

impl Hertz {
    /// Number of cycles that a clock of this frequency makes in `time`.
    pub fn cycles_in(self, time: Nanos) -> f64 {
        self.0 * time.secs()
    }
}

impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            hz if hz >= 1e9 => write!(f, "{:.2} GHz", hz / 1e9),
            hz if hz >= 1e6 => write!(f, "{:.1} MHz", hz / 1e6),
            hz => write!(f, "{} Hz", fixed(hz, 0)),
        }
    }
}
