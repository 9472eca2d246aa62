//! Tests that the program accepts every command in the documents.

use crate::helper::{Finished, folder, memgauge, put, read};
use std::collections::BTreeSet;

/// Documents with commands, and the least number of commands in each.
const DOCUMENTS: [(&str, usize); 5] = [
    ("README.md", 10),
    ("docs/usage.md", 35),
    ("docs/coming-from.md", 70),
    ("docs/results/README.md", 5),
    ("docs/fleets.md", 5),
];

/// Commands that make no plan, to which no `--dry-run` is added.
const WITHOUT_PLAN: [&str; 5] = ["list", "report", "compare", "fleet", "generate"];

/// Exit code of a request that the program cannot parse.
const USAGE: i32 = 2;

/// Refusals of a valid command: the folder has no such file, or the machine lacks something.
const LACKS: [&str; 8] = [
    "cannot read the expectations",
    "cannot read the report",
    "cannot read the trace",
    "no such device",
    "no such run",
    "not available",
    "too many threads",
    "too much memory",
];

/// The commands in `text`: code quoted within a line, and the beginnings of lines between fences.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced
        } else if fenced {
            found.push(line)
        } else {
            found.extend(line.split('`').skip(1).step_by(2))
        }
    }
    let is_command = |code: &&str| *code == "memgauge" || code.starts_with("memgauge ");
    found
        .into_iter()
        .filter(is_command)
        .map(str::to_owned)
        .collect()
}

/// The words of a command as users type them. Text after two blanks is an explanation and is left
/// out.
fn words(command: &str) -> Vec<String> {
    let typed = command.split("  ").next().unwrap_or_default();
    let mut words = Vec::new();
    for (index, part) in typed.split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(
                part.split_whitespace()
                    .skip(usize::from(index == 0))
                    .map(str::to_owned),
            );
        }
    }
    words
}

/// Every command that `words` stand for. `a|b` means one of several words, `...` means any words
/// before or after.
fn readings(words: &[String]) -> Vec<Vec<String>> {
    let mut readings = vec![Vec::new()];
    for word in words
        .iter()
        .map(|word| word.trim_end_matches("..."))
        .filter(|word| !word.is_empty())
    {
        let choices = word.split('|');
        readings = choices
            .flat_map(|choice| {
                readings
                    .iter()
                    .map(move |before| [before.clone(), vec![choice.to_owned()]].concat())
            })
            .collect();
    }
    readings
}

/// Runs the program with `words` in a folder with a file called FILE. A command with a plan only
/// prints the plan.
fn tried(words: &[String]) -> Finished {
    let folder = folder();
    put(folder.path(), "FILE", &[1; 1 << 20]);
    // In the documents, NAME stands for a kernel.
    let typed = words
        .iter()
        .map(|word| if word == "NAME" { "chase" } else { word });
    let mut typed: Vec<&str> = typed.collect();
    if !WITHOUT_PLAN.contains(typed.first().unwrap_or(&"")) && !typed.contains(&"--dry-run") {
        typed.push("--dry-run");
    }
    memgauge(&typed, folder.path())
}

/// True if the program understood the request.
fn is_understood(finished: &Finished) -> bool {
    let lacks = LACKS.iter().any(|what| finished.stderr.contains(what));
    !finished.panicked() && (lacks || finished.code.is_some_and(|code| code != USAGE))
}

/// All commands of the documents, each once, as the words after the name of the program.
fn documented() -> BTreeSet<Vec<String>> {
    let mut all = BTreeSet::new();
    for (name, least) in DOCUMENTS {
        let text = read(&crate::source::workspace().join(name));
        let here: BTreeSet<_> = commands(&text)
            .iter()
            .flat_map(|command| readings(&words(command)))
            .collect();
        assert!(here.len() >= least, "{name}: {here:?}");
        all.extend(here);
    }
    // The program without arguments is among the commands. It would take a minute, but only its
    // plan is made.
    assert!(all.contains(&Vec::new()), "{all:?}");
    all
}

/// Commands of the program, as its help lists them.
fn listed_commands() -> Vec<String> {
    let help = memgauge(&["--help"], folder().path()).stdout;
    let (_, list) = help.split_once("Commands:\n").expect("a list of commands");
    let (list, _) = list.split_once("\n\n").expect("the end of the list");
    let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let names = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(name)
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn every_command_has_an_example_that_is_understood() {
    let names = listed_commands();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let help = memgauge(&[&name, "--help"], folder().path()).stdout;
        let (_, example) = help
            .split_once("\nExample:\n  memgauge ")
            .expect("an example");
        let example = example.lines().next().unwrap_or_default();
        let typed = words(&format!("memgauge {example}"));
        assert_eq!(typed.first(), Some(&name), "{example}");
        let finished = tried(&typed);
        assert!(is_understood(&finished), "{example}: {finished:?}");
    }
}

#[test]
fn every_documented_command_is_understood() {
    let mut refused = Vec::new();
    for words in documented() {
        let finished = tried(&words);
        if !is_understood(&finished) {
            refused.push(format!(
                "memgauge {}: {:?}: {}",
                words.join(" "),
                finished.code,
                finished.stderr
            ));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Tests the same commands with an unknown option, because no exception above may hide it.
#[test]
fn an_option_that_does_not_exist_is_seen_in_every_documented_command() {
    let misspelled = |words: &Vec<String>| {
        [
            words.clone(),
            vec!["--sizzes".to_owned(), "4KiB".to_owned()],
        ]
        .concat()
    };
    let taken: Vec<Vec<String>> = documented()
        .iter()
        .map(misspelled)
        .filter(|words| is_understood(&tried(words)))
        .collect();
    assert!(taken.is_empty(), "{taken:?}");
}

#[test]
fn commands_are_found_in_text() {
    let text = "`memgauge io FILE` and `other`, `memgauge`\n```\nmemgauge list a|b x...   why \
         `memgauge no`\nelse\n```\n";
    assert_eq!(
        commands(text),
        [
            "memgauge io FILE",
            "memgauge",
            "memgauge list a|b x...   why `memgauge no`"
        ]
    );
    assert_eq!(
        words("memgauge report x --title \"my machine\" -o y  why"),
        ["report", "x", "--title", "my machine", "-o", "y"]
    );
    let read = readings(&words("memgauge list a|b x..."));
    assert_eq!(read, [["list", "a", "x"], ["list", "b", "x"]]);
}
