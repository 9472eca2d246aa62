//! Joins pieces of assembly text.

use std::fmt::Display;

/// The text of each item, one after the other.
pub(crate) fn each<T>(items: impl IntoIterator<Item = T>, text: impl FnMut(T) -> String) -> String {
    let texts: Vec<String> = items.into_iter().map(text).collect();
    texts.join("\n")
}

/// The parts that are not empty, one after the other.
pub(crate) fn lines<const N: usize>(parts: [&str; N]) -> String {
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Repeats `text` by a directive of the assembler.
pub(crate) fn repeat(count: impl Display, text: &str) -> String {
    format!(".rept {count}\n{text}\n.endr")
}
