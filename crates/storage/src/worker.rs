//! Work of one thread in a window: keeps its places busy, times every operation, counts failures.
//!
//! The same loop runs on this machine and on a simulated device: both are an [`IoEngine`] and a
//! [`Ticker`].

use super::content::Contents;
use super::pace::{Schedule, Window};
use super::seeks::SeekTimes;
use super::walk::Walk;
use super::work::{Flush, IoWork, Step};
use engine::Failure;
use host::storage::{IoCompletion, IoEngine, IoRequest, Transfer};
use stats::Histogram;
use std::collections::{BTreeMap, BTreeSet};
use units::Nanos;

/// The clock that operations are timed with.
pub trait Ticker {
    /// Ticks since some start.
    fn now(&self) -> u64;

    /// Returns at this tick, or a little later.
    fn wait_until(&self, tick: u64);

    /// Does this many additions, each of which needs the one before it.
    fn compute(&self, additions: u32);
}

/// A thread's engine and how far it is; lives from window to window.
pub struct WorkerQueue {
    /// Engine that carries requests out.
    pub engine: Box<dyn IoEngine>,
    /// Source of the next operation.
    pub walk: Walk,
    /// Data to write, and data that reads are compared with.
    pub contents: Contents,
    /// Taken from the walk and not begun in the window before.
    pub pending: Option<Step>,
    /// Writes since the last flush.
    pub unflushed: u32,
    /// Files written to since then.
    pub disturbance: BTreeSet<usize>,
    /// Time of the recording that earlier windows have covered, in ticks.
    pub covered: u64,
}

impl WorkerQueue {
    /// A thread at its beginning.
    pub fn new(engine: Box<dyn IoEngine>, walk: Walk, contents: Contents) -> Self {
        Self {
            engine,
            walk,
            contents,
            pending: None,
            unflushed: 0,
            disturbance: BTreeSet::new(),
            covered: 0,
        }
    }
}

/// One operation, noted; times in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noted {
    /// Operation and its offset.
    pub step: Step,
    /// Read, write or flush.
    pub transfer: Transfer,
    /// When it was due.
    pub due: u64,
    /// When it was submitted.
    pub issued: u64,
    /// When it was found complete.
    pub done: u64,
    /// Bytes moved, or the number of the error.
    pub result: Result<usize, i32>,
}

/// Figures of one thread in a window; latencies in ns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkerWindow {
    /// Whole transfers that were completed inside.
    pub inside: u64,
    /// Bytes that they moved.
    pub inside_bytes: u64,
    /// Whole transfers, those completed after the end among them.
    pub whole: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Reads.
    pub reads: Histogram,
    /// Writes.
    pub writes: Histogram,
    /// Flushes.
    pub flushes: Histogram,
    /// Latencies of whole transfers by distance, where the order of blocks is about distances.
    pub seeks: SeekTimes,
    /// Failed operations by the system's number of the error.
    pub errors: BTreeMap<i32, u64>,
    /// The first of them, with what it was.
    pub fault: Option<(Step, Transfer, i32)>,
    /// Transfers of fewer bytes than requested.
    pub short: u64,
    /// Blocks with other content than was written.
    pub wrong: u64,
    /// Operations of a rate that were due.
    pub due: u64,
    /// Due operations that were never begun.
    pub behind: u64,
    /// Tick of the first completion of a whole transfer, and of the last one.
    pub first: Option<u64>,
    /// Tick of the last completion.
    pub last: u64,
    /// Whether there is nothing left to do.
    pub exhausted: bool,
    /// Every operation, where that was requested.
    pub noted: Vec<Noted>,
}

/// An engine that tells nothing for so long has lost something, or its device hangs.
const PATIENCE: Nanos = Nanos(120e9);

/// The same once the run is to end: nothing of this window counts any more.
const PATIENCE_AT_END: Nanos = Nanos(5e9);

/// An operation under way.
#[derive(Debug, Clone, Copy)]
struct Busy {
    step: Step,
    transfer: Transfer,
    due: u64,
    issued: u64,
    /// Bytes from the operation before, where that counts.
    distance: Option<u64>,
}

/// A window under way.
struct Turn<'a, T: Ticker> {
    lane: &'a mut WorkerQueue,
    work: &'a IoWork,
    window: &'a Window,
    ticker: &'a T,
    schedule: Schedule,
    seen: WorkerWindow,
    /// Free places with the tick from which on they may be used.
    free: Vec<(u64, usize)>,
    busy: Vec<Option<Busy>>,
    batch: Vec<IoRequest>,
    in_flight: usize,
    begun: u64,
    completions: Vec<IoCompletion>,
    /// Since when the engine tells nothing though something is under way.
    silent_since: Option<u64>,
    /// The operation begun last, where distances count: its file and where in it.
    last: Option<(usize, u64)>,
    seeks: bool,
}

/// Does the operations of one thread in a window and waits for the last of them.
///
/// # Errors
/// Error of the engine as a whole. Failures of single operations are in the figures.
pub fn run<T: Ticker>(
    lane: &mut WorkerQueue,
    work: &IoWork,
    window: &Window,
    ticker: &T,
) -> Result<WorkerWindow, Failure> {
    let places = work.depth.max(1) as usize;
    let schedule = Schedule::new(work, window, lane.covered);
    let mut turn = Turn {
        lane,
        work,
        window,
        ticker,
        schedule,
        seen: WorkerWindow::default(),
        free: (0..places).rev().map(|slot| (0, slot)).collect(),
        busy: vec![None; places],
        batch: Vec::with_capacity(places),
        in_flight: 0,
        begun: 0,
        completions: Vec::with_capacity(places),
        silent_since: None,
        last: None,
        seeks: SeekTimes::are_asked(work),
    };
    turn.go()?;
    let Turn {
        mut seen,
        begun,
        schedule,
        ..
    } = turn;
    // A window that ends with a number has nothing due after it.
    seen.due = if window.most.is_some() {
        0
    } else {
        schedule.due_before(window.end)
    };
    seen.behind = if window.stop.is_set() {
        0
    } else {
        seen.due.saturating_sub(begun)
    };
    lane.covered += window.end.saturating_sub(window.start);
    Ok(seen)
}

impl<T: Ticker> Turn<'_, T> {
    fn go(&mut self) -> Result<(), Failure> {
        loop {
            self.begin()?;
            if self.in_flight == 0 {
                if self.must_flush() {
                    self.flush()?;
                } else if self.is_over() {
                    return Ok(());
                } else {
                    self.ticker.wait_until(self.next_due().min(self.window.end));
                }
                self.silent_since = None;
                continue;
            }
            self.reap()?;
            self.settle();
        }
    }

    /// Whether nothing more is begun in this window.
    fn is_over(&mut self) -> bool {
        let ended = (self.seen.fault.is_some() && !self.work.continue_on_error)
            || self.window.most.is_some_and(|most| self.begun >= most)
            || self.window.stop.is_set()
            || self.ticker.now() >= self.window.end;
        if ended {
            return true;
        }
        if self.lane.pending.is_none() {
            self.lane.pending = self.lane.walk.next();
            self.seen.exhausted = self.lane.pending.is_none();
        }
        self.seen.exhausted
    }

    /// Whether a flush is due, for which everything under way has to be done first.
    fn must_flush(&self) -> bool {
        self.work
            .flush
            .is_some_and(|(after, _)| self.lane.unflushed >= after)
    }

    /// When the next operation may begin, as far as time decides that.
    fn next_due(&self) -> u64 {
        match self.schedule.due(self.begun, self.lane.pending.as_ref()) {
            Some(due) => due,
            None if self.work.think_ns == 0 => 0,
            None => self.free.iter().map(|(ready, _)| *ready).min().unwrap_or(0),
        }
    }

    /// Submits what may begin now.
    fn begin(&mut self) -> Result<(), Failure> {
        while !self.free.is_empty() && !self.must_flush() && !self.is_over() {
            let due = self.next_due();
            if due > 0 && due > self.ticker.now() {
                break;
            }
            let Some(step) = self.lane.pending.take() else {
                break;
            };
            self.take_up(step, due);
            // Computing for the next operation must not delay this one.
            if self.work.compute > 0 {
                self.submit()?;
            }
        }
        self.submit()
    }

    /// Gives `step` a place: where they rest, the one that is free for longest.
    fn take_up(&mut self, step: Step, due: u64) {
        let rests = self.work.think_ns > 0;
        let oldest = || (0..self.free.len()).min_by_key(|&i| self.free[i].0);
        let rested = if rests { oldest() } else { None };
        let place = rested
            .map(|i| self.free.swap_remove(i))
            .or_else(|| self.free.pop());
        let Some((_, slot)) = place else { return };
        if self.work.compute > 0 {
            self.ticker.compute(self.work.compute);
        }
        let transfer = if step.write {
            Transfer::Write
        } else {
            Transfer::Read
        };
        if step.write
            && let Some(buffer) = self.lane.engine.buffers().slot_mut(slot)
        {
            self.lane
                .contents
                .make(slot, &mut buffer[..step.bytes], step.offset);
        }
        let distance = if self.seeks {
            self.distance_to(&step)
        } else {
            None
        };
        self.busy[slot] = Some(Busy {
            step,
            transfer,
            due,
            issued: 0,
            distance,
        });
        let request = IoRequest {
            tag: slot as u64,
            target: step.file,
            slot,
            offset: step.offset,
            bytes: step.bytes,
            transfer,
        };
        self.batch.push(request);
        self.begun += 1;
    }

    /// Bytes from the operation before to this one; `None` for the first of a window, and from one
    /// file to another.
    fn distance_to(&mut self, step: &Step) -> Option<u64> {
        let (file, offset) = self.last.replace((step.file, step.offset))?;
        (file == step.file).then(|| offset.abs_diff(step.offset))
    }

    /// Hands over what is ready; what the queue has no room for stays.
    fn submit(&mut self) -> Result<(), Failure> {
        while !self.batch.is_empty() {
            let now = self.ticker.now();
            let paced = self.schedule.is_paced();
            for request in &self.batch {
                if let Some(busy) = &mut self.busy[request.slot] {
                    busy.issued = now;
                    busy.due = if paced { busy.due } else { now };
                }
            }
            let taken = self.lane.engine.submit(&self.batch)?.min(self.batch.len());
            self.in_flight += taken;
            self.batch.drain(..taken);
            if taken == 0 {
                if self.in_flight == 0 {
                    return Err(Failure::Failed("the engine takes no operation".to_owned()));
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits for a completion, but not where something is due before one may come.
    fn reap(&mut self) -> Result<(), Failure> {
        let waiting = !self.batch.is_empty();
        let timed = self.schedule.is_paced() || self.work.think_ns > 0;
        let looks =
            timed && !waiting && !self.free.is_empty() && !self.must_flush() && !self.is_over();
        self.take(usize::from(!looks))
    }

    /// Takes what is complete, waiting for `least` as long as the engine does.
    ///
    /// # Errors
    /// Nothing came for too long: its operations stay the engine's, which waits for them no more.
    fn take(&mut self, least: usize) -> Result<(), Failure> {
        self.completions.clear();
        self.lane.engine.reap(least, &mut self.completions)?;
        if !self.completions.is_empty() {
            self.silent_since = None;
            return Ok(());
        }
        let now = self.ticker.now();
        let silent = now.saturating_sub(*self.silent_since.get_or_insert(now));
        let silent = Nanos(silent as f64 / self.window.rate);
        match self.window.stop.is_set() {
            true if silent > PATIENCE_AT_END => Err(Failure::Interrupted),
            false if silent > PATIENCE => Err(Failure::Failed(format!(
                "the device hangs: {} operations under way did not come back in {PATIENCE}",
                self.in_flight
            ))),
            _ => Ok(()),
        }
    }

    fn settle(&mut self) {
        let mut completions = std::mem::take(&mut self.completions);
        for completion in completions.drain(..) {
            let slot = completion.tag as usize;
            let Some(busy) = self.busy.get_mut(slot).and_then(Option::take) else {
                continue;
            };
            self.in_flight -= 1;
            self.note(&busy, slot, &completion);
            self.free
                .push((completion.at + self.ticks(self.work.think_ns as f64), slot));
        }
        // Its memory serves the next ones.
        self.completions = completions;
    }

    fn ticks(&self, nanos: f64) -> u64 {
        (nanos * self.window.rate) as u64
    }

    /// Counts what became of an operation.
    fn note(&mut self, busy: &Busy, slot: usize, completion: &IoCompletion) {
        let seen = &mut self.seen;
        let at = completion.at;
        let step = &busy.step;
        seen.last = seen.last.max(at);
        let nanos = (at.saturating_sub(busy.due) as f64 / self.window.rate) as u64;
        match completion.result {
            Ok(_) if !busy.transfer.moves_data() => seen.flushes.add(nanos),
            Ok(moved) if moved == step.bytes => {
                seen.whole += 1;
                seen.bytes += moved as u64;
                seen.first = Some(seen.first.map_or(at, |first| first.min(at)));
                if at <= self.window.end {
                    seen.inside += 1;
                    seen.inside_bytes += moved as u64;
                }
                if let Some(distance) = busy.distance {
                    seen.seeks.add(distance, nanos);
                }
                if busy.transfer == Transfer::Write {
                    seen.writes.add(nanos);
                    self.lane.unflushed += 1;
                    self.lane.disturbance.insert(step.file);
                } else {
                    seen.reads.add(nanos);
                    self.lane.contents.overwritten(slot);
                    if self.work.verify
                        && let Some(buffer) = self.lane.engine.buffers().slot(slot)
                        && !self.lane.contents.is_right(&buffer[..moved], step.offset)
                    {
                        seen.wrong += 1;
                    }
                }
            }
            Ok(_) => seen.short += 1,
            Err(number) => {
                *seen.errors.entry(number).or_default() += 1;
                seen.fault.get_or_insert((*step, busy.transfer, number));
            }
        }
        if self.window.traced {
            let Busy {
                step,
                transfer,
                due,
                issued,
                ..
            } = *busy;
            self.seen.noted.push(Noted {
                step,
                transfer,
                due,
                issued,
                done: at,
                result: completion.result,
            });
        }
    }

    /// Flushes every file that was written to, one after another; nothing else is under way.
    fn flush(&mut self) -> Result<(), Failure> {
        let Some((_, kind)) = self.work.flush else {
            return Ok(());
        };
        let transfer = if kind == Flush::Sync {
            Transfer::Sync
        } else {
            Transfer::DataSync
        };
        self.lane.unflushed = 0;
        for file in std::mem::take(&mut self.lane.disturbance) {
            let Some((_, slot)) = self.free.pop() else {
                return Ok(());
            };
            let step = Step {
                file,
                offset: 0,
                bytes: 0,
                write: true,
                recorded: None,
            };
            let due = self.ticker.now();
            self.busy[slot] = Some(Busy {
                step,
                transfer,
                due,
                issued: due,
                distance: None,
            });
            self.batch.push(IoRequest {
                tag: slot as u64,
                target: file,
                slot,
                offset: 0,
                bytes: 0,
                transfer,
            });
            self.submit()?;
            while self.in_flight > 0 {
                self.take(1)?;
                self.settle();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
