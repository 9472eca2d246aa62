//! The command of an experiment: its options, and the experiments that the options request.

use crate::experiment::Experiment;
use clap::ArgMatches;
use units::Nanos;

/// An option in settings `S` that has an effect only if `applies` is true.
pub struct Effect<S: 'static> {
    /// Name of the option without dashes: `stride` for `--stride`.
    pub option: &'static str,
    /// True if the option has an effect with these settings.
    pub applies: fn(&S) -> bool,
    /// The settings that use the option, as a text: `only strided orders use it`.
    pub only: &'static str,
    /// Option that makes this option effective: `--orders strided`; `None` if no option does.
    pub enabled_by: Option<&'static str>,
}

/// Settings in which some options have an effect only together with other options. If a user types
/// an option without effect, the command line reports an error.
pub trait Effects: Sized + 'static {
    /// One row for each option that has an effect only together with other options.
    const EFFECTS: &'static [Effect<Self>] = &[];

    /// Each row of [`Effects::EFFECTS`], evaluated with these settings.
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

/// An [`Effect`] whose condition was evaluated. The other fields are copied from the effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedEffect {
    /// Name of the option without dashes.
    pub option: &'static str,
    /// True if the option has an effect in the evaluated settings.
    pub applies: bool,
    /// The settings that use the option, as a text.
    pub only: &'static str,
    /// Option that makes this option effective; `None` if no option does.
    pub enabled_by: Option<&'static str>,
}

/// The settings of an experiment, which are the options of its command.
pub trait CommandSettings: clap::Args + Effects {
    /// Experiments that the settings request.
    fn experiments(self) -> Vec<Box<dyn Experiment>>;

    /// Time budget if the user sets none; `None` for the default budget of a single experiment.
    fn budget(&self) -> Option<Nanos> {
        None
    }
}

/// An option with which the user tells a fact about the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineOption {
    /// CPUs to use, for experiments that use several.
    Cpus,
    /// Rate of the memory modules, for experiments whose values cannot exceed it.
    DramPeak,
    /// Size of the last-level cache, for experiments whose working sets depend on it.
    LastLevel,
}

/// The command of an experiment. Command and experiment have the same name.
pub struct ExperimentCommand {
    /// Description in the list of commands.
    pub help: &'static str,
    /// Example of a command line, without the name of the program.
    pub example: &'static str,
    /// Options about the machine, in the order of the help.
    pub machine: &'static [MachineOption],
    /// Adds the options of the experiment to its command.
    pub add_options: fn(clap::Command) -> clap::Command,
    /// Reads the options of the experiment from the parsed command line.
    pub read: fn(&ArgMatches) -> Result<CommandRequest, clap::Error>,
}

/// The command of an experiment as the user typed it.
pub struct CommandRequest {
    /// The experiments to run. There are several if a command measures several quantities.
    pub experiments: Vec<Box<dyn Experiment>>,
    /// Time budget of the command, see [`CommandSettings::budget`].
    pub budget: Option<Nanos>,
    /// Options that have an effect only together with other options.
    pub effects: Vec<JudgedEffect>,
}

impl ExperimentCommand {
    /// A command whose options are those of the settings `S`.
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
