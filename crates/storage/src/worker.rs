//! Executes one thread's part of a window: keeps its slots busy, times operations, counts failures.
//!
//! The loop is the same for real and for simulated devices. Each of them has an [`IoEngine`] and a
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

/// The clock that times operations.
pub trait Ticker {
    /// Ticks since an arbitrary start.
    fn now(&self) -> u64;

    /// Waits until `tick`. A long wait may return earlier, so callers wait again in a loop.
    fn wait_until(&self, tick: u64);

    /// Spends the time of `additions` dependent additions.
    fn compute(&self, additions: u32);
}

/// Engine and progress of a thread. Both are kept from window to window.
pub struct WorkerQueue {
    /// Engine that executes requests.
    pub engine: Box<dyn IoEngine>,
    /// Source of the next operation.
    pub walk: Walk,
    /// Source of the data to write, and of the data with which reads are compared.
    pub contents: Contents,
    /// Operation that the previous window took from `walk`, but did not begin.
    pub pending: Option<Step>,
    /// Number of writes since the last flush.
    pub unflushed: u32,
    /// Indices of the files that were written since the last flush.
    pub unflushed_files: BTreeSet<usize>,
    /// Length, in ticks, of the part of the recording that earlier windows have replayed.
    pub covered: u64,
}

impl WorkerQueue {
    /// State of a thread before its first operation.
    pub fn new(engine: Box<dyn IoEngine>, walk: Walk, contents: Contents) -> Self {
        Self {
            engine,
            walk,
            contents,
            pending: None,
            unflushed: 0,
            unflushed_files: BTreeSet::new(),
            covered: 0,
        }
    }
}

/// Record of one operation. Times are in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEntry {
    /// The operation, with its file and offset.
    pub step: Step,
    /// Kind of transfer: read, write or flush.
    pub transfer: Transfer,
    /// Time at which the operation was due.
    pub due: u64,
    /// Time at which the operation was submitted to the engine.
    pub issued: u64,
    /// Time at which the thread found the completion of the operation.
    pub done: u64,
    /// Bytes moved, or the system's error number.
    pub result: Result<usize, i32>,
}

/// Figures of one thread in a window. Latencies are in ns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkerWindow {
    /// Number of complete transfers that ended before the end of the window.
    pub inside: u64,
    /// Number of complete transfers, which moved all requested bytes. Transfers that ended after
    /// the end of the window are included.
    pub whole: u64,
    /// Bytes that all complete transfers moved.
    pub bytes: u64,
    /// Latencies of reads.
    pub reads: Histogram,
    /// Latencies of writes.
    pub writes: Histogram,
    /// Latencies of flushes.
    pub flushes: Histogram,
    /// Latencies of complete transfers by distance. Empty unless the order of blocks varies the
    /// distance.
    pub seeks: SeekTimes,
    /// Number of failed operations, by the system's error number.
    pub errors: BTreeMap<i32, u64>,
    /// The first failure: the operation, its kind, and the system's error number.
    pub fault: Option<(Step, Transfer, i32)>,
    /// Number of transfers that moved fewer bytes than requested.
    pub short: u64,
    /// Number of blocks whose content differs from the written data.
    pub wrong: u64,
    /// Number of operations that were due at a fixed rate.
    pub due: u64,
    /// Number of due operations that were not begun.
    pub behind: u64,
    /// Tick at which the first complete transfer ended; `None` without a complete transfer.
    pub first: Option<u64>,
    /// Tick at which the last operation completed.
    pub last: u64,
    /// True if the thread has no operations left.
    pub exhausted: bool,
    /// A record of every operation if a trace was requested, otherwise empty.
    pub trace: Vec<TraceEntry>,
}

/// A window fails after this time without a completion, because the engine or its device hangs.
const HANG_TIMEOUT: Nanos = Nanos(120e9);

/// Limit for the time without a completion after the session was interrupted. It is shorter than
/// [`HANG_TIMEOUT`], because the window is discarded anyway.
const END_TIMEOUT: Nanos = Nanos(5e9);

/// An operation in flight.
#[derive(Debug, Clone, Copy)]
struct Busy {
    step: Step,
    transfer: Transfer,
    due: u64,
    issued: u64,
    /// Distance in bytes from the previous operation; `None` if latencies are not collected by
    /// distance.
    distance: Option<u64>,
}

/// State of a thread's loop during a window.
struct WindowRun<'a, T: Ticker> {
    queue: &'a mut WorkerQueue,
    work: &'a IoWork,
    window: &'a Window,
    ticker: &'a T,
    schedule: Schedule,
    seen: WorkerWindow,
    /// Free slots, each with the tick from which it may be used.
    free: Vec<(u64, usize)>,
    busy: Vec<Option<Busy>>,
    batch: Vec<IoRequest>,
    in_flight: usize,
    begun: u64,
    completions: Vec<IoCompletion>,
    /// Tick since which nothing has completed although operations are in flight.
    silent_since: Option<u64>,
    /// File and offset of the operation that was begun last.
    last: Option<(usize, u64)>,
    seeks: bool,
}

/// Executes the operations of one thread in a window, and waits until all of them have completed.
///
/// # Errors
/// The engine failed or hangs. A failure of a single operation is no error here, but is counted in
/// the result.
pub fn run<T: Ticker>(
    queue: &mut WorkerQueue,
    work: &IoWork,
    window: &Window,
    ticker: &T,
) -> Result<WorkerWindow, Failure> {
    let places = work.depth.max(1) as usize;
    let schedule = Schedule::new(work, window, queue.covered);
    let mut turn = WindowRun {
        queue,
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
        seeks: SeekTimes::are_requested(work),
    };
    turn.go()?;
    let WindowRun {
        mut seen,
        begun,
        schedule,
        ..
    } = turn;
    // Due operations are counted only at a fixed rate. If the window ends after a number of
    // operations, the runner counts them.
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
    queue.covered += window.end.saturating_sub(window.start);
    Ok(seen)
}

impl<T: Ticker> WindowRun<'_, T> {
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

    /// True if no further operation begins in this window. If false, the next operation is in
    /// `pending`.
    fn is_over(&mut self) -> bool {
        let ended = (self.seen.fault.is_some() && !self.work.continue_on_error)
            || self.window.most.is_some_and(|most| self.begun >= most)
            || self.window.stop.is_set()
            || self.ticker.now() >= self.window.end;
        if ended {
            return true;
        }
        if self.queue.pending.is_none() {
            self.queue.pending = self.queue.walk.next();
            self.seen.exhausted = self.queue.pending.is_none();
        }
        self.seen.exhausted
    }

    /// True if a flush is due. The operations in flight have to complete before the flush.
    fn must_flush(&self) -> bool {
        self.work
            .flush
            .is_some_and(|(after, _)| self.queue.unflushed >= after)
    }

    /// Tick at which the next operation may begin; 0 if it may begin at once.
    fn next_due(&self) -> u64 {
        match self.schedule.due(self.begun, self.queue.pending.as_ref()) {
            Some(due) => due,
            None if self.work.think_ns == 0 => 0,
            None => self.free.iter().map(|(ready, _)| *ready).min().unwrap_or(0),
        }
    }

    /// Submits the operations that may begin now.
    fn begin(&mut self) -> Result<(), Failure> {
        while !self.free.is_empty() && !self.must_flush() && !self.is_over() {
            let due = self.next_due();
            if due > 0 && due > self.ticker.now() {
                break;
            }
            let Some(step) = self.queue.pending.take() else {
                break;
            };
            self.take_up(step, due);
            // This operation is submitted first, because the additions for the next operation would
            // delay it.
            if self.work.compute > 0 {
                self.submit()?;
            }
        }
        self.submit()
    }

    /// Prepares `step` in a free slot. If there is think time, the free slot that may be used first
    /// is taken.
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
            && let Some(buffer) = self.queue.engine.buffers().slot_mut(slot)
        {
            self.queue
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

    /// Bytes between the offsets of the previous operation and of `step`. `None` for the first
    /// operation of a window, and if the file changes.
    fn distance_to(&mut self, step: &Step) -> Option<u64> {
        let (file, offset) = self.last.replace((step.file, step.offset))?;
        (file == step.file).then(|| offset.abs_diff(step.offset))
    }

    /// Submits the prepared operations. Operations that the engine does not accept yet stay in the
    /// batch.
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
            let taken = self.queue.engine.submit(&self.batch)?.min(self.batch.len());
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

    /// Waits for a completion. If another operation may become due before a completion, this
    /// function only polls.
    fn reap(&mut self) -> Result<(), Failure> {
        let waiting = !self.batch.is_empty();
        let timed = self.schedule.is_paced() || self.work.think_ns > 0;
        let looks =
            timed && !waiting && !self.free.is_empty() && !self.must_flush() && !self.is_over();
        self.take(usize::from(!looks))
    }

    /// Takes completions from the engine, at least `least` of them, unless the engine's wait ends
    /// earlier.
    ///
    /// # Errors
    /// No operation has completed for too long. The engine keeps the operations in flight, but
    /// nothing waits for them.
    fn take(&mut self, least: usize) -> Result<(), Failure> {
        self.completions.clear();
        self.queue.engine.reap(least, &mut self.completions)?;
        if !self.completions.is_empty() {
            self.silent_since = None;
            return Ok(());
        }
        let now = self.ticker.now();
        let silent = now.saturating_sub(*self.silent_since.get_or_insert(now));
        let silent = Nanos(silent as f64 / self.window.rate);
        match self.window.stop.is_set() {
            true if silent > END_TIMEOUT => Err(Failure::Interrupted),
            false if silent > HANG_TIMEOUT => Err(Failure::Failed(format!(
                "the device hangs: {} operations in flight did not come back in {HANG_TIMEOUT}",
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
        // The list is put back, so that its memory is used again.
        self.completions = completions;
    }

    fn ticks(&self, nanos: f64) -> u64 {
        (nanos * self.window.rate) as u64
    }

    /// Counts the result of the operation `busy`, which used `slot`.
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
                }
                if let Some(distance) = busy.distance {
                    seen.seeks.add(distance, nanos);
                }
                if busy.transfer == Transfer::Write {
                    seen.writes.add(nanos);
                    self.queue.unflushed += 1;
                    self.queue.unflushed_files.insert(step.file);
                } else {
                    seen.reads.add(nanos);
                    self.queue.contents.overwritten(slot);
                    if self.work.verify
                        && let Some(buffer) = self.queue.engine.buffers().slot(slot)
                        && !self.queue.contents.is_right(&buffer[..moved], step.offset)
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
            self.seen.trace.push(TraceEntry {
                step,
                transfer,
                due,
                issued,
                done: at,
                result: completion.result,
            });
        }
    }

    /// Flushes every file that was written since the last flush, one file after another. The caller
    /// ensures that no other operation is in flight.
    fn flush(&mut self) -> Result<(), Failure> {
        let Some((_, kind)) = self.work.flush else {
            return Ok(());
        };
        let transfer = if kind == Flush::Sync {
            Transfer::Sync
        } else {
            Transfer::DataSync
        };
        self.queue.unflushed = 0;
        for file in std::mem::take(&mut self.queue.unflushed_files) {
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
