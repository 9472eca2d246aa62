//! Table for `memgauge list host`: every fact about the machine with its source.

use super::grid::{Column, Grid};
use report::{
    Cache, CacheKind, Cpu, CpuFacts, DocumentedFigure, Environment, Fact, GpuFacts, HostFacts,
    MemoryBus, MemoryFacts, Node, PageFacts, Swap, SystemFacts, Topology,
};
use std::collections::{BTreeMap, BTreeSet};
use units::{CpuList, counted, significant};

/// Largest number of cores that are listed one by one. If there are more, only their number is
/// shown.
const MAX_CORES: usize = 32;

/// Writes all facts about a machine in groups, each with name, value and source. The source of an
/// unknown fact is the reason why it is unknown. Cells are wrapped at `width`. Without a width each
/// fact is one line.
pub fn host_table(host: &HostFacts, width: Option<u16>) -> String {
    let mut rows = Rows::default();
    rows.processor(&host.cpu);
    rows.documented(&host.cpu.documented);
    rows.topology(&host.topology);
    rows.caches(&host.topology);
    rows.nodes(&host.topology);
    rows.memory(&host.memory);
    rows.pages(&host.pages);
    rows.system(&host.system);
    rows.environment(&host.environment);
    host.gpus.iter().for_each(|gpu| rows.gpu(gpu));
    rows.into_text(width)
}

/// Facts about devices with memory of their own as a text table. `width` is as for [`host_table`].
pub fn gpu_table(gpus: &[GpuFacts], width: Option<u16>) -> String {
    let mut rows = Rows::default();
    gpus.iter().for_each(|gpu| rows.gpu(gpu));
    rows.into_text(width)
}

impl Rows {
    fn into_text(self, width: Option<u16>) -> String {
        let columns = ["fact", "value", "source"].map(Column::left).to_vec();
        Grid {
            columns,
            rows: self.0,
        }
        .to_text(width)
    }
}

/// Rows of the table so far.
#[derive(Default)]
struct Rows(Vec<Vec<String>>);

impl Rows {
    /// Adds the heading of a group.
    fn group(&mut self, name: &str) {
        self.0
            .push(vec![name.to_uppercase(), String::new(), String::new()]);
    }

    /// Adds a row with a value in words.
    fn text(&mut self, name: &str, value: impl Into<String>, source: &str) {
        self.0
            .push(vec![name.to_owned(), value.into(), source.to_owned()]);
    }

    /// Adds a row with `fact`, in the words of `show`.
    fn fact<T>(&mut self, name: &str, fact: &Fact<T>, show: impl Fn(&T) -> String) {
        let value = fact.get().map_or_else(|| "unknown".to_owned(), show);
        self.text(name, value, &fact.source);
    }

    fn processor(&mut self, cpu: &CpuFacts) {
        self.group("processor");
        self.text("architecture", cpu.architecture.clone(), "this program");
        self.fact("vendor", &cpu.vendor, String::clone);
        self.fact("model", &cpu.model_name, String::clone);
        self.fact("signature", &cpu.signature, String::clone);
        self.fact("microcode", &cpu.microcode, String::clone);
        self.fact("microarchitecture", &cpu.microarchitecture, String::clone);
        self.fact("features", &cpu.features, |all| all.join(" "));
        let ports = |p: &report::PortWidth| {
            format!(
                "{} B loaded, {} B stored per cycle",
                p.load_bytes, p.store_bytes
            )
        };
        self.fact("L1 data ports", &cpu.l1_ports, ports);
        self.fact("integer width", &cpu.integer_width, |width| {
            format!("{width} instructions per cycle")
        });
        self.fact("counter rate", &cpu.counter, ToString::to_string);
        self.fact("counter invariant", &cpu.counter_invariant, yes_or_no);
    }

    /// Adds the published figures, in a group for each core design.
    fn documented(&mut self, figures: &[DocumentedFigure]) {
        for of_design in figures.chunk_by(|a, b| a.design == b.design) {
            self.group(&format!("documented for {}", of_design[0].design));
            for figure in of_design {
                let name = figure.quantity.name();
                self.text(name, figure.to_string(), &figure.source);
            }
        }
    }

    fn topology(&mut self, topology: &Topology) {
        let source = topology.cpus_source.as_str();
        self.group("topology");
        let all = CpuList(topology.cpus.iter().map(|c| c.id).collect());
        self.text("CPUs online", cpus(&all), source);
        self.text("CPUs allowed", cpus(&CpuList(topology.allowed())), source);
        for (package, members) in by(topology, |cpu| cpu.package) {
            self.text(
                &format!("package {}", or_unknown(package)),
                cpus(&members),
                source,
            );
        }
        let cores: BTreeSet<(Option<u32>, Option<u32>)> =
            topology.cpus.iter().map(|c| (c.package, c.core)).collect();
        if cores.iter().any(|(_, core)| core.is_none()) {
            self.text("cores", "unknown", source);
        } else {
            self.text("cores", cores.len().to_string(), source);
        }
        let groups: BTreeSet<&Vec<u32>> = topology.cpus.iter().map(|c| &c.siblings).collect();
        let mut shown: Vec<String> = groups
            .iter()
            .take(MAX_CORES)
            .map(|g| CpuList((*g).clone()).to_string())
            .collect();
        if groups.len() > MAX_CORES {
            shown.push(format!("and {} more", groups.len() - MAX_CORES));
        }
        self.text("CPUs of each core", shown.join(" | "), source);
        for (kind, members) in by(topology, |cpu| cpu.kind.clone()) {
            let Some(kind) = kind else { continue };
            self.text(&format!("cores: {kind}"), cpus(&members), source);
        }
    }

    fn caches(&mut self, topology: &Topology) {
        self.group("caches");
        let mut kinds: BTreeMap<_, Vec<&Cache>> = BTreeMap::new();
        for c in &topology.caches {
            kinds
                .entry((c.level, c.kind, c.size, c.line, c.ways))
                .or_default()
                .push(c);
        }
        if kinds.is_empty() {
            self.text("caches", "unknown", &topology.caches_source);
        }
        for ((level, kind, size, line, ways), instances) in kinds {
            let name = format!("L{level} {}", kind_word(kind));
            let line = line.map_or_else(|| "unknown".to_owned(), |l| l.to_string());
            let sharing: BTreeSet<usize> = instances.iter().map(|c| c.cpus.0.len()).collect();
            let sharing: Vec<String> = sharing.iter().map(|n| counted(*n, "CPU")).collect();
            let value = format!(
                "{} x {size}, line {line}, ways {}, shared by {}",
                instances.len(),
                or_unknown(ways),
                sharing.join(" or ")
            );
            self.text(&name, value, &topology.caches_source);
        }
    }

    fn nodes(&mut self, topology: &Topology) {
        self.group("nodes");
        if topology.nodes.is_empty() {
            self.text("nodes", "unknown", &topology.nodes_source);
        }
        for node in &topology.nodes {
            self.text(
                &format!("node {}", node.id),
                node_text(node),
                &topology.nodes_source,
            );
        }
        for (node, members) in by(topology, |cpu| cpu.node)
            .into_iter()
            .filter(|(node, _)| node.is_none())
        {
            self.text(
                &format!("node {}", or_unknown(node)),
                cpus(&members),
                &topology.cpus_source,
            );
        }
    }

    fn memory(&mut self, memory: &MemoryFacts) {
        self.group("memory");
        self.fact("total", &memory.total, ToString::to_string);
        self.fact("available", &memory.available, ToString::to_string);
        self.fact("control groups leave", &memory.cgroup, ToString::to_string);
        self.fact("resource limits leave", &memory.rlimit, ToString::to_string);
        self.fact("usable", &memory.usable, ToString::to_string);
        self.fact("overcommit", &memory.overcommit, String::clone);
        self.fact("lock limit", &memory.lock_limit, ToString::to_string);
        let swap = |s: &Swap| {
            if s.total.0 == 0 {
                "none".to_owned()
            } else {
                format!("{} of {} used", s.used, s.total)
            }
        };
        self.fact("swap", &memory.swap, swap);
        let bus = |b: &MemoryBus| {
            format!(
                "{}, {}, {}",
                b.peak,
                counted(b.channels as usize, "channel"),
                counted(b.modules as usize, "module")
            )
        };
        self.fact("bus peak", &memory.bus, bus);
    }

    fn pages(&mut self, pages: &PageFacts) {
        self.group("pages");
        self.text("base page", pages.base.to_string(), "the system");
        self.fact("transparent huge pages", &pages.thp_mode, String::clone);
        self.fact(
            "transparent huge page size",
            &pages.thp_size,
            ToString::to_string,
        );
        self.fact("huge page defrag", &pages.thp_defrag, String::clone);
        self.fact("huge page pools", &pages.huge_pools, |pools| {
            let one = |p: &report::HugePool| format!("{}: {} of {} free", p.size, p.free, p.total);
            if pools.is_empty() {
                "none".to_owned()
            } else {
                pools.iter().map(one).collect::<Vec<_>>().join(", ")
            }
        });
    }

    fn system(&mut self, system: &SystemFacts) {
        self.group("system");
        self.text("operating system", system.os.clone(), "this program");
        self.fact("kernel", &system.kernel, String::clone);
        self.fact("firmware", &system.firmware, String::clone);
        self.fact("host name", &system.hostname, String::clone);
        self.fact("virtualised by", &system.virtualization, String::clone);
        self.fact("emulated by", &system.emulation, String::clone);
        self.fact("threads can be pinned", &system.pinning, yes_or_no);
        self.fact("asked for threads", &system.thread_request, String::clone);
        self.fact("container", &system.container, String::clone);
        self.fact("rights of another", &system.elevated, yes_or_no);
        self.fact("CPU quota", &system.cpu_quota, |q| {
            format!("{} CPUs", significant(*q))
        });
    }

    fn environment(&mut self, environment: &Environment) {
        self.group("environment");
        self.fact("frequency governor", &environment.governor, String::clone);
        self.fact("turbo", &environment.turbo, yes_or_no);
        self.fact("simultaneous multithreading", &environment.smt, yes_or_no);
        self.fact(
            "automatic NUMA balancing",
            &environment.numa_balancing,
            yes_or_no,
        );
        self.fact("load average", &environment.load, |l| significant(*l));
        self.fact("power source", &environment.power_source, String::clone);
        self.fact("power saving", &environment.power_saving, yes_or_no);
        self.fact("thermal state", &environment.thermal_state, String::clone);
        self.fact(
            "memory pressure",
            &environment.memory_pressure,
            String::clone,
        );
        self.fact("mitigations", &environment.mitigations, |all| {
            if all.is_empty() {
                "none".to_owned()
            } else {
                all.join("; ")
            }
        });
    }
}

impl Rows {
    fn gpu(&mut self, gpu: &GpuFacts) {
        self.group(&format!("device {}", gpu.number));
        self.text("name", gpu.name.clone(), "");
        self.text("vendor", gpu.vendor.clone(), "");
        self.text("kind", gpu.kind.clone(), "");
        self.text("interface", gpu.interface.clone(), "");
        self.fact("driver", &gpu.driver, String::clone);
        self.fact("memory", &gpu.memory, ToString::to_string);
        self.fact(
            "largest allocation",
            &gpu.largest_allocation,
            ToString::to_string,
        );
        self.fact("memory bus", &gpu.bus_width, |bits| format!("{bits} bits"));
        self.fact("memory clock", &gpu.memory_clock, ToString::to_string);
        self.fact("shared cache", &gpu.cache, ToString::to_string);
        self.fact("cache line", &gpu.line, ToString::to_string);
        self.fact("local memory", &gpu.local_memory, ToString::to_string);
        self.fact("compute units", &gpu.compute_units, ToString::to_string);
        self.fact("clock", &gpu.clock, ToString::to_string);
        self.fact("power limit", &gpu.power_limit, |watts| {
            format!("{watts:.0} W")
        });
        self.fact("error correction", &gpu.ecc, yes_or_no);
        self.fact("divided (MIG)", &gpu.partitioned, yes_or_no);
        self.fact("uses main memory", &gpu.shares_host_memory, yes_or_no);
        self.fact("PCI address", &gpu.pci_address, String::clone);
        self.fact("link", &gpu.link, ToString::to_string);
        self.fact("NUMA node", &gpu.numa_node, ToString::to_string);
        self.fact("code of the kernels", &gpu.code, String::clone);
    }
}

/// Text with the CPUs, the memory and the distances of a node.
fn node_text(node: &Node) -> String {
    let members = if node.cpus.0.is_empty() {
        "no CPUs".to_owned()
    } else {
        cpus(&node.cpus)
    };
    let memory = node
        .memory
        .map_or_else(|| "unknown".to_owned(), |m| m.to_string());
    let distances: Vec<String> = node.distances.iter().map(ToString::to_string).collect();
    let distances = if distances.is_empty() {
        "unknown".to_owned()
    } else {
        distances.join(" ")
    };
    format!("{members}; memory {memory}; distances {distances}")
}

/// CPUs grouped by the result of `key`.
fn by<K: Ord>(
    topology: &Topology,
    key: impl Fn(&Cpu) -> Option<K>,
) -> BTreeMap<Option<K>, CpuList> {
    let mut groups: BTreeMap<Option<K>, CpuList> = BTreeMap::new();
    for cpu in &topology.cpus {
        groups.entry(key(cpu)).or_default().0.push(cpu.id);
    }
    groups
}

/// Number and list of CPUs: `2 CPUs: 0-1`.
fn cpus(list: &CpuList) -> String {
    match list.0.len() {
        0 => "none".to_owned(),
        n => format!("{}: {list}", counted(n, "CPU")),
    }
}

/// The number, or `unknown`.
fn or_unknown(number: Option<u32>) -> String {
    number.map_or_else(|| "unknown".to_owned(), |n| n.to_string())
}

/// Word for the contents of a cache.
fn kind_word(kind: CacheKind) -> &'static str {
    match kind {
        CacheKind::Data => "data",
        CacheKind::Instruction => "instruction",
        CacheKind::Unified => "unified",
    }
}

/// `yes` or `no`.
fn yes_or_no(flag: &bool) -> String {
    if *flag { "yes" } else { "no" }.to_owned()
}
