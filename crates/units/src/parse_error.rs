//! A text that is not what it should be, and readers that say so.

use std::fmt;
use std::str::FromStr;

/// A text that is not the quantity it should be: what was given and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The text as it was given.
    pub given: String,
    /// Accepted values, in words.
    pub allowed: String,
    /// A value to type in its place.
    pub example: Option<String>,
    /// Whether the example is likely what was meant, and not only possible.
    pub meant: bool,
}

impl ParseError {
    /// `given` is quoted to the user, `allowed` says what would do.
    pub fn new(given: &str, allowed: impl Into<String>) -> Self {
        Self {
            given: given.to_owned(),
            allowed: allowed.into(),
            example: None,
            meant: false,
        }
    }

    /// The same with a value that would have been accepted.
    pub fn with_example(self, example: impl Into<String>) -> Self {
        Self {
            example: Some(example.into()),
            ..self
        }
    }

    /// The same with the value that was meant, as far as anybody can tell.
    pub fn meaning(self, example: impl Into<String>) -> Self {
        Self {
            meant: true,
            ..self.with_example(example)
        }
    }

    /// `given` is none of the `known` names of a `kind` of thing; the nearest one is suggested.
    pub fn unknown_name(given: &str, known: &[&str], kind: &str) -> Self {
        let nearest = nearest_name(given, known);
        let hint = nearest
            .map(|n| format!("did you mean '{n}'? "))
            .unwrap_or_default();
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
        let number = text
            .trim()
            .parse::<u64>()
            .ok()
            .filter(|n| (least..=most).contains(n));
        let wrong = || {
            ParseError::new(text, format!("a whole number from {least} to {most}"))
                .with_example(least.to_string())
        };
        number.and_then(|n| T::try_from(n).ok()).ok_or_else(wrong)
    }
}

/// A reader for options whose values are not as usual: what it refuses is advised to be `example`.
pub fn read_like<T: FromStr<Err = ParseError>>(
    example: &'static str,
) -> impl Fn(&str) -> Result<T, ParseError> + Clone + Send + Sync + 'static {
    move |text| {
        text.parse()
            .map_err(|wrong: ParseError| wrong.with_example(example))
    }
}

/// The name most like `given`, if any is like it at all.
pub fn nearest_name<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    // The same measure and threshold as clap uses for options.
    let likeness = |name: &&str| strsim::jaro(&given.to_ascii_lowercase(), name);
    let best = known
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) > 0.7).then_some(best)
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'; {}", self.given, self.allowed)
    }
}

impl std::error::Error for ParseError {}
