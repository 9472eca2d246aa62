//! Linux io_uring (io_uring_setup(2), io_uring_enter(2)), with registered files and buffers, and
//! polled completions.

use super::operations::Operations;
use crate::counter;
use crate::storage::{
    Admission, Direct, EngineSettings, IoBuffers, IoCompletion, IoEngine, IoRequest, LONGEST_WAIT,
    Ready, Target, Transfer, number_of, synchronize,
};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue, types};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::NonNull;
use units::error::{Error, Result};

/// The engine. Dropping it waits for all operations in flight, and then frees ring and buffers. If
/// a device hangs, the wait ends and the buffers are leaked.
struct Uring {
    ring: IoUring,
    /// True while the ring is disabled, until the thread that uses the engine enables it.
    asleep: bool,
    /// True if completions only become visible after a system call.
    asks: bool,
    /// Timeout of the kernel's wait for completions; `None` before Linux 5.11, which has none.
    limit: Option<types::Timespec>,
    polls: bool,
    registered_files: bool,
    registered_buffers: bool,
    operations: Operations,
    targets: Vec<Target>,
    buffers: IoBuffers,
    ready: Ready,
    remarks: Vec<String>,
}

/// `Ok` if the kernel has io_uring, lets this process use it, and can transfer data. The error is
/// the reason why not.
pub fn io_uring_availability() -> std::result::Result<(), String> {
    let ring = IoUring::new(1).map_err(|error| reason(&error))?;
    if moves_to_any_buffer(&ring) || registers_a_buffer(&ring) {
        Ok(())
    } else {
        Err(CANNOT_MOVE_DATA.to_owned())
    }
}

/// Reason why the engine cannot be used with a kernel whose rings have no suitable transfers.
const CANNOT_MOVE_DATA: &str = "the kernel's io_uring has neither plain reads and writes (Linux \
                                5.6 and newer) nor registered buffers";

/// True if the kernel has reads and writes for buffers that are not registered. Linux 5.1 to 5.5
/// lack them, and also the call that reports them (io_uring_register(2), IORING_REGISTER_PROBE).
/// gVisor lacks both too.
fn moves_to_any_buffer(ring: &IoUring) -> bool {
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe).is_ok()
        && probe.is_supported(opcode::Read::CODE)
        && probe.is_supported(opcode::Write::CODE)
}

/// True if the kernel can register buffers. The function tries this with a small buffer.
fn registers_a_buffer(ring: &IoUring) -> bool {
    const SIZE: usize = 4096;
    let Ok(buffers) = IoBuffers::new(1, SIZE, 0) else {
        return false;
    };
    let ranges = io_vectors(&buffers);
    // SAFETY: the buffer lives until it is unregistered, or the ring is closed by the caller.
    let registered = unsafe { ring.submitter().register_buffers(&ranges) }.is_ok();
    registered && ring.submitter().unregister_buffers().is_ok()
}

/// Addresses and lengths of the buffers, as the kernel takes them.
fn io_vectors(buffers: &IoBuffers) -> Vec<libc::iovec> {
    let ranges = buffers.ranges().into_iter();
    ranges
        .map(|(start, length)| libc::iovec {
            iov_base: start.as_ptr().cast(),
            iov_len: length,
        })
        .collect()
}

/// Reason why the kernel did not create a ring, in words.
fn reason(error: &io::Error) -> String {
    let switched_off = || {
        let state =
            std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
        state.trim().parse().is_ok_and(|state: u32| state > 0)
    };
    match error.raw_os_error() {
        Some(libc::ENOSYS) => {
            "the kernel has no io_uring, or a container's filter of system calls hides it"
                .to_owned()
        }
        Some(libc::EPERM | libc::EACCES) if switched_off() => {
            "the administrator switched it off (kernel.io_uring_disabled)".to_owned()
        }
        Some(libc::EPERM | libc::EACCES) => {
            "a container's filter of system calls forbids it".to_owned()
        }
        Some(libc::ENOMEM) => "too little memory may be locked (ulimit -l)".to_owned(),
        _ => error.to_string(),
    }
}

/// Opens an engine that transfers from and to `targets`.
pub fn open_io_uring(targets: &[Target], settings: &EngineSettings) -> Result<Box<dyn IoEngine>> {
    Ok(Box::new(opened(targets, settings)?))
}

fn opened(targets: &[Target], settings: &EngineSettings) -> Result<Uring> {
    let cannot = |error: &io::Error| {
        let depth = settings.depth;
        let why = reason(error);
        Error::failure(format!(
            "cannot use engine io_uring at depth {depth}: {why}; use --engine aio or --engine sync"
        ))
    };
    let mut remarks = Vec::new();
    let mut polls = settings.poll;
    if let Some(refusal) = targets.iter().filter(|_| polls).find_map(polling_refused) {
        remarks.push(format!("completions are waited for, not polled: {refusal}"));
        polls = false;
    }
    let buffers = IoBuffers::new(settings.depth, settings.block, settings.misalign)?;
    let entries = u32::try_from(settings.depth)
        .map_err(|_| cannot(&io::Error::from_raw_os_error(libc::EINVAL)))?;
    let (ring, own_thread) = new_ring(entries, polls).map_err(|error| cannot(&error))?;
    let limit = types::Timespec::new().sec(LONGEST_WAIT.secs() as u64);
    let mut engine = Uring {
        limit: ring.params().is_feature_ext_arg().then_some(limit),
        ring,
        asleep: own_thread,
        asks: own_thread || polls,
        polls,
        registered_files: false,
        registered_buffers: false,
        operations: Operations::new(settings.depth),
        targets: targets.to_vec(),
        buffers,
        ready: Ready::default(),
        remarks,
    };
    if settings.registered {
        engine.register();
    }
    if !engine.registered_buffers && !moves_to_any_buffer(&engine.ring) {
        let depth = settings.depth;
        let why = engine.remarks.last().map(|remark| format!("; {remark}"));
        return Err(Error::failure(format!(
            "cannot use engine io_uring at depth {depth}: {CANNOT_MOVE_DATA}{}; use --engine aio \
             or --engine sync",
            why.unwrap_or_default()
        )));
    }
    Ok(engine)
}

/// Makes a ring. The flag in the result is true if the ring is for a single thread and starts
/// disabled. Linux 6.1 and newer process the completions of such a ring when the thread requests
/// them, which is faster (io_uring_setup(2), IORING_SETUP_DEFER_TASKRUN).
fn new_ring(entries: u32, polls: bool) -> io::Result<(IoUring, bool)> {
    let mut plain = IoUring::builder();
    if polls {
        plain.setup_iopoll();
    } else {
        let mut modern = IoUring::builder();
        modern
            .setup_coop_taskrun()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_r_disabled();
        // Older kernels lack some of these flags.
        if let Ok(ring) = modern.build(entries) {
            return Ok((ring, true));
        }
    }
    plain.build(entries).map(|ring| (ring, false))
}

/// Reason why completions on `target` cannot be polled; `None` if they can.
fn polling_refused(target: &Target) -> Option<String> {
    let path = target.path().display();
    let Direct::Granted { offset, .. } = *target.direct() else {
        return Some(format!("{path} is not open for direct I/O"));
    };
    if target.polls() == Some(false) {
        return Some(format!(
            "the device below {path} has no queues for polling (queue/io_poll)"
        ));
    }
    match try_polling(target, offset) {
        Ok(0..) => None,
        Ok(error) => Some(format!("{path}: {}", io::Error::from_raw_os_error(-error))),
        Err(error) => Some(format!("{path}: {error}")),
    }
}

/// Reads the first block of `target` with polled completion. Returns the kernel's result: the
/// number of bytes, or a negative error number.
fn try_polling(target: &Target, block: usize) -> io::Result<i32> {
    let mut buffers = IoBuffers::new(1, block, 0).map_err(io::Error::other)?;
    let address = buffers.lend(0).ok_or(io::ErrorKind::OutOfMemory)?;
    let mut ring = IoUring::builder().setup_iopoll().build(1)?;
    let entry = opcode::Read::new(
        types::Fd(target.file().as_raw_fd()),
        address.as_ptr(),
        block as u32,
    )
    .build();
    // SAFETY: the buffer is lent to this read, has its length, and lives until the ring is closed.
    // Direct I/O keeps its pages even beyond that.
    unsafe { ring.submission().push(&entry) }.map_err(io::Error::other)?;
    loop {
        match ring.submit_and_wait(1) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    let entry: Option<cqueue::Entry> = ring.completion().next();
    entry
        .map(|entry| entry.result())
        .ok_or_else(|| io::ErrorKind::WouldBlock.into())
}

impl Uring {
    /// Registers files and buffers with the kernel. If one of the two registrations fails, a remark
    /// says so, and operations name the file or buffer instead.
    fn register(&mut self) {
        let files: Vec<RawFd> = self
            .targets
            .iter()
            .map(|target| target.file().as_raw_fd())
            .collect();
        match self.ring.submitter().register_files(&files) {
            Ok(()) => self.registered_files = true,
            Err(error) => self
                .remarks
                .push(format!("files are not registered: {}", reason(&error))),
        }
        let ranges = io_vectors(&self.buffers);
        // SAFETY: the buffers live as long as the ring: the engine owns both, and drops the ring
        // first.
        match unsafe { self.ring.submitter().register_buffers(&ranges) } {
            Ok(()) => self.registered_buffers = true,
            Err(error) => self
                .remarks
                .push(format!("buffers are not registered: {}", reason(&error))),
        }
    }

    /// The queue entry for `request`, to which the buffer at `address` is lent. A sync has no
    /// `address`.
    fn entry(&self, request: &IoRequest, address: Option<NonNull<u8>>) -> squeue::Entry {
        let length = request.bytes as u32;
        let slot = request.slot as u16;
        let at = request.offset;
        let start = address.map_or(std::ptr::null_mut(), NonNull::as_ptr);
        // A macro, because the crate's types for the two kinds of file reference share no trait.
        macro_rules! entry_for {
            ($file:expr) => {
                match (request.transfer, self.registered_buffers) {
                    (Transfer::Read, true) => opcode::ReadFixed::new($file, start, length, slot)
                        .offset(at)
                        .build(),
                    (Transfer::Read, false) => {
                        opcode::Read::new($file, start, length).offset(at).build()
                    }
                    (Transfer::Write, true) => opcode::WriteFixed::new($file, start, length, slot)
                        .offset(at)
                        .build(),
                    (Transfer::Write, false) => {
                        opcode::Write::new($file, start, length).offset(at).build()
                    }
                    (Transfer::Sync, _) => opcode::Fsync::new($file).build(),
                    (Transfer::DataSync, _) => opcode::Fsync::new($file)
                        .flags(types::FsyncFlags::DATASYNC)
                        .build(),
                }
            };
        }
        match self.registered_files {
            true => entry_for!(types::Fixed(request.target as u32)),
            false => entry_for!(types::Fd(self.targets[request.target].file().as_raw_fd())),
        }
    }

    /// Enables the ring if it is disabled. The ring then belongs to the calling thread.
    fn wake(&mut self) -> Result<()> {
        if self.asleep {
            self.ring
                .submitter()
                .register_enable_rings()
                .map_err(|error| failed("begin with", &error))?;
            self.asleep = false;
        }
        Ok(())
    }

    /// Submits queued entries and waits for `least` completions. With `ask`, the kernel also
    /// processes completions if `least` is 0.
    fn enter(&mut self, least: usize, ask: bool) -> Result<()> {
        const GET_EVENTS: u32 = 1;
        loop {
            let queued = self.ring.submission().len();
            let entered = match (least, ask, &self.limit) {
                // SAFETY: the queued entries are sound; no argument is passed.
                (0, true, _) => unsafe {
                    self.ring.submitter().enter::<libc::sigset_t>(
                        queued as u32,
                        0,
                        GET_EVENTS,
                        None,
                    )
                },
                (1.., _, Some(limit)) => self
                    .ring
                    .submitter()
                    .submit_with_args(least, &types::SubmitArgs::new().timespec(limit)),
                _ => self.ring.submit_and_wait(least),
            };
            match entered {
                Ok(_) if self.ring.submission().is_empty() => return Ok(()),
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => match error.raw_os_error() {
                    // The timeout expired or a signal arrived. The signal may be a stop request, so
                    // the caller has to check its stop flag.
                    Some(libc::ETIME) => return Ok(()),
                    Some(libc::EINTR) if least > 0 => return Ok(()),
                    Some(libc::EINTR) => {}
                    // Too many completions wait or memory is short. The next call submits the
                    // queued entries.
                    Some(libc::EBUSY | libc::EAGAIN) if self.operations.in_flight() > queued => {
                        return Ok(());
                    }
                    _ => return Err(failed("enter", &error)),
                },
            }
        }
    }

    /// Appends all completions to `into`, and returns their number.
    fn harvest(&mut self, into: &mut Vec<IoCompletion>) -> usize {
        let mut queue = self.ring.completion();
        if queue.is_empty() {
            return 0;
        }
        let now = counter::ticks();
        let before = into.len();
        for entry in &mut queue {
            let Some(tag) = self
                .operations
                .end(entry.user_data() as usize, &mut self.buffers)
            else {
                continue;
            };
            let result =
                usize::try_from(entry.result()).map_err(|_| entry.result().saturating_neg());
            into.push(IoCompletion {
                tag,
                result,
                at: now,
            });
        }
        into.len() - before
    }
}

/// Number of queued entries that one system call submits. With three or more entries, the kernel
/// holds all of them back until the last one is ready (IO_PLUG_THRESHOLD in its io_uring.c). The
/// device would then get the first one late.
const AT_ONCE: usize = 2;

/// Error message that the action `what` on the ring failed.
fn failed(what: &str, error: &io::Error) -> Error {
    Error::failure(format!(
        "cannot {what} the ring of engine io_uring: {error}; use --engine sync"
    ))
}

impl IoEngine for Uring {
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize> {
        self.wake()?;
        let mut taken = 0;
        for request in requests {
            if !self.operations.has_room() {
                break;
            }
            let address = match Admission::admit(request, self.targets.len(), &mut self.buffers) {
                Admission::Move(address) => Some(address),
                Admission::Sync if self.polls => {
                    // A ring with polled completions has no sync operation, so a system call is
                    // made.
                    let result = synchronize(self.targets[request.target].file(), request.transfer);
                    self.ready
                        .ended(request.tag, result.map_err(|error| number_of(&error)));
                    taken += 1;
                    continue;
                }
                Admission::Sync => None,
                Admission::Refused => {
                    self.ready.refused(request.tag);
                    taken += 1;
                    continue;
                }
            };
            let Some(at) = self
                .operations
                .begin(request.tag, address.map(|_| request.slot))
            else {
                break;
            };
            let entry = self.entry(request, address).user_data(at as u64);
            // SAFETY: the entry describes a lent buffer that is neither touched nor freed before
            // its completion was read.
            if unsafe { self.ring.submission().push(&entry) }.is_err() {
                self.operations.end(at, &mut self.buffers);
                break;
            }
            taken += 1;
            if self.ring.submission().len() >= AT_ONCE {
                self.enter(0, false)?;
            }
        }
        if !self.ring.submission().is_empty() {
            self.enter(0, false)?;
        }
        Ok(taken)
    }

    fn reap(&mut self, least: usize, into: &mut Vec<IoCompletion>) -> Result<()> {
        let mut missing = least.saturating_sub(self.ready.waiting());
        self.ready.drain(into);
        let mut found = self.harvest(into);
        if missing == 0 && found == 0 && self.asks && self.operations.in_flight() > 0 {
            self.enter(0, true)?;
            self.harvest(into);
        }
        let mut in_vain = None;
        loop {
            missing = missing.saturating_sub(found);
            let wait = missing.min(self.operations.in_flight());
            if wait == 0 {
                return Ok(());
            }
            self.enter(wait, true)?;
            found = self.harvest(into);
            // The clock is only read after a wait without completions.
            if found == 0 {
                let now = counter::monotonic();
                if now - *in_vain.get_or_insert(now) >= LONGEST_WAIT / 2.0 {
                    return Ok(());
                }
            }
        }
    }

    fn buffers(&mut self) -> &mut IoBuffers {
        &mut self.buffers
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Closing a ring does not wait for operations, so the kernel could write to freed buffers.
        let mut over = Vec::with_capacity(self.operations.in_flight());
        if self.operations.in_flight() == 0 {
            return;
        }
        if self.reap(self.operations.in_flight(), &mut over).is_err()
            || self.operations.in_flight() > 0
        {
            // Leaking memory is better than freeing memory that the kernel overwrites later.
            self.buffers.leak();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::super::files::tests::{hanging, target};
    use super::*;

    /// Makes io_uring_register fail for the calling thread, as kernels without a request do.
    fn forbid_registering() {
        const LOAD_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
        let mut steps = [
            step(LOAD_NUMBER, 0, 0, 0),
            step(JUMP_IF_EQUAL, 0, 1, libc::SYS_io_uring_register as u32),
            step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
            step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog {
            len: steps.len() as u16,
            filter: steps.as_mut_ptr(),
        };
        // SAFETY: takes numbers only.
        check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).unwrap();
        // SAFETY: the kernel copies the program, which outlives the call.
        let set = unsafe {
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            )
        };
        check(set).unwrap();
    }

    #[test]
    fn rings_that_cannot_move_data_are_refused_before_the_first_transfer() {
        if let Err(why) = io_uring_availability() {
            return println!("skipped: io_uring: {why}");
        }
        // A filter holds for the thread that loads it.
        let thread = std::thread::spawn(|| {
            let (_folder, target) = target();
            forbid_registering();
            let opened = opened(&[target], &EngineSettings::default());
            (io_uring_availability(), opened.map(drop))
        });
        let (available, opened) = thread.join().unwrap();
        assert_eq!(available, Err(CANNOT_MOVE_DATA.to_owned()));
        assert!(opened.unwrap_err().to_string().contains(CANNOT_MOVE_DATA));
    }

    #[test]
    fn a_ring_of_this_kernel_registers_a_buffer_and_gives_it_back() {
        let Ok(ring) = IoUring::new(1) else {
            return println!("skipped: no io_uring");
        };
        if !registers_a_buffer(&ring) {
            return println!("skipped: no registered buffers");
        }
        assert!(registers_a_buffer(&ring), "the first one was given back");
    }

    /// The test submits a poll that never completes, like an operation of a device that hangs.
    #[test]
    fn a_device_that_hangs_holds_up_neither_reaping_nor_the_end() {
        if let Err(why) = io_uring_availability() {
            return println!("skipped: io_uring: {why}");
        }
        let (_folder, target) = target();
        let mut engine = opened(&[target], &EngineSettings::default()).unwrap();
        if engine.limit.is_none() {
            return println!("skipped: this kernel's io_uring waits without a limit");
        }
        let (_write, read) = hanging();
        engine.wake().unwrap();
        assert!(engine.buffers.lend(0).is_some());
        let at = engine.operations.begin(7, Some(0)).unwrap();
        let never = opcode::PollAdd::new(types::Fd(read.as_raw_fd()), libc::POLLIN as u32)
            .build()
            .user_data(at as u64);
        // SAFETY: the entry names no memory.
        unsafe { engine.ring.submission().push(&never) }.unwrap();
        let mut over = Vec::new();
        engine.reap(1, &mut over).unwrap();
        assert!(
            over.is_empty() && engine.operations.in_flight() == 1,
            "{over:?}"
        );
        drop(engine);
    }
}
