//! The options of `memgauge loaded-latency`.

use super::mix::Mixes;
use crate::command::{Effect, Effects};
use crate::lists::{Count, Counts, PageModes};
use host::memory::PageMode;
use units::{Bytes, CpuList};

/// Settings of the traffic and of the chase.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Loads to stores of the traffic, a curve each; 0:100nt has non-temporal stores [default:
    /// 100:0,75:25,67:33,50:50,0:100,0:100nt]
    #[arg(long, value_name = "LIST")]
    pub mixes: Option<Mixes>,

    /// Core cycles that each thread of the traffic pauses after 4 KiB, 0 for none [default: 65536
    /// down to 256 by halves, and 0]
    #[arg(long, value_name = "LIST")]
    pub pauses: Option<Counts>,

    /// Points at most that are added to each curve where it bends
    #[arg(long, value_name = "N", default_value = "4")]
    pub points: Count,

    /// The CPU that follows pointers [default: the first that is allowed, of each kind of core]
    #[arg(long, value_name = "CPU", alias = "cpu")]
    pub cpus: Option<CpuList>,

    /// CPUs of the traffic [default: the others on the same NUMA node, but those that share a core
    /// with --cpus]
    #[arg(long, value_name = "LIST")]
    pub traffic_cpus: Option<CpuList>,

    /// How many of the CPUs of the traffic to use [default: all]
    #[arg(long, value_name = "N")]
    pub threads: Option<Count>,

    /// In place of mixes: this many threads that only load (with --writers)
    #[arg(long, value_name = "N", conflicts_with_all = ["mixes", "threads"])]
    pub readers: Option<Count>,

    /// In place of mixes: this many threads that only store (with --readers)
    #[arg(long, value_name = "M", conflicts_with_all = ["mixes", "threads"])]
    pub writers: Option<Count>,

    /// Pages of all memory: 4k, thp (transparent huge pages), huge (reserved huge pages), best (the
    /// largest of these that there are)
    #[arg(long, value_name = "LIST", default_value = "thp")]
    pub pages: PageModes,

    /// Memory that the chain spans, rounded down to whole lines [default: as `memgauge latency` in
    /// memory]
    #[arg(long, value_name = "SIZE", alias = "size")]
    pub sizes: Option<Bytes>,

    /// NUMA nodes of all memory, one after another [default: that of --cpus, and the most distant
    /// one]
    #[arg(long, value_name = "LIST", aliases = ["node", "nodes"])]
    pub memory_nodes: Option<CpuList>,

    /// Measure what this CPU loses when others use the memory: its latency and its bandwidth, alone
    /// and next to --aggressor
    #[arg(
        long,
        value_name = "CPU",
        conflicts_with_all = ["cpus", "traffic_cpus", "threads", "readers", "writers", "points"],
    )]
    pub victim: Option<CpuList>,

    /// CPUs that use the memory next to --victim [default: all others]
    #[arg(long, value_name = "LIST")]
    pub aggressor: Option<CpuList>,
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "aggressor",
        applies: |s| s.victim.is_some(),
        only: "only a victim has others that use the memory meanwhile",
        enabled_by: Some("--victim 0"),
    }];
}

impl Settings {
    /// Settings of a command line without any option.
    pub fn plain() -> Self {
        Self {
            mixes: None,
            pauses: None,
            points: Count(4),
            cpus: None,
            traffic_cpus: None,
            threads: None,
            readers: None,
            writers: None,
            pages: PageModes(vec![PageMode::Transparent]),
            sizes: None,
            memory_nodes: None,
            victim: None,
            aggressor: None,
        }
    }
}
