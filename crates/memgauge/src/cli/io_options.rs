//! The options of `memgauge io`.

use super::common_options::{CommonOptions, Pool};
use clap::Args;
use std::path::PathBuf;
use storage::Settings;

/// Options of `io`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  memgauge io FILE --pattern random --depth 1,32")]
pub struct IoOptions {
    /// Operations on storage, their target, and their pattern
    #[command(flatten)]
    pub settings: Settings,

    /// Write every operation to this new FILE: CSV, or JSON Lines where it ends in .jsonl
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Which CPUs are used
    #[command(flatten)]
    pub pool: Pool,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}
