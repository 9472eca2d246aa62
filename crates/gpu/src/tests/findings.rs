//! Findings and limits of a device whose link is known.

use super::fake_device::facts;
use crate::Settings;
use crate::experiments;
use crate::work::{Copies, GpuWork, LinkLimit, Task};
use clap::Parser;
use engine::ExternalWork;
use host::gpu::{Direction, HostMemory};
use report::{
    Coordinate, Dataset, Evidence, Fact, Finding, GpuFacts, Measured, Outcome, PciLink, PciRate,
    Point, Quantity, Summary, Verdict, VerdictGrade,
};
use std::collections::BTreeMap;
use units::Bytes;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    settings: Settings,
}

/// A device that has so many lanes of the 16 that it could have.
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

/// A transfer of 1 MiB at this rate.
fn point(operation: &str, rate: f64) -> Point {
    let name = |text: &str| Coordinate::Name(text.to_owned());
    let coordinates = [
        ("device", Coordinate::Number(0)),
        ("operation", name(operation)),
        ("host_memory", name("pinned")),
        ("size_bytes", Coordinate::Number(1 << 20)),
    ];
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
        also: BTreeMap::new(),
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
            .map(|(axis, at)| (axis.to_owned(), at))
            .into_iter()
            .collect(),
        outcome: Outcome::Measured(Box::new(measured)),
        id: 0,
    }
}

/// Findings about transfers of 20 GB/s to a device and 10 GB/s from it.
fn found(device: GpuFacts) -> Vec<Finding> {
    let line = Line::parse_from(["gpu", "--measure", "transfers"]);
    let transfers = experiments(&line.settings, &[device]).remove(0);
    transfers.findings(&Dataset {
        experiment: transfers.name().to_owned(),
        quantity: Quantity {
            name: "bandwidth".to_owned(),
            unit: "B/s".to_owned(),
            higher_is_better: true,
        },
        axes: transfers.axes(),
        points: vec![point("to-device", 20e9), point("to-host", 10e9)],
        auxiliary: false,
        derived: false,
    })
}

#[test]
fn transfers_are_compared_with_the_link() {
    for (lanes, possible, kinds) in [
        (16, 31.5e9, vec!["gpu-transfers", "gpu-small-transfer"]),
        (
            8,
            15.75e9,
            vec!["gpu-transfers", "gpu-small-transfer", "gpu-link"],
        ),
    ] {
        let findings = found(device(lanes));
        let all: Vec<&str> = findings.iter().map(|f| f.kind.as_str()).collect();
        assert_eq!(all, kinds);
        // The rate of an idle device is no limit.
        let link = findings[0].values["link"];
        assert!((link / possible - 1.0).abs() < 0.001, "{link}");
    }
    let unknown = found(facts("gpu", 2));
    assert!(!unknown[0].values.contains_key("link"));
    assert!(unknown.iter().all(|finding| finding.kind != "gpu-link"));
}

#[test]
fn a_transfer_is_limited_by_the_link_in_each_direction() {
    let limit = |direction, link| {
        let work = GpuWork {
            device: 0,
            cpu: 0,
            uses_host_memory: false,
            link,
            task: Task::Copies(Copies {
                direction,
                memory: HostMemory::Pinned,
                bytes: Bytes(4096),
            }),
        };
        work.limit().map(|limit| limit.value / 1e9)
    };
    let link = LinkLimit::new(&device(16));
    let one_way = limit(Direction::ToHost, link.clone()).expect("a limit");
    assert!((one_way - 31.508).abs() < 0.001, "{one_way}");
    assert_eq!(limit(Direction::Both, link), Some(2.0 * one_way));
    assert_eq!(limit(Direction::ToHost, None), None);
}
