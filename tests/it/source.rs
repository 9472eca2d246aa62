//! Rust source as words, so that a rule about code is not tripped by a comment or a string.

use std::fs;
use std::path::{Path, PathBuf};

/// A word, a `::`, a string (always `""`), or a single mark, and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// A source file under the package's root, `path` with forward slashes.
pub struct SourceFile {
    pub path: String,
    pub text: String,
}

/// All `.rs` files below `folder`, in order of their paths.
pub fn files_below(folder: &str) -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    collect(&root.join(folder), &mut found);
    found.sort();
    let read = |path: PathBuf| SourceFile {
        text: fs::read_to_string(&path).expect("source files are readable text"),
        path: path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/"),
    };
    found.into_iter().map(read).collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The words of `text` without comments; what strings and characters say is left out.
pub fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut line, mut found) = (0, 1, Vec::new());
    while at < chars.len() {
        let (end, word) = next_word(&chars, at);
        if let Some(text) = word {
            found.push(Token { text, line });
        }
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    found
}

/// Where the piece of source that starts at `at` ends, and the word it stands for, if it stands for one.
fn next_word(chars: &[char], at: usize) -> (usize, Option<String>) {
    let after = |n: usize| chars.get(at + n).copied().unwrap_or(' ');
    match chars[at] {
        '/' if after(1) == '/' => (line_end(chars, at), None),
        '/' if after(1) == '*' => (comment_end(chars, at), None),
        '"' => (string_end(chars, at + 1), Some("\"\"".to_owned())),
        '\'' => quote(chars, at),
        ':' if after(1) == ':' => (at + 2, Some("::".to_owned())),
        c if c.is_whitespace() => (at + 1, None),
        c if is_word(c) => word_or_prefixed_string(chars, at),
        c => (at + 1, Some(c.to_string())),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|c| *c == '\n').map_or(chars.len(), |n| at + n)
}

/// Block comments nest in Rust.
fn comment_end(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

/// The end of a string whose opening quote was just passed.
fn string_end(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// A character, or a lifetime, which has no closing quote; neither is a word (`'static` declares nothing).
fn quote(chars: &[char], at: usize) -> (usize, Option<String>) {
    let closed = match chars.get(at + 1) {
        Some('\\') => chars[at + 3..].iter().position(|c| *c == '\'').map(|n| at + 4 + n),
        _ => (chars.get(at + 2) == Some(&'\'')).then_some(at + 3),
    };
    let lifetime = || chars[at + 1..].iter().take_while(|c| is_word(**c)).count();
    (closed.unwrap_or_else(|| at + 1 + lifetime()), None)
}

/// A word; `r"..."`, `b"..."`, `br#"..."#` and their like count as strings.
fn word_or_prefixed_string(chars: &[char], at: usize) -> (usize, Option<String>) {
    let end = chars[at..].iter().position(|c| !is_word(*c)).map_or(chars.len(), |n| at + n);
    let word: String = chars[at..end].iter().collect();
    let string = || Some("\"\"".to_owned());
    match word.as_str() {
        "r" | "br" | "cr" => match raw_string_end(chars, end) {
            Some(end) => (end, string()),
            None => (end, Some(word)),
        },
        "b" | "c" if chars.get(end) == Some(&'"') => (string_end(chars, end + 1), string()),
        _ => (end, Some(word)),
    }
}

/// The end of a raw string whose hashes or quote start at `at`; `None` where none starts.
fn raw_string_end(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at..].iter().take_while(|c| **c == '#').count();
    if chars.get(at + hashes) != Some(&'"') {
        return None;
    }
    let body = at + hashes + 1;
    let closes =
        |n: usize| chars[n] == '"' && chars[n + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
    Some((body..chars.len()).find(|n| closes(*n)).map_or(chars.len(), |n| n + 1 + hashes))
}

/// The tokens without the items under `#[cfg(test)]` or `#[cfg(all(test, ...))]`.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let (mut at, mut kept) = (0, Vec::new());
    while at < tokens.len() {
        if is_test_attribute(&tokens[at..]) {
            at = item_end(tokens, at);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Whether `tokens` begin with these words.
pub fn begins(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.text == *word)
}

fn is_test_attribute(tokens: &[Token]) -> bool {
    begins(tokens, &["#", "[", "cfg", "(", "test"]) || begins(tokens, &["#", "[", "cfg", "(", "all", "(", "test"])
}

/// Where the item ends that the attributes at `at` belong to: at its `;` or its closing brace.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    while begins(&tokens[at..], &["#", "["]) {
        at = group_end(tokens, at + 1);
    }
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "{" => return group_end(tokens, at),
            "(" | "[" => at = group_end(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// One past the bracket that closes the one at `open`.
pub fn group_end(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (n, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return n + 1;
        }
    }
    tokens.len()
}

/// The paths a `use` tree or an expression names from token `at` on: `a::{b, c::d}` gives `a::b` and `a::c::d`.
pub fn paths_from(tokens: &[Token], at: usize) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    expand(tokens, at, &[], &mut paths);
    paths
}

/// Adds the paths at `at` to `paths`, each with `prefix` before it; returns where they end.
fn expand(tokens: &[Token], mut at: usize, prefix: &[String], paths: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at).map(|t| t.text.as_str()) {
            Some("{") => {
                let end = group_end(tokens, at);
                at += 1;
                while at + 1 < end {
                    let next = expand(tokens, at, &path, paths);
                    at = next.max(at + 1);
                }
                return end;
            }
            Some(word) if word == "*" || word.starts_with(is_word) => path.push(word.to_owned()),
            _ => break,
        }
        at += 1;
        if tokens.get(at).is_none_or(|t| t.text != "::") {
            break;
        }
        at += 1;
    }
    if path.len() > prefix.len() {
        paths.push(path);
    }
    // A new name says nothing about where the old one comes from.
    if tokens.get(at).is_some_and(|t| t.text == "as") { at + 2 } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn comments_and_strings_are_not_words() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
        assert_eq!(words(r##"f("b \" c", r#"d " e"#, b"x", '\'', '"', 'a')"##).concat(), "f(\"\",\"\",\"\",,,)");
        assert_eq!(words("fn f<'a>(x: &'a str)").concat(), "fnf<>(x:&str)");
        assert_eq!(words("/// doc unsafe\nx::y!"), ["x", "::", "y", "!"]);
    }

    #[test]
    fn lines_are_counted_through_strings() {
        let all = tokens("a\n\"x\ny\"\n/* \n */ b");
        assert_eq!(all.last().map(|t| (t.text.as_str(), t.line)), Some(("b", 5)));
    }

    #[test]
    fn test_items_are_left_out() {
        let kept = |text: &str| without_tests(&tokens(text)).into_iter().map(|t| t.text).collect::<String>();
        assert_eq!(kept("a #[cfg(test)] mod tests { b { c } } d"), "ad");
        assert_eq!(kept("#[cfg(test)] #[allow(x)] use b::c; d"), "d");
        assert_eq!(kept("#[cfg(all(test, unix))] fn f(x: [u8; 2]) { b } d"), "d");
        assert_eq!(kept("#[cfg(unix)] a"), "#[cfg(unix)]a");
    }

    #[test]
    fn use_trees_become_paths() {
        let paths = |text: &str| paths_from(&tokens(text), 0).iter().map(|p| p.join("::")).collect::<Vec<_>>();
        assert_eq!(paths("a::b::C;"), ["a::b::C"]);
        assert_eq!(paths("a::{b::{C, D as E}, f::*, g};"), ["a::b::C", "a::b::D", "a::f::*", "a::g"]);
        assert_eq!(paths("a::b(c::d)"), ["a::b"]);
    }
}
