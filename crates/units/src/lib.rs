//! Quantities with their units: how they are written, and how they are read back.
//!
//! Rooms exchange these types, not bare floats. Base units only: bytes, nanoseconds, bytes per second, hertz.

#![forbid(unsafe_code)]

mod bytes;
pub mod error;
mod lists;

pub use bytes::Bytes;
pub use lists::{CpuList, SizeList, ThreadCount, ThreadList, parse_list};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A text that is not the quantity it should be: what was given and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The text as it was given.
    pub given: String,
    /// What would have been accepted, in words.
    pub allowed: String,
    /// A value to type in its place.
    pub example: Option<String>,
    /// Whether the example is likely what was meant, and not only possible.
    pub meant: bool,
}

impl ParseError {
    /// `given` is quoted to the user, `allowed` says what would do.
    pub fn new(given: &str, allowed: impl Into<String>) -> Self {
        Self { given: given.to_owned(), allowed: allowed.into(), example: None, meant: false }
    }

    /// The same with a value that would have been accepted.
    pub fn with_example(self, example: impl Into<String>) -> Self {
        Self { example: Some(example.into()), ..self }
    }

    /// The same with the value that was meant, as far as anybody can tell.
    pub fn meaning(self, example: impl Into<String>) -> Self {
        Self { meant: true, ..self.with_example(example) }
    }

    /// `given` is none of the `known` names of a `kind` of thing; the nearest one is suggested.
    pub fn unknown_name(given: &str, known: &[&str], kind: &str) -> Self {
        let nearest = nearest_name(given, known);
        let hint = nearest.map(|n| format!("did you mean '{n}'? ")).unwrap_or_default();
        let example = nearest.or(known.first().copied()).unwrap_or_default();
        Self::new(given, format!("{hint}{kind}: {}", known.join(", "))).with_example(example)
    }
}

/// A reader of whole numbers from `least` to `most`, for options.
pub fn whole_number<T: TryFrom<u64>>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<T, ParseError> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse::<u64>().ok().filter(|n| (least..=most).contains(n));
        let wrong =
            || ParseError::new(text, format!("a whole number from {least} to {most}")).with_example(least.to_string());
        number.and_then(|n| T::try_from(n).ok()).ok_or_else(wrong)
    }
}

/// A reader for options whose values are not as usual: what it refuses is advised to be `example`.
pub fn read_like<T: FromStr<Err = ParseError>>(
    example: &'static str,
) -> impl Fn(&str) -> Result<T, ParseError> + Clone + Send + Sync + 'static {
    move |text| text.parse().map_err(|wrong: ParseError| wrong.with_example(example))
}

/// The name most like `given`, if any is like it at all.
pub fn nearest_name<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    // The same measure and threshold as clap uses for options.
    let likeness = |name: &&str| strsim::jaro(&given.to_ascii_lowercase(), name);
    let best = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) > 0.7).then_some(best)
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'; {}", self.given, self.allowed)
    }
}

impl std::error::Error for ParseError {}

/// A length of time in nanoseconds; negative lengths do not occur.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub f64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0.0);

    /// `s` seconds.
    pub fn from_secs(s: f64) -> Self {
        Nanos(s * 1e9)
    }

    /// `ms` milliseconds.
    pub fn from_millis(ms: f64) -> Self {
        Nanos(ms * 1e6)
    }

    /// This length in seconds.
    pub fn secs(self) -> f64 {
        self.0 / 1e9
    }

    /// The longer of two.
    pub fn max(self, other: Self) -> Self {
        Nanos(self.0.max(other.0))
    }

    /// The shorter of two.
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

    /// Reads `90s`, `1.5 min`, `250ms`, `20us`, `5ns`, `1h`; a bare number is seconds.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(text, "a time is a positive number and a unit: 90s, 250ms, 2min, 1h").with_example("10s")
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
        if nanos.is_finite() && nanos >= 0.0 { Ok(Nanos(nanos)) } else { Err(wrong()) }
    }
}

/// Reads a time that is usually short: a bare number above 0 is refused, as nobody can tell which unit is meant.
pub fn short_time(text: &str) -> Result<Nanos, ParseError> {
    let time: Nanos = text.parse()?;
    let bare = split_number(text).is_some_and(|(number, unit)| unit.is_empty() && number > 0.0);
    let wrong =
        || ParseError::new(text, "a time needs its unit here: 100ms, 50us").meaning(format!("{}ms", text.trim()));
    if bare { Err(wrong()) } else { Ok(time) }
}

/// Rates that a memory may have; others are typing errors.
const RATES: std::ops::RangeInclusive<f64> = 1e6..=100e12;

/// Data moved per second, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

impl BytesPerSecond {
    /// In decimal gigabytes (10^9 bytes) per second, the unit of tables.
    pub fn gigabytes(self) -> f64 {
        self.0 / 1e9
    }
}

impl FromStr for BytesPerSecond {
    type Err = ParseError;

    /// Reads a size with or without `/s`, `204.8GB/s` or `25GB`; a bare number is GB/s, the unit of tables.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(text, "a rate is from 1MB/s to 100TB/s, and a bare number is GB/s: 204.8GB/s, 204.8")
                .with_example("204.8GB/s")
        };
        let size = text.trim().strip_suffix("/s").unwrap_or(text.trim());
        let bytes_per_second = match split_number(text) {
            Some((gigabytes, "")) => gigabytes * 1e9,
            _ => size.parse::<Bytes>().map_err(|_| wrong())?.0 as f64,
        };
        if RATES.contains(&bytes_per_second) { Ok(BytesPerSecond(bytes_per_second)) } else { Err(wrong()) }
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
    /// How many periods fit into `time`.
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

/// Three significant digits, as many as a shared machine supports, without an exponent.
pub fn significant(value: f64) -> String {
    match value.abs() {
        a if !a.is_finite() => "-".to_owned(),
        a if a >= 99.95 => fixed(value, 0),
        a if a >= 9.995 => fixed(value, 1),
        _ => fixed(value, 2),
    }
}

/// `value` with so many decimals; what is rounded to zero has no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-').filter(|digits| digits.bytes().all(|b| matches!(b, b'0' | b'.'))) {
        Some(zero) => zero.to_owned(),
        None => text,
    }
}

/// `1 point`, `2 points`: a count with its noun, which takes an `s` unless the count is 1.
pub fn counted(count: impl fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Splits `1.5 GiB` into its number and what follows, `None` where no finite number leads.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then(|| (number, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        for (text, ns) in [("90s", 90e9), ("1.5min", 90e9), ("250ms", 250e6), ("7", 7e9), ("1h", 3600e9), ("0s", 0.0)] {
            assert_eq!(text.parse(), Ok(Nanos(ns)), "{text}");
        }
        for text in ["", "s", "-1s", "1 parsec", "1e9s", "nan", "inf", "1.2.3s"] {
            assert!(text.parse::<Nanos>().is_err(), "{text}");
        }
    }

    #[test]
    fn short_times_have_a_unit() {
        let read = |text: &str| short_time(text).map(|time| time.0);
        assert_eq!([read("50us"), read("0"), read("0s")], [Ok(50e3), Ok(0.0), Ok(0.0)]);
        for text in ["50", "0.5", "", "ms", "50 parsecs"] {
            let error = short_time(text).unwrap_err();
            let example = error.example.unwrap();
            assert!(short_time(&example).is_ok(), "{text}: {example}");
        }
    }

    #[test]
    fn only_one_thing_is_named_in_the_singular() {
        assert_eq!([0, 1, 2, 11].map(|n| counted(n, "point")), ["0 points", "1 point", "2 points", "11 points"]);
    }

    #[test]
    fn what_is_rounded_to_zero_has_no_sign() {
        let shown = [(-0.0, 0), (-0.4, 0), (-0.004, 2), (-0.006, 2), (-1.0, 1), (0.3, 0)];
        assert_eq!(shown.map(|(value, decimals)| fixed(value, decimals)), ["0", "0", "0.00", "-0.01", "-1.0", "0"]);
        assert_eq!((significant(-0.001), Hertz(-0.0).to_string()), ("0.00".to_owned(), "0 Hz".to_owned()));
    }

    #[test]
    fn quantities_keep_three_digits() {
        let shown: Vec<String> = [0.123, 1.0, 12.34, 99.99, 536.2].map(significant).to_vec();
        assert_eq!(shown, ["0.12", "1.00", "12.3", "100", "536"]);
        assert_eq!(Nanos(1234.0).to_string(), "1.23 us");
        assert_eq!(BytesPerSecond(17.2e9).to_string(), "17.2 GB/s");
        for (text, rate) in [("25GB", 25e9), (" 204.8GB/s ", 204.8e9), ("1MiB/s", 1048576.0), ("204.8", 204.8e9)] {
            assert_eq!(text.parse(), Ok(BytesPerSecond(rate)), "{text}");
        }
        for text in ["", "0", "0GB/s", "/s", "GB/s", "-1GB/s", "nan", "25 GB/h", "1KiB/s", "204800", "200TB/s"] {
            assert!(text.parse::<BytesPerSecond>().is_err(), "{text}");
        }
        assert_eq!(Hertz(4.19e9).to_string(), "4.19 GHz");
    }
}
