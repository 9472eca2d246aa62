//! The memory that a set of works needs mapped at the same time.

use super::background::{LoadedWork, Traffic};
use super::chase::ChaseWork;
use super::kind::Work;
use super::slots::{page_bytes, share_of};
use host::memory::{PageMode, Place, reserve_command};
use report::{HostFacts, Node, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use units::Bytes;

/// Use of a mapping. Streams and chains never share a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryUse {
    /// Threads stream through the mapping.
    Streams,
    /// Chains of pointers lie in the mapping.
    Chains,
}

/// Identity of a mapping: its use, the kind of its pages, and the NUMA nodes of its memory.
pub type MemoryKey = (MemoryUse, PageMode, Place);

/// The memory that a set of works needs mapped at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryPlan {
    /// Size of each mapping.
    pub mappings: BTreeMap<MemoryKey, Bytes>,
}

/// Key of the mapping that `traffic` streams through.
pub fn traffic_key(traffic: &Traffic, facts: &HostFacts) -> MemoryKey {
    (
        MemoryUse::Streams,
        traffic.pages,
        Place::Node(traffic.memory_node(facts)),
    )
}

/// Key of the mapping that the first chain of `chase` lies in.
pub fn chain_key(chase: &ChaseWork, facts: &HostFacts) -> MemoryKey {
    (
        MemoryUse::Chains,
        chase.pages,
        Place::Node(chase.memory_node(facts)),
    )
}

/// The memory that the streams of `work` need, by mapping.
pub fn traffic_memory(work: &LoadedWork, facts: &HostFacts) -> BTreeMap<MemoryKey, Bytes> {
    let mut needed: BTreeMap<MemoryKey, Bytes> = BTreeMap::new();
    for traffic in work.streaming() {
        let sum = needed.entry(traffic_key(traffic, facts)).or_default();
        *sum = *sum + traffic.slot();
    }
    needed
}

/// Streams of these sizes are sampled at several offsets of their mapping
/// (`Machine::shift_placement`). Memory for at least `PLACES` such streams is mapped, unless this
/// takes more than 1/`PART` of the usable memory.
const SMALL: RangeInclusive<Bytes> = Bytes::kib(128)..=Bytes::mib(2);
const PLACES: u64 = 16;
const PART: u64 = 64;

/// Bytes to map for a thread that streams through `bytes` and uses `slot` bytes of its mapping at a
/// time.
fn places(bytes: Bytes, slot: Bytes, facts: &HostFacts) -> Bytes {
    let several = Bytes(slot.0.max(Bytes::mib(1).0).saturating_mul(PLACES));
    let usable = facts.memory.usable.get().map_or(0, |usable| usable.0);
    if SMALL.contains(&bytes) && several.0 <= usable / PART {
        several
    } else {
        slot
    }
}

impl MemoryPlan {
    /// Memory that `works` need. Streams of different works use the same memory. Without
    /// `chains_share`, every chain has memory of its own. With `chains_share`, all works build
    /// their chains in the same memory, one work after the other.
    pub fn for_works<'a>(
        works: impl IntoIterator<Item = &'a Work>,
        facts: &HostFacts,
        chains_share: bool,
    ) -> Self {
        let mut mappings: BTreeMap<MemoryKey, Bytes> = BTreeMap::new();
        let mut chains: BTreeSet<ChaseWork> = BTreeSet::new();
        for work in works {
            match work {
                Work::Stream(w) => {
                    for counted in w.counts() {
                        let mut here: BTreeMap<Place, Bytes> = BTreeMap::new();
                        for &cpu in &counted.cpus {
                            let sum = here.entry(counted.memory_of(cpu, facts)).or_default();
                            *sum = *sum + places(counted.bytes, counted.slot(), facts);
                        }
                        for (place, bytes) in here {
                            let size = mappings
                                .entry((MemoryUse::Streams, w.pages, place))
                                .or_default();
                            *size = (*size).max(bytes);
                        }
                    }
                }
                Work::Loaded(w) => {
                    for (key, bytes) in traffic_memory(w, facts) {
                        let size = mappings.entry(key).or_default();
                        *size = (*size).max(bytes);
                    }
                }
                Work::Chase(_)
                | Work::Instruction(_)
                | Work::Lock(_)
                | Work::HandOff(_)
                | Work::External(_) => {}
            }
            let mut here: BTreeMap<MemoryKey, Bytes> = BTreeMap::new();
            for chain in work.chase().map(ChaseWork::chains).unwrap_or_default() {
                if chains_share || chains.insert(chain.clone()) {
                    let sum = here.entry(chain_key(&chain, facts)).or_default();
                    *sum = *sum + chain.slot();
                }
            }
            for (key, bytes) in here {
                let size = mappings.entry(key).or_default();
                *size = if chains_share {
                    (*size).max(bytes)
                } else {
                    *size + bytes
                };
            }
        }
        for ((_, pages, _), size) in &mut mappings {
            *size = size.round_up(page_bytes(*pages, facts).0);
        }
        Self { mappings }
    }

    /// Size of all mappings together.
    pub fn total(&self) -> Bytes {
        self.mappings.values().copied().sum()
    }

    /// Bytes to map in reserved huge pages, by the size of the pages.
    fn reserved(&self, facts: &HostFacts) -> BTreeMap<Bytes, Bytes> {
        let mut sums: BTreeMap<Bytes, Bytes> = BTreeMap::new();
        for ((_, pages, _), bytes) in self
            .mappings
            .iter()
            .filter(|((_, pages, _), _)| pages.is_reserved())
        {
            let sum = sums.entry(page_bytes(*pages, facts)).or_default();
            *sum = *sum + *bytes;
        }
        sums
    }

    /// True if the pools of reserved huge pages have enough free pages. Also true if the system
    /// does not report its pools.
    fn fits_pools(&self, facts: &HostFacts) -> bool {
        let Some(pools) = facts.pages.huge_pools.get() else {
            return true;
        };
        let room = |page: &Bytes| {
            pools
                .iter()
                .find(|p| p.size == *page)
                .map_or(0, |p| p.free.saturating_mul(page.0))
        };
        self.reserved(facts)
            .iter()
            .all(|(page, bytes)| bytes.0 <= room(page))
    }

    /// The plan with all mappings twice as large, as if old and new memory existed at the same
    /// time.
    pub fn twice(&self) -> Self {
        let double =
            |(key, bytes): (&MemoryKey, &Bytes)| (key.clone(), Bytes(bytes.0.saturating_mul(2)));
        Self {
            mappings: self.mappings.iter().map(double).collect(),
        }
    }

    /// True if the plan fits into the usable memory of the machine and of each node whose memory is
    /// known. The pools of reserved huge pages must have room, too. The nodes are checked because
    /// the system ends a process whose memory is bound to a full node.
    pub fn fits(&self, facts: &HostFacts) -> bool {
        let nodes = &facts.topology.nodes;
        let usable = facts
            .memory
            .usable
            .get()
            .is_none_or(|&usable| self.total() <= usable);
        let room = |node: &Node| {
            node.usable()
                .is_none_or(|usable| self.on_node(node.id, nodes) <= usable)
        };
        usable && self.fits_pools(facts) && (nodes.len() < 2 || nodes.iter().all(room))
    }

    /// Bytes of the plan that lie on `node`. Interleaved memory is divided according to the weights
    /// of its nodes.
    fn on_node(&self, node: u32, nodes: &[Node]) -> Bytes {
        let share = |(key, bytes): (&MemoryKey, &Bytes)| {
            (bytes.0 as f64 * share_of(&key.2, node, nodes)).ceil() as u64
        };
        Bytes(self.mappings.iter().map(share).fold(0, u64::saturating_add))
    }
}

/// Outcome of `work` if this machine lacks the reserved huge pages that the work needs:
/// [`Outcome::Skipped`] if some are free, but too few; [`Outcome::Unsupported`] if none is free or
/// there is no pool. `None` if enough are free, if none is needed, or if the system does not report
/// pools.
pub fn lacking_pages(work: &Work, facts: &HostFacts) -> Option<Outcome> {
    let pools = facts.pages.huge_pools.get()?;
    for (page, bytes) in MemoryPlan::for_works([work], facts, true).reserved(facts) {
        let needed = bytes.0 / page.0.max(1);
        let Some(pool) = pools.iter().find(|pool| pool.size == page) else {
            let reason = format!(
                "the system has no pool of reserved huge pages of {page}; type --pages thp"
            );
            return Some(Outcome::Unsupported { reason });
        };
        let free = pool.free;
        if free >= needed {
            continue;
        }
        let command = reserve_command(page, needed, pool.total, free);
        let reason = format!(
            "{needed} reserved huge pages of {page} are needed, {free} are free; as root type \
             {command}"
        );
        return Some(if free == 0 {
            Outcome::Unsupported { reason }
        } else {
            Outcome::Skipped { reason }
        });
    }
    None
}
