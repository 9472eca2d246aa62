//! Computes the times at which operations are due. A fixed schedule goes on even if the device is
//! slow.

use super::work::{IoWork, Pace, Step};
use host::interrupt::StopFlag;

/// Limits and settings of one thread's part of a window.
#[derive(Debug, Clone)]
pub struct Window {
    /// Index of the thread in the work.
    pub thread: usize,
    /// First tick of the window.
    pub start: u64,
    /// Tick after which no operation begins.
    pub end: u64,
    /// Largest number of operations that this thread begins; `None` without a limit.
    pub most: Option<u64>,
    /// Ticks per nanosecond.
    pub rate: f64,
    /// True if a trace is written, which needs a record of every operation.
    pub traced: bool,
    /// Flag that is set when the session shall end.
    pub stop: StopFlag,
}

/// The schedule of one thread in a window. Times are in ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// Operations begin as soon as a slot is free.
    Free,
    /// Operation k is due at `first + k * step`.
    Steps {
        /// Time at which the first operation is due.
        first: f64,
        /// Time between two operations.
        step: f64,
    },
    /// An operation that was recorded t ns after the first operation is due at `origin + t * rate`.
    Recorded {
        /// Time at which the first operation of the recording was due. After the first window, this
        /// time lies before the start of the window.
        origin: f64,
        /// Ticks per nanosecond.
        rate: f64,
    },
}

impl Schedule {
    /// Schedule of a thread of `work` in `window`. `covered` is the length, in ticks, of the part
    /// of the recording that earlier windows have replayed.
    pub fn new(work: &IoWork, window: &Window, covered: u64) -> Self {
        match work.pace {
            Pace::Free => Schedule::Free,
            Pace::PerThousandSeconds(count) => {
                // The threads take turns, so that all threads together keep the rate.
                let apart = 1e12 / count.max(1) as f64 * window.rate;
                let first = window.start as f64 + apart * window.thread as f64;
                Schedule::Steps {
                    first,
                    step: apart * work.cpus.len().max(1) as f64,
                }
            }
            Pace::Recorded => Schedule::Recorded {
                origin: window.start as f64 - covered as f64,
                rate: window.rate,
            },
        }
    }

    /// True if the schedule determines when operations begin; false for [`Schedule::Free`].
    pub fn is_paced(&self) -> bool {
        !matches!(self, Schedule::Free)
    }

    /// Tick at which operation `index` of the window is due; `None` for [`Schedule::Free`]. In a
    /// recording, the time of `step` determines the tick, not `index`.
    pub fn due(&self, index: u64, step: Option<&Step>) -> Option<u64> {
        match self {
            Schedule::Free => None,
            Schedule::Steps { first, step } => Some((first + step * index as f64) as u64),
            Schedule::Recorded { origin, rate } => {
                let time = step.and_then(|s| s.recorded).unwrap_or(0);
                Some((origin + time as f64 * rate).max(0.0) as u64)
            }
        }
    }

    /// Number of operations that are due before tick `end`; 0 unless operations have a fixed rate.
    pub fn due_before(&self, end: u64) -> u64 {
        match self {
            Schedule::Steps { first, step } if (end as f64) > *first && *step > 0.0 => {
                ((end as f64 - first) / step).ceil() as u64
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(thread: usize) -> Window {
        let stop = StopFlag::never();
        Window {
            thread,
            start: 1000,
            end: 3_001_000,
            most: None,
            rate: 3.0,
            traced: false,
            stop,
        }
    }

    #[test]
    fn threads_take_turns_at_a_rate() {
        // At 10000 operations per second and 3 ticks per ns, an operation is due every 300000
        // ticks. These are 10 operations in a window of 1 ms.
        let work = IoWork {
            cpus: vec![0, 0],
            pace: Pace::PerThousandSeconds(10_000_000),
            ..IoWork::default()
        };
        let first = Schedule::new(&work, &window(0), 0);
        let second = Schedule::new(&work, &window(1), 0);
        let due = |s: &Schedule| (0..3).map(|k| s.due(k, None)).collect::<Vec<_>>();
        assert_eq!(due(&first), [1000, 601_000, 1_201_000].map(Some));
        assert_eq!(due(&second), [301_000, 901_000, 1_501_000].map(Some));
        assert_eq!(
            (first.due_before(3_001_000), second.due_before(3_001_000)),
            (5, 5)
        );
        assert_eq!(
            (
                first.due_before(1000),
                first.due_before(1001),
                first.due_before(601_001)
            ),
            (0, 1, 2)
        );
    }

    #[test]
    fn recorded_operations_are_due_when_they_came() {
        let work = IoWork {
            pace: Pace::Recorded,
            ..IoWork::default()
        };
        let step = |recorded| Step {
            file: 0,
            offset: 0,
            bytes: 512,
            write: false,
            recorded,
        };
        let first = Schedule::new(&work, &window(0), 0);
        assert_eq!(first.due(7, Some(&step(Some(100)))), Some(1300));
        // The second window continues where the first one ended.
        let second = Schedule::new(
            &work,
            &Window {
                start: 9_000_000,
                ..window(0)
            },
            3_000_000,
        );
        assert_eq!(second.due(0, Some(&step(Some(1_000_100)))), Some(9_000_300));
        assert_eq!(
            second.due(0, Some(&step(Some(0)))),
            Some(6_000_000),
            "late: due before the window"
        );
    }

    #[test]
    fn without_a_pace_nothing_is_due_at_a_time() {
        let free = Schedule::new(&IoWork::default(), &window(0), 0);
        assert_eq!(
            (
                free.due(3, None),
                free.due_before(u64::MAX),
                free.is_paced()
            ),
            (None, 0, false)
        );
    }
}
