//! Collects evidence about the pages of a work, and checks that they lie on the requested NUMA
//! nodes.

use crate::work::{Work, page_bytes, share_of};
use host::memory::{PageReading, Place};
use report::{HostFacts, NodePages, PageEvidence};
use std::collections::BTreeMap;
use units::CpuList;

/// Page evidence of `work`, computed from the `readings` of its windows of memory. The second value
/// names the facts that the system did not report. Each share in the result is the smallest among
/// the windows. The result has the NUMA nodes of all windows together.
pub fn evidence(
    readings: &[PageReading],
    work: &Work,
    facts: &HostFacts,
) -> (PageEvidence, Vec<String>) {
    let worst = |share: fn(&PageReading) -> Option<f64>| {
        let shares: Option<Vec<f64>> = readings.iter().map(share).collect();
        shares.and_then(|s| s.into_iter().reduce(f64::min))
    };
    let mut unchecked: Vec<String> = readings
        .iter()
        .flat_map(|r| r.unchecked.iter().cloned())
        .collect();
    unchecked.sort();
    unchecked.dedup();
    let pages = readings
        .iter()
        .map(|r| r.pages_by_node.as_ref())
        .collect::<Option<Vec<_>>>();
    let pages_by_node = pages.filter(|all| !all.is_empty()).map(|all| {
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        for (&node, &pages) in all.into_iter().flatten() {
            *sums.entry(node).or_default() += pages;
        }
        sums
    });
    let evidence = PageEvidence {
        requested_bytes: work.pages().map(|mode| page_bytes(mode, facts).0),
        granted_share: worst(|r| r.granted_share),
        granted_bytes: readings
            .iter()
            .map(|r| r.granted_bytes)
            .min()
            .flatten()
            .map(|b| b.0),
        resident_share: worst(|r| r.resident_share),
        pages_on_other_nodes: pages_by_node
            .is_some()
            .then(|| pages_on_other_nodes(readings, work, facts)),
        nodes: pages_by_node
            .as_ref()
            .map(|pages| pages.keys().copied().collect()),
        pages_by_node: pages_by_node.map(listed),
        requested_placement: work.place().map(|place| place.to_string()),
        expected_nodes: Some(work.memory_nodes(facts)),
        non_zero: readings
            .iter()
            .map(|r| r.non_zero)
            .collect::<Option<Vec<bool>>>()
            .map(|all| !all.contains(&false)),
    };
    (evidence, unchecked)
}

/// Number of pages on a wrong NUMA node. Each reading belongs to a thread. A node is right if
/// `work` requested it for this thread.
fn pages_on_other_nodes(readings: &[PageReading], work: &Work, facts: &HostFacts) -> u64 {
    let strays = |(index, reading): (usize, &PageReading)| {
        let nodes = work.memory_nodes_of(index, facts);
        let pages = reading.pages_by_node.iter().flatten();
        pages
            .filter(|(node, _)| !nodes.contains(node))
            .map(|(_, pages)| pages)
            .sum::<u64>()
    };
    readings.iter().enumerate().map(strays).sum()
}

/// Number of pages on each NUMA node, in the form of the report.
pub fn listed(pages: BTreeMap<u32, u64>) -> Vec<NodePages> {
    pages
        .into_iter()
        .map(|(node, pages)| NodePages { node, pages })
        .collect()
}

/// Largest accepted difference between the actual and the requested share of a node in interleaved
/// memory, as a share of the whole memory.
const UNEVEN: f64 = 0.05;

/// Reason why the pages of `work` are not on the requested nodes. `None` if they are on these
/// nodes, if the system does not report nodes, or if no place was requested.
pub fn misplaced(work: &Work, evidence: &PageEvidence, facts: &HostFacts) -> Option<String> {
    let place = work.place()?;
    let pages = evidence.pages_by_node.as_ref()?;
    let all: u64 = pages.iter().map(|p| p.pages).sum();
    if let Some(strays) = evidence.pages_on_other_nodes.filter(|&strays| strays > 0) {
        let found: Vec<u32> = pages.iter().map(|p| p.node).collect();
        return Some(format!(
            "{strays} of {all} pages lie on other nodes ({}); {place} was requested",
            CpuList(found)
        ));
    }
    let requested = place.nodes();
    let nodes = &facts.topology.nodes;
    let heaviest = match place {
        Place::Local | Place::Node(_) => return None,
        Place::Interleaved(_) => 1,
        Place::Weighted(_) => requested
            .iter()
            .filter_map(|&id| facts.topology.node(id)?.weight)
            .max()
            .unwrap_or(1),
    };
    // The system changes the node after each requested page. Such a page counts as several base
    // pages.
    let at_a_time = evidence.requested_bytes.unwrap_or(0) as f64 / facts.pages.base.0.max(1) as f64;
    let allowed = UNEVEN * all as f64 + f64::from(heaviest + 1) * at_a_time.max(1.0);
    requested.iter().find_map(|&node| {
        let here = pages.iter().find(|p| p.node == node).map_or(0, |p| p.pages);
        let wanted = share_of(&place, node, nodes) * all as f64;
        let text = || {
            format!(
                "{here} of {all} pages lie on node {node} instead of {wanted:.0}; \
             {place} was requested"
            )
        };
        ((here as f64 - wanted).abs() > allowed).then(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamWork;
    use host::memory::PageMode;
    use kernels::{Operation, Width};
    use units::Bytes;

    /// Result of [`misplaced`] for two threads, one on each of two nodes, with `place` requested.
    /// `pages` are the base pages of each thread on nodes 0, 1 and 2.
    fn said(place: Place, pages: [[u64; 3]; 2]) -> Option<String> {
        let mut facts = host::facts::discover(&host::facts::SystemFiles::under("/nowhere"));
        facts.pages.base = Bytes::kib(4);
        let cpu = |id| report::Cpu {
            id,
            allowed: true,
            core: None,
            package: None,
            node: Some(id),
            siblings: vec![id],
            kind: None,
        };
        facts.topology.cpus = (0..2).map(cpu).collect();
        facts.topology.nodes = (0..3)
            .map(|id| report::Node {
                id,
                weight: Some(1 + 3 * u32::from(id == 0)),
                ..Default::default()
            })
            .collect();
        let stream = StreamWork::new(
            Operation::Read,
            Width::Best,
            PageMode::Base,
            &[0, 1],
            Bytes::mib(4),
        );
        let work = Work::Stream(StreamWork {
            place: Some(place),
            ..stream
        });
        let reading = |pages: [u64; 3]| PageReading {
            pages_by_node: Some((0..3).zip(pages).filter(|(_, count)| *count > 0).collect()),
            ..PageReading::default()
        };
        let (evidence, _) = evidence(&pages.map(reading), &work, &facts);
        misplaced(&work, &evidence, &facts)
    }

    #[test]
    fn one_page_elsewhere_is_told() {
        assert_eq!(said(Place::Node(1), [[0, 512, 0]; 2]), None);
        let text = said(Place::Node(1), [[0, 512, 0], [0, 511, 1]]).unwrap();
        assert_eq!(
            text,
            "1 of 1024 pages lie on other nodes (1-2); node 1 was requested"
        );
        assert!(
            said(
                Place::Interleaved(vec![0, 1]),
                [[256, 256, 0], [256, 255, 1]]
            )
            .is_some()
        );
    }

    #[test]
    fn memory_of_each_thread_has_to_be_its_own() {
        assert_eq!(said(Place::Local, [[512, 0, 0], [0, 512, 0]]), None);
        let swapped = said(Place::Local, [[0, 512, 0], [512, 0, 0]]).unwrap();
        assert!(
            swapped.starts_with("1024 of 1024 pages lie on other nodes (0-1)"),
            "{swapped}"
        );
    }

    #[test]
    fn interleaved_pages_have_to_be_shared_as_requested() {
        let even = || Place::Interleaved(vec![0, 1]);
        let said = |place, pages: [u64; 2]| said(place, [[pages[0], 0, 0], [0, pages[1], 0]]);
        assert_eq!(said(even(), [512, 512]), None);
        assert_eq!(said(even(), [540, 484]), None);
        assert!(
            said(even(), [600, 424])
                .unwrap()
                .contains("600 of 1024 pages lie on node 0 instead of 512")
        );
        assert!(said(even(), [1024, 0]).is_some());
        let weighted = || Place::Weighted(vec![0, 1]);
        assert_eq!(said(weighted(), [819, 205]), None);
        assert!(said(weighted(), [512, 512]).is_some());
    }
}
