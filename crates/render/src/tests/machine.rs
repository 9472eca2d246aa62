//! A handmade machine for reports.

use report::{
    Cache, CacheKind, ClockFacts, Cpu, CpuFacts, DocumentedFigure, DocumentedQuantity, Environment,
    Fact, GpuFacts, HostFacts, HugePool, KernelUsed, MemoryFacts, Node, PageFacts, PortWidth,
    Provenance, Swap, SystemFacts, Tool, Topology,
};
use units::{Bytes, CpuList, Hertz, Nanos};

/// A known fact with a text.
fn text(value: &str, source: &str) -> Fact<String> {
    Fact::known(value.to_owned(), source)
}

/// Two documented figures of the machine's core design. One of them is a range.
fn documented() -> Vec<DocumentedFigure> {
    let figure = |quantity, low, high| DocumentedFigure {
        design: "Zen 5".to_owned(),
        quantity,
        low,
        high,
        source: "optimisation guide 58455".to_owned(),
    };
    vec![
        figure(DocumentedQuantity::L2LatencyCycles, 14, 14),
        figure(DocumentedQuantity::MemoryChannels, 2, 12),
    ]
}

/// A virtual machine with two CPUs.
pub fn host() -> HostFacts {
    HostFacts {
        cpu: CpuFacts {
            architecture: "x86_64".into(),
            vendor: text("AuthenticAMD", "CPUID leaf 0"),
            model_name: text("AMD EPYC 9575F 64-Core Processor", "CPUID leaf 0x80000002"),
            signature: text("family 26 model 2 stepping 1", "CPUID leaf 1"),
            microarchitecture: text("Zen 5", "signature"),
            microcode: text("0xb002151", "/proc/cpuinfo"),
            features: Fact::known(
                vec!["sse2".into(), "avx2".into(), "avx512f".into()],
                "CPUID leaf 7, XGETBV",
            ),
            l1_ports: Fact::known(
                PortWidth {
                    load_bytes: 128,
                    store_bytes: 64,
                },
                "optimisation guide 58455",
            ),
            integer_width: Fact::known(6, "optimisation guide 58455"),
            documented: documented(),
            counter: Fact::unknown("CPUID leaf 0x15 is empty"),
            counter_invariant: Fact::known(true, "CPUID leaf 0x80000007"),
        },
        topology: topology(),
        memory: MemoryFacts {
            total: Fact::known(Bytes::gib(32), "/proc/meminfo"),
            available: Fact::known(Bytes::gib(30), "/proc/meminfo"),
            cgroup: Fact::unknown("no limit is set"),
            rlimit: Fact::unknown("no limit is set"),
            usable: Fact::known(Bytes::gib(24), "available less a reserve of a fifth"),
            overcommit: text("heuristic", "/proc/sys/vm/overcommit_memory"),
            lock_limit: Fact::known(Bytes::mib(8), "/proc/self/limits"),
            swap: Fact::known(
                Swap {
                    total: Bytes::gib(2),
                    used: Bytes::mib(1),
                },
                "/proc/meminfo",
            ),
            bus: Fact::unknown("/sys/firmware/dmi/tables/DMI is readable by root only"),
        },
        pages: PageFacts {
            base: Bytes(4096),
            thp_mode: text("madvise", "/sys/kernel/mm/transparent_hugepage/enabled"),
            thp_size: Fact::known(
                Bytes::mib(2),
                "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
            ),
            thp_defrag: text("madvise", "/sys/kernel/mm/transparent_hugepage/defrag"),
            huge_pools: Fact::known(
                vec![HugePool {
                    size: Bytes::gib(1),
                    total: 4,
                    free: 3,
                }],
                "/sys/kernel/mm",
            ),
        },
        system: SystemFacts {
            os: "linux".into(),
            kernel: text("6.12.0", "uname"),
            firmware: text("Vendor 1.2 01/31/2026", "/sys/class/dmi/id"),
            hostname: text("bench", "uname"),
            virtualization: text("KVM", "CPUID leaf 0x40000000"),
            emulation: text("none", "/proc/self/exe is what runs"),
            pinning: Fact::known(true, "this system"),
            thread_request: Fact::unknown("threads are pinned"),
            container: text("none", "no marker of a container found"),
            elevated: Fact::known(false, "rights of the process and of its caller"),
            cpu_quota: Fact::unknown("no quota is set"),
        },
        gpus: Vec::new(),
        environment: Environment {
            governor: Fact::unknown("scaling_governor cannot be read: no such file"),
            turbo: Fact::unknown("not told inside a virtual machine"),
            smt: Fact::known(true, "/sys/devices/system/cpu/smt/active"),
            numa_balancing: Fact::known(false, "/proc/sys/kernel/numa_balancing"),
            load: Fact::known(0.21, "/proc/loadavg"),
            power_source: text("mains", "/sys/class/power_supply/AC/online"),
            power_saving: Fact::known(false, "/sys/firmware/acpi/platform_profile"),
            thermal_state: Fact::unknown("this system has temperatures only"),
            memory_pressure: Fact::unknown("read around each round instead"),
            mitigations: Fact::known(
                vec!["spectre_v2: Mitigation".into()],
                "/sys/devices/system/cpu/vulnerabilities",
            ),
        },
    }
}

/// Two cores that share an L3 cache.
fn topology() -> Topology {
    let cpu = |id| Cpu {
        id,
        allowed: true,
        core: Some(id),
        package: Some(0),
        node: Some(0),
        siblings: vec![id],
        kind: None,
    };
    let cache = |level, kind, size, cpus: &[u32]| Cache {
        level,
        kind,
        size,
        line: Some(Bytes(64)),
        ways: Some(if level == 1 { 12 } else { 16 }),
        cpus: CpuList(cpus.to_vec()),
    };
    Topology {
        cpus: vec![cpu(0), cpu(1)],
        cpus_source: "/sys/devices/system/cpu".into(),
        caches: vec![
            cache(1, CacheKind::Data, Bytes::kib(48), &[0]),
            cache(1, CacheKind::Data, Bytes::kib(48), &[1]),
            cache(1, CacheKind::Instruction, Bytes::kib(32), &[0]),
            cache(1, CacheKind::Instruction, Bytes::kib(32), &[1]),
            cache(2, CacheKind::Unified, Bytes::mib(1), &[0]),
            cache(2, CacheKind::Unified, Bytes::mib(1), &[1]),
            cache(3, CacheKind::Unified, Bytes::mib(32), &[0, 1]),
        ],
        caches_source: "/sys/devices/system/cpu/cpu*/cache".into(),
        nodes: vec![Node {
            id: 0,
            cpus: CpuList(vec![0, 1]),
            memory: Some(Bytes::gib(32)),
            distances: vec![10],
            ..Node::default()
        }],
        nodes_source: "/sys/devices/system/node".into(),
    }
}

/// Provenance of a session on the machine of [`host`].
pub fn provenance(command_line: &[&str]) -> Provenance {
    let kernel = |name: &str, digest: &str| KernelUsed {
        name: name.into(),
        digest: Some(digest.into()),
        c_library: None,
    };
    Provenance {
        tool: Tool {
            name: "memgauge".into(),
            version: "0.1.0".into(),
            machine: "native".into(),
        },
        command_line: command_line.iter().map(|a| (*a).to_owned()).collect(),
        seed: "11400714819323198485".into(),
        started: "2026-01-02T03:04:05Z".into(),
        resumed: Vec::new(),
        launch: None,
        finished: "2026-01-02T03:04:46Z".into(),
        kernels: vec![
            kernel("read-avx512", "5d41402abc4b2a76"),
            kernel("chase", "b9719d911017c592"),
        ],
        clock: ClockFacts {
            counter: "tsc".into(),
            rate: Some(Hertz(3.3e9)),
            error: Some(2.5e-6),
            resolution: Some(Nanos(0.3)),
            overhead: Some(Nanos(8.5)),
            core: Some(Hertz(4.95e9)),
        },
        host: host(),
        withheld: Vec::new(),
    }
}

/// A device whose facts each have a source of their own.
pub fn gpu() -> GpuFacts {
    let mut facts = serde_json::to_value(GpuFacts::unknown("test")).expect("facts");
    for (name, fact) in facts.as_object_mut().expect("an object") {
        if fact.is_object() {
            fact["source"] = format!("driver:{name}").into();
        }
    }
    serde_json::from_value(facts).expect("facts")
}
