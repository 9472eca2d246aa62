//! The command of an experiment: its options, and the experiments that these ask for.

use crate::experiment::Experiment;
use clap::ArgMatches;
use units::Nanos;

/// An option of the settings `S` that changes something only where `applies`.
pub struct Effect<S: 'static> {
    /// Its name without dashes: `stride` for `--stride`.
    pub option: &'static str,
    /// Whether it changes anything with these settings.
    pub applies: fn(&S) -> bool,
    /// Who uses it: `only strided orders use it`.
    pub only: &'static str,
    /// Option that gives it an effect: `--orders strided`; `None` if only leaving it out helps.
    pub cure: Option<&'static str>,
}

/// Settings with options that have an effect only with others. The command line refuses an option
/// that was typed and has none.
pub trait Effects: Sized + 'static {
    /// One row for each of these options.
    const EFFECTS: &'static [Effect<Self>] = &[];

    /// Whether each of these options changes anything here, in the order of the rows.
    fn effects(&self) -> Vec<JudgedEffect> {
        Self::EFFECTS
            .iter()
            .map(|effect| JudgedEffect {
                option: effect.option,
                applies: (effect.applies)(self),
                only: effect.only,
                cure: effect.cure,
            })
            .collect()
    }
}

/// An [`Effect`] of an option in settings that are known. Its fields are those of the effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedEffect {
    /// Its name without dashes.
    pub option: &'static str,
    /// Whether it changes anything.
    pub applies: bool,
    /// Who uses it.
    pub only: &'static str,
    /// Option that gives it an effect.
    pub cure: Option<&'static str>,
}

/// The settings of an experiment, which are the options of its command.
pub trait CommandSettings: clap::Args + Effects {
    /// Experiments of the request.
    fn experiments(self) -> Vec<Box<dyn Experiment>>;

    /// Time allowed where the user sets none; `None` for that of every single experiment.
    fn budget(&self) -> Option<Nanos> {
        None
    }
}

/// Something that a user may know about the machine, and the option that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineOption {
    /// The CPUs to use: for experiments that use several.
    Cpus,
    /// The rate of the memory modules: for experiments that show what memory carries.
    DramPeak,
    /// The last-level cache: for experiments that size memory by it.
    LastLevel,
}

/// The command of an experiment. Its name is that of the experiment.
pub struct ExperimentCommand {
    /// The line about it in the list of commands.
    pub help: &'static str,
    /// A command line as an example, without the name of the program.
    pub example: &'static str,
    /// Options about the machine that it takes, in the order of its help.
    pub machine: &'static [MachineOption],
    /// Adds the options of the experiment.
    pub add_options: fn(clap::Command) -> clap::Command,
    /// Reads them.
    pub read: fn(&ArgMatches) -> Result<CommandRequest, clap::Error>,
}

/// An experiment's command as typed.
pub struct CommandRequest {
    /// The experiments to carry out: several where a question has several quantities.
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
