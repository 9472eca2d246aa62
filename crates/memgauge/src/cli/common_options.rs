//! Options of several commands: about the machine, and of every measurement.

use super::formats::{Formats, format_named, run_output, uses};
use crate::plan::LARGEST_MAX_POINTS;
use clap::Args;
use experiments::{Effect, Effects, LastLevel};
use render::Renderer;
use std::path::PathBuf;
use units::{BytesPerSecond, CpuList, Nanos, ParseError, short_time, whole_number};

/// CPUs of measurements that use several.
#[derive(Debug, Default, Args)]
pub struct Pool {
    /// CPUs to use, in this order: 0-3,8 [default: all that are allowed, physical cores first]
    #[arg(long, value_name = "LIST", help_heading = "Machine")]
    pub cpus: Option<CpuList>,
}

/// Upper limit of memory bandwidth.
#[derive(Debug, Default, Args)]
pub struct Peak {
    /// Highest memory bandwidth, for shares and plausibility: 204.8GB/s; a bare number is GB/s
    /// [default: from the memory modules, if readable]
    #[arg(long, value_name = "RATE", help_heading = "Machine")]
    pub dram_peak: Option<BytesPerSecond>,
}

/// Last-level cache for the sizes of working sets.
#[derive(Debug, Default, Args)]
pub struct Sizing {
    /// Last-level cache of the CPUs together, by which memory is sized: 32MiB, or measured (by a
    /// sweep at the beginning) [default: as the system reports, or larger if a sweep finds more]
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub last_level: Option<LastLevel>,
}

/// Facts about the machine that the user knows. An option that a command does not take is absent.
#[derive(Debug, Default, Args)]
pub struct MachineOptions {
    /// CPUs to use
    #[command(flatten)]
    pub pool: Pool,

    /// Highest memory bandwidth
    #[command(flatten)]
    pub peak: Peak,

    /// Last-level cache that sizes memory
    #[command(flatten)]
    pub sizing: Sizing,
}

/// Parses the value of `--max-points`. The error advises 1000, which is enough for the default
/// options of every command.
fn most_points(text: &str) -> Result<usize, ParseError> {
    whole_number(1, LARGEST_MAX_POINTS as u64)(text).map_err(|wrong| wrong.with_example("1000"))
}

/// Options of every measurement.
#[derive(Debug, Args)]
pub struct CommonOptions {
    /// Time for everything: 90s, 2min; a bare number is seconds [default: the profile's, or 60s for
    /// a single experiment]
    #[arg(long, value_name = "TIME", help_heading = "Session")]
    pub budget: Option<Nanos>,

    /// Samples of each point, at least 3 [default: until the interval is narrow or the time is
    /// over]
    #[arg(long, value_name = "N", help_heading = "Session", value_parser = whole_number::<u32>(3, 1_000_000))]
    pub samples: Option<u32>,

    /// Print the plan with its time and memory, and measure nothing; --format json and jsonl print
    /// it as data
    #[arg(long, help_heading = "Session")]
    pub dry_run: bool,

    /// Continue an unfinished session of the same command: FILE is its journal (.journal.jsonl),
    /// its report (.json), or last
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    pub resume: Option<PathBuf>,

    /// Format on standard output; help tells what each is
    #[arg(
        long,
        value_name = "FORMAT",
        help_heading = "Output",
        value_parser = Formats::of_reports(),
        ignore_case = true,
    )]
    pub format: Option<String>,

    /// File for the result
    #[arg(long, short, value_name = "FILE", help_heading = "Output", help = run_output())]
    pub output: Option<PathBuf>,

    /// Title of a picture or a page [default: its subject]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub title: Option<String>,

    /// Exit with 3 if any number is less than solid
    #[arg(long, help_heading = "Output")]
    pub strict: bool,

    /// Tables with every reason and every dataset
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,

    /// Carry out the whole plan this many times, with fresh memory each time
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        help_heading = "Advanced",
        value_parser = whole_number::<u32>(1, 1000),
    )]
    pub repeat: u32,

    /// Spread the rounds of every point over this many fresh allocations: does placement matter?
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        help_heading = "Advanced",
        value_parser = whole_number::<u32>(1, 1000),
    )]
    pub reallocate: u32,

    /// Seed of every random choice [default: from the clock; the report has it]
    #[arg(long, value_name = "N", help_heading = "Advanced", value_parser = whole_number::<u64>(0, u64::MAX))]
    pub seed: Option<u64>,

    /// Pause before each point's turn: 100ms
    #[arg(long, value_name = "TIME", default_value = "0s", help_heading = "Advanced", value_parser = short_time)]
    pub cooldown: Nanos,

    /// Refuse plans with more points than this [default: 1000, or 2000 for run]
    #[arg(long, value_name = "N", help_heading = "Advanced", value_parser = most_points)]
    pub max_points: Option<usize>,

    /// With sc-membench: peaks, averages and scores by that tool's formulas, on standard error
    #[arg(long, help_heading = "Advanced")]
    pub scores: bool,
}

impl CommonOptions {
    /// Renderer for standard output; `None` for an unknown format.
    fn shown(&self) -> Option<&'static dyn Renderer> {
        format_named(self.format.as_deref())
    }

    /// Renderer for the file of `--output`. `None` if no file is named, or if its extension is
    /// unknown.
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
            enabled_by: Some("--format sc-membench"),
        },
        Effect {
            option: "title",
            applies: |o| uses(o.shown(), "title") || uses(o.saved(), "title"),
            only: "only pages and pictures have a title",
            enabled_by: Some("--format svg"),
        },
        Effect {
            option: "verbose",
            applies: |o| uses(o.shown(), "verbose") || uses(o.saved(), "verbose"),
            only: "only tables, Markdown and sc-membench leave anything out",
            enabled_by: Some("--format table"),
        },
    ];
}
