//! Combines the results of each thread in a window into one window of all threads.

use super::seeks::Seeks;
use super::work::{IoWork, Step};
use super::worker::WorkerWindow;
use engine::{ExternalFigures, Failure, Observation};
use host::storage::Transfer;
use stats::Histogram;
use std::collections::BTreeMap;
use units::Nanos;

/// Number of windows into which a fixed number of operations is divided.
pub const COUNTED_WINDOWS: u64 = 20;

/// Time limit of a window that ends after a number of operations.
const LONGEST: Nanos = Nanos(60e9);

/// Figures of storage in one window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StorageWindow {
    /// Start of the window, as a time of the machine's clock.
    pub begin: Nanos,
    /// Time over which `amount` is counted.
    pub elapsed: Nanos,
    /// Number of operations that count for the rate.
    pub amount: u64,
    /// Number of complete transfers, which moved all requested bytes. Transfers that ended after
    /// the end of the window are included.
    pub whole: u64,
    /// Bytes that the complete transfers moved.
    pub bytes: u64,
    /// Latencies of reads in ns.
    pub reads: Histogram,
    /// Latencies of writes in ns.
    pub writes: Histogram,
    /// Latencies of flushes in ns.
    pub flushes: Histogram,
    /// Latencies by distance of seeks. Empty unless the order of blocks varies the distance.
    pub seeks: Seeks,
    /// Number of failed operations, by the text of the error.
    pub errors: BTreeMap<String, u64>,
    /// Number of transfers that moved fewer bytes than requested.
    pub short: u64,
    /// Number of blocks whose content differs from the written data.
    pub wrong: u64,
    /// Number of operations that were due in the window.
    pub due: u64,
    /// Number of due operations that were not begun.
    pub behind: u64,
    /// Number of complete transfers of each thread.
    pub threads: Vec<u64>,
    /// CPU time of all threads; `None` if unknown.
    pub cpu: Option<Nanos>,
    /// True if no operations are left for another window.
    pub is_last: bool,
    /// True if I/O was direct, without the page cache.
    pub direct: bool,
    /// Sentences that say how the window differs from the request.
    pub remarks: Vec<String>,
}

/// Number of operations after which a window of `work` ends; `None` if it ends after a time. `left`
/// is the number of operations that the point still has to do.
pub fn quota(work: &IoWork, left: Option<u64>) -> Option<u64> {
    let total = work.total().filter(|_| work.is_counted())?;
    Some(
        total
            .div_ceil(COUNTED_WINDOWS)
            .max(1)
            .min(left.unwrap_or(total)),
    )
}

/// Number of operations that thread number `thread` of `threads` does in a window of `quota`
/// operations. Threads take turns. The number of earlier operations `done` determines which thread
/// begins.
pub fn share(quota: u64, done: u64, thread: usize, threads: usize) -> u64 {
    let thread = thread as u64;
    let threads = threads.max(1) as u64;
    let until = |count: u64| (count + threads - 1 - thread) / threads;
    until(done + quota) - until(done)
}

/// Time limit of a window of `work`. It is `wanted`, or a long time if the window ends after a
/// number of operations.
pub fn length(work: &IoWork, wanted: Nanos) -> Nanos {
    if work.is_counted() { LONGEST } else { wanted }
}

/// Text of the system error `number`.
pub fn error_text(number: i32) -> String {
    std::io::Error::from_raw_os_error(number).to_string()
}

impl StorageWindow {
    /// Combines the results of all threads in the window from tick `start` to tick `end`. `rate` is
    /// in ticks per ns.
    ///
    /// # Errors
    /// An operation failed and the work does not continue on errors. Or operations were tried, and
    /// none of them was a complete transfer.
    pub fn from_threads(
        work: &IoWork,
        queues: &[WorkerWindow],
        (start, end, rate): (u64, u64, f64),
    ) -> Result<Self, Failure> {
        let fault = queues.iter().find_map(|queue| queue.fault);
        if let Some((step, transfer, number)) = fault.filter(|_| !work.continue_on_error) {
            return Err(Failure::Failed(describe(work, &step, transfer, number)));
        }
        let mut seen = Self {
            is_last: !queues.is_empty(),
            ..Self::default()
        };
        let mut inside = 0;
        let mut last = start;
        let mut first = None;
        for queue in queues {
            inside += queue.inside;
            last = last.max(queue.last);
            first = [first, queue.first].into_iter().flatten().min();
            seen.add(queue);
        }
        if seen.whole == 0 && (seen.short > 0 || !seen.errors.is_empty()) {
            return Err(Failure::Failed(
                seen.no_transfer_reason(fault.map(|f| describe(work, &f.0, f.1, f.2))),
            ));
        }
        let until = |tick: u64| Nanos(tick.saturating_sub(start).max(1) as f64 / rate);
        (seen.amount, seen.elapsed) = if work.is_counted() || seen.is_last {
            (seen.whole, until(last))
        } else if inside > 0 {
            (inside, until(end))
        } else {
            first.map_or((0, until(end)), |first| (1, until(first)))
        };
        Ok(seen)
    }

    fn add(&mut self, queue: &WorkerWindow) {
        self.whole += queue.whole;
        self.bytes += queue.bytes;
        self.reads.merge(&queue.reads);
        self.writes.merge(&queue.writes);
        self.flushes.merge(&queue.flushes);
        self.seeks.add(&queue.seeks);
        for (&number, count) in &queue.errors {
            *self.errors.entry(error_text(number)).or_default() += count;
        }
        self.short += queue.short;
        self.wrong += queue.wrong;
        self.due += queue.due;
        self.behind += queue.behind;
        self.threads.push(queue.whole);
        self.is_last &= queue.exhausted;
    }

    /// Error text for a window in which no transfer was complete.
    fn no_transfer_reason(&self, fault: Option<String>) -> String {
        let failed: u64 = self.errors.values().sum();
        match fault {
            Some(first) => format!("no operation succeeded, {failed} failed; the first: {first}"),
            None => format!(
                "no transfer was whole, {} moved fewer bytes than requested: the file is shorter \
                 than it was",
                self.short
            ),
        }
    }

    /// Converts the window to the engine's type of a sample.
    pub fn into_observation(self) -> Observation {
        Observation {
            elapsed: self.elapsed,
            amount: self.amount,
            is_last: self.is_last,
            external: Some(ExternalFigures::new(self)),
            ..Observation::default()
        }
    }

    /// Latencies of reads and writes together.
    pub fn transfers(&self) -> Histogram {
        let mut all = self.reads.clone();
        all.merge(&self.writes);
        all
    }
}

/// Text about a failed operation, for example: `read of data.bin at byte 4096 failed: Input/output
/// error (os error 5)`
fn describe(work: &IoWork, step: &Step, transfer: Transfer, number: i32) -> String {
    let what = match transfer {
        Transfer::Read => "read",
        Transfer::Write => "write",
        Transfer::Sync | Transfer::DataSync => "flush",
    };
    let file = work
        .files
        .get(step.file)
        .map(|f| f.path.display().to_string())
        .unwrap_or_default();
    let place = if transfer.moves_data() {
        format!(" at byte {}", step.offset)
    } else {
        String::new()
    };
    format!("{what} of {file}{place} failed: {}", error_text(number))
}

#[cfg(test)]
mod tests {
    use super::super::work::{IoFile, Pace};
    use super::*;

    fn queue(inside: u64, whole: u64) -> WorkerWindow {
        WorkerWindow {
            inside,
            whole,
            first: (whole > 0).then_some(3000),
            last: 9000,
            ..WorkerWindow::default()
        }
    }

    fn step() -> Step {
        Step {
            file: 0,
            offset: 4096,
            bytes: 512,
            write: false,
            recorded: None,
        }
    }

    fn work() -> IoWork {
        IoWork {
            files: vec![IoFile::named("data")],
            ..IoWork::default()
        }
    }

    #[test]
    fn shares_of_threads_add_up_and_keep_turns_over_windows() {
        for (total, threads) in [(5, 2), (101, 4), (3, 7), (1000, 3)] {
            let work = IoWork {
                operations: Some(total),
                ..work()
            };
            let mut left = total;
            let mut each = vec![0; threads];
            while left > 0 {
                let quota = quota(&work, Some(left)).unwrap();
                for (thread, sum) in each.iter_mut().enumerate() {
                    *sum += share(quota, total - left, thread, threads);
                }
                left -= quota;
            }
            let turns: Vec<u64> = (0..threads as u64)
                .map(|t| (0..total).filter(|k| k % threads as u64 == t).count() as u64)
                .collect();
            assert_eq!(each, turns);
        }
        assert_eq!(
            (quota(&work(), None), length(&work(), Nanos(5.0))),
            (None, Nanos(5.0))
        );
        let recorded = IoWork {
            operations: Some(5),
            pace: Pace::Recorded,
            ..work()
        };
        assert_eq!(quota(&recorded, Some(5)), None);
    }

    #[test]
    fn the_rate_is_of_what_was_done_inside() {
        let seen =
            StorageWindow::from_threads(&work(), &[queue(4, 6), queue(2, 2)], (1000, 5000, 2.0))
                .unwrap();
        assert_eq!(
            (seen.amount, seen.elapsed, seen.whole),
            (6, Nanos(2000.0), 8)
        );
        assert_eq!(seen.threads, [6, 2]);
        // If no operation completed in the window, the time until the first completion counts.
        let slow = StorageWindow::from_threads(&work(), &[queue(0, 3)], (1000, 2000, 2.0)).unwrap();
        assert_eq!((slow.amount, slow.elapsed), (1, Nanos(1000.0)));
        // If the window ends after a number of operations, the time until the last completion
        // counts.
        let counted = IoWork {
            operations: Some(100),
            ..work()
        };
        let counted =
            StorageWindow::from_threads(&counted, &[queue(6, 6)], (1000, u64::MAX, 2.0)).unwrap();
        assert_eq!((counted.amount, counted.elapsed), (6, Nanos(4000.0)));
    }

    #[test]
    fn failures_end_a_window_or_are_counted() {
        let failed = WorkerWindow {
            errors: [(5, 2)].into(),
            fault: Some((step(), Transfer::Read, 5)),
            ..queue(4, 4)
        };
        let Err(Failure::Failed(text)) =
            StorageWindow::from_threads(&work(), std::slice::from_ref(&failed), (1000, 5000, 1.0))
        else {
            panic!("an error ends the point");
        };
        assert!(
            text.contains("read of data at byte 4096 failed") && text.contains("os error 5"),
            "{text}"
        );
        let take_extra_rounds = IoWork {
            continue_on_error: true,
            ..work()
        };
        let seen = StorageWindow::from_threads(
            &take_extra_rounds,
            std::slice::from_ref(&failed),
            (1000, 5000, 1.0),
        )
        .unwrap();
        assert_eq!((seen.amount, seen.errors.values().sum::<u64>()), (4, 2));
        let all = WorkerWindow {
            whole: 0,
            inside: 0,
            ..failed
        };
        let text = format!(
            "{:?}",
            StorageWindow::from_threads(&take_extra_rounds, &[all], (1000, 5000, 1.0))
        );
        assert!(text.contains("no operation succeeded, 2 failed"), "{text}");
        let short = WorkerWindow {
            short: 3,
            ..queue(0, 0)
        };
        let text = format!(
            "{:?}",
            StorageWindow::from_threads(&take_extra_rounds, &[short], (1000, 5000, 1.0))
        );
        assert!(text.contains("no transfer was whole, 3 moved"), "{text}");
    }
}
