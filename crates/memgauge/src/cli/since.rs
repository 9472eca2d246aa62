//! Moments as users type them: a date, a date with a time of day, or an age.

use host::counter;
use std::str::FromStr;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use units::{Nanos, ParseError};

/// Units of an age, in seconds.
const AGES: [(char, f64); 3] = [('h', 3600.0), ('d', 86_400.0), ('w', 604_800.0)];

/// Oldest age, in seconds: a hundred years.
const OLDEST: f64 = 100.0 * 366.0 * 86_400.0;

/// A moment: the argument of `--since`.
#[derive(Debug, Clone, PartialEq)]
pub enum Since {
    /// Date and time in RFC 3339, UTC.
    Moment(String),
    /// Age, counted back from the time of the command.
    Age(Nanos),
}

impl Since {
    /// The moment in RFC 3339, UTC.
    pub fn moment(&self) -> String {
        match self {
            Since::Moment(text) => text.clone(),
            Since::Age(age) => counter::wall_clock_before(*age),
        }
    }
}

impl FromStr for Since {
    type Err = ParseError;

    /// Reads `2026-11-01`, `2026-11-01T06:30`, `2026-11-01T06:30:00+02:00`, `36h`, `7d` or `4w`. A
    /// moment without a time zone is in UTC.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        age(text.trim())
            .or_else(|| moment(text).map(Since::Moment))
            .ok_or_else(|| {
                ParseError::new(
                    text,
                    "a moment is a date, a date with a time (UTC), or an age: 2026-11-01, \
                     2026-11-01T06:30, 7d, 24h, 4w",
                )
                .with_example("7d")
            })
    }
}

fn age(text: &str) -> Option<Since> {
    let (unit, seconds) = AGES.into_iter().find(|(unit, _)| text.ends_with(*unit))?;
    let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
    let age = number * seconds;
    (age > 0.0 && age <= OLDEST).then(|| Since::Age(Nanos::from_secs(age)))
}

/// Converts the date and time `text` to RFC 3339, UTC. A date alone stands for its midnight. A time
/// without a zone is in UTC. `None` for any other text.
pub fn moment(text: &str) -> Option<String> {
    let text = text.trim().replacen(' ', "T", 1);
    let all = [
        text.clone(),
        format!("{text}Z"),
        format!("{text}:00Z"),
        format!("{text}T00:00:00Z"),
    ];
    let read = |text: &String| OffsetDateTime::parse(text, &Rfc3339).ok();
    let moment = all.iter().find_map(read)?;
    let utc = moment.checked_to_offset(time::UtcOffset::UTC)?;
    utc.replace_nanosecond(0).ok()?.format(&Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_ages_are_read() {
        let read = |text: &str| text.parse::<Since>().ok().map(|since| since.moment());
        for (text, moment) in [
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2026-11-01T06:30", "2026-11-01T06:30:00Z"),
            ("2026-11-01 06:30:15", "2026-11-01T06:30:15Z"),
            ("2026-11-01T06:30:15.25Z", "2026-11-01T06:30:15Z"),
            ("2026-11-01T00:30:00+02:00", "2026-10-31T22:30:00Z"),
        ] {
            assert_eq!(read(text).as_deref(), Some(moment), "{text}");
        }
        assert_eq!("7d".parse(), Ok(Since::Age(Nanos::from_secs(604_800.0))));
        assert_eq!("1.5 h".parse(), Ok(Since::Age(Nanos::from_secs(5400.0))));
        assert!(read("4w") < read("1h"));
        for wrong in [
            "",
            "d",
            "7",
            "0d",
            "-1d",
            "nand",
            "1e9w",
            "2026-13-01",
            "2026-02-30",
            "yesterday",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
