//! Compares measured levels of caches and TLBs with the published figures of the core design.

use report::{DocumentedFigure, DocumentedQuantity, Finding, Point};
use std::collections::BTreeMap;
use units::{Bytes, significant};

/// Relative tolerance for the latency of a private cache. Published cycles are whole numbers.
const PRIVATE: f64 = 0.08;

/// Relative tolerance for the latency of a shared cache, whose slices differ in distance.
const SHARED: f64 = 0.2;

/// Relative tolerance for the size of a cache. The curve of latencies bends a little before and
/// after the size.
const SIZE: f64 = 0.05;

/// Usual causes of a disagreement, as text for the end of a finding.
const CAUSES: &str = "usual causes: another thread on the core, a hypervisor that hides or divides \
                      the hardware, another revision of the design";

/// Like [`CAUSES`], for a level that is larger than published. Sharing cannot make it larger.
const CAUSES_OF_MORE: &str = "usual causes: a hypervisor that reports another processor than the \
                              real one, another revision of the design";

/// A measured value and the published figures that it is compared with.
struct Comparison<'a> {
    /// Name of the level: `L2`, `first TLB, 4 KiB pages`.
    subject: String,
    /// The measured value in words, with its unit.
    measured: String,
    figures: Vec<&'a DocumentedFigure>,
    agrees: bool,
    /// True if the level is larger than every published figure.
    is_larger: bool,
}

/// Makes one finding about all measured levels of caches and TLBs that have a published figure.
/// Each level that disagrees with its figure gets another finding. `documented` are the figures of
/// the processor, `findings` the findings of the session.
pub fn documented_levels(
    documented: &[DocumentedFigure],
    findings: &[Finding],
    points: &[&Point],
) -> Vec<Finding> {
    let caches = findings
        .iter()
        .map(|finding| (finding, cache(documented, finding)));
    let tlbs = findings
        .iter()
        .map(|finding| (finding, tlb(documented, finding)));
    let compared: Vec<(&Finding, Comparison<'_>)> = caches
        .chain(tlbs)
        .flat_map(|(finding, found)| found.into_iter().map(move |one| (finding, one)))
        .collect();
    let Some((_, first)) = compared.first() else {
        return Vec::new();
    };
    let design = first.figures[0].design.clone();
    let told: Vec<String> = compared.iter().map(|(_, one)| one.text()).collect();
    let disagree = compared.iter().filter(|(_, one)| !one.agrees).count();
    let values = BTreeMap::from([
        ("compared".to_owned(), compared.len() as f64),
        ("disagree".to_owned(), disagree as f64),
    ]);
    let text = format!("{design}: {}.", told.join("; "));
    let all = resting_on(compared.iter().map(|(finding, _)| *finding), points);
    let mut made: Vec<Finding> = Finding::shown_by(all, "documented", text)
        .map(|f| f.with(values))
        .into_iter()
        .collect();
    for (finding, one) in compared.iter().filter(|(_, one)| !one.agrees) {
        let causes = if one.is_larger {
            CAUSES_OF_MORE
        } else {
            CAUSES
        };
        let text = format!("{design} differs: {}; {causes}.", one.text());
        let rests = resting_on([*finding], points);
        made.extend(Finding::shown_by(rests, "documented-disagrees", text));
    }
    made
}

/// The points that `findings` depend on.
fn resting_on<'a, 'b>(
    findings: impl IntoIterator<Item = &'b Finding>,
    points: &[&'a Point],
) -> Vec<&'a Point> {
    let ids: Vec<u64> = findings
        .into_iter()
        .flat_map(|f| f.points().to_vec())
        .collect();
    points
        .iter()
        .copied()
        .filter(|point| ids.contains(&point.id))
        .collect()
}

impl Comparison<'_> {
    /// Text of the comparison: `L2 14.1 cycles, 14 documented`.
    fn text(&self) -> String {
        let published: Vec<String> = self.figures.iter().map(|f| f.value()).collect();
        format!(
            "{} {}, {} documented",
            self.subject,
            self.measured,
            published.join(" or ")
        )
    }
}

/// The published figures of `quantity`. A processor with several kinds of core has one for each
/// kind.
fn figures(
    documented: &[DocumentedFigure],
    quantity: DocumentedQuantity,
) -> Vec<&DocumentedFigure> {
    documented
        .iter()
        .filter(|figure| figure.quantity == quantity)
        .collect()
}

/// Kinds of findings about a level of cache. The last kind is for a cache whose size by timing
/// differs from the size that the system reports.
const CACHES: [&str; 3] = ["cache-level", "cache-exclusive", "cache-disagrees"];

/// Comparisons of a cache's latency and size. Empty if `finding` is not about a cache.
fn cache<'a>(documented: &'a [DocumentedFigure], finding: &Finding) -> Vec<Comparison<'a>> {
    if !CACHES.contains(&finding.kind.as_str()) {
        return Vec::new();
    }
    let value = |name: &str| finding.values.get(name).copied();
    let (latency, size, tolerance) = match value("level") {
        Some(1.0) => (
            DocumentedQuantity::L1dLatencyCycles,
            Some(DocumentedQuantity::L1dBytes),
            PRIVATE,
        ),
        Some(2.0) => (
            DocumentedQuantity::L2LatencyCycles,
            Some(DocumentedQuantity::L2Bytes),
            PRIVATE,
        ),
        Some(3.0) => (DocumentedQuantity::L3LatencyCycles, None, SHARED),
        _ => return Vec::new(),
    };
    let level = value("level").unwrap_or_default();
    let mut compared = Vec::new();
    if let Some(cycles) = value("core_cycles") {
        compared.push(Comparison {
            subject: format!("L{level}"),
            measured: format!("{} cycles", significant(cycles)),
            figures: figures(documented, latency),
            agrees: false,
            is_larger: false,
        });
        agree(
            &mut compared,
            cycles * (1.0 - tolerance),
            cycles * (1.0 + tolerance),
        );
    }
    if let (Some(size), Some(low), Some(high)) = (size, value("low_bytes"), value("high_bytes")) {
        compared.push(Comparison {
            subject: format!("L{level}"),
            measured: format!("{} to {}", Bytes(low as u64), Bytes(high as u64)),
            figures: figures(documented, size),
            agrees: false,
            is_larger: false,
        });
        agree_in_capacity(&mut compared, low * (1.0 - SIZE), high * (1.0 + SIZE));
    }
    compared.retain(|one| !one.figures.is_empty());
    compared
}

/// Comparison of a TLB's number of entries. Empty if `finding` is not about a TLB.
fn tlb<'a>(documented: &'a [DocumentedFigure], finding: &Finding) -> Vec<Comparison<'a>> {
    use DocumentedQuantity::{
        L1DtlbEntries1g, L1DtlbEntries2m, L1DtlbEntries4k, L2TlbEntries1g, L2TlbEntries2m,
        L2TlbEntries4k, L2TlbEntries16k,
    };
    const KIB: u64 = 1 << 10;
    if finding.kind != "tlb-level" {
        return Vec::new();
    }
    let value = |name: &str| finding.values.get(name).copied();
    let (Some(level), Some(page), Some(low), Some(high)) = (
        value("level"),
        value("page_bytes"),
        value("entries_at_least"),
        value("entries_below"),
    ) else {
        return Vec::new();
    };
    let page = page as u64;
    let quantity = match (level as u64, page / KIB) {
        (1, 4) => L1DtlbEntries4k,
        (1, 2048) => L1DtlbEntries2m,
        (1, 1_048_576) => L1DtlbEntries1g,
        (2, 4) => L2TlbEntries4k,
        (2, 16) => L2TlbEntries16k,
        (2, 2048) => L2TlbEntries2m,
        (2, 1_048_576) => L2TlbEntries1g,
        _ => return Vec::new(),
    };
    let order = if level == 1.0 { "first" } else { "second" };
    let mut compared = vec![Comparison {
        subject: format!("{order} TLB, {} pages", Bytes(page)),
        measured: format!("{low:.0} to {high:.0} entries"),
        figures: figures(documented, quantity),
        agrees: false,
        is_larger: false,
    }];
    agree_in_capacity(&mut compared, low, high);
    compared.retain(|one| !one.figures.is_empty());
    compared
}

/// Sets whether the last comparison agrees: a published range has to overlap `low..high`.
fn agree(compared: &mut [Comparison<'_>], low: f64, high: f64) {
    if let Some(last) = compared.last_mut() {
        let meets =
            |figure: &&DocumentedFigure| figure.low as f64 <= high && figure.high as f64 >= low;
        last.agrees = last.figures.iter().any(meets);
    }
}

/// Like [`agree`] for the size of a cache or the entries of a TLB. Also sets whether the level is
/// larger than published.
fn agree_in_capacity(compared: &mut [Comparison<'_>], low: f64, high: f64) {
    agree(compared, low, high);
    if let Some(last) = compared.last_mut() {
        last.is_larger = last.figures.iter().all(|f| (f.high as f64) < low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(quantity: DocumentedQuantity, low: u64, high: u64) -> DocumentedFigure {
        DocumentedFigure {
            design: "Zen 4".to_owned(),
            quantity,
            low,
            high,
            source: "a manual".to_owned(),
        }
    }

    fn level(level: f64, cycles: f64, low: f64, high: f64) -> Finding {
        let values = [
            ("level", level),
            ("core_cycles", cycles),
            ("low_bytes", low),
            ("high_bytes", high),
        ];
        let values = values.map(|(name, value)| (name.to_owned(), value));
        Finding::note("cache-level", String::new()).with(BTreeMap::from(values))
    }

    fn agreements(documented: &[DocumentedFigure], finding: &Finding) -> Vec<bool> {
        let tlbs = tlb(documented, finding);
        let compared = cache(documented, finding).into_iter().chain(tlbs);
        compared.map(|one| one.agrees).collect()
    }

    #[test]
    fn latencies_and_sizes_agree_within_their_tolerance() {
        let zen4 = [
            figure(DocumentedQuantity::L1dLatencyCycles, 4, 4),
            figure(DocumentedQuantity::L1dBytes, 32 << 10, 32 << 10),
            figure(DocumentedQuantity::L2LatencyCycles, 14, 14),
            figure(DocumentedQuantity::L3LatencyCycles, 50, 50),
        ];
        let kib = 1024.0;
        assert_eq!(
            agreements(&zen4, &level(1.0, 4.01, 32.0 * kib, 45.0 * kib)),
            [true, true]
        );
        assert_eq!(
            agreements(&zen4, &level(1.0, 5.0, 40.0 * kib, 48.0 * kib)),
            [false, false]
        );
        // No size is documented for L2 or L3, so only the latency is compared.
        assert_eq!(agreements(&zen4, &level(2.0, 14.1, 1e6, 2e6)), [true]);
        assert_eq!(agreements(&zen4, &level(2.0, 17.7, 1e6, 2e6)), [false]);
        assert_eq!(agreements(&zen4, &level(3.0, 44.8, 1e6, 2e6)), [true]);
        assert!(agreements(&zen4, &level(4.0, 4.0, 1e6, 2e6)).is_empty());
        assert!(agreements(&[], &level(1.0, 4.0, 1e4, 2e4)).is_empty());
    }

    #[test]
    fn entries_agree_if_the_published_number_lies_in_the_range() {
        let documented = [
            figure(DocumentedQuantity::L1DtlbEntries4k, 72, 72),
            figure(DocumentedQuantity::L2TlbEntries4k, 3072, 3072),
        ];
        let entries = |level: f64, low: f64, high: f64| {
            let values = [
                ("level", level),
                ("page_bytes", 4096.0),
                ("entries_at_least", low),
                ("entries_below", high),
            ];
            let values = values.map(|(name, value)| (name.to_owned(), value));
            Finding::note("tlb-level", String::new()).with(BTreeMap::from(values))
        };
        assert_eq!(agreements(&documented, &entries(1.0, 64.0, 91.0)), [true]);
        assert_eq!(
            agreements(&documented, &entries(2.0, 512.0, 861.0)),
            [false]
        );
        assert!(agreements(&documented, &entries(3.0, 64.0, 91.0)).is_empty());
    }

    #[test]
    fn a_larger_level_is_not_blamed_on_sharing() {
        let documented = [
            figure(DocumentedQuantity::L2LatencyCycles, 14, 14),
            figure(DocumentedQuantity::L2Bytes, 512 << 10, 512 << 10),
        ];
        let kib = 1024.0;
        for (low, high, agrees, is_larger) in [
            (400.0, 600.0, true, false),
            (530.0, 700.0, true, false), // within the tolerance
            (1500.0, 2900.0, false, true),
            (200.0, 300.0, false, false),
        ] {
            let found = cache(&documented, &level(2.0, 14.0, low * kib, high * kib));
            let size = &found[1];
            assert_eq!((size.agrees, size.is_larger), (agrees, is_larger), "{low}");
        }
    }

    #[test]
    fn hybrid_processors_agree_with_either_kind_of_core() {
        let hybrid = [
            figure(DocumentedQuantity::L1dLatencyCycles, 5, 5),
            figure(DocumentedQuantity::L1dLatencyCycles, 3, 3),
        ];
        let without_size = |cycles| {
            let mut finding = level(1.0, cycles, 0.0, 0.0);
            finding.values.remove("low_bytes");
            finding
        };
        assert_eq!(agreements(&hybrid, &without_size(3.0)), [true]);
        assert_eq!(agreements(&hybrid, &without_size(4.0)), [false]);
    }
}
