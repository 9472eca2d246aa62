//! The options of `memgauge gpu`.

use super::common_options::CommonOptions;
use clap::Args;
use gpu::Settings;

/// Options of `gpu`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  memgauge gpu --measure bandwidth --model-size 8GB")]
pub struct GpuOptions {
    /// Devices, operations and sizes
    #[command(flatten)]
    pub settings: Settings,

    /// Options of every measurement
    #[command(flatten)]
    pub common: CommonOptions,
}
