//! Joins pieces of assembly text.

use std::fmt::Display;

/// The text of each item, one after the other.
pub(crate) fn each<T>(items: impl IntoIterator<Item = T>, text: impl FnMut(T) -> String) -> String {
    items.into_iter().map(text).collect::<Vec<_>>().join("\n")
}

/// The parts, one after the other.
pub(crate) fn lines<const N: usize>(parts: [&str; N]) -> String {
    parts.join("\n")
}

/// Repeats `text` by a directive of the assembler.
pub(crate) fn repeat(count: impl Display, text: &str) -> String {
    format!(".rept {count}\n{text}\n.endr")
}
