//! Defines the error for text that cannot be parsed, and parsers that return this error.

use std::fmt;
use std::str::FromStr;

/// An error about text that is no valid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The given text.
    pub given: String,
    /// Allowed values, in words.
    pub allowed: String,
    /// A valid value to type instead; `None` if the error suggests no value.
    pub example: Option<String>,
    /// True if the user probably meant the example.
    pub meant: bool,
}

impl ParseError {
    /// An error about the text `given`. `allowed` describes valid values.
    pub fn new(given: &str, allowed: impl Into<String>) -> Self {
        Self {
            given: given.to_owned(),
            allowed: allowed.into(),
            example: None,
            meant: false,
        }
    }

    /// This error with an example of a valid value.
    pub fn with_example(self, example: impl Into<String>) -> Self {
        Self {
            example: Some(example.into()),
            ..self
        }
    }

    /// This error with an example that the user probably meant.
    pub fn meaning(self, example: impl Into<String>) -> Self {
        Self {
            meant: true,
            ..self.with_example(example)
        }
    }

    /// An error about `given`, which is none of the `known` names of a `kind`. The example is the
    /// known name that is most similar to `given`. If no name is similar, the example is the first
    /// known name.
    pub fn unknown_name(given: &str, known: &[&str], kind: &str) -> Self {
        let nearest = nearest_name(given, known);
        let hint = nearest
            .map(|n| format!("did you mean '{n}'? "))
            .unwrap_or_default();
        let example = nearest.or(known.first().copied()).unwrap_or_default();
        Self::new(given, format!("{hint}{kind}: {}", known.join(", "))).with_example(example)
    }
}

/// Returns a parser for the value of an option: a whole number from `least` to `most`.
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

/// Returns a parser for the value of an option. Its errors suggest `example` instead of the example
/// of the type `T`.
pub fn read_like<T: FromStr<Err = ParseError>>(
    example: &'static str,
) -> impl Fn(&str) -> Result<T, ParseError> + Clone + Send + Sync + 'static {
    move |text| {
        text.parse()
            .map_err(|wrong: ParseError| wrong.with_example(example))
    }
}

/// The known name that is most similar to `given`; `None` if no name is similar.
pub fn nearest_name<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    // For misspelt options, clap uses the same similarity measure and threshold.
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
