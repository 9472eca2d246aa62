//! Devices of OpenCL drivers. The library is opened at run time, so the program also starts without
//! it.
//!
//! Every pointer given to the driver lives until the call that uses it has returned. This is
//! possible because the code waits for the end of all transfers and kernels.

mod calls;
mod platform;

pub use platform::devices;

use super::call::{Call, GpuBuffer};
use super::conditions::{GpuConditions, Sensors};
use super::contents::{filled, is_filled};
use super::device::{Direction, GpuDevice, HostMemory, PeerCopy, SOURCE, Timing, Transfer};
use crate::counter;
use calls::{
    Calls, Handle, MAP_READ_WRITE, MEM_ALLOC_HOST_PTR, MEM_READ_WRITE, PROFILING_COMMAND_END,
    PROFILING_COMMAND_START, PROGRAM_BINARIES, PROGRAM_BINARY_SIZES, PROGRAM_BUILD_LOG,
    QUEUE_PROFILING_ENABLE, check,
};
use platform::Found;
use report::{Fact, GpuFacts};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::{CString, c_uint, c_void};
use std::fmt;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use units::error::{Error, Result};
use units::{Bytes, Nanos};

/// Names of the kernels in `kernels.cl`.
const KERNELS: &[&str] = &[
    "read",
    "write",
    "copy",
    "update",
    "triad",
    "fill",
    "fill_reals",
    "verify",
    "verify_triad",
    "read_local",
    "count",
    "chase",
];

/// Number of work-items for each compute unit in kernels that fill or verify memory.
const CHECKING_ITEMS: usize = 1024;

/// Number of work-items in each work-group of the kernels that fill or verify memory.
const CHECKING_GROUP: usize = 64;

/// Index of the peer's queue in [`OpenClDevice::queues`].
const PEER: usize = 2;

/// A buffer on the device.
#[derive(Debug)]
struct Buffer {
    memory: Handle,
    bytes: usize,
    /// For a chain, a buffer of 4 B with the index at which the next chase begins. `None` for other
    /// buffers.
    place: Option<Handle>,
}

/// Memory at the host's end of transfers.
#[derive(Debug, Default)]
struct HostEnd {
    /// Pinned memory: the driver's buffer, its address in this process, its length in bytes.
    pinned: Option<(Handle, *mut u8, usize)>,
    pageable: Vec<u8>,
}

/// An opened device.
pub struct OpenClDevice {
    calls: Arc<Calls>,
    facts: GpuFacts,
    width: u32,
    context: Handle,
    /// Two queues of the device, because transfers in both directions at once need two. The third
    /// queue is the peer's; null without a peer.
    queues: [Handle; 3],
    program: Handle,
    kernels: BTreeMap<&'static str, Handle>,
    buffers: BTreeMap<usize, Buffer>,
    next_buffer: usize,
    sensors: Option<Box<dyn Sensors>>,
    /// Source of transfers to the device.
    sent: HostEnd,
    /// Target of transfers to the host.
    received: HostEnd,
}

impl fmt::Debug for OpenClDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenClDevice")
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

/// One argument of a kernel.
enum Argument {
    Buffer(Handle),
    Small(u32),
    Large(u64),
    /// Bytes of memory that each work-group gets for itself.
    Local(usize),
}

/// Opens device `number`, with its peer if there is one. Builds the kernels for both, with words of
/// `width` lanes.
///
/// # Errors
/// There is no such device, the driver failed, or the peer has another driver.
pub fn open(number: u32, peer: Option<u32>, width: u32) -> Result<OpenClDevice> {
    let mut all = platform::find()?;
    let count = all.len();
    let missing = |number: u32| {
        Error::usage(format!(
            "no such device: {number}; there are {count}; type memgauge list gpus"
        ))
    };
    let platform = all.get(number as usize).map(|found| found.platform);
    let platform = platform.ok_or_else(|| missing(number))?;
    let peer = match peer {
        None => None,
        Some(peer) => {
            let found = all.get(peer as usize).ok_or_else(|| missing(peer))?;
            if found.platform != platform {
                return Err(Error::failure(format!(
                    "devices {number} and {peer} have different drivers"
                )));
            }
            Some(found.device)
        }
    };
    OpenClDevice::new(all.swap_remove(number as usize), peer, width)
}

impl OpenClDevice {
    fn new(found: Found, peer: Option<Handle>, width: u32) -> Result<Self> {
        let Found {
            calls,
            device,
            facts,
            ..
        } = found;
        let devices: Vec<Handle> = [Some(device), peer].into_iter().flatten().collect();
        let count = devices.len() as c_uint;
        let mut code = 0;
        // SAFETY: the devices of one driver, no properties, no callback; `code` outlives the call.
        let context = unsafe {
            (calls.create_context)(
                null(),
                count,
                devices.as_ptr(),
                null(),
                null_mut(),
                &raw mut code,
            )
        };
        check(code, "use the device")?;
        // From here on, dropping `opened` releases the objects that were made.
        let mut opened = Self {
            calls,
            facts,
            width,
            context,
            queues: [null_mut(); 3],
            program: null_mut(),
            kernels: BTreeMap::new(),
            buffers: BTreeMap::new(),
            next_buffer: 0,
            sensors: None,
            sent: HostEnd::default(),
            received: HostEnd::default(),
        };
        let owners = [Some(device), Some(device), peer];
        for (index, owner) in owners.into_iter().enumerate() {
            let Some(owner) = owner else { continue };
            // SAFETY: context and device are valid; `code` outlives the call.
            opened.queues[index] = unsafe {
                (opened.calls.create_queue)(context, owner, QUEUE_PROFILING_ENABLE, &raw mut code)
            };
            check(code, "make a command queue")?;
        }
        opened.build(&devices)?;
        // A program for two devices has a machine code for each, and so no single digest.
        let digest = if peer.is_none() {
            opened.code_digest()
        } else {
            None
        };
        opened.facts.code = match digest {
            Some(digest) => Fact::known(digest, "OpenCL, CL_PROGRAM_BINARIES"),
            None => Fact::unknown("the driver does not show the code of its kernels"),
        };
        Ok(opened)
    }

    /// Sets the sensors that report the conditions of the device.
    pub fn set_sensors(&mut self, sensors: Option<Box<dyn Sensors>>) {
        self.sensors = sensors;
    }

    /// Facts about the device, to which the caller may add some.
    pub fn facts_mut(&mut self) -> &mut GpuFacts {
        &mut self.facts
    }

    /// Compiles the kernels for the devices.
    fn build(&mut self, devices: &[Handle]) -> Result<()> {
        let text = SOURCE.as_ptr().cast();
        let length = SOURCE.len();
        let mut code = 0;
        // SAFETY: one string with its length; all pointers outlive the call.
        self.program = unsafe {
            (self.calls.create_program)(
                self.context,
                1,
                &raw const text,
                &raw const length,
                &raw mut code,
            )
        };
        check(code, "read the kernels")?;
        let options = format!("-DWIDTH={}", self.width);
        let options = CString::new(options).map_err(|why| Error::failure(why.to_string()))?;
        // SAFETY: the program and the devices are valid, `options` ends with a zero byte.
        let code = unsafe {
            (self.calls.build_program)(
                self.program,
                devices.len() as c_uint,
                devices.as_ptr(),
                options.as_ptr(),
                null(),
                null_mut(),
            )
        };
        if code != 0 {
            let log = devices.first().map(|&device| self.build_log(device));
            let log = log.unwrap_or_default();
            let reason = check(code, "compile the kernels").err();
            let reason = reason.map(|why| why.to_string()).unwrap_or_default();
            return Err(Error::failure(format!("{reason}: {log}")));
        }
        for &name in KERNELS {
            let text = CString::new(name).map_err(|why| Error::failure(why.to_string()))?;
            let mut code = 0;
            // SAFETY: the program is built, the name ends with a zero byte.
            let kernel =
                unsafe { (self.calls.create_kernel)(self.program, text.as_ptr(), &raw mut code) };
            check(code, &format!("find the kernel {name}"))?;
            self.kernels.insert(name, kernel);
        }
        Ok(())
    }

    /// First line of the compiler's messages for `device`.
    fn build_log(&self, device: Handle) -> String {
        let mut log = vec![0u8; 4096];
        let mut length = 0;
        // SAFETY: `log` has the length that is given.
        let code = unsafe {
            (self.calls.get_build_info)(
                self.program,
                device,
                PROGRAM_BUILD_LOG,
                log.len(),
                log.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if code != 0 {
            return "the compiler gives no reason".to_owned();
        }
        log.truncate(length.min(log.len()));
        let text = String::from_utf8_lossy(&log);
        let line = text
            .trim_matches('\0')
            .lines()
            .find(|line| !line.is_empty());
        line.unwrap_or("the compiler gives no reason").to_owned()
    }

    /// Digest of the code that the driver compiled from the kernels. `None` if the driver does not
    /// show the code.
    fn code_digest(&self) -> Option<String> {
        let mut size = 0usize;
        // SAFETY: a program for one device has one size.
        let code = unsafe {
            (self.calls.get_program_info)(
                self.program,
                PROGRAM_BINARY_SIZES,
                size_of::<usize>(),
                (&raw mut size).cast(),
                null_mut(),
            )
        };
        if code != 0 || size == 0 || size > 1 << 28 {
            return None;
        }
        let mut binary = vec![0u8; size];
        let mut address = binary.as_mut_ptr();
        // SAFETY: one address of a buffer with the size that the driver gave.
        let code = unsafe {
            (self.calls.get_program_info)(
                self.program,
                PROGRAM_BINARIES,
                size_of::<*mut u8>(),
                (&raw mut address).cast(),
                null_mut(),
            )
        };
        let digest = Sha256::digest(&binary);
        let start = digest.iter().take(8);
        (code == 0).then(|| start.map(|byte| format!("{byte:02x}")).collect())
    }

    fn buffer(&self, buffer: GpuBuffer) -> Result<&Buffer> {
        let known = self.buffers.get(&buffer.0);
        known.ok_or_else(|| Error::failure("a buffer of the device is used after its end"))
    }

    /// Handle of a buffer that has at least `bytes` bytes and is no chain.
    ///
    /// # Errors
    /// The buffer is unknown, smaller, or a chain.
    fn plain(&self, buffer: GpuBuffer, bytes: u64) -> Result<Handle> {
        let known = self.buffer(buffer)?;
        if known.place.is_some() {
            return Err(Error::failure("a chain on the device is used as a buffer"));
        }
        if known.bytes as u64 >= bytes {
            return Ok(known.memory);
        }
        Err(Error::failure(format!(
            "a buffer of {} is used as one of {}",
            Bytes(known.bytes as u64),
            Bytes(bytes)
        )))
    }

    fn create(&self, bytes: usize, flags: u64) -> Result<Handle> {
        let mut code = 0;
        // SAFETY: no memory of this process is handed over.
        let memory = unsafe {
            (self.calls.create_buffer)(self.context, flags, bytes, null_mut(), &raw mut code)
        };
        check(code, &format!("allocate {}", Bytes(bytes as u64)))?;
        Ok(memory)
    }

    fn remember(&mut self, buffer: Buffer) -> GpuBuffer {
        let number = self.next_buffer;
        self.next_buffer += 1;
        self.buffers.insert(number, buffer);
        GpuBuffer(number)
    }

    /// Writes `data` to the start of `memory`, and waits for the end. `memory` has at least the
    /// length of `data`.
    fn write(&self, memory: Handle, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        // SAFETY: a blocking write reads `data` before it returns. The driver checks the buffer.
        let code = unsafe {
            (self.calls.enqueue_write)(
                self.queues[0],
                memory,
                1,
                0,
                data.len(),
                data.as_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        check(code, "write to the device")
    }

    /// Reads the start of `memory` into `data`, and waits for the end.
    fn read(&self, memory: Handle, data: &mut [u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        // SAFETY: a blocking read writes `data` before it returns. The driver checks the buffer.
        let code = unsafe {
            (self.calls.enqueue_read)(
                self.queues[0],
                memory,
                1,
                0,
                data.len(),
                data.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        check(code, "read from the device")
    }

    /// Runs a kernel in the queue with the index `queue`, and waits for its end.
    fn run_in(&self, queue: usize, call: &Call) -> Result<Timing> {
        self.queue(queue)?;
        call.check()?;
        for (buffer, bytes) in call.needs(self.width) {
            self.plain(buffer, bytes)?;
        }
        let memory = |buffer| self.buffer(buffer).map(|b| Argument::Buffer(b.memory));
        let units = self.facts.compute_units.get().copied().unwrap_or(1).max(1);
        let checking = units as usize * CHECKING_ITEMS;
        let small = Argument::Small;
        match *call {
            Call::Stream(stream) => {
                let [to, from, other] = stream.offsets();
                let arguments = [
                    memory(stream.buffer)?,
                    small(to),
                    small(from),
                    small(other),
                    small(stream.region),
                    small(stream.per_item),
                    small(stream.start),
                    small(stream.step),
                    small(stream.accesses),
                    Argument::Large(stream.value),
                    memory(stream.sums)?,
                ];
                let items = stream.items() as usize;
                let group = stream.group_size as usize;
                self.launch(queue, stream.operation.name(), &arguments, items, group)
            }
            Call::Fill {
                buffer,
                to,
                words,
                value,
                floats,
            } => {
                let name = if floats { "fill_reals" } else { "fill" };
                let arguments = [
                    memory(buffer)?,
                    small(to),
                    small(words),
                    Argument::Large(value),
                ];
                self.launch(queue, name, &arguments, checking, CHECKING_GROUP)
            }
            Call::Verify {
                buffer,
                to,
                words,
                value,
                triad,
                wrong,
            } => {
                let name = if triad { "verify_triad" } else { "verify" };
                let arguments = [
                    memory(buffer)?,
                    small(to),
                    small(words),
                    Argument::Large(value),
                    memory(wrong)?,
                ];
                self.launch(queue, name, &arguments, checking, CHECKING_GROUP)
            }
            Call::LocalRead(read) => {
                let bytes = read.words as usize * self.width as usize * 8;
                let arguments = [
                    Argument::Local(bytes),
                    small(read.words),
                    small(read.accesses),
                    Argument::Large(read.value),
                    memory(read.sums)?,
                ];
                let items = read.items() as usize;
                self.launch(
                    queue,
                    "read_local",
                    &arguments,
                    items,
                    read.group_size as usize,
                )
            }
            Call::Count(count) => {
                let arguments = [
                    memory(count.counters)?,
                    small(count.stride),
                    small(count.accesses),
                ];
                let items = count.items() as usize;
                self.launch(queue, "count", &arguments, items, count.group_size as usize)
            }
            Call::Chase { chain, hops } => {
                let place = self.buffer(chain)?.place;
                let place = place.ok_or_else(|| Error::failure("this buffer is no chain"))?;
                let arguments = [memory(chain)?, Argument::Buffer(place), small(hops)];
                self.launch(queue, "chase", &arguments, 1, 1)
            }
        }
    }

    /// Handle of the queue with this index.
    ///
    /// # Errors
    /// The device was opened without a peer.
    fn queue(&self, index: usize) -> Result<Handle> {
        let queue = self.queues.get(index).copied();
        let queue = queue.filter(|queue| !queue.is_null());
        queue.ok_or_else(|| Error::failure("the device was opened without another one"))
    }

    /// Runs a kernel with `items` work-items in groups of `group`, and waits for its end.
    fn launch(
        &self,
        queue: usize,
        name: &str,
        arguments: &[Argument],
        items: usize,
        group: usize,
    ) -> Result<Timing> {
        let unknown = || Error::failure(format!("unknown kernel: {name}"));
        let kernel = *self.kernels.get(name).ok_or_else(unknown)?;
        for (index, argument) in arguments.iter().enumerate() {
            let (size, value): (usize, *const c_void) = match argument {
                Argument::Buffer(memory) => (size_of::<Handle>(), (&raw const *memory).cast()),
                Argument::Small(number) => (size_of::<u32>(), (&raw const *number).cast()),
                Argument::Large(number) => (size_of::<u64>(), (&raw const *number).cast()),
                Argument::Local(bytes) => (*bytes, null()),
            };
            // SAFETY: `value` points to `size` bytes, which the driver copies. It is null for local
            // memory, which has a size only.
            let code = unsafe { (self.calls.set_argument)(kernel, index as u32, size, value) };
            check(code, &format!("set an argument of the kernel {name}"))?;
        }
        let mut event = null_mut();
        let begin = counter::monotonic();
        // SAFETY: one dimension. `Call` has checked that the kernel stays inside of its buffers.
        let code = unsafe {
            (self.calls.enqueue_kernel)(
                self.queues[queue],
                kernel,
                1,
                null(),
                &raw const items,
                &raw const group,
                0,
                null(),
                &raw mut event,
            )
        };
        check(code, &format!("run the kernel {name}"))?;
        let finished = self.finish(queue, &format!("run the kernel {name}"));
        let host = counter::monotonic() - begin;
        let device = self.duration(event);
        finished?;
        Ok(Timing { device, host })
    }

    fn finish(&self, queue: usize, tried: &str) -> Result<()> {
        // SAFETY: the queue is valid.
        check(unsafe { (self.calls.finish)(self.queues[queue]) }, tried)
    }

    /// Duration of the command that made `event`, on the clock of the device. `None` if the driver
    /// does not report it. Releases `event`.
    fn duration(&self, event: Handle) -> Option<Nanos> {
        let time = |which| {
            let mut time = 0u64;
            // SAFETY: `time` has the size that is given. The command has ended.
            let code = unsafe {
                (self.calls.get_event_profiling)(
                    event,
                    which,
                    size_of::<u64>(),
                    (&raw mut time).cast(),
                    null_mut(),
                )
            };
            (code == 0).then_some(time)
        };
        let start = time(PROFILING_COMMAND_START);
        let end = time(PROFILING_COMMAND_END);
        // SAFETY: the event was made by this driver, and nobody uses it any more.
        unsafe { (self.calls.release_event)(event) };
        let nanoseconds = end?.checked_sub(start?)?;
        Some(Nanos(nanoseconds as f64)).filter(|time| time.0 > 0.0)
    }

    /// Enqueues one transfer between `memory` and the host, and does not wait for it. `end` has the
    /// direction, and the address in the host's memory.
    fn enqueue(
        &self,
        queue: usize,
        memory: Handle,
        end: (Direction, *mut u8),
        bytes: usize,
    ) -> Result<()> {
        let (direction, host) = end;
        // SAFETY: both ends have `bytes` bytes, which the caller checks. They stay until the caller
        // has waited for the queue.
        let code = unsafe {
            match direction {
                Direction::ToHost => (self.calls.enqueue_read)(
                    self.queues[queue],
                    memory,
                    0,
                    0,
                    bytes,
                    host.cast(),
                    0,
                    null(),
                    null_mut(),
                ),
                Direction::ToDevice | Direction::Both => (self.calls.enqueue_write)(
                    self.queues[queue],
                    memory,
                    0,
                    0,
                    bytes,
                    host.cast_const().cast(),
                    0,
                    null(),
                    null_mut(),
                ),
            }
        };
        check(code, "transfer")
    }

    /// Allocates pinned memory. Returns the driver's buffer, its address in this process, and its
    /// length.
    fn pin(&self, bytes: usize) -> Result<(Handle, *mut u8, usize)> {
        let memory = self.create(bytes, MEM_READ_WRITE | MEM_ALLOC_HOST_PTR)?;
        let mut code = 0;
        // SAFETY: a blocking map of the whole buffer; it stays mapped until it is released.
        let address = unsafe {
            (self.calls.enqueue_map)(
                self.queues[0],
                memory,
                1,
                MAP_READ_WRITE,
                0,
                bytes,
                0,
                null(),
                null_mut(),
                &raw mut code,
            )
        };
        if let Err(why) = check(code, "map pinned memory") {
            self.free(memory);
            return Err(why);
        }
        Ok((memory, address.cast(), bytes))
    }

    fn unpin(&self, pinned: (Handle, *mut u8, usize)) {
        let (memory, address, _) = pinned;
        // SAFETY: the address is the address of the map, and no transfer is under way.
        unsafe {
            (self.calls.enqueue_unmap)(
                self.queues[0],
                memory,
                address.cast(),
                0,
                null(),
                null_mut(),
            );
            (self.calls.finish)(self.queues[0]);
        }
        self.free(memory);
    }

    fn free(&self, memory: Handle) {
        // SAFETY: the buffer was made by this driver, and no command uses it.
        unsafe { (self.calls.release_buffer)(memory) };
    }
}

impl HostEnd {
    /// Address of this end in memory of kind `memory`; `None` if this memory has fewer than `bytes`
    /// bytes.
    fn address(&mut self, memory: HostMemory, bytes: usize) -> Option<*mut u8> {
        match memory {
            HostMemory::Pinned => self.pinned.filter(|p| p.2 >= bytes).map(|p| p.1),
            HostMemory::Pageable => {
                (self.pageable.len() >= bytes).then_some(self.pageable.as_mut_ptr())
            }
        }
    }
}

impl GpuDevice for OpenClDevice {
    fn facts(&self) -> &GpuFacts {
        &self.facts
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn allocate(&mut self, bytes: Bytes) -> Result<GpuBuffer> {
        let bytes = bytes.to_usize().max(4);
        let memory = self.create(bytes, MEM_READ_WRITE)?;
        Ok(self.remember(Buffer {
            memory,
            bytes,
            place: None,
        }))
    }

    fn release(&mut self, buffer: GpuBuffer) {
        if let Some(known) = self.buffers.remove(&buffer.0) {
            self.free(known.memory);
            known.place.into_iter().for_each(|place| self.free(place));
        }
    }

    fn upload(&mut self, buffer: GpuBuffer, data: &[u8]) -> Result<()> {
        let memory = self.plain(buffer, data.len() as u64)?;
        self.write(memory, data)
    }

    fn download(&mut self, buffer: GpuBuffer, data: &mut [u8]) -> Result<()> {
        let memory = self.plain(buffer, data.len() as u64)?;
        self.read(memory, data)
    }

    fn chain(&mut self, next: &[u32]) -> Result<GpuBuffer> {
        if next.is_empty() || next.iter().any(|&index| index as usize >= next.len()) {
            return Err(Error::failure("a chain leaves its buffer"));
        }
        let bytes = size_of_val(next);
        let memory = self.create(bytes, MEM_READ_WRITE)?;
        let chain = self.remember(Buffer {
            memory,
            bytes,
            place: None,
        });
        let place = self.create(4, MEM_READ_WRITE)?;
        // SAFETY: numbers are bytes, and the slice covers exactly these.
        let data = unsafe { std::slice::from_raw_parts(next.as_ptr().cast::<u8>(), bytes) };
        let written = self
            .write(memory, data)
            .and_then(|()| self.write(place, &0u32.to_ne_bytes()));
        if let Some(buffer) = self.buffers.get_mut(&chain.0) {
            buffer.place = Some(place);
        }
        written.inspect_err(|_| self.release(chain))?;
        Ok(chain)
    }

    fn place(&mut self, chain: GpuBuffer) -> Result<u32> {
        let place = self.buffer(chain)?.place;
        let place = place.ok_or_else(|| Error::failure("this buffer is no chain"))?;
        let mut index = [0; 4];
        self.read(place, &mut index)?;
        Ok(u32::from_ne_bytes(index))
    }

    fn run(&mut self, call: &Call) -> Result<Timing> {
        self.run_in(0, call)
    }

    fn run_on_peer(&mut self, call: &Call) -> Result<Timing> {
        self.run_in(PEER, call)
    }

    fn copy_to_peer(&mut self, copy: &PeerCopy) -> Result<Timing> {
        let from = self.plain(copy.from, copy.bytes.0)?;
        let to = self.plain(copy.to, copy.bytes.0)?;
        let queue = self.queue(PEER)?;
        let begin = counter::monotonic();
        let mut queued = Ok(());
        for _ in 0..copy.repetitions {
            // SAFETY: `plain` checked that both buffers have the bytes. They live until the queue
            // was waited for.
            let code = unsafe {
                (self.calls.enqueue_copy)(
                    queue,
                    from,
                    to,
                    0,
                    0,
                    copy.bytes.to_usize(),
                    0,
                    null(),
                    null_mut(),
                )
            };
            queued = queued.and_then(|()| check(code, "copy to another device"));
        }
        let done = self.finish(PEER, "copy to another device");
        let host = counter::monotonic() - begin;
        queued.and(done)?;
        Ok(Timing { device: None, host })
    }

    fn transfer(&mut self, transfer: &Transfer) -> Result<Timing> {
        let bytes = transfer.bytes.to_usize();
        let first = self.plain(transfer.buffer, transfer.bytes.0)?;
        let both = transfer.direction == Direction::Both;
        let second = if both {
            self.plain(transfer.second, transfer.bytes.0)?
        } else {
            first
        };
        let short = || Error::failure("the host's memory is smaller than the transfer");
        let sent = self.sent.address(transfer.memory, bytes);
        let received = self.received.address(transfer.memory, bytes);
        let sent = sent.ok_or_else(short)?;
        let received = received.ok_or_else(short)?;
        let begin = counter::monotonic();
        let mut queued = Ok(());
        for _ in 0..transfer.repetitions {
            if transfer.direction != Direction::ToHost {
                let end = (Direction::ToDevice, sent);
                queued = queued.and_then(|()| self.enqueue(0, first, end, bytes));
            }
            if transfer.direction != Direction::ToDevice {
                let end = (Direction::ToHost, received);
                queued = queued.and_then(|()| self.enqueue(usize::from(both), second, end, bytes));
            }
        }
        for &queue in &self.queues[..2] {
            // SAFETY: the queue is valid. Both queues begin before one of them is waited for.
            unsafe { (self.calls.flush)(queue) };
        }
        // Even after an error, the code waits for both queues, because their commands use this
        // memory.
        let first_done = self.finish(0, "transfer");
        let second_done = self.finish(1, "transfer");
        let host = counter::monotonic() - begin;
        queued.and(first_done).and(second_done)?;
        Ok(Timing { device: None, host })
    }

    fn set_host(&mut self, bytes: Bytes, value: u64) -> Result<()> {
        let data = filled(bytes.to_usize(), self.width, value);
        for end in [&mut self.sent, &mut self.received] {
            end.pageable.clear();
            end.pageable
                .try_reserve_exact(data.len())
                .map_err(|why| Error::failure(format!("no memory for transfers: {why}")))?;
            end.pageable.extend_from_slice(&data);
        }
        for index in 0..2 {
            let end = [&self.sent, &self.received][index];
            if end.pinned.is_none_or(|pinned| pinned.2 < data.len()) {
                if let Some(old) = [&mut self.sent, &mut self.received][index].pinned.take() {
                    self.unpin(old);
                }
                let pinned = self.pin(data.len().max(4))?;
                [&mut self.sent, &mut self.received][index].pinned = Some(pinned);
            }
            if let Some((_, address, _)) = [&self.sent, &self.received][index].pinned {
                // SAFETY: the map has at least this length, and no transfer is under way.
                unsafe { address.copy_from_nonoverlapping(data.as_ptr(), data.len()) };
            }
        }
        Ok(())
    }

    fn conditions(&mut self) -> GpuConditions {
        let sensors = self.sensors.as_ref();
        sensors.map_or_else(GpuConditions::default, |sensors| sensors.conditions())
    }

    fn has_received(&mut self, memory: HostMemory, bytes: Bytes, value: u64) -> Result<bool> {
        let received: &[u8] = match (memory, self.received.pinned) {
            (HostMemory::Pageable, _) => &self.received.pageable,
            (HostMemory::Pinned, None) => &[],
            // SAFETY: the map has this length and lives as long as `self`. No transfer can begin,
            // because `self` is borrowed.
            (HostMemory::Pinned, Some((_, address, length))) => unsafe {
                std::slice::from_raw_parts(address, length)
            },
        };
        let part = received.get(..bytes.to_usize());
        Ok(part.is_some_and(|part| is_filled(part, self.width, value)))
    }
}

impl Drop for OpenClDevice {
    fn drop(&mut self) {
        for end in [&mut self.sent, &mut self.received].map(|end| end.pinned.take()) {
            end.into_iter().for_each(|pinned| self.unpin(pinned));
        }
        for buffer in std::mem::take(&mut self.buffers).into_values() {
            self.free(buffer.memory);
            buffer.place.into_iter().for_each(|place| self.free(place));
        }
        // SAFETY: each handle was made by this driver, and is released once. A null handle means
        // that the object was not made.
        unsafe {
            for &kernel in self.kernels.values() {
                (self.calls.release_kernel)(kernel);
            }
            if !self.program.is_null() {
                (self.calls.release_program)(self.program);
            }
            for queue in self.queues.into_iter().filter(|queue| !queue.is_null()) {
                (self.calls.release_queue)(queue);
            }
            (self.calls.release_context)(self.context);
        }
    }
}
