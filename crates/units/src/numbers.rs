//! Formats numbers and counts for people.

use std::fmt;

/// `value` as text without an exponent, rounded to about three significant digits; `-` if it is not
/// finite. Measurements on a shared machine are not more precise.
pub fn significant(value: f64) -> String {
    match value.abs() {
        a if !a.is_finite() => "-".to_owned(),
        a if a >= 99.95 => fixed(value, 0),
        a if a >= 9.995 => fixed(value, 1),
        _ => fixed(value, 2),
    }
}

/// `value` as text, with `decimals` digits after the point. A value that rounds to zero has no
/// sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text
        .strip_prefix('-')
        .filter(|digits| digits.bytes().all(|b| matches!(b, b'0' | b'.')))
    {
        Some(zero) => zero.to_owned(),
        None => text,
    }
}

/// `count` and `noun` as text, with an `s` unless the count is 1: `1 point`, `2 points`.
pub fn counted(count: impl fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Splits a text such as `1.5 GiB` into its number and the trimmed rest. `None` if the text does
/// not start with a finite number.
pub(super) fn split_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then(|| (number, text[end..].trim()))
}
