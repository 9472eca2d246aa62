//! Rejects options that have no effect. All commands use the same check.

use super::args::{Cli, Command};
use clap::ArgMatches;
use clap::parser::ValueSource;
use experiments::{Effects, JudgedEffect};
use units::error::{Error, Result};

/// Fails if a typed option has no effect together with the other options.
pub fn check_effects(cli: &Cli, matches: &ArgMatches) -> Result<()> {
    let typed_options = TypedOptions {
        matches: matches.subcommand().map_or(matches, |(_, own)| own),
    };
    let Some(command) = &cli.command else {
        return typed_options
            .check(&cli.run)
            .and_then(|()| typed_options.check(&cli.run.common));
    };
    match command {
        Command::Run(o) => typed_options
            .check(o)
            .and_then(|()| typed_options.check(&o.common)),
        Command::Experiment(o) => typed_options
            .check_all(&o.request.effects)
            .and_then(|()| typed_options.check(&o.common)),
        #[cfg(feature = "storage")]
        Command::Io(o) => typed_options
            .check(&o.settings)
            .and_then(|()| typed_options.check(&o.common)),
        #[cfg(feature = "gpu")]
        Command::Gpu(o) => typed_options
            .check(&o.settings)
            .and_then(|()| typed_options.check(&o.common)),
        Command::Health(o) => typed_options
            .check(o.as_ref())
            .and_then(|()| typed_options.check(&o.common)),
        Command::List(o) => typed_options.check(o),
        Command::Report(o) => typed_options.check(o),
        Command::Compare(o) => typed_options.check(o),
        Command::Fleet(o) => typed_options.check(o),
        Command::Generate(_) => Ok(()),
    }
}

/// The options of one command as they were typed.
struct TypedOptions<'a> {
    matches: &'a ArgMatches,
}

impl TypedOptions<'_> {
    fn check(&self, settings: &impl Effects) -> Result<()> {
        self.check_all(&settings.effects())
    }

    fn check_all(&self, effects: &[JudgedEffect]) -> Result<()> {
        let idle = |effect: &&JudgedEffect| !effect.applies && self.typed(effect.option).is_some();
        let Some(JudgedEffect {
            option,
            only,
            enabled_by,
            ..
        }) = effects.iter().find(idle)
        else {
            return Ok(());
        };
        let value = self.typed(option).unwrap_or_default();
        let typed = format!("--{option} {value}");
        let advice = enabled_by
            .map(|option| format!("type {option} with it, or "))
            .unwrap_or_default();
        Err(Error::usage(format!(
            "option without effect: {}; {only}; {advice}leave it out",
            typed.trim_end()
        )))
    }

    /// Value that was typed for `option`; empty for a flag. `None` if the option was not typed.
    fn typed(&self, option: &str) -> Option<String> {
        let id = option.replace('-', "_");
        let known = self.matches.try_contains_id(&id).unwrap_or(false);
        let source = known.then(|| self.matches.value_source(&id)).flatten();
        let values = || {
            self.matches
                .get_raw(&id)
                .into_iter()
                .flatten()
                .map(|v| v.to_string_lossy().into_owned())
        };
        // clap stores the value `true` for a flag that was typed.
        let shown = |values: Vec<String>| {
            if values == ["true"] {
                String::new()
            } else {
                values.join(",")
            }
        };
        (source == Some(ValueSource::CommandLine)).then(|| shown(values().collect()))
    }
}

#[cfg(test)]
#[cfg(feature = "storage")]
mod tests {
    use super::super::Parsed;
    use super::super::args::{Command, CompareOptions, ListOptions, ReportOptions, RunOptions};
    use super::super::catalogue::experiment_commands;
    use super::super::common_options::CommonOptions;
    use super::super::fleet_options::FleetOptions;
    use experiments::Effects;
    use std::ffi::OsString;

    /// Rows of a command line, an option that has no effect on it, and the option that gives it an
    /// effect.
    const IDLE: &[[&str; 3]] = &[
        [
            "bandwidth",
            "--prefetch-distance 512",
            "--ops read-prefetch",
        ],
        ["latency", "--locality 64KiB", "--chain-mode random-box"],
        ["latency", "--window 20us", "--windows 10000"],
        ["latency", "--region shared", "--threads all"],
        ["latency", "--shared", "--threads all"],
        ["core-to-core", "--window 20us", "--windows 10000"],
        ["loaded-latency", "--aggressor 1", "--victim 0"],
        [
            "numa --measure latency",
            "--ops write",
            "--measure bandwidth,latency",
        ],
        [
            "numa --measure latency",
            "--threads 1",
            "--measure bandwidth,latency",
        ],
        [
            "numa --measure latency",
            "--interleave none",
            "--measure bandwidth,latency",
        ],
        [
            "patterns --orders forward",
            "--stride 64",
            "--orders strided",
        ],
        [
            "patterns --orders forward",
            "--blocks 64",
            "--orders random",
        ],
        ["locks --threads 1", "--lines shared", "--threads all"],
        ["io x --ops read", "--mixes 30%", "--ops mix"],
        ["io x --pattern random", "--stride 10", "--pattern seekdist"],
        ["io x", "--fsync 1", "--ops write"],
        ["io x", "--fdatasync 1", "--ops write"],
        ["io x", "--data zeros", "--ops write"],
        ["io x", "--destroy-data x", "--ops write"],
        ["io x --ops write", "--verify", "--ops read"],
        ["io x --engine sync", "--poll", "--engine io_uring"],
        ["io x", "--keep", "--create 1GiB"],
        ["io x", "--timing recorded", "--replay TRACE"],
        ["io x --replay TRACE", "--pattern random", ""],
        ["io x --replay TRACE", "--blocks 8KiB", ""],
        ["io x --replay TRACE", "--start 1", ""],
        ["io x --replay TRACE", "--end 9", ""],
        ["io x --replay TRACE", "--misalign 512", ""],
        ["run --only tlb", "--ops read", "--only bandwidth,latency"],
        ["run --only tlb", "--sizes 1MiB", "--only bandwidth,latency"],
        ["run --only tlb", "--pages 4k", "--only bandwidth,latency"],
        [
            "run --only tlb",
            "--memory-nodes 0",
            "--only bandwidth,latency",
        ],
        ["run --ops latency", "--threads 1", ""],
        ["run --ops latency", "--width 256", ""],
        ["tlb", "--scores", "--format sc-membench"],
        ["tlb --format json", "--verbose", "--format table"],
        ["report x", "--scores", "--format sc-membench"],
        ["report x --format csv", "--verbose", "--format table"],
        ["report x --format csv", "--chart tlb", "--format svg"],
        ["report x", "--theme dark", "--format svg"],
        ["report x --format csv", "--title T", "--format svg"],
        ["tlb --format json", "--title T", "--format svg"],
        ["compare x y --format json", "--verbose", "--format table"],
        ["fleet x --format json", "--verbose", "--format table"],
        ["list host", "--code", ""],
    ];

    /// Options of an experiment's command that have an effect only together with other options.
    fn effects(command: &str) -> Vec<&'static str> {
        let Ok(Parsed::Request(cli)) = Parsed::parse(&["memgauge", command].map(Into::into)) else {
            panic!("{command} is refused")
        };
        let Some(Command::Experiment(request)) = cli.command else {
            panic!("{command} is no command of an experiment")
        };
        let effects = request.request.effects;
        effects.iter().map(|effect| effect.option).collect()
    }

    fn refusal(line: &str) -> Option<String> {
        let words: Vec<OsString> = ["memgauge"]
            .into_iter()
            .chain(line.split_whitespace())
            .map(Into::into)
            .collect();
        Parsed::parse(&words).err().map(|error| error.to_string())
    }

    #[test]
    fn what_has_no_effect_is_refused_and_its_cure_works() {
        for [line, option, advice] in IDLE {
            assert_eq!(refusal(line), None, "{line}");
            let said = refusal(&format!("{line} {option}"))
                .unwrap_or_else(|| panic!("{line} {option} is taken"));
            assert!(
                said.contains("without effect") && said.contains(option) && said.contains(advice),
                "{said}"
            );
            // The advised option replaces an option of the same name.
            let name = advice.split(' ').next().unwrap_or_default();
            let mut words: Vec<&str> = line.split(' ').collect();
            if let Some(at) = words
                .iter()
                .position(|word| *word == name)
                .filter(|_| !advice.is_empty())
            {
                words.drain(at..at + 2);
            }
            let advised = format!("{} {option} {advice}", words.join(" "));
            assert!(
                advice.is_empty() || refusal(&advised).is_none(),
                "{advised}: {:?}",
                refusal(&advised)
            );
        }
    }

    #[test]
    fn every_declared_effect_is_tried() {
        fn names<S: Effects>() -> impl Iterator<Item = &'static str> {
            S::EFFECTS.iter().map(|effect| effect.option)
        }
        let experiments = experiment_commands()
            .into_iter()
            .flat_map(|(row, _)| effects(row.name))
            .chain(names::<storage::Settings>());
        let others = names::<RunOptions>()
            .chain(names::<CommonOptions>())
            .chain(names::<ReportOptions>());
        let all = experiments
            .chain(others)
            .chain(names::<CompareOptions>())
            .chain(names::<FleetOptions>())
            .chain(names::<ListOptions>());
        let tried = |option: &str| {
            IDLE.iter()
                .filter(|row| row[1].split(' ').next() == Some(option))
                .count()
        };
        let mut count = 0;
        for option in all {
            count += 1;
            assert!(tried(&format!("--{option}")) > 0, "{option}");
        }
        assert_eq!(count, IDLE.len());
    }
}
