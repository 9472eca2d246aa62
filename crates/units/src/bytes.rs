//! Defines [`Bytes`], an amount of memory.

use crate::numbers::split_number;
use crate::parse_error::ParseError;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An amount of memory in bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` times 2^10 bytes.
    pub const fn kib(n: u64) -> Self {
        Bytes(n << 10)
    }

    /// `n` times 2^20 bytes.
    pub const fn mib(n: u64) -> Self {
        Bytes(n << 20)
    }

    /// `n` times 2^30 bytes.
    pub const fn gib(n: u64) -> Self {
        Bytes(n << 30)
    }

    /// The largest multiple of `step` that is at most this amount. `step` must not be zero.
    pub fn round_down(self, step: u64) -> Self {
        Bytes(self.0 / step * step)
    }

    /// The smallest multiple of `step` that is not below this amount. If this multiple does not fit
    /// into 64 bits, the result is the largest multiple that does. `step` must not be zero.
    pub fn round_up(self, step: u64) -> Self {
        Bytes(
            self.0
                .checked_next_multiple_of(step)
                .unwrap_or(u64::MAX / step * step),
        )
    }

    /// The exact amount in the form in which a user types it: `256MiB`, `4096`.
    pub fn typed(self) -> String {
        let units = [
            (1u64 << 40, "TiB"),
            (1 << 30, "GiB"),
            (1 << 20, "MiB"),
            (1 << 10, "KiB"),
        ];
        let whole = units
            .into_iter()
            .find(|(size, _)| self.0 > 0 && self.0.is_multiple_of(*size));
        whole.map_or_else(
            || self.0.to_string(),
            |(size, unit)| format!("{}{unit}", self.0 / size),
        )
    }

    /// The amount as a `usize`, at most `usize::MAX`.
    pub fn to_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl std::ops::Add for Bytes {
    type Output = Bytes;
    /// The sum, limited to `u64::MAX`. Callers only need to know that such a sum is more memory
    /// than exists.
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(all: I) -> Bytes {
        all.fold(Bytes(0), |a, b| a + b)
    }
}

impl fmt::Display for Bytes {
    /// Writes the largest binary unit with at most one decimal: `48 KiB`, `1.5 MiB`, `100 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (1u64 << 60, "EiB"),
            (1 << 50, "PiB"),
            (1 << 40, "TiB"),
            (1 << 30, "GiB"),
            (1 << 20, "MiB"),
            (1 << 10, "KiB"),
        ];
        for (size, name) in units {
            if self.0 >= size {
                let value = self.0 as f64 / size as f64;
                let decimals = usize::from(!self.0.is_multiple_of(size));
                return f.pad(&format!("{value:.decimals$} {name}"));
            }
        }
        f.pad(&format!("{} B", self.0))
    }
}

impl FromStr for Bytes {
    type Err = ParseError;

    /// Reads `4096`, `1.5MiB`, `32KiB`, `32K` (also 2^10), `2GB` (10^9), in upper or lower case.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(
                text,
                "a size is a number and a unit, or a number of bytes: 32KiB, 1.5MiB, 2GB, 4096",
            )
            .with_example("4KiB")
        };
        let (number, unit) = split_number(text).ok_or_else(wrong)?;
        let scale: u64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            "t" | "tib" => 1 << 40,
            "p" | "pib" => 1 << 50,
            "e" | "eib" => 1 << 60,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            "pb" => 1_000_000_000_000_000,
            "eb" => 1_000_000_000_000_000_000,
            _ => return Err(wrong()),
        };
        let digits = &text.trim()[..text
            .trim()
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.trim().len())];
        let bytes = match digits.parse::<u64>() {
            // Whole numbers stay exact. Only fractions are computed in floating point.
            Ok(whole) if whole as f64 == number => whole.checked_mul(scale),
            _ if number * (scale as f64) < 2f64.powi(63) && number.fract() != 0.0 => {
                Some((number * scale as f64).round() as u64)
            }
            _ => None,
        };
        bytes
            .map(Bytes)
            .ok_or_else(|| ParseError::new(text, "a size is below 16 EiB").with_example("4KiB"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_exactly() {
        let good = [
            ("0", 0),
            ("1", 1),
            ("32KiB", 32768),
            ("32k", 32768),
            (" 1.5 MiB ", 3 << 19),
            ("2GB", 2_000_000_000),
            ("9007199254740993", 9007199254740993),
            ("1PiB", 1 << 50),
            ("15E", 15 << 60),
            ("2pb", 2_000_000_000_000_000),
        ];
        for (text, bytes) in &good {
            assert_eq!(text.parse(), Ok(Bytes(*bytes)), "{text}");
        }
        for text in [
            "",
            "KiB",
            "-1",
            "1 elephant",
            "99999999999999999999",
            "99999999TiB",
            "16EiB",
            "16384P",
            "1ZiB",
            "1..2k",
            "0x10",
            "1e3",
        ] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_typed_as_they_are_read() {
        for bytes in [0, 1, 4096, 4097, 3 << 19, 1 << 40, 10 << 50, u64::MAX].map(Bytes) {
            assert_eq!(bytes.typed().parse(), Ok(bytes));
        }
        assert_eq!(Bytes::mib(256).typed(), "256MiB");
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit() {
        let shown: Vec<String> = [0, 100, 1024, 48 << 10, 3 << 19, 2 << 30]
            .map(|b| Bytes(b).to_string())
            .to_vec();
        assert_eq!(
            shown,
            ["0 B", "100 B", "1 KiB", "48 KiB", "1.5 MiB", "2 GiB"]
        );
    }

    #[test]
    fn rounding_never_overflows() {
        assert_eq!(
            Bytes(u64::MAX).round_up(4096),
            Bytes(u64::MAX / 4096 * 4096)
        );
        assert_eq!(Bytes(5000).round_down(4096), Bytes(4096));
        assert_eq!(Bytes(u64::MAX) + Bytes(1), Bytes(u64::MAX));
    }
}
