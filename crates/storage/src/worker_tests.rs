//! Tests that a window ends if its device hangs.

use super::super::work::{Content, IoFile};
use super::*;
use host::interrupt::StopFlag;
use host::storage::{IoBuffers, LONGEST_WAIT};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Bytes;

/// A clock that only advances during waits.
#[derive(Clone, Default)]
struct Clock(Arc<AtomicU64>);

impl Ticker for Clock {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn wait_until(&self, tick: u64) {
        self.0.fetch_max(tick, Ordering::Relaxed);
    }

    fn compute(&self, _additions: u32) {}
}

/// An engine that completes its first `sound` operations at once, and no further operation. It sets
/// the stop flag after `end_after` waits.
struct Hanging {
    sound: u64,
    ready: Vec<IoCompletion>,
    clock: Clock,
    buffers: IoBuffers,
    end_after: u64,
    waits: u64,
    stop: StopFlag,
}

impl IoEngine for Hanging {
    fn submit(&mut self, requests: &[IoRequest]) -> units::error::Result<usize> {
        for request in requests {
            if let Some(left) = self.sound.checked_sub(1) {
                self.sound = left;
                let at = self.clock.0.fetch_add(1000, Ordering::Relaxed);
                self.ready.push(IoCompletion {
                    tag: request.tag,
                    result: Ok(request.bytes),
                    at,
                });
            }
        }
        Ok(requests.len())
    }

    fn reap(&mut self, least: usize, into: &mut Vec<IoCompletion>) -> units::error::Result<()> {
        if least > self.ready.len() {
            self.clock
                .0
                .fetch_add(LONGEST_WAIT.0 as u64, Ordering::Relaxed);
            self.waits += 1;
            assert!(self.waits < 1000, "waited for ever");
            if self.waits == self.end_after {
                self.stop.set();
            }
        }
        into.append(&mut self.ready);
        Ok(())
    }

    fn buffers(&mut self) -> &mut IoBuffers {
        &mut self.buffers
    }
}

/// Results of a window of 1 s, and the time at its end in ns. `sound` and `end_after` are fields of
/// [`Hanging`].
fn ran(work: &IoWork, (sound, end_after): (u64, u64)) -> (Result<WorkerWindow, Failure>, u64) {
    let clock = Clock::default();
    let stop = StopFlag::never();
    let buffers = IoBuffers::new(4, 4096, 0).unwrap();
    let engine = Hanging {
        sound,
        ready: Vec::new(),
        clock: clock.clone(),
        buffers,
        end_after,
        waits: 0,
        stop: stop.clone(),
    };
    let mut queue = WorkerQueue::new(
        Box::new(engine),
        Walk::new(work, 0),
        Contents::new(Content::Zeros, 0),
    );
    let window = Window {
        thread: 0,
        start: 0,
        end: 1_000_000_000,
        most: None,
        rate: 1.0,
        traced: false,
        stop,
    };
    (run(&mut queue, work, &window, &clock), clock.now())
}

fn work() -> IoWork {
    let files = vec![IoFile {
        blocks: 8,
        ..IoFile::named("data")
    }];
    IoWork {
        files,
        block: Bytes(4096),
        depth: 4,
        cpus: vec![0],
        ..IoWork::default()
    }
}

#[test]
fn operations_that_never_come_back_end_a_window() {
    // This work flushes after every write. Another part of the code waits for flushes.
    let flushes = IoWork {
        flush: Some((1, Flush::Sync)),
        writes_per_million: 1_000_000,
        ..work()
    };
    for (work, sound) in [(work(), 0), (work(), 5), (flushes.clone(), 1), (flushes, 4)] {
        let (outcome, ended) = ran(&work, (sound, 0));
        let Err(Failure::Failed(text)) = outcome else {
            panic!("{sound}: {outcome:?}")
        };
        assert!(
            text.starts_with("the device hangs: ") && text.contains("did not come back"),
            "{text}"
        );
        assert!((120e9..125e9).contains(&(ended as f64)), "{sound}: {ended}");
    }
}

#[test]
fn who_asks_for_the_end_does_not_wait_for_them() {
    for after in [1, 20] {
        let (outcome, ended) = ran(&work(), (3, after));
        assert!(matches!(outcome, Err(Failure::Interrupted)), "{outcome:?}");
        assert!(ended as f64 <= (after + 8) as f64 * 1e9, "{after}: {ended}");
    }
}
