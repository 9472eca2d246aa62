//! Compares the committed copies of generated documents with the current output of the program.
//!
//! `cargo test --test it renew_generated_files -- --ignored` writes the copies.

use crate::helper::{folder, names, read, typed};
use render::{NamedReport, machines_in_markdown};
use report::read_saved;
use std::path::PathBuf;

/// Arguments of `memgauge generate`, each with the file that has its output.
const GENERATED: &[(&str, &str)] = &[
    ("man", "docs/memgauge.1"),
    ("kernels", "docs/kernels.md"),
    ("columns", "docs/csv-columns.md"),
    ("completions bash", "docs/completions/memgauge.bash"),
    ("completions zsh", "docs/completions/_memgauge"),
    ("completions fish", "docs/completions/memgauge.fish"),
];

/// Instruction set of the page of kernels, because kernels differ between instruction sets.
const KERNELS_OF: &str = "x86_64";

fn path(file: &str) -> PathBuf {
    crate::source::workspace().join(file)
}

/// Current output of the program, for each file that can be compared on this machine.
fn generated() -> impl Iterator<Item = (&'static str, String)> {
    let here =
        |(what, _): &&(&str, &str)| *what != "kernels" || std::env::consts::ARCH == KERNELS_OF;
    GENERATED.iter().filter(here).map(|(what, file)| {
        let run = typed(&format!("generate {what}"), folder().path());
        assert!(
            run.code == Some(0) && run.stderr.is_empty() && !run.stdout.is_empty(),
            "{what}: {run:?}"
        );
        (*file, run.stdout)
    })
}

#[test]
fn committed_copies_are_what_the_program_prints() {
    let differs = |(file, text): &(&str, String)| {
        let kept = std::fs::read_to_string(path(file))
            .unwrap_or_default()
            .replace("\r\n", "\n");
        kept != *text
    };
    let stale: Vec<&str> = generated().filter(differs).map(|(file, _)| file).collect();
    assert!(
        stale.is_empty(),
        "out of date: {stale:?}; cargo test --test it renew_generated_files -- --ignored"
    );
}

#[test]
fn every_option_is_in_the_man_page_and_the_completions() {
    let help = typed("bandwidth --help", folder().path()).stdout;
    let options: Vec<&str> = help
        .split_whitespace()
        .filter(|w| w.starts_with("--"))
        .collect();
    assert!(options.len() > 10, "{help}");
    for file in [
        "docs/memgauge.1",
        "docs/completions/memgauge.bash",
        "docs/completions/_memgauge",
    ] {
        // In roff, a hyphen that can be copied is written as `\-`.
        let text = std::fs::read_to_string(path(file))
            .expect("a generated file")
            .replace("\\-", "-");
        for option in &options {
            let option = option.trim_end_matches([',', ';', ']', ')']);
            assert!(text.contains(option), "{file} lacks {option}");
        }
    }
}

/// The usage page with the program's exit codes. The table follows its heading and a comment.
fn usage() -> String {
    const HEADING: &str = "## Exit codes\n";
    let text = std::fs::read_to_string(path("docs/usage.md"))
        .expect("a usage page")
        .replace("\r\n", "\n");
    let (before, after) = text.split_once(HEADING).expect("a section on exit codes");
    let (comment, rest) = after.split_once("-->\n").expect("a comment");
    let rest = rest.find("\n## ").map_or("", |next| &rest[next..]);
    format!(
        "{before}{HEADING}{comment}-->\n\n{}{rest}",
        memgauge::cli::exit_codes_in_markdown()
    )
}

#[test]
fn the_usage_page_and_the_man_page_have_all_exit_codes() {
    let kept = std::fs::read_to_string(path("docs/usage.md"))
        .expect("a usage page")
        .replace("\r\n", "\n");
    assert!(
        kept == usage(),
        "out of date; cargo test --test it renew_generated_files -- --ignored"
    );
    let page = std::fs::read_to_string(path("docs/memgauge.1"))
        .expect("a page")
        .replace("\\-", "-");
    let help = typed("--help", folder().path()).stdout;
    for row in memgauge::cli::EXIT_CODES {
        assert!(
            page.contains(&format!("\n{}\n{}: {}\n", row.code, row.name, row.meaning)),
            "{row:?}"
        );
        assert!(help.contains(&format!("{}: ", row.name)), "{row:?}");
    }
}

/// Folder of the collection of shared reports, and the page about them.
const RESULTS: &str = "docs/results";
const RESULTS_PAGE: &str = "docs/results/README.md";

/// The shared reports of the collection, sorted by name.
fn results() -> Vec<NamedReport> {
    let files = names(&path(RESULTS));
    let files = files.iter().filter(|name| name.ends_with(".json"));
    let read = |name: &String| NamedReport {
        name: name.trim_end_matches(".json").to_owned(),
        report: read_saved(&path(RESULTS).join(name))
            .expect("a report")
            .into_report(),
    };
    files.map(read).collect()
}

/// The page of the collection, with the current table of its machines.
fn results_page() -> String {
    const HEADING: &str = "## Machines\n";
    let text = read(&path(RESULTS_PAGE)).replace("\r\n", "\n");
    let (before, after) = text.split_once(HEADING).expect("a section on machines");
    let (comment, rest) = after.split_once("-->\n").expect("a comment");
    let rest = rest.find("\n## ").map_or("", |next| &rest[next..]);
    let results = results();
    let file = |one: &NamedReport| {
        let name = format!("{}.json", one.name);
        let length = read(&path(RESULTS).join(&name)).replace("\r\n", "\n").len();
        format!("- [{name}]({name}), {} kB\n", length / 1000)
    };
    let files: String = results.iter().map(file).collect();
    format!(
        "{before}{HEADING}{comment}-->\n\n{}\n{files}{rest}",
        machines_in_markdown(&results)
    )
}

#[test]
fn the_page_of_results_is_made_from_the_collection() {
    let kept = read(&path(RESULTS_PAGE)).replace("\r\n", "\n");
    assert!(
        kept == results_page(),
        "out of date; cargo test --test it renew_generated_files -- --ignored"
    );
}

#[test]
fn the_collection_has_shared_reports_only() {
    let results = results();
    assert!(!results.is_empty());
    for one in results {
        let shared = report::shared(&one.report, &[]).expect("a report");
        assert!(shared == one.report, "{}: not made with --share", one.name);
    }
}

#[test]
#[ignore = "writes the files that the other tests compare with"]
fn renew_generated_files() {
    for (file, text) in generated() {
        let path = path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
    std::fs::write(path("docs/usage.md"), usage()).expect("the page can be written");
    std::fs::write(path(RESULTS_PAGE), results_page()).expect("the page can be written");
    std::fs::write(path("docs/messages.md"), crate::prose::page())
        .expect("the page can be written");
}
