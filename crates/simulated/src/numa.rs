//! Cost of memory on the nodes of a simulated machine.

use engine::Work;
use engine::pages::listed;
use engine::{page_bytes, share_of};
use host::memory::{PageMode, Place};
use report::{HostFacts, PageEvidence};
use std::collections::BTreeMap;
use units::{BytesPerSecond, Nanos};

/// Cost of the way from a CPU to the memory of a node at a certain distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Distance of the two nodes, as the system reports it.
    pub distance: u32,
    /// Bandwidth of the link, as a share (0 to 1) of the bandwidth of the node's memory.
    pub share: f64,
    /// Extra latency of a load over the link.
    pub latency: Nanos,
}

/// Cost of memory on several nodes. Without entries, all memory costs the same.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodesCost {
    /// Bandwidth of each node's memory, and extra latency of a load from that memory.
    pub nodes: BTreeMap<u32, (BytesPerSecond, Nanos)>,
    /// Links by distance of the nodes. A distance without an entry has no extra cost.
    pub links: Vec<Link>,
    /// Node from which the simulated kernel takes all pages, even if another node was requested;
    /// `None` if it follows requests.
    pub misplaced: Option<u32>,
    /// True if the simulated kernel does not report the nodes of pages.
    pub unreported: bool,
}

impl NodesCost {
    fn link(&self, from: u32, to: u32, facts: &HostFacts) -> Option<&Link> {
        let distance = facts.topology.distance(from, to)?;
        self.links.iter().find(|link| link.distance == distance)
    }

    /// Bytes per second that the CPUs of node `from` together can read from memory at `place`.
    /// `None` if a node of the place has no entry.
    fn carried(&self, from: u32, place: &Place, facts: &HostFacts) -> Option<f64> {
        let part = |&to: &u32| {
            let share = self.link(from, to, facts).map_or(1.0, |link| link.share);
            // A read of interleaved memory takes as long as the read of the slowest node's part.
            Some(self.nodes.get(&to)?.0.0 * share / share_of(place, to, &facts.topology.nodes))
        };
        place
            .nodes()
            .iter()
            .map(part)
            .collect::<Option<Vec<f64>>>()?
            .into_iter()
            .reduce(f64::min)
    }

    /// Bytes per second that all threads together read. `one` is the rate of a thread without other
    /// threads. `threads` has, for each thread, the node of its CPU and the place of its memory.
    /// `None` if a node has no entry.
    pub fn rate(&self, threads: &[(u32, Place)], one: f64, facts: &HostFacts) -> Option<f64> {
        let mut groups: BTreeMap<&Place, (f64, f64)> = BTreeMap::new();
        for (from, place) in threads {
            let carried = self.carried(*from, place, facts)?;
            let group = groups.entry(place).or_insert((0.0, 0.0));
            // If CPUs of several nodes read the same memory, the CPUs with the best link determine
            // the limit.
            *group = (group.0 + one, group.1.max(carried));
        }
        Some(
            groups
                .into_values()
                .map(|(threads, memory)| threads.min(memory))
                .sum(),
        )
    }

    /// Extra latency in ns of a load on a CPU of node `from` from memory of node `to`.
    pub fn latency(&self, from: u32, to: u32, facts: &HostFacts) -> f64 {
        let link = self
            .link(from, to, facts)
            .map_or(0.0, |link| link.latency.0);
        link + self.nodes.get(&to).map_or(0.0, |(_, latency)| latency.0)
    }

    /// Page evidence that the simulated kernel reports for `work`. `granted` is the share of memory
    /// in pages of the requested size; base pages are always granted.
    pub fn evidence(&self, work: &Work, facts: &HostFacts, granted: f64) -> PageEvidence {
        let Some(pages) = work.pages() else {
            return PageEvidence::default();
        };
        let requested = page_bytes(pages, facts);
        let granted = if pages == PageMode::Base {
            1.0
        } else {
            granted
        };
        let told = (!self.unreported).then(|| self.pages(work, facts));
        PageEvidence {
            requested_bytes: Some(requested.0),
            granted_share: Some(granted),
            granted_bytes: Some(if granted >= 0.5 {
                requested.0
            } else {
                facts.pages.base.0
            }),
            resident_share: Some(1.0),
            nodes: told
                .as_ref()
                .map(|(pages, _)| pages.keys().copied().collect()),
            pages_on_other_nodes: told.as_ref().map(|(_, strays)| *strays),
            pages_by_node: told.map(|(pages, _)| listed(pages)),
            requested_placement: work.place().map(|place| place.to_string()),
            expected_nodes: Some(work.memory_nodes(facts)),
            non_zero: Some(true),
        }
    }

    /// Number of base pages of `work` on each node, and number of base pages that lie on another
    /// node than requested.
    fn pages(&self, work: &Work, facts: &HostFacts) -> (BTreeMap<u32, u64>, u64) {
        let all = work
            .working_set()
            .0
            .div_ceil(facts.pages.base.0.max(1))
            .max(1);
        let each = all / work.cpus().len().max(1) as u64;
        if let Some(node) = self.misplaced {
            let right = |index: &usize| work.memory_nodes_of(*index, facts).contains(&node);
            let right = (0..work.cpus().len()).filter(right).count() as u64;
            return (BTreeMap::from([(node, all)]), all - each * right);
        }
        let nodes = work.memory_nodes(facts);
        let shared = || Place::Interleaved(nodes.clone());
        let place = work
            .place()
            .filter(|place| *place != Place::Local)
            .unwrap_or_else(shared);
        let share =
            |node: u32| (share_of(&place, node, &facts.topology.nodes) * all as f64).ceil() as u64;
        (nodes.iter().map(|&node| (node, share(node))).collect(), 0)
    }
}
