//! Streaming kernels, and the only safe way to run them.

use super::row::{Row, lacks};
use super::sets::KernelRow;
use super::sets::SetId;
use super::stream_call::{PREFETCH_DISTANCE, StreamCall, StreamCode};
use super::table::IndexTable;
use assembly::AccessOrder;
use assembly::Contract;
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
    /// The kernel. The error is the reason why it cannot run here.
    pub fn kernel(&self) -> std::result::Result<StreamKernel, String> {
        StreamKernel::new(*self)
    }
}

impl StreamKernel {
    /// The kernel of `row`. The error is the reason why it cannot run here.
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

    /// Name in lists and reports: `read/avx512`.
    pub fn name(&self) -> String {
        self.row.name()
    }

    /// Digest of the machine code; `None` for code of the C library.
    pub fn digest(&self) -> Option<String> {
        self.row.digest()
    }

    /// The contract that the kernel fulfils.
    pub fn contract(&self) -> &'static Contract {
        self.row.operation.contract()
    }

    /// The register set of the kernel.
    pub fn set(&self) -> SetId {
        self.row.set.id
    }

    /// Runs the kernel on the next `blocks` blocks of `walk`. After the last block of a stream, the
    /// walk goes back to the first.
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
            // The limit is only reached on 32-bit systems, by counts that take minutes. It is
            // divided by 8 because some kernels count eighths of blocks.
            walk.call.blocks = usize::try_from(left)
                .unwrap_or(usize::MAX)
                .min(usize::MAX / 8);
            // A call with zero blocks does not write the checksum.
            walk.call.checksum = 0;
            left -= walk.call.blocks as u64;
            // SAFETY: `StreamWalk::new` checked that all streams lie inside the window that the
            // walk borrows, that lengths are multiples of iterations, and that addresses are
            // aligned. The code keeps `offset` below `window`. An index table only names pieces of
            // streams of this length, and is borrowed too. `new` found that the row's instructions
            // can be executed. All other accesses to the memory are atomic (see `Window`).
            unsafe { (self.code)(&mut walk.call) };
            sum = sum.wrapping_add(walk.call.checksum);
            if left == 0 {
                walk.call.checksum = sum;
                return;
            }
        }
    }
}

/// The state of a cyclic walk of a streaming kernel over a range of memory.
#[derive(Debug)]
pub struct StreamWalk<'w> {
    call: StreamCall,
    contract: &'static Contract,
    /// Bytes of the index table that one block uses; 0 without an index table.
    per_block: usize,
    window: std::marker::PhantomData<&'w Window>,
}

impl<'w> StreamWalk<'w> {
    /// A walk of a kernel of `contract` over the byte range `part` of `window`. The range holds the
    /// streams one after another.
    ///
    /// # Errors
    /// `part` is empty, leaves the window, or does not start at a multiple of 64 bytes. Its length
    /// is no multiple of [`Contract::iteration`] times the number of streams. The contract visits
    /// blocks in the order of an index table.
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

    /// Like [`StreamWalk::new`], for a contract that visits pieces in the order of an index table.
    ///
    /// # Errors
    /// The errors of [`StreamWalk::new`], except the last one there. The contract does not use an
    /// index table. The table is for other pieces or for streams of another length.
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
        let iteration = contract.iteration as usize;
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
        // The streams of a copy lie one after the other. Processors compare the low 12 address bits
        // of loads and stores first (4 KiB aliasing, Intel's optimization manual). Streams with a
        // length of a multiple of 4 KiB put the largest distance between a load and the last store
        // with equal low bits. The planner's own sizes are such multiples.
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

    /// Number of iterations of the kernel's loop in one pass over the streams.
    pub fn iterations_per_pass(&self) -> u64 {
        (self.call.window / self.step()) as u64
    }

    /// Bytes by which one iteration advances in a stream, or in the index table if there is one.
    fn step(&self) -> usize {
        if self.per_block > 0 {
            self.per_block
        } else {
            self.contract.iteration as usize
        }
    }

    /// Wrapping sum of the words that the last run loaded; 0 for kernels that do not add them up.
    pub fn checksum(&self) -> u64 {
        self.call.checksum
    }

    /// Sets the operand: the 64-bit pattern that the kernel stores, or combines with loaded words,
    /// or multiplies them by.
    pub fn set_pattern(&mut self, pattern: u64) {
        self.call.pattern = pattern;
    }

    /// Sets the prefetch distance in bytes, for kernels that prefetch.
    pub fn set_distance(&mut self, distance: u64) {
        self.call.distance = usize::try_from(distance).unwrap_or(usize::MAX / 2);
    }

    /// Position of the walk in bytes, for [`StreamWalk::resume_at`].
    pub fn offset(&self) -> usize {
        self.call.offset
    }

    /// Moves the walk to `offset`, the position of an earlier walk with the same contract and
    /// length. An invalid offset moves it to the start.
    pub fn resume_at(&mut self, offset: usize) {
        let valid = offset < self.call.window && offset.is_multiple_of(self.step());
        self.call.offset = if valid { offset } else { 0 };
    }

    /// Share of the current pass that is complete, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.call.offset as f64 / self.call.window.max(1) as f64
    }

    /// Moves the walk to `share` (0 to 1) of a pass, rounded down to a whole iteration. The share
    /// may come from a walk with another contract on the same memory.
    pub fn start_at(&mut self, share: f64) {
        let iterations = self.iterations_per_pass() as usize;
        let next = (share.clamp(0.0, 1.0) * iterations as f64) as usize;
        self.call.offset = next % iterations.max(1) * self.step();
    }
}

/// Default operand of kernels. All bytes differ, and none is zero. Read as a double, the pattern is
/// a normal number, so arithmetic runs at full speed.
const PATTERN: u64 = 0x1234_5678_9abc_def1;

/// Default operand of kernels on doubles: 3.0, the scalar of the benchmark STREAM.
const DOUBLE_PATTERN: u64 = 3.0f64.to_bits();
