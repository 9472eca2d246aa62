//! The options. Each is a documented field, from which help, man page, completions and tests are
//! made.

use super::catalogue::experiments;
use super::common_options::{CommonOptions, MachineOptions};
use super::exit;
use super::experiment_request::ExperimentRequest;
use super::fleet_options::FleetOptions;
use super::formats::{
    Formats, Values, comparison_output, format_named, preferred, report_output, uses,
};
#[cfg(feature = "gpu")]
use super::gpu_options::GpuOptions;
use super::health_options::HealthOptions;
#[cfg(feature = "storage")]
use super::io_options::IoOptions;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use experiments::{Choices, Detail, Effect, Effects, Experiment, ExperimentRow};
use render::{self, COMPARISON_FORMATS, Renderer};
use std::collections::BTreeSet;
use std::path::PathBuf;
use units::Nanos;
use verdict::Fraction;

/// Measures the memory system of this machine and says how far each number can be trusted.
///
/// Without a command it runs the default profile: the whole hierarchy in at most 60 s, a table, a
/// saved report.
#[derive(Parser)]
#[command(
    name = "memgauge",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
#[command(infer_long_args = false, after_long_help = exit::help())]
pub struct Cli {
    /// Command
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Options of `run`, which is what happens without a command
    #[command(flatten)]
    pub run: RunOptions,
}

/// Commands.
#[derive(Subcommand)]
pub enum Command {
    /// Measure with a profile (the default command)
    Run(RunOptions),
    /// Carry out an experiment of the table
    #[command(flatten)]
    Experiment(ExperimentRequest),
    /// Operations per second of files and block devices, and how long each takes
    #[cfg(feature = "storage")]
    Io(Box<IoOptions>),
    /// Bandwidth, latency and transfers of the memory of GPUs
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuOptions>),
    /// Say whether this machine is as fast as expected, in at most 60 s
    ///
    /// The first measurement takes at most 60% of the budget. The rest is for slow figures, which
    /// are measured again in fresh memory.
    Health(Box<HealthOptions>),
    /// List what can be measured here, and why the rest cannot
    List(ListOptions),
    /// Show a saved report in another format
    Report(ReportOptions),
    /// Show differences between saved reports that are more than chance
    Compare(CompareOptions),
    /// Find slow machines among many of the same kind
    Fleet(FleetOptions),
    /// Write the man page, completions, report schema or kernel list
    Generate(GenerateOptions),
}

/// A ready-made choice of experiments, points and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// One point in each level, some seconds
    Quick,
    /// The whole hierarchy in at most 60 s
    Default,
    /// Sweeps over sizes, some minutes
    Full,
}

impl Profile {
    /// Detail with which the profile's experiments draft their points.
    pub fn detail(self) -> Detail {
        match self {
            Profile::Quick => Detail::Brief,
            Profile::Default => Detail::Levels,
            Profile::Full => Detail::Sweep,
        }
    }

    /// Name of the profile on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Quick => "quick",
            Profile::Default => "default",
            Profile::Full => "full",
        }
    }

    /// Budget of the profile if the user sets none.
    pub fn budget(self) -> Nanos {
        Nanos::from_secs(match self {
            Profile::Quick => 15.0,
            Profile::Default => 60.0,
            Profile::Full => 600.0,
        })
    }
}

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  memgauge run --profile quick --budget 20s -o report.json")]
pub struct RunOptions {
    /// Experiments of the session and its time
    #[arg(long, value_enum, default_value = "default")]
    pub profile: Profile,

    /// Only these experiments
    #[arg(long, value_name = "LIST", value_delimiter = ',', help = only_help())]
    pub only: Vec<String>,

    /// Memory of bandwidth and latency
    #[command(flatten)]
    pub choices: Choices,

    /// Facts about the machine that the user knows better
    #[command(flatten)]
    pub machine: MachineOptions,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Subjects of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Measured instructions: what they do, what they need, whether they run here
    Kernels,
    /// Questions that memgauge can answer
    Experiments,
    /// Every fact about this machine, with its source
    Host,
    /// Published figures of core designs (cache latencies, TLBs, widths), with their sources
    Processors,
    /// I/O engines of this machine
    #[cfg(feature = "storage")]
    Engines,
    /// GPUs and other devices that drivers offer, with every fact and its source
    #[cfg(feature = "gpu")]
    Gpus,
    /// Saved sessions: when, where, how, and how far they can be trusted
    Runs,
}

/// Formats of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Options of `list`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  memgauge list kernels read --code")]
pub struct ListOptions {
    /// Subject of the list
    pub what: Listed,

    /// One kernel, operation or family (read/avx512, triad, lock), or one processor (zen 4,
    /// graviton4)
    pub name: Option<String>,

    /// The machine code of the kernels, in hexadecimal: what is timed
    #[arg(long)]
    pub code: bool,

    /// Format on standard output; help tells what each is
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "table",
        value_parser = Values::<ListFormat>::new(),
        ignore_case = true,
    )]
    pub format: ListFormat,
}

/// Background of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// Dark on white
    Light,
    /// Light on black
    Dark,
}

/// Options of `report`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  memgauge report last -o page.html")]
pub struct ReportOptions {
    /// Saved reports, journals, or last, last~1 for saved sessions; several of one machine are drawn
    /// over each other, several machines side by side
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Charts to draw, by experiment, or all: in the terminal, or in .svg and .png, which have all
    /// charts by default
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub chart: Vec<String>,

    /// Title of pictures and pages [default: their subject]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,

    /// Background of pictures
    #[arg(long, value_enum, default_value = "light")]
    pub theme: Theme,

    /// Format on standard output; help tells what each is
    #[arg(long, value_name = "FORMAT", value_parser = Formats::of_reports(), ignore_case = true)]
    pub format: Option<String>,

    /// File for the result
    #[arg(long, short, value_name = "FILE", help = report_output())]
    pub output: Option<PathBuf>,

    /// With sc-membench: peaks, averages and scores by that tool's formulas, on standard error
    #[arg(long)]
    pub scores: bool,

    /// Leave out host name, users, paths, command line, time of day and samples, and list what was
    /// left out: a file to post
    #[arg(long)]
    pub share: bool,

    /// Tables with every reason and every dataset
    #[arg(long, short)]
    pub verbose: bool,
}

/// Condition for a comparison to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Any point that is worse
    Worse,
    /// Any point that is worse or cannot be told
    CannotTell,
}

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  memgauge compare before.json after.json")]
pub struct CompareOptions {
    /// The report to compare with: a file, last~1, or a folder, whose reports are a set
    pub before: PathBuf,

    /// The reports to compare with it: files, last, or folders
    #[arg(required = true)]
    pub after: Vec<PathBuf>,

    /// Differences up to this share do not matter: 3%, 0.5%
    #[arg(long, value_name = "SHARE", default_value = "3%")]
    pub floor: Fraction,

    /// The same for points without samples, as in CSV, which are judged by their figures alone
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    pub floor_without_samples: Fraction,

    /// Compare points of different kernels, too, even if the candidates differed
    #[arg(long)]
    pub any_kernel: bool,

    /// Exit with 4 if a point has this result
    #[arg(long, value_enum)]
    pub fail_on: Option<FailOn>,

    /// Format on standard output; help tells what each is
    #[arg(long, value_name = "FORMAT", value_parser = Formats::of_comparisons(), ignore_case = true)]
    pub format: Option<String>,

    /// File for the result
    #[arg(long, short, value_name = "FILE", help = comparison_output())]
    pub output: Option<PathBuf>,

    /// Every point, also those that are the same, and every reason
    #[arg(long, short)]
    pub verbose: bool,
}

/// Things to generate.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum Generated {
    /// The man page, in roff
    Man,
    /// Completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// The JSON schema of reports
    Schema,
    /// The columns of CSV, in Markdown
    Columns,
    /// The kernel list, in Markdown
    Kernels,
}

/// Options of `generate`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  memgauge generate completions bash")]
pub struct GenerateOptions {
    /// Thing to generate
    #[command(subcommand)]
    pub what: Generated,
}

/// Help text of `--only`, with the names of all experiments that a profile can have.
fn only_help() -> String {
    let names: Vec<&str> = experiments()
        .filter(|row| row.least.is_some())
        .map(|row| row.name)
        .collect();
    format!(
        "Only these experiments: {} [default: those of the profile]",
        names.join(",")
    )
}

impl RunOptions {
    /// Makes the requested experiments that use the options of [`Choices`], such as `--sizes`.
    fn chosen(&self) -> impl Iterator<Item = Box<dyn Experiment>> {
        let requested = |row: &&ExperimentRow| {
            self.only.is_empty() || self.only.iter().any(|name| name == row.name)
        };
        experiments()
            .filter(requested)
            .filter_map(|row| row.chosen?(&self.choices, self.profile.detail()))
    }
}

/// True if the session has an experiment that uses `--ops`, `--sizes` or `--pages`.
fn measures_chosen(options: &RunOptions) -> bool {
    options.chosen().next().is_some()
}

/// True if a requested experiment measures bytes per second.
fn moves_bytes(options: &RunOptions) -> bool {
    options
        .chosen()
        .any(|experiment| experiment.quantity().unit == BYTES_PER_SECOND)
}

/// Unit of experiments that move bytes.
const BYTES_PER_SECOND: &str = "B/s";

/// Reason why `--ops`, `--sizes`, `--pages` or `--memory-nodes` had no effect, for messages.
const CHOSEN: &str = "only bandwidth and latency use it";

/// Reason why `--threads` or `--width` had no effect, for messages.
const MOVING: &str = "only operations that move bytes use it";

impl Effects for RunOptions {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "ops",
            applies: measures_chosen,
            only: CHOSEN,
            enabled_by: Some("--only bandwidth,latency"),
        },
        Effect {
            option: "sizes",
            applies: measures_chosen,
            only: CHOSEN,
            enabled_by: Some("--only bandwidth,latency"),
        },
        Effect {
            option: "pages",
            applies: measures_chosen,
            only: CHOSEN,
            enabled_by: Some("--only bandwidth,latency"),
        },
        Effect {
            option: "memory-nodes",
            applies: measures_chosen,
            only: CHOSEN,
            enabled_by: Some("--only bandwidth,latency"),
        },
        Effect {
            option: "threads",
            applies: moves_bytes,
            only: MOVING,
            enabled_by: None,
        },
        Effect {
            option: "width",
            applies: moves_bytes,
            only: MOVING,
            enabled_by: None,
        },
    ];
}

impl ReportOptions {
    /// Renderer for the file of `--output`, or for standard output if no file is named. `None` for
    /// an unknown format.
    fn made(&self) -> Option<&'static dyn Renderer> {
        let file = self
            .output
            .as_deref()
            .and_then(|path| render::by_extension(path).ok());
        let chosen = || format_named(self.format.as_deref());
        match file {
            Some(file) => Some(preferred(file, self.format.as_ref().and_then(|_| chosen()))),
            None => chosen(),
        }
    }
}

impl Effects for ReportOptions {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "scores",
            applies: |o| uses(o.made(), "scores"),
            only: "only sc-membench has scores",
            enabled_by: Some("--format sc-membench"),
        },
        Effect {
            option: "verbose",
            applies: |o| uses(o.made(), "verbose") && o.chart.is_empty(),
            only: "only tables, Markdown and sc-membench leave anything out",
            enabled_by: Some("--format table"),
        },
        Effect {
            option: "chart",
            applies: |o| uses(o.made(), "chart"),
            only: "only tables, pages and pictures draw charts",
            enabled_by: Some("--format svg"),
        },
        Effect {
            option: "title",
            applies: |o| {
                uses(o.made(), "title") || (uses(o.made(), "chart") && !o.chart.is_empty())
            },
            only: "only charts and pages have a title",
            enabled_by: Some("--format svg"),
        },
        Effect {
            option: "theme",
            applies: |o| uses(o.made(), "theme"),
            only: "only svg and png have a background",
            enabled_by: Some("--format svg"),
        },
    ];
}

impl Effects for CompareOptions {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "verbose",
        applies: |o| COMPARISON_FORMATS.has_verbose(o.output.as_deref(), o.format.as_deref()),
        only: "only tables and Markdown leave anything out",
        enabled_by: Some("--format table"),
    }];
}

impl Effects for ListOptions {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "code",
        applies: |o| o.what == Listed::Kernels,
        only: "only kernels have machine code",
        enabled_by: None,
    }];
}

/// The command line. Each option also has its name in plural or singular as a hidden alias, such as
/// `--size` for `--sizes`.
pub fn command() -> clap::Command {
    both_numbers(Cli::command())
}

fn both_numbers(command: clap::Command) -> clap::Command {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for arg in command.get_arguments() {
        taken.extend(arg.get_long().map(str::to_owned));
        taken.extend(
            arg.get_all_aliases()
                .into_iter()
                .flatten()
                .map(str::to_owned),
        );
    }
    let command = command.mut_args(|arg| {
        let other = arg
            .get_long()
            .filter(|_| arg.get_action().takes_values())
            .map(other_number);
        match other {
            Some(other) if taken.insert(other.clone()) => arg.alias(other),
            _ => arg,
        }
    });
    command.mut_subcommands(both_numbers)
}

/// Returns the plural of a singular name, or the singular of a plural name.
fn other_number(name: &str) -> String {
    match name {
        _ if name.ends_with("xes") => name[..name.len() - 2].to_owned(),
        _ if name.ends_with('x') => format!("{name}es"),
        _ => name
            .strip_suffix('s')
            .map_or_else(|| format!("{name}s"), str::to_owned),
    }
}
