//! The options of `memgauge numa`.

use crate::command::{Effect, Effects};
use crate::experiment::Detail;
use crate::lists::{
    Interleavings, OperationSpec, Operations, PageModes, Quantities, Spread, Studied,
};
use host::memory::PageMode;
use kernels::Operation;
use units::error::{Error, Result};
use units::{Bytes, CpuList, ThreadCount, ThreadList};

/// Nodes to measure, and how.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Quantities to measure: bandwidth, latency
    #[arg(long, value_name = "LIST", default_value = "bandwidth,latency")]
    pub measure: Quantities,

    /// Operations of the bandwidth, as `memgauge list kernels` names them
    #[arg(long, value_name = "LIST", default_value = "read,write,copy")]
    pub ops: Operations,

    /// Nodes whose CPUs access memory: 0,2-3 [default: all with CPUs of the run]
    #[arg(long, value_name = "LIST")]
    pub cpu_nodes: Option<CpuList>,

    /// Nodes whose memory is accessed, with CPUs or without [default: all with memory]
    #[arg(long, value_name = "LIST", aliases = ["node", "nodes"])]
    pub memory_nodes: Option<CpuList>,

    /// Threads on each CPU node, as many as it has at most: a number or all [default: one on each
    /// physical core]
    #[arg(long, value_name = "N")]
    pub threads: Option<ThreadList>,

    /// Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), best (the largest of
    /// these that there are)
    #[arg(long, value_name = "LIST", default_value = "thp")]
    pub pages: PageModes,

    /// Working set of each thread, and of the chain [default: four times the last-level caches that
    /// the CPU node has]
    #[arg(long, value_name = "SIZE", alias = "size")]
    pub sizes: Option<Bytes>,

    /// Memory spread over all memory nodes: even (a page from each in turn), weighted (by the
    /// administrator's weights), none
    #[arg(long, value_name = "LIST", default_value = "even,weighted")]
    pub interleave: Interleavings,
}

/// True if the settings request bandwidth.
fn measures_bandwidth(settings: &Settings) -> bool {
    settings.measure.0.contains(&Studied::Bandwidth)
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "ops",
            applies: measures_bandwidth,
            only: "only bandwidth has operations",
            enabled_by: Some("--measure bandwidth,latency"),
        },
        Effect {
            option: "threads",
            applies: measures_bandwidth,
            only: "only bandwidth has several threads",
            enabled_by: Some("--measure bandwidth,latency"),
        },
        Effect {
            option: "interleave",
            applies: measures_bandwidth,
            only: "only bandwidth is measured over interleaved memory",
            enabled_by: Some("--measure bandwidth,latency"),
        },
    ];
}

impl Settings {
    /// Settings of the experiment in a profile with this detail.
    pub fn in_profile(detail: Detail) -> Self {
        let requested = |operations: &[Operation]| {
            Operations(
                operations
                    .iter()
                    .copied()
                    .map(OperationSpec::Exactly)
                    .collect(),
            )
        };
        let whole = detail == Detail::Sweep;
        let spread = if whole {
            vec![Spread::Even, Spread::Weighted]
        } else {
            vec![Spread::None]
        };
        Self {
            measure: Quantities(vec![Studied::Bandwidth, Studied::Latency]),
            ops: requested(if whole {
                &[Operation::Read, Operation::Write, Operation::Copy]
            } else {
                &[Operation::Read]
            }),
            cpu_nodes: None,
            memory_nodes: None,
            threads: None,
            pages: PageModes(vec![PageMode::Transparent]),
            sizes: None,
            interleave: Interleavings(spread),
        }
    }

    /// Number of threads on each node with CPUs; `None` for one thread on each physical core. Fails
    /// for `best` and for several numbers.
    pub fn threads(&self) -> Result<Option<ThreadCount>> {
        match self.threads.as_ref().map(|list| list.0.as_slice()) {
            None => Ok(None),
            Some([one]) if *one != ThreadCount::Best => Ok(Some(*one)),
            Some([ThreadCount::Best]) => Err(Error::usage(
                "no best number of threads: nodes are compared with as many each; type --threads \
                 all",
            )),
            Some(_) => Err(Error::usage(
                "several thread counts: one is measured at a time; type --threads all",
            )),
        }
    }
}
