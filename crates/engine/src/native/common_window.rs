//! Computes the common window: the time between the latest start and the earliest end of all
//! threads. Only work in this window counts.

/// Counter readings of one thread: one before the first chunk, and one after each chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stamps {
    /// At least two counter readings, in rising order.
    pub ticks: Vec<u64>,
    /// Work in each chunk, in blocks of the kernel.
    pub chunk: u64,
}

/// The part of the threads' work that lies in their common window.
#[derive(Debug, Clone, PartialEq)]
pub struct Common {
    /// Length of the window in ticks.
    pub ticks: u64,
    /// Work of each thread in the window, in blocks. A chunk that lies partly outside the window
    /// counts in proportion to its time inside.
    pub amounts: Vec<f64>,
}

impl Common {
    /// Work of the slowest thread divided by the work of the fastest thread; 1 if no thread did any
    /// work.
    pub fn fairness(&self) -> f64 {
        let (least, most) = self
            .amounts
            .iter()
            .fold((f64::INFINITY, 0.0), |(l, m), &a| (a.min(l), a.max(m)));
        if most > 0.0 { least / most } else { 1.0 }
    }
}

/// Computes the common window of `threads`. `None` if a thread did nothing, or if one thread ended
/// before another one began.
pub fn common_window(threads: &[Stamps]) -> Option<Common> {
    let start = threads
        .iter()
        .map(|t| t.ticks.first().copied())
        .collect::<Option<Vec<u64>>>()?
        .into_iter()
        .max()?;
    let end = threads
        .iter()
        .map(|t| t.ticks.last().copied())
        .collect::<Option<Vec<u64>>>()?
        .into_iter()
        .min()?;
    let ticks = end.checked_sub(start).filter(|&t| t > 0)?;
    let amounts = threads.iter().map(|t| inside(t, start, end)).collect();
    Some(Common { ticks, amounts })
}

/// A part of the common window: one chunk of the first thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Length in ticks.
    pub ticks: u64,
    /// Work of each thread in the part.
    pub amounts: Vec<f64>,
}

/// The chunks of the first of `threads` that lie in the common window of all threads.
pub fn parts(threads: &[Stamps]) -> Vec<Part> {
    let firsts = threads.iter().filter_map(|t| t.ticks.first());
    let lasts = threads.iter().filter_map(|t| t.ticks.last());
    let (Some(&start), Some(&end), Some(first)) = (firsts.max(), lasts.min(), threads.first())
    else {
        return Vec::new();
    };
    first
        .ticks
        .windows(2)
        .filter(|pair| pair[0] >= start && pair[1] <= end && pair[0] < pair[1])
        .map(|pair| Part {
            ticks: pair[1] - pair[0],
            amounts: threads
                .iter()
                .map(|t| inside(t, pair[0], pair[1]))
                .collect(),
        })
        .collect()
}

/// Work of one thread between the counter readings `start` and `end`.
fn inside(thread: &Stamps, start: u64, end: u64) -> f64 {
    let share = |pair: &[u64]| {
        let length = pair[1].saturating_sub(pair[0]);
        let overlap = pair[1].min(end).saturating_sub(pair[0].max(start));
        if length == 0 {
            0.0
        } else {
            overlap as f64 / length as f64
        }
    };
    thread.ticks.windows(2).map(share).sum::<f64>() * thread.chunk as f64
}

/// A chunk was interrupted if it took more than this many times as long as the median chunk of its
/// thread. Contention between threads and timer interrupts stay far below this factor.
const GAP: u64 = 3;

/// Ticks by which interrupted chunks are longer than the median chunk: the sum over these chunks,
/// and the largest single value. They also show interruptions by a hypervisor or by firmware, which
/// the system does not count.
pub fn gap_ticks(thread: &Stamps) -> (u64, u64) {
    let mut lengths: Vec<u64> = thread
        .ticks
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .collect();
    let Some(middle) = lengths.len().checked_sub(1).map(|last| last / 2) else {
        return (0, 0);
    };
    let (_, &mut median, _) = lengths.select_nth_unstable(middle);
    let allowed = median.saturating_mul(GAP);
    let beyond = lengths
        .iter()
        .filter(|&&length| length > allowed)
        .map(|length| length - median);
    beyond.fold((0, 0), |(total, longest), gap| {
        (total + gap, longest.max(gap))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(ticks: &[u64], chunk: u64) -> Stamps {
        Stamps {
            ticks: ticks.to_vec(),
            chunk,
        }
    }

    #[test]
    fn one_thread_counts_all_it_did() {
        let common = common_window(&[stamps(&[100, 110, 130], 7)]).unwrap();
        assert_eq!(common.fairness(), 1.0);
        assert_eq!(
            common,
            Common {
                ticks: 30,
                amounts: vec![14.0]
            }
        );
    }

    #[test]
    fn parts_are_the_chunks_of_the_first_thread_while_all_run() {
        let first = stamps(&[100, 110, 120, 130, 140], 8);
        let second = stamps(&[105, 115, 125, 135], 4);
        let parts = parts(&[first.clone(), second]);
        // Each chunk of the first thread overlaps two chunks of the second thread, half in each.
        let expected = Part {
            ticks: 10,
            amounts: vec![8.0, 4.0],
        };
        assert_eq!(parts, [expected.clone(), expected]);
        assert_eq!(super::parts(&[first]).len(), 4);
        assert_eq!(super::parts(&[]), []);
    }

    #[test]
    fn work_before_the_last_start_and_after_the_first_end_is_left_out() {
        // The second thread starts in the middle of the first thread's first chunk, and ends after
        // the first thread.
        let common = common_window(&[stamps(&[0, 10, 20], 4), stamps(&[5, 15, 25], 8)]).unwrap();
        assert_eq!(
            common,
            Common {
                ticks: 15,
                amounts: vec![2.0 + 4.0, 8.0 + 4.0]
            }
        );
        assert_eq!(common.fairness(), 0.5);
    }

    #[test]
    fn threads_that_never_ran_together_have_no_window() {
        assert_eq!(
            common_window(&[stamps(&[0, 10], 1), stamps(&[10, 20], 1)]),
            None
        );
        assert_eq!(common_window(&[stamps(&[0, 10], 1), stamps(&[], 1)]), None);
        assert_eq!(common_window(&[]), None);
    }

    #[test]
    fn a_gap_is_what_a_chunk_took_beyond_the_median() {
        assert_eq!(gap_ticks(&stamps(&[0, 10, 20, 30, 40], 1)), (0, 0));
        assert_eq!(
            gap_ticks(&stamps(&[0, 10, 20, 50, 60], 1)),
            (0, 0),
            "three times is still no gap"
        );
        assert_eq!(
            gap_ticks(&stamps(&[0, 10, 20, 60, 70, 170], 1)),
            (30 + 90, 90)
        );
        for few in [&[][..], &[5], &[5, 9]] {
            assert_eq!(gap_ticks(&stamps(few, 1)), (0, 0));
        }
    }

    #[test]
    fn a_slow_thread_does_not_make_a_fast_one_wrong() {
        let fast = stamps(&(0..=100).collect::<Vec<u64>>(), 10);
        let slow = stamps(&[0, 50, 100], 50);
        let common = common_window(&[fast, slow]).unwrap();
        assert_eq!(
            (common.fairness(), common.amounts),
            (0.1, vec![1000.0, 100.0])
        );
    }
}
