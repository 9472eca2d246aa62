//! Evidence about pages from what was read back about each window of a work, and whether they lie where the work asks.

use super::machine::{page_bytes, share_of};
use super::work::Work;
use crate::host::memory::{PageReading, Place};
use crate::results::{HostFacts, NodePages, PageEvidence};
use std::collections::BTreeMap;

/// One page evidence for all `readings` of `work`: shares are those of the worst window, nodes those of any.
pub fn evidence(readings: &[PageReading], work: &Work, facts: &HostFacts) -> (PageEvidence, Vec<String>) {
    let worst = |share: fn(&PageReading) -> Option<f64>| {
        let shares: Option<Vec<f64>> = readings.iter().map(share).collect();
        shares.and_then(|s| s.into_iter().reduce(f64::min))
    };
    let mut unchecked: Vec<String> = readings.iter().flat_map(|r| r.unchecked.iter().cloned()).collect();
    unchecked.sort();
    unchecked.dedup();
    let pages = readings.iter().map(|r| r.pages_by_node.as_ref()).collect::<Option<Vec<_>>>();
    let pages_by_node = pages.filter(|all| !all.is_empty()).map(|all| {
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        for (&node, &pages) in all.into_iter().flatten() {
            *sums.entry(node).or_default() += pages;
        }
        sums
    });
    let evidence = PageEvidence {
        asked_bytes: work.pages().map(|mode| page_bytes(mode, facts).0),
        granted_share: worst(|r| r.granted_share),
        granted_bytes: readings.iter().map(|r| r.granted_bytes).min().flatten().map(|b| b.0),
        resident_share: worst(|r| r.resident_share),
        nodes: pages_by_node.as_ref().map(|pages| pages.keys().copied().collect()),
        pages_by_node: pages_by_node.map(listed),
        asked_place: work.place().map(|place| place.to_string()),
        expected_nodes: Some(work.memory_nodes(facts)),
        non_zero: readings.iter().map(|r| r.non_zero).collect::<Option<Vec<bool>>>().map(|all| !all.contains(&false)),
    };
    (evidence, unchecked)
}

/// Pages by node as a report lists them.
pub fn listed(pages: BTreeMap<u32, u64>) -> Vec<NodePages> {
    pages.into_iter().map(|(node, pages)| NodePages { node, pages }).collect()
}

/// A node may have more or less of interleaved memory than its share by this much of all of it, and by what the ends of
/// the memory leave of a turn.
const UNEVEN: f64 = 0.05;

/// Why the pages of `work` are not where it asked for, `None` where they are, where the system does not tell, and where it
/// asked for no place.
pub fn misplaced(work: &Work, evidence: &PageEvidence, facts: &HostFacts) -> Option<String> {
    let (place, pages) = (work.place()?, evidence.pages_by_node.as_ref()?);
    let all: u64 = pages.iter().map(|p| p.pages).sum();
    let asked = place.nodes();
    if let Some(NodePages { node, pages }) = pages.iter().find(|p| !asked.contains(&p.node)) {
        return Some(format!("{pages} of {all} pages lie on node {node}; {place} was asked for"));
    }
    let nodes = &facts.topology.nodes;
    let heaviest = match place {
        Place::Node(_) => return None,
        Place::Interleaved(_) => 1,
        Place::Weighted(_) => asked.iter().filter_map(|&id| facts.topology.node(id)?.weight).max().unwrap_or(1),
    };
    // Pages are counted as base pages, and taken in turn by the size asked for.
    let at_a_time = evidence.asked_bytes.unwrap_or(0) as f64 / facts.pages.base.0.max(1) as f64;
    let allowed = UNEVEN * all as f64 + f64::from(heaviest + 1) * at_a_time.max(1.0);
    asked.iter().find_map(|&node| {
        let here = pages.iter().find(|p| p.node == node).map_or(0, |p| p.pages);
        let wanted = share_of(&place, node, nodes) * all as f64;
        let text = || format!("{here} of {all} pages lie on node {node} instead of {wanted:.0}; {place} was asked for");
        ((here as f64 - wanted).abs() > allowed).then(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::StreamWork;
    use crate::host::memory::PageMode;
    use crate::kernels::{Operation, Width};
    use crate::units::Bytes;

    /// What is said of base pages that lie on nodes 0, 1 and 2 in these numbers, asked for at `place`.
    fn said(place: Place, pages: [u64; 3]) -> Option<String> {
        let mut facts = crate::host::facts::discover(&crate::host::facts::SystemFiles::under("/nowhere"));
        facts.pages.base = Bytes::kib(4);
        facts.topology.nodes = (0..3)
            .map(|id| crate::results::Node { id, weight: Some(1 + 3 * u32::from(id == 0)), ..Default::default() })
            .collect();
        let stream = StreamWork::new(Operation::Read, Width::Best, PageMode::Base, &[0], Bytes::mib(4));
        let work = Work::Stream(StreamWork { place: Some(place), ..stream });
        let pages_by_node = listed((0..3).zip(pages).filter(|(_, count)| *count > 0).collect());
        let evidence =
            PageEvidence { asked_bytes: Some(4096), pages_by_node: Some(pages_by_node), ..PageEvidence::default() };
        misplaced(&work, &evidence, &facts)
    }

    #[test]
    fn one_page_elsewhere_is_told() {
        assert_eq!(said(Place::Node(1), [0, 1024, 0]), None);
        let text = said(Place::Node(1), [0, 1023, 1]).unwrap();
        assert_eq!(text, "1 of 1024 pages lie on node 2; node 1 was asked for");
        assert!(said(Place::Interleaved(vec![0, 1]), [512, 511, 1]).is_some());
    }

    #[test]
    fn interleaved_pages_have_to_be_shared_as_asked() {
        let even = || Place::Interleaved(vec![0, 1]);
        assert_eq!(said(even(), [512, 512, 0]), None);
        assert_eq!(said(even(), [540, 484, 0]), None);
        assert!(said(even(), [600, 424, 0]).unwrap().contains("600 of 1024 pages lie on node 0 instead of 512"));
        assert!(said(even(), [1024, 0, 0]).is_some());
        let weighted = || Place::Weighted(vec![0, 1]);
        assert_eq!(said(weighted(), [819, 205, 0]), None);
        assert!(said(weighted(), [512, 512, 0]).is_some());
    }
}
