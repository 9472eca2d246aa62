//! Cost model of the simulated machine: all figures from which its answers follow.

use crate::disturbances::NoiseModel;
use crate::numa::NodesCost;
use crate::ping_pong::HandOffCost;
use crate::storage_model::StorageModel;
use kernels::SetId;
use std::collections::BTreeMap;
use units::{Bytes, BytesPerSecond, CpuList, Hertz, Nanos};

/// Costs of a cache level, or of memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelCost {
    /// Payload bytes per second that one thread alone reads from this level.
    pub read: BytesPerSecond,
    /// Latency of a dependent load.
    pub latency: Nanos,
}

/// All costs of a simulated machine.
#[derive(Debug, Clone, PartialEq)]
pub struct CostModel {
    /// Costs of each data cache level of the topology, nearest first, and of memory.
    pub levels: Vec<LevelCost>,
    /// Bytes per second that all threads together read from memory.
    pub memory_total: BytesPerSecond,
    /// The core clock.
    pub core: Hertz,
    /// Bytes per second of newly mapped memory that all threads together fault in.
    pub fault: BytesPerSecond,
    /// True if a chain larger than a cache has hits for the part that the cache holds, as with
    /// random replacement. Otherwise such a chain has no hits.
    pub partial_hits: bool,
    /// Extra latency of a load in base pages, if its chain is larger than `tlb_reach`.
    pub page_walk: Nanos,
    /// Size of the memory whose base pages fit the TLBs.
    pub tlb_reach: Bytes,
    /// TLBs with an extra latency of their own, nearest first.
    pub tlbs: Vec<TlbLevel>,
    /// Share of memory that the kernel grants in the requested size of pages.
    pub granted: f64,
    /// Candidates of `--width best`, each with its share of the model's bandwidth. Without any, no
    /// kernel selection takes place.
    pub choices: Vec<(SetId, f64)>,
    /// Cost of memory under load.
    pub load: LoadCost,
    /// Rates of threads that use the same core, cluster, node or memory.
    pub sharing: SharingModel,
    /// Capacity, replacement and prefetching of the caches, where they differ from the report.
    pub caches: CacheCost,
    /// Cost of round trips of a cache line between CPUs.
    pub hand_off: HandOffCost,
    /// Cost of memory on several nodes.
    pub nodes: NodesCost,
    /// Disturbances of samples.
    pub noise: NoiseModel,
    /// Storage device with all files.
    pub storage: StorageModel,
}

/// Behaviour of the caches.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheCost {
    /// Effective capacity of each data cache, nearest first, if it differs from the reported one. A
    /// cache that is missing here has the reported capacity.
    pub holds: Vec<Bytes>,
    /// Least and largest capacity that neighbours leave of the last cache. Each sample of a chase
    /// finds another capacity in this range, which replaces the last value of `holds`.
    pub left_by_neighbours: Option<(Bytes, Bytes)>,
    /// Groups of CPUs that really share a cache, by level. A level without an entry is as reported.
    pub shared: BTreeMap<u32, Vec<CpuList>>,
    /// True if each cache holds only lines that nearer caches do not hold. A level then has hits up
    /// to the sum of its own size and those of nearer caches.
    pub exclusive: bool,
    /// True if the pages of a working set fill the sets at random, in all caches but the first.
    /// Half of a working set as large as the cache then does not fit, as with small pages.
    pub scattered: bool,
    /// True if lines compete for the ways of a set. Otherwise any lines fit, up to the size of the
    /// cache. The last-level cache never has this limit, because a hash chooses its sets.
    pub sets: bool,
    /// Size of a line in bytes.
    pub line: Bytes,
    /// True if a load from beyond the second cache also fetches the other line of an aligned pair.
    pub adjacent: bool,
    /// Largest distance between consecutive loads at which prefetchers still work.
    pub followed: Bytes,
}

impl Default for CacheCost {
    fn default() -> Self {
        Self {
            holds: Vec::new(),
            left_by_neighbours: None,
            shared: BTreeMap::new(),
            exclusive: false,
            scattered: false,
            sets: false,
            line: Bytes(64),
            adjacent: false,
            followed: Bytes(u64::MAX),
        }
    }
}

/// Cost of memory under load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadCost {
    /// A load takes `1 + queue * u / (1 - u)` times as long as an idle one if the share `u` of the
    /// memory's bandwidth is in use: the mean wait of a queue with random arrivals.
    pub queue: f64,
    /// Largest value of `u`, because queues are finite.
    pub fullest: f64,
}

impl Default for LoadCost {
    fn default() -> Self {
        Self {
            queue: 0.25,
            fullest: 0.9,
        }
    }
}

/// Limits of threads that share a resource. By default memory is the only limit, evenly divided.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SharingModel {
    /// Rate of all threads of a core together, relative to one thread alone. `None` if threads of a
    /// core do not slow each other down.
    pub core: Option<f64>,
    /// Bytes per second that the threads of one last-level cache read from memory together.
    pub cluster: Option<BytesPerSecond>,
    /// Bytes per second that the threads of a node read from memory together.
    pub node: Option<BytesPerSecond>,
    /// Share of the memory bandwidth that each thread costs that is not needed to saturate it.
    pub crowding: f64,
    /// CPUs of a slower kind, and their speed relative to the others.
    pub slower: Option<(Vec<u32>, f64)>,
    /// Share of the time of a CPU with several threads that switching between them takes.
    pub switching: f64,
}

/// One TLB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TlbLevel {
    /// Number of base pages that the TLB covers.
    pub entries: u64,
    /// Number of larger pages that the TLB covers.
    pub huge: u64,
    /// Extra latency of a load whose page the TLB does not cover.
    pub miss: Nanos,
}
