//! Defines the cost model of the simulated machine: all figures from which it computes its answers.

use crate::disturbances::NoiseModel;
use crate::numa::NodesCost;
use crate::ping_pong::HandOffCost;
use crate::storage_model::StorageModel;
use kernels::SetId;
use std::collections::BTreeMap;
use units::{Bytes, BytesPerSecond, CpuList, Hertz, Nanos};

/// Costs of loads from a cache level or from memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelCost {
    /// Payload bytes per second that one thread reads from this level when no other thread runs.
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
    /// Bytes per second of newly mapped memory that all threads together touch for the first time.
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
    /// Share (0 to 1) of memory that the simulated kernel provides in pages of the requested size.
    pub granted: f64,
    /// Candidates of `--width best`, each with a factor on the bandwidth of the model. If the list
    /// is empty, there is no kernel selection.
    pub choices: Vec<(SetId, f64)>,
    /// Cost of memory under load.
    pub load: LoadCost,
    /// Rates of threads that use the same core, cluster, node or memory.
    pub sharing: SharingModel,
    /// Properties of the caches that timing shows, but that the reported facts lack or state
    /// wrongly.
    pub caches: CacheCost,
    /// Cost of round trips of a cache line between CPUs.
    pub hand_off: HandOffCost,
    /// Cost of memory on several nodes.
    pub nodes: NodesCost,
    /// Disturbances of samples.
    pub noise: NoiseModel,
    /// Storage device, on which all files lie.
    pub storage: StorageModel,
}

/// Behaviour of the caches, where it differs from the reported facts.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheCost {
    /// Effective capacity of each data cache, nearest first. A cache without an entry has the
    /// reported capacity.
    pub holds: Vec<Bytes>,
    /// Least and largest capacity of the last cache that other programs leave free. Each sample of
    /// a chase finds another capacity in this range, which replaces the last value of `holds`.
    /// `None` if other programs do not use the last cache.
    pub left_by_neighbours: Option<(Bytes, Bytes)>,
    /// Groups of CPUs that share a cache, by level. The caches of a level without an entry are
    /// shared as the topology says.
    pub shared: BTreeMap<u32, Vec<CpuList>>,
    /// True if each cache holds only lines that nearer caches do not hold. A level then has hits up
    /// to the sum of its own size and the sizes of nearer caches.
    pub exclusive: bool,
    /// True if the pages of a working set are mapped to the cache sets at random, as with small
    /// pages. The first cache is an exception. Of a working set as large as a cache, about half
    /// then does not fit.
    pub scattered: bool,
    /// True if the number of lines that fit is limited by the ways of their cache sets. Otherwise
    /// any lines fit, up to the size of the cache. The last-level cache never has this limit,
    /// because a hash chooses its sets.
    pub sets: bool,
    /// Size of a line in bytes.
    pub line: Bytes,
    /// True if a load that misses the second cache also fetches the other line of an aligned pair
    /// of lines.
    pub adjacent: bool,
    /// Largest distance in bytes between consecutive loads that prefetchers follow.
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
    /// If the share `u` of the memory's bandwidth is in use, a load takes `1 + queue * u / (1 - u)`
    /// times as long as in idle memory. This is the mean wait of a queue with random arrivals.
    pub queue: f64,
    /// Largest value of `u`. It limits the wait, because real queues are finite.
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

/// Limits of threads that share a resource. By default, the only limit is the bandwidth of memory,
/// which threads share evenly.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SharingModel {
    /// Rate of all threads on a core together, divided by the rate of one thread alone. `None` if
    /// the threads on a core do not slow each other down.
    pub core: Option<f64>,
    /// Bytes per second that the threads of one last-level cache read from memory together; `None`
    /// for no such limit.
    pub cluster: Option<BytesPerSecond>,
    /// Bytes per second that the threads of a node read from memory together; `None` for no such
    /// limit.
    pub node: Option<BytesPerSecond>,
    /// Share of the memory bandwidth that is lost for each thread beyond the number that saturates
    /// memory.
    pub crowding: f64,
    /// CPUs of a slower kind, and their speed divided by the speed of the other CPUs. `None` if all
    /// CPUs are of one kind.
    pub slower: Option<(Vec<u32>, f64)>,
    /// Share of a CPU's time that is lost to switching if several threads share the CPU.
    pub switching: f64,
}

/// Size and cost of a TLB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TlbLevel {
    /// Number of base pages that the TLB covers.
    pub entries: u64,
    /// Number of larger pages that the TLB covers.
    pub huge: u64,
    /// Extra latency of a load whose page the TLB does not cover.
    pub miss: Nanos,
}
