//! The trait that every kind of device implements, and the data of its commands.

use super::call::{Call, GpuBuffer};
use super::conditions::GpuConditions;
use report::GpuFacts;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use units::error::{Error, Result};
use units::{Bytes, Nanos};

/// Text of the kernels.
pub const SOURCE: &str = include_str!("kernels.cl");

/// Duration of a command on two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Time on the clock of the device, from the start to the end of the command. `None` if the
    /// driver does not report it.
    pub device: Option<Nanos>,
    /// Time on the clock of the host, from the submission of the command to the end of the wait for
    /// it.
    pub host: Nanos,
}

/// Direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Direction {
    /// From the main memory to the device.
    ToDevice,
    /// From the device to the main memory.
    ToHost,
    /// Both directions at once, in different buffers.
    Both,
}

/// Kind of main memory at the host's end of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HostMemory {
    /// Memory that the driver allocates. The driver may lock it, so that the device can access it
    /// directly.
    Pinned,
    /// Ordinary memory of the process.
    Pageable,
}

/// A transfer of the first `bytes` bytes of a buffer, `repetitions` times in a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Direction.
    pub direction: Direction,
    /// Kind of main memory at the host's end.
    pub memory: HostMemory,
    /// The buffer that data is written to (`ToDevice`) or read from (`ToHost`). For
    /// [`Direction::Both`], data is written to this buffer.
    pub buffer: GpuBuffer,
    /// For [`Direction::Both`], the buffer that data is read from.
    pub second: GpuBuffer,
    /// Bytes of each transfer in each direction.
    pub bytes: Bytes,
    /// Number of transfers in each direction.
    pub repetitions: u32,
}

/// Copies of the first `bytes` bytes of a device's buffer to a buffer of its peer, which is another
/// device. The copy is made `repetitions` times in a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PeerCopy {
    /// The buffer that is read, in the memory of the device.
    pub from: GpuBuffer,
    /// The buffer that is written to, in the memory of the peer.
    pub to: GpuBuffer,
    /// Bytes of each copy.
    pub bytes: Bytes,
    /// Number of copies.
    pub repetitions: u32,
}

fn no_peer() -> Error {
    Error::failure("the device was opened without another one")
}

/// A device that runs kernels.
///
/// All methods block until the device is done. Every error is a sentence with the driver's reason.
pub trait GpuDevice: Debug {
    /// Facts about the device.
    fn facts(&self) -> &GpuFacts;

    /// Number of 64-bit lanes in a word of the kernels.
    fn width(&self) -> u32;

    /// Allocates a buffer.
    ///
    /// # Errors
    /// The device has too little memory.
    fn allocate(&mut self, bytes: Bytes) -> Result<GpuBuffer>;

    /// Frees a buffer. Unknown buffers are ignored.
    fn release(&mut self, buffer: GpuBuffer);

    /// Writes `data` to the start of a buffer.
    ///
    /// # Errors
    /// The buffer is smaller than `data`, or the driver failed.
    fn upload(&mut self, buffer: GpuBuffer, data: &[u8]) -> Result<()>;

    /// Reads the start of a buffer into `data`.
    ///
    /// # Errors
    /// The buffer is smaller than `data`, or the driver failed.
    fn download(&mut self, buffer: GpuBuffer, data: &mut [u8]) -> Result<()>;

    /// Allocates a buffer with a chain: `next[i]` is the index that follows index `i`. Only
    /// [`Call::Chase`] uses such a buffer. The first chase begins at index 0.
    ///
    /// # Errors
    /// An index is outside of the chain, or the device has too little memory.
    fn chain(&mut self, next: &[u32]) -> Result<GpuBuffer>;

    /// Index at which the last chase through `chain` stopped.
    ///
    /// # Errors
    /// The buffer is no chain, or the driver failed.
    fn place(&mut self, chain: GpuBuffer) -> Result<u32>;

    /// Runs a kernel and waits for its end.
    ///
    /// # Errors
    /// The call reaches beyond its buffers, or the driver failed.
    fn run(&mut self, call: &Call) -> Result<Timing>;

    /// Carries out transfers and waits for their end. A transfer to the device sends the bytes that
    /// [`GpuDevice::set_host`] wrote.
    ///
    /// # Errors
    /// A buffer is smaller than the transfer, or the driver failed.
    fn transfer(&mut self, transfer: &Transfer) -> Result<Timing>;

    /// Fills the host's memory for transfers, pinned and pageable, with `bytes` bytes. The bytes
    /// are numbers that begin with `value`, as the kernel `fill` writes them.
    ///
    /// # Errors
    /// There is too little memory.
    fn set_host(&mut self, bytes: Bytes, value: u64) -> Result<()>;

    /// True if the last transfer from the device to memory of the kind `memory` wrote `bytes` bytes
    /// with numbers that begin with `value`.
    ///
    /// # Errors
    /// The device was lost.
    fn has_received(&mut self, memory: HostMemory, bytes: Bytes, value: u64) -> Result<bool>;

    /// Runs a kernel on the peer and waits for its end. The driver moves buffers to the peer if
    /// necessary.
    ///
    /// # Errors
    /// The call reaches beyond its buffers, the driver failed, or the device was opened without a
    /// peer.
    fn run_on_peer(&mut self, _call: &Call) -> Result<Timing> {
        Err(no_peer())
    }

    /// Copies from the device to its peer, and waits for the end.
    ///
    /// # Errors
    /// The driver failed, a buffer is smaller than the copy, or the device was opened without a
    /// peer.
    fn copy_to_peer(&mut self, _copy: &PeerCopy) -> Result<Timing> {
        Err(no_peer())
    }

    /// Present conditions of the device. Values that the driver does not report are `None`.
    fn conditions(&mut self) -> GpuConditions {
        GpuConditions::default()
    }

    /// CPU time that a separate process has used for this device. Zero if this process opened it.
    fn cpu_time(&self) -> Nanos {
        Nanos::ZERO
    }

    /// True if the device does not answer any more, and has to be opened again.
    fn is_lost(&self) -> bool {
        false
    }
}
