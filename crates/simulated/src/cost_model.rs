//! Costs of the simulated machine.

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
    /// Payload per second that one thread reads from this level.
    pub read: BytesPerSecond,
    /// Latency of a dependent load.
    pub latency: Nanos,
}

/// The cost model.
#[derive(Debug, Clone, PartialEq)]
pub struct CostModel {
    /// Costs of each data cache level of the topology, nearest first, and of memory.
    pub levels: Vec<LevelCost>,
    /// Bytes per second that all threads together read from memory.
    pub memory_total: BytesPerSecond,
    /// The core clock.
    pub core: Hertz,
    /// Rate at which all threads together fault in memory.
    pub fault: BytesPerSecond,
    /// True if a chain larger than a cache has hits for the part that the cache holds, as with
    /// random replacement. Otherwise it has no hits.
    pub partial_hits: bool,
    /// Extra latency in base pages beyond `tlb_reach`.
    pub page_walk: Nanos,
    /// Memory that the TLBs cover with base pages.
    pub tlb_reach: Bytes,
    /// Further TLBs, nearest first.
    pub tlbs: Vec<TlbLevel>,
    /// Share of memory that is granted in the requested pages.
    pub granted: f64,
    /// Candidates of `--width best`, and the share of the model's bandwidth that each reaches. If
    /// empty, there is no kernel selection.
    pub choices: Vec<(SetId, f64)>,
    /// Cost of memory under load.
    pub load: LoadCost,
    /// Shares of threads that use the same core, cluster, node or memory.
    pub sharing: SharingModel,
    /// How caches replace and prefetch, and where they differ from the report.
    pub caches: CacheCost,
    /// Round trips between CPUs.
    pub hand_off: HandOffCost,
    /// Cost of memory on several nodes.
    pub nodes: NodesCost,
    /// Disturbances of samples.
    pub noise: NoiseModel,
    /// Model of every file.
    pub storage: StorageModel,
}

/// Behaviour of the caches.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheCost {
    /// Effective capacity of each data cache, nearest first, if it differs from the reported one. A
    /// cache that is missing here has the reported capacity.
    pub holds: Vec<Bytes>,
    /// Least and largest room that neighbours leave in the last cache. Each sample of a chase finds
    /// another room between the two, which replaces the last row of `holds`.
    pub left_by_neighbours: Option<(Bytes, Bytes)>,
    /// CPUs that really share the caches of a level, by level, if they differ from the report.
    pub shared: BTreeMap<u32, Vec<CpuList>>,
    /// True if each cache holds only lines that the nearer ones do not. A level then ends where it
    /// and all nearer ones are full.
    pub exclusive: bool,
    /// True if pages fill the sets of all caches but the first at random, as small pages from
    /// anywhere do. Half of a working set as large as the cache then finds no room in it.
    pub scattered: bool,
    /// True if lines compete for the ways of a set; otherwise any lines up to the cache's size fit.
    /// The last-level cache chooses its sets by a hash, so no addresses fill one of its sets.
    pub sets: bool,
    /// Size of a line.
    pub line: Bytes,
    /// True if a line from behind the second cache brings its neighbour of the aligned pair.
    pub adjacent: bool,
    /// Largest distance between consecutive loads that the prefetchers follow.
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
    /// Largest share that counts, because queues are finite.
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

/// Shares of threads that use the same resource. By default only memory is shared, and evenly.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SharingModel {
    /// Rate of all threads of a core together, relative to one alone. `None` if each thread is as
    /// fast as alone.
    pub core: Option<f64>,
    /// Bytes per second that the threads of one last-level cache read from memory together.
    pub cluster: Option<BytesPerSecond>,
    /// Bytes per second that the threads of a node read from memory together.
    pub node: Option<BytesPerSecond>,
    /// Share of the total memory bandwidth that is lost with every thread beyond saturation.
    pub crowding: f64,
    /// CPUs of a slower kind, and their relative speed.
    pub slower: Option<(Vec<u32>, f64)>,
    /// Share of its time that a CPU with several threads loses by switching.
    pub switching: f64,
}

/// One TLB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TlbLevel {
    /// Number of base pages that it covers.
    pub entries: u64,
    /// Number of larger pages that it covers.
    pub huge: u64,
    /// Extra latency of a load whose page is not in it.
    pub miss: Nanos,
}
