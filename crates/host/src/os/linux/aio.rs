//! Linux native asynchronous I/O (io_setup(2), io_submit(2), io_getevents(2); linux/aio_abi.h).
//!
//! Operations are only asynchronous with direct I/O. Through the page cache, io_submit returns when
//! the transfer is complete.

use super::operations::Operations;
use crate::counter;
use crate::storage::{
    Admission, Direct, EngineSettings, IoBuffers, IoCompletion, IoEngine, IoRequest, LONGEST_WAIT,
    Ready, Target, Transfer, number_of,
};
use std::io;
use std::os::fd::AsRawFd;
use units::error::{Error, Result};

/// A control block, which describes one operation to the kernel (struct iocb).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ControlBlock {
    data: u64,
    /// The kernel's key and the flags of the transfer. Their order depends on the machine, but both
    /// are zero.
    key_and_flags: [u32; 2],
    opcode: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_descriptor: u32,
}

/// Result of an operation (struct io_event).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    block: u64,
    result: i64,
    second: i64,
}

const _: () = assert!(size_of::<ControlBlock>() == 64 && size_of::<Event>() == 32);

/// A queue of operations in the kernel. Dropping the queue waits for all of its operations, unless
/// `given_up` is set.
struct Context {
    number: libc::c_ulong,
    given_up: bool,
}

/// Timeout of [`libc::SYS_io_getevents`]. The fields have the width of a machine word, whatever the
/// C library's types are.
#[repr(C)]
struct Limit {
    seconds: libc::c_long,
    nanoseconds: libc::c_long,
}

impl Context {
    fn new(depth: usize) -> io::Result<Context> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes the number of the queue.
        let result =
            unsafe { libc::syscall(libc::SYS_io_setup, depth as libc::c_ulong, &raw mut context) };
        if result == 0 {
            Ok(Context {
                number: context,
                given_up: false,
            })
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.given_up {
            return;
        }
        // SAFETY: the queue is this object's. The call waits for operations in flight, whose
        // buffers live until then.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.number) };
    }
}

/// The engine. The queue is the first field, so it is dropped before the buffers. Dropping the
/// queue ends all operations on the buffers.
struct NativeAio {
    context: Context,
    blocks: Vec<ControlBlock>,
    /// Addresses of the control blocks to submit.
    batch: Vec<usize>,
    events: Vec<Event>,
    operations: Operations,
    targets: Vec<Target>,
    buffers: IoBuffers,
    ready: Ready,
    remarks: Vec<String>,
}

/// `Ok` if the kernel has native AIO and lets this process use it. The error is the reason why not.
pub fn native_aio_availability() -> std::result::Result<(), String> {
    Context::new(1).map(drop).map_err(|error| reason(&error))
}

/// Reason why the kernel did not create a queue, in words.
fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOSYS) => "the kernel was built without it".to_owned(),
        Some(libc::EPERM | libc::EACCES) => {
            "a container's filter of system calls forbids it".to_owned()
        }
        Some(libc::EAGAIN) => {
            "all queues that the system allows are in use (fs.aio-max-nr)".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Opens an engine that transfers from and to `targets`.
pub fn open_native_aio(targets: &[Target], settings: &EngineSettings) -> Result<Box<dyn IoEngine>> {
    Ok(Box::new(opened(targets, settings)?))
}

fn opened(targets: &[Target], settings: &EngineSettings) -> Result<NativeAio> {
    let buffers = IoBuffers::new(settings.depth, settings.block, settings.misalign)?;
    let context = Context::new(settings.depth).map_err(|error| {
        let depth = settings.depth;
        Error::failure(format!(
            "cannot use engine aio at depth {depth}: {}; use --engine sync",
            reason(&error)
        ))
    })?;
    let cached = targets
        .iter()
        .any(|target| !matches!(target.direct(), Direct::Granted { .. }));
    let remark = "aio waits for every transfer through the page cache: one operation is in \
         flight, whatever the depth";
    Ok(NativeAio {
        context,
        blocks: vec![ControlBlock::default(); settings.depth],
        batch: Vec::with_capacity(settings.depth),
        events: vec![Event::default(); settings.depth],
        operations: Operations::new(settings.depth),
        targets: targets.to_vec(),
        buffers,
        ready: Ready::default(),
        remarks: cached.then(|| remark.to_owned()).into_iter().collect(),
    })
}

impl NativeAio {
    /// Puts as many of the first requests as possible into the batch. Returns the number taken. An
    /// invalid request ends the batch, so that completions keep the order of the requests.
    fn prepare(&mut self, requests: &[IoRequest]) -> usize {
        self.batch.clear();
        for (taken, request) in requests.iter().enumerate() {
            if !self.operations.has_room() {
                return taken;
            }
            let (address, slot) =
                match Admission::admit(request, self.targets.len(), &mut self.buffers) {
                    Admission::Move(address) => (address.as_ptr() as u64, Some(request.slot)),
                    Admission::Sync => (0, None),
                    Admission::Refused if self.batch.is_empty() => {
                        self.ready.refused(request.tag);
                        continue;
                    }
                    Admission::Refused => return taken,
                };
            let Some(at) = self.operations.begin(request.tag, slot) else {
                return taken;
            };
            let moves = request.transfer.moves_data();
            self.blocks[at] = ControlBlock {
                data: at as u64,
                opcode: match request.transfer {
                    Transfer::Read => 0,
                    Transfer::Write => 1,
                    Transfer::Sync => 2,
                    Transfer::DataSync => 3,
                },
                descriptor: self.targets[request.target].file().as_raw_fd() as u32,
                buffer: address,
                bytes: if moves { request.bytes as u64 } else { 0 },
                offset: if moves { request.offset as i64 } else { 0 },
                ..ControlBlock::default()
            };
            self.batch.push(&raw const self.blocks[at] as usize);
        }
        requests.len()
    }

    /// Submits the batch to the kernel. Returns the number of operations that were not taken.
    fn send(&mut self) -> usize {
        let mut sent = 0;
        while sent < self.batch.len() {
            let rest = &self.batch[sent..];
            // SAFETY: the addresses are addresses of control blocks, which live as long as the
            // engine. Each block describes a lent buffer, which is neither touched nor freed before
            // its event was read or the queue destroyed.
            let result = unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context.number,
                    AT_ONCE,
                    rest.as_ptr(),
                )
            };
            if let Ok(count @ 1..) = usize::try_from(result) {
                sent += count;
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                // The queue is full, and the next completion makes room.
                Some(libc::EAGAIN) if self.operations.in_flight() > rest.len() => {
                    return rest.len();
                }
                // The kernel rejects the first of the remaining operations.
                _ => {
                    self.finish_first_of(sent, number_of(&error));
                    sent += 1;
                }
            }
        }
        0
    }

    /// Ends the operation at index `place` of the batch with an error.
    fn finish_first_of(&mut self, place: usize, error: i32) {
        if let Some(tag) = self
            .operation_at(place)
            .and_then(|at| self.operations.end(at, &mut self.buffers))
        {
            self.ready.ended(tag, Err(error));
        }
    }

    /// Number of the operation at index `place` of the batch.
    fn operation_at(&self, place: usize) -> Option<usize> {
        let first = self.blocks.as_ptr() as usize;
        self.batch
            .get(place)
            .map(|address| (address - first) / size_of::<ControlBlock>())
    }
}

/// Number of operations that one system call submits. The kernel holds back the operations of a
/// call until the last one is ready, so the device would get the first of many late.
const AT_ONCE: libc::c_long = 1;

impl IoEngine for NativeAio {
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize> {
        let taken = self.prepare(requests);
        let left = self.send();
        for place in self.batch.len() - left..self.batch.len() {
            if let Some(at) = self.operation_at(place) {
                self.operations.end(at, &mut self.buffers);
            }
        }
        Ok(taken - left)
    }

    fn reap(&mut self, least: usize, into: &mut Vec<IoCompletion>) -> Result<()> {
        self.reap_within(
            Limit {
                seconds: LONGEST_WAIT.secs() as libc::c_long,
                nanoseconds: 0,
            },
            least,
            into,
        )
    }

    fn buffers(&mut self) -> &mut IoBuffers {
        &mut self.buffers
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

impl NativeAio {
    /// Appends completions to `into`. Waits for `least` of them, but at most for the time `limit`
    /// in each system call.
    fn reap_within(
        &mut self,
        mut limit: Limit,
        least: usize,
        into: &mut Vec<IoCompletion>,
    ) -> Result<()> {
        let mut missing = least.saturating_sub(self.ready.waiting());
        self.ready.drain(into);
        while self.operations.in_flight() > 0 {
            let wait = missing.min(self.operations.in_flight());
            // SAFETY: the kernel writes at most as many events as there is room for, and reads the
            // time.
            let result = unsafe {
                libc::syscall(
                    libc::SYS_io_getevents,
                    self.context.number,
                    wait as libc::c_long,
                    self.events.len() as libc::c_long,
                    self.events.as_mut_ptr(),
                    &raw mut limit,
                )
            };
            let now = counter::ticks();
            let Ok(count) = usize::try_from(result) else {
                let error = io::Error::last_os_error();
                // The signal may be a stop request, so the caller has to check its stop flag.
                if error.kind() == io::ErrorKind::Interrupted {
                    break;
                }
                return Err(Error::failure(format!(
                    "cannot wait for engine aio: {error}; use --engine sync"
                )));
            };
            for event in self.events.iter().take(count) {
                let Some(tag) = self.operations.end(event.data as usize, &mut self.buffers) else {
                    continue;
                };
                let result =
                    usize::try_from(event.result).map_err(|_| event.result.unsigned_abs() as i32);
                into.push(IoCompletion {
                    tag,
                    result,
                    at: now,
                });
            }
            // If there are fewer completions than waited for, the timeout has expired.
            missing = missing.saturating_sub(count);
            if missing == 0 || count < wait {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for NativeAio {
    fn drop(&mut self) {
        self.leave_behind();
    }
}

impl NativeAio {
    /// Waits a short time for operations in flight. Operations that do not end in this time are
    /// abandoned.
    fn leave_behind(&mut self) {
        // The wait is short, because the engines of many threads end one after another.
        let limit = Limit {
            seconds: 0,
            nanoseconds: 100_000_000,
        };
        let left = self.operations.in_flight();
        if left > 0
            && (self.reap_within(limit, left, &mut Vec::new()).is_err()
                || self.operations.in_flight() > 0)
        {
            // Destroying the queue would wait for a hanging device without end. Leaking the queue
            // and the buffers is better than freeing memory that the kernel overwrites later.
            self.context.given_up = true;
            self.buffers.leak();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::{hanging, target};
    use super::*;

    /// The test submits a poll that never completes, like an operation of a device that hangs.
    #[test]
    fn a_device_that_hangs_holds_up_neither_reaping_nor_the_end() {
        if let Err(why) = native_aio_availability() {
            return println!("skipped: aio: {why}");
        }
        let (_folder, target) = target();
        let mut engine = opened(&[target], &EngineSettings::default()).unwrap();
        let (_write, read) = hanging();
        assert!(engine.buffers.lend(0).is_some());
        let at = engine.operations.begin(7, Some(0)).unwrap();
        const POLL: u16 = 5;
        engine.blocks[at] = ControlBlock {
            data: at as u64,
            opcode: POLL,
            descriptor: read.as_raw_fd() as u32,
            buffer: libc::POLLIN as u64,
            ..ControlBlock::default()
        };
        engine.batch = vec![&raw const engine.blocks[at] as usize];
        assert_eq!(engine.send(), 0);
        let mut over = Vec::new();
        if engine.ready.waiting() > 0 {
            return println!("skipped: this kernel's aio cannot poll");
        }
        engine.reap(1, &mut over).unwrap();
        assert!(
            over.is_empty() && engine.operations.in_flight() == 1,
            "{over:?}"
        );
        // If the queue is destroyed, the kernel cancels a poll, but not an operation of a device.
        engine.leave_behind();
        assert!(engine.context.given_up);
        drop(engine);
    }
}
