//! Tests files and devices on a simulated device. Rates, latencies, schedules and faults must
//! follow its model.

use super::lab::{self, Ran, measured, reasons, request};
use super::machines;
use memgauge::cli::storage_sampling;
use report::{Cause, Measured, Outcome, VerdictGrade};
use simulated::StorageModel;
use units::Nanos;

/// A session of `memgauge io` with these options, on a device with this model.
fn ran(options: &str, model: StorageModel) -> Ran {
    let mut on = machines::plain();
    on.model.storage = model;
    let experiment = lab::storage(options, &on);
    let mut request = request(Vec::new(), &on);
    request.sampling = experiment.sampling(storage_sampling(Nanos(500e6)));
    request.experiments.push(experiment);
    request.budget = Nanos(600e9);
    lab::run(&on, request)
}

fn only(ran: &Ran) -> &Measured {
    assert_eq!(ran.points().count(), 1);
    measured(ran.points().next().expect("a point"))
}

fn close(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.02
}

#[test]
fn the_rate_is_that_of_the_device_at_each_depth() {
    let ran = ran(
        "data --pattern random --depth 1,4,32 --engine io_uring",
        StorageModel::default(),
    );
    for (depth, rate, latency) in [(1, 1000.0, 1e6), (4, 4000.0, 1e6), (32, 8000.0, 4e6)] {
        let m = ran.measured(&format!("depth={depth}"));
        assert!(
            close(m.summary.median, rate),
            "depth {depth}: {}",
            m.summary.median
        );
        assert!(
            close(m.also["latency_p50"], latency),
            "depth {depth}: {:?}",
            m.also
        );
        assert!(
            close(m.also["bytes_per_second"], rate * 4096.0)
                && close(m.also["latency_mean"], latency)
        );
        assert_eq!(m.verdict.grade, VerdictGrade::Solid, "{}", m.verdict.text());
    }
    assert_eq!(ran.finding("storage-depth", "depth"), 32.0);
}

#[test]
fn threads_share_the_device_and_their_shares_are_told() {
    let ran = ran(
        "data --threads 2 --depth 4 --engine aio --time 2s",
        StorageModel::default(),
    );
    let m = only(&ran);
    assert!(close(m.summary.median, 8000.0), "{}", m.summary.median);
    let storage = m.storage.as_ref().unwrap();
    assert_eq!(storage.threads.len(), 2);
    assert_eq!(storage.threads.iter().sum::<u64>(), storage.operations);
    assert!(m.also["fairness"] > 0.99);
}

#[test]
fn a_series_has_a_second_for_every_second() {
    let ran = ran("data --time 3s --window 100ms", StorageModel::default());
    let m = only(&ran);
    assert_eq!(m.samples.len(), 30);
    let seconds = &m.storage.as_ref().unwrap().seconds;
    assert_eq!(seconds.len(), 3);
    assert!(
        seconds
            .iter()
            .all(|s| close(s.operations as f64, 1000.0) && s.elapsed_ns == 1e9),
        "{seconds:?}"
    );
    assert!(
        seconds
            .windows(2)
            .all(|pair| pair[1].begin_ns > pair[0].begin_ns)
    );
}

#[test]
fn a_number_of_operations_is_done_exactly() {
    for (options, count) in [
        ("--operations 1000", 1000),
        ("--operations 7 --threads 2", 7),
        ("--operations 101 --depth 8 --engine aio", 101),
    ] {
        let ran = ran(&format!("data {options}"), StorageModel::default());
        let storage = only(&ran).storage.clone().unwrap();
        assert_eq!(
            (storage.operations, storage.bytes),
            (count, count * 4096),
            "{options}"
        );
    }
}

#[test]
fn time_to_think_and_flushes_are_part_of_the_rate() {
    let thinking = ran("data --think 1ms --time 2s", StorageModel::default());
    assert!(
        close(only(&thinking).summary.median, 500.0),
        "{}",
        only(&thinking).summary.median
    );
    assert!(close(only(&thinking).also["latency_p50"], 1e6));
    // Ten writes take 1 ms each, and a flush takes 2 ms.
    let flushing = ran(
        "new --create 64MiB --ops write --fsync 10 --time 5s",
        StorageModel::default(),
    );
    let m = only(&flushing);
    assert!(close(m.summary.median, 1e4 / 12.0), "{}", m.summary.median);
    let storage = m.storage.as_ref().unwrap();
    // Windows that do not count leave some writes to the flush of the next window.
    let flushes = storage.syncs.unwrap().operations as f64 / storage.operations as f64;
    assert!((flushes / 0.1 - 1.0).abs() < 0.05, "{flushes}");
    assert!(close(storage.syncs.unwrap().p50_ns, 2e6) && storage.reads.is_none());
}

#[test]
fn a_mix_is_told_by_kind() {
    let model = StorageModel {
        write: Nanos(3e6),
        ..StorageModel::default()
    };
    let ran = ran(
        "new --create 64MiB --mix 25% --pattern random --time 5s",
        model,
    );
    let storage = only(&ran).storage.clone().unwrap();
    let reads = storage.reads.unwrap();
    let writes = storage.writes.unwrap();
    assert!(
        close(reads.p50_ns, 1e6) && close(writes.p50_ns, 3e6),
        "{reads:?} {writes:?}"
    );
    let share = writes.operations as f64 / storage.operations as f64;
    assert!((share - 0.25).abs() < 0.03, "{share}");
}

/// One operation in 200 takes 20 ms. A closed loop sees each of them once. A user with an operation
/// every 2 ms waits longer.
#[test]
fn under_a_rate_latency_counts_from_when_operations_were_due() {
    let model = StorageModel {
        slow_every: 200,
        ..StorageModel::default()
    };
    let closed = ran("data --time 10s", model.clone());
    assert!(
        close(only(&closed).also["latency_p99"], 1e6),
        "{:?}",
        only(&closed).also
    );
    let paced = ran("data --time 10s --rate 500", model);
    let m = only(&paced);
    assert!(close(m.summary.median, 500.0), "{}", m.summary.median);
    assert!(m.also["latency_p99"] > 10e6, "{:?}", m.also);
    assert!(!m.verdict.names(Cause::Behind), "{}", m.verdict.text());
}

#[test]
fn a_rate_that_the_device_cannot_keep_is_told() {
    let ran = ran("data --time 5s --rate 2000", StorageModel::default());
    let m = only(&ran);
    assert!(m.verdict.names(Cause::Behind), "{}", m.verdict.text());
    let storage = m.storage.as_ref().unwrap();
    assert!(
        close(storage.behind as f64, storage.due as f64 / 2.0),
        "{} of {}",
        storage.behind,
        storage.due
    );
}

#[test]
fn errors_end_a_point_or_are_counted_and_never_as_operations() {
    let broken = StorageModel {
        error_every: 100,
        ..StorageModel::default()
    };
    let ended = ran("data --time 2s", broken.clone());
    let outcome = &ended.points().next().unwrap().outcome;
    assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
    assert!(
        reasons(outcome).starts_with("read of data at byte"),
        "{}",
        reasons(outcome)
    );
    let counted = ran("data --time 2s --continue-on-error", broken);
    let m = only(&counted);
    let storage = m.storage.as_ref().unwrap();
    assert!(m.verdict.names(Cause::IoErrors), "{}", m.verdict.text());
    assert!(
        close(storage.failed() as f64, storage.operations as f64 / 99.0),
        "{:?}",
        storage.errors
    );
    assert!(close(m.summary.median, 990.0), "{}", m.summary.median);
    let dead = ran(
        "data --time 2s --continue-on-error",
        StorageModel {
            error_every: 1,
            ..StorageModel::default()
        },
    );
    assert!(reasons(&dead.points().next().unwrap().outcome).starts_with("no operation succeeded"));
}

#[test]
fn short_transfers_are_no_operations() {
    let short = StorageModel {
        short_every: 50,
        ..StorageModel::default()
    };
    let ran_short = ran("data --time 2s", short);
    let m = only(&ran_short);
    let storage = m.storage.as_ref().unwrap();
    assert!(m.verdict.names(Cause::IoErrors) && storage.short > 0);
    assert_eq!(storage.bytes, storage.operations * 4096);
    let all = ran(
        "data --time 2s",
        StorageModel {
            short_every: 1,
            ..StorageModel::default()
        },
    );
    assert!(reasons(&all.points().next().unwrap().outcome).starts_with("no transfer was whole"));
}

#[test]
fn what_is_read_is_compared_with_what_was_written() {
    let right = ran("data --verify --time 1s", StorageModel::default());
    assert_eq!(only(&right).storage.as_ref().unwrap().wrong, 0);
    let wrong = ran(
        "data --verify --time 1s",
        StorageModel {
            wrong_every: 100,
            ..StorageModel::default()
        },
    );
    let m = only(&wrong);
    assert!(
        m.verdict.names(Cause::WrongData) && m.verdict.grade == VerdictGrade::Rejected,
        "{}",
        m.verdict.text()
    );
}

#[test]
fn the_page_cache_is_named() {
    let cached = StorageModel {
        direct: Err("tmpfs keeps its files in memory".to_owned()),
        ..StorageModel::default()
    };
    let refused = ran("data --time 1s", cached);
    assert!(
        only(&refused)
            .verdict
            .text()
            .contains("tmpfs keeps its files in memory")
    );
    assert!(refused.has_finding("storage-otherwise") && refused.has_finding("adjusted"));
    let buffered = ran(
        "data --direct --buffered --time 1s",
        StorageModel::default(),
    );
    assert!(
        !buffered
            .measured("access=direct")
            .verdict
            .names(Cause::PageCache)
    );
    assert!(
        buffered
            .measured("access=buffered")
            .verdict
            .text()
            .contains("1 GiB fit into the memory of")
    );
}

#[test]
fn an_engine_without_a_queue_has_no_depth() {
    let ran = ran(
        "data --engine sync --depth 1,8 --time 1s",
        StorageModel::default(),
    );
    let outcome = &ran.point("depth=8").outcome;
    assert!(
        matches!(outcome, Outcome::Unsupported { .. }) && reasons(outcome).contains("--threads 8"),
        "{outcome:?}"
    );
}

/// The device needs 1 ms for an operation, and 8 ms more for each GiB of seek distance.
#[test]
fn seeks_are_told_by_their_distance() {
    let model = StorageModel {
        seek: Nanos(8e6),
        ..StorageModel::default()
    };
    let ran = ran("data --pattern random,seekincr,seekdist --time 20s", model);
    let [all, seeks] = ran.report.datasets.as_slice() else {
        panic!("{:?}", ran.report.datasets.len())
    };
    assert_eq!(
        (all.experiment.as_str(), seeks.experiment.as_str()),
        ("io", "io-seeks")
    );
    assert!(!all.derived && seeks.derived && seeks.quantity.name == "latency");
    assert!(
        seeks
            .points
            .iter()
            .all(|p| p.name("pattern") != Some("random")),
        "random order is not about distances"
    );
    let growing: Vec<_> = seeks
        .points
        .iter()
        .filter(|p| p.name("pattern") == Some("seekincr"))
        .collect();
    // The distances begin at a 512th of 1 GiB.
    let distances: Vec<u64> = growing
        .iter()
        .map(|p| p.number("distance_bytes").unwrap())
        .collect();
    assert_eq!(
        distances,
        (21..=29).map(|power| 1 << power).collect::<Vec<u64>>()
    );
    for point in &growing {
        let m = measured(point);
        let least = point.number("distance_bytes").unwrap() as f64 / (1u64 << 30) as f64;
        let bounds = (1e6 + 8e6 * least) * 0.98..=(1e6 + 16e6 * least) * 1.02;
        assert!(
            bounds.contains(&m.summary.median) && bounds.contains(&m.also["latency_p99"]),
            "{point:?}"
        );
        assert!(
            m.summary.ci_low <= m.summary.median && m.summary.median <= m.summary.ci_high,
            "{:?}",
            m.summary
        );
    }
    let whole = measured(
        all.points
            .iter()
            .find(|p| p.name("pattern") == Some("seekincr"))
            .unwrap(),
    );
    let storage = whole.storage.clone().unwrap();
    let told: u64 = storage.seeks.iter().map(|s| s.operations).sum();
    // The first operation of a window has no distance.
    assert_eq!(told, storage.operations - whole.samples.len() as u64);
    let ends = seeks
        .points
        .iter()
        .filter(|p| p.name("pattern") == Some("seekdist"));
    assert!(
        ends.map(|p| p.number("distance_bytes").unwrap())
            .eq([1 << 29]),
        "64 MiB at each end of 1 GiB"
    );
    // No point number occurs twice, and derived points do not count in the verdict.
    let numbers: std::collections::BTreeSet<u64> = ran.points().map(|p| p.id).collect();
    assert_eq!(numbers.len(), ran.points().count());
    assert_eq!(ran.report.verdict.points.values().sum::<u64>(), 3);
}

#[test]
fn a_device_that_hangs_fails_its_point_and_keeps_the_others() {
    // With a depth of 1 there are about 2500 operations, with a depth of 4 four times that number.
    // Each point has a device of its own.
    let model = StorageModel {
        hangs_after: 3000,
        ..StorageModel::default()
    };
    let hung = ran("data --time 2s --depth 1,4 --engine io_uring", model);
    let first = hung.measured("depth=1");
    assert!(close(first.summary.median, 1000.0), "{:?}", first.summary);
    let outcome = &hung.point("depth=4").outcome;
    assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
    assert!(
        reasons(outcome).starts_with("the device hangs: 4 operations in flight"),
        "{}",
        reasons(outcome)
    );
    assert_eq!(hung.report.status, report::RunStatus::Partial);
}

#[test]
fn lists_multiply_and_windows_are_in_the_journal() {
    let ran = ran(
        "data --pattern sequential,random,seekdist,seekincr --block 4KiB,64KiB --time 500ms",
        StorageModel::default(),
    );
    assert_eq!(ran.report.datasets[0].points.len(), 8);
    assert!(ran.points().all(|p| p.outcome.measured().is_some()));
    assert!(
        ran.notes
            .journal()
            .iter()
            .any(|line| line.contains("\"finished\":false") && line.contains("latency_p99"))
    );
}

#[test]
fn bad_requests_are_refused_before_anything_is_measured() {
    let on = machines::plain();
    let rows = [
        ("data --ops write", "cannot write to data"),
        ("data --block 2GiB", "block larger than the range"),
        ("data --start 1TiB", "--start too far"),
        ("data --block 100", "misaligned for direct I/O"),
        ("data --misalign 100", "misaligned for direct I/O"),
        ("data --threads 2000", "thread count not possible"),
        (
            "data --depth 4096 --block 1GiB",
            "too much memory for buffers",
        ),
    ];
    for (options, text) in rows {
        let why = lab::plan(&on, request(vec![lab::storage(options, &on)], &on))
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default();
        assert!(why.contains(text), "{options}: {why}");
    }
}
