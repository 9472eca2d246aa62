//! Streaming kernels: the only safe way to run one.

use super::sets::Row;
use super::{Contract, KernelRow, SetId};
use crate::error::{Error, Result};
use crate::host::memory::Window;
use std::ops::Range;

/// What one turn of every streaming loop covers, on every instruction set. Windows are multiples of it.
pub const BLOCK_BYTES: u64 = 512;

/// What the assembly is given and gives back; the layout is part of every skeleton.
#[repr(C)]
#[derive(Debug)]
pub(super) struct StreamCall {
    /// First byte of the stream that leads: the source where something is loaded, else the target.
    pub lead: usize,
    /// Distance in bytes from a byte of the lead to the same byte of the second stream.
    pub delta: usize,
    /// Length of each stream in bytes, a multiple of `BLOCK_BYTES`.
    pub window: usize,
    /// Where in the window to go on, a multiple of `BLOCK_BYTES` below `window`.
    pub offset: usize,
    /// Blocks to do.
    pub blocks: u64,
    /// Stored to every word by kernels that only write.
    pub pattern: u64,
    /// Wrapping sum of the words loaded, for kernels that add them up.
    pub checksum: u64,
}

/// The machine code of one streaming kernel.
pub(super) type StreamCode = unsafe extern "sysv64" fn(&mut StreamCall);

/// A streaming kernel that this processor and operating system can run.
#[derive(Debug, Clone, Copy)]
pub struct StreamKernel {
    row: KernelRow,
    code: StreamCode,
}

impl StreamKernel {
    /// The kernel of `row` if its instructions may be executed here; the reason why not otherwise.
    pub(super) fn new(row: KernelRow) -> std::result::Result<Self, String> {
        row.set.available()?;
        match row.row {
            Row::Code(code) => Ok(Self { row, code }),
            Row::Unsupported(reason) => Err(reason.to_owned()),
        }
    }

    /// Name of the kernel: operation and set.
    pub fn name(&self) -> String {
        self.row.name()
    }

    /// Digest of its machine code.
    pub fn digest(&self) -> String {
        self.row.digest().unwrap_or_default()
    }

    /// What it promises.
    pub fn contract(&self) -> &'static Contract {
        self.row.operation.contract()
    }

    /// The register width it uses.
    pub fn set(&self) -> SetId {
        self.row.set.id
    }

    /// Goes on for `blocks` blocks from where `walk` stands, wrapping at the end of the window.
    ///
    /// What is timed is the body of this call. Non-temporal kernels end with a store fence.
    ///
    /// # Panics
    /// The walk was made for another contract.
    pub fn run(&self, walk: &mut StreamWalk<'_>, blocks: u64) {
        assert!(std::ptr::eq(walk.contract, self.contract()), "a walk belongs to the contract it was made for");
        walk.call.blocks = blocks;
        // Zero blocks load nothing; the code then writes nothing back.
        walk.call.checksum = 0;
        // SAFETY: `StreamWalk::new` checked that both streams lie inside the window that it borrows, that lengths are
        // block multiples and addresses aligned, and the code keeps `offset` below `window`; the row's instructions
        // were found executable in `new`. The memory is otherwise only accessed atomically (see `Window`).
        unsafe { (self.code)(&mut walk.call) }
    }
}

/// A cyclic walk over a piece of memory.
#[derive(Debug)]
pub struct StreamWalk<'w> {
    call: StreamCall,
    contract: &'static Contract,
    window: std::marker::PhantomData<&'w Window>,
}

impl<'w> StreamWalk<'w> {
    /// A walk of `contract` over `part` (bytes relative to `window`), which holds all its streams one after another.
    ///
    /// # Errors
    /// The part is empty or leaves the window, starts on no 64-byte boundary, or its length is no multiple of
    /// `BLOCK_BYTES` times the streams.
    pub fn new(contract: &'static Contract, window: &'w Window, part: Range<usize>) -> Result<Self> {
        let streams = contract.streams() as usize;
        let length = part.end.saturating_sub(part.start);
        let stream = length / streams;
        let whole = stream >= BLOCK_BYTES as usize && length.is_multiple_of(streams * BLOCK_BYTES as usize);
        let lead = window.address().wrapping_add(part.start);
        if !whole || part.end > window.len() || !lead.is_multiple_of(64) {
            return Err(Error::failure(format!(
                "cannot walk {} in bytes {}..{} of {}; parts start on 64 B and hold {streams} streams of whole 512 B blocks",
                contract.name,
                part.start,
                part.end,
                window.len()
            )));
        }
        // The streams of a copy lie one after the other. Where a stream is a multiple of 4 KiB long, a load is as far as
        // can be behind the last store with the same low 12 address bits, by which processors first compare them (4 KiB
        // aliasing, Intel's optimization manual); the planner's own sizes are such multiples.
        let delta = if streams > 1 { stream } else { 0 };
        let call = StreamCall {
            lead,
            delta,
            window: stream,
            offset: 0,
            blocks: 0,
            pattern: 0x1234_5678_9abc_def1,
            checksum: 0,
        };
        Ok(Self { call, contract, window: std::marker::PhantomData })
    }

    /// Blocks in one pass over the window.
    pub fn blocks_per_pass(&self) -> u64 {
        self.call.window as u64 / BLOCK_BYTES
    }

    /// Sum of the words loaded by the last run of a kernel that adds them up, else 0.
    pub fn checksum(&self) -> u64 {
        self.call.checksum
    }

    /// Stores `pattern` from now on (kernels that only write).
    pub fn set_pattern(&mut self, pattern: u64) {
        self.call.pattern = pattern;
    }

    /// How far into the window the walk stands, in bytes.
    pub fn offset(&self) -> usize {
        self.call.offset
    }

    /// Goes on at `offset`, which an earlier walk of the same shape ended with; elsewhere it starts at 0.
    pub fn resume_at(&mut self, offset: usize) {
        let valid = offset < self.call.window && offset.is_multiple_of(BLOCK_BYTES as usize);
        self.call.offset = if valid { offset } else { 0 };
    }
}
