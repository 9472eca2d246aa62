//! Tests the rules for prose that a program can check, in messages, documents and comments.

use crate::source::{SourceFile, files, workspace};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use report::Cause;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use verdict::{FINDING_KINDS, Worth, because, for_cause};

/// The page that lists every message.
const MESSAGES: &str = "docs/messages.md";

/// Longest sentence, in words.
const MAX_WORDS: usize = 30;

/// Longest line of a document, in characters. Tables and code may be wider.
const MAX_COLUMNS: usize = 100;

/// Largest number of places that a failure names.
const MAX_NAMED: usize = 10;

/// Words that must not be the subject of a sentence. A question may begin with them.
const NO_SUBJECTS: [&str; 4] = ["What", "Where", "Those", "Beside"];

/// Crates that print no messages: machine code, and the simulated machine of tests.
const SILENT: [&str; 2] = ["crates/kernels/", "crates/simulated/"];

/// Crate that writes assembly and Rust source. Its messages are reasons and help texts.
const ASSEMBLY: &str = "crates/assembly/";

/// Macros and functions whose texts are for developers.
const FOR_DEVELOPERS: [&str; 8] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "expect",
    "panic",
    "unreachable",
    "cfg",
];

/// A text and its place.
#[derive(Debug, Clone)]
struct Text {
    place: String,
    text: String,
}

/// True if a file is part of the program rather than of its tests.
fn is_program(file: &SourceFile) -> bool {
    let path = &file.path;
    path.contains("/src/")
        && !path.contains("tests")
        && !SILENT.iter().any(|silent| path.starts_with(silent))
}

/// String literals of program code that read like sentences, by file.
fn messages() -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for file in files().iter().filter(|file| is_program(file)) {
        let mut parsed = syn::parse_file(&file.text).expect("source that Rust can read");
        crate::source::remove_tests(&mut parsed.items);
        let mut found = Vec::new();
        literals(parsed.into_token_stream(), &mut found);
        if file.path.starts_with(ASSEMBLY) {
            found.retain(|text| !is_source(text));
        }
        if !found.is_empty() {
            all.insert(file.path.clone(), found);
        }
    }
    all
}

/// Adds the sentences among the string literals of `stream` to `found`. Attributes are left out.
fn literals(stream: TokenStream, found: &mut Vec<String>) {
    let mut last = String::new();
    let mut is_for_developers = false;
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                let is_attribute = last == "#" && group.delimiter() == Delimiter::Bracket;
                if !is_attribute && !is_for_developers {
                    literals(group.stream(), found);
                }
                is_for_developers = false;
                last.clear();
            }
            TokenTree::Literal(literal) => {
                if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                    found.extend(Some(text.value()).filter(|text| is_sentence(text)));
                }
                last.clear();
            }
            TokenTree::Ident(word) => {
                last = word.to_string();
                is_for_developers = FOR_DEVELOPERS.contains(&last.as_str());
            }
            // An inner attribute begins with the two marks `#!`.
            TokenTree::Punct(mark) if last == "#" && mark.as_char() == '!' => {}
            TokenTree::Punct(mark) => last = mark.to_string(),
        }
    }
}

/// True if a literal is a message of four words or more, rather than a name, markup or a path.
fn is_sentence(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| {
        let letters = word.chars().filter(|c| c.is_ascii_lowercase()).count();
        letters * 2 > word.len() && !word.contains(['<', '>', '=', '/'])
    });
    words.count() >= 4 && !text.contains(['<', '\u{1b}'])
}

/// True if a literal is assembly or Rust source. Such a literal has several lines, braces or
/// operands, is a comment, or is a name with a list of operands.
fn is_source(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let operands = words.get(1..words.len().saturating_sub(1));
    text.contains(['\n', '[', '{', '$', '%'])
        || text.starts_with("///")
        || operands.is_some_and(|words| words.iter().all(|word| word.ends_with(',')))
}

/// Comments of all crates, each with its place. The lines of one comment are joined.
fn comments() -> Vec<Text> {
    let mut all: Vec<Text> = Vec::new();
    for file in files() {
        let mut open = false;
        for (number, line) in file.text.lines().enumerate() {
            let line = line.trim_start();
            let text = ["//! ", "/// ", "// "]
                .iter()
                .find_map(|start| line.strip_prefix(start));
            let is_list = |text: &str| text.starts_with(['-', '|', '`', '#', ' ']);
            match text {
                Some(text) if open && !is_list(text) => {
                    let last = all.last_mut().expect("an open comment");
                    last.text.push(' ');
                    last.text.push_str(text);
                }
                Some(text) => all.push(Text {
                    place: format!("{}:{}", file.path, number + 1),
                    text: text.to_owned(),
                }),
                None => {}
            }
            open = text.is_some_and(|text| !is_list(text));
        }
    }
    all
}

/// Paragraphs of a document. Code, tables and headings are left out.
fn paragraphs(file: &str, text: &str) -> Vec<Text> {
    let mut all: Vec<Text> = Vec::new();
    let mut fenced = false;
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        fenced ^= line.starts_with("```");
        let skipped = fenced
            || line.trim().is_empty()
            || line.starts_with(['|', '#', '`', '<', '!'])
            || line.starts_with("    ");
        let item = line.trim_start().trim_start_matches("- ");
        let begins = item.len() < line.trim_start().len() || !open;
        if !skipped && begins {
            all.push(Text {
                place: format!("{file}:{}", number + 1),
                text: item.to_owned(),
            });
        } else if !skipped {
            let last = all.last_mut().expect("an open paragraph");
            last.text.push(' ');
            last.text.push_str(line.trim());
        }
        open = !skipped;
    }
    all
}

/// Documents that are written by hand, with their paths.
fn documents() -> Vec<(String, String)> {
    let root = workspace();
    let mut all = Vec::new();
    for folder in ["", "docs", "docs/method", "docs/results"] {
        let entries = fs::read_dir(root.join(folder)).expect("a folder");
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = Path::new(folder).join(path.file_name().expect("a name"));
            let name = name.to_string_lossy().replace('\\', "/");
            let is_generated = name.starts_with("docs/kernels")
                || [MESSAGES, "docs/csv-columns.md", "CHANGELOG.md"].contains(&name.as_str());
            if name.ends_with(".md") && !is_generated {
                all.push((name, fs::read_to_string(&path).expect("text")));
            }
        }
    }
    all.sort();
    all
}

/// Sentences of a text. Code in quotes counts as a word.
fn sentences(text: &str) -> Vec<String> {
    let mut plain = String::new();
    for (index, part) in text.split('`').enumerate() {
        plain.push_str(if index % 2 == 0 { part } else { "code" });
    }
    let marked = plain
        .replace(". ", ".\n")
        .replace("? ", "?\n")
        .replace(": ", ":\n")
        .replace("; ", ";\n");
    marked.lines().map(str::to_owned).collect()
}

/// Rules that a text breaks, in words.
fn faults(text: &Text) -> Vec<String> {
    let mut faults = Vec::new();
    for sentence in sentences(&text.text) {
        let words = sentence.split_whitespace().count();
        if words > MAX_WORDS {
            faults.push(format!("{}: {words} words: {sentence}", text.place));
        }
    }
    let plain = text.text.replace(". ", ".\n");
    for sentence in plain.lines() {
        let first = sentence.split_whitespace().next().unwrap_or_default();
        if NO_SUBJECTS.contains(&first) && !sentence.contains('?') {
            faults.push(format!("{}: begins with {first}: {sentence}", text.place));
        }
    }
    faults
}

/// Fails if there are more faults than `allowed`. The message has the first places.
fn hold(what: &str, faults: &[String], allowed: usize) {
    let named: Vec<String> = faults
        .iter()
        .take(MAX_NAMED)
        .map(|fault| format!("  {fault:.200}"))
        .collect();
    assert!(
        faults.len() <= allowed,
        "{what}: {} faults, {allowed} allowed; the first:\n{}",
        faults.len(),
        named.join("\n")
    );
}

#[test]
fn messages_are_read_once() {
    let mut all = Vec::new();
    for (file, texts) in messages() {
        for text in texts {
            let text = Text {
                place: file.clone(),
                text,
            };
            all.extend(faults(&text));
            if text.text.contains('…') {
                all.push(format!("{file}: an ellipsis: {}", text.text));
            }
        }
    }
    hold("messages", &all, 0);
}

#[test]
fn documents_are_read_once() {
    let mut all = Vec::new();
    for (file, text) in documents() {
        all.extend(paragraphs(&file, &text).iter().flat_map(faults));
        let mut fenced = false;
        for (number, line) in text.lines().enumerate() {
            fenced ^= line.starts_with("```");
            let is_prose = !fenced && !line.starts_with(['|', ' ', '<', '!']);
            if is_prose && line.chars().count() > MAX_COLUMNS && line.contains(' ') {
                all.push(format!(
                    "{file}:{}: {} columns",
                    number + 1,
                    line.chars().count()
                ));
            }
        }
    }
    hold("documents", &all, 0);
}

#[test]
fn comments_are_read_once() {
    let all: Vec<String> = comments().iter().flat_map(faults).collect();
    hold("comments", &all, 0);
}

/// The page of all messages.
pub fn page() -> String {
    let mut page = "# Messages\n\n\
        Every sentence that memgauge prints. Generated: `cargo test --test it \
        renew_generated_files -- --ignored`.\n\n\
        ## Causes of doubt\n\n\
        | cause | doubtful because | advice |\n|---|---|---|\n"
        .to_owned();
    let name = |cause: &Cause| {
        let name = serde_json::to_string(cause).expect("a name");
        name.trim_matches('"').to_owned()
    };
    for cause in Cause::ALL {
        let row = [
            name(cause),
            because(*cause).to_owned(),
            for_cause(*cause).to_owned(),
        ];
        page.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    page.push_str(
        "\n## Findings\n\nThe screen shows the first kinds first.\n\n\
         | worth | kind | statement |\n|---|---|---|\n",
    );
    for kind in FINDING_KINDS {
        let worth = match kind.worth {
            Worth::Change => "change",
            Worth::Answer => "answer",
            Worth::Detail => "detail",
            Worth::Circumstance => "circumstance",
        };
        page.push_str(&format!("| {worth} | {} | {} |\n", kind.name, kind.meaning));
    }
    page.push_str("\n## Sentences by file\n\nBraces stand for values.\n");
    for (file, texts) in messages() {
        page.push_str(&format!("\n### {file}\n\n"));
        for text in texts {
            page.push_str(&format!("- {}\n", text.trim().replace('\n', " ")));
        }
    }
    page
}

#[test]
fn the_page_of_messages_is_current() {
    let kept = fs::read_to_string(workspace().join(MESSAGES)).unwrap_or_default();
    assert!(
        kept.replace("\r\n", "\n") == page(),
        "out of date; cargo test --test it renew_generated_files -- --ignored"
    );
}
