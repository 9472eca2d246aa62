//! The data files are complete and consistent.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// Number of non-empty lines in a file after its heading.
fn line_count(text: &str) -> usize {
    text.lines().skip(1).filter(|line| !line.is_empty()).count()
}

/// True if a cache can have this size: a multiple of 8 KiB, and 1, 3, 5 or 9 times a power of two.
fn is_size(bytes: u64) -> bool {
    let parts = |parts| bytes.is_multiple_of(parts) && (bytes / parts).is_power_of_two();
    bytes.is_multiple_of(8 << 10) && [1, 3, 5, 9].into_iter().any(parts)
}

#[test]
fn every_line_is_read() {
    assert!(DESIGNS.starts_with("design,processors\n"));
    assert!(FIGURES.starts_with("design,quantity,value,source\n"));
    assert!(SOURCES.starts_with("key,title,address\n"));
    let designs = core_designs();
    assert_eq!(designs.len(), line_count(DESIGNS));
    assert_eq!(sources().len(), line_count(SOURCES));
    let figures: usize = designs.iter().map(|design| design.figures.len()).sum();
    assert_eq!(figures, line_count(FIGURES));
    for text in [DESIGNS, FIGURES, SOURCES] {
        assert!(text.ends_with('\n') && !text.contains(['"', '\r']));
    }
}

#[test]
fn at_least_forty_designs_each_with_figures() {
    let designs = core_designs();
    assert!(designs.len() >= 40, "{}", designs.len());
    let names: BTreeSet<&str> = designs.iter().map(|design| design.name).collect();
    assert_eq!(names.len(), designs.len(), "a design twice");
    for design in &designs {
        assert!(!design.figures.is_empty(), "{}", design.name);
        assert!(!design.processors.is_empty(), "{}", design.name);
    }
}

#[test]
fn every_source_exists_and_is_used() {
    let documents = sources();
    let keys: BTreeSet<&str> = documents.iter().map(|source| source.key).collect();
    assert_eq!(keys.len(), documents.len(), "a source twice");
    let mut used = BTreeSet::new();
    for [design, quantity, _, list] in lines(FIGURES) {
        for key in list.split(';') {
            assert!(keys.contains(key), "{design} {quantity}: {key}");
            used.insert(key);
        }
    }
    assert_eq!(used, keys);
    for source in documents {
        assert!(source.address.starts_with("https://"), "{source:?}");
        assert!(!source.title.is_empty(), "{source:?}");
    }
}

#[test]
fn a_design_has_one_figure_of_a_quantity_and_ranges_ascend() {
    for design in core_designs() {
        let mut quantities = BTreeSet::new();
        for figure in &design.figures {
            assert!(quantities.insert(figure.quantity), "{figure:?} twice");
            assert!(figure.low > 0 && figure.low <= figure.high, "{figure:?}");
            assert_eq!(figure.design, design.name);
        }
    }
    for [design, quantity, value, _] in lines(FIGURES) {
        if let Some((low, high)) = value.split_once("..") {
            assert_ne!(low, high, "{design} {quantity}");
        }
    }
}

#[test]
fn quantities_stand_in_their_order_and_each_is_used() {
    let mut used = BTreeSet::new();
    for design in core_designs() {
        let order: Vec<_> = design.figures.iter().map(|f| f.quantity).collect();
        assert!(order.is_sorted(), "{}: {order:?}", design.name);
        used.extend(order);
    }
    assert_eq!(used, DocumentedQuantity::ALL.iter().copied().collect());
}

#[test]
fn figures_are_plausible() {
    use DocumentedQuantity::*;
    for design in core_designs() {
        let name = design.name;
        let of = |quantity| {
            design
                .figure(quantity)
                .map(|figure| (figure.low, figure.high))
        };
        let below = |inner, outer| {
            if let (Some((_, high)), Some((low, _))) = (of(inner), of(outer)) {
                assert!(high < low, "{name}: {inner:?} {high} and {outer:?} {low}");
            }
        };
        below(L1dLatencyCycles, L2LatencyCycles);
        below(L2LatencyCycles, L3LatencyCycles);
        below(L1dLatencyCycles, L3LatencyCycles);
        if let (Some((low1, high1)), Some((low2, high2))) = (of(L1dBytes), of(L2Bytes)) {
            assert!(low1 <= low2 && high1 < high2, "{name}: sizes of L1 and L2");
        }
        below(L1DtlbEntries4k, L2TlbEntries4k);
        for quantity in [L1dBytes, L2Bytes] {
            if let Some((low, high)) = of(quantity) {
                assert!(is_size(low) && is_size(high), "{name}: {quantity:?}");
            }
        }
        if let Some((low, high)) = of(L1dLineBytes) {
            assert!(
                low == high && low.is_power_of_two() && (64..=256).contains(&low),
                "{name}"
            );
        }
        // The number of sets is a power of two.
        if let (Some((bytes, most)), Some((ways, last)), Some((line, _))) =
            (of(L1dBytes), of(L1dWays), of(L1dLineBytes))
            && bytes == most
            && ways == last
        {
            assert!(
                (bytes / ways / line).is_power_of_two(),
                "{name}: sets of L1"
            );
        }
        for (quantity, most) in [
            (L1dLatencyCycles, 6),
            (L2LatencyCycles, 50),
            (L3LatencyCycles, 100),
            (L1dWays, 16),
            (L2Ways, 20),
            (LoadsPerCycle, 4),
            (StoresPerCycle, 2),
            (IntegerWidth, 6),
            (RenameWidth, 10),
            (MemoryChannels, 12),
        ] {
            let high = of(quantity).map_or(1, |(_, high)| high);
            assert!(high <= most, "{name}: {quantity:?} {high}");
        }
    }
}

#[test]
fn loads_are_at_least_as_wide_as_stores() {
    for design in core_designs() {
        let name = design.name;
        for avx512 in [false, true] {
            if let Ok(ports) = port_width(std::slice::from_ref(&design), avx512) {
                assert!(
                    ports.load_bytes >= ports.store_bytes
                        && ports.store_bytes >= 16
                        && ports.load_bytes <= 128,
                    "{name}: {ports:?}"
                );
            }
        }
    }
}

#[test]
fn figures_that_other_tools_measure_too() {
    use DocumentedQuantity::*;
    let designs = core_designs();
    let mut all = BTreeMap::new();
    for design in &designs {
        for figure in &design.figures {
            all.insert((design.name, figure.quantity), (figure.low, figure.high));
        }
    }
    for (name, quantity, expected) in [
        ("Zen 4", L1dLatencyCycles, (4, 4)),
        ("Zen 4", L2LatencyCycles, (14, 14)),
        ("Zen 4", L1DtlbEntries4k, (72, 72)),
        ("Zen 4", L2TlbEntries4k, (3072, 3072)),
        ("Golden Cove (client)", L1dLatencyCycles, (5, 5)),
        ("Golden Cove (client)", L2LatencyCycles, (15, 15)),
        ("Skylake", L2LatencyCycles, (12, 12)),
        ("Neoverse N1", L2TlbEntries4k, (1280, 1280)),
    ] {
        assert_eq!(
            all.get(&(name, quantity)),
            Some(&expected),
            "{name} {quantity:?}"
        );
    }
}

#[test]
fn values_that_are_no_numbers_are_left_out() {
    assert_eq!(range("14"), Some((14, 14)));
    assert_eq!(range("11..12"), Some((11, 12)));
    for text in ["", "..", "1..", "x", "-1", "1.5"] {
        assert_eq!(range(text), None, "{text}");
    }
}

#[test]
fn unknown_designs_have_no_figures() {
    assert!(named(&["Zen 99"]).is_empty());
    assert_eq!(port_width(&[], false), Err("the core design is unknown"));
    assert_eq!(integer_width(&[]), None);
    assert_eq!(named(&["Zen 4", "Zen 99", "Zen 2"]).len(), 2);
}
