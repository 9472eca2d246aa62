//! Facts about the machine, each with where it came from.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, BytesPerSecond, CpuList, Hertz};

/// A fact and its source. Of an unknown fact, `value` is `null` and `source` says why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Fact<T> {
    /// Value of the fact.
    pub value: Option<T>,
    /// A file, a CPUID leaf, a system call, or why it is unknown.
    pub source: String,
}

impl<T> Fact<T> {
    /// Fact that a report was written without.
    fn unrecorded() -> Self {
        Fact {
            value: None,
            source: "the report was written without it".to_owned(),
        }
    }

    /// `value`, read from `source`.
    pub fn known(value: T, source: impl Into<String>) -> Self {
        Fact {
            value: Some(value),
            source: source.into(),
        }
    }

    /// Not known, and why.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Fact {
            value: None,
            source: reason.into(),
        }
    }

    /// The value, if it is known.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }
}

/// Fact that a report of an earlier version does not have.
impl<T> Default for Fact<T> {
    fn default() -> Self {
        Fact::unknown("not in the reports of the version that wrote this one")
    }
}

/// Bytes that one core's L1 data cache can deliver and take per core clock cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PortWidth {
    /// Loaded bytes per cycle.
    pub load_bytes: u32,
    /// Stored bytes per cycle.
    pub store_bytes: u32,
}

/// The processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CpuFacts {
    /// Instruction set architecture: `x86_64`, `aarch64`.
    pub architecture: String,
    /// Who made it.
    pub vendor: Fact<String>,
    /// Name that the processor gives itself.
    pub model_name: Fact<String>,
    /// Family, model and stepping as the vendor counts them, `family 26 model 2 stepping 1`.
    pub signature: Fact<String>,
    /// The core's design: `Zen 5`, `Golden Cove`.
    pub microarchitecture: Fact<String>,
    /// Instruction set extensions that matter here and that the operating system supports too.
    pub features: Fact<Vec<String>>,
    /// Width of the paths to the L1 data cache, from the vendor's documentation.
    pub l1_ports: Fact<PortWidth>,
    /// Simple integer instructions that a core executes per cycle where none needs another, from
    /// the vendor's documentation.
    #[serde(default = "Fact::<u32>::unrecorded")]
    pub integer_width: Fact<u32>,
    /// Nominal rate of the raw counter, where the system tells it.
    pub counter: Fact<Hertz>,
    /// Whether the counter runs at one rate in all power states.
    pub counter_invariant: Fact<bool>,
}

/// One logical CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Cpu {
    /// The system's number.
    pub id: u32,
    /// Whether this process may run on it.
    pub allowed: bool,
    /// Physical core within its package, as the system numbers it.
    pub core: Option<u32>,
    /// Socket.
    pub package: Option<u32>,
    /// NUMA node.
    pub node: Option<u32>,
    /// All CPUs of the same physical core, this one among them.
    pub siblings: Vec<u32>,
}

/// Contents of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache: an instance, not a kind of cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Cache {
    /// 1 for the one nearest the core.
    pub level: u32,
    /// Contents.
    pub kind: CacheKind,
    /// Its size.
    pub size: Bytes,
    /// Its line.
    pub line: Option<Bytes>,
    /// Its associativity.
    pub ways: Option<u32>,
    /// The CPUs that share it.
    pub cpus: CpuList,
}

/// A NUMA node; one without CPUs is memory only (CXL, HBM).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Node {
    /// The system's number.
    pub id: u32,
    /// Its CPUs.
    pub cpus: CpuList,
    /// Its memory, as far as the system tells.
    pub memory: Option<Bytes>,
    /// Distance to every node in the order of ids, 10 for itself; empty where the system does not
    /// tell.
    pub distances: Vec<u32>,
    /// Memory that is free there or can be had at once; `null` where the system does not tell.
    #[serde(default)]
    pub available: Option<Bytes>,
    /// Whether this process may take its memory; `null` where the system does not tell.
    #[serde(default)]
    pub allowed: Option<bool>,
    /// Pages that weighted interleaving takes from it at a time; `null` where the system has no
    /// such weights.
    #[serde(default)]
    pub weight: Option<u32>,
}

impl Node {
    /// Memory that a session may map: available memory less a tenth; `None` if unknown.
    pub fn usable(&self) -> Option<Bytes> {
        self.available.map(|bytes| Bytes(bytes.0 - bytes.0 / 10))
    }
}

/// CPUs, caches and nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Topology {
    /// Online CPUs in rising order.
    pub cpus: Vec<Cpu>,
    /// Source of the list of CPUs and of the facts about each.
    pub cpus_source: String,
    /// Every cache of the online CPUs.
    pub caches: Vec<Cache>,
    /// Source of the caches, or the reason why there are none.
    pub caches_source: String,
    /// NUMA nodes; a single one where the system has none.
    pub nodes: Vec<Node>,
    /// Source of the nodes.
    pub nodes_source: String,
}

impl Topology {
    /// The CPUs that this process may use, in rising order.
    pub fn allowed(&self) -> Vec<u32> {
        self.cpus
            .iter()
            .filter(|cpu| cpu.allowed)
            .map(|cpu| cpu.id)
            .collect()
    }

    /// The caches on the data path of `cpu`, nearest first.
    pub fn data_caches(&self, cpu: u32) -> Vec<&Cache> {
        let mut caches: Vec<&Cache> = self
            .caches
            .iter()
            .filter(|c| c.kind != CacheKind::Instruction && c.cpus.0.contains(&cpu))
            .collect();
        caches.sort_by_key(|c| c.level);
        caches
    }

    /// Size of the cache of `cpu` before its last one, 0 where it has none.
    pub fn inner_cache_size(&self, cpu: u32) -> Bytes {
        self.data_caches(cpu)
            .iter()
            .rev()
            .nth(1)
            .map_or(Bytes(0), |cache| cache.size)
    }

    /// Size of all last-level caches that the CPUs in `cpus` use, together.
    pub fn last_level_total(&self, cpus: &[u32]) -> Bytes {
        let used: BTreeSet<u32> = cpus.iter().copied().collect();
        // One pass over the caches: machines with a thousand CPUs have thousands of them.
        let mut last: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, cache) in self
            .caches
            .iter()
            .enumerate()
            .filter(|(_, c)| c.kind != CacheKind::Instruction)
        {
            for cpu in cache.cpus.0.iter().filter(|cpu| used.contains(cpu)) {
                let known = last.entry(*cpu).or_insert(index);
                if cache.level >= self.caches[*known].level {
                    *known = index;
                }
            }
        }
        let instances: BTreeSet<usize> = last.into_values().collect();
        instances
            .into_iter()
            .map(|index| self.caches[index].size)
            .sum()
    }

    /// The node with this number.
    pub fn node(&self, id: u32) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// Distance from one node to another as the system reports it, `None` where it does not.
    pub fn distance(&self, from: u32, to: u32) -> Option<u32> {
        let place = self.nodes.iter().position(|node| node.id == to)?;
        self.node(from)?.distances.get(place).copied()
    }

    /// The NUMA node of `cpu`.
    pub fn node_of(&self, cpu: u32) -> Option<u32> {
        self.cpus.iter().find(|c| c.id == cpu).and_then(|c| c.node)
    }
}

/// Memory, and how much of it may be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryFacts {
    /// All of the machine's.
    pub total: Fact<Bytes>,
    /// Memory that is available now without evicting others.
    pub available: Fact<Bytes>,
    /// Memory that the control groups leave this process: the tightest limit of it and its
    /// ancestors less the used memory.
    pub cgroup: Fact<Bytes>,
    /// Memory that the address-space and data limits (RLIMIT_AS, RLIMIT_DATA) leave.
    pub rlimit: Fact<Bytes>,
    /// Memory that a session may map: the least of these less a reserve.
    pub usable: Fact<Bytes>,
    /// How the system answers requests for more memory than it has: `heuristic`, `always`,
    /// `strict`.
    #[serde(default)]
    pub overcommit: Fact<String>,
    /// The soft limit on locked memory (RLIMIT_MEMLOCK).
    #[serde(default)]
    pub lock_limit: Fact<Bytes>,
    /// Room for memory on storage.
    #[serde(default)]
    pub swap: Fact<Swap>,
    /// The channels to the memory modules.
    #[serde(default)]
    pub bus: Fact<MemoryBus>,
}

/// Room for memory on storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Swap {
    /// All of it; 0 where there is none.
    pub total: Bytes,
    /// The part in use.
    pub used: Bytes,
}

/// Transfer rate of the memory modules, as the firmware describes them; all sockets together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryBus {
    /// Channels with memory.
    pub channels: u32,
    /// Modules in them.
    pub modules: u32,
    /// The sum over the channels of data width times configured transfers per second: no program
    /// can move more.
    pub peak: BytesPerSecond,
}

/// A pool of reserved huge pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HugePool {
    /// Page size.
    pub size: Bytes,
    /// Pages reserved.
    pub total: u64,
    /// Pages of these that are free.
    pub free: u64,
}

/// Page sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageFacts {
    /// The base page.
    pub base: Bytes,
    /// Mode of transparent huge pages: `always`, `madvise`, `never`.
    pub thp_mode: Fact<String>,
    /// Size of a transparent huge page.
    pub thp_size: Fact<Bytes>,
    /// Action of the system for a transparent huge page if none is free: `always`, `defer`,
    /// `defer+madvise`, `madvise`, `never`.
    #[serde(default)]
    pub thp_defrag: Fact<String>,
    /// Pools of explicit huge pages.
    pub huge_pools: Fact<Vec<HugePool>>,
}

/// The system around the processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SystemFacts {
    /// `linux`, `macos`, `windows`.
    pub os: String,
    /// Release of the kernel.
    pub kernel: Fact<String>,
    /// Name of the machine.
    pub hostname: Fact<String>,
    /// Hypervisor, or `none` where the processor says that there is none.
    pub virtualization: Fact<String>,
    /// Emulator that executes the program's instructions, or `none`: `qemu-user`,
    /// `Rosetta 2`.
    pub emulation: Fact<String>,
    /// Whether the system lets a program choose the CPU of a thread.
    pub pinning: Fact<bool>,
    /// Whether this process runs in a container, and which kind.
    pub container: Fact<String>,
    /// Whether the program ran with rights that its caller lacks (set-user-ID, set-group-ID, file
    /// capabilities).
    #[serde(default)]
    pub elevated: Fact<bool>,
    /// CPUs' worth of time that the control groups allow; absent where there is no quota.
    pub cpu_quota: Fact<f64>,
}

/// Settings and conditions that move results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Environment {
    /// Frequency governor.
    pub governor: Fact<String>,
    /// Whether the clock may rise above nominal.
    pub turbo: Fact<bool>,
    /// Whether simultaneous multithreading is on.
    pub smt: Fact<bool>,
    /// Whether automatic NUMA balancing is on.
    pub numa_balancing: Fact<bool>,
    /// Load average over one minute at the start.
    pub load: Fact<f64>,
    /// Mitigations in force, `name: state`.
    pub mitigations: Fact<Vec<String>>,
}

/// Everything that was found out about the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostFacts {
    /// The processor.
    pub cpu: CpuFacts,
    /// CPUs, caches, nodes.
    pub topology: Topology,
    /// Memory and limits.
    pub memory: MemoryFacts,
    /// Page sizes.
    pub pages: PageFacts,
    /// The system around it.
    pub system: SystemFacts,
    /// Settings and conditions.
    pub environment: Environment,
}

impl HostFacts {
    /// A machine of which nothing is known, and why.
    pub fn unknown(reason: &str) -> Self {
        let word = || "unknown".to_owned();
        HostFacts {
            cpu: CpuFacts {
                architecture: word(),
                vendor: Fact::unknown(reason),
                model_name: Fact::unknown(reason),
                signature: Fact::unknown(reason),
                microarchitecture: Fact::unknown(reason),
                features: Fact::unknown(reason),
                l1_ports: Fact::unknown(reason),
                integer_width: Fact::unknown(reason),
                counter: Fact::unknown(reason),
                counter_invariant: Fact::unknown(reason),
            },
            topology: Topology {
                cpus: Vec::new(),
                cpus_source: reason.to_owned(),
                caches: Vec::new(),
                caches_source: reason.to_owned(),
                nodes: Vec::new(),
                nodes_source: reason.to_owned(),
            },
            memory: MemoryFacts::unknown(reason),
            pages: PageFacts {
                base: Bytes(0),
                thp_mode: Fact::unknown(reason),
                thp_size: Fact::unknown(reason),
                thp_defrag: Fact::unknown(reason),
                huge_pools: Fact::unknown(reason),
            },
            system: SystemFacts {
                os: word(),
                kernel: Fact::unknown(reason),
                hostname: Fact::unknown(reason),
                virtualization: Fact::unknown(reason),
                emulation: Fact::unknown(reason),
                pinning: Fact::unknown(reason),
                container: Fact::unknown(reason),
                elevated: Fact::unknown(reason),
                cpu_quota: Fact::unknown(reason),
            },
            environment: Environment::unknown(reason),
        }
    }
}

impl MemoryFacts {
    /// Memory of which nothing is known, and why.
    fn unknown(reason: &str) -> Self {
        MemoryFacts {
            total: Fact::unknown(reason),
            available: Fact::unknown(reason),
            cgroup: Fact::unknown(reason),
            rlimit: Fact::unknown(reason),
            usable: Fact::unknown(reason),
            overcommit: Fact::unknown(reason),
            lock_limit: Fact::unknown(reason),
            swap: Fact::unknown(reason),
            bus: Fact::unknown(reason),
        }
    }
}

impl Environment {
    /// Settings of which nothing is known, and why.
    fn unknown(reason: &str) -> Self {
        Environment {
            governor: Fact::unknown(reason),
            turbo: Fact::unknown(reason),
            smt: Fact::unknown(reason),
            numa_balancing: Fact::unknown(reason),
            load: Fact::unknown(reason),
            mitigations: Fact::unknown(reason),
        }
    }
}
