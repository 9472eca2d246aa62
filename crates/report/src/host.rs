//! Facts about the machine, each with its source.

use super::documented::DocumentedFigure;
use super::fact::Fact;
use super::gpu::GpuFacts;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use units::{Bytes, BytesPerSecond, CpuList, Hertz};

/// Bytes that one core's L1 data cache can deliver and accept per core clock cycle.
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
    /// Vendor.
    pub vendor: Fact<String>,
    /// Model name as the processor reports it.
    pub model_name: Fact<String>,
    /// Family, model and stepping in the vendor's numbering: `family 26 model 2 stepping 1`.
    pub signature: Fact<String>,
    /// Design of the core: `Zen 5`, `Golden Cove`.
    pub microarchitecture: Fact<String>,
    /// Revision of the microcode.
    #[serde(default = "Fact::<String>::unrecorded")]
    pub microcode: Fact<String>,
    /// Instruction set extensions that both the processor and the operating system support.
    pub features: Fact<Vec<String>>,
    /// Width of the paths to the L1 data cache, from the vendor's documentation.
    pub l1_ports: Fact<PortWidth>,
    /// Number of independent simple integer instructions that a core executes per cycle, from the
    /// vendor's documentation.
    #[serde(default = "Fact::<u32>::unrecorded")]
    pub integer_width: Fact<u32>,
    /// Published figures of the core design; empty if the design is unknown.
    #[serde(default)]
    pub documented: Vec<DocumentedFigure>,
    /// Nominal rate of the raw counter, if the system reports one.
    pub counter: Fact<Hertz>,
    /// True if the counter runs at one rate in all power states.
    pub counter_invariant: Fact<bool>,
}

/// One logical CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Cpu {
    /// Number of the CPU in the system.
    pub id: u32,
    /// True if this process may run on the CPU.
    pub allowed: bool,
    /// Number of the physical core within its package, from the system.
    pub core: Option<u32>,
    /// Number of the package (socket).
    pub package: Option<u32>,
    /// Number of the NUMA node.
    pub node: Option<u32>,
    /// All CPUs of the same physical core, this CPU included.
    pub siblings: Vec<u32>,
    /// Kind of the core in the system's own words: `performance`, `efficiency class 1`,
    /// `capacity 1024`. `null` if all cores are of one kind, or the system does not report kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Kind of contents of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Data and instructions.
    Unified,
}

/// One cache of the machine. If each core has its own cache, each of these caches has an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Cache {
    /// Level; 1 is nearest to the core.
    pub level: u32,
    /// Kind of contents.
    pub kind: CacheKind,
    /// Size.
    pub size: Bytes,
    /// Size of a cache line.
    pub line: Option<Bytes>,
    /// Number of ways (associativity).
    pub ways: Option<u32>,
    /// CPUs that share the cache.
    pub cpus: CpuList,
}

/// A NUMA node. A node without CPUs is memory only (CXL, HBM).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Node {
    /// Number of the node in the system.
    pub id: u32,
    /// CPUs of the node.
    pub cpus: CpuList,
    /// Size of the node's memory, if the system reports it.
    pub memory: Option<Bytes>,
    /// Distance to each node, in the order of node numbers. The distance of a node to itself is 10.
    /// Empty if the system reports no distances.
    pub distances: Vec<u32>,
    /// Memory of the node that is free, or that the system can free at once. `null` if the system
    /// does not report it.
    #[serde(default)]
    pub available: Option<Bytes>,
    /// True if this process may use the node's memory; `null` if the system does not report it.
    #[serde(default)]
    pub allowed: Option<bool>,
    /// Number of consecutive pages that weighted interleaving takes from the node. `null` if the
    /// system has no such weights.
    #[serde(default)]
    pub weight: Option<u32>,
}

impl Node {
    /// Memory of the node that a session may map: nine tenths of the available memory. `None` if
    /// unknown.
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
    /// Source of the list of CPUs and of the facts about each CPU.
    pub cpus_source: String,
    /// All caches of the online CPUs.
    pub caches: Vec<Cache>,
    /// Source of the caches, or the reason why none are known.
    pub caches_source: String,
    /// NUMA nodes. A machine without NUMA has a single node.
    pub nodes: Vec<Node>,
    /// Source of the nodes.
    pub nodes_source: String,
}

impl Topology {
    /// CPUs that this process may use, in rising order.
    pub fn allowed(&self) -> Vec<u32> {
        self.cpus
            .iter()
            .filter(|cpu| cpu.allowed)
            .map(|cpu| cpu.id)
            .collect()
    }

    /// Caches on the data path of `cpu`, nearest first.
    pub fn data_caches(&self, cpu: u32) -> Vec<&Cache> {
        let mut caches: Vec<&Cache> = self
            .caches
            .iter()
            .filter(|c| c.kind != CacheKind::Instruction && c.cpus.0.contains(&cpu))
            .collect();
        caches.sort_by_key(|c| c.level);
        caches
    }

    /// Size of the data cache of `cpu` one level nearer than its last-level cache; 0 if there is
    /// none.
    pub fn inner_cache_size(&self, cpu: u32) -> Bytes {
        self.data_caches(cpu)
            .iter()
            .rev()
            .nth(1)
            .map_or(Bytes(0), |cache| cache.size)
    }

    /// Total size of all last-level caches that the CPUs in `cpus` use.
    pub fn last_level_total(&self, cpus: &[u32]) -> Bytes {
        let mut used = cpus.to_vec();
        used.sort_unstable();
        used.dedup();
        // The loop visits each cache once, because machines with a thousand CPUs have thousands of
        // caches.
        let mut last: Vec<Option<usize>> = vec![None; used.len()];
        for (index, cache) in self
            .caches
            .iter()
            .enumerate()
            .filter(|(_, c)| c.kind != CacheKind::Instruction)
        {
            for cpu in &cache.cpus.0 {
                let Ok(position) = used.binary_search(cpu) else {
                    continue;
                };
                let known = &mut last[position];
                if known.is_none_or(|known| cache.level >= self.caches[known].level) {
                    *known = Some(index);
                }
            }
        }
        let instances: BTreeSet<usize> = last.into_iter().flatten().collect();
        instances
            .into_iter()
            .map(|index| self.caches[index].size)
            .sum()
    }

    /// The node with this number; `None` if there is none.
    pub fn node(&self, id: u32) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// Distance between two nodes as the system reports it; `None` if it reports none.
    pub fn distance(&self, from: u32, to: u32) -> Option<u32> {
        let place = self.nodes.iter().position(|node| node.id == to)?;
        self.node(from)?.distances.get(place).copied()
    }

    /// NUMA node of `cpu`; `None` if unknown.
    pub fn node_of(&self, cpu: u32) -> Option<u32> {
        self.cpus.iter().find(|c| c.id == cpu).and_then(|c| c.node)
    }
}

/// Memory and its limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryFacts {
    /// Memory of the whole machine.
    pub total: Fact<Bytes>,
    /// Memory that is available now without evicting other programs.
    pub available: Fact<Bytes>,
    /// Memory that the limits of control groups leave to this process. The value is the smallest
    /// difference between limit and use over the process's control group and the group's ancestors.
    pub cgroup: Fact<Bytes>,
    /// Memory that the limits of address space and data (RLIMIT_AS, RLIMIT_DATA) leave to this
    /// process.
    pub rlimit: Fact<Bytes>,
    /// Memory that a session may map: the smallest of `available`, `cgroup` and `rlimit`, minus a
    /// reserve.
    pub usable: Fact<Bytes>,
    /// The system's policy for requests of more memory than it has: `heuristic`, `always`,
    /// `strict`.
    #[serde(default)]
    pub overcommit: Fact<String>,
    /// Soft limit on locked memory (RLIMIT_MEMLOCK).
    #[serde(default)]
    pub lock_limit: Fact<Bytes>,
    /// Swap space.
    #[serde(default)]
    pub swap: Fact<Swap>,
    /// Channels to the memory modules.
    #[serde(default)]
    pub bus: Fact<MemoryBus>,
}

/// Swap space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Swap {
    /// Total size; 0 without swap.
    pub total: Bytes,
    /// Size of the swap space in use.
    pub used: Bytes,
}

/// Transfer rate of the memory modules of all sockets together, from the firmware.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryBus {
    /// Number of channels with memory.
    pub channels: u32,
    /// Number of modules in these channels.
    pub modules: u32,
    /// Sum over the channels of data width times configured transfers per second. No program can
    /// exceed this rate.
    pub peak: BytesPerSecond,
}

/// A pool of reserved huge pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HugePool {
    /// Page size.
    pub size: Bytes,
    /// Number of reserved pages.
    pub total: u64,
    /// Number of reserved pages that are free.
    pub free: u64,
}

/// Page sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageFacts {
    /// Size of a base page.
    pub base: Bytes,
    /// Mode of transparent huge pages: `always`, `madvise`, `never`; `none` if the system has none.
    pub thp_mode: Fact<String>,
    /// Size of a transparent huge page.
    pub thp_size: Fact<Bytes>,
    /// Policy of the system for the case that no transparent huge page is free: `always`, `defer`,
    /// `defer+madvise`, `madvise`, `never`.
    #[serde(default)]
    pub thp_defrag: Fact<String>,
    /// Pools of explicit huge pages.
    pub huge_pools: Fact<Vec<HugePool>>,
}

impl PageFacts {
    /// True if the system gives transparent huge pages, false if they are switched off or the
    /// system has none, `None` if unknown.
    pub fn has_transparent(&self) -> Option<bool> {
        let mode = self.thp_mode.get()?;
        Some(mode != "never" && mode != "none")
    }

    /// True if the system is known to lack transparent huge pages altogether, so that they cannot
    /// be switched on.
    pub fn lacks_transparent(&self) -> bool {
        self.thp_mode.get().is_some_and(|mode| mode == "none")
    }
}

/// The operating system, and the layers around it such as a hypervisor or a container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SystemFacts {
    /// Operating system: `linux`, `macos`, `windows`.
    pub os: String,
    /// Release of the kernel.
    pub kernel: Fact<String>,
    /// Vendor, version and date of the firmware.
    #[serde(default = "Fact::<String>::unrecorded")]
    pub firmware: Fact<String>,
    /// Name of the machine.
    pub hostname: Fact<String>,
    /// Hypervisor; `none` if the processor reports none.
    pub virtualization: Fact<String>,
    /// Emulator that executes the program's instructions, or `none`: `qemu-user`, `Rosetta 2`.
    pub emulation: Fact<String>,
    /// True if a program may choose the CPU of a thread.
    pub pinning: Fact<bool>,
    /// Request about each measuring thread that the system accepted, such as a quality-of-service
    /// class. The system need not act on the request. Unknown if the program made no request.
    #[serde(default)]
    pub thread_request: Fact<String>,
    /// Kind of container that this process runs in; unknown if nothing indicates a container.
    pub container: Fact<String>,
    /// True if the program ran with rights that its caller lacks (set-user-ID, set-group-ID, file
    /// capabilities).
    #[serde(default)]
    pub elevated: Fact<bool>,
    /// Quota of the control groups, in CPUs: the CPU time that they allow, divided by the elapsed
    /// time. Unknown without a quota.
    pub cpu_quota: Fact<f64>,
}

/// Settings and conditions that affect results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Environment {
    /// Frequency governor of the CPUs, which chooses the core clock.
    pub governor: Fact<String>,
    /// True if the core clock may rise above its nominal rate.
    pub turbo: Fact<bool>,
    /// True if simultaneous multithreading is on.
    pub smt: Fact<bool>,
    /// True if automatic NUMA balancing is on.
    pub numa_balancing: Fact<bool>,
    /// Load average over one minute at the start.
    pub load: Fact<f64>,
    /// Mitigations of hardware vulnerabilities that are in force, each as `name: state`.
    pub mitigations: Fact<Vec<String>>,
    /// Source of electric power at the start: `mains`, `battery`.
    #[serde(default)]
    pub power_source: Fact<String>,
    /// True if the system saves power at the cost of speed (low-power mode, battery saver).
    #[serde(default)]
    pub power_saving: Fact<bool>,
    /// Thermal state at the start in the system's own words; `nominal` if heat limits nothing.
    #[serde(default)]
    pub thermal_state: Fact<String>,
    /// Scarcity of memory at the start in the system's own words; `normal` if memory is not scarce.
    #[serde(default)]
    pub memory_pressure: Fact<String>,
}

/// All facts about the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostFacts {
    /// The processor.
    pub cpu: CpuFacts,
    /// CPUs, caches and NUMA nodes.
    pub topology: Topology,
    /// Memory and its limits.
    pub memory: MemoryFacts,
    /// Page sizes.
    pub pages: PageFacts,
    /// The operating system.
    pub system: SystemFacts,
    /// Settings and conditions.
    pub environment: Environment,
    /// Devices with memory of their own that the session measured; left out if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuFacts>,
}

impl HostFacts {
    /// Facts of a machine about which nothing is known; `reason` says why.
    pub fn unknown(reason: &str) -> Self {
        let word = || "unknown".to_owned();
        HostFacts {
            cpu: CpuFacts {
                architecture: word(),
                vendor: Fact::unknown(reason),
                model_name: Fact::unknown(reason),
                signature: Fact::unknown(reason),
                microarchitecture: Fact::unknown(reason),
                microcode: Fact::unknown(reason),
                features: Fact::unknown(reason),
                l1_ports: Fact::unknown(reason),
                integer_width: Fact::unknown(reason),
                documented: Vec::new(),
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
                firmware: Fact::unknown(reason),
                hostname: Fact::unknown(reason),
                virtualization: Fact::unknown(reason),
                emulation: Fact::unknown(reason),
                pinning: Fact::unknown(reason),
                thread_request: Fact::unknown(reason),
                container: Fact::unknown(reason),
                elevated: Fact::unknown(reason),
                cpu_quota: Fact::unknown(reason),
            },
            environment: Environment::unknown(reason),
            gpus: Vec::new(),
        }
    }
}

impl MemoryFacts {
    /// Memory facts that are all unknown; `reason` says why.
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
    /// Settings and conditions that are all unknown; `reason` says why.
    fn unknown(reason: &str) -> Self {
        Environment {
            governor: Fact::unknown(reason),
            turbo: Fact::unknown(reason),
            smt: Fact::unknown(reason),
            numa_balancing: Fact::unknown(reason),
            load: Fact::unknown(reason),
            mitigations: Fact::unknown(reason),
            power_source: Fact::unknown(reason),
            power_saving: Fact::unknown(reason),
            thermal_state: Fact::unknown(reason),
            memory_pressure: Fact::unknown(reason),
        }
    }
}
