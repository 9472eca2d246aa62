//! Tests that every option of every experiment changes the plan, or is declared to have no effect
//! with certain other options.

use super::lab::{self, request};
use super::machines;
use clap::Command;
use experiments::EXPERIMENTS;
use std::collections::BTreeSet;
use std::thread;

/// Other options, and an option with a value that is added to them.
type Row = [&'static str; 2];

/// The command of each experiment, with rows for all of its options.
const TRIED: &[(&str, &[Row])] = &[
    (
        "bandwidth",
        &[
            ["", "--ops read-nt"],
            ["", "--sizes 8KiB"],
            ["", "--threads 2"],
            ["", "--width 128"],
            ["", "--pages 4k"],
            ["", "--prefetch-distance 512"],
            ["--ops read-prefetch,read", "--prefetch-distance 512"],
            ["", "--memory-nodes 1"],
        ],
    ),
    (
        "latency",
        &[
            ["", "--sizes 8KiB"],
            ["--sizes 1MiB", "--stride 128"],
            ["", "--pages 4k"],
            ["", "--chain-mode sequential"],
            ["", "--locality 64KiB"],
            ["--chain-mode random-box", "--locality 64KiB"],
            ["", "--chains 4"],
            ["", "--payload"],
            ["", "--windows 1000"],
            ["", "--window 20us"],
            ["--windows 1000", "--window 20us"],
            ["", "--threads 2"],
            ["", "--region shared"],
            ["--threads 2", "--region shared"],
            ["", "--shared"],
            ["--threads 2", "--shared"],
            ["", "--cpus 1"],
            ["--threads 2", "--cpus 2,3"],
            ["", "--memory-nodes 1"],
        ],
    ),
    (
        "scaling",
        &[
            ["", "--ops write"],
            ["", "--threads 2"],
            ["", "--placement compact"],
            ["", "--oversubscribe"],
            ["", "--sizes 1MiB"],
            ["", "--model-size 8GB"],
            ["", "--width 128"],
            ["", "--pages 4k"],
        ],
    ),
    (
        "patterns",
        &[
            ["", "--ops read"],
            ["", "--orders random"],
            ["", "--stride 128"],
            ["--orders forward,random", "--stride 128"],
            ["", "--blocks 128"],
            ["--orders forward,strided", "--blocks 128"],
            ["", "--sizes 1MiB"],
            ["", "--threads 2"],
            ["", "--width 128"],
            ["", "--pages 4k"],
        ],
    ),
    (
        "core-to-core",
        &[
            ["", "--kernel exchange"],
            ["", "--pairs 0-1"],
            ["", "--lines 128"],
            ["", "--windows 1000"],
            ["", "--window 20us"],
            ["--windows 1000", "--window 20us"],
        ],
    ),
    (
        "numa",
        &[
            ["", "--measure latency"],
            ["", "--ops write"],
            ["--measure latency", "--ops write"],
            ["", "--cpu-nodes 0"],
            ["", "--memory-nodes 0"],
            ["", "--threads 1"],
            ["--measure latency", "--threads 1"],
            ["", "--pages 4k"],
            ["", "--sizes 1MiB"],
            ["", "--interleave none"],
            ["--measure latency", "--interleave none"],
        ],
    ),
    (
        "locks",
        &[
            ["", "--ops fence"],
            ["", "--threads 2"],
            ["", "--lines shared"],
            ["--threads 1", "--lines shared"],
            ["", "--inside 10"],
            ["", "--between 10"],
        ],
    ),
    (
        "loaded-latency",
        &[
            ["", "--mixes 50:50"],
            ["", "--pauses 0,512"],
            ["", "--points 8"],
            ["", "--cpus 1"],
            ["", "--traffic-cpus 1"],
            ["", "--threads 1"],
            ["--writers 1", "--readers 1"],
            ["--readers 1", "--writers 1"],
            ["", "--pages 4k"],
            ["", "--sizes 64MiB"],
            ["", "--memory-nodes 1"],
            ["", "--victim 0"],
            ["", "--aggressor 1"],
            ["--victim 0", "--aggressor 1"],
        ],
    ),
    (
        "tlb",
        &[
            ["", "--pages 4k"],
            ["", "--density low"],
            ["", "--max-pages 64"],
            ["", "--cpus 1"],
        ],
    ),
    (
        "caches",
        &[
            ["", "--pages 4k"],
            ["", "--density low"],
            ["", "--max-size 1MiB"],
            ["", "--cpus 1"],
        ],
    ),
    (
        "instructions",
        &[
            ["", "--ops add"],
            ["", "--timing latency"],
            ["", "--cpus 1"],
        ],
    ),
];

/// Plans each row without and with the option. Checks that the option changes the plan, and that
/// every option of the command is in a row.
fn hold(name: &str, rows: &[Row]) {
    let on = machines::two_sockets();
    let planned = |options: &str| {
        let experiments = lab::command(name, options).experiments;
        let plan = lab::plan(&on, request(experiments, &on));
        plan.map_or_else(
            |error| format!("refused: {error}"),
            |plan| format!("{:?} {:?}", plan.points, plan.phases),
        )
    };
    for [beside, option] in rows {
        let both = format!("{beside} {option}");
        let option = option
            .split(' ')
            .next()
            .and_then(|word| word.strip_prefix("--"))
            .expect("an option");
        let effects = lab::command(name, &both).effects;
        let effect = effects.iter().find(|effect| effect.option == option);
        let applies = effect.is_none_or(|effect| effect.applies);
        let without = planned(beside);
        let with = planned(&both);
        assert!(
            !without.starts_with("refused"),
            "{name} {beside}: {without}"
        );
        assert!(!with.starts_with("refused"), "{name} {both}: {with}");
        // `--model-size` changes only findings, so the plan may stay the same.
        let found_later = option == "model-size";
        assert_eq!(without != with || found_later, applies, "{name} {both}");
    }
    let command = EXPERIMENTS
        .iter()
        .find(|row| row.name == name)
        .and_then(|row| row.command.as_ref())
        .expect("a command");
    let command = (command.add_options)(Command::new("test"));
    let all: BTreeSet<String> = command
        .get_arguments()
        .filter_map(|a| a.get_long())
        .map(|n| format!("--{n}"))
        .collect();
    let tried: BTreeSet<String> = rows
        .iter()
        .filter_map(|row| row[1].split(' ').next())
        .map(str::to_owned)
        .collect();
    assert_eq!(all, tried, "{name}");
}

#[test]
fn every_option_of_an_experiment_has_an_effect() {
    let commands: BTreeSet<&str> = EXPERIMENTS
        .iter()
        .filter(|row| row.command.is_some())
        .map(|row| row.name)
        .collect();
    assert_eq!(commands, TRIED.iter().map(|(name, _)| *name).collect());
    thread::scope(|scope| {
        for (name, rows) in TRIED {
            scope.spawn(|| hold(name, rows));
        }
    });
}
