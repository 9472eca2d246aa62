//! Simulated machines: facts as the program would discover them, and costs.

use report::{
    Cache, CacheKind, Cpu, CpuFacts, Environment, Fact, HostFacts, MemoryFacts, Node, PageFacts,
    SystemFacts, Topology,
};
use simulated::{
    CacheCost, CostModel, HandOffCost, LevelCost, LoadCost, NodesCost, NoiseModel, SharingModel,
    SimulatedMachine, StorageModel,
};
use units::{Bytes, BytesPerSecond, CpuList, Hertz, Nanos};

/// A simulated machine, and the levels that the default profile should find on it.
#[derive(Clone)]
pub struct Simulated {
    /// Name of the machine in failures.
    pub name: &'static str,
    pub facts: HostFacts,
    pub model: CostModel,
    /// The CPUs of a session, in the order in which threads are placed.
    pub cpus: Vec<u32>,
    /// Levels at which a profile has a point for each number of threads, measured or not.
    pub levels: &'static [&'static str],
}

impl Simulated {
    pub fn machine(&self, seed: u64) -> SimulatedMachine {
        SimulatedMachine::new(self.facts.clone(), self.model.clone(), seed)
    }

    pub fn usable(&self) -> Bytes {
        *self.facts.memory.usable.get().expect("a limit")
    }

    pub fn last_level(&self) -> Bytes {
        self.facts.topology.last_level_total(&self.cpus)
    }
}

pub const LEVELS: &[&str] = &["L1", "L2", "L3", "DRAM"];

/// Costs of all simulated machines: read bandwidth in B/s and latency in ns, each for L1, L2, L3
/// and memory.
pub const READ: [f64; 4] = [200e9, 100e9, 40e9, 15e9];
pub const LATENCY: [f64; 4] = [1.0, 3.5, 12.0, 95.0];
pub const MEMORY_TOTAL: f64 = 25e9;
pub const CORE: f64 = 4e9;
pub const PAGE_WALK: f64 = 30.0;

/// Costs for a machine with `caches` levels of cache.
pub fn model(caches: usize) -> CostModel {
    let cost = |i: usize| LevelCost {
        read: BytesPerSecond(READ[i]),
        latency: Nanos(LATENCY[i]),
    };
    CostModel {
        choices: Vec::new(),
        levels: (0..caches).chain([3]).map(cost).collect(),
        memory_total: BytesPerSecond(MEMORY_TOTAL),
        core: Hertz(CORE),
        fault: BytesPerSecond(8e9),
        page_walk: Nanos(PAGE_WALK),
        partial_hits: false,
        tlb_reach: Bytes::mib(6),
        tlbs: Vec::new(),
        granted: 1.0,
        caches: CacheCost::default(),
        hand_off: HandOffCost::default(),
        load: LoadCost::default(),
        sharing: SharingModel::default(),
        nodes: NodesCost::default(),
        noise: NoiseModel::default(),
        storage: StorageModel::default(),
    }
}

fn unknown<T>() -> Fact<T> {
    Fact::unknown("not told to a simulated machine")
}

pub fn known<T>(value: T) -> Fact<T> {
    Fact::known(value, "simulated")
}

/// Facts about memory that is all usable.
fn memory_facts(usable: Bytes) -> MemoryFacts {
    MemoryFacts {
        total: known(usable),
        available: known(usable),
        cgroup: unknown(),
        rlimit: unknown(),
        usable: known(usable),
        overcommit: unknown(),
        lock_limit: unknown(),
        swap: unknown(),
        bus: unknown(),
    }
}

/// Facts about a machine with these CPUs and caches and `usable` bytes of memory.
fn facts(cpus: Vec<Cpu>, caches: Vec<Cache>, usable: Bytes) -> HostFacts {
    let mut nodes: Vec<u32> = cpus.iter().filter_map(|c| c.node).collect();
    nodes.dedup();
    let on = |node: u32| {
        CpuList(
            cpus.iter()
                .filter(|c| c.node == Some(node))
                .map(|c| c.id)
                .collect(),
        )
    };
    let distances = |node: u32| {
        nodes
            .iter()
            .map(|&other| if other == node { 10 } else { 21 })
            .collect()
    };
    let memory = Some(Bytes(usable.0 / nodes.len() as u64));
    let nodes = nodes
        .iter()
        .map(|&id| Node {
            id,
            cpus: on(id),
            memory,
            distances: distances(id),
            ..Node::default()
        })
        .collect();
    HostFacts {
        cpu: CpuFacts {
            architecture: "x86_64".to_owned(),
            vendor: unknown(),
            model_name: known("Simulated".to_owned()),
            signature: unknown(),
            microarchitecture: unknown(),
            microcode: unknown(),
            features: unknown(),
            l1_ports: unknown(),
            integer_width: unknown(),
            documented: Vec::new(),
            counter: unknown(),
            counter_invariant: unknown(),
        },
        topology: Topology {
            cpus,
            cpus_source: "simulated".to_owned(),
            caches,
            caches_source: "simulated".to_owned(),
            nodes,
            nodes_source: "simulated".to_owned(),
        },
        memory: memory_facts(usable),
        pages: PageFacts {
            base: Bytes(4096),
            thp_mode: known("madvise".to_owned()),
            thp_size: known(Bytes::mib(2)),
            thp_defrag: unknown(),
            huge_pools: unknown(),
        },
        system: SystemFacts {
            os: "linux".to_owned(),
            kernel: unknown(),
            firmware: unknown(),
            hostname: known("simulated".to_owned()),
            virtualization: unknown(),
            emulation: unknown(),
            pinning: unknown(),
            thread_request: unknown(),
            container: unknown(),
            elevated: unknown(),
            cpu_quota: unknown(),
        },
        environment: Environment {
            governor: unknown(),
            turbo: unknown(),
            smt: unknown(),
            numa_balancing: unknown(),
            load: unknown(),
            mitigations: unknown(),
            power_source: unknown(),
            power_saving: unknown(),
            thermal_state: unknown(),
            memory_pressure: unknown(),
        },
        gpus: Vec::new(),
    }
}

/// Makes `count` CPUs from the number `first` on, with `per_core` neighbouring CPUs in a core and
/// `per_node` in a node.
fn cpus(first: u32, count: u32, per_core: u32, per_node: u32) -> Vec<Cpu> {
    let core = |id: u32| (id - first) / per_core * per_core + first;
    let cpu = |id: u32| Cpu {
        id,
        allowed: true,
        core: Some(core(id)),
        package: Some(0),
        node: Some(id / per_node),
        siblings: (core(id)..core(id) + per_core).collect(),
        kind: None,
    };
    (first..first + count).map(cpu).collect()
}

/// Makes the caches of one level for `count` CPUs from the number `first` on. `sharing` CPUs share
/// a cache.
fn caches(level: u32, size: Bytes, first: u32, count: u32, sharing: u32) -> Vec<Cache> {
    let cache = |at: u32| Cache {
        level,
        kind: if level == 1 {
            CacheKind::Data
        } else {
            CacheKind::Unified
        },
        size,
        line: Some(Bytes(64)),
        ways: Some(16),
        cpus: CpuList((at..(at + sharing).min(first + count)).collect()),
    };
    (first..first + count)
        .step_by(sharing as usize)
        .map(cache)
        .collect()
}

/// Makes a machine with one kind of core: `count` CPUs, `per_core` in a core. Each core has caches
/// of 48 KiB and 1 MiB. `sharing` CPUs share an L3 of `last`.
fn uniform(
    name: &'static str,
    (count, per_core): (u32, u32),
    (last, sharing): (Bytes, u32),
) -> Simulated {
    let mut all = caches(1, Bytes::kib(48), 0, count, per_core);
    all.extend(caches(2, Bytes::mib(1), 0, count, per_core));
    if last.0 > 0 {
        all.extend(caches(3, last, 0, count, sharing));
    }
    let usable = Bytes::gib(24.max(u64::from(count)));
    let facts = facts(cpus(0, count, per_core, sharing.max(1)), all, usable);
    // The first CPUs of all cores come before the second ones.
    let mut order = facts.topology.allowed();
    order.sort_by_key(|cpu| (cpu % per_core, *cpu));
    let (caches, levels) = if last.0 > 0 {
        (3, LEVELS)
    } else {
        (2, &["L1", "L2", "DRAM"][..])
    };
    Simulated {
        name,
        facts,
        model: model(caches),
        cpus: order,
        levels,
    }
}

/// Two cores that share an L3 of 32 MiB.
pub fn plain() -> Simulated {
    uniform("two cores", (2, 1), (Bytes::mib(32), 2))
}

/// A virtual machine that reports the L3 of a whole server, and gets its memory slowly.
pub fn large_l3_vm() -> Simulated {
    let mut machine = uniform("two cores of a server", (2, 1), (Bytes::mib(480), 2));
    machine.model.fault = BytesPerSecond(0.5e9);
    machine
}

/// Eight cores with two threads each, and eight smaller cores in clusters of four.
pub fn hybrid() -> Simulated {
    let mut all = cpus(0, 16, 2, 100);
    all.extend(cpus(16, 8, 1, 100));
    let mut levels = caches(1, Bytes::kib(48), 0, 16, 2);
    levels.extend(caches(1, Bytes::kib(32), 16, 8, 1));
    levels.extend(caches(2, Bytes::mib(2), 0, 16, 2));
    levels.extend(caches(2, Bytes::mib(4), 16, 8, 4));
    levels.extend(caches(3, Bytes::mib(36), 0, 24, 24));
    let order = (0..16)
        .step_by(2)
        .chain(16..24)
        .chain((1..16).step_by(2))
        .collect();
    let facts = facts(all, levels, Bytes::gib(24));
    Simulated {
        name: "two kinds of cores",
        facts,
        model: model(3),
        cpus: order,
        levels: LEVELS,
    }
}

/// Eight nodes of eight cores.
pub fn eight_nodes() -> Simulated {
    uniform("eight nodes", (64, 1), (Bytes::mib(32), 8))
}

/// Two nodes with `cores` cores each.
pub fn two_nodes_of(cores: u32) -> Simulated {
    uniform("two nodes", (2 * cores, 1), (Bytes::mib(384), cores))
}

/// Two sockets of 96 cores. Each socket is a node.
pub fn two_large_sockets() -> Simulated {
    uniform("two sockets of 96 cores", (192, 1), (Bytes::mib(384), 96))
}

/// Nodes with these numbers of CPUs. Two cores share an L3.
pub fn nodes_of(counts: &[u32]) -> Simulated {
    let mut machine = uniform(
        "nodes of unequal sizes",
        (counts.iter().sum(), 1),
        (Bytes::mib(32), 2),
    );
    let topology = &mut machine.facts.topology;
    let mut next = 0;
    topology.nodes.clear();
    for (id, count) in (0..).zip(counts) {
        let own: Vec<u32> = (next..next + count).collect();
        next += count;
        for cpu in topology.cpus.iter_mut().filter(|cpu| own.contains(&cpu.id)) {
            cpu.node = Some(id);
        }
        let distances = (0..counts.len() as u32)
            .map(|other| if other == id { 10 } else { 21 })
            .collect();
        topology.nodes.push(Node {
            id,
            cpus: CpuList(own),
            memory: Some(Bytes::gib(8)),
            distances,
            ..Node::default()
        });
    }
    machine
}

/// The plain machine with a second node that has memory but no CPUs.
pub fn memory_node() -> Simulated {
    let mut machine = plain();
    machine.name = "a node without cpus";
    let far = Node {
        id: 1,
        cpus: CpuList(Vec::new()),
        memory: Some(Bytes::gib(64)),
        distances: vec![21, 10],
        ..Node::default()
    };
    machine.facts.topology.nodes[0].distances = vec![10, 21];
    machine.facts.topology.nodes.push(far);
    machine
}

/// 1.1 GB of L3 in twelve caches.
pub fn huge_l3() -> Simulated {
    uniform("1.1 GB of L3", (384, 2), (Bytes::mib(96), 32))
}

/// Eight cores that share memory. Three of them use up its bandwidth.
pub fn eight_cores() -> Simulated {
    let mut machine = uniform("eight cores", (8, 1), (Bytes::mib(32), 8));
    machine.model.memory_total = BytesPerSecond(2.9 * READ[3]);
    machine
}

/// Two sockets. Each has two clusters of four CPUs, two CPUs to a core.
pub fn two_sockets() -> Simulated {
    let mut machine = uniform("two sockets", (16, 2), (Bytes::mib(32), 4));
    for cpu in &mut machine.facts.topology.cpus {
        cpu.package = Some(cpu.id / 8);
    }
    machine
}

/// Two sockets of 96 cores with two threads each. The second threads are numbered after all first
/// ones. A socket has two nodes (sub-NUMA clustering) of six clusters of eight cores. A little more
/// than four cores use up the memory bandwidth of a cluster. A little more than two clusters use up
/// that of a node.
pub fn two_sockets_of_96() -> Simulated {
    let mut machine = uniform("two sockets of 96 cores", (384, 1), (Bytes::mib(32), 16));
    let topology = &mut machine.facts.topology;
    for cpu in &mut topology.cpus {
        let core = cpu.id % 192;
        (cpu.core, cpu.package, cpu.node) = (Some(core), Some(core / 96), Some(core / 48));
        cpu.siblings = vec![core, core + 192];
    }
    let both = |first: u32, count: u32| {
        CpuList(
            (first..first + count)
                .chain(first + 192..first + 192 + count)
                .collect(),
        )
    };
    let own = |level: u32, size: Bytes| caches(level, size, 0, 192, 1).into_iter();
    let l3 = caches(3, Bytes::mib(32), 0, 192, 8).into_iter();
    topology.caches = own(1, Bytes::kib(48))
        .chain(own(2, Bytes::mib(1)))
        .chain(l3)
        .collect();
    for cache in &mut topology.caches {
        cache.cpus = both(cache.cpus.0[0], cache.cpus.0.len() as u32);
    }
    let node = |id: u32| Node {
        id,
        cpus: both(id * 48, 48),
        distances: vec![10; 4],
        ..Node::default()
    };
    topology.nodes = (0..4).map(node).collect();
    machine.cpus = (0..384).collect();
    machine.model.memory_total = BytesPerSecond(600e9);
    machine.model.sharing = SharingModel {
        core: Some(1.0),
        cluster: Some(BytesPerSecond(70e9)),
        node: Some(BytesPerSecond(150e9)),
        ..SharingModel::default()
    };
    machine
}

/// A machine with as many CPUs as any real one.
pub fn many_cpus() -> Simulated {
    uniform("1024 cpus", (1024, 2), (Bytes::mib(64), 64))
}

/// Number of CPUs of a machine, and their grouping.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub cpus: u32,
    pub per_core: u32,
    /// Number of last-level caches. Caches without cores are left out.
    pub clusters: u32,
    /// Number of nodes. Nodes for which no CPU is left have memory only.
    pub nodes: u32,
}

/// A machine of this shape with 32 MiB in each last-level cache.
pub fn shaped(shape: Shape) -> Simulated {
    let Shape {
        cpus: count,
        per_core,
        clusters,
        nodes,
    } = shape;
    let cores = count.div_ceil(per_core);
    let cluster = cores.div_ceil(clusters) * per_core;
    let mut machine = uniform("a shape", (count, per_core), (Bytes::mib(32), cluster));
    let usable = machine.usable();
    let topology = &mut machine.facts.topology;
    let each = cores.div_ceil(nodes) * per_core;
    for cpu in &mut topology.cpus {
        cpu.node = Some(cpu.id / each);
        cpu.siblings.retain(|&sibling| sibling < count);
    }
    let distances = |id: u32| {
        (0..nodes)
            .map(|other| 10 + 11 * id.abs_diff(other).min(3))
            .collect()
    };
    let node = |id: u32| Node {
        id,
        cpus: CpuList((id * each..((id + 1) * each).min(count)).collect()),
        memory: Some(Bytes(usable.0 / u64::from(nodes))),
        distances: distances(id),
        ..Node::default()
    };
    topology.nodes = (0..nodes).map(node).collect();
    machine
}

/// A machine with two levels of cache.
pub fn no_l3() -> Simulated {
    uniform("no L3", (4, 1), (Bytes(0), 4))
}

/// A machine whose system reports no caches.
pub fn unknown_caches() -> Simulated {
    let mut machine = plain();
    machine.name = "unknown caches";
    machine.facts.topology.caches.clear();
    machine.model = model(0);
    machine.levels = &["unknown"];
    machine
}

/// A container that may use little memory.
pub fn container(name: &'static str, usable: Bytes) -> Simulated {
    let mut machine = plain();
    machine.name = name;
    machine.facts.memory.usable = known(usable);
    machine.facts.memory.cgroup = known(usable);
    machine
}

/// A machine with base pages of 16 KiB and no larger pages.
pub fn large_base_pages() -> Simulated {
    let mut machine = plain();
    machine.name = "16 KiB pages";
    machine.facts.pages.base = Bytes::kib(16);
    machine.facts.pages.thp_mode = known("never".to_owned());
    machine.facts.pages.thp_size = unknown();
    machine.model.granted = 0.0;
    machine
}

/// A machine of 64 CPUs, of which the process may use one.
pub fn one_allowed() -> Simulated {
    let mut machine = eight_nodes();
    machine.name = "one allowed cpu";
    for cpu in &mut machine.facts.topology.cpus {
        cpu.allowed = cpu.id == 37;
    }
    machine.cpus = vec![37];
    machine
}

/// A machine on which each of 64 threads has less L3 than L2.
pub fn small_l3_slices() -> Simulated {
    uniform("less L3 than L2", (64, 1), (Bytes::mib(32), 64))
}

/// Converts MiB to bytes.
pub fn mib(n: u64) -> Bytes {
    Bytes::mib(n)
}

/// Every machine.
pub fn all() -> Vec<Simulated> {
    vec![
        plain(),
        large_l3_vm(),
        hybrid(),
        eight_nodes(),
        memory_node(),
        huge_l3(),
        eight_cores(),
        many_cpus(),
        no_l3(),
        unknown_caches(),
        container("144 MiB", Bytes::mib(144)),
        container("20 MiB", Bytes::mib(20)),
        large_base_pages(),
        one_allowed(),
        small_l3_slices(),
    ]
}
