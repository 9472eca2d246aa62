//! Computes the cost of TLB misses on the simulated machine.

use crate::cost_model::{CostModel, TlbLevel};
use engine::page_bytes;
use engine::{ChainShape, ChaseWork};
use host::memory::PageMode;
use report::HostFacts;
use units::Bytes;

/// Extra latency in ns of a load in a chain over `pages` pages. `huge` is true for huge pages. A
/// TLB with too few entries has no hits. With `partial`, it has hits for the pages in its entries,
/// as with random replacement.
pub fn translation(tlbs: &[TlbLevel], pages: u64, huge: bool, partial: bool) -> f64 {
    let added = |tlb: &TlbLevel| {
        let entries = if huge { tlb.huge } else { tlb.entries };
        let missing = if pages <= entries {
            0.0
        } else if partial {
            1.0 - entries as f64 / pages as f64
        } else {
            1.0
        };
        tlb.miss.0 * missing
    };
    tlbs.iter().map(added).sum()
}

/// Extra latency in ns of a load of `work` because of TLB misses, with the costs of `model`.
pub fn translation_of(work: &ChaseWork, model: &CostModel, facts: &HostFacts) -> f64 {
    let huge = work.pages != PageMode::Base && model.granted >= 0.5;
    let page = page_bytes(if huge { work.pages } else { PageMode::Base }, facts);
    let miss = |pages: u64| translation(&model.tlbs, pages, huge, model.partial_hits);
    let pages = |bytes: Bytes| bytes.0.div_ceil(page.0.max(1));
    match work.shape {
        ChainShape::OnePerPage(_) => miss(work.nodes()),
        ChainShape::RandomBox(window)
        | ChainShape::SameRandomInBox(window)
        | ChainShape::DiffRandomInBox(window)
            if window < work.bytes =>
        {
            // The first load in each page of a window has a further miss. The cost is spread over
            // all loads of the window.
            let inside = miss(pages(window));
            let loads = window.0 as f64 / work.stride.0.max(1) as f64;
            inside + (miss(pages(work.bytes)) - inside) * (pages(window) as f64 / loads).min(1.0)
        }
        _ => miss(pages(work.bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Nanos;

    #[test]
    fn each_level_adds_its_miss_beyond_its_entries() {
        let tlbs = [
            TlbLevel {
                entries: 64,
                huge: 32,
                miss: Nanos(2.0),
            },
            TlbLevel {
                entries: 1536,
                huge: 1024,
                miss: Nanos(10.0),
            },
        ];
        let added = |pages, huge, partial| translation(&tlbs, pages, huge, partial);
        assert_eq!(
            [64, 65, 1536, 1537].map(|pages| added(pages, false, false)),
            [0.0, 2.0, 2.0, 12.0]
        );
        assert_eq!(
            [32, 33, 1025].map(|pages| added(pages, true, false)),
            [0.0, 2.0, 12.0]
        );
        assert_eq!(
            [64, 128, 256].map(|pages| added(pages, false, true)),
            [0.0, 1.0, 1.5]
        );
        assert_eq!(translation(&[], 1 << 40, false, false), 0.0);
    }
}
