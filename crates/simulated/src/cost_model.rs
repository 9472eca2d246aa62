//! Costs of a simulated machine.

use crate::disturbances::NoiseModel;
use crate::numa::NodesCost;
use crate::ping_pong::HandOffCost;
use crate::storage_model::StorageModel;
use kernels::SetId;
use std::collections::BTreeMap;
use units::{Bytes, BytesPerSecond, CpuList, Hertz, Nanos};

/// Costs of a cache level or of memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelCost {
    /// Payload that one thread reads per second when its data lies there.
    pub read: BytesPerSecond,
    /// One dependent load.
    pub latency: Nanos,
}

/// The cost model.
#[derive(Debug, Clone, PartialEq)]
pub struct CostModel {
    /// One for each data cache level of the topology, nearest first, and one for memory.
    pub levels: Vec<LevelCost>,
    /// Bytes per second that all threads together read from memory.
    pub memory_total: BytesPerSecond,
    /// The core clock.
    pub core: Hertz,
    /// Rate at which all threads together fault memory in.
    pub fault: BytesPerSecond,
    /// Whether a chain larger than a cache still finds there what the cache holds of it, as with
    /// random replacement; else all of it lies behind.
    pub partial_hits: bool,
    /// Extra time of a dependent load in base pages beyond `tlb_reach`.
    pub page_walk: Nanos,
    /// Memory that the TLBs cover with base pages.
    pub tlb_reach: Bytes,
    /// TLBs, nearest first, beside that one.
    pub tlbs: Vec<TlbLevel>,
    /// Share of memory that is granted in the requested pages.
    pub granted: f64,
    /// Kernels that `--width best` has the choice of, and the share of the model's bandwidth that
    /// each reaches; with none there is no choice.
    pub choices: Vec<(SetId, f64)>,
    /// Cost of memory under load.
    pub load: LoadCost,
    /// Shares of threads that share something.
    pub sharing: SharingModel,
    /// How caches replace, prefetch and differ from what is reported.
    pub caches: CacheCost,
    /// Time of CPUs to hand a line over.
    pub hand_off: HandOffCost,
    /// Cost of memory of several nodes.
    pub nodes: NodesCost,
    /// Disturbances of samples.
    pub noise: NoiseModel,
    /// Model of every file.
    pub storage: StorageModel,
}

/// How the caches behave.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheCost {
    /// Effective capacity of each data cache, nearest first, if it is not the reported one; a cache
    /// that is missing here has the reported one.
    pub holds: Vec<Bytes>,
    /// Who really shares the caches of a level, by level, where that is not what the system
    /// reports: groups of CPUs.
    pub shared: BTreeMap<u32, Vec<CpuList>>,
    /// Whether each cache holds only what the nearer ones do not: a level then ends where all up to
    /// it are full.
    pub exclusive: bool,
    /// Whether pages fill the sets of all caches but the first by chance, as small pages from
    /// anywhere do: half of what is as large as a cache then finds no place in it.
    pub scattered: bool,
    /// Whether lines compete for the ways of a set: else any lines as large as the cache fit. The
    /// last cache's sets are chosen by a hash, so that it has none that could be filled on purpose.
    pub sets: bool,
    /// The line.
    pub line: Bytes,
    /// Whether a line that comes from behind the second cache brings the other one of its aligned
    /// pair.
    pub adjacent: bool,
    /// The largest distance between loads in a row that the prefetchers follow.
    pub followed: Bytes,
}

impl Default for CacheCost {
    fn default() -> Self {
        Self {
            holds: Vec::new(),
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
    /// A load takes `1 + queue * u / (1 - u)` times as long as an idle one where the share `u` of
    /// the memory's bandwidth is in use: the mean wait of a queue with random arrivals.
    pub queue: f64,
    /// The largest share that counts: queues are finite.
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

/// Shares of threads that share something. By default only memory is shared, and evenly.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SharingModel {
    /// Work of the threads of a core together, relative to one of them alone; `None` if each does
    /// as much as alone.
    pub core: Option<f64>,
    /// Bytes per second that the threads of one last-level cache read from memory together.
    pub cluster: Option<BytesPerSecond>,
    /// Bytes per second that the threads of a node read from memory together.
    pub node: Option<BytesPerSecond>,
    /// Share of what memory gives to all that is lost with every thread more than saturate it.
    pub crowding: f64,
    /// CPUs of a slower kind, and what they do relative to the others.
    pub slower: Option<(Vec<u32>, f64)>,
    /// Share of its time that a CPU with several threads loses by switching between them.
    pub switching: f64,
}

/// One TLB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TlbLevel {
    /// Base pages that it covers.
    pub entries: u64,
    /// Larger pages that it covers.
    pub huge: u64,
    /// Extra time of a load whose page is not in it.
    pub miss: Nanos,
}
