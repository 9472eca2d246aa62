//! The report itself.

use super::text::is_hazard;
use super::{Options, Renderer, finite::unwritable};
use crate::error::{Error, Result};
use crate::results::Report;
use std::fmt::Write;

/// `json`: the report as its schema says, indented.
pub(super) struct Json;

impl Renderer for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn help(&self) -> &'static str {
        "the whole report with every sample and all evidence, for programs and for later"
    }

    fn render_finite(&self, report: &Report, _options: &Options) -> Result<Vec<u8>> {
        check(report)?;
        let text = serde_json::to_string_pretty(report).map_err(cannot_write)?;
        Ok((inert(text) + "\n").into_bytes())
    }
}

/// Refuses a report that JSON cannot express.
pub(super) fn check(report: &Report) -> Result<()> {
    match unwritable(report) {
        None => Ok(()),
        Some(place) => {
            Err(Error::failure(format!("cannot write report: {place} is not a finite number; JSON has no such number")))
        }
    }
}

/// The error for what serde refuses.
pub(super) fn cannot_write(error: serde_json::Error) -> Error {
    Error::failure(format!("cannot write report: {error}"))
}

/// The same document with the characters that act on a terminal written as escapes.
///
/// JSON's own rules only ask for those below U+0020. The others can stand in strings only, where an escape means
/// the same character, so that nothing is lost.
pub(super) fn inert(text: String) -> String {
    if !text.chars().any(|c| c != '\n' && is_hazard(c)) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            // All of them lie in the basic plane: one escape each. Writing to a string cannot fail.
            c if is_hazard(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
