//! The call of a streaming kernel: what its machine code is given and gives back.

use super::abi::kernel_fn;

/// Bytes of each stream that work is counted in, on every instruction set; an iteration of most
/// loops covers this many.
pub const BLOCK_BYTES: u64 = 512;

/// How far ahead kernels that prefetch do so unless told otherwise.
pub const PREFETCH_DISTANCE: u64 = 2048;

/// Arguments and results of the assembly; the layout is part of every skeleton: eight words of the
/// machine's own width, then two of 64 bits.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamCall {
    /// First byte of the first stream. The streams that are loaded come first.
    pub lead: usize,
    /// Distance in bytes from a byte of one stream to the same byte of the next one.
    pub delta: usize,
    /// Length of each stream in bytes, a multiple of what an iteration covers. For orders by a
    /// table the length of the table in bytes, a multiple of what one turn uses: 32 where it names
    /// lines, 4 where it names chunks.
    pub window: usize,
    /// Distance in bytes from the start of the window to the next iteration in visiting order. For
    /// `Backward` it is from its end to the end of that iteration; for orders by a table, from the
    /// start of the table.
    pub offset: usize,
    /// Blocks to do.
    pub blocks: usize,
    /// First entry of the table: where in the stream a piece starts, in units of 8 bytes, 32 bits
    /// each.
    pub table: usize,
    /// How far ahead to prefetch, in bytes.
    pub distance: usize,
    /// Keeps the words behind it in the same place on all 32-bit systems.
    pub spare: usize,
    /// Operand that is stored, combined or multiplied with.
    pub pattern: u64,
    /// Wrapping sum of the words loaded, for kernels that add them up.
    pub checksum: u64,
}

/// The machine code of one streaming kernel.
pub(super) type StreamCode = kernel_fn!(&mut StreamCall);
