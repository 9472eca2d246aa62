//! Computes the figures of a point's operations from its windows.

use super::observe::StorageWindow;
use super::work::{IoWork, Pace};
use report::{Latencies, Storage, StorageSecond};
use stats::Histogram;
use std::collections::BTreeMap;
use units::Nanos;

/// Length from which an entry in a series of seconds is complete. It is slightly below a second,
/// because windows do not end exactly on time.
const SECOND: Nanos = Nanos(0.999e9);

/// Figures of all windows of a point. `memory` is the size in bytes of the memory that can cache
/// files; `None` if unknown.
pub fn storage<'a>(
    work: &IoWork,
    windows: impl Iterator<Item = &'a StorageWindow> + Clone,
    memory: Option<u64>,
) -> Storage {
    let mut storage = Storage {
        engine: work.engine.clone(),
        direct: work.direct && windows.clone().all(|w| w.direct),
        files: work
            .files
            .iter()
            .map(|f| f.path.display().to_string())
            .collect(),
        range_bytes: work.range().0,
        memory_bytes: memory,
        threads: vec![0; work.cpus.len()],
        ..Storage::default()
    };
    let mut reads = Histogram::default();
    let mut writes = Histogram::default();
    let mut flushes = Histogram::default();
    for window in windows.clone() {
        storage.operations += window.whole;
        storage.bytes += window.bytes;
        reads.merge(&window.reads);
        writes.merge(&window.writes);
        flushes.merge(&window.flushes);
        for (error, count) in &window.errors {
            *storage.errors.entry(error.clone()).or_default() += count;
        }
        storage.short += window.short;
        storage.wrong += window.wrong;
        storage.due += window.due;
        storage.behind += window.behind;
        storage
            .threads
            .iter_mut()
            .zip(&window.threads)
            .for_each(|(sum, own)| *sum += own);
        let new = window
            .remarks
            .iter()
            .filter(|r| !storage.remarks.contains(r))
            .cloned()
            .collect::<Vec<_>>();
        storage.remarks.extend(new);
    }
    if let (Pace::Recorded, Some(total)) = (work.pace, work.total()) {
        storage.due = total;
        storage.behind =
            total.saturating_sub(storage.operations + storage.short + storage.failed());
    }
    (storage.reads, storage.writes, storage.syncs) =
        (latencies(&reads), latencies(&writes), latencies(&flushes));
    reads.merge(&writes);
    storage.all = latencies(&reads);
    storage.seconds = seconds(work, windows);
    storage
}

/// Percentiles and other figures of a histogram of latencies; `None` if it is empty.
fn latencies(all: &Histogram) -> Option<Latencies> {
    let at = |q: f64| all.quantile(q).map(|ns| ns as f64);
    Some(Latencies {
        operations: all.count(),
        mean_ns: all.mean()?,
        least_ns: all.least()? as f64,
        p50_ns: at(0.5)?,
        p90_ns: at(0.9)?,
        p99_ns: at(0.99)?,
        p99_9_ns: at(0.999)?,
        p99_99_ns: at(0.9999)?,
        most_ns: all.most()? as f64,
    })
}

/// Figures for each second. An entry combines successive windows until they last a second. The
/// remaining windows at the end are an entry if they last at least half a second.
fn seconds<'a>(
    work: &IoWork,
    windows: impl Iterator<Item = &'a StorageWindow>,
) -> Vec<StorageSecond> {
    let mut all: Vec<StorageSecond> = Vec::new();
    let mut origin: Option<Nanos> = None;
    let mut current: Option<(StorageSecond, Histogram)> = None;
    for window in windows {
        let origin = *origin.get_or_insert(window.begin);
        let begin_ns = (window.begin - origin).0;
        let empty = StorageSecond {
            begin_ns,
            elapsed_ns: 0.0,
            operations: 0,
            bytes: 0,
            p50_ns: None,
            p99_ns: None,
            errors: 0,
        };
        let (mut second, mut latencies) = current.take().unwrap_or((empty, Histogram::default()));
        second.elapsed_ns += window.elapsed.0;
        second.operations += window.amount;
        // Bytes are computed from the mean size of a transfer, because recorded operations have
        // different sizes.
        let each = if window.whole == 0 {
            work.block.0 as f64
        } else {
            window.bytes as f64 / window.whole as f64
        };
        second.bytes += (window.amount as f64 * each).round() as u64;
        second.errors += window.errors.values().sum::<u64>();
        latencies.merge(&window.transfers());
        second.p50_ns = latencies.quantile(0.5).map(|ns| ns as f64);
        second.p99_ns = latencies.quantile(0.99).map(|ns| ns as f64);
        if second.elapsed_ns >= SECOND.0 {
            all.push(second);
        } else {
            current = Some((second, latencies));
        }
    }
    all.extend(
        current
            .map(|(rest, _)| rest)
            .filter(|rest| rest.elapsed_ns >= SECOND.0 / 2.0),
    );
    all
}

/// Further figures for tables, CSV and charts, by name. `median` is the median of operations per
/// second, and `cpu` the CPU time of all threads; `None` if unknown.
pub fn also(storage: &Storage, median: f64, cpu: Option<Nanos>) -> BTreeMap<String, f64> {
    let mut also = BTreeMap::new();
    let mut add = |name: &str, value: Option<f64>| {
        also.extend(
            value
                .filter(|v| v.is_finite())
                .map(|v| (name.to_owned(), v)),
        );
    };
    let operations = (storage.operations > 0).then_some(storage.operations as f64);
    add(
        "bytes_per_second",
        operations.map(|n| median * storage.bytes as f64 / n),
    );
    add(
        "cpu_ns_per_operation",
        operations.and_then(|n| Some(cpu?.0 / n)),
    );
    if let Some(all) = &storage.all {
        let named = [
            ("latency_mean", all.mean_ns),
            ("latency_p50", all.p50_ns),
            ("latency_p90", all.p90_ns),
            ("latency_p99", all.p99_ns),
            ("latency_p99_9", all.p99_9_ns),
            ("latency_p99_99", all.p99_99_ns),
            ("latency_max", all.most_ns),
        ];
        named.into_iter().for_each(|(name, ns)| add(name, Some(ns)));
    }
    if let (Some(least), Some(&most), 2..) = (
        storage.threads.iter().min(),
        storage.threads.iter().max().filter(|&&n| n > 0),
        storage.threads.len(),
    ) {
        add("fairness", Some(*least as f64 / most as f64));
    }
    for (name, count) in [
        ("errors", storage.failed()),
        ("short", storage.short),
        ("behind", storage.behind),
    ] {
        add(name, (count > 0).then_some(count as f64));
    }
    also
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    fn window(begin: f64, amount: u64, ns: u64) -> StorageWindow {
        let mut reads = Histogram::default();
        (0..amount).for_each(|_| reads.add(ns));
        StorageWindow {
            begin: Nanos(begin),
            elapsed: Nanos(0.4e9),
            amount,
            whole: amount,
            bytes: amount * 4096,
            reads,
            threads: vec![amount],
            direct: true,
            ..StorageWindow::default()
        }
    }

    #[test]
    fn a_second_is_as_many_windows_as_make_one_up() {
        let work = IoWork {
            block: Bytes(4096),
            cpus: vec![0],
            direct: true,
            ..IoWork::default()
        };
        let windows: Vec<StorageWindow> = (0..5)
            .map(|i| window(7e9 + f64::from(i) * 0.5e9, 10, 100))
            .collect();
        let storage = storage(&work, windows.iter(), Some(1));
        let second = |s: &StorageSecond| (s.begin_ns, s.operations, s.bytes, s.p99_ns);
        let all: Vec<_> = storage.seconds.iter().map(second).collect();
        assert_eq!(
            all,
            [
                (0.0, 30, 30 * 4096, Some(100.0)),
                (1.5e9, 20, 20 * 4096, Some(100.0))
            ]
        );
        assert_eq!(
            (storage.operations, storage.bytes, storage.direct),
            (50, 50 * 4096, true)
        );
        let figures = also(&storage, 25.0, Some(Nanos(5000.0)));
        assert_eq!(
            (figures["bytes_per_second"], figures["cpu_ns_per_operation"]),
            (25.0 * 4096.0, 100.0)
        );
        assert_eq!(
            (figures["latency_p50"], figures["latency_max"]),
            (100.0, 100.0)
        );
        assert!(!figures.contains_key("fairness") && !figures.contains_key("errors"));
    }

    #[test]
    fn no_operations_have_no_latencies() {
        let storage = storage(&IoWork::default(), [].iter(), None);
        assert!(storage.all.is_none() && storage.seconds.is_empty());
        assert!(also(&storage, 0.0, None).is_empty());
    }
}
