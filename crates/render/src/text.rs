//! Makes foreign text safe to print.

use std::borrow::Cow;

/// Returns `text` on one line, without characters that move a cursor, change a colour, or change
/// the direction of writing.
///
/// Line breaks and tabs become spaces. Other control and direction characters are written as
/// escapes such as `\u{1b}`.
pub(super) fn clean(text: &str) -> String {
    cleaned(text).into_owned()
}

/// Like [`clean`], but text that is clean already is not copied.
pub(super) fn cleaned(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => out.push(' '),
            c if is_hazard(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// True if a terminal could act on `c` instead of showing it.
pub(super) fn is_hazard(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns `text` cleaned and cut to at most `most` characters. If text was cut off, the last
/// character is `…`.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let text = clean(text);
    if text.chars().count() <= most {
        return text;
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Returns `text` cleaned, in lines of at most `most` characters. Lines end between words if
/// possible.
pub(super) fn wrap(text: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in clean(text).split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + letters.len() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.extend(
                letters
                    .chunks(most)
                    .map(|part| part.iter().collect::<String>()),
            ),
        }
    }
    lines
}
