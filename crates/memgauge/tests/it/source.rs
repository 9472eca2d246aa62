//! Splits Rust source into words, so that comments and strings do not trip rules about code.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::fs;
use std::path::{Path, PathBuf};

/// A word, a `::`, a string (always `""`) or a single mark, with the line on which it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// A source file of the workspace. `path` starts at the root of the workspace and has forward
/// slashes.
pub struct SourceFile {
    pub path: String,
    pub text: String,
}

/// The root of the workspace, where README.md, ARCHITECTURE.md and docs are.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the root of the workspace")
}

/// All `.rs` files of the crates, in order of their paths.
pub fn files() -> Vec<SourceFile> {
    let root = workspace();
    let mut found = Vec::new();
    collect(&root.join("crates"), &mut found);
    found.sort();
    let read = |path: PathBuf| SourceFile {
        text: fs::read_to_string(&path).expect("source files are readable text"),
        path: path
            .strip_prefix(&root)
            .expect("below the root")
            .to_string_lossy()
            .replace('\\', "/"),
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

/// The words of `text` without comments.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    flatten(text.parse().expect("source that Rust can read"), &mut found);
    found
}

/// The words of `text` without the items under `#[cfg(test)]` or `#[cfg(all(test, ...))]`.
pub fn tokens_of_program(text: &str) -> Vec<Token> {
    let mut file = syn::parse_file(text).expect("source that Rust can read");
    remove_tests(&mut file.items);
    let mut found = Vec::new();
    flatten(file.into_token_stream(), &mut found);
    found
}

/// Removes the items of tests.
pub fn remove_tests(items: &mut Vec<syn::Item>) {
    items.retain(|item| !attributes(item).iter().any(is_test));
    for item in items {
        if let syn::Item::Mod(syn::ItemMod {
            content: Some((_, inner)),
            ..
        }) = item
        {
            remove_tests(inner);
        }
    }
}

/// True if an attribute is `cfg(test)` or `cfg(all(test, ...))`.
fn is_test(attribute: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else {
        return false;
    };
    let condition = list.tokens.to_string().replace(' ', "");
    list.path.is_ident("cfg") && (condition == "test" || condition.starts_with("all(test,"))
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    use syn::Item;
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn flatten(stream: TokenStream, found: &mut Vec<Token>) {
    let mut trees = stream.into_iter();
    while let Some(tree) = trees.next() {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open, line, found);
                flatten(group.stream(), found);
                push(close, group.span_close().start().line, found);
            }
            TokenTree::Ident(word) => push(&word.to_string(), line, found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                push(if text.contains('"') { "\"\"" } else { &text }, line, found);
            }
            // Two colons are one word.
            TokenTree::Punct(mark) => match (mark.as_char(), found.last_mut()) {
                // The name of a lifetime is no word, because `'static` declares nothing.
                ('\'', _) => drop(trees.next()),
                (':', Some(last)) if last.text == ":" => last.text = "::".to_owned(),
                (mark, _) => push(&mark.to_string(), line, found),
            },
        }
    }
}

fn push(text: &str, line: usize, found: &mut Vec<Token>) {
    if !text.is_empty() {
        found.push(Token {
            text: text.to_owned(),
            line,
        });
    }
}

/// True if `tokens` begin with these words.
pub fn begins(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len()
        && tokens
            .iter()
            .zip(words)
            .all(|(token, word)| token.text == *word)
}

/// Index after the bracket that closes the bracket at `open`.
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

/// The paths that a `use` tree or an expression names from token `at` on. `a::{b, c::d}` gives
/// `a::b` and `a::c::d`.
pub fn paths_from(tokens: &[Token], at: usize) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    expand(tokens, at, &[], &mut paths);
    paths
}

/// Adds the paths at `at` to `paths`, each with `prefix` before it. Returns the index at which they
/// end.
fn expand(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    paths: &mut Vec<Vec<String>>,
) -> usize {
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
            Some(word)
                if word == "*" || word.starts_with(|c: char| c.is_alphanumeric() || c == '_') =>
            {
                path.push(word.to_owned())
            }
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
    // A new name after `as` does not change the path.
    if tokens.get(at).is_some_and(|t| t.text == "as") {
        at + 2
    } else {
        at
    }
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
        assert_eq!(
            words(r##"f("b \" c", r#"d " e"#, b"x")"##).concat(),
            "f(\"\",\"\",\"\")"
        );
        assert_eq!(words("/// doc unsafe\nx::y!").concat(), "#[doc=\"\"]x::y!");
    }

    #[test]
    fn lines_are_counted_through_strings() {
        let all = tokens("a\n\"x\ny\"\n/* \n */ b");
        assert_eq!(
            all.last().map(|t| (t.text.as_str(), t.line)),
            Some(("b", 5))
        );
    }

    #[test]
    fn test_items_are_left_out() {
        let kept = |text: &str| {
            tokens_of_program(text)
                .into_iter()
                .map(|t| t.text)
                .collect::<String>()
        };
        assert_eq!(
            kept("struct A; #[cfg(test)] mod tests { fn b() {} } struct D;"),
            "structA;structD;"
        );
        assert_eq!(
            kept("#[cfg(test)] #[allow(x)] use b::c; struct D;"),
            "structD;"
        );
        assert_eq!(
            kept("mod m { #[cfg(all(test, unix))] fn f(x: [u8; 2]) {} struct D; }"),
            "modm{structD;}"
        );
        assert_eq!(kept("#[cfg(unix)] struct A;"), "#[cfg(unix)]structA;");
    }

    #[test]
    fn use_trees_become_paths() {
        let paths = |text: &str| {
            paths_from(&tokens(text), 0)
                .iter()
                .map(|p| p.join("::"))
                .collect::<Vec<_>>()
        };
        assert_eq!(paths("a::b::C;"), ["a::b::C"]);
        assert_eq!(
            paths("a::{b::{C, D as E}, f::*, g};"),
            ["a::b::C", "a::b::D", "a::f::*", "a::g"]
        );
        assert_eq!(paths("a::b(c::d)"), ["a::b"]);
    }
}
