//! Options of `memgauge fleet`.

use super::formats::{Formats, fleet_output};
use super::since::Since;
use clap::Args;
use experiments::{Effect, Effects};
use render::FLEET_FORMATS;
use std::path::PathBuf;
use std::str::FromStr;
use units::ParseError;
use verdict::Fraction;

/// Makes a parser of `--false-alarms`: an expected number of false alarms above 0, up to `most`.
/// The error of the parser advises `example`.
pub fn false_alarms(
    most: f64,
    example: &'static str,
) -> impl Fn(&str) -> Result<f64, ParseError> + Clone {
    move |text| {
        let number = text.trim().parse::<f64>().ok();
        number
            .filter(|number| *number > 0.0 && *number <= most)
            .ok_or_else(|| {
                let allowed = format!("a number of false alarms is above 0, up to {most}");
                ParseError::new(text, allowed).with_example(example)
            })
    }
}

/// Value of `--least-nodes`: the number of machines that a verdict needs, 3 or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeastNodes(pub u32);

impl FromStr for LeastNodes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let number = text.trim().parse::<u32>().ok();
        number
            .filter(|number| *number >= 3)
            .map(Self)
            .ok_or_else(|| {
                ParseError::new(text, "a comparison needs 3 machines or more").with_example("5")
            })
    }
}

/// Options of `fleet`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  memgauge fleet reports -o fleet.html")]
pub struct FleetOptions {
    /// Reports of machines, files with a report in each line, folders of both, - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Find machines that became slower since WHEN, against their own older reports: a date or an
    /// age such as 7d
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,

    /// Differences up to this share do not matter: 3%, 0.5%
    #[arg(long, value_name = "SHARE", default_value = "3%")]
    pub floor: Fraction,

    /// Values that chance may move beyond their threshold, in the whole fleet
    #[arg(long, value_name = "N", default_value = "1", value_parser = false_alarms(1e6, "1"))]
    pub false_alarms: f64,

    /// Machines with the same hardware that a verdict needs
    #[arg(long, value_name = "N", default_value = "5")]
    pub least_nodes: LeastNodes,

    /// Judge by the expectations in FILE instead of the peers, for hardware that it knows
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,

    /// Write the figures of these machines to FILE, as expectations of others
    #[arg(long, value_name = "FILE")]
    pub write_expectations: Option<PathBuf>,

    /// Format on standard output; help tells what each is
    #[arg(long, value_name = "FORMAT", value_parser = Formats::of_fleets(), ignore_case = true)]
    pub format: Option<String>,

    /// File for the result
    #[arg(long, short, value_name = "FILE", help = fleet_output())]
    pub output: Option<PathBuf>,

    /// Every machine that is not healthy, every group and every input left out
    #[arg(long, short)]
    pub verbose: bool,
}

impl Effects for FleetOptions {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "verbose",
        applies: |o| FLEET_FORMATS.has_verbose(o.output.as_deref(), o.format.as_deref()),
        only: "only tables leave anything out",
        enabled_by: Some("--format table"),
    }];
}
