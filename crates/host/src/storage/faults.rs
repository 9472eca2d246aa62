//! An engine that injects faults into another engine, to test the handling of failing devices.

use super::{IO_ERROR, IoBuffers, IoCompletion, IoEngine, IoRequest};
use crate::counter;
use units::Nanos;
use units::error::Result;

/// The faults to inject. A period n means every n-th completion, and 0 means never.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faults {
    /// Period of operations that end with `error`.
    pub error_every: u64,
    /// Error number of the system with which the operations of `error_every` end.
    pub error: i32,
    /// Period of operations that report only half of their bytes.
    pub short_every: u64,
    /// Period of operations that are held back for `delay`.
    pub delay_every: u64,
    /// Time for which the operations of `delay_every` are held back.
    pub delay: Nanos,
}

impl Default for Faults {
    /// No faults. `error` is the error number of a broken device.
    fn default() -> Self {
        Faults {
            error_every: 0,
            error: IO_ERROR,
            short_every: 0,
            delay_every: 0,
            delay: Nanos(0.0),
        }
    }
}

/// An engine that forwards requests to `inner` and injects faults into the completions.
pub struct Faulty {
    inner: Box<dyn IoEngine>,
    faults: Faults,
    completed: u64,
    held: Vec<(Nanos, IoCompletion)>,
    fresh: Vec<IoCompletion>,
}

impl Faulty {
    /// An engine that injects `faults` into the completions of `inner`.
    pub fn new(inner: Box<dyn IoEngine>, faults: Faults) -> Faulty {
        Faulty {
            inner,
            faults,
            completed: 0,
            held: Vec::new(),
            fresh: Vec::new(),
        }
    }

    /// Injects faults into the new completions of `inner`. Appends the completions that are not
    /// held back to `into`.
    fn spoil(&mut self, into: &mut Vec<IoCompletion>) {
        for mut completion in self.fresh.drain(..) {
            self.completed += 1;
            let due = |every: u64| every != 0 && self.completed.is_multiple_of(every);
            if due(self.faults.error_every) {
                completion.result = Err(self.faults.error);
            } else if due(self.faults.short_every) {
                completion.result = completion.result.map(|bytes| bytes / 2);
            }
            match due(self.faults.delay_every) {
                true => self
                    .held
                    .push((counter::monotonic() + self.faults.delay, completion)),
                false => into.push(completion),
            }
        }
    }

    /// Appends held completions whose delay is over to `into`. Returns the time until the next one
    /// is due; `None` if no completion is held.
    fn release(&mut self, into: &mut Vec<IoCompletion>) -> Option<Nanos> {
        let now = counter::monotonic();
        let ticks = counter::ticks();
        let due = self.held.extract_if(.., |(until, _)| until.0 <= now.0);
        into.extend(due.map(|(_, completion)| IoCompletion {
            at: ticks,
            ..completion
        }));
        self.held
            .iter()
            .map(|(until, _)| *until - now)
            .min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

impl IoEngine for Faulty {
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize> {
        // Completions that are held back count as in flight, so that the depth stays the same.
        let room = self.inner.buffers().slots().saturating_sub(self.held.len());
        self.inner.submit(&requests[..room.min(requests.len())])
    }

    fn reap(&mut self, least: usize, into: &mut Vec<IoCompletion>) -> Result<()> {
        let before = into.len();
        loop {
            let missing = (before + least).saturating_sub(into.len());
            // Held completions are already complete in `inner`, so `inner` only waits for other
            // operations.
            let inside = missing.saturating_sub(self.held.len());
            let reaped = self.inner.reap(inside, &mut self.fresh);
            let idle = self.fresh.is_empty();
            self.spoil(into);
            reaped?;
            let wait = self.release(into);
            match wait {
                Some(wait) if into.len() < before + least => counter::sleep(wait),
                None if into.len() < before + least && !idle => {}
                _ => return Ok(()),
            }
        }
    }

    fn buffers(&mut self) -> &mut IoBuffers {
        self.inner.buffers()
    }

    fn remarks(&self) -> &[String] {
        self.inner.remarks()
    }
}
