//! Tests that the files of a crate do not import each other in a circle, and that no experiment
//! imports another.

use crate::source::{self, Token, begins, paths_from, tokens_of_program};
use std::collections::{BTreeMap, BTreeSet};

/// Path of a module in its crate: `["caches", "grid"]`. The path of the root is empty.
type ModulePath = Vec<String>;

/// Keywords after which a file defines a name.
const DEFINING: &[&str] = &[
    "fn",
    "struct",
    "enum",
    "trait",
    "type",
    "const",
    "static",
    "union",
    "macro_rules",
];

/// A file of a crate.
struct Module {
    file: String,
    /// Names that the file defines outside of functions.
    defined: BTreeSet<String>,
    /// Names that `use` imports, with the paths that they stand for.
    names: BTreeMap<String, Vec<String>>,
    /// Paths of `use a::*`.
    globs: Vec<Vec<String>>,
    /// Paths and single names in the code of the file, without declarations of re-exports.
    mentioned: BTreeSet<Vec<String>>,
}

/// Path of the module in a file: `a::b` for `crates/x/src/a/b.rs` and for
/// `crates/x/src/a/b/mod.rs`.
fn module_of(path: &str) -> ModulePath {
    let inside = path.split("/src/").nth(1).expect("a file below src");
    let name = inside.strip_suffix(".rs").expect("a source file");
    let mut parts: ModulePath = name.split('/').map(str::to_owned).collect();
    if parts
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
    {
        parts.pop();
    }
    parts
}

/// Names that the `use` at `at` imports, each with its path. The second value is the end of the
/// `use`.
fn imports(code: &[Token], at: usize) -> (Vec<(String, Vec<String>)>, usize) {
    let end = (at..code.len())
        .find(|&n| code[n].text == ";")
        .unwrap_or(code.len());
    let mut found = Vec::new();
    for path in paths_from(code, at + 1) {
        let mut path = path;
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let Some(last) = path.last().cloned() else {
            continue;
        };
        // `a as b` imports the name `b`.
        let renamed = (at..end).find(|&n| code[n].text == last && begins(&code[n + 1..], &["as"]));
        let name = renamed.map_or(last, |n| code[n + 2].text.clone());
        found.push((name, path));
    }
    (found, end)
}

fn read(file: &str, text: &str) -> Module {
    let code = tokens_of_program(text);
    let mut module = Module {
        file: file.to_owned(),
        defined: BTreeSet::new(),
        names: BTreeMap::new(),
        globs: Vec::new(),
        mentioned: BTreeSet::new(),
    };
    let mut depth = 0_usize;
    let mut at = 0;
    while at < code.len() {
        let word = code[at].text.as_str();
        let after_path = at > 0 && code[at - 1].text == "::";
        match word {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "use" if !after_path => {
                let (found, end) = imports(&code, at);
                for (name, path) in found {
                    if name == "*" {
                        module.globs.push(path[..path.len() - 1].to_vec());
                    } else {
                        module.names.insert(name, path);
                    }
                }
                at = end;
                continue;
            }
            "mod" if code.get(at + 2).is_some_and(|t| t.text == ";") => {
                at += 2;
                continue;
            }
            _ if DEFINING.contains(&word) && depth == 0 => {
                let name = at + 1 + usize::from(begins(&code[at + 1..], &["!"]));
                if let Some(name) = code.get(name).filter(|name| name.text != "_") {
                    module.defined.insert(name.text.clone());
                }
            }
            _ => {}
        }
        let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let is_field = at > 0 && code[at - 1].text == ".";
        let is_visibility = at > 1 && begins(&code[at - 2..], &["pub", "("]);
        if is_name && !after_path && !is_field && !is_visibility {
            module.mentioned.extend(paths_from(&code, at));
        }
        at += 1;
    }
    module
}

/// Modules of a crate, by path.
type Crate = BTreeMap<ModulePath, Module>;

/// The file that defines the item which `path` names in the module `from`. `None` if the item is
/// not of this crate.
fn home(
    all: &Crate,
    from: &ModulePath,
    path: &[String],
    seen: &mut BTreeSet<(ModulePath, Vec<String>)>,
) -> Option<String> {
    if !seen.insert((from.clone(), path.to_vec())) {
        return None;
    }
    let mut here = from.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            here.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|word| word == "super") {
                here.pop()?;
                rest = &rest[1..];
            }
        }
        _ => {
            let child = child_of(&here, rest.first()?);
            let module = all.get(&here)?;
            if !all.contains_key(&child) && !module.defined.contains(rest.first()?) {
                return through_names(all, &here, rest, seen);
            }
        }
    }
    loop {
        let Some(first) = rest.first() else {
            return Some(all.get(&here)?.file.clone());
        };
        let child = child_of(&here, first);
        if all.contains_key(&child) && !all.get(&here)?.defined.contains(first) {
            here = child;
            rest = &rest[1..];
            continue;
        }
        let module = all.get(&here)?;
        if module.defined.contains(first) {
            return Some(module.file.clone());
        }
        return through_names(all, &here, rest, seen);
    }
}

fn child_of(module: &ModulePath, name: &str) -> ModulePath {
    let mut child = module.clone();
    child.push(name.to_owned());
    child
}

/// The file that defines a name which `use` imports into a module.
fn through_names(
    all: &Crate,
    here: &ModulePath,
    rest: &[String],
    seen: &mut BTreeSet<(ModulePath, Vec<String>)>,
) -> Option<String> {
    let module = all.get(here)?;
    let is_inside = |path: &[String]| {
        path.first().is_some_and(|first| {
            ["crate", "self", "super"].contains(&first.as_str())
                || all.contains_key(&child_of(here, first))
                || module.defined.contains(first)
        })
    };
    let mut through = |path: &[String], rest: &[String]| {
        if !is_inside(path) {
            return None;
        }
        let whole: Vec<String> = path.iter().chain(rest).cloned().collect();
        home(all, here, &whole, seen)
    };
    if let Some(path) = module.names.get(rest.first()?) {
        return through(path, &rest[1..]);
    }
    module.globs.iter().find_map(|glob| through(glob, rest))
}

/// The files that each file of the crate imports.
fn edges(all: &Crate) -> BTreeMap<String, BTreeSet<String>> {
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, module) in all {
        let reached = module
            .mentioned
            .iter()
            // A module's name alone imports nothing, and may be the name of a variable.
            .filter(|mentioned| {
                mentioned.len() > 1
                    || module.names.contains_key(&mentioned[0])
                    || !all.contains_key(&child_of(path, &mentioned[0]))
            })
            .filter_map(|mentioned| home(all, path, mentioned, &mut BTreeSet::new()))
            .filter(|file| *file != module.file);
        edges
            .entry(module.file.clone())
            .or_default()
            .extend(reached);
    }
    edges
}

/// The circles in `edges`: files that reach themselves, in groups.
fn circles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reach = |from: &String| {
        let mut reached: BTreeSet<String> = BTreeSet::new();
        let mut next = vec![from.clone()];
        while let Some(file) = next.pop() {
            for to in edges.get(&file).into_iter().flatten() {
                if reached.insert(to.clone()) {
                    next.push(to.clone());
                }
            }
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        edges.keys().map(|file| (file, reach(file))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (file, to) in &reached {
        if !to.contains(*file) || found.iter().any(|circle| circle.contains(*file)) {
            continue;
        }
        let circle = to.iter().filter(|other| reached[*other].contains(*file));
        found.push(circle.cloned().collect());
    }
    found
}

/// Every crate by name, without its tests.
fn crates() -> BTreeMap<String, Crate> {
    let mut crates: BTreeMap<String, Crate> = BTreeMap::new();
    for file in source::files() {
        let is_source = file.path.contains("/src/");
        let is_test = file.path.contains("/tests/") || file.path.ends_with("tests.rs");
        if is_source && !is_test {
            let name = file.path.split('/').nth(1).expect("a crate").to_owned();
            let module = read(&file.path, &file.text);
            crates
                .entry(name)
                .or_default()
                .insert(module_of(&file.path), module);
        }
    }
    crates
}

#[test]
fn no_two_files_of_a_crate_import_each_other() {
    let crates = crates();
    let mut complaints = Vec::new();
    for (name, all) in &crates {
        let edges = edges(all);
        for circle in circles(&edges) {
            complaints.push(format!("{name}: {} files", circle.len()));
            for file in &circle {
                let to: Vec<&String> = edges[file]
                    .iter()
                    .filter(|to| circle.contains(*to))
                    .collect();
                complaints.push(format!("  {file} -> {to:?}"));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Modules that the table of experiments imports, although they are no experiments.
const NO_EXPERIMENTS: &[&str] = &["choices", "command", "experiment"];

#[test]
fn no_experiment_imports_another() {
    let edges = edges(&crates()["experiments"]);
    let module = |file: &str| module_of(file).first().cloned().unwrap_or_default();
    let (_, listed) = edges
        .iter()
        .find(|(file, _)| file.ends_with("/table.rs"))
        .expect("the table of experiments");
    let experiments: BTreeSet<String> = listed
        .iter()
        .map(|file| module(file))
        .filter(|name| !NO_EXPERIMENTS.contains(&name.as_str()))
        .collect();
    assert!(experiments.len() > 10, "{experiments:?}");
    let mut complaints = Vec::new();
    for (file, to) in &edges {
        let own = module(file);
        let others = to.iter().filter(|other| {
            let other = module(other);
            other != own && experiments.contains(&other)
        });
        if experiments.contains(&own) {
            complaints.extend(others.map(|other| format!("{file} -> {other}")));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Paths and texts of the files of a crate.
type Files = &'static [(&'static str, &'static str)];

/// Makes a crate of these files, for tests of imports.
fn crate_of(files: Files) -> Crate {
    let module = |(path, text): &(&str, &str)| {
        let path = format!("crates/x/src/{path}");
        (module_of(&path), read(&path, text))
    };
    files.iter().map(module).collect()
}

#[test]
fn imports_are_followed_to_the_file_that_defines_a_name() {
    let cases: &[(&str, Files, usize)] = &[
        (
            "apart",
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", "use crate::b::B; fn f(_: B) {}"),
                ("b.rs", "pub struct B;"),
            ],
            0,
        ),
        (
            "directly",
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", "use crate::b::B; pub struct A(B);"),
                ("b.rs", "pub struct B; fn f(_: super::a::A) {}"),
            ],
            2,
        ),
        (
            "round a corner",
            &[
                ("lib.rs", "mod a; mod b; mod c;"),
                ("a.rs", "pub fn a() { super::b::b() }"),
                ("b.rs", "pub fn b() { super::c::c() }"),
                ("c.rs", "use super::a; pub fn c() { a::a() }"),
            ],
            3,
        ),
        (
            "through a re-export",
            &[
                ("lib.rs", "mod a; mod b; pub use a::A;"),
                ("a.rs", "use crate::b::B; pub struct A(B);"),
                ("b.rs", "use crate::A; pub struct B; fn f(_: A) {}"),
            ],
            2,
        ),
        (
            "through a glob",
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", "use super::b::*; pub fn a() { b() }"),
                ("b.rs", "pub fn b() { crate::a::a() }"),
            ],
            2,
        ),
        (
            "a re-export is no import",
            &[
                ("lib.rs", "mod a; pub use a::A; pub struct R;"),
                ("a.rs", "use crate::R; pub struct A(R);"),
            ],
            0,
        ),
        (
            "a parent that calls a child",
            &[
                ("lib.rs", "mod a; pub struct R; fn f() { a::a() }"),
                ("a.rs", "use super::R; pub fn a() -> R { R }"),
            ],
            2,
        ),
        (
            "visibility",
            &[
                ("lib.rs", "mod a; fn f() { a::a() }"),
                ("a.rs", "pub(super) fn a() {}"),
            ],
            0,
        ),
        (
            "tests",
            &[
                ("lib.rs", "mod a; fn f() { a::a() } pub struct R;"),
                (
                    "a.rs",
                    "pub fn a() {} #[cfg(test)] mod tests { use super::super::R; fn t(_: R) {} }",
                ),
            ],
            0,
        ),
    ];
    for (name, files, expected) in cases {
        let found = circles(&edges(&crate_of(files)));
        let count: usize = found.iter().map(BTreeSet::len).sum();
        assert_eq!(count, *expected, "{name}: {found:?}");
    }
}
