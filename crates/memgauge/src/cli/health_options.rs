//! Options of `memgauge health`.

use super::common_options::{CommonOptions, MachineOptions};
use super::fleet_options::false_alarms;
use super::since::moment;
use clap::Args;
use experiments::{Effect, Effects};
use host::counter;
use std::path::PathBuf;
use std::str::FromStr;
use units::ParseError;
use verdict::Fraction;

/// A time at which a session starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartTime {
    /// Seconds from the beginning of 1970, UTC.
    pub unix: f64,
}

impl FromStr for StartTime {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let seconds = text.trim().parse::<f64>().ok();
        seconds
            .or_else(|| counter::unix_time_of(&moment(text)?))
            .filter(|unix| (0.0..1e11).contains(unix))
            .map(|unix| Self { unix })
            .ok_or_else(|| {
                ParseError::new(
                    text,
                    "a start is a date with a time (UTC), or the seconds since 1970",
                )
                .with_example("2026-11-24T16:30:00Z")
            })
    }
}

/// Options of `health`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  memgauge health --expect good.json -o '%h.json'")]
pub struct HealthOptions {
    /// Expected figures, as memgauge fleet --write-expectations writes them
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,

    /// Differences up to this share do not matter: 3%, 0.5%
    #[arg(long, value_name = "SHARE", default_value = "3%")]
    pub floor: Fraction,

    /// Figures that chance may move beyond their threshold, in one measurement
    #[arg(long, value_name = "N", default_value = "0.05", value_parser = false_alarms(1.0, "0.05"))]
    pub false_alarms: f64,

    /// Let all ranks of a launcher measure, not one on each machine
    #[arg(long)]
    pub all_ranks: bool,

    /// Start at this time, so that many machines measure together: 2026-11-24T16:30:00Z, or the
    /// seconds since 1970
    #[arg(long, value_name = "TIME")]
    pub start_at: Option<StartTime>,

    /// Facts about the machine that the user knows better
    #[command(flatten)]
    pub machine: MachineOptions,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}

impl Effects for HealthOptions {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "floor",
            applies: |o| o.expect.is_some(),
            only: "without expectations nothing is judged",
            enabled_by: Some("--expect FILE"),
        },
        Effect {
            option: "false-alarms",
            applies: |o| o.expect.is_some(),
            only: "without expectations nothing is judged",
            enabled_by: Some("--expect FILE"),
        },
    ];
}
