//! What finding the page costs a load on the simulated machine.

use crate::units::Nanos;

/// One TLB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TlbLevel {
    /// Base pages that it covers.
    pub entries: u64,
    /// Larger pages that it covers.
    pub huge: u64,
    /// What a load costs more whose page is not in it.
    pub miss: Nanos,
}

/// What the TLBs add to a load of a chain through `pages` pages, in ns. With random replacement, as `partial`, a TLB that
/// is too small still has what it holds of them; else it has none.
pub fn translation(tlbs: &[TlbLevel], pages: u64, huge: bool, partial: bool) -> f64 {
    let added = |tlb: &TlbLevel| {
        let entries = if huge { tlb.huge } else { tlb.entries };
        let missing = match () {
            () if pages <= entries => 0.0,
            () if partial => 1.0 - entries as f64 / pages as f64,
            () => 1.0,
        };
        tlb.miss.0 * missing
    };
    tlbs.iter().map(added).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_adds_its_miss_beyond_its_entries() {
        let tlbs = [
            TlbLevel { entries: 64, huge: 32, miss: Nanos(2.0) },
            TlbLevel { entries: 1536, huge: 1024, miss: Nanos(10.0) },
        ];
        let of = |pages, huge, partial| translation(&tlbs, pages, huge, partial);
        assert_eq!([64, 65, 1536, 1537].map(|pages| of(pages, false, false)), [0.0, 2.0, 2.0, 12.0]);
        assert_eq!([32, 33, 1025].map(|pages| of(pages, true, false)), [0.0, 2.0, 12.0]);
        assert_eq!([64, 128, 256].map(|pages| of(pages, false, true)), [0.0, 1.0, 1.5]);
        assert_eq!(translation(&[], 1 << 40, false, false), 0.0);
    }
}
