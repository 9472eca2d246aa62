//! The options, one documented field each. Help, man page, completions and tests come from this
//! table.

use super::exit;
use super::formats::{Formats, Values, comparison_output, report_output, run_output};
use super::io::IoOptions;
use crate::plan::LARGEST_MAX_POINTS;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use experiments::{
    Choices, Detail, EXPERIMENTS, Effect, Effects, LastLevel, bandwidth, caches, core_to_core,
    instructions, latency, loaded_latency, locks, numa, patterns, scaling, tlb,
};
use render::{
    self, COMPARISON_FORMATS, RENDERERS, Renderer, comparison_format, comparison_format_of,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use units::{BytesPerSecond, CpuList, Nanos, ParseError, short_time, whole_number};
use verdict::Share;

/// Measures the memory system of this machine and says how far each number can be trusted.
///
/// Without a command it runs the default profile: the whole hierarchy in at most 60 s, a table, a
/// saved report.
#[derive(Debug, Parser)]
#[command(
    name = "memgauge",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
#[command(infer_long_args = false, after_long_help = exit::help())]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Options of `run`, which is what happens without a command
    #[command(flatten)]
    pub run: RunOptions,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure with a profile (the default command)
    Run(RunOptions),
    /// Bytes per second that threads read, write and copy
    Bandwidth(BandwidthOptions),
    /// Time of a load that needs the one before it
    Latency(LatencyOptions),
    /// Bandwidth over the number of threads: how many memory needs, where to place them
    Scaling(ScalingOptions),
    /// Time from one core to another and back
    CoreToCore(CoreToCoreOptions),
    /// Time of a load while other CPUs use the memory, from idle to saturation
    LoadedLatency(LoadedLatencyOptions),
    /// Bandwidth and latency between NUMA nodes
    Numa(NumaOptions),
    /// What the order of accesses costs: reverse, strided, random
    Patterns(PatternOptions),
    /// Entries and reach of each TLB, and what a miss costs
    Tlb(TlbOptions),
    /// How many caches there are, what each holds, and how they behave
    Caches(CacheOptions),
    /// Instructions per core cycle, and how long one waits for another
    Instructions(InstructionOptions),
    /// Atomic operations, locks and fences on shared and separate lines
    Locks(LockOptions),
    /// Operations per second of files and block devices, and how long each takes
    Io(Box<IoOptions>),
    /// What can be measured here, and what cannot and why
    List(ListOptions),
    /// Show a saved report in another format
    Report(ReportOptions),
    /// Say what differs between saved reports beyond chance
    Compare(CompareOptions),
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
    /// How much is looked at.
    pub fn detail(self) -> Detail {
        match self {
            Profile::Quick => Detail::Brief,
            Profile::Default => Detail::Levels,
            Profile::Full => Detail::Sweep,
        }
    }

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Quick => "quick",
            Profile::Default => "default",
            Profile::Full => "full",
        }
    }

    /// Time allowed where the user sets none.
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
pub struct RunOptions {
    /// What to measure and for how long
    #[arg(long, value_enum, default_value = "default")]
    pub profile: Profile,

    /// Only these experiments
    #[arg(long, value_name = "LIST", value_delimiter = ',', help = only_help())]
    pub only: Vec<String>,

    /// What bandwidth and latency are measured of
    #[command(flatten)]
    pub choices: Choices,

    /// Which CPUs are used
    #[command(flatten)]
    pub pool: Pool,

    /// What the memory carries
    #[command(flatten)]
    pub peak: Peak,

    /// What sizes memory
    #[command(flatten)]
    pub sizing: Sizing,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `bandwidth`.
#[derive(Debug, Args)]
pub struct BandwidthOptions {
    /// What to stream through, and how
    #[command(flatten)]
    pub settings: bandwidth::Settings,

    /// Which CPUs are used
    #[command(flatten)]
    pub pool: Pool,

    /// What the memory carries
    #[command(flatten)]
    pub peak: Peak,

    /// What sizes memory
    #[command(flatten)]
    pub sizing: Sizing,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `latency`.
#[derive(Debug, Args)]
pub struct LatencyOptions {
    /// Where to follow pointers, and how
    #[command(flatten)]
    pub settings: latency::Settings,

    /// What sizes memory
    #[command(flatten)]
    pub sizing: Sizing,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `scaling`.
#[derive(Debug, Args)]
pub struct ScalingOptions {
    /// Which numbers of threads stream, where, and through what
    #[command(flatten)]
    pub settings: scaling::Settings,

    /// Which CPUs are used
    #[command(flatten)]
    pub pool: Pool,

    /// What the memory carries
    #[command(flatten)]
    pub peak: Peak,

    /// What sizes memory
    #[command(flatten)]
    pub sizing: Sizing,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `core-to-core`.
#[derive(Debug, Args)]
pub struct CoreToCoreOptions {
    /// Which CPUs hand a line over, and how
    #[command(flatten)]
    pub settings: core_to_core::Settings,

    /// Which CPUs are used
    #[command(flatten)]
    pub pool: Pool,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `loaded-latency`.
#[derive(Debug, Args)]
pub struct LoadedLatencyOptions {
    /// What to load the memory with, and where
    #[command(flatten)]
    pub settings: loaded_latency::Settings,

    /// What the memory carries
    #[command(flatten)]
    pub peak: Peak,

    /// What sizes memory
    #[command(flatten)]
    pub sizing: Sizing,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `numa`.
#[derive(Debug, Args)]
pub struct NumaOptions {
    /// Which nodes to measure between, and how
    #[command(flatten)]
    pub settings: numa::Settings,

    /// Which CPUs are used
    #[command(flatten)]
    pub pool: Pool,

    /// What the memory carries
    #[command(flatten)]
    pub peak: Peak,

    /// What sizes memory
    #[command(flatten)]
    pub sizing: Sizing,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `patterns`.
#[derive(Debug, Args)]
pub struct PatternOptions {
    /// In which orders to go through memory
    #[command(flatten)]
    pub settings: patterns::Settings,

    /// Which CPUs are used
    #[command(flatten)]
    pub pool: Pool,

    /// What sizes memory
    #[command(flatten)]
    pub sizing: Sizing,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `tlb`.
#[derive(Debug, Args)]
pub struct TlbOptions {
    /// Which TLBs to look for, and how closely
    #[command(flatten)]
    pub settings: tlb::Settings,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `caches`.
#[derive(Debug, Args)]
pub struct CacheOptions {
    /// Which caches to look for, and how closely
    #[command(flatten)]
    pub settings: caches::Settings,

    /// What sizes memory
    #[command(flatten)]
    pub sizing: Sizing,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `instructions`.
#[derive(Debug, Args)]
pub struct InstructionOptions {
    /// Which instructions to time, and where
    #[command(flatten)]
    pub settings: instructions::Settings,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// Options of `locks`.
#[derive(Debug, Args)]
pub struct LockOptions {
    /// What threads do, and on which lines
    #[command(flatten)]
    pub settings: locks::Settings,

    /// Which CPUs are used
    #[command(flatten)]
    pub pool: Pool,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

/// CPUs of measurements that use several.
#[derive(Debug, Args)]
pub struct Pool {
    /// CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]
    #[arg(long, value_name = "LIST", help_heading = "Measuring")]
    pub cpus: Option<CpuList>,
}

/// The limit of measurements of what memory carries.
#[derive(Debug, Args)]
pub struct Peak {
    /// What the memory carries at most, for shares and plausibility: 204.8GB/s; a bare number is
    /// GB/s [default: from the memory modules, if readable]
    #[arg(long, value_name = "RATE", help_heading = "Measuring")]
    pub dram_peak: Option<BytesPerSecond>,
}

/// What measurements of levels size their memory by.
#[derive(Debug, Args)]
pub struct Sizing {
    /// The last-level cache that the CPUs have together: sizes memory; measured: as a sweep at the
    /// beginning finds it [default: as the system reports, or more where a sweep is part of the run
    /// and finds more]
    #[arg(long, value_name = "SIZE", help_heading = "Measuring")]
    pub last_level: Option<LastLevel>,
}

/// Reads a number of points; the one that is advised leaves room for what a command measures by
/// itself.
fn most_points(text: &str) -> Result<usize, ParseError> {
    whole_number(1, LARGEST_MAX_POINTS as u64)(text).map_err(|wrong| wrong.with_example("1000"))
}

/// Options of every measurement.
#[derive(Debug, Args)]
pub struct CommonOptions {
    /// Time for everything: 90s, 2min; a bare number is seconds [default: the profile's, or 60s for
    /// a single experiment]
    #[arg(long, value_name = "TIME", help_heading = "Measuring")]
    pub budget: Option<Nanos>,

    /// Samples of each point, at least 3 [default: as many as the interval and the budget ask for]
    #[arg(long, value_name = "N", help_heading = "Measuring", value_parser = whole_number::<u32>(3, 1_000_000))]
    pub samples: Option<u32>,

    /// Seed of every random choice [default: from the clock, and told in the report]
    #[arg(long, value_name = "N", help_heading = "Measuring", value_parser = whole_number::<u64>(0, u64::MAX))]
    pub seed: Option<u64>,

    /// Carry out the whole plan this many times, with fresh memory each time
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Measuring", value_parser = whole_number::<u32>(1, 1000))]
    pub repeat: u32,

    /// Spread the rounds of every point over this many fresh allocations of its memory: an interval
    /// over placements
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Measuring", value_parser = whole_number::<u32>(1, 1000))]
    pub reallocate: u32,

    /// Pause before each point's turn: 100ms
    #[arg(long, value_name = "TIME", default_value = "0s", help_heading = "Measuring", value_parser = short_time)]
    pub cooldown: Nanos,

    /// Refuse plans with more points than this [default: 1000, or 2000 for run]
    #[arg(long, value_name = "N", help_heading = "Measuring", value_parser = most_points)]
    pub max_points: Option<usize>,

    /// Print the plan with its time and memory, and measure nothing; --format json and jsonl print
    /// it as data
    #[arg(long, help_heading = "Measuring")]
    pub dry_run: bool,

    /// Continue an unfinished run, asked for in the same words: FILE is its journal
    /// (.journal.jsonl), its report (.json), or last
    #[arg(long, value_name = "FILE", help_heading = "Measuring")]
    pub resume: Option<PathBuf>,

    /// Format on standard output; help tells what each is
    #[arg(long, value_name = "FORMAT", help_heading = "Output", value_parser = Formats::of_reports(), ignore_case = true)]
    pub format: Option<String>,

    /// Where the result goes
    #[arg(long, short, value_name = "FILE", help_heading = "Output", help = run_output())]
    pub output: Option<PathBuf>,

    /// With sc-membench: peaks, averages and scores by that tool's formulas, on standard error
    #[arg(long, help_heading = "Output")]
    pub scores: bool,

    /// What a picture or a page is called [default: what it shows]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub title: Option<String>,

    /// Exit with 3 if any number is less than solid
    #[arg(long, help_heading = "Output")]
    pub strict: bool,

    /// Tables with every reason and every dataset
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
}

/// What to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Measured instructions: what they do, what they need, whether they run here
    Kernels,
    /// Questions that can be asked
    Experiments,
    /// Everything that was found out about this machine, with its source
    Host,
    /// Ways to hand operations on files and devices to the system
    Engines,
    /// Runs that were saved without -o: when, where, how, and how far they can be trusted
    Runs,
}

/// How to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Options of `list`.
#[derive(Debug, Args)]
pub struct ListOptions {
    /// What to list
    pub what: Listed,

    /// One kernel only, or those of one operation or family: read/avx512, triad, lock
    pub name: Option<String>,

    /// The machine code of the kernels, in hexadecimal: what is timed
    #[arg(long)]
    pub code: bool,

    /// Format on standard output; help tells what each is
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = Values::<ListFormat>::new(), ignore_case = true)]
    pub format: ListFormat,
}

/// The ground of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// Dark on white
    Light,
    /// Light on black
    Dark,
}

/// Options of `report`.
#[derive(Debug, Args)]
pub struct ReportOptions {
    /// Saved reports, journals of runs, or last, last~1 for runs without -o; several are drawn over
    /// each other
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// The charts to draw, by experiment, or all: in the terminal, or as .svg or .png, which draw
    /// all where they are not told
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub chart: Vec<String>,

    /// What pictures and pages are called [default: what they show]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,

    /// The ground of pictures
    #[arg(long, value_enum, default_value = "light")]
    pub theme: Theme,

    /// Format on standard output; help tells what each is
    #[arg(long, value_name = "FORMAT", value_parser = Formats::of_reports(), ignore_case = true)]
    pub format: Option<String>,

    /// Where the result goes
    #[arg(long, short, value_name = "FILE", help = report_output())]
    pub output: Option<PathBuf>,

    /// With sc-membench: peaks, averages and scores by that tool's formulas, on standard error
    #[arg(long)]
    pub scores: bool,

    /// Tables with every reason and every dataset
    #[arg(long, short)]
    pub verbose: bool,
}

/// What makes a comparison fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Any point that is worse
    Worse,
    /// Any point that is worse or of which it cannot be told
    CannotTell,
}

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// The report that the others are compared with: a file, or last~1
    pub before: PathBuf,

    /// The reports to compare with it: files, or last
    #[arg(required = true)]
    pub after: Vec<PathBuf>,

    /// Differences up to this share do not matter: 3%, 0.5%
    #[arg(long, value_name = "SHARE", default_value = "3%")]
    pub floor: Share,

    /// The same for points without samples, which CSV has: judged by their figures alone
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    pub floor_without_samples: Share,

    /// Compare what different kernels reached, too, where not the same ones had the chance
    #[arg(long)]
    pub any_kernel: bool,

    /// Exit with 4 where a point comes out like this
    #[arg(long, value_enum)]
    pub fail_on: Option<FailOn>,

    /// Format on standard output; help tells what each is
    #[arg(long, value_name = "FORMAT", value_parser = Formats::of_comparisons(), ignore_case = true)]
    pub format: Option<String>,

    /// Where the result goes
    #[arg(long, short, value_name = "FILE", help = comparison_output())]
    pub output: Option<PathBuf>,

    /// Every point, those that are the same too, and every reason
    #[arg(long, short)]
    pub verbose: bool,
}

/// What to generate.
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
pub struct GenerateOptions {
    /// What to generate
    #[command(subcommand)]
    pub what: Generated,
}

/// The help of `--only`: every experiment that a profile can have.
fn only_help() -> String {
    let names: Vec<&str> = EXPERIMENTS
        .iter()
        .filter(|row| row.least.is_some())
        .map(|row| row.name)
        .collect();
    format!(
        "Only these experiments: {} [default: those of the profile]",
        names.join(",")
    )
}

impl RunOptions {
    /// Whether the experiment of this name is part of the run, where it is one of those that can be
    /// chosen.
    pub fn measures(&self, name: &str) -> bool {
        match self.only.as_slice() {
            [] => self.choices.include(name),
            only => only.iter().any(|asked| asked == name) && self.choices.include(name),
        }
    }
}

/// Whether bandwidth or latency is measured, which can be chosen.
fn measures_chosen(options: &RunOptions) -> bool {
    options.measures("bandwidth") || options.measures("latency")
}

/// Whether bandwidth is measured, which can be chosen.
fn measures_bandwidth(options: &RunOptions) -> bool {
    options.measures("bandwidth")
}

/// Who uses what is chosen for `memgauge run`.
const CHOSEN: &str = "only bandwidth and latency use it";

/// Who uses threads and registers.
const MOVING: &str = "only operations that move bytes use it";

impl Effects for RunOptions {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "ops",
            applies: measures_chosen,
            only: CHOSEN,
            cure: Some("--only bandwidth,latency"),
        },
        Effect {
            option: "sizes",
            applies: measures_chosen,
            only: CHOSEN,
            cure: Some("--only bandwidth,latency"),
        },
        Effect {
            option: "pages",
            applies: measures_chosen,
            only: CHOSEN,
            cure: Some("--only bandwidth,latency"),
        },
        Effect {
            option: "memory-nodes",
            applies: measures_chosen,
            only: CHOSEN,
            cure: Some("--only bandwidth,latency"),
        },
        Effect {
            option: "threads",
            applies: measures_bandwidth,
            only: MOVING,
            cure: None,
        },
        Effect {
            option: "width",
            applies: measures_bandwidth,
            only: MOVING,
            cure: None,
        },
    ];
}

/// The format that `name` asks for, the first of the table where there is none.
fn format_named(name: Option<&str>) -> Option<&'static dyn Renderer> {
    name.map_or_else(
        || RENDERERS.first().copied(),
        |name| render::by_name(name).ok(),
    )
}

/// Whether `format` has a use for `option`.
fn uses(format: Option<&'static dyn Renderer>, option: &str) -> bool {
    format.is_some_and(|format| format.options().contains(&option))
}

impl CommonOptions {
    /// The format on standard output.
    fn shown(&self) -> Option<&'static dyn Renderer> {
        format_named(self.format.as_deref())
    }

    /// The format of the file, where the user names one.
    fn saved(&self) -> Option<&'static dyn Renderer> {
        self.output
            .as_deref()
            .and_then(|path| render::by_extension(path).ok())
    }
}

impl Effects for CommonOptions {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "scores",
            applies: |o| uses(o.shown(), "scores"),
            only: "only sc-membench has scores",
            cure: Some("--format sc-membench"),
        },
        Effect {
            option: "title",
            applies: |o| uses(o.shown(), "title") || uses(o.saved(), "title"),
            only: "only pages and pictures have a title",
            cure: Some("--format svg"),
        },
        Effect {
            option: "verbose",
            applies: |o| uses(o.shown(), "verbose") || uses(o.saved(), "verbose"),
            only: "only tables, Markdown and sc-membench leave anything out",
            cure: Some("--format table"),
        },
    ];
}

impl ReportOptions {
    /// The format that is made.
    fn made(&self) -> Option<&'static dyn Renderer> {
        let file = self
            .output
            .as_deref()
            .and_then(|path| render::by_extension(path).ok());
        file.or_else(|| format_named(self.format.as_deref()))
    }
}

impl Effects for ReportOptions {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "scores",
            applies: |o| uses(o.made(), "scores"),
            only: "only sc-membench has scores",
            cure: Some("--format sc-membench"),
        },
        Effect {
            option: "verbose",
            applies: |o| uses(o.made(), "verbose") && o.chart.is_empty(),
            only: "only tables, Markdown and sc-membench leave anything out",
            cure: Some("--format table"),
        },
        Effect {
            option: "chart",
            applies: |o| uses(o.made(), "chart"),
            only: "only tables, pages and pictures draw charts",
            cure: Some("--format svg"),
        },
        Effect {
            option: "title",
            applies: |o| {
                uses(o.made(), "title") || (uses(o.made(), "chart") && !o.chart.is_empty())
            },
            only: "only charts and pages have a title",
            cure: Some("--format svg"),
        },
        Effect {
            option: "theme",
            applies: |o| uses(o.made(), "theme"),
            only: "only svg and png have a ground",
            cure: Some("--format svg"),
        },
    ];
}

impl Effects for CompareOptions {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "verbose",
        applies: |o| {
            let file = o
                .output
                .as_deref()
                .and_then(|path| comparison_format_of(path).ok());
            let named = || {
                o.format
                    .as_deref()
                    .map_or(COMPARISON_FORMATS.first(), |name| {
                        comparison_format(name).ok()
                    })
            };
            file.or_else(named).is_some_and(|format| format.verbose)
        },
        only: "only tables and Markdown leave anything out",
        cure: Some("--format table"),
    }];
}

impl Effects for ListOptions {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "code",
        applies: |o| o.what == Listed::Kernels,
        only: "only kernels have machine code",
        cure: None,
    }];
}

/// The command line with both numbers of every option: `--size` is `--sizes`, and `--threads` is
/// `--thread`.
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

/// The plural of a singular, and the other way round.
fn other_number(name: &str) -> String {
    match name {
        _ if name.ends_with("xes") => name[..name.len() - 2].to_owned(),
        _ if name.ends_with('x') => format!("{name}es"),
        _ => name
            .strip_suffix('s')
            .map_or_else(|| format!("{name}s"), str::to_owned),
    }
}
