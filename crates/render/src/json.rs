//! The report as JSON.

use super::text::is_hazard;
use super::{Options, Renderer, finite::unwritable};
use report::Report;
use std::fmt::Write;
use units::error::{Error, Result};

/// Renderer of the format `json`: the report as its schema defines, indented. A list or object
/// without nested ones is one line.
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
        let text = serde_json::to_string(report).map_err(cannot_write)?;
        let deepest = match report.provenance.is_shared() {
            true => DEEPEST_SHARED,
            false => DEEPEST,
        };
        Ok(laid_out(inert(text).as_bytes(), deepest))
    }
}

/// Fails if JSON cannot express a number of the report.
pub(super) fn check(report: &Report) -> Result<()> {
    match unwritable(report) {
        None => Ok(()),
        Some(place) => Err(Error::failure(format!(
            "cannot write report: {place} is not a finite number; JSON has no such number"
        ))),
    }
}

/// Makes the error for a failure of serde.
pub(super) fn cannot_write(error: serde_json::Error) -> Error {
    Error::failure(format!("cannot write report: {error}"))
}

/// Returns `text` with `0.0` for `-0.0`, and with escapes for characters on which a terminal acts.
///
/// JSON requires escapes only for characters below U+0020. Other characters on which a terminal
/// acts occur only in strings. An escape in a string has the same meaning, so nothing is lost.
pub(super) fn inert(text: String) -> String {
    let text = unsigned_zeros(text);
    if !text.chars().any(|c| c != '\n' && is_hazard(c)) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            // Every hazard ([`is_hazard`]) is in the basic plane of Unicode, so one escape is
            // enough. Writing to a string never fails.
            c if is_hazard(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns `text` with `0.0` in place of each number `-0.0`, which has the same value.
fn unsigned_zeros(text: String) -> String {
    const SIGNED: &str = "-0.0";
    if !text.contains(SIGNED) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    // Outside of strings, JSON is ASCII, so a byte is a character.
    while let Some(&byte) = rest.as_bytes().first() {
        let is_string = byte == b'"';
        let length = if is_string {
            string_length(rest.as_bytes())
        } else {
            1
        };
        let goes_on =
            |after: &str| after.starts_with(|c: char| c.is_ascii_digit() || matches!(c, 'e' | 'E'));
        if rest
            .strip_prefix(SIGNED)
            .is_some_and(|after| !goes_on(after))
        {
            rest = &rest[1..];
            continue;
        }
        let (token, after) = rest.split_at(length);
        out.push_str(token);
        rest = after;
    }
    out
}

/// Depth of the members of a measured point (report, datasets, dataset, points, point, outcome,
/// member). A list or object below this depth is written on one line.
const DEEPEST: usize = 7;

/// Value of [`DEEPEST`] for shared reports, which are posted and kept: each point is a line.
const DEEPEST_SHARED: usize = 4;

/// Formats compact JSON for people. A container (list or object) is one line if it is below the
/// depth `deepest` or has no nested container. If each number had a line, large reports would be
/// half white space.
fn laid_out(compact: &[u8], deepest: usize) -> Vec<u8> {
    let mut layout = Layout {
        out: Vec::with_capacity(compact.len() + compact.len() / 4),
        deepest,
        depth: 0,
        line: None,
    };
    let mut rest = compact;
    while let Some(&byte) = rest.first() {
        let token = if byte == b'"' { string_length(rest) } else { 1 };
        let (now, after) = rest.split_at(token);
        layout.token(now, after);
        rest = after;
    }
    layout.out.push(b'\n');
    layout.out
}

/// Length in bytes of the string at the start of `text`, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// True if a container has no objects or arrays. `inside` is the text after its opening bracket.
fn is_flat(mut inside: &[u8]) -> bool {
    while let Some(&byte) = inside.first() {
        match byte {
            b'{' | b'[' => return false,
            b'}' | b']' => return true,
            b'"' => inside = &inside[string_length(inside)..],
            _ => inside = &inside[1..],
        }
    }
    true
}

/// State while a document is formatted.
struct Layout {
    out: Vec<u8>,
    /// Depth below which each container is written on one line.
    deepest: usize,
    /// Number of open containers.
    depth: usize,
    /// Depth of the container that is being written on one line; `None` if there is none.
    line: Option<usize>,
}

impl Layout {
    /// Adds a token: a string, a bracket or another byte. `after` is the text that follows it.
    fn token(&mut self, token: &[u8], after: &[u8]) {
        let is_empty = matches!(after.first(), Some(b'}' | b']'));
        match token[0] {
            b'{' | b'[' => {
                self.out.extend_from_slice(token);
                self.depth += 1;
                if self.line.is_none() && (is_empty || self.depth > self.deepest || is_flat(after))
                {
                    self.line = Some(self.depth);
                }
                self.newline();
            }
            b'}' | b']' => {
                let whole = self.line == Some(self.depth);
                self.depth -= 1;
                self.newline();
                self.out.extend_from_slice(token);
                self.line = self.line.filter(|_| !whole);
            }
            b',' => {
                self.out.push(b',');
                if self.line.is_some() {
                    self.out.push(b' ');
                }
                self.newline();
            }
            b':' => self.out.extend_from_slice(b": "),
            _ => self.out.extend_from_slice(token),
        }
    }

    /// Begins a new line, unless the current container is written on one line.
    fn newline(&mut self) {
        if self.line.is_none() {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + 2 * self.depth, b' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, laid_out, unsigned_zeros};

    #[test]
    fn only_numbers_lose_the_sign_of_a_zero() {
        let text = r#"{"-0.0, é\"-0.0":[-0.0,0.0,-0.05,-0.0e5,-1.0],"b":-0.0}"#.to_owned();
        let wanted = r#"{"-0.0, é\"-0.0":[0.0,0.0,-0.05,-0.0e5,-1.0],"b":0.0}"#;
        assert_eq!(unsigned_zeros(text), wanted);
    }

    #[test]
    fn what_has_no_parts_is_a_line() {
        let text =
            |compact: &str| String::from_utf8(laid_out(compact.as_bytes(), DEEPEST)).unwrap();
        let wanted = "{\n  \"a\": [1, 2],\n  \"b\": {},\n  \"c\": [\n    {\"d\": \"{,:\\\"\", \
             \"e\": null},\n    []\n  ],\n  \"f\": 1\n}\n";
        assert_eq!(
            text(r#"{"a":[1,2],"b":{},"c":[{"d":"{,:\"","e":null},[]],"f":1}"#),
            wanted
        );
        assert_eq!(text(r#""\\""#), "\"\\\\\"\n");
        assert_eq!(text("[[[[[[[[[1]]]]]]],2]]").lines().last(), Some("]"));
        assert_eq!(
            text("[[[[[[[[[1]],3]]]]]]]").lines().nth(7),
            Some("              [[1]],")
        );
    }
}
