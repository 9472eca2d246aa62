//! The commands of experiments, made from the rows of the table of experiments.

use super::catalogue::experiment_commands;
use super::common_options::{CommonOptions, MachineOptions, Peak, Pool, Sizing};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use experiments::{CommandRequest, ExperimentCommand, MachineOption};

/// The command of an experiment as typed.
pub struct ExperimentRequest {
    /// Name of the command and of the experiment.
    pub name: &'static str,
    /// Request that the experiment's own options describe.
    pub request: CommandRequest,
    /// Facts about the machine that the user gives. Options that the command does not take are
    /// absent.
    pub machine: MachineOptions,
    /// Options of every measurement.
    pub common: CommonOptions,
}

/// Makes the command `name` with all its options.
fn command(name: &'static str, row: &ExperimentCommand) -> Command {
    let mut command = (row.add_options)(Command::new(name));
    for option in row.machine {
        command = command.next_help_heading(None::<&'static str>);
        command = match option {
            MachineOption::Cpus => Pool::augment_args(command),
            MachineOption::DramPeak => Peak::augment_args(command),
            MachineOption::LastLevel => Sizing::augment_args(command),
        };
    }
    CommonOptions::augment_args(command.next_help_heading(None::<&'static str>))
        .about(row.help)
        .after_help(format!("Example:\n  memgauge {}", row.example))
        .long_about(None::<&'static str>)
}

impl Subcommand for ExperimentRequest {
    fn augment_subcommands(program: Command) -> Command {
        experiment_commands()
            .into_iter()
            .fold(program, |program, (row, own)| {
                program.subcommand(command(row.name, own))
            })
    }

    fn augment_subcommands_for_update(program: Command) -> Command {
        Self::augment_subcommands(program)
    }

    fn has_subcommand(name: &str) -> bool {
        experiment_commands()
            .iter()
            .any(|(row, _)| row.name == name)
    }
}

impl FromArgMatches for ExperimentRequest {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let typed = matches.subcommand().and_then(|(name, own)| {
            let commands = experiment_commands();
            let (row, command) = commands.into_iter().find(|(row, _)| row.name == name)?;
            Some((row.name, command, own))
        });
        let Some((name, command, own)) = typed else {
            return Err(Error::new(ErrorKind::MissingSubcommand));
        };
        let mut machine = MachineOptions::default();
        for option in command.machine {
            match option {
                MachineOption::Cpus => machine.pool = Pool::from_arg_matches(own)?,
                MachineOption::DramPeak => machine.peak = Peak::from_arg_matches(own)?,
                MachineOption::LastLevel => machine.sizing = Sizing::from_arg_matches(own)?,
            }
        }
        Ok(Self {
            name,
            request: (command.read)(own)?,
            machine,
            common: CommonOptions::from_arg_matches(own)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
