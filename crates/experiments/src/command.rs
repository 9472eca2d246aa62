//! The command of an experiment: its options, and the experiments that they request.

use crate::experiment::Experiment;
use clap::ArgMatches;
use units::Nanos;

/// An option in settings `S` that has an effect only if `applies` is true.
pub struct Effect<S: 'static> {
    /// Name of the option without dashes: `stride` for `--stride`.
    pub option: &'static str,
    /// True if the option has an effect with these settings.
    pub applies: fn(&S) -> bool,
    /// Users of the option: `only strided orders use it`.
    pub only: &'static str,
    /// Option that gives it an effect: `--orders strided`; `None` if only leaving it out helps.
    pub enabled_by: Option<&'static str>,
}

/// Settings in which some options need others to have an effect. The command line refuses a typed
/// option without effect.
pub trait Effects: Sized + 'static {
    /// One row for each such option.
    const EFFECTS: &'static [Effect<Self>] = &[];

    /// For each row whether the option has an effect in these settings.
    fn effects(&self) -> Vec<JudgedEffect> {
        Self::EFFECTS
            .iter()
            .map(|effect| JudgedEffect {
                option: effect.option,
                applies: (effect.applies)(self),
                only: effect.only,
                enabled_by: effect.enabled_by,
            })
            .collect()
    }
}

/// An [`Effect`] after its condition was evaluated. The other fields are those of the effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedEffect {
    /// Its name without dashes.
    pub option: &'static str,
    /// True if the option has an effect.
    pub applies: bool,
    /// Users of the option.
    pub only: &'static str,
    /// Option that gives it an effect.
    pub enabled_by: Option<&'static str>,
}

/// The settings of an experiment, which are the options of its command.
pub trait CommandSettings: clap::Args + Effects {
    /// Experiments that the settings request.
    fn experiments(self) -> Vec<Box<dyn Experiment>>;

    /// Time allowed if the user sets none; `None` for the time of a single experiment.
    fn budget(&self) -> Option<Nanos> {
        None
    }
}

/// A fact about the machine that the user may know, with its option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineOption {
    /// CPUs to use, for experiments that use several.
    Cpus,
    /// Rate of the memory modules, for experiments whose values it bounds.
    DramPeak,
    /// Last-level cache, for experiments whose working sets depend on it.
    LastLevel,
}

/// The command of an experiment. Its name is that of the experiment.
pub struct ExperimentCommand {
    /// Description in the list of commands.
    pub help: &'static str,
    /// Example of a command line, without the name of the program.
    pub example: &'static str,
    /// Options about the machine, in the order of the help.
    pub machine: &'static [MachineOption],
    /// Adds the options of the experiment.
    pub add_options: fn(clap::Command) -> clap::Command,
    /// Reads the options of the experiment.
    pub read: fn(&ArgMatches) -> Result<CommandRequest, clap::Error>,
}

/// An experiment's command as typed.
pub struct CommandRequest {
    /// The experiments to carry out: several if a command measures several quantities.
    pub experiments: Vec<Box<dyn Experiment>>,
    /// See [`CommandSettings::budget`].
    pub budget: Option<Nanos>,
    /// Options that have an effect only with others.
    pub effects: Vec<JudgedEffect>,
}

impl ExperimentCommand {
    /// The command with the options `S`.
    pub const fn new<S: CommandSettings>(
        help: &'static str,
        example: &'static str,
        machine: &'static [MachineOption],
    ) -> Self {
        Self {
            help,
            example,
            machine,
            add_options: S::augment_args,
            read: read::<S>,
        }
    }
}

fn read<S: CommandSettings>(matches: &ArgMatches) -> Result<CommandRequest, clap::Error> {
    let settings = S::from_arg_matches(matches)?;
    Ok(CommandRequest {
        budget: settings.budget(),
        effects: settings.effects(),
        experiments: settings.experiments(),
    })
}
