//! Tests the rules of ARCHITECTURE.md that Cargo cannot check.

use crate::source::{
    self, SourceFile, Token, begins, group_end, paths_from, tokens, tokens_of_program,
};
use std::collections::{BTreeMap, BTreeSet};

/// Crates that may have unsafe code. All other crates forbid it in their first line of code.
const UNSAFE_CRATES: &[&str] = &["host", "kernels"];

/// Crates in import order, lowest first, each with the crates that its program code depends on.
const CRATES: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("stats", &["units"]),
    ("report", &["units"]),
    ("host", &["units", "report"]),
    ("assembly", &["units"]),
    ("kernels", &["units", "host", "assembly"]),
    ("engine", &["units", "stats", "report", "host", "kernels"]),
    ("verdict", &["units", "stats", "report"]),
    (
        "experiments",
        &[
            "units", "stats", "report", "host", "kernels", "engine", "verdict",
        ],
    ),
    (
        "storage",
        &[
            "units",
            "stats",
            "report",
            "host",
            "kernels",
            "engine",
            "experiments",
        ],
    ),
    (
        "gpu",
        &["units", "stats", "report", "host", "engine", "experiments"],
    ),
    ("gpu-driver", &["host"]),
    (
        "simulated",
        &[
            "units", "stats", "report", "host", "kernels", "engine", "storage",
        ],
    ),
    ("render", &["units", "stats", "report", "verdict"]),
    (
        "memgauge",
        &[
            "units",
            "stats",
            "report",
            "host",
            "kernels",
            "engine",
            "verdict",
            "experiments",
            "storage",
            "gpu",
            "render",
        ],
    ),
];

/// Complaints of a rule about a file: line and text of each.
type Complaints = Vec<(usize, String)>;

/// Name of the crate to which a path belongs: `host` for `crates/host/src/os/linux.rs`.
fn crate_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

/// Places at which `code` has these words in a row.
fn occurrences(code: &[Token], words: &[&str]) -> Complaints {
    let hits = (0..code.len()).filter(|at| begins(&code[*at..], words));
    hits.map(|at| (code[at].line, format!("`{}`", words.concat())))
        .collect()
}

/// Places with conditions on the operating system: `cfg(unix)`, `cfg!(windows)`,
/// `cfg_attr(target_os = "linux", ...)`.
fn system_conditions(code: &[Token]) -> Complaints {
    let systems = ["target_os", "target_family", "unix", "windows"];
    let mut complaints = Complaints::new();
    for at in 0..code.len() {
        let open = if begins(&code[at + 1..], &["!"]) {
            at + 2
        } else {
            at + 1
        };
        if !["cfg", "cfg_attr"].contains(&code[at].text.as_str())
            || !begins(&code[open.min(code.len())..], &["("])
        {
            continue;
        }
        let condition = &code[open..group_end(code, open)];
        for word in condition
            .iter()
            .filter(|word| systems.contains(&word.text.as_str()))
        {
            complaints.push((word.line, format!("a condition on `{}`", word.text)));
        }
    }
    complaints
}

/// Places that use the environment. The constants of `std::env::consts` do not count, because they
/// are known when the program is built.
fn environment_uses(code: &[Token]) -> Complaints {
    let mut complaints = Complaints::new();
    for at in (0..code.len()).filter(|at| begins(&code[*at..], &["std", "::"])) {
        for path in paths_from(code, at) {
            if path.get(1).is_some_and(|p| p == "env") && path.get(2).is_none_or(|p| p != "consts")
            {
                complaints.push((code[at].line, format!("`{}`", path.join("::"))));
            }
        }
    }
    complaints
}

/// Places that write to the terminal or exit the program.
fn effects(code: &[Token]) -> Complaints {
    let mut complaints = occurrences(code, &["process", "::", "exit"]);
    for name in ["print", "println", "eprint", "eprintln", "dbg"] {
        complaints.extend(occurrences(code, &[name, "!"]));
    }
    complaints
}

/// Places with mutable statics: `static mut`, and types with interior mutability.
fn mutable_statics(code: &[Token]) -> Complaints {
    let changing = |name: &str| {
        name.starts_with("Atomic") || ["Mutex", "RwLock", "RefCell", "Cell"].contains(&name)
    };
    let mut complaints = occurrences(code, &["static", "mut"]);
    for at in (0..code.len()).filter(|at| code[*at].text == "static") {
        let kind = code[at..]
            .iter()
            .take_while(|t| !["=", ";", ")", ">", "{"].contains(&t.text.as_str()));
        if let Some(word) = kind.into_iter().find(|t| changing(&t.text)) {
            complaints.push((
                code[at].line,
                format!("a static that can change: `{}`", word.text),
            ));
        }
    }
    complaints
}

/// Places with unfinished work: empty bodies, and tests that nobody runs. An ignored test must be
/// started by another test in a process of its own (`child_...`), or write files for other tests
/// (`renew_...`).
fn loose_ends(code: &[Token]) -> Complaints {
    let mut complaints = occurrences(code, &["todo", "!"]);
    complaints.extend(occurrences(code, &["unimplemented", "!"]));
    for at in (0..code.len()).filter(|at| begins(&code[*at..], &["#", "[", "ignore"])) {
        let name = code[at..]
            .iter()
            .skip_while(|t| t.text != "fn")
            .nth(1)
            .map_or("", |t| t.text.as_str());
        if !["child_", "renew_"]
            .iter()
            .any(|role| name.starts_with(role))
        {
            complaints.push((
                code[at].line,
                format!("an ignored test that nothing runs: `{name}`"),
            ));
        }
    }
    complaints
}

/// True if `code`, the first file of a crate, forbids unsafe code for the whole crate.
fn forbids_unsafe(code: &[Token]) -> bool {
    (0..code.len()).any(|at| begins(&code[at..], &["#", "!", "[", "forbid", "(", "unsafe_code"]))
}

/// Applies `rule` to every file of `files`, and fails with all complaints and their places.
fn hold(files: &[SourceFile], rule: impl Fn(&SourceFile) -> Complaints) {
    assert!(!files.is_empty(), "no source was found");
    let mut all = Vec::new();
    for file in files {
        all.extend(
            rule(file)
                .into_iter()
                .map(|(line, what)| format!("{}:{line}: {what}", file.path)),
        );
    }
    assert!(
        all.is_empty(),
        "\n{}\n(ARCHITECTURE.md says what belongs where)",
        all.join("\n")
    );
}

/// Crates of the workspace that a manifest depends on outside tests. All sections of dependencies
/// count, for every target and under every name, except development dependencies.
fn built_with<'a>(manifest: &'a str, crates: &BTreeSet<&str>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut counts = false;
    for line in manifest.lines().map(str::trim) {
        let is_header = line.starts_with('[');
        if is_header {
            counts = line.contains("dependencies") && !line.contains("dev-dependencies");
        }
        if !counts {
            continue;
        }
        let code = line.split('#').next().unwrap_or_default();
        // A feature may have the name of a crate.
        let code = code.split("features").next().unwrap_or_default();
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
        let names = words.map(|word| word.strip_prefix("memgauge-").unwrap_or(word));
        found.extend(names.filter(|name| crates.contains(name)));
    }
    found
}

/// The manifests of the crates, by the name of their folder.
fn manifests() -> BTreeMap<String, String> {
    let folders = std::fs::read_dir(source::workspace().join("crates")).expect("the crates");
    folders
        .map(|folder| folder.expect("a crate"))
        .map(|folder| {
            let name = folder.file_name().to_string_lossy().into_owned();
            let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml"));
            (name, manifest.expect("the manifest of a crate"))
        })
        .collect()
}

/// Source files of the crates, without integration tests and examples.
fn sources() -> Vec<SourceFile> {
    source::files()
        .into_iter()
        .filter(|file| file.path.contains("/src/"))
        .collect()
}

/// Code of `file` that is part of the program; empty for a file of tests.
fn program_code(file: &SourceFile) -> Vec<Token> {
    if is_test_file(&file.path) {
        Vec::new()
    } else {
        tokens_of_program(&file.text)
    }
}

/// Applies `rule` to the program's code outside `homes`, which are prefixes of paths.
fn hold_outside(homes: &[&str], rule: fn(&[Token]) -> Complaints) {
    hold(&sources(), |file| {
        if homes.iter().any(|home| file.path.starts_with(home)) {
            return Complaints::new();
        }
        rule(&program_code(file))
    });
}

#[test]
fn each_crate_is_built_with_the_crates_below_it_only() {
    let manifests = manifests();
    let crates: BTreeSet<&str> = manifests.keys().map(String::as_str).collect();
    let listed: BTreeSet<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    assert_eq!(crates, listed);
    for (at, (name, allowed)) in CRATES.iter().enumerate() {
        let below: BTreeSet<&str> = CRATES[..at].iter().map(|(name, _)| *name).collect();
        let allowed: BTreeSet<&str> = allowed.iter().copied().collect();
        assert!(allowed.is_subset(&below), "{name}: not the import order");
        assert_eq!(built_with(&manifests[*name], &crates), allowed, "{name}");
    }
}

#[test]
fn the_program_is_built_without_the_simulated_machine() {
    let manifests = manifests();
    let crates: BTreeSet<&str> = manifests.keys().map(String::as_str).collect();
    let mut reached = BTreeSet::new();
    let mut next = vec!["memgauge"];
    while let Some(name) = next.pop() {
        if reached.insert(name) {
            next.extend(built_with(&manifests[name], &crates));
        }
    }
    assert!(reached.contains("kernels"), "{reached:?}");
    assert!(!reached.contains("simulated"), "{reached:?}");
}

/// `.ci/run` builds the program without storage and GPUs. This test checks which crates are then
/// left out.
#[test]
fn storage_can_be_left_out() {
    let manifests = manifests();
    let line = |name: &str, wanted: &str| {
        manifests[name]
            .lines()
            .any(|line| line.replace(' ', "") == wanted)
    };
    assert!(line("memgauge", "storage={workspace=true,optional=true}"));
    assert!(line(
        "memgauge",
        "storage=[\"dep:storage\",\"host/storage\"]"
    ));
    assert!(line("host", "io-uring={workspace=true,optional=true}"));
    // GPUs can be left out too.
    assert!(line("memgauge", "gpu={workspace=true,optional=true}"));
    assert!(line(
        "memgauge",
        "gpu=[\"dep:gpu\",\"dep:miniz_oxide\",\"host/gpu\"]"
    ));
    assert!(line("host", "libloading={workspace=true,optional=true}"));
    let below = ["engine", "verdict", "experiments", "render"];
    for name in below {
        let words = manifests[name].replace("-", "_");
        assert!(!words.contains("storage"), "{name}");
    }
    // The engine has no names about storage.
    for file in sources()
        .iter()
        .filter(|file| crate_of(&file.path) == "engine")
    {
        // This name is a field of the report, which the engine fills in.
        let is_allowed = |word: &str| word == "storage" && file.path.ends_with("summary.rs");
        let named = program_code(file).into_iter().find(|word| {
            let is_of_storage =
                ["storage", "Storage", "IoWork", "IoFile"].contains(&word.text.as_str());
            is_of_storage && !is_allowed(&word.text)
        });
        assert!(named.is_none(), "{}: {named:?}", file.path);
    }
}

#[test]
fn unsafe_code_stays_in_its_crates() {
    hold(&sources(), |file| {
        if UNSAFE_CRATES.contains(&crate_of(&file.path)) {
            return Complaints::new();
        }
        occurrences(&tokens(&file.text), &["unsafe"])
    });
}

#[test]
fn other_crates_forbid_unsafe_code() {
    hold(&sources(), |file| {
        let is_root = file.path.ends_with("/src/lib.rs");
        let may_be_unsafe = UNSAFE_CRATES.contains(&crate_of(&file.path));
        if is_root && !may_be_unsafe && !forbids_unsafe(&tokens(&file.text)) {
            return vec![(1, "starts without `#![forbid(unsafe_code)]`".to_owned())];
        }
        Complaints::new()
    });
}

#[test]
fn systems_are_told_apart_in_one_place() {
    hold_outside(&["crates/host/src/os"], system_conditions);
}

#[test]
fn the_clock_has_one_home() {
    hold_outside(
        &["crates/host/src/counter.rs", "crates/host/src/os"],
        |code| occurrences(code, &["Instant", "::", "now"]),
    );
}

#[test]
fn only_the_command_line_reads_the_environment() {
    hold_outside(
        &["crates/memgauge/src/cli", "crates/memgauge/src/main.rs"],
        environment_uses,
    );
}

#[test]
fn only_the_command_line_prints_and_exits() {
    hold_outside(
        &["crates/memgauge/src/cli", "crates/memgauge/src/main.rs"],
        effects,
    );
}

#[test]
fn nothing_is_kept_in_statics_that_change() {
    hold_outside(&[], mutable_statics);
}

#[test]
fn no_loose_ends() {
    hold(&source::files(), |file| loose_ends(&tokens(&file.text)));
}

/// Each rule is tested with a breach, and with code that only looks like one.
mod rules {
    use super::*;

    #[test]
    fn files_know_their_crate() {
        assert_eq!(crate_of("crates/host/src/os/linux.rs"), "host");
        assert!(is_test_file("crates/host/src/facts/tests/mod.rs"));
        assert!(!is_test_file("crates/host/src/facts/mod.rs"));
    }

    #[test]
    fn crates_are_found_in_every_section_that_the_program_is_built_with() {
        let crates = BTreeSet::from(["engine", "simulated", "units"]);
        let found = |manifest: &'static str| built_with(manifest, &crates);
        for manifest in [
            "[dependencies]\nsimulated.workspace = true",
            "[dependencies]\nsimulated = { workspace = true, optional = true }",
            "[dependencies]\nother = { package = \"memgauge-simulated\", path = \"x\" }",
            "[dependencies]\nother = { path = \"../simulated\" }",
            "[dependencies.simulated]\nworkspace = true",
            "[build-dependencies]\nsimulated.workspace = true",
            "[target.'cfg(unix)'.dependencies]\nsimulated.workspace = true",
        ] {
            assert_eq!(found(manifest), BTreeSet::from(["simulated"]), "{manifest}");
        }
        for manifest in [
            "[package]\nname = \"memgauge-simulated\"",
            "[dependencies]\n# simulated.workspace = true",
            "[dependencies]\nclap.workspace = true\n[dev-dependencies]\nsimulated.workspace = true",
            "[target.'cfg(unix)'.dev-dependencies]\nsimulated.workspace = true",
        ] {
            assert!(found(manifest).is_empty(), "{manifest}");
        }
    }

    #[test]
    fn words_with_one_home_are_found() {
        let count = |rule: fn(&[Token]) -> Complaints, text: &str| rule(&tokens(text)).len();
        assert_eq!(
            count(
                effects,
                "println!(\"a\"); std::process::exit(1); eprint!(\"\")"
            ),
            3
        );
        assert_eq!(
            count(
                effects,
                "// println!(a)\nlet println = \"eprintln!()\"; writeln!(out)"
            ),
            0
        );
        assert_eq!(
            count(
                environment_uses,
                "use std::{env, fs}; std::env::var(\"A\"); use std::env::args;"
            ),
            3
        );
        assert_eq!(
            count(
                environment_uses,
                "std::env::consts::ARCH; env!(\"A\"); let env = 1;"
            ),
            0
        );
        assert_eq!(
            count(
                system_conditions,
                "#[cfg(target_os = \"linux\")] a; cfg!(windows); #[cfg_attr(unix, b)] c"
            ),
            3
        );
        assert_eq!(
            count(
                system_conditions,
                "#[cfg(target_arch = \"x86_64\")] a; use std::os::unix::fs; let cfg = 1; cfg"
            ),
            0
        );
        assert_eq!(
            count(
                mutable_statics,
                "static mut A: u8 = 0; static B: AtomicU64 = AtomicU64::new(0);"
            ),
            2
        );
        assert_eq!(
            count(
                mutable_statics,
                "static A: &[u8] = &[]; fn f(x: &'static Mutex<u8>) { }"
            ),
            0
        );
        assert_eq!(
            count(
                loose_ends,
                "todo!(); unimplemented!(); #[ignore = \"slow\"] fn f() {}"
            ),
            3
        );
        assert_eq!(
            count(loose_ends, "// todo!()\n#[must_use] fn ignore() {}"),
            0
        );
        assert_eq!(
            count(
                loose_ends,
                "#[test] #[ignore = \"alone\"] #[cfg(unix)] fn child_that_dies() {}"
            ),
            0
        );
        assert_eq!(
            count(
                |code| occurrences(code, &["unsafe"]),
                "unsafe { a }; #[unsafe(naked)] fn f() {}"
            ),
            2
        );
        assert_eq!(
            count(
                |code| occurrences(code, &["unsafe"]),
                "#![forbid(unsafe_code)] // unsafe\n\"unsafe\""
            ),
            0
        );
        assert_eq!(
            count(
                |code| occurrences(code, &["Instant", "::", "now"]),
                "std::time::Instant::now()"
            ),
            1
        );
    }

    #[test]
    fn a_file_that_forbids_unsafe_code_is_recognised() {
        assert!(forbids_unsafe(&tokens("//! Doc.\n#![forbid(unsafe_code)]")));
        assert!(!forbids_unsafe(&tokens(
            "//! #![forbid(unsafe_code)]\n#![deny(unsafe_code)]"
        )));
    }

    #[test]
    #[should_panic(expected = "src/x.rs:7: bad")]
    fn a_complaint_fails_with_its_place() {
        let file = SourceFile {
            path: "src/x.rs".to_owned(),
            text: String::new(),
        };
        hold(&[file], |_| vec![(7, "bad".to_owned())]);
    }
}

#[test]
fn lines_have_at_most_120_columns() {
    let complaints = |file: &SourceFile| -> Complaints {
        let lines = file.text.lines().enumerate();
        lines
            .filter(|(_, line)| line.chars().count() > 120)
            .map(|(at, _)| (at + 1, "a line of more than 120 columns".to_owned()))
            .collect()
    };
    hold(&source::files(), complaints);
}
