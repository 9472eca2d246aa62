//! Makes the error for a word that is not among the known words.

use super::text;
use units::error::Error;

/// Makes the error for `given`, which is not in `known`. The error suggests the most similar words.
pub(crate) fn unknown(what: &str, given: &str, known: &[&str]) -> Error {
    let lower = given.to_ascii_lowercase();
    let mut near: Vec<(f64, &str)> = known
        .iter()
        .map(|k| (strsim::jaro(&lower, k), *k))
        .collect();
    near.retain(|(likeness, _)| *likeness > 0.7);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let advice = match near.as_slice() {
        [] => "type one of these".to_owned(),
        near => {
            let names: Vec<String> = near.iter().take(3).map(|(_, k)| format!("'{k}'")).collect();
            format!("did you mean {}?", names.join(" or "))
        }
    };
    Error::usage(format!(
        "{what}: '{}'; known are {}; {advice}",
        text::shorten(given, 60),
        known.join(", ")
    ))
}
