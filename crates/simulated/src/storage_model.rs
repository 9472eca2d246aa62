//! A simulated storage device with a clock of its own.

use engine::Failure;
use host::interrupt::StopFlag;
use host::storage::{
    IO_ERROR, IoBuffers, IoCompletion, IoEngine, IoRequest, LONGEST_WAIT, Transfer,
};
use stats::{SplitMix64, derive};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use storage::content::Contents;
use storage::observe::{self, StorageWindow};
use storage::pace::Window;
use storage::target::IoTarget;
use storage::walk::Walk;
use storage::work::{IoFile, IoWork, Permission};
use storage::worker::{Ticker, WorkerQueue, WorkerWindow, run};
use units::error::Result;
use units::{Bytes, Nanos};

/// Costs and faults of a simulated storage device, on which all files lie.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageModel {
    /// Size of the device.
    pub size: Bytes,
    /// Size of the device's logical block.
    pub logical_block: Bytes,
    /// `Ok` if direct I/O is possible; otherwise the reason why not.
    pub direct: std::result::Result<(), String>,
    /// Time of a read.
    pub read: Nanos,
    /// Time of a write.
    pub write: Nanos,
    /// Extra time of a read or write for each GiB of distance from the previous operation.
    pub seek: Nanos,
    /// Time of a flush.
    pub flush: Nanos,
    /// Number of operations that the device executes at the same time.
    pub parallelism: u32,
    /// Largest random extra time of an operation, as a share of its time.
    pub jitter: f64,
    /// One in this many operations takes twenty times as long; 0 for none.
    pub slow_every: u64,
    /// One in this many operations fails with EIO; 0 for none.
    pub error_every: u64,
    /// One in this many operations transfers half of its bytes; 0 for none.
    pub short_every: u64,
    /// After this number of operations of a thread, none of its further operations completes; 0 if
    /// all operations complete.
    pub hangs_after: u64,
    /// One in this many reads returns data that differs from the written data; 0 for none.
    pub wrong_every: u64,
}

impl Default for StorageModel {
    /// A device of 1 GiB that executes 8 operations of 1 ms at once, without faults.
    fn default() -> Self {
        Self {
            size: Bytes::gib(1),
            logical_block: Bytes(512),
            direct: Ok(()),
            read: Nanos(1e6),
            write: Nanos(1e6),
            seek: Nanos::ZERO,
            flush: Nanos(2e6),
            parallelism: 8,
            jitter: 0.0,
            slow_every: 0,
            error_every: 0,
            short_every: 0,
            hangs_after: 0,
            wrong_every: 0,
        }
    }
}

impl StorageModel {
    /// Facts about `file` before it is opened.
    pub fn target(&self, file: &IoFile) -> IoTarget {
        let size = if let Permission::Create { size, .. } = file.permission {
            size
        } else {
            self.size
        };
        IoTarget {
            size: size.0,
            kind: "simulated".to_owned(),
            logical_block: self.logical_block.0,
            direct: self.direct.clone(),
            remarks: Vec::new(),
        }
    }
}

/// Clock of the simulated device, in ns. All clones share one time.
#[derive(Debug, Clone, Default)]
struct SimulatedClock(Arc<AtomicU64>);

impl SimulatedClock {
    fn set(&self, tick: u64) {
        self.0.store(tick, Ordering::Relaxed);
    }
}

/// Time in ns that it takes to look for completions, or to submit a request.
const QUEUE_CHECK: u64 = 500;

impl Ticker for SimulatedClock {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn wait_until(&self, tick: u64) {
        self.0.fetch_max(tick, Ordering::Relaxed);
    }

    fn compute(&self, additions: u32) {
        self.0.fetch_add(u64::from(additions), Ordering::Relaxed);
    }
}

/// Part of the device that one thread uses.
struct Device {
    model: StorageModel,
    clock: SimulatedClock,
    /// Time in ns at which each of the parallel servers is free again.
    servers: Vec<u64>,
    /// Factor on the time of an operation. It is above 1 if other threads use the device too.
    share: f64,
    under_way: Vec<IoCompletion>,
    /// Offset of the previous operation, from which a seek starts.
    head: u64,
    random: SplitMix64,
    count: u64,
    buffers: IoBuffers,
    contents: Contents,
}

impl Device {
    fn service(&mut self, request: &IoRequest) -> u64 {
        let model = &self.model;
        let mut seek = Nanos::ZERO;
        if request.transfer.moves_data() {
            seek =
                model.seek * (self.head.abs_diff(request.offset) as f64 / Bytes::gib(1).0 as f64);
            self.head = request.offset;
        }
        let one = match request.transfer {
            Transfer::Read => model.read + seek,
            Transfer::Write => model.write + seek,
            Transfer::Sync | Transfer::DataSync => model.flush,
        };
        let slow = if is_nth(self.count, model.slow_every) {
            20.0
        } else {
            1.0
        };
        (one.0 * self.share * slow * (1.0 + model.jitter * self.random.fraction())) as u64
    }

    /// True if operations no longer complete.
    fn hangs(&self) -> bool {
        self.model.hangs_after > 0 && self.count > self.model.hangs_after
    }

    fn result(&mut self, request: &IoRequest) -> std::result::Result<usize, i32> {
        if !request.transfer.moves_data() {
            return Ok(0);
        }
        let end = request.offset.saturating_add(request.bytes as u64);
        if is_nth(self.count, self.model.error_every) {
            return Err(IO_ERROR);
        }
        if is_nth(self.count, self.model.short_every) {
            return Ok(request.bytes / 2);
        }
        let wrong = is_nth(self.count, self.model.wrong_every);
        if request.transfer == Transfer::Read
            && let Some(buffer) = self.buffers.slot_mut(request.slot)
        {
            self.contents
                .make(request.slot, &mut buffer[..request.bytes], request.offset);
            if let Some(byte) = buffer.first_mut().filter(|_| wrong) {
                *byte ^= 1;
            }
        }
        let there = self
            .model
            .size
            .0
            .saturating_sub(request.offset)
            .min(end - request.offset);
        Ok(usize::try_from(there).unwrap_or(request.bytes))
    }
}

/// Completion time of an operation that never completes.
const NEVER: u64 = u64::MAX;

fn is_nth(count: u64, every: u64) -> bool {
    every > 0 && count.is_multiple_of(every)
}

impl IoEngine for Device {
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize> {
        for request in requests {
            self.count += 1;
            let now = self.clock.0.fetch_add(QUEUE_CHECK, Ordering::Relaxed) + QUEUE_CHECK;
            let service = self.service(request);
            let result = self.result(request);
            let free = self.servers.iter_mut().min_by_key(|at| **at);
            let at = free.map_or(now, |server| {
                *server = (*server).max(now) + service;
                *server
            });
            let at = if self.hangs() { NEVER } else { at };
            self.under_way.push(IoCompletion {
                tag: request.tag,
                result,
                at,
            });
        }
        Ok(requests.len())
    }

    fn reap(&mut self, least: usize, into: &mut Vec<IoCompletion>) -> Result<()> {
        self.under_way.sort_by_key(|c| c.at);
        if let Some(last) = least.min(self.under_way.len()).checked_sub(1) {
            // The wait is at most `LONGEST_WAIT`, as with the engines of real devices.
            let longest = self.clock.now().saturating_add(LONGEST_WAIT.0 as u64);
            self.clock.wait_until(self.under_way[last].at.min(longest));
        }
        let now = self.clock.0.fetch_add(QUEUE_CHECK, Ordering::Relaxed);
        let done = self.under_way.partition_point(|c| c.at <= now);
        into.extend(self.under_way.drain(..done));
        Ok(())
    }

    fn buffers(&mut self) -> &mut IoBuffers {
        &mut self.buffers
    }
}

/// Simulated device with its clock, and the state of each work.
#[derive(Default)]
pub struct SimulatedStorage {
    clock: SimulatedClock,
    queues: BTreeMap<IoWork, (Vec<WorkerQueue>, Option<u64>)>,
}

impl std::fmt::Debug for SimulatedStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimulatedStorage")
            .field("works", &self.queues.len())
            .finish()
    }
}

impl SimulatedStorage {
    /// Creates the queues of `work`, unless they exist already.
    pub fn prepare(
        &mut self,
        work: &IoWork,
        model: &StorageModel,
    ) -> std::result::Result<(), Failure> {
        if self.queues.contains_key(work) {
            return Ok(());
        }
        let queues = (0..work.cpus.len()).map(|thread| self.queue(work, model, thread));
        let queues = queues.collect::<Result<Vec<_>>>()?;
        self.queues.insert(
            work.clone(),
            (queues, work.total().filter(|_| work.is_counted())),
        );
        Ok(())
    }

    fn queue(&self, work: &IoWork, model: &StorageModel, thread: usize) -> Result<WorkerQueue> {
        let threads = work.cpus.len().max(1) as u32;
        let device = Device {
            model: model.clone(),
            clock: self.clock.clone(),
            servers: vec![0; (model.parallelism / threads).max(1) as usize],
            share: f64::from(threads) / f64::from(model.parallelism.max(1)).min(f64::from(threads)),
            under_way: Vec::new(),
            head: 0,
            random: SplitMix64::new(derive(work.seed, "device", thread as u64)),
            count: 0,
            buffers: IoBuffers::new(work.depth.max(1) as usize, work.block.to_usize(), 0)?,
            contents: Contents::new(storage::work::Content::Pattern, 0),
        };
        Ok(WorkerQueue::new(
            Box::new(device),
            Walk::new(work, thread),
            Contents::new(work.content, work.seed),
        ))
    }

    /// Executes a window of `work` that begins at `now`. Returns the figures of the window, and the
    /// time until its last operation was done.
    pub fn sample(
        &mut self,
        work: &IoWork,
        model: &StorageModel,
        (now, length): (Nanos, Nanos),
    ) -> std::result::Result<(StorageWindow, Nanos), Failure> {
        let missing =
            || Failure::Failed("a window was requested before its work was prepared".to_owned());
        let (queues, left) = self.queues.get_mut(work).ok_or_else(missing)?;
        let start = now.0 as u64;
        let threads = queues.len();
        let quota = observe::quota(work, *left);
        let done = work.total().unwrap_or(0) - left.unwrap_or(0);
        let mut all: Vec<WorkerWindow> = Vec::new();
        let mut last: u64 = start;
        for (thread, queue) in queues.iter_mut().enumerate() {
            self.clock.set(start);
            let window = Window {
                thread,
                start,
                end: start + observe::length(work, length).0 as u64,
                most: quota.map(|quota| observe::share(quota, done, thread, threads)),
                rate: 1.0,
                traced: false,
                stop: StopFlag::never(),
            };
            all.push(run(queue, work, &window, &self.clock)?);
            last = last.max(self.clock.now());
        }
        if let (Some(left), Some(quota)) = (left.as_mut(), quota) {
            *left = left.saturating_sub(quota);
        }
        let window = (start, start + length.0 as u64, 1.0);
        let mut seen = StorageWindow::from_threads(work, &all, window)?;
        seen.is_last |= *left == Some(0);
        seen.direct = work.direct && model.direct.is_ok();
        seen.remarks = model
            .direct
            .as_ref()
            .err()
            .filter(|_| work.direct)
            .cloned()
            .into_iter()
            .collect();
        seen.begin = now;
        Ok((seen, Nanos((last - start) as f64)))
    }
}
