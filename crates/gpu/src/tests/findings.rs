//! Findings and limits of a device whose link is known.

use super::fake_device::facts;
use crate::Settings;
use crate::experiments;
use crate::work::RateLimit;
use clap::Parser;
use report::{
    Coordinate, Dataset, Evidence, Fact, Finding, GpuFacts, Measured, Outcome, PciLink, PciRate,
    Point, Quantity, Summary, Verdict, VerdictGrade,
};
use std::collections::BTreeMap;
use units::Hertz;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    settings: Settings,
}

/// A device whose link uses `lanes` of 16 possible lanes.
fn device(lanes: u32) -> GpuFacts {
    let rate = |gigatransfers, lanes| PciRate {
        gigatransfers,
        lanes,
    };
    let link = PciLink {
        current: rate(2.5, lanes),
        highest: rate(16.0, 16),
    };
    GpuFacts {
        link: Fact::known(link, "test"),
        ..facts("gpu", 2)
    }
}

/// A point of transfers of 1 MiB at `rate`, in bytes per second.
fn transfer(operation: &str, rate: f64) -> Point {
    let name = |text: &str| Coordinate::Name(text.to_owned());
    let coordinates = [
        ("device", Coordinate::Number(0)),
        ("operation", name(operation)),
        ("host_memory", name("pinned")),
        ("size_bytes", Coordinate::Number(1 << 20)),
    ];
    measured(&coordinates, rate, BTreeMap::new())
}

/// A point of reads of 64 MiB. `share` is the share of samples in which the device was at its limit
/// of power.
fn read(share: Option<f64>) -> Point {
    let coordinates = [
        ("device", Coordinate::Number(0)),
        ("operation", Coordinate::Name("read".to_owned())),
        ("size_bytes", Coordinate::Number(64 << 20)),
        ("groups", Coordinate::Number(8)),
    ];
    let also = share.map(|share| ("power_limited_share".to_owned(), share));
    measured(&coordinates, 500e9, also.into_iter().collect())
}

fn measured(coordinates: &[(&str, Coordinate)], rate: f64, also: BTreeMap<String, f64>) -> Point {
    let measured = Measured {
        load: None,
        storage: None,
        summary: Summary {
            median: rate,
            best: rate,
            ci_low: rate,
            ci_high: rate,
            confidence: 0.95,
            mad: None,
            mean: None,
            standard_deviation: None,
            coefficient_of_variation: None,
            undisturbed_samples: 1,
        },
        also,
        choice: None,
        limit: None,
        samples: Vec::new(),
        evidence: Evidence::default(),
        verdict: Verdict {
            grade: VerdictGrade::Solid,
            reasons: Vec::new(),
        },
    };
    Point {
        coordinates: coordinates
            .iter()
            .map(|(axis, at)| ((*axis).to_owned(), at.clone()))
            .collect(),
        outcome: Outcome::Measured(Box::new(measured)),
        id: 0,
    }
}

/// Findings about transfers at 20 GB/s to a device and at 10 GB/s from it.
fn found(device: GpuFacts) -> Vec<Finding> {
    let points = vec![transfer("to-device", 20e9), transfer("to-host", 10e9)];
    findings("transfers", device, points)
}

/// Findings of the experiment for `quantity` from `points`.
fn findings(quantity: &str, device: GpuFacts, points: Vec<Point>) -> Vec<Finding> {
    let line = Line::parse_from(["gpu", "--measure", quantity]);
    let experiment = experiments(&line.settings, &[device]).remove(0);
    experiment.findings(&Dataset {
        experiment: experiment.name().to_owned(),
        quantity: Quantity {
            name: "bandwidth".to_owned(),
            unit: "B/s".to_owned(),
            higher_is_better: true,
        },
        axes: experiment.axes(),
        points,
        auxiliary: false,
        derived: false,
    })
}

#[test]
fn transfers_are_compared_with_the_link() {
    for (lanes, possible, kinds) in [
        (16, 31.5e9, vec!["gpu-transfers", "gpu-small-transfer"]),
        (
            12,
            23.63e9,
            vec!["gpu-transfers", "gpu-small-transfer", "gpu-link"],
        ),
    ] {
        let findings = found(device(lanes));
        let all: Vec<&str> = findings.iter().map(|f| f.kind.as_str()).collect();
        assert_eq!(all, kinds);
        // The limit is the highest rate of the link. An idle device uses a lower rate.
        let link = findings[0].values["link"];
        assert!((link / possible - 1.0).abs() < 0.001, "{link}");
    }
    // Transfers faster than the link show that the data take another way. The finding then has no
    // link.
    assert!(!found(device(8))[0].values.contains_key("link"));
    let unknown = found(facts("gpu", 2));
    assert!(!unknown[0].values.contains_key("link"));
    assert!(unknown.iter().all(|finding| finding.kind != "gpu-link"));
}

#[test]
fn a_limit_of_power_is_told_if_it_was_in_force() {
    let device = || GpuFacts {
        power_limit: Fact::known(300.0, "test"),
        ..facts("gpu", 2)
    };
    for (share, expected) in [(None, false), (Some(0.05), false), (Some(0.5), true)] {
        let found = findings("bandwidth", device(), vec![read(share)]);
        let told = found.iter().find(|f| f.kind == "gpu-power-limit");
        assert_eq!(told.is_some(), expected, "{share:?}");
        assert!(told.is_none_or(|finding| finding.text.contains("300 W")));
    }
}

#[test]
fn reads_are_limited_by_the_memory_if_no_cache_holds_them() {
    let device = GpuFacts {
        bus_width: Fact::known(512, "test"),
        memory_clock: Fact::known(Hertz(1e9), "test"),
        ..facts("gpu", 2)
    };
    let limit = RateLimit::of_memory(&device).expect("a limit");
    assert_eq!(limit.bytes_per_second, 128_000_000_000);
    assert_eq!(RateLimit::of_memory(&facts("gpu", 2)), None);
}

/// A point of dependent loads that take `ns` each.
fn load(coordinates: &[(&str, u64)], ns: f64) -> Point {
    let coordinates: Vec<(&str, Coordinate)> = coordinates
        .iter()
        .chain(&[("device", 0)])
        .map(|&(axis, at)| (axis, Coordinate::Number(at)))
        .collect();
    measured(&coordinates, ns, BTreeMap::new())
}

#[test]
fn latencies_of_levels_are_plateaus_of_the_curve() {
    let curve = [
        (4 << 10, 30.0),
        (16 << 10, 31.0),
        (64 << 10, 90.0),
        (1 << 20, 200.0),
        (4 << 20, 210.0),
        (64 << 20, 500.0),
    ];
    let points = curve.map(|(bytes, ns)| load(&[("size_bytes", bytes)], ns));
    let found = findings("latency", facts("gpu", 2), points.to_vec());
    let [finding] = &found[..] else {
        panic!("{found:?}")
    };
    // The size on the slope belongs to no level.
    for part in ["30.5 ns", "16 KiB", "205 ns", "4 MiB", "500 ns from memory"] {
        assert!(finding.text.contains(part), "{}", finding.text);
    }
    assert!(!finding.text.contains("90"), "{}", finding.text);
    let single = findings("latency", facts("gpu", 2), points[..1].to_vec());
    assert!(single.is_empty(), "{single:?}");
}

#[test]
fn the_first_tlb_holds_the_pages_from_which_loads_are_as_fast_as_from_neighbouring_lines() {
    let distant = (2 << 20) + (68 << 10) + 128;
    let found = |latency: fn(u64) -> f64| {
        let points = [8, 16, 32, 64, 128].into_iter().flat_map(|entries| {
            [
                load(&[("entries", entries), ("stride_bytes", 128)], 30.0),
                load(
                    &[("entries", entries), ("stride_bytes", distant)],
                    latency(entries),
                ),
            ]
        });
        findings("tlb", facts("gpu", 2), points.collect())
    };
    for (latency, expected) in [
        (
            (|entries| if entries > 32 { 60.0 } else { 31.0 }) as fn(u64) -> f64,
            (Some(32.0), Some(64.0)),
        ),
        (|_| 30.0, (Some(128.0), None)),
        (|_| 60.0, (None, Some(8.0))),
    ] {
        let found = found(latency);
        let [finding] = &found[..] else {
            panic!("{found:?}")
        };
        let value = |name: &str| finding.values.get(name).copied();
        assert_eq!((value("held_pages"), value("missed_pages")), expected);
    }
    // A latency that falls with more pages shows nothing about the TLB.
    assert!(found(|entries| if entries > 32 { 30.0 } else { 60.0 }).is_empty());
}
