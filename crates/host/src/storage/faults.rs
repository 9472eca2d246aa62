//! An engine that fails on purpose, around any other: for tests of what has to survive failing
//! devices.

use super::{IO_ERROR, IoBuffers, IoCompletion, IoEngine, IoRequest};
use crate::counter;
use units::Nanos;
use units::error::Result;

/// Faults to inject, counted over all completions; 0 is never.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faults {
    /// Number of operations after which one ends with `error`.
    pub error_every: u64,
    /// The system's number of that error.
    pub error: i32,
    /// Number of operations after which one reports half of its bytes.
    pub short_every: u64,
    /// Number of operations after which one is held back for `delay`.
    pub delay_every: u64,
    /// How long.
    pub delay: Nanos,
}

impl Default for Faults {
    /// Nothing goes wrong; errors would be those of a broken device.
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

/// An engine whose operations are those of the one inside, but for the faults.
pub struct Faulty {
    inner: Box<dyn IoEngine>,
    faults: Faults,
    completed: u64,
    held: Vec<(Nanos, IoCompletion)>,
    fresh: Vec<IoCompletion>,
}

impl Faulty {
    /// Makes `inner` fail.
    pub fn new(inner: Box<dyn IoEngine>, faults: Faults) -> Faulty {
        Faulty {
            inner,
            faults,
            completed: 0,
            held: Vec::new(),
            fresh: Vec::new(),
        }
    }

    /// Takes what the engine inside completed, spoils it, and hands over what is not held back.
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

    /// Hands over what was held back for long enough; says for how long to wait for the next one.
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
        // Completions held back count as in flight, so that the depth stays the same.
        let room = self.inner.buffers().slots().saturating_sub(self.held.len());
        self.inner.submit(&requests[..room.min(requests.len())])
    }

    fn reap(&mut self, least: usize, into: &mut Vec<IoCompletion>) -> Result<()> {
        let before = into.len();
        loop {
            let missing = (before + least).saturating_sub(into.len());
            // Completions held back come by themselves; the engine inside is waited for only for
            // the others.
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
