//! Two threads that hand a value back and forth: how a round trip is sampled.
//!
//! In other works, each thread does as much as it can. The two threads of a hand-off do the same
//! number of round trips. The first thread starts every round trip and decides when the sample
//! ends. Only the first thread is timed. Its chunks consist of visits. A *visit* is a fixed number
//! of round trips on one cache line. After a visit, both threads go on to the next line. The values
//! on the lines keep the threads in step. The second thread answers visit after visit. It stops
//! when no further visit begins and the first thread has declared the sample over. The second
//! thread takes part in everything that the first thread times. The time of the first thread is
//! therefore the common window.
//!
//! No wait is endless. A kernel call polls the line a limited number of times, more than a running
//! partner needs. Without an answer, the thread then checks for the end of the sample, an
//! interruption and [`LONGEST_WAIT`]. It yields its CPU and continues with the same round trip. A
//! thread that gives up sets `HandOffRun::state`, and the sample is taken again.

use crate::native::timed_sample::{Blocks, Run};
use crate::work::HandOffWork;
use host::counter;
use host::interrupt::StopFlag;
use host::memory::{Mapping, PageMode, Window};
use kernels::{HandOff, SharedLine};
use std::sync::atomic::{AtomicU64, Ordering};
use units::error::Result;
use units::{Bytes, Nanos};

/// Number of round trips in a visit. The compiled code between two visits takes some nanoseconds, a
/// thousandth of the time of a visit.
const TURNS: usize = 64;

/// Number of times that a thread polls a cache line before it checks whether to go on waiting.
/// These polls take some microseconds with loads, and some tens of microseconds with
/// compare-and-swaps. The slowest round trips take less than a tenth of this time.
const POLLS: usize = 1 << 13;

/// Time after which a thread stops waiting for a partner that does not answer. It is longer than
/// the time for which a CPU quota stops a thread.
pub const LONGEST_WAIT: Nanos = Nanos(1e9);

/// Distance in bytes between the starts of neighbouring cache lines of a half. It is more than 64,
/// because some processors fetch lines in pairs and some have lines of 128 B.
const DISTANCE: usize = 128;

/// Value of [`HandOffRun::state`]: the sample is being taken.
const UNDER_WAY: usize = 0;
/// Value of [`HandOffRun::state`]: the first thread has ended the sample.
const OVER: usize = 1;
/// Value of [`HandOffRun::state`]: a thread has given up waiting for its partner.
const ABANDONED: usize = 2;

/// Two threads that hand cache lines back and forth.
#[derive(Debug)]
pub struct HandOffRun {
    kernel: HandOff,
    /// Memory of the lines, one half for each thread. Each thread was the first to touch its half.
    halves: Vec<Window>,
    lines: usize,
    stop: StopFlag,
    /// Ticks after which a thread gives up waiting for its partner.
    longest_wait_ticks: u64,
    /// Number of visits that both threads have finished. `visits` and `state` are on cache lines of
    /// their own.
    visits: SharedLine,
    state: SharedLine,
}

/// Maps and touches the lines of thread `index` (0 or 1), on the thread that calls this function.
pub fn map_half(lines: u32, index: usize) -> Result<Window> {
    let bytes = Bytes(((lines as u64 + 1 - index as u64) / 2).max(1) * DISTANCE as u64);
    let mapping = Mapping::new(bytes, PageMode::Base, Bytes(4096))?;
    let window = mapping.take(0..mapping.len())?;
    window
        .words()
        .iter()
        .for_each(|word| word.store(0, Ordering::Relaxed));
    Ok(window)
}

impl HandOffRun {
    /// Prepares `work` on the lines in `halves`, one half from each thread. A thread gives up
    /// waiting after `longest_wait_ticks` ticks, or when `stop` is set.
    pub fn new(
        work: &HandOffWork,
        halves: Vec<Window>,
        stop: StopFlag,
        longest_wait_ticks: u64,
    ) -> Self {
        let visits = SharedLine::default();
        let state = SharedLine::default();
        Self {
            kernel: work.kernel,
            halves,
            lines: work.lines.max(2) as usize,
            stop,
            longest_wait_ticks,
            visits,
            state,
        }
    }

    /// Word on which visit number `visit` hands over values, and the value of the word before the
    /// visit. Successive visits use lines of both halves in turn. No value repeats on a line.
    /// `None` if there is no such line.
    fn line(&self, visit: usize) -> Option<(&AtomicU64, usize)> {
        let place = visit % self.lines;
        let words = self.halves.get(place % 2)?.words();
        let word = words.get(place / 2 * (DISTANCE / size_of::<AtomicU64>()))?;
        Some((word, (visit / self.lines).wrapping_mul(2 * TURNS)))
    }

    /// Executes one thread's part of a visit. The first thread (`odd` 0) waits for even values, the
    /// other thread for odd values. False if the wait was given up.
    fn take_part(&self, visit: usize, odd: usize) -> bool {
        let Some((word, start)) = self.line(visit) else {
            return self.give_up();
        };
        let mut done = 0;
        let mut wait = Wait::default();
        loop {
            let expected = start.wrapping_add(2 * done + odd);
            done += self.kernel.run_on(word, expected, TURNS - done, POLLS);
            if done >= TURNS {
                return true;
            }
            if !self.worth_while(&mut wait) {
                return false;
            }
        }
    }

    /// Waits for the answer to the last round trip of a visit. False if the wait was given up.
    fn last_answer(&self, visit: usize) -> bool {
        let Some((word, start)) = self.line(visit) else {
            return self.give_up();
        };
        let last = start.wrapping_add(2 * TURNS);
        let mut wait = Wait::default();
        loop {
            if (0..POLLS).any(|_| word.load(Ordering::Acquire) as usize == last) {
                return true;
            }
            if !self.worth_while(&mut wait) {
                return false;
            }
        }
    }

    /// Executes a visit as the thread that starts every round trip. Does nothing once a wait was
    /// given up.
    fn visit(&self) {
        let visit = self.visits.word.load(Ordering::Relaxed);
        if self.is(UNDER_WAY) && self.take_part(visit, 0) && self.last_answer(visit) {
            self.visits
                .word
                .store(visit.wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// True if a thread shall go on waiting after [`POLLS`] polls without an answer.
    fn worth_while(&self, wait: &mut Wait) -> bool {
        if !self.is(UNDER_WAY) {
            return false;
        }
        let now = counter::ticks();
        let since = *wait.since.get_or_insert(now);
        if self.stop.is_set() || now.saturating_sub(since) > self.longest_wait_ticks {
            return self.give_up();
        }
        // The partner may need this CPU if threads cannot be pinned.
        std::thread::yield_now();
        true
    }

    /// Ends the waits of both threads. Always returns false, which tells the caller that the wait
    /// was given up.
    fn give_up(&self) -> bool {
        self.state.word.store(ABANDONED, Ordering::Release);
        false
    }

    fn is(&self, state: usize) -> bool {
        self.state.word.load(Ordering::Acquire) == state
    }
}

/// Start of a thread's wait for one value, in ticks; `None` until the first check.
#[derive(Debug, Default)]
struct Wait {
    since: Option<u64>,
}

impl Run for HandOffRun {
    fn amount_per_block(&self) -> u64 {
        TURNS as u64
    }

    fn with_share(&self, _index: usize, measure: &mut dyn FnMut(&mut Blocks<'_>)) {
        // This visit is not timed, because the other thread may still be waking up.
        self.visit();
        measure(&mut |visits| {
            (0..visits)
                .take_while(|_| self.is(UNDER_WAY))
                .for_each(|_| self.visit())
        });
        // The exchange fails if the other thread has given up meanwhile. `ABANDONED` then stays.
        let _ =
            self.state
                .word
                .compare_exchange(UNDER_WAY, OVER, Ordering::AcqRel, Ordering::Acquire);
    }

    fn begin(&self) {
        if self.is(ABANDONED) {
            // The threads stopped between two values. Lines and visits start again at 0.
            self.halves
                .iter()
                .flat_map(|half| half.words())
                .for_each(|word| word.store(0, Ordering::Relaxed));
            self.visits.word.store(0, Ordering::Relaxed);
        }
        self.state.word.store(UNDER_WAY, Ordering::Release);
    }

    fn answers(&self, index: usize) -> bool {
        index != 0
    }

    fn answer(&self, _index: usize) {
        // The first visit cannot end without this thread, so `visits` does not change before this
        // load.
        let mut visit = self.visits.word.load(Ordering::Relaxed);
        while self.take_part(visit, 1) {
            visit = visit.wrapping_add(1);
        }
    }

    fn is_whole(&self) -> bool {
        self.is(OVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn run(kernel: HandOff, lines: u32, longest_wait_ticks: u64) -> HandOffRun {
        let halves = (0..2)
            .map(|index| map_half(lines, index).unwrap())
            .collect();
        HandOffRun::new(
            &HandOffWork {
                kernel,
                cpus: [0, 1],
                lines,
            },
            halves,
            StopFlag::never(),
            longest_wait_ticks,
        )
    }

    fn words(run: &HandOffRun) -> Vec<u64> {
        (0..run.lines)
            .map(|place| run.line(place).unwrap().0.load(Ordering::SeqCst))
            .collect()
    }

    /// A sample of `visits` visits that the second thread answers.
    fn sample(run: &HandOffRun, visits: u64) {
        run.begin();
        std::thread::scope(|scope| {
            scope.spawn(|| run.answer(1));
            run.with_share(0, &mut |blocks| blocks(visits));
        });
    }

    #[test]
    fn lines_are_two_apart_and_of_both_owners_in_turn() {
        for lines in [2, 3, 64, 65] {
            let run = run(HandOff::StoreLoad, lines, u64::MAX);
            let addresses: Vec<usize> = (0..run.lines)
                .map(|v| run.line(v).unwrap().0.as_ptr() as usize)
                .collect();
            let owner = |a: &usize| {
                run.halves
                    .iter()
                    .position(|h| (h.address()..h.address() + h.len()).contains(a))
            };
            for (place, address) in addresses.iter().enumerate() {
                assert_eq!(
                    (owner(address), address % DISTANCE),
                    (Some(place % 2), 0),
                    "{lines} lines"
                );
            }
            let mut distinct = addresses.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), lines as usize);
        }
    }

    #[test]
    fn all_round_trips_of_several_samples_are_made() {
        for kernel in HandOff::ALL {
            let run = run(kernel, 4, u64::MAX);
            sample(&run, 7);
            assert!(run.is_whole(), "{kernel}");
            // One untimed and seven timed visits are eight visits, so that each of the four lines
            // has two.
            assert_eq!(words(&run), [2 * 2 * TURNS as u64; 4], "{kernel}");
            sample(&run, 1);
            assert_eq!(
                words(&run),
                [6, 6, 4, 4].map(|visits| visits * TURNS as u64),
                "{kernel}"
            );
        }
    }

    #[test]
    fn a_partner_that_never_comes_ends_the_sample_and_the_next_one_starts_anew() {
        for kernel in HandOff::ALL {
            let run = run(kernel, 2, 1000);
            run.begin();
            run.with_share(0, &mut |blocks| blocks(1 << 40));
            assert!(!run.is_whole(), "{kernel}");
            run.begin();
            run.answer(1);
            assert!(!run.is_whole(), "{kernel}: nobody started");
            let run = HandOffRun {
                longest_wait_ticks: u64::MAX,
                ..run
            };
            sample(&run, 3);
            assert!(run.is_whole(), "{kernel}");
            assert_eq!(words(&run), [4 * TURNS as u64; 2], "{kernel}");
        }
    }

    #[test]
    fn an_interruption_ends_a_wait() {
        let stop = StopFlag::never();
        let run = Arc::new(HandOffRun {
            stop: stop.clone(),
            ..run(HandOff::CompareAndSwap, 2, u64::MAX)
        });
        run.begin();
        let waiting = Arc::clone(&run);
        let waiter = std::thread::spawn(move || waiting.with_share(0, &mut |blocks| blocks(1)));
        stop.set();
        waiter.join().unwrap();
        assert!(!run.is_whole());
    }
}
