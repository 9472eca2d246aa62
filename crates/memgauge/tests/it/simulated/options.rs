//! Every option of every experiment changes the plan, or is declared to change nothing beside the
//! others.

use super::lab::{self, request};
use super::machines;
use clap::{Args, Command, FromArgMatches};
use experiments::{
    CommandSettings, Effects, Experiment, bandwidth, caches, core_to_core, instructions, latency,
    loaded_latency, locks, numa, patterns, scaling, tlb,
};
use std::collections::BTreeSet;

/// An option with a value beside others.
type Row = [&'static str; 2];

/// Plans for each row without and with the option; every option of the settings is in a row.
fn hold<S: Args + FromArgMatches + Effects>(make: fn(S) -> Vec<Box<dyn Experiment>>, rows: &[Row]) {
    let on = machines::two_sockets();
    let planned = |options: &str| {
        let plan = lab::plan(&on, request(make(lab::parse(options)), &on));
        plan.map_or_else(
            |error| format!("refused: {error}"),
            |plan| format!("{:?} {:?}", plan.points, plan.phases),
        )
    };
    for [beside, option] in rows {
        let both = format!("{beside} {option}");
        let settings: S = lab::parse(&both);
        let name = option
            .split(' ')
            .next()
            .and_then(|word| word.strip_prefix("--"))
            .expect("an option");
        let rule = S::EFFECTS.iter().find(|effect| effect.option == name);
        let applies = rule.is_none_or(|rule| (rule.applies)(&settings));
        let without = planned(beside);
        let with = planned(&both);
        assert!(!without.starts_with("refused"), "{beside}: {without}");
        assert!(!with.starts_with("refused"), "{both}: {with}");
        // A ceiling on tokens is found in what is measured all the same.
        let found_later = name == "model-size";
        assert_eq!(without != with || found_later, applies, "{both}");
    }
    let command = S::augment_args(Command::new("test"));
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
    assert_eq!(all, tried);
}

fn one(experiment: impl Experiment + 'static) -> Vec<Box<dyn Experiment>> {
    vec![Box::new(experiment)]
}

#[test]
fn bandwidth_options() {
    hold::<bandwidth::Settings>(
        |s| one(bandwidth::Bandwidth::new(s)),
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
    );
}

#[test]
fn latency_options() {
    hold::<latency::Settings>(
        |s| one(latency::Latency::new(s)),
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
    );
}

#[test]
fn options_of_scaling_and_patterns() {
    hold::<scaling::Settings>(
        |s| one(scaling::Scaling::new(s)),
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
    );
    hold::<patterns::Settings>(
        |s| one(patterns::Patterns::new(s)),
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
    );
}

#[test]
fn options_between_cores_and_nodes() {
    hold::<core_to_core::Settings>(
        |s| one(core_to_core::CoreToCore::new(s)),
        &[
            ["", "--kernel exchange"],
            ["", "--pairs 0-1"],
            ["", "--lines 128"],
            ["", "--windows 1000"],
            ["", "--window 20us"],
            ["--windows 1000", "--window 20us"],
        ],
    );
    hold::<numa::Settings>(
        numa::Settings::experiments,
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
    );
    hold::<locks::Settings>(
        |s| one(locks::Locks::new(s)),
        &[
            ["", "--ops fence"],
            ["", "--threads 2"],
            ["", "--lines shared"],
            ["--threads 1", "--lines shared"],
            ["", "--inside 10"],
            ["", "--between 10"],
        ],
    );
}

#[test]
fn loaded_latency_options() {
    hold::<loaded_latency::Settings>(
        |s| match &s.victim {
            Some(_) => loaded_latency::Tenants::both(&s)
                .map(|side| Box::new(side) as Box<dyn Experiment>)
                .into(),
            None => one(loaded_latency::LoadedLatency::new(s)),
        },
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
            ["", "--bully 1"],
            ["--victim 0", "--bully 1"],
        ],
    );
}

#[test]
fn options_of_one_core() {
    hold::<tlb::Settings>(
        |s| one(tlb::Tlb::new(s)),
        &[
            ["", "--pages 4k"],
            ["", "--density low"],
            ["", "--max-pages 64"],
            ["", "--cpus 1"],
        ],
    );
    hold::<caches::Settings>(
        |s| one(caches::Caches::new(s)),
        &[
            ["", "--pages 4k"],
            ["", "--density low"],
            ["", "--max-size 1MiB"],
            ["", "--cpus 1"],
        ],
    );
    hold::<instructions::Settings>(
        |s| one(instructions::InstructionTimes::new(s)),
        &[
            ["", "--ops add"],
            ["", "--timing latency"],
            ["", "--cpus 1"],
        ],
    );
}
