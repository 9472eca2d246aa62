//! Options of `memgauge run` that replace a profile. They request bandwidth and latency of the same
//! memory.

use crate::lists::{OperationSpec, Operations, PageModes, Widths};
use std::str::FromStr;
use units::{CpuList, ParseError, SizeList, ThreadList, parse_list};

/// Word that requests latency in the list of operations.
const LATENCY: &str = "latency";

/// Operations of bandwidth, and latency as an operation: `read,write,copy,latency`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedOperations {
    /// Operations that move bytes.
    pub bandwidth: Vec<OperationSpec>,
    /// True if latency is measured too.
    pub latency: bool,
}

impl FromStr for MixedOperations {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let one = |text: &str| {
            if text == LATENCY {
                Ok(None)
            } else {
                text.parse().map(Some)
            }
        };
        let all: Vec<Option<OperationSpec>> = parse_list(text, one)?;
        Ok(Self {
            latency: all.contains(&None),
            bandwidth: all.into_iter().flatten().collect(),
        })
    }
}

/// Operations of bandwidth and latency. A field that is `None` is the profile's choice.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(
    next_help_heading = "Bandwidth and latency of chosen memory, in place of the profile's \
         experiments"
)]
pub struct Choices {
    /// Operations: those of `memgauge bandwidth`, and latency [default: those of the profile, and
    /// latency]
    #[arg(long, value_name = "LIST")]
    pub ops: Option<MixedOperations>,

    /// Working set of each thread: 32KiB,1MiB or 4KiB..1GiB or 4KiB..64KiB:4KiB; bare numbers are
    /// bytes
    #[arg(long, value_name = "LIST")]
    pub sizes: Option<SizeList>,

    /// Threads that move bytes, one per CPU: 1,2,all or 1..8 or best; latency is that of one thread
    #[arg(long, value_name = "LIST")]
    pub threads: Option<ThreadList>,

    /// Registers: 64, 128, 256, 512 bits, a set (sse2, avx2, neon), widest, best (the fastest at
    /// each point)
    #[arg(long, value_name = "LIST")]
    pub width: Option<Widths>,

    /// Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), huge-1GiB (of one of
    /// several pools)
    #[arg(long, value_name = "LIST")]
    pub pages: Option<PageModes>,

    /// NUMA nodes of all memory, one after another [default: that of each thread]
    #[arg(long, value_name = "LIST", aliases = ["node", "nodes"])]
    pub memory_nodes: Option<CpuList>,
}

impl Choices {
    /// True if the user chose at least one of the options.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }

    /// True if operations that move bytes are to be measured.
    pub fn has_bandwidth(&self) -> bool {
        self.ops
            .as_ref()
            .is_none_or(|ops| !ops.bandwidth.is_empty())
    }

    /// True if latency is to be measured.
    pub fn has_latency(&self) -> bool {
        self.ops.as_ref().is_none_or(|ops| ops.latency)
    }

    /// The chosen operations that move bytes; `None` if the user chose no operations.
    pub fn operations(&self) -> Option<Operations> {
        self.ops
            .as_ref()
            .map(|ops| Operations(ops.bandwidth.clone()))
    }
}
