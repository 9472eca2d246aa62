//! Streaming kernels: the only safe way to run one.

use super::contract::AccessOrder;
use super::contract::Contract;
use super::row::{Row, lacks};
use super::sets::KernelRow;
use super::sets::SetId;
use super::stream_call::{PREFETCH_DISTANCE, StreamCall, StreamCode};
use super::table::IndexTable;
use host::memory::Window;
use std::ops::Range;
use units::error::{Error, Result};

/// A streaming kernel that this processor and operating system can run.
#[derive(Debug, Clone, Copy)]
pub struct StreamKernel {
    row: KernelRow,
    code: StreamCode,
}

impl KernelRow {
    /// The kernel, or the reason why it cannot run here.
    pub fn kernel(&self) -> std::result::Result<StreamKernel, String> {
        StreamKernel::new(*self)
    }
}

impl StreamKernel {
    /// The kernel of `row` if its instructions may be executed here; the reason why not otherwise.
    pub(super) fn new(row: KernelRow) -> std::result::Result<Self, String> {
        if let Row::Unsupported(reason) = row.row {
            return Err(reason.to_owned());
        }
        row.set.available()?;
        match row.row {
            Row::Code(code) | Row::ReferenceKernel(code) => Ok(Self { row, code }),
            Row::Needs(present, _, code) if present() => Ok(Self { row, code }),
            Row::Needs(_, needs, _) => Err(lacks(needs)),
            Row::Unsupported(reason) => Err(reason.to_owned()),
        }
    }

    /// Name of the kernel: operation and set.
    pub fn name(&self) -> String {
        self.row.name()
    }

    /// Digest of its machine code; `None` for code of the C library.
    pub fn digest(&self) -> Option<String> {
        self.row.digest()
    }

    /// Contract of the kernel.
    pub fn contract(&self) -> &'static Contract {
        self.row.operation.contract()
    }

    /// The registers it uses.
    pub fn set(&self) -> SetId {
        self.row.set.id
    }

    /// Goes on for `blocks` blocks from where `walk` stands, wrapping at the end of the window.
    ///
    /// The body of this call is timed. Non-temporal kernels end with a store fence.
    ///
    /// # Panics
    /// The walk was made for another contract.
    pub fn run(&self, walk: &mut StreamWalk<'_>, blocks: u64) {
        assert!(
            std::ptr::eq(walk.contract, self.contract()),
            "a walk belongs to the contract it was made for"
        );
        let mut left = blocks;
        let mut sum = 0u64;
        loop {
            // One turn, except on 32-bit systems for counts that take minutes. Some codes count
            // eighths of blocks.
            walk.call.blocks = usize::try_from(left)
                .unwrap_or(usize::MAX)
                .min(usize::MAX / 8);
            // Zero blocks load nothing; the code then writes nothing back.
            walk.call.checksum = 0;
            left -= walk.call.blocks as u64;
            // SAFETY: `StreamWalk::new` checked that all streams lie inside the window that it
            // borrows, that lengths are block multiples and addresses aligned, and the code keeps
            // `offset` below `window`; a table names pieces of this very length of stream only and
            // is borrowed too. The row's instructions were found executable in `new`. The memory is
            // otherwise only accessed atomically (see `Window`).
            unsafe { (self.code)(&mut walk.call) };
            sum = sum.wrapping_add(walk.call.checksum);
            if left == 0 {
                walk.call.checksum = sum;
                return;
            }
        }
    }
}

/// A cyclic walk over a piece of memory.
#[derive(Debug)]
pub struct StreamWalk<'w> {
    call: StreamCall,
    contract: &'static Contract,
    /// Table bytes that one block uses; 0 where there is no table.
    per_block: usize,
    window: std::marker::PhantomData<&'w Window>,
}

impl<'w> StreamWalk<'w> {
    /// A walk of `contract` over `part` (bytes relative to `window`), which holds all its streams
    /// one after another.
    ///
    /// # Errors
    /// The part is empty or leaves the window, starts on no 64-byte boundary, or its length is no
    /// multiple of [`Contract::iteration_bytes`] times the streams. The contract visits its blocks
    /// in the order of a table.
    pub fn new(
        contract: &'static Contract,
        window: &'w Window,
        part: Range<usize>,
    ) -> Result<Self> {
        if contract.by_table() {
            return Err(Error::failure(format!(
                "cannot walk {} without a table of its order",
                contract.name
            )));
        }
        Self::of_streams(contract, window, part)
    }

    /// A walk over `part` in the order of `table`.
    ///
    /// # Errors
    /// As for [`StreamWalk::new`]; or the contract has an order of its own, or the table is for
    /// other pieces or for streams of another length.
    pub fn by_table(
        contract: &'static Contract,
        window: &'w Window,
        part: Range<usize>,
        table: &'w IndexTable,
    ) -> Result<Self> {
        let mut walk = Self::of_streams(contract, window, part)?;
        if table.visits() != contract.visits || table.stream_bytes() != walk.call.window as u64 {
            return Err(Error::failure(format!(
                "cannot walk {} by a table of {:?} in streams of {} B; its streams are of {} B",
                contract.name,
                table.visits(),
                table.stream_bytes(),
                walk.call.window
            )));
        }
        walk.per_block = if contract.visits == AccessOrder::Lines {
            32
        } else {
            4
        };
        walk.call.table = table.address();
        walk.call.window = table.bytes();
        Ok(walk)
    }

    fn of_streams(
        contract: &'static Contract,
        window: &'w Window,
        part: Range<usize>,
    ) -> Result<Self> {
        let streams = contract.streams() as usize;
        let length = part.end.saturating_sub(part.start);
        let stream = length / streams;
        let iteration = contract.iteration_bytes() as usize;
        let whole = stream >= iteration && length.is_multiple_of(streams * iteration);
        let lead = window.address().wrapping_add(part.start);
        if !whole || part.end > window.len() || !lead.is_multiple_of(64) {
            return Err(Error::failure(format!(
                "cannot walk {} in bytes {}..{} of {}; parts start on 64 B and hold {streams} \
                 streams of whole {iteration} B",
                contract.name,
                part.start,
                part.end,
                window.len()
            )));
        }
        // The streams of a copy lie one after the other. Streams that are a multiple of 4 KiB long
        // put a load as far as possible from the last store with the same low 12 address bits.
        // Processors compare these first (4 KiB aliasing, Intel's optimization manual). The
        // planner's own sizes are such multiples.
        let delta = if streams > 1 { stream } else { 0 };
        let call = StreamCall {
            lead,
            delta,
            window: stream,
            offset: 0,
            blocks: 0,
            table: 0,
            distance: PREFETCH_DISTANCE as usize,
            spare: 0,
            pattern: if contract.on_doubles() {
                DOUBLE_PATTERN
            } else {
                PATTERN
            },
            checksum: 0,
        };
        Ok(Self {
            call,
            contract,
            per_block: 0,
            window: std::marker::PhantomData,
        })
    }

    /// Iterations of the kernel's loop in one pass over the window.
    pub fn iterations_per_pass(&self) -> u64 {
        (self.call.window / self.step()) as u64
    }

    /// Bytes of an iteration in the window or, for orders by a table, in the table.
    fn step(&self) -> usize {
        if self.per_block > 0 {
            self.per_block
        } else {
            self.contract.iteration_bytes() as usize
        }
    }

    /// Sum of the words loaded by the last run of a kernel that adds them up, else 0.
    pub fn checksum(&self) -> u64 {
        self.call.checksum
    }

    /// Stores, combines or multiplies with `pattern` from now on.
    pub fn set_pattern(&mut self, pattern: u64) {
        self.call.pattern = pattern;
    }

    /// Prefetches `distance` bytes ahead from now on, in kernels that prefetch.
    pub fn set_distance(&mut self, distance: u64) {
        self.call.distance = usize::try_from(distance).unwrap_or(usize::MAX / 2);
    }

    /// How far the walk stands: for [`StreamWalk::resume_at`].
    pub fn offset(&self) -> usize {
        self.call.offset
    }

    /// Goes on at `offset`, which an earlier walk of the same shape ended with; elsewhere it starts
    /// at 0.
    pub fn resume_at(&mut self, offset: usize) {
        let valid = offset < self.call.window && offset.is_multiple_of(self.step());
        self.call.offset = if valid { offset } else { 0 };
    }

    /// How far the walk stands in its pass over the window, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.call.offset as f64 / self.call.window.max(1) as f64
    }

    /// Goes on at the iteration that lies at `share` of a pass, from 0 to 1: where another walk of
    /// the same memory, of whatever shape, has stopped.
    pub fn start_at(&mut self, share: f64) {
        let iterations = self.iterations_per_pass() as usize;
        let next = (share.clamp(0.0, 1.0) * iterations as f64) as usize;
        self.call.offset = next % iterations.max(1) * self.step();
    }
}

/// Default data of kernels: every byte differs, none is zero. As a double it is a normal number, so
/// that kernels that calculate stay fast.
const PATTERN: u64 = 0x1234_5678_9abc_def1;

/// 3.0, STREAM's scalar.
const DOUBLE_PATTERN: u64 = 3.0f64.to_bits();
