//! What ARCHITECTURE.md promises about the source: who imports whom, and what has one home.

use crate::source::{self, SourceFile, Token, begins, group_end, paths_from, tokens, without_tests};

/// Each room and what it may import besides itself; `host::cpu` opens only that part of `host`.
const ROOMS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("error", &["units"]),
    ("stats", &["units"]),
    ("results", &["units"]),
    ("host", &["units", "error", "results"]),
    ("kernels", &["units", "error", "host::cpu", "host::memory"]),
    ("engine", &["host", "kernels", "stats", "results", "units", "error"]),
    ("experiments", &["engine", "kernels", "host", "stats", "results", "units", "error"]),
    ("plan", &["experiments", "engine", "host", "kernels", "results", "units", "error"]),
    ("run", &["plan", "experiments", "engine", "host", "kernels", "results", "units", "error"]),
    ("analysis", &["results", "stats", "units", "error"]),
    ("render", &["results", "analysis", "units", "error"]),
    (
        "cli",
        &[
            "units",
            "error",
            "stats",
            "results",
            "host",
            "kernels",
            "engine",
            "experiments",
            "plan",
            "run",
            "analysis",
            "render",
        ],
    ),
];

/// The rooms that may hold unsafe code.
const UNSAFE_ROOMS: &[&str] = &["host", "kernels"];

/// What a rule has to say about a piece of source: the line and the complaint.
type Complaints = Vec<(usize, String)>;

/// The room a path belongs to: `src/host/os/linux.rs` to `host`; `None` for `src/lib.rs` and `src/main.rs`.
fn room_of(path: &str) -> Option<&str> {
    let below = path.strip_prefix("src/")?;
    match below.split_once('/') {
        Some((room, _)) => Some(room),
        None => below.strip_suffix(".rs").filter(|name| !["lib", "main"].contains(name)),
    }
}

/// How many `super` lead from the file's own module to the root of the library.
fn depth_of(path: &str) -> usize {
    let below = path.strip_prefix("src/").unwrap_or(path).trim_end_matches(".rs");
    below.trim_end_matches("/mod").split('/').count()
}

fn is_test_file(path: &str) -> bool {
    path.starts_with("tests/") || path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// Every path through the library's root that `code` names, without its leading `crate` or `super`s.
fn internal_paths(code: &[Token], depth: usize) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for at in 0..code.len() {
        let starts = at == 0 || code[at - 1].text != "::";
        let leading = if begins(&code[at..], &["crate", "::"]) { "crate" } else { "super" };
        if !starts || !begins(&code[at..], &[leading, "::"]) {
            continue;
        }
        for path in paths_from(code, at) {
            let skipped = path.iter().take_while(|word| *word == leading).count();
            if leading == "crate" || skipped >= depth {
                found.push((code[at].line, path[skipped..].to_vec()));
            }
        }
    }
    found
}

/// Imports of `room` that its row does not allow, and names at the root that are no room at all.
fn forbidden_imports(room: &str, depth: usize, code: &[Token]) -> Complaints {
    let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
        return vec![(1, format!("room '{room}' has no row in the import table"))];
    };
    let may = |path: &str| allowed.iter().any(|a| path == *a || path.starts_with(&format!("{a}::")));
    let mut complaints = Complaints::new();
    for (line, path) in internal_paths(code, depth) {
        let (first, whole) = (path.first().map_or("", String::as_str), path.join("::"));
        if !ROOMS.iter().any(|(name, _)| *name == first) {
            complaints.push((line, format!("'{whole}' names no room")));
        } else if first != room && !may(&whole) {
            complaints.push((line, format!("'{room}' may not import '{whole}'")));
        }
    }
    complaints
}

/// Places where `code` has these words in a row.
fn occurrences(code: &[Token], words: &[&str]) -> Complaints {
    let hits = (0..code.len()).filter(|at| begins(&code[*at..], words));
    hits.map(|at| (code[at].line, format!("`{}`", words.concat()))).collect()
}

/// Conditions on the operating system: `cfg(unix)`, `cfg!(windows)`, `cfg_attr(target_os = "linux", ...)`.
fn system_conditions(code: &[Token]) -> Complaints {
    let systems = ["target_os", "target_family", "unix", "windows"];
    let mut complaints = Complaints::new();
    for at in 0..code.len() {
        let open = if begins(&code[at + 1..], &["!"]) { at + 2 } else { at + 1 };
        if !["cfg", "cfg_attr"].contains(&code[at].text.as_str()) || !begins(&code[open.min(code.len())..], &["("]) {
            continue;
        }
        let condition = &code[open..group_end(code, open)];
        for word in condition.iter().filter(|word| systems.contains(&word.text.as_str())) {
            complaints.push((word.line, format!("a condition on `{}`", word.text)));
        }
    }
    complaints
}

/// Uses of the environment; the constants of `std::env::consts` are known when the program is built.
fn environment_uses(code: &[Token]) -> Complaints {
    let mut complaints = Complaints::new();
    for at in (0..code.len()).filter(|at| begins(&code[*at..], &["std", "::"])) {
        for path in paths_from(code, at) {
            if path.get(1).is_some_and(|p| p == "env") && path.get(2).is_none_or(|p| p != "consts") {
                complaints.push((code[at].line, format!("`{}`", path.join("::"))));
            }
        }
    }
    complaints
}

/// Output to the terminal and the end of the program.
fn effects(code: &[Token]) -> Complaints {
    let mut complaints = occurrences(code, &["process", "::", "exit"]);
    for name in ["print", "println", "eprint", "eprintln", "dbg"] {
        complaints.extend(occurrences(code, &[name, "!"]));
    }
    complaints
}

/// Statics that change: `static mut`, and those whose type can be changed from inside.
fn mutable_statics(code: &[Token]) -> Complaints {
    let changing = |name: &str| name.starts_with("Atomic") || ["Mutex", "RwLock", "RefCell", "Cell"].contains(&name);
    let mut complaints = occurrences(code, &["static", "mut"]);
    for at in (0..code.len()).filter(|at| code[*at].text == "static") {
        let kind = code[at..].iter().take_while(|t| !["=", ";", ")", ">", "{"].contains(&t.text.as_str()));
        if let Some(word) = kind.into_iter().find(|t| changing(&t.text)) {
            complaints.push((code[at].line, format!("a static that can change: `{}`", word.text)));
        }
    }
    complaints
}

/// Work left undone: empty bodies, and tests that nobody runs. An ignored test is one that another test starts in a
/// process of its own (`child_...`), or one that writes the files others compare with (`renew_...`).
fn loose_ends(code: &[Token]) -> Complaints {
    let mut complaints = occurrences(code, &["todo", "!"]);
    complaints.extend(occurrences(code, &["unimplemented", "!"]));
    for at in (0..code.len()).filter(|at| begins(&code[*at..], &["#", "[", "ignore"])) {
        let name = code[at..].iter().skip_while(|t| t.text != "fn").nth(1).map_or("", |t| t.text.as_str());
        if !["child_", "renew_"].iter().any(|role| name.starts_with(role)) {
            complaints.push((code[at].line, format!("an ignored test that nothing runs: `{name}`")));
        }
    }
    complaints
}

/// Whether a room's first file forbids unsafe code for all of the room.
fn forbids_unsafe(code: &[Token]) -> bool {
    (0..code.len()).any(|at| begins(&code[at..], &["#", "!", "[", "forbid", "(", "unsafe_code"]))
}

/// Asks `rule` about every file of `files` and fails with all complaints at once, each with its place.
fn hold(files: &[SourceFile], rule: impl Fn(&SourceFile) -> Complaints) {
    assert!(!files.is_empty(), "no source was found");
    let mut all = Vec::new();
    for file in files {
        all.extend(rule(file).into_iter().map(|(line, what)| format!("{}:{line}: {what}", file.path)));
    }
    assert!(all.is_empty(), "\n{}\n(ARCHITECTURE.md says what belongs where)", all.join("\n"));
}

fn sources() -> Vec<SourceFile> {
    source::files_below("src")
}

/// The code of `file` that ends up in the program.
fn program_code(file: &SourceFile) -> Vec<Token> {
    if is_test_file(&file.path) { Vec::new() } else { without_tests(&tokens(&file.text)) }
}

/// Holds `rule` for the program's code outside of `homes`, which are path beginnings.
fn hold_outside(homes: &[&str], rule: fn(&[Token]) -> Complaints) {
    hold(&sources(), |file| match homes.iter().any(|home| file.path.starts_with(home)) {
        true => Complaints::new(),
        false => rule(&program_code(file)),
    });
}

#[test]
fn rooms_import_only_what_the_table_allows() {
    hold(&sources(), |file| match room_of(&file.path) {
        Some(room) => forbidden_imports(room, depth_of(&file.path), &program_code(file)),
        None => Complaints::new(),
    });
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    hold(&sources(), |file| match room_of(&file.path) {
        Some(room) if UNSAFE_ROOMS.contains(&room) => Complaints::new(),
        _ => occurrences(&tokens(&file.text), &["unsafe"]),
    });
}

#[test]
fn other_rooms_forbid_unsafe_code() {
    hold(&sources(), |file| {
        let Some(room) = room_of(&file.path).filter(|room| !UNSAFE_ROOMS.contains(room)) else {
            return Complaints::new();
        };
        let first = [format!("src/{room}.rs"), format!("src/{room}/mod.rs")].contains(&file.path);
        match first && !forbids_unsafe(&tokens(&file.text)) {
            true => vec![(1, "starts without `#![forbid(unsafe_code)]`".to_owned())],
            false => Complaints::new(),
        }
    });
}

#[test]
fn systems_are_told_apart_in_one_place() {
    hold_outside(&["src/host/os"], system_conditions);
}

#[test]
fn the_clock_has_one_home() {
    hold_outside(&["src/host/counter.rs", "src/host/os"], |code| occurrences(code, &["Instant", "::", "now"]));
}

#[test]
fn only_the_command_line_reads_the_environment() {
    hold_outside(&["src/cli", "src/main.rs"], environment_uses);
}

#[test]
fn only_the_command_line_prints_and_exits() {
    hold_outside(&["src/cli", "src/main.rs"], effects);
}

#[test]
fn nothing_is_kept_in_statics_that_change() {
    hold_outside(&[], mutable_statics);
}

#[test]
fn no_loose_ends() {
    let mut files = sources();
    files.extend(source::files_below("tests"));
    hold(&files, |file| loose_ends(&tokens(&file.text)));
}

#[test]
fn the_page_and_the_table_agree() {
    let page = include_str!("../../ARCHITECTURE.md");
    for (room, imports) in ROOMS {
        let start = format!("| `{room}` |");
        let row = page.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row for {room}"));
        let last = row.trim_end_matches('|').rsplit('|').next().expect("a last column");
        let written: Vec<&str> = last.split(',').map(|name| name.trim().trim_matches('`')).collect();
        match *room {
            "cli" => assert_eq!(written, ["everything above"]),
            _ if imports.is_empty() => assert_eq!(written, ["-"], "{room}"),
            _ => assert_eq!(written, *imports, "{room}"),
        }
    }
}

/// Every rule is shown to complain, and to keep quiet about what only looks like a breach.
mod rules {
    use super::*;

    fn imports(room: &str, depth: usize, text: &str) -> usize {
        forbidden_imports(room, depth, &without_tests(&tokens(text))).len()
    }

    #[test]
    fn imports_are_found_in_every_form() {
        for text in [
            "use crate::engine::Clock;",
            "use crate::{units::Bytes, engine};",
            "use crate::{\n  units::{Bytes},\n  host::{self},\n};",
            "fn f() { crate::cli::run() }",
            "macro_rules! m { () => { $crate::render::x() } }",
            "pub use super::super::host as machine;",
            "use crate::nowhere::X;",
        ] {
            assert_eq!(imports("stats", 2, text), 1, "{text}");
        }
        assert_eq!(imports("kernels", 1, "use crate::host::{cpu::Feature, noise::Noise};"), 1);
        assert_eq!(imports("attic", 1, ""), 1);
    }

    #[test]
    fn allowed_imports_and_mere_mentions_pass() {
        for text in [
            "use crate::units::Bytes; use crate::stats::order::median; use super::helper;",
            "// use crate::engine::Clock;\n/// See [`crate::engine`].\nconst A: &str = \"crate::engine\";",
            "#[cfg(test)]\nmod tests { use crate::engine::Clock; }",
            "pub(crate) struct A; pub(in crate::stats) struct B;",
        ] {
            assert_eq!(imports("stats", 2, text), 0, "{text}");
        }
        assert_eq!(imports("kernels", 1, "use crate::host::cpu::Feature; use crate::host::cpu;"), 0);
    }

    #[test]
    fn files_know_their_room_and_depth() {
        assert_eq!(
            ["src/plan.rs", "src/host/os/linux.rs", "src/lib.rs"].map(room_of),
            [Some("plan"), Some("host"), None]
        );
        assert_eq!(
            ["src/plan.rs", "src/host/mod.rs", "src/host/os/mod.rs", "src/host/os/linux.rs"].map(depth_of),
            [1, 1, 2, 3]
        );
    }

    #[test]
    fn words_with_one_home_are_found() {
        let count = |rule: fn(&[Token]) -> Complaints, text: &str| rule(&without_tests(&tokens(text))).len();
        assert_eq!(count(effects, "println!(\"a\"); std::process::exit(1); eprint!(\"\")"), 3);
        assert_eq!(count(effects, "// println!(a)\nlet println = \"eprintln!()\"; writeln!(out)"), 0);
        assert_eq!(count(environment_uses, "use std::{env, fs}; std::env::var(\"A\"); use std::env::args;"), 3);
        assert_eq!(count(environment_uses, "std::env::consts::ARCH; env!(\"A\"); let env = 1;"), 0);
        assert_eq!(
            count(system_conditions, "#[cfg(target_os = \"linux\")] a; cfg!(windows); #[cfg_attr(unix, b)] c"),
            3
        );
        assert_eq!(
            count(system_conditions, "#[cfg(target_arch = \"x86_64\")] a; use std::os::unix::fs; let cfg = 1; cfg"),
            0
        );
        assert_eq!(count(mutable_statics, "static mut A: u8 = 0; static B: AtomicU64 = AtomicU64::new(0);"), 2);
        assert_eq!(count(mutable_statics, "static A: &[u8] = &[]; fn f(x: &'static Mutex<u8>) { }"), 0);
        assert_eq!(count(loose_ends, "todo!(); unimplemented!(); #[ignore = \"slow\"] fn f() {}"), 3);
        assert_eq!(count(loose_ends, "// todo!()\n#[must_use] fn ignore() {}"), 0);
        assert_eq!(count(loose_ends, "#[test] #[ignore = \"alone\"] #[cfg(unix)] fn child_that_dies() {}"), 0);
        assert_eq!(count(|code| occurrences(code, &["unsafe"]), "unsafe { a }; #[unsafe(naked)] fn f() {}"), 2);
        assert_eq!(count(|code| occurrences(code, &["unsafe"]), "#![forbid(unsafe_code)] // unsafe\n\"unsafe\""), 0);
        assert_eq!(count(|code| occurrences(code, &["Instant", "::", "now"]), "std::time::Instant::now()"), 1);
    }

    #[test]
    fn a_file_that_forbids_unsafe_code_is_recognised() {
        assert!(forbids_unsafe(&tokens("//! Doc.\n#![forbid(unsafe_code)]")));
        assert!(!forbids_unsafe(&tokens("//! #![forbid(unsafe_code)]\n#![deny(unsafe_code)]")));
    }

    #[test]
    #[should_panic(expected = "src/x.rs:7: bad")]
    fn a_complaint_fails_with_its_place() {
        let file = SourceFile { path: "src/x.rs".to_owned(), text: String::new() };
        hold(&[file], |_| vec![(7, "bad".to_owned())]);
    }
}
