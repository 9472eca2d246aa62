//! Evidence about pages from what was read back about each window of a work.

use crate::host::memory::PageReading;
use crate::results::PageEvidence;
use crate::units::Bytes;

/// One page evidence for all `readings`: shares are those of the worst window, nodes those of any.
pub fn evidence(readings: &[PageReading], asked: Bytes, expected_nodes: Vec<u32>) -> (PageEvidence, Vec<String>) {
    let worst = |share: fn(&PageReading) -> Option<f64>| {
        let shares: Option<Vec<f64>> = readings.iter().map(share).collect();
        shares.and_then(|s| s.into_iter().reduce(f64::min))
    };
    let mut unchecked: Vec<String> = readings.iter().flat_map(|r| r.unchecked.iter().cloned()).collect();
    unchecked.sort();
    unchecked.dedup();
    let nodes: Option<Vec<Vec<u32>>> = readings.iter().map(|r| r.nodes.clone()).collect();
    let nodes = nodes.filter(|n| !n.is_empty()).map(|n| {
        let mut all = n.concat();
        all.sort_unstable();
        all.dedup();
        all
    });
    let evidence = PageEvidence {
        asked_bytes: Some(asked.0),
        granted_share: worst(|r| r.granted_share),
        granted_bytes: readings.iter().map(|r| r.granted_bytes).min().flatten().map(|b| b.0),
        resident_share: worst(|r| r.resident_share),
        nodes,
        expected_nodes: Some(expected_nodes),
        non_zero: readings.iter().map(|r| r.non_zero).collect::<Option<Vec<bool>>>().map(|all| !all.contains(&false)),
    };
    (evidence, unchecked)
}
