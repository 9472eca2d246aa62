//! Handmade reports: realistic, empty and hostile ones.

use super::super::SavedReport;
use super::machine::provenance;
use report::{
    Axis, Cause, Coordinate, Coordinates, Dataset, Evidence, Finding, Limit, Measured, Outcome,
    PageEvidence, PlanSummary, Point, Quantity, Reason, Report, ReportVerdict, RunStatus,
    SCHEMA_VERSION, Sample, Summary, Verdict, VerdictGrade,
};
use units::{Bytes, Nanos};

/// Text with characters that must not reach a terminal: colour, title, bell, C1 control, direction,
/// line ends.
pub const HOSTILE: &str =
    "a,b \"q\" |p| `x` <b>\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{202e}\r\nnext\tüñ漢字 \u{7f}end";

/// The place of a report that was saved as `name` and that memgauge can read.
pub fn saved(name: &str) -> SavedReport {
    SavedReport {
        name: name.to_owned(),
        is_readable: true,
    }
}

/// A solid measurement with this median, three undisturbed samples and a disturbed one.
pub fn measured(median: f64) -> Measured {
    let sample = |factor: f64, disturbed: Option<&str>| Sample {
        traffic: None,
        value: median * factor,
        elapsed_ns: 50e6,
        work: 1 << 30,
        core_hz: Some(5.0e9),
        round: 0,
        allocation: 0,
        gaps_ns: None,
        cpus: Vec::new(),
        placement: None,
        quietest: None,
        disturbance: disturbed.map(str::to_owned),
    };
    Measured {
        load: None,
        storage: None,
        summary: Summary {
            median,
            best: median * 1.01,
            ci_low: median * 0.995,
            ci_high: median * 1.005,
            confidence: 0.95,
            mad: Some(median * 0.002),
            mean: Some(median),
            standard_deviation: Some(median * 0.01),
            coefficient_of_variation: Some(0.01),
            undisturbed_samples: 3,
        },
        also: [].into(),
        choice: None,
        limit: None,
        samples: vec![
            sample(0.99, None),
            sample(1.0, None),
            sample(1.01, None),
            sample(0.5, Some("time was stolen")),
        ],
        evidence: Evidence {
            cpus: vec![0],
            affinity_held: Some(true),
            pages: PageEvidence {
                requested_bytes: Some(2 << 20),
                granted_bytes: Some(2 << 20),
                ..Default::default()
            },
            disturbed_samples: 1,
            relative_spread: Some(0.01),
            ..Default::default()
        },
        verdict: Verdict {
            grade: VerdictGrade::Solid,
            reasons: Vec::new(),
        },
    }
}

/// A reason with this text.
fn reason(text: &str) -> Reason {
    Reason {
        cause: Cause::Spread,
        text: text.to_owned(),
        advice: "type --budget 5min".to_owned(),
    }
}

/// `measured` with a verdict of this grade and these reasons.
pub fn judged(mut measured: Measured, grade: VerdictGrade, reasons: &[&str]) -> Measured {
    measured.verdict = Verdict {
        grade,
        reasons: reasons.iter().map(|r| reason(r)).collect(),
    };
    measured
}

/// A measured outcome.
pub fn outcome(measured: Measured) -> Outcome {
    Outcome::Measured(Box::new(measured))
}

/// A dataset of bandwidth or latency.
pub fn dataset(quantity: &str, points: Vec<Point>) -> Dataset {
    let axis = |name: &str| Axis {
        name: name.into(),
        unit: name.ends_with("_bytes").then(|| "B".to_owned()),
    };
    Dataset {
        experiment: quantity.into(),
        quantity: Quantity {
            name: quantity.into(),
            unit: if quantity == "bandwidth" { "B/s" } else { "ns" }.into(),
            higher_is_better: quantity == "bandwidth",
        },
        axes: [
            "operation",
            "kernel",
            "level",
            "size_bytes",
            "threads",
            "pages",
        ]
        .map(axis)
        .to_vec(),
        points,
        auxiliary: false,
        derived: false,
    }
}

/// A name as a coordinate.
pub fn name(text: &str) -> Coordinate {
    Coordinate::Name(text.into())
}

/// A point with these coordinates and this outcome.
pub fn point(id: u64, coordinates: &[(&str, Coordinate)], outcome: Outcome) -> Point {
    let coordinates: Coordinates = coordinates
        .iter()
        .map(|(axis, c)| ((*axis).to_owned(), c.clone()))
        .collect();
    Point {
        id,
        coordinates,
        outcome,
    }
}

/// A report of `profile` with these datasets.
pub fn report(profile: &str, datasets: Vec<Dataset>) -> Report {
    let points = datasets.iter().map(|d| d.points.len() as u64).sum();
    Report {
        schema_version: SCHEMA_VERSION,
        status: RunStatus::Complete,
        verdict: ReportVerdict::summarise(&datasets),
        provenance: provenance(&["memgauge", "run", "--profile", profile]),
        plan: PlanSummary {
            profile: profile.into(),
            budget: Nanos::from_secs(60.0),
            planned: Nanos::from_secs(42.5),
            real: Some(Nanos::from_secs(40.8)),
            memory: Bytes::mib(1536),
            points,
            shortened: Vec::new(),
            phases: Vec::new(),
        },
        datasets,
        findings: Vec::new(),
        health: None,
    }
}

/// Levels of the default profile. Each has a name, a size per thread in bytes, the read bandwidth
/// of one thread in GB/s, and the latency in ns.
const LEVELS: [(&str, u64, f64, f64); 4] = [
    ("L1", 24 << 10, 612.0, 0.81),
    ("L2", 512 << 10, 305.0, 2.84),
    ("L3", 8 << 20, 131.0, 9.92),
    ("DRAM", 512 << 20, 41.6, 112.0),
];

/// The default profile: four levels, three operations, one and two threads, latency. Its points
/// have every kind of outcome.
pub fn default_profile() -> Report {
    let mut bandwidth = Vec::new();
    let mut latency = Vec::new();
    for (level, size, gbs, ns) in LEVELS {
        for (operation, factor) in [("read", 1.0), ("write", 0.5), ("copy", 0.8)] {
            for threads in [1, 2] {
                let value = gbs * factor * if level == "DRAM" { 1.0 } else { threads as f64 } * 1e9;
                let coordinates = [
                    ("operation", name(operation)),
                    ("kernel", name(&format!("{operation}-avx512"))),
                    ("level", name(level)),
                    ("size_bytes", Coordinate::Number(size)),
                    ("threads", Coordinate::Number(threads)),
                    ("pages", name("thp")),
                ];
                let id = bandwidth.len() as u64;
                bandwidth.push(point(
                    id,
                    &coordinates,
                    bandwidth_outcome(level, operation, threads, value),
                ));
            }
        }
        let mut m = measured(ns);
        m.summary.best = ns * 0.99;
        m.also.insert("core_cycles".into(), ns * 4.95);
        let coordinates = [
            ("level", name(level)),
            ("size_bytes", Coordinate::Number(size)),
            ("threads", Coordinate::Number(1)),
            ("pages", name("thp")),
        ];
        latency.push(point(100 + latency.len() as u64, &coordinates, outcome(m)));
    }
    let mut report = report(
        "default",
        vec![dataset("bandwidth", bandwidth), dataset("latency", latency)],
    );
    report.status = RunStatus::Partial;
    report
        .plan
        .shortened
        .push("DRAM copy: 3 instead of 7 samples to stay inside 60 s".into());
    report.findings = vec![
        finding(
            "page-walk-cost",
            "page walks cost 14.2 ns of the 112 ns of a DRAM load with 4 KiB pages",
        ),
        finding("saturation", "1 of 2 threads saturates DRAM read bandwidth"),
    ];
    report
}

/// A finding.
fn finding(kind: &str, text: &str) -> Finding {
    Finding::note(kind, text.into()).with([("value".to_owned(), 1.5)].into())
}

/// Outcome of a bandwidth point of the default profile.
fn bandwidth_outcome(level: &str, operation: &str, threads: u64, value: f64) -> Outcome {
    let mut m = measured(value);
    m.evidence.cpus = (0..threads as u32).collect();
    let copies = operation == "copy";
    m.also.insert(
        "single_count".into(),
        if copies { value / 2.0 } else { value },
    );
    m.also.insert(
        "bus_estimate".into(),
        if operation == "read" {
            value
        } else {
            value * 1.5
        },
    );
    if level == "L1" && operation == "read" {
        let source = "128 B per cycle at 4.95 GHz".to_owned();
        m.limit = Some(Limit {
            value: 633.6e9 * threads as f64,
            source,
            tolerance: 1.03,
        });
    }
    match (level, operation, threads) {
        ("L2", "write", 2) => outcome(judged(
            m,
            VerdictGrade::Doubtful,
            &["the core clock fell by 4% during samples"],
        )),
        ("L3", "write", 2) => outcome(judged(
            m,
            VerdictGrade::Doubtful,
            &[
                "the core clock fell by 4% during samples",
                "other tenants share this L3",
            ],
        )),
        ("L1", "write", 2) => outcome(judged(
            m,
            VerdictGrade::Rejected,
            &["more than the L1 store ports can take"],
        )),
        ("L2", "copy", 2) => Outcome::Skipped {
            reason: "the time budget was spent".into(),
        },
        ("L3", "copy", 1) => Outcome::Unsupported {
            reason: "no such kernel here".into(),
        },
        ("L3", "copy", 2) => Outcome::Failed {
            reason: "a thread lost its CPU".into(),
        },
        ("DRAM", "copy", 2) => Outcome::Interrupted {
            reason: "Ctrl-C".into(),
        },
        _ => outcome(m),
    }
}

/// A report of `memgauge latency`: one dataset without levels.
pub fn single_experiment() -> Report {
    let sizes = [(16u64 << 10, 0.81), (1 << 20, 3.35), (64 << 20, 88.0)];
    let mut points = Vec::new();
    for (size, ns) in sizes {
        let coordinates = [
            ("size_bytes", Coordinate::Number(size)),
            ("threads", Coordinate::Number(1)),
            ("pages", name("4k")),
        ];
        let mut m = measured(ns);
        m.also.insert("core_cycles".into(), ns * 4.95);
        if size == 1 << 20 {
            m = judged(
                m,
                VerdictGrade::Doubtful,
                &["only 40% of pages have the size requested"],
            );
        }
        points.push(point(points.len() as u64, &coordinates, outcome(m)));
    }
    let huge = [
        ("size_bytes", Coordinate::Number(1 << 40)),
        ("pages", name("4k")),
    ];
    points.push(point(
        3,
        &huge,
        Outcome::Skipped {
            reason: "1 TiB is more than the 24 GiB that are usable".into(),
        },
    ));
    report("latency", vec![dataset("latency", points)])
}

/// A report of `memgauge core-to-core` with two kernels on `cpus` CPUs. Two hardware threads share
/// a core. One pair was not measured, and one is doubtful.
pub fn matrix(cpus: u64) -> Report {
    let mut points = Vec::new();
    let pairs = || {
        (0..cpus)
            .flat_map(|from| (0..cpus).map(move |to| (from, to)))
            .filter(|(from, to)| from != to)
    };
    for (operation, factor) in [("compare-and-swap", 1.0), ("exchange", 1.1)] {
        for (from, to) in pairs() {
            let near = from / 2 == to / 2;
            let coordinates = [
                ("operation", name(operation)),
                ("kernel", name(&format!("hand-off/{operation}"))),
                ("from", Coordinate::Number(from)),
                ("to", Coordinate::Number(to)),
                (
                    "relation",
                    name(if near { "same-core" } else { "shared-l3" }),
                ),
            ];
            let m = measured(
                factor
                    * if near {
                        16.0
                    } else {
                        80.0 + (from + to) as f64
                    },
            );
            let outcome = match (operation, from, to) {
                ("exchange", 0, 2) => Outcome::Interrupted {
                    reason: "Ctrl-C".into(),
                },
                ("exchange", 2, 0) => outcome(judged(
                    m,
                    VerdictGrade::Doubtful,
                    &["only 3 undisturbed samples"],
                )),
                _ => outcome(m),
            };
            points.push(point(points.len() as u64, &coordinates, outcome));
        }
    }
    let axis = |name: &str| Axis {
        name: name.into(),
        unit: None,
    };
    let quantity = Quantity {
        name: "round trip".into(),
        unit: "ns".into(),
        higher_is_better: false,
    };
    let axes = ["operation", "from", "to", "relation"].map(axis).to_vec();
    report(
        "core-to-core",
        vec![Dataset {
            experiment: "core-to-core".into(),
            quantity,
            axes,
            points,
            auxiliary: false,
            derived: false,
        }],
    )
}

/// A report of round trips between the cores of a large machine: one operation, without samples.
pub fn large_machine(cpus: u64) -> Report {
    let mut m = measured(1.0);
    m.samples.clear();
    let mut points = Vec::new();
    for (from, to) in (0..cpus)
        .flat_map(|from| (0..cpus).map(move |to| (from, to)))
        .filter(|(from, to)| from != to)
    {
        m.summary.median = if from / 8 == to / 8 {
            30.0
        } else {
            100.0 + (from * 7 + to * 13) as f64 % 50.0
        };
        let coordinates = [
            ("from", Coordinate::Number(from)),
            ("to", Coordinate::Number(to)),
        ];
        points.push(point(points.len() as u64, &coordinates, outcome(m.clone())));
    }
    let axes = ["from", "to"]
        .map(|name| Axis {
            name: name.into(),
            unit: None,
        })
        .to_vec();
    let quantity = Quantity {
        name: "round trip".into(),
        unit: "ns".into(),
        higher_is_better: false,
    };
    report(
        "core-to-core",
        vec![Dataset {
            experiment: "core-to-core".into(),
            quantity,
            axes,
            points,
            auxiliary: false,
            derived: false,
        }],
    )
}

/// A report of the bandwidth from every node to the memory of every node.
pub fn eight_nodes() -> Report {
    let mut points = Vec::new();
    for (cpu_node, memory_node) in (0..8u64).flat_map(|from| (0..8u64).map(move |to| (from, to))) {
        let coordinates = [
            ("cpu_node", Coordinate::Number(cpu_node)),
            ("memory_node", Coordinate::Number(memory_node)),
            ("operation", name("read")),
        ];
        let value = if cpu_node == memory_node {
            40e9
        } else {
            12e9 + (cpu_node * 8 + memory_node) as f64 * 1e8
        };
        points.push(point(
            points.len() as u64,
            &coordinates,
            outcome(measured(value)),
        ));
    }
    let axes = ["cpu_node", "memory_node", "operation"]
        .map(|name| Axis {
            name: name.into(),
            unit: None,
        })
        .to_vec();
    let quantity = Quantity {
        name: "bandwidth".into(),
        unit: "B/s".into(),
        higher_is_better: true,
    };
    report(
        "numa",
        vec![Dataset {
            experiment: "numa".into(),
            quantity,
            axes,
            points,
            auxiliary: false,
            derived: false,
        }],
    )
}

/// A report with a single point.
pub fn one_point() -> Report {
    let mut report = single_experiment();
    report.datasets[0].points.truncate(1);
    report
}

/// A report in which all points except the first are rejected.
pub fn rejected() -> Report {
    let mut report = default_profile();
    for point in report
        .datasets
        .iter_mut()
        .flat_map(|d| d.points.iter_mut())
        .skip(1)
    {
        if let Outcome::Measured(m) = &mut point.outcome {
            m.verdict = Verdict {
                grade: VerdictGrade::Rejected,
                reasons: vec![reason("more than the memory can carry")],
            };
        }
    }
    report.verdict = ReportVerdict::summarise(&report.datasets);
    report
}

/// A report without datasets.
pub fn empty() -> Report {
    report("default", Vec::new())
}

/// A report without a measured point.
pub fn only_skipped() -> Report {
    let mut report = default_profile();
    for point in report.datasets.iter_mut().flat_map(|d| d.points.iter_mut()) {
        point.outcome = Outcome::Skipped {
            reason: "no memory is left".into(),
        };
    }
    report
}

/// A report of an interrupted session, whose second dataset is still empty.
pub fn interrupted() -> Report {
    let mut report = default_profile();
    report.status = RunStatus::Interrupted;
    report.plan.real = None;
    report.datasets[1].points.clear();
    for point in report.datasets[0].points.iter_mut().skip(5) {
        point.outcome = Outcome::Interrupted {
            reason: "interrupted by SIGINT".into(),
        };
    }
    report
}

/// A report in which every foreign text is hostile, and some texts are very long.
pub fn hostile() -> Report {
    let long = "very long ".repeat(5000) + HOSTILE;
    let mut report = default_profile();
    report.plan.profile = HOSTILE.into();
    report.plan.shortened = vec![long.clone()];
    report.findings[0].text = long.clone();
    report.findings[0].kind = HOSTILE.into();
    let provenance = &mut report.provenance;
    provenance.command_line = vec![HOSTILE.into(), long.clone(), String::new(), "it's".into()];
    provenance.tool.machine = HOSTILE.into();
    provenance.tool.version = HOSTILE.into();
    provenance.seed = HOSTILE.into();
    provenance.kernels[0].name = HOSTILE.into();
    provenance.kernels[0].digest = Some(long.clone());
    let host = &mut provenance.host;
    host.cpu.model_name.value = Some(HOSTILE.into());
    host.cpu.microarchitecture.source = long.clone();
    host.system.virtualization.value = Some(long.clone());
    host.system.container.value = Some(HOSTILE.into());
    host.topology.caches_source = HOSTILE.into();
    for (i, point) in report.datasets[0].points.iter_mut().enumerate() {
        let text = if i % 2 == 0 { HOSTILE } else { long.as_str() };
        point.coordinates.insert("level".into(), name(text));
        point.coordinates.insert("kernel".into(), name(text));
        point.coordinates.insert(HOSTILE.into(), name(text));
        point
            .coordinates
            .insert("value".into(), name("an axis called like a column"));
        match &mut point.outcome {
            Outcome::Measured(m) => {
                m.verdict = Verdict {
                    grade: VerdictGrade::Doubtful,
                    reasons: vec![reason(text)],
                }
            }
            other => {
                *other = Outcome::Failed {
                    reason: text.into(),
                }
            }
        }
    }
    let mut further = report.datasets[1].clone();
    further.experiment = HOSTILE.into();
    further.quantity.name = HOSTILE.into();
    further.quantity.unit = HOSTILE.into();
    report.datasets.push(further);
    report
}
