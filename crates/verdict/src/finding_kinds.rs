//! Kinds of findings: the statement that each makes, and its worth to a reader.

/// Worth of a finding to a reader who has little time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// The reader should change a setting of the machine or of the session before measuring again.
    Change,
    /// The finding answers the question of an experiment, or disagrees with documented figures.
    Answer,
    /// The finding is a detail of an answer.
    Detail,
    /// The finding is about conditions that the verdict on the report names too.
    Circumstance,
}

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingKind {
    /// Name in reports, `page-walk-cost`.
    pub name: &'static str,
    /// Worth of findings of this kind.
    pub worth: Worth,
    /// Statement that the finding makes.
    pub meaning: &'static str,
}

/// The kind with this name; `None` for a name that this version does not know.
pub fn finding_kind(name: &str) -> Option<&'static FindingKind> {
    FINDING_KINDS.iter().find(|kind| kind.name == name)
}

const fn kind(name: &'static str, worth: Worth, meaning: &'static str) -> FindingKind {
    FindingKind {
        name,
        worth,
        meaning,
    }
}

/// Every kind of finding, by subject.
pub const FINDING_KINDS: &[FindingKind] = &[
    // The machine and the session.
    kind("emulated", Worth::Change, "The processor is emulated."),
    kind(
        "not-pinned",
        Worth::Change,
        "Threads cannot be pinned to CPUs.",
    ),
    kind(
        "cpu-quota",
        Worth::Change,
        "A CPU quota stops threads during samples.",
    ),
    kind(
        "less-speed",
        Worth::Change,
        "The machine runs on battery, saves power or is hot.",
    ),
    kind(
        "no-huge-pages",
        Worth::Change,
        "Transparent huge pages are off.",
    ),
    kind(
        "fallback",
        Worth::Change,
        "The system hides facts that the plan needs.",
    ),
    kind(
        "vcpu-moves",
        Worth::Change,
        "The host moves the virtual CPUs, and a figure depends on it.",
    ),
    kind(
        "range-over-time",
        Worth::Change,
        "The machine is busy: the ranges that it gives to a tenant.",
    ),
    kind(
        "journal",
        Worth::Change,
        "The journal could not be written.",
    ),
    kind(
        "budget",
        Worth::Change,
        "The budget ended before all rounds.",
    ),
    kind(
        "storage-otherwise",
        Worth::Change,
        "Storage was used in another way than requested.",
    ),
    // Fleets.
    kind(
        "fleet-setting",
        Worth::Change,
        "A setting of the system divides machines with the same hardware.",
    ),
    kind(
        "fleet-populations",
        Worth::Change,
        "Machines with the same hardware and settings fall into two groups.",
    ),
    kind(
        "fleet-expectation",
        Worth::Change,
        "Machines differ from their expectations as a whole.",
    ),
    kind(
        "fleet-change",
        Worth::Change,
        "Machines of a group changed together since a moment.",
    ),
    kind(
        "fleet-hardware",
        Worth::Change,
        "The hardware of machines changed between their reports.",
    ),
    // Bandwidth.
    kind(
        "memory-scaling",
        Worth::Answer,
        "Bandwidth of all threads against one.",
    ),
    kind(
        "memory-saturation",
        Worth::Answer,
        "Threads that saturate memory.",
    ),
    kind(
        "whole-line-stores",
        Worth::Answer,
        "Writes of whole lines against ordinary stores.",
    ),
    kind(
        "non-temporal-stores",
        Worth::Answer,
        "Gain or loss by non-temporal stores.",
    ),
    kind(
        "orders",
        Worth::Answer,
        "Bandwidth of random and strided order against sequential order.",
    ),
    kind(
        "scaling-spread",
        Worth::Answer,
        "Threads that saturate a level, one core after another.",
    ),
    kind(
        "scaling-compact",
        Worth::Answer,
        "Threads that saturate a level, sibling threads first.",
    ),
    kind(
        "smt",
        Worth::Answer,
        "Gain by the second thread of each core.",
    ),
    kind(
        "oversubscription",
        Worth::Detail,
        "Cost of two threads on each CPU.",
    ),
    kind(
        "placement-of-threads",
        Worth::Answer,
        "Spread against compact placement of threads.",
    ),
    kind(
        "unfair",
        Worth::Answer,
        "Threads get unequal shares of the bandwidth.",
    ),
    kind(
        "kinds-of-cores",
        Worth::Answer,
        "Bandwidth of each kind of core.",
    ),
    kind(
        "tokens-per-second",
        Worth::Answer,
        "Tokens per second that memory allows a language model.",
    ),
    kind(
        "steps",
        Worth::Detail,
        "Sizes at which bandwidth leaves a level.",
    ),
    // Latency.
    kind(
        "page-walk-cost",
        Worth::Answer,
        "Cost of a TLB miss for a load from memory.",
    ),
    kind(
        "page-locality",
        Worth::Answer,
        "Cost of leaving a page for a load from memory.",
    ),
    kind(
        "memory-level-parallelism",
        Worth::Answer,
        "Loads that one thread has in flight.",
    ),
    kind(
        "latency-of-threads-private",
        Worth::Answer,
        "Latency while several threads load, each from its own memory.",
    ),
    kind(
        "latency-of-threads-shared",
        Worth::Answer,
        "Latency while several threads load from shared memory.",
    ),
    kind(
        "latency-steps",
        Worth::Detail,
        "Sizes at which latency leaves a level.",
    ),
    kind(
        "latency-windows",
        Worth::Detail,
        "Distribution of latency over short windows.",
    ),
    // Background traffic.
    kind(
        "loaded-latency",
        Worth::Answer,
        "Latency at shares of the highest bandwidth.",
    ),
    kind(
        "loaded-latency-falls",
        Worth::Answer,
        "Latency falls with more traffic.",
    ),
    kind(
        "loaded-latency-flat",
        Worth::Detail,
        "Traffic cannot load the memory.",
    ),
    kind(
        "loaded-latency-mixes",
        Worth::Answer,
        "Latency under mixes of reads and writes.",
    ),
    kind(
        "loaded-latency-nodes",
        Worth::Answer,
        "Latency under traffic on each node.",
    ),
    kind(
        "victim-latency",
        Worth::Answer,
        "Latency next to an aggressor.",
    ),
    kind(
        "victim-bandwidth",
        Worth::Answer,
        "Bandwidth next to an aggressor.",
    ),
    // Cores.
    kind(
        "core-to-core",
        Worth::Answer,
        "Round trip of a line between two CPUs.",
    ),
    kind(
        "clusters",
        Worth::Answer,
        "Groups of CPUs that are near each other.",
    ),
    kind(
        "asymmetric",
        Worth::Detail,
        "Round trips that depend on the CPU that starts.",
    ),
    kind(
        "round-trip-windows",
        Worth::Detail,
        "Distribution of round trips over short windows.",
    ),
    kind(
        "line-contention",
        Worth::Answer,
        "Cost of an atomic operation on a shared line.",
    ),
    // NUMA.
    kind(
        "numa-worst-link",
        Worth::Answer,
        "The slowest pair of nodes.",
    ),
    kind(
        "numa-asymmetric",
        Worth::Answer,
        "Pairs of nodes that differ by direction.",
    ),
    kind(
        "numa-total",
        Worth::Answer,
        "Bandwidth of all nodes at once.",
    ),
    kind(
        "numa-bandwidth",
        Worth::Answer,
        "Bandwidth of local and remote memory.",
    ),
    kind(
        "numa-latency",
        Worth::Answer,
        "Latency of local and remote memory.",
    ),
    kind("one-node", Worth::Detail, "The machine has one node."),
    // Caches and TLBs.
    kind(
        "cache-disagrees",
        Worth::Answer,
        "Timing and system disagree about a cache.",
    ),
    kind(
        "memory-size",
        Worth::Answer,
        "Memory sized by a cache that timing shows.",
    ),
    kind(
        "cache-exclusive",
        Worth::Answer,
        "A cache has other lines than the nearer caches.",
    ),
    kind(
        "documented",
        Worth::Detail,
        "Measured levels beside the published figures of the core design.",
    ),
    kind(
        "documented-disagrees",
        Worth::Answer,
        "A measured level that disagrees with the published figure.",
    ),
    kind(
        "cache-level",
        Worth::Detail,
        "Effective capacity and latency of a cache.",
    ),
    kind(
        "cache-memory",
        Worth::Detail,
        "Latency past the last cache.",
    ),
    kind("cache-line", Worth::Detail, "Size of a line."),
    kind(
        "cache-adjacent",
        Worth::Detail,
        "Lines that are fetched together.",
    ),
    kind(
        "cache-stride-prefetch",
        Worth::Detail,
        "Strides that are prefetched.",
    ),
    kind("cache-ways", Worth::Detail, "Ways of a cache."),
    kind(
        "cache-ways-unknown",
        Worth::Circumstance,
        "The ways of a cache could not be measured.",
    ),
    kind("cache-sharing", Worth::Detail, "CPUs that share a cache."),
    kind(
        "cache-sharing-unknown",
        Worth::Circumstance,
        "Sharing of a cache could not be measured.",
    ),
    kind(
        "cache-pages",
        Worth::Circumstance,
        "Huge pages were not granted, so TLB misses may show.",
    ),
    kind(
        "tlb-level",
        Worth::Detail,
        "Entries of a TLB and the cost of a miss.",
    ),
    kind("tlb-none", Worth::Detail, "No TLB level shows."),
    kind(
        "tlb-rejected",
        Worth::Circumstance,
        "Rises that are no TLB level.",
    ),
    kind(
        "tlb-rounds",
        Worth::Circumstance,
        "Too few rounds for the TLBs.",
    ),
    kind(
        "tlb-pages",
        Worth::Circumstance,
        "Huge pages were not granted, so their TLBs do not show.",
    ),
    // Storage.
    kind(
        "storage-depth",
        Worth::Answer,
        "Operations in flight that saturate the storage.",
    ),
    kind(
        "storage-own-cost",
        Worth::Detail,
        "Cost of memgauge itself for an operation.",
    ),
    // GPUs.
    kind(
        "gpu-memory",
        Worth::Answer,
        "Bandwidth of the memory of a GPU.",
    ),
    kind(
        "gpu-tokens",
        Worth::Answer,
        "Tokens per second that the memory of a GPU allows.",
    ),
    kind(
        "gpu-groups",
        Worth::Answer,
        "Work-groups that saturate the memory of a GPU.",
    ),
    kind(
        "gpu-latency",
        Worth::Answer,
        "Latency of the nearest cache and of the memory of a GPU.",
    ),
    kind(
        "gpu-tlb",
        Worth::Detail,
        "Pages that the first TLB of a GPU holds, and the latency of a load that misses it.",
    ),
    kind(
        "gpu-local",
        Worth::Detail,
        "Bandwidth of the memory that work-groups of a GPU share.",
    ),
    kind(
        "gpu-atomics",
        Worth::Detail,
        "Atomic additions of a GPU, to one counter and to many.",
    ),
    kind(
        "gpu-transfers",
        Worth::Answer,
        "Bandwidth between main memory and a GPU.",
    ),
    kind(
        "gpu-peers",
        Worth::Answer,
        "Slowest and fastest copies between GPUs.",
    ),
    kind(
        "gpu-power-limit",
        Worth::Detail,
        "A GPU that was at its limit of power.",
    ),
    kind(
        "gpu-link",
        Worth::Change,
        "A GPU whose link has fewer lanes than it could have.",
    ),
    kind(
        "gpu-small-transfer",
        Worth::Detail,
        "Time of a small transfer to a GPU.",
    ),
    // Conditions during the session.
    kind("drift", Worth::Circumstance, "Points whose values drifted."),
    kind(
        "bimodal",
        Worth::Circumstance,
        "Points whose values fall into two groups.",
    ),
    kind(
        "placement",
        Worth::Circumstance,
        "Points whose values depend on the physical pages.",
    ),
    kind(
        "quietest-moments",
        Worth::Detail,
        "The value without other users of the machine, and the typical one.",
    ),
    kind(
        "vcpu-placement",
        Worth::Circumstance,
        "The cores on which the host ran its virtual CPUs.",
    ),
    kind(
        "interruptions",
        Worth::Circumstance,
        "Disturbed samples, by cause.",
    ),
    kind("load", Worth::Circumstance, "Load average at the start."),
    kind(
        "adjusted",
        Worth::Circumstance,
        "Points that differ from the request.",
    ),
    kind(
        "resumed",
        Worth::Circumstance,
        "Points of the session that was continued.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = FINDING_KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), FINDING_KINDS.len());
    }
}
