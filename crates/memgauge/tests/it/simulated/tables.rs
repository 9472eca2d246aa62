//! Tests CSV of every experiment: one list of columns, and files that can be concatenated and read
//! back.

use super::lab::{self, request};
use super::machines::{self, Simulated};
use experiments::{EXPERIMENTS, Experiment};
use memgauge::plan::Request;
use render::{Options, by_name};
use report::{CSV_COLUMNS, Report, parse_saved};
use simulated::StorageModel;
use std::collections::BTreeSet;
use units::Nanos;
use verdict::{ComparedReport, Settings, compare};

fn ran(on: &Simulated, experiments: Vec<Box<dyn Experiment>>) -> Report {
    lab::run(
        on,
        Request {
            budget: Nanos(600e9),
            repeat: 2,
            max_points: 5000,
            ..request(experiments, on)
        },
    )
    .report
}

/// Reports that have every axis and every figure that an experiment can give.
fn reports() -> Vec<Report> {
    let nodes = machines::eight_nodes();
    let plain = machines::plain();
    let mut device = machines::plain();
    device.model.storage = StorageModel::default();
    let beside = |options: &str| lab::command("loaded-latency", options).experiments;
    vec![
        ran(
            &nodes,
            vec![
                lab::bandwidth(
                    "--sizes 64KiB --ops read,copy-nt,read-prefetch --threads best,2 --node 0",
                ),
                lab::latency(
                    "--sizes 4MiB --chains 1,4 --chain-mode global-random,random-box --locality \
                     64KiB --node 0 --stride 64,128 --windows 100",
                ),
                lab::scaling("--placement spread,compact --ops read"),
            ],
        ),
        ran(&nodes, lab::numa("--ops read")),
        ran(
            &machines::hybrid(),
            vec![lab::scaling("--ops read"), lab::core_to_core("")],
        ),
        ran(
            &plain,
            vec![
                lab::loaded_latency("--mixes 100:0"),
                lab::patterns("--sizes 1MiB"),
                lab::locks(""),
            ],
        ),
        ran(&plain, beside("--victim 0 --aggressor 1")),
        ran(
            &plain,
            vec![
                lab::tlb("--pages 4k"),
                lab::caches(""),
                lab::instructions("--ops add"),
            ],
        ),
        ran(
            &device,
            vec![lab::storage(
                "data --pattern random --depth 1,4 --threads 2 --rate 100 --time 5s",
                &device,
            )],
        ),
        ran(
            &device,
            vec![lab::storage("data --pattern seekdist --time 5s", &device)],
        ),
    ]
}

fn csv(report: &Report) -> String {
    let bytes = by_name("csv")
        .expect("a format")
        .render(report, &Options::default())
        .expect("a table");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn every_experiment_has_the_same_columns_and_its_files_can_be_put_together() {
    let columns: Vec<&str> = CSV_COLUMNS.iter().map(|column| column.name).collect();
    assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), columns.len());
    let heading = columns.join(",");
    let mut seen = BTreeSet::new();
    let mut together = String::new();
    let mut points = 0;
    for report in reports() {
        let text = csv(&report);
        assert_eq!(text.lines().next(), Some(heading.as_str()));
        seen.extend(
            report
                .datasets
                .iter()
                .map(|dataset| dataset.experiment.clone()),
        );
        points += report
            .datasets
            .iter()
            .map(|dataset| dataset.points.len())
            .sum::<usize>();
        // The table has the same values as the report.
        let read = parse_saved(text.as_bytes()).unwrap().into_report();
        assert_eq!(csv(&read), text);
        let found = compare(
            ComparedReport::new("json", &report),
            ComparedReport::new("csv", &read),
            &Settings::default(),
        );
        let odd: Vec<_> = found
            .unaligned
            .iter()
            .filter(|one| one.reason.starts_with("only in"))
            .collect();
        assert!(odd.is_empty() && found.tally.all() > 0, "{odd:?}");
        assert_eq!((found.tally.worse, found.tally.better), (0, 0));
        together.push_str(&text);
    }
    for row in EXPERIMENTS {
        assert!(
            seen.iter().any(|name| name.starts_with(row.name)),
            "{} of {seen:?}",
            row.name
        );
    }
    assert!(seen.contains("io-seeks"), "{seen:?}");
    let all = parse_saved(together.as_bytes()).unwrap().into_report();
    assert_eq!(
        all.datasets
            .iter()
            .map(|dataset| dataset.points.len())
            .sum::<usize>(),
        points
    );
}
