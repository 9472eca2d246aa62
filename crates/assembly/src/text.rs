//! Joins pieces of assembly text.

use std::fmt::Display;

/// Converts each item by `text` and joins the results, one per line.
pub(crate) fn each<T>(items: impl IntoIterator<Item = T>, text: impl FnMut(T) -> String) -> String {
    let texts: Vec<String> = items.into_iter().map(text).collect();
    texts.join("\n")
}

/// Joins the parts that are not empty, one per line.
pub(crate) fn lines<const N: usize>(parts: [&str; N]) -> String {
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// An assembler directive that repeats `text` `count` times.
pub(crate) fn repeat(count: impl Display, text: &str) -> String {
    format!(".rept {count}\n{text}\n.endr")
}
